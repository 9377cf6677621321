//! Arcs: how many tokens, which place, and which values; first as functions to be compiled, then as they are.

use lnt::data::{Evaluator, Expression, Function, Inscription, Leaf, Matcher, Name, TypeId};
use model::ModelError;
use source::{Diagnostic, Span};

use super::check::Checker;
use super::tree::{ArcText, ArcWord, Count};
use crate::high::{Computed, Matching, Part, Place, Tokens};

/// More tokens than this are not made at once.
const MOST_TOKENS: usize = 1 << 20;

/// How many tokens, as soon as constants can be computed.
pub(super) enum PendingCount {
    Number(u32),
    Constant(Function, TypeId),
}

/// Tokens that are computed.
pub(super) struct PendingTokens {
    pub place: usize,
    pub span: Span,
    pub count: PendingCount,
    pub values: Vec<PendingValue>,
}

/// One value of a token that is computed.
pub(super) enum PendingValue {
    All(TypeId, Span),
    Variable(usize),
    Function(Function),
}

/// Which tokens an arc is about.
pub(super) enum PendingArc {
    Whatever,
    Matching(Vec<Matching>),
    Computed(Vec<PendingValue>),
}

impl PendingCount {
    /// The number; an error where it is none, or 0 and that makes no sense.
    pub fn finish(
        &self,
        evaluator: &mut Evaluator<'_>,
        zero: bool,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<u32> {
        let (function, ty) = match self {
            PendingCount::Number(number) => return Some(*number),
            PendingCount::Constant(function, ty) => (function, *ty),
        };
        let number = match evaluator.call(function, &[]) {
            Ok(value) => evaluator.number(ty, value).and_then(|number| u32::try_from(number).ok()),
            Err(error) => {
                let place = error.span.unwrap_or(function.span);
                diagnostics.push(
                    Diagnostic::error(error.message).label(place, "while computing a number of tokens"),
                );
                return None;
            }
        };
        let number = number.filter(|&number| zero || number > 0);
        if number.is_none() {
            diagnostics.push(
                Diagnostic::error("this is no number of tokens").label(function.span, "must be 1 or more"),
            );
        }
        number
    }
}

impl PendingTokens {
    /// How many, and which.
    pub fn finish(
        &self,
        evaluator: &mut Evaluator<'_>,
        places: &[Place],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<(u32, Vec<Computed>)> {
        let count = self.count.finish(evaluator, true, diagnostics)?;
        let values = finish_values(evaluator, &self.values, &places[self.place], diagnostics)?;
        Some((count, values))
    }
}

/// The values of tokens, those of `all` listed.
fn finish_values(
    evaluator: &mut Evaluator<'_>,
    values: &[PendingValue],
    place: &Place,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Vec<Computed>> {
    let mut computed = Vec::new();
    let (mut count, mut all) = (1usize, None);
    for value in values {
        computed.push(match value {
            PendingValue::Variable(variable) => Computed::Variable(*variable),
            PendingValue::Function(function) => Computed::Function(function.clone()),
            PendingValue::All(ty, span) => match evaluator.values(*ty) {
                Ok(values) => {
                    count = count.saturating_mul(values.len());
                    all = Some(*span);
                    Computed::All(values)
                }
                Err(reason) => {
                    let name = evaluator.data().type_name(*ty);
                    diagnostics.push(
                        Diagnostic::error(format!("`all` can't be written here: type `{name}` {reason}"))
                            .label(*span, "all values of this type")
                            .label(place.span, "the place is declared here"),
                    );
                    return None;
                }
            },
        });
    }
    if let (Some(span), true) = (all, count > MOST_TOKENS) {
        diagnostics.push(
            Diagnostic::error(format!("this is more than {MOST_TOKENS} tokens"))
                .label(span, "all values of this type"),
        );
        return None;
    }
    Some(computed)
}

impl PendingArc {
    /// Which tokens.
    pub fn finish(
        self,
        evaluator: &mut Evaluator<'_>,
        place: &Place,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Tokens> {
        if place.sorts.is_empty() {
            return Some(Tokens::Plain);
        }
        Some(match self {
            PendingArc::Whatever => Tokens::Whatever,
            PendingArc::Matching(matching) => Tokens::Matching(matching),
            PendingArc::Computed(values) => {
                Tokens::Computed(finish_values(evaluator, &values, place, diagnostics)?)
            }
        })
    }
}

/// The tokens of a place whose values are computed from those of variables: several where some are all of a type.
pub(crate) fn computed_tokens(
    evaluator: &mut Evaluator<'_>,
    place: &Place,
    values: &[Computed],
    variables: &[u32],
) -> Result<Vec<u32>, ModelError> {
    let mut rows: Vec<Vec<u32>> = vec![Vec::new()];
    for value in values {
        let one = match value {
            Computed::All(values) => {
                let longer = |row: &Vec<u32>| {
                    let row = row.clone();
                    values.iter().map(move |&value| [row.as_slice(), &[value]].concat())
                };
                rows = rows.iter().flat_map(longer).collect();
                continue;
            }
            Computed::Variable(variable) => variables[*variable],
            Computed::Function(function) => evaluator.call(function, variables)?,
        };
        rows.iter_mut().for_each(|row| row.push(one));
    }
    Ok(rows.into_iter().map(|row| token(evaluator, place, &row)).collect())
}

/// The token with these values: the value itself where there is one, else a tuple of them; 0 without any.
pub(crate) fn token(evaluator: &mut Evaluator<'_>, place: &Place, values: &[u32]) -> u32 {
    match (place.sorts.len(), values) {
        (0, _) => 0,
        (1, [one, ..]) => *one,
        _ => evaluator.intern(&[&[0], values].concat()),
    }
}

impl Checker<'_> {
    pub(super) fn count(&mut self, count: &Count, word: ArcWord) -> Option<PendingCount> {
        match count {
            Count::One => Some(PendingCount::Number(1)),
            Count::Number(_, span) if word == ArcWord::Reset => {
                self.reset_count(*span);
                None
            }
            Count::Constant(name) if word == ArcWord::Reset => {
                self.reset_count(name.span);
                None
            }
            &Count::Number(number, span) => match u32::try_from(number) {
                Ok(number) if number > 0 => Some(PendingCount::Number(number)),
                _ => {
                    self.diagnostics.push(
                        Diagnostic::error(format!("{number} is no number of tokens"))
                            .label(span, format!("expected 1 to {}", u32::MAX)),
                    );
                    None
                }
            },
            Count::Constant(name) => {
                let Some(ty) = self.definitions.constant(&name.text) else {
                    self.diagnostics.push(
                        Diagnostic::error(format!("`{}` is not a constant", name.text))
                            .label(name.span, "expected a number or a constant")
                            .note("a constant is a function that has a result and no parameters"),
                    );
                    return None;
                };
                let expression = Expression::of_name(name);
                let function = self.definitions.function(&[], ty, &expression, self.diagnostics)?;
                Some(PendingCount::Constant(function, ty))
            }
        }
    }

    fn reset_count(&mut self, span: Span) {
        self.diagnostics.push(
            Diagnostic::error("`reset` removes all tokens, however many there are")
                .label(span, "no number here")
                .help("leave it out"),
        );
    }

    /// The inscription of an arc, as many parts as tokens have values; none is as good as an empty one.
    pub(super) fn inscription<'t>(&mut self, place: usize, arc: &'t ArcText) -> Option<&'t [Inscription]> {
        let parts: &[Inscription] = arc.inscription.as_deref().unwrap_or_default();
        let wanted = self.places[place].sorts.len();
        if parts.len() == wanted {
            return Some(parts);
        }
        let values = |count: usize| match count {
            0 => "no value".to_owned(),
            1 => "1 value".to_owned(),
            several => format!("{several} values"),
        };
        let (name, declared) = (self.places[place].name.clone(), self.places[place].span);
        let mut diagnostic = Diagnostic::error(format!(
            "a token of `{name}` has {}, found {}",
            values(wanted),
            if parts.is_empty() { "none".to_owned() } else { parts.len().to_string() }
        ))
        .label(arc.span, format!("expected {}", values(wanted)))
        .label(declared, "the place is declared here");
        if wanted > 0 && arc.inscription.is_none() {
            diagnostic = diagnostic.help(format!("write which tokens: `{name} (…)`"));
        }
        self.diagnostics.push(diagnostic);
        None
    }

    /// Tokens that are put: their values are expressions over variables.
    pub(super) fn put_tokens(
        &mut self,
        place: usize,
        arc: &ArcText,
        variables: &[(Name, TypeId)],
    ) -> Option<PendingTokens> {
        let count = self.count(&arc.count, arc.word)?;
        let values = self.computed(place, arc, variables)?;
        Some(PendingTokens { place, span: arc.span, count, values })
    }

    /// The values of tokens as expressions.
    pub(super) fn computed(
        &mut self,
        place: usize,
        arc: &ArcText,
        variables: &[(Name, TypeId)],
    ) -> Option<Vec<PendingValue>> {
        let mut values = Vec::new();
        for (index, part) in self.inscription(place, arc)?.iter().enumerate() {
            let sort = self.places[place].sorts[index];
            if part.is_word("all") {
                values.push(PendingValue::All(sort, part.span()));
                continue;
            }
            let variable = part.name().and_then(|name| {
                variables
                    .iter()
                    .position(|(known, ty)| known.text.eq_ignore_ascii_case(&name.text) && *ty == sort)
            });
            if let Some(variable) = variable {
                values.push(PendingValue::Variable(variable));
                continue;
            }
            let expression = match part.expression() {
                Ok(expression) => expression,
                Err(span) => {
                    let what = if arc.word == ArcWord::Put { "put" } else { "combined with `all`" };
                    self.diagnostics.push(
                        Diagnostic::error(format!("a pattern can't be {what}"))
                            .label(span, "this stands for more than one value"),
                    );
                    return None;
                }
            };
            let function = self.definitions.function(variables, sort, &expression, self.diagnostics)?;
            values.push(PendingValue::Function(function));
        }
        Some(values)
    }

    /// The patterns of an arc, without the functions that their parts are compared with.
    pub(super) fn matchers(
        &mut self,
        place: usize,
        arc: &ArcText,
        variables: &[&str],
    ) -> Option<Vec<Matcher>> {
        let mut matchers = Vec::new();
        for (index, part) in self.inscription(place, arc)?.iter().enumerate() {
            let sort = self.places[place].sorts[index];
            let name = self.definitions.type_name(sort).to_owned();
            let because = (self.places[place].span, format!("tokens of this place have a `{name}` here"));
            matchers.push(self.definitions.matcher(part, sort, because, variables, self.diagnostics)?);
        }
        Some(matchers)
    }

    /// Adds the functions that parts are compared with; `slots` counts the places for parts.
    pub(super) fn matching(
        &mut self,
        matchers: Vec<Matcher>,
        variables: &[(Name, TypeId)],
        slots: &mut usize,
    ) -> Option<Vec<Matching>> {
        let mut all = Vec::new();
        for matcher in matchers {
            let mut parts = Vec::new();
            for (leaf, ty) in &matcher.leaves {
                parts.push(match leaf {
                    Leaf::Variable(variable, _) => Part::Variable(*variable),
                    Leaf::Equals(expression) => {
                        let function =
                            self.definitions.function(variables, *ty, expression, self.diagnostics)?;
                        *slots += 1;
                        Part::Equals(*slots - 1, function)
                    }
                });
            }
            all.push(Matching { matcher, parts });
        }
        Some(all)
    }
}
