//! What happens when a transition fires.

use lnt::data::Evaluator;
use model::ModelError;

use super::net::{HighNet, Tokens};
use super::search::{Mode, Present, concerned};
use crate::text::{ArcWord, computed_tokens};

/// What firing changes: place, token, how many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effect {
    pub takes: Vec<(usize, u32, u32)>,
    /// What is removed, however much there is.
    pub resets: Vec<(usize, u32)>,
    pub puts: Vec<(usize, u32, u32)>,
    /// Which arc puts which token.
    pub put_by: Vec<(usize, u32)>,
}

/// What firing in a mode changes. The tokens that are reset are those present.
pub(crate) fn effect(
    net: &HighNet,
    evaluator: &mut Evaluator<'_>,
    mode: &Mode,
    present: &Present,
) -> Result<Effect, ModelError> {
    let mut effect = Effect { takes: mode.takes.clone(), ..Effect::default() };
    for (number, arc) in net.transitions[mode.transition].arcs.iter().enumerate() {
        match (arc.word, &arc.tokens) {
            (ArcWord::Reset, _) => {
                let removed = concerned(evaluator, arc, &mode.binding, &present.tokens[arc.place])?;
                effect.resets.extend(removed.into_iter().map(|(token, _)| (arc.place, token)));
            }
            (ArcWord::Put, Tokens::Plain) => {
                effect.puts.push((arc.place, 0, arc.count));
                effect.put_by.push((number, 0));
            }
            (ArcWord::Put, Tokens::Computed(values)) => {
                let place = &net.places[arc.place];
                for token in computed_tokens(evaluator, place, values, &mode.binding)? {
                    effect.puts.push((arc.place, token, arc.count));
                    effect.put_by.push((number, token));
                }
            }
            _ => {}
        }
    }
    Ok(effect)
}

/// The tokens after some effects together; the places that changed are noted.
pub(crate) fn fire(
    net: &HighNet,
    effects: &[&Effect],
    present: &Present,
    changed: &mut Vec<(usize, Vec<(u32, u32)>)>,
) -> Result<(), ModelError> {
    changed.clear();
    let place_of = |changed: &mut Vec<(usize, Vec<(u32, u32)>)>, place: usize| {
        changed.iter().position(|(known, _)| *known == place).unwrap_or_else(|| {
            changed.push((place, present.tokens[place].clone()));
            changed.len() - 1
        })
    };
    for &(place, token, count) in effects.iter().flat_map(|effect| &effect.takes) {
        let at = place_of(changed, place);
        if let Some(entry) = changed[at].1.iter_mut().find(|entry| entry.0 == token) {
            entry.1 = entry.1.saturating_sub(count);
        }
    }
    for &(place, token) in effects.iter().flat_map(|effect| &effect.resets) {
        let at = place_of(changed, place);
        changed[at].1.retain(|entry| entry.0 != token);
    }
    for &(place, token, count) in effects.iter().flat_map(|effect| &effect.puts) {
        let at = place_of(changed, place);
        add(&mut changed[at].1, token, count).ok_or_else(|| too_many(net, place))?;
    }
    for (place, tokens) in changed {
        tokens.retain(|&(_, count)| count > 0);
        if net.places[*place].is_set {
            tokens.iter_mut().for_each(|entry| entry.1 = 1);
        }
    }
    Ok(())
}

/// Adds tokens; nothing where there would be too many.
pub(super) fn add(tokens: &mut Vec<(u32, u32)>, token: u32, count: u32) -> Option<()> {
    match tokens.binary_search_by_key(&token, |&(token, _)| token) {
        Ok(at) => tokens[at].1 = tokens[at].1.checked_add(count)?,
        Err(at) => tokens.insert(at, (token, count)),
    }
    Some(())
}

/// There are more tokens than can be counted.
pub(super) fn too_many(net: &HighNet, place: usize) -> ModelError {
    let name = &net.places[place].name;
    ModelError {
        message: format!("place {name} holds more than {} tokens of one value", u32::MAX),
        span: Some(net.places[place].span),
        help: None,
        during: None,
    }
}
