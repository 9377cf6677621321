//! Label predicates ready to be applied to labels.

use regex::Regex;

use crate::tree::Type;
use crate::value::{Code, DataError, Slot, Value, compact};

/// A label, split once.
#[derive(Clone, Debug)]
pub(crate) struct LabelText {
    pub text: String,
    pub gate: String,
    pub offers: Vec<String>,
}

impl LabelText {
    pub fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            gate: lts::gate(text).to_owned(),
            offers: lts::offers(text).into_iter().map(str::to_owned).collect(),
        }
    }
}

/// A label predicate with its variables resolved.
#[derive(Clone, Debug)]
pub(crate) enum ActionCode {
    Constant(bool),
    Exact(String),
    Regex(Box<Regex>),
    Pattern { gate: Option<String>, offers: Vec<OfferCode>, condition: Option<Code> },
    Not(Box<ActionCode>),
    And(Vec<ActionCode>),
    Or(Vec<ActionCode>),
    Equ(Box<ActionCode>, Box<ActionCode>),
}

/// One part of a value pattern.
#[derive(Clone, Debug)]
pub(crate) enum OfferCode {
    Value(Code),
    Bind(Slot, Type),
    Any,
    Rest,
}

/// The values that a match gives to variables.
pub(crate) type Bound = Vec<(Slot, Value)>;

type Values<'a> = &'a dyn Fn(Slot) -> Option<Value>;

impl ActionCode {
    /// All ways in which a label satisfies the predicate. A pattern with several `...` may have several.
    pub fn matches(&self, label: &LabelText, values: Values<'_>) -> Result<Vec<Bound>, DataError> {
        let yes = |holds: bool| if holds { vec![Vec::new()] } else { Vec::new() };
        Ok(match self {
            ActionCode::Constant(value) => yes(*value),
            ActionCode::Exact(text) => yes(label.text == *text),
            ActionCode::Regex(regex) => yes(regex.is_match(&label.text)),
            ActionCode::Pattern { gate, offers, condition } => {
                if gate.as_ref().is_some_and(|gate| *gate != label.gate) {
                    return Ok(Vec::new());
                }
                let mut ways = Vec::new();
                match_offers(offers, &label.offers, &mut Vec::new(), values, &mut ways)?;
                if let Some(condition) = condition {
                    let mut kept = Vec::new();
                    for way in ways {
                        if condition.holds(&|slot| look_up(&way, slot, values))? {
                            kept.push(way);
                        }
                    }
                    ways = kept;
                }
                ways.sort();
                ways.dedup();
                ways
            }
            ActionCode::Not(of) => yes(of.matches(label, values)?.is_empty()),
            ActionCode::Or(all) => {
                for one in all {
                    if !one.matches(label, values)?.is_empty() {
                        return Ok(yes(true));
                    }
                }
                Vec::new()
            }
            ActionCode::And(all) => {
                let mut ways: Vec<Bound> = vec![Vec::new()];
                for one in all {
                    let mut longer = Vec::new();
                    for way in &ways {
                        for more in one.matches(label, &|slot| look_up(way, slot, values))? {
                            longer.push(way.iter().cloned().chain(more).collect());
                        }
                    }
                    ways = longer;
                }
                ways
            }
            ActionCode::Equ(left, right) => {
                yes(left.matches(label, values)?.is_empty() == right.matches(label, values)?.is_empty())
            }
        })
    }

    /// Whether all labels satisfy the predicate, or none does, where that can be seen at once.
    pub fn constant(&self) -> Option<bool> {
        match self {
            ActionCode::Constant(value) => Some(*value),
            ActionCode::Not(of) => of.constant().map(|value| !value),
            _ => None,
        }
    }

    /// Calls `used` for every variable read and `bound` for every one given a value.
    pub fn for_each_slot(&self, used: &mut dyn FnMut(Slot), bound: &mut dyn FnMut(Slot)) {
        match self {
            ActionCode::Constant(_) | ActionCode::Exact(_) | ActionCode::Regex(_) => {}
            ActionCode::Pattern { offers, condition, .. } => {
                for offer in offers {
                    match offer {
                        OfferCode::Value(code) => code.for_each_slot(used),
                        OfferCode::Bind(slot, _) => bound(*slot),
                        OfferCode::Any | OfferCode::Rest => {}
                    }
                }
                if let Some(condition) = condition {
                    condition.for_each_slot(used);
                }
            }
            ActionCode::Not(of) => of.for_each_slot(used, bound),
            ActionCode::And(all) | ActionCode::Or(all) => {
                all.iter().for_each(|one| one.for_each_slot(used, bound));
            }
            ActionCode::Equ(left, right) => {
                left.for_each_slot(used, bound);
                right.for_each_slot(used, bound);
            }
        }
    }
}

fn look_up(way: &Bound, slot: Slot, values: Values<'_>) -> Option<Value> {
    way.iter()
        .rev()
        .find(|(bound, _)| *bound == slot)
        .map(|(_, value)| value.clone())
        .or_else(|| values(slot))
}

/// Matches offers from left to right; `...` tries every length, so the work is bounded by choices of ends.
fn match_offers(
    pattern: &[OfferCode],
    offers: &[String],
    bound: &mut Bound,
    values: Values<'_>,
    ways: &mut Vec<Bound>,
) -> Result<(), DataError> {
    const WAY_LIMIT: usize = 1000;
    let Some((first, rest)) = pattern.split_first() else {
        if offers.is_empty() && ways.len() < WAY_LIMIT {
            ways.push(bound.clone());
        }
        return Ok(());
    };
    if let OfferCode::Rest = first {
        // Two in a row mean the same as one, and would try everything twice.
        if matches!(rest.first(), Some(OfferCode::Rest)) {
            return match_offers(rest, offers, bound, values, ways);
        }
        let needed = rest.iter().filter(|one| !matches!(one, OfferCode::Rest)).count();
        for skipped in 0..=offers.len().saturating_sub(needed) {
            match_offers(rest, &offers[skipped.min(offers.len())..], bound, values, ways)?;
        }
        return Ok(());
    }
    let Some((offer, others)) = offers.split_first() else { return Ok(()) };
    match first {
        OfferCode::Value(Code::Constant(Value::Term(text))) if compact(offer) != *text => Ok(()),
        OfferCode::Value(code) => {
            let value = code.evaluate(&|slot| look_up(bound, slot, values))?;
            if value.is_offer(offer) {
                match_offers(rest, others, bound, values, ways)?;
            }
            Ok(())
        }
        OfferCode::Bind(slot, type_of) => {
            if let Some(value) = Value::of_offer(offer, type_of) {
                bound.push((*slot, value));
                match_offers(rest, others, bound, values, ways)?;
                bound.pop();
            }
            Ok(())
        }
        OfferCode::Any | OfferCode::Rest => match_offers(rest, others, bound, values, ways),
    }
}
