//! What a verdict alone would hide: predicates that no label satisfies, and properties that hold for want of an
//! occasion.

use source::{Diagnostic, closest};

use crate::tree::*;

/// Warns of every label, pattern and gate in a formula that no label of a system satisfies.
///
/// ```
/// let mut sources = source::Sources::new();
/// let loaded = logic::load_text("p.mcl", r#"[ true* . "SEDN !1" ] false"#, &mut sources).unwrap();
/// let warnings = logic::unmatched(&loaded.properties[0].formula, &["SEND !1", "RECEIVE !1"]);
/// assert!(sources.render_all(&warnings, false).contains("did you mean \"SEND !1\"?"));
/// ```
pub fn unmatched<T: AsRef<str>>(formula: &Formula, labels: &[T]) -> Vec<Diagnostic> {
    let labels: Vec<&str> = labels.iter().map(AsRef::as_ref).collect();
    let mut warnings = Vec::new();
    for_each_action(formula, &mut |action| {
        let (matched, what) = match &action.kind {
            ActionKind::Exact(text) => (labels.contains(&text.as_str()), format!("the label \"{text}\"")),
            ActionKind::Regex(text, regex) => {
                (labels.iter().any(|label| regex.is_match(label)), format!("the pattern '{text}'"))
            }
            ActionKind::Pattern(ActionPattern { gate: Some(gate), .. }) => (
                labels.iter().any(|label| lts::gate(label) == gate.text),
                format!("the gate `{}`", gate.text),
            ),
            _ => return,
        };
        if matched {
            return;
        }
        let diagnostic = match &action.kind {
            ActionKind::Pattern(_) => {
                Diagnostic::warning(format!("{what} is that of no label of the system"))
            }
            ActionKind::Exact(_) => Diagnostic::warning(format!("{what} never occurs in the system")),
            _ => Diagnostic::warning(format!("{what} matches no label of the system")),
        };
        let diagnostic =
            diagnostic.label(action.span, "matches nothing").maybe_help(suggestion(action, &labels));
        // A macro's body gives the same warning for each of its calls' places only once.
        if !warnings.contains(&diagnostic) {
            warnings.push(diagnostic);
        }
    });
    warnings
}

/// Warns of every label and gate in a formula whose gate a model does not have: what can be said before any of its
/// labels are known.
///
/// ```
/// let mut sources = source::Sources::new();
/// let loaded = logic::load_text("p.mcl", r#"[ true* . "SEDN !1" ] false"#, &mut sources).unwrap();
/// let warnings = logic::unknown_gates(&loaded.properties[0].formula, &["SEND", "RECEIVE"]);
/// assert!(sources.render_all(&warnings, false).contains("there is a gate `SEND`"));
/// ```
pub fn unknown_gates<T: AsRef<str>>(formula: &Formula, gates: &[T]) -> Vec<Diagnostic> {
    let gates: Vec<&str> = gates.iter().map(AsRef::as_ref).collect();
    let mut warnings = Vec::new();
    for_each_action(formula, &mut |action| {
        let gate = match &action.kind {
            ActionKind::Exact(text) => lts::gate(text),
            ActionKind::Pattern(ActionPattern { gate: Some(gate), .. }) => gate.text.as_str(),
            _ => return,
        };
        if gates.contains(&gate) || [lts::TAU_TEXT, "exit"].contains(&gate) {
            return;
        }
        let help = closest(gate, gates.iter().copied()).map(|gate| format!("there is a gate `{gate}`"));
        let warning = Diagnostic::warning(format!("the model has no visible gate `{gate}`"))
            .label(action.span, "matches nothing")
            .maybe_help(help);
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    });
    warnings
}

fn suggestion(action: &Action, labels: &[&str]) -> Option<String> {
    let mut gates: Vec<&str> = labels.iter().map(|label| lts::gate(label)).collect();
    gates.sort_unstable();
    gates.dedup();
    let list = |all: Vec<&str>| {
        let shown: Vec<String> = all.iter().take(3).map(|label| format!("\"{label}\"")).collect();
        let more = if all.len() > 3 { ", …" } else { "" };
        format!("{}{more}", shown.join(", "))
    };
    match &action.kind {
        ActionKind::Exact(text) => {
            if let Some(label) = closest(text, labels.iter().copied()) {
                return Some(format!("did you mean \"{label}\"?"));
            }
            let gate = lts::gate(text);
            let same: Vec<&str> = labels.iter().copied().filter(|label| lts::gate(label) == gate).collect();
            if !same.is_empty() {
                return Some(format!(
                    "labels with the gate `{gate}` are {}; write {{ {gate} ... }} for all of them",
                    list(same)
                ));
            }
            closest(gate, gates).map(|gate| format!("there is a gate `{gate}`"))
        }
        ActionKind::Regex(text, _) => {
            // The text without what only patterns have, as a person would read it.
            let plain: String = text.replace(".*", "").replace('\\', "");
            let near: Vec<&str> = labels
                .iter()
                .copied()
                .filter(|label| !plain.trim().is_empty() && label.contains(plain.trim()))
                .collect();
            if !near.is_empty() {
                return Some(format!("patterns match whole labels, such as {}", list(near)));
            }
            closest(plain.trim(), labels.iter().copied())
                .map(|label| format!("did you mean \"{label}\"?"))
                .or_else(|| {
                    closest(lts::gate(plain.trim()), gates).map(|gate| format!("there is a gate `{gate}`"))
                })
        }
        ActionKind::Pattern(pattern) => {
            let gate = &pattern.gate.as_ref()?.text;
            closest(gate, gates).map(|gate| format!("did you mean `{gate}`?"))
        }
        _ => None,
    }
}

/// Calls `visit` for every predicate on labels, inner ones included.
pub(crate) fn for_each_action(formula: &Formula, visit: &mut dyn FnMut(&Action)) {
    match &formula.kind {
        FormulaKind::Data(_) | FormulaKind::Name(..) => {}
        FormulaKind::Not(of) => for_each_action(of, visit),
        FormulaKind::And(all) | FormulaKind::Or(all) => {
            all.iter().for_each(|one| for_each_action(one, visit))
        }
        FormulaKind::Binary(_, left, right) => {
            for_each_action(left, visit);
            for_each_action(right, visit);
        }
        FormulaKind::Possible(regular, body) | FormulaKind::Necessary(regular, body) => {
            in_regular(regular, visit);
            for_each_action(body, visit);
        }
        FormulaKind::Forever(regular) | FormulaKind::Saturated(regular) => in_regular(regular, visit),
        FormulaKind::Fixpoint { body, .. }
        | FormulaKind::Quantified { body, .. }
        | FormulaKind::Let(_, body) => for_each_action(body, visit),
        FormulaKind::If(arms, otherwise) => {
            for (condition, branch) in arms {
                for_each_action(condition, visit);
                for_each_action(branch, visit);
            }
            for_each_action(otherwise, visit);
        }
    }
}

fn in_regular(regular: &Regular, visit: &mut dyn FnMut(&Action)) {
    match &regular.kind {
        RegularKind::Nil => {}
        RegularKind::Action(action) => in_action(action, visit),
        RegularKind::Sequence(all) | RegularKind::Choice(all) => {
            all.iter().for_each(|one| in_regular(one, visit))
        }
        RegularKind::Repeat { body, .. } => in_regular(body, visit),
    }
}

fn in_action(action: &Action, visit: &mut dyn FnMut(&Action)) {
    visit(action);
    match &action.kind {
        ActionKind::Not(of) => in_action(of, visit),
        ActionKind::And(all) | ActionKind::Or(all) => all.iter().for_each(|one| in_action(one, visit)),
        ActionKind::Binary(_, left, right) => {
            in_action(left, visit);
            in_action(right, visit);
        }
        _ => {}
    }
}

/// An occasion without which a property holds for nothing.
pub(crate) struct Occasion {
    /// Holds if the occasion arises.
    pub formula: Formula,
    /// What to say if it never does.
    pub warning: Diagnostic,
}

/// The occasions of a formula: `[R] F` asks for nothing where R is never completed, `F implies G` where F never holds.
/// Only the outside of the formula is looked at, up to the first fixpoint or variable.
pub(crate) fn occasions(formula: &Formula) -> Vec<Occasion> {
    let mut found = Vec::new();
    collect(formula, &mut Vec::new(), &mut found);
    found
}

fn collect(formula: &Formula, before: &mut Vec<Regular>, found: &mut Vec<Occasion>) {
    let reaches = |before: &[Regular], goal: Formula| {
        before.iter().rev().fold(goal, |goal, regular| Formula {
            span: goal.span,
            kind: FormulaKind::Possible(regular.clone(), Box::new(goal)),
        })
    };
    let constant = |value: bool| Formula {
        kind: FormulaKind::Data(Expression { kind: ExpressionKind::Bool(value), span: formula.span }),
        span: formula.span,
    };
    match &formula.kind {
        FormulaKind::And(all) => all.iter().for_each(|one| collect(one, before, found)),
        FormulaKind::Necessary(regular, body) => {
            let asks = !matches!(
                &body.kind,
                FormulaKind::Data(Expression { kind: ExpressionKind::Bool(_), .. })
                    | FormulaKind::Necessary(..)
            );
            before.push(regular.clone());
            if asks && !crate::check::nullable(regular) {
                found.push(Occasion {
                    formula: reaches(before, constant(true)),
                    warning: Diagnostic::warning("the property holds because its occasion never arises")
                        .label(regular.span, "no run of the system does this")
                        .label(body.span, "so nothing is asked of any state here"),
                });
            }
            collect(body, before, found);
            before.pop();
        }
        FormulaKind::Binary(BinaryOperator::Implies, left, _) => found.push(Occasion {
            formula: reaches(before, (**left).clone()),
            warning: Diagnostic::warning("the property holds because its condition never does")
                .label(left.span, "holds in no state that is asked"),
        }),
        _ => {}
    }
}
