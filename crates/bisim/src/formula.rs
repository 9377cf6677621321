//! Formulas that tell two states apart, written in MCL.
//!
//! A formula is a small graph: equal parts are kept once, though the text repeats them. Nothing here recurses,
//! so formulas may be as deep as the systems they speak about.

use std::fmt;

/// A part of a [`Formula`], by its position in [`Formula::parts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartId(pub(crate) u32);

impl PartId {
    /// The position.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a step in a modality looks like. `None` is the internal action.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// One step with this label: `"A"` or `tau`.
    One(Option<String>),
    /// A step with internal ones before and after: `tau* . "A" . tau*`, or just `tau*`.
    Weak(Option<String>),
    /// A visible step after internal ones: `tau* . "A"`.
    AfterSilence(String),
}

/// A part of a formula; its own parts come before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Holds everywhere.
    True,
    /// Negation.
    Not(PartId),
    /// Conjunction of at least two parts.
    And(Vec<PartId>),
    /// Disjunction; `false` if it has no parts.
    Or(Vec<PartId>),
    /// Some step leads to a state where the part holds.
    Some(Step, PartId),
    /// All steps lead to states where the part holds.
    All(Step, PartId),
    /// By internal steps through states where `hold` holds, up to a visible step that leads to `then`.
    Until {
        /// Holds up to the step.
        hold: PartId,
        /// The visible label.
        label: String,
        /// Holds after the step.
        then: PartId,
    },
    /// By internal steps, possibly none, through states where `hold` holds, to a state where `then` holds.
    Reach {
        /// Holds before the end.
        hold: PartId,
        /// Holds at the end.
        then: PartId,
    },
    /// Internal steps for ever through states where the part holds.
    Forever(PartId),
}

/// A state formula of MCL.
///
/// ```
/// use bisim::{Comparison, Reason, Relation, compare};
/// use lts::{LtsBuilder, StateId};
///
/// let system = |labels: [&str; 2]| {
///     let mut builder = LtsBuilder::new();
///     for (at, label) in labels.into_iter().enumerate() {
///         let label = builder.label(label);
///         builder.add(StateId::new(at), label, StateId::new(at + 1));
///     }
///     builder.finish().unwrap()
/// };
/// let comparison = compare(&system(["A", "B"]), &system(["A", "C"]), Relation::Strong)?;
/// let Comparison::Different(Reason::Formula(formula)) = comparison else { panic!() };
/// assert_eq!(formula.to_string(), r#"< "A" > < "B" > true"#);
/// # Ok::<(), bisim::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    pub(crate) parts: Vec<Part>,
}

impl Formula {
    /// The parts, each after those it is made of; the last is the whole.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// How many parts the text has, repetitions counted.
    pub fn size(&self) -> usize {
        let mut sizes: Vec<usize> = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let of = |id: &PartId| sizes[id.index()];
            let size = match part {
                Part::True => 0,
                Part::Not(of_part)
                | Part::Some(_, of_part)
                | Part::All(_, of_part)
                | Part::Forever(of_part) => of(of_part),
                Part::And(all) | Part::Or(all) => {
                    all.iter().fold(0, |sum: usize, id| sum.saturating_add(of(id)))
                }
                Part::Until { hold, then, .. } | Part::Reach { hold, then } => {
                    of(hold).saturating_add(of(then))
                }
            };
            sizes.push(size.saturating_add(1));
        }
        sizes.last().copied().unwrap_or(0)
    }
}

/// What is still to be written.
enum Rest {
    Text(String),
    Part { part: PartId, depth: usize, bracket: bool },
}

impl fmt::Display for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(last) = self.parts.len().checked_sub(1) else { return write!(out, "true") };
        let mut rest = vec![Rest::Part { part: PartId(last as u32), depth: 0, bracket: false }];
        while let Some(next) = rest.pop() {
            match next {
                Rest::Text(text) => out.write_str(&text)?,
                Rest::Part { part, depth, bracket } => {
                    let written = rest.len();
                    self.unfold(part, depth, bracket, &mut rest);
                    rest[written..].reverse();
                }
            }
        }
        Ok(())
    }
}

impl Formula {
    fn is_true(&self, part: PartId) -> bool {
        self.parts[part.index()] == Part::True
    }

    /// Writes one part in terms of its parts, first piece first.
    fn unfold(&self, part: PartId, depth: usize, bracket: bool, rest: &mut Vec<Rest>) {
        let text = |text: &str| Rest::Text(text.to_owned());
        let inner = |part: PartId| Rest::Part { part, depth, bracket: true };
        let deeper = |part: PartId| Rest::Part { part, depth: depth + 1, bracket: true };
        let variable = if depth == 0 { "X".to_owned() } else { format!("X{depth}") };
        match &self.parts[part.index()] {
            Part::True => rest.push(text("true")),
            Part::Not(of) if self.is_true(*of) => rest.push(text("false")),
            Part::Not(of) => rest.extend([text("not "), inner(*of)]),
            Part::And(all) | Part::Or(all) => {
                let word = if matches!(self.parts[part.index()], Part::And(_)) { " and " } else { " or " };
                if all.is_empty() {
                    return rest.push(text("false"));
                }
                rest.extend(bracket.then(|| text("(")));
                for (at, &of) in all.iter().enumerate() {
                    if at > 0 {
                        rest.push(text(word));
                    }
                    rest.push(inner(of));
                }
                rest.extend(bracket.then(|| text(")")));
            }
            Part::Some(step, then) => rest.extend([Rest::Text(format!("< {step} > ")), inner(*then)]),
            Part::All(step, then) => rest.extend([Rest::Text(format!("[ {step} ] ")), inner(*then)]),
            Part::Until { hold, label, then } if self.is_true(*hold) => {
                let step = Step::AfterSilence(label.clone());
                rest.extend([Rest::Text(format!("< {step} > ")), inner(*then)]);
            }
            Part::Until { hold, label, then } => {
                let step = Step::One(Some(label.clone()));
                rest.extend([
                    Rest::Text(format!("(mu {variable} . (")),
                    deeper(*hold),
                    Rest::Text(format!(" and (< {step} > ")),
                    deeper(*then),
                    Rest::Text(format!(" or < tau > {variable})))")),
                ]);
            }
            Part::Reach { hold, then } if self.is_true(*hold) => {
                rest.extend([text("< tau* > "), inner(*then)]);
            }
            Part::Reach { hold, then } => rest.extend([
                Rest::Text(format!("(mu {variable} . (")),
                deeper(*then),
                text(" or ("),
                deeper(*hold),
                Rest::Text(format!(" and < tau > {variable})))")),
            ]),
            Part::Forever(hold) => rest.extend([
                Rest::Text(format!("(nu {variable} . (")),
                deeper(*hold),
                Rest::Text(format!(" and < tau > {variable}))")),
            ]),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::One(None) => write!(out, "tau"),
            Step::One(Some(label)) => write!(out, "{}", Quoted(label)),
            Step::Weak(None) => write!(out, "tau*"),
            Step::Weak(Some(label)) => write!(out, "tau* . {} . tau*", Quoted(label)),
            Step::AfterSilence(label) => write!(out, "tau* . {}", Quoted(label)),
        }
    }
}

/// A label as MCL writes it.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "\"{}\"", self.0.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

impl Part {
    /// Calls `visit` for each part that this one is made of.
    pub(crate) fn for_each_part(&mut self, mut visit: impl FnMut(&mut PartId)) {
        match self {
            Part::True => {}
            Part::Not(of) | Part::Some(_, of) | Part::All(_, of) | Part::Forever(of) => visit(of),
            Part::And(all) | Part::Or(all) => all.iter_mut().for_each(visit),
            Part::Until { hold, then, .. } | Part::Reach { hold, then } => {
                visit(hold);
                visit(then);
            }
        }
    }
}
