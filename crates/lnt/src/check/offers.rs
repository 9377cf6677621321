//! Actions: the offers, and the profiles of the gate's channel that they have to fit.

use source::{Diagnostic, Span};

use super::body::{Body, Expect, Kind};
use super::overload::Possible;
use crate::tree::{self, Actual, ActualKind, Actuals, Invoke, Name, PatternKind};
use crate::typed::{
    Action, ChannelId, Expression, GateRef, Offer, OfferKind, StatementKind, TypeId, VariableId,
};

impl Body<'_> {
    pub(super) fn action(&mut self, gate: GateRef, invoke: &Invoke) -> Option<StatementKind> {
        let name = &invoke.name;
        if self.kind != Kind::Process {
            self.error(
                Diagnostic::error(format!("`{}` is an exception, and a function has no actions", name.text))
                    .label(name.span, "not a statement")
                    .help(format!("write `raise {}`", name.text)),
            );
            return None;
        }
        let offers = match &invoke.arguments {
            Some(arguments) => {
                let arguments = self.arrange_offers(gate, name, arguments)?;
                self.offers(gate, name, &arguments)?
            }
            None => {
                self.offers(gate, name, &Actuals { values: Vec::new(), ellipsis: false, span: name.span })?
            }
        };
        let guard = match &invoke.guard {
            Some(guard) => Some(self.condition(guard)?),
            None => None,
        };
        Some(StatementKind::Action(Action { gate, gate_span: name.span, offers, guard }))
    }

    pub(super) fn internal(&mut self, invoke: &Invoke) -> Option<StatementKind> {
        if self.kind != Kind::Process {
            self.unknown_name(invoke, invoke.name.span);
            return None;
        }
        if let Some(arguments) = &invoke.arguments {
            self.error(
                Diagnostic::error("the internal action `i` takes no offers")
                    .label(arguments.span, "not possible")
                    .help("hide a gate to keep its offers internal: `hide G : any in … end hide`"),
            );
            return None;
        }
        self.action(GateRef::Internal, invoke)
    }

    /// Offers in the order of the channel's profile; `...` stands for values that may be anything.
    pub(super) fn arrange_offers(
        &mut self,
        gate: GateRef,
        name: &Name,
        arguments: &Actuals,
    ) -> Option<Actuals> {
        let named = arguments.values.iter().any(|actual| actual.formal.is_some());
        if !named && !arguments.ellipsis {
            return Some(arguments.clone());
        }
        let channel = match gate {
            GateRef::Local(id) => self.scope[id].channel,
            _ => ChannelId::NONE,
        };
        let profiles = self.globals.offer_names.get(&channel).map_or(&[][..], Vec::as_slice);
        let mut fitting = profiles.iter().filter_map(|names| {
            let mut slots: Vec<Option<Actual>> = vec![None; names.len()];
            for (index, actual) in arguments.values.iter().enumerate() {
                let at = match &actual.formal {
                    None => index,
                    Some(formal) => names.iter().position(|name| *name == formal.key())?,
                };
                let slot = slots.get_mut(at).filter(|slot| slot.is_none())?;
                *slot = Some(actual.clone());
            }
            let anything = || Actual {
                formal: None,
                kind: ActualKind::Receive(tree::Pattern {
                    kind: PatternKind::Any(None),
                    span: arguments.span,
                }),
                span: arguments.span,
            };
            let complete = arguments.ellipsis || slots.iter().all(Option::is_some);
            let values = slots.into_iter().map(|slot| slot.unwrap_or_else(anything)).collect();
            complete.then_some(Actuals { values, ellipsis: false, span: arguments.span })
        });
        let message = match (fitting.next(), fitting.next()) {
            (Some(one), None) => return Some(one),
            (None, _) => format!("these offers fit no profile of gate `{}`", name.text),
            (Some(_), Some(_)) => format!("these offers fit several profiles of gate `{}`", name.text),
        };
        let mut diagnostic =
            Diagnostic::error(message).label(arguments.span, "each value must be given once");
        for names in profiles.iter().filter(|names| !names.is_empty()) {
            let names: Vec<&str> =
                names.iter().map(|name| if name.is_empty() { "_" } else { name }).collect();
            diagnostic = diagnostic.note(format!("its channel names the values ({})", names.join(", ")));
        }
        self.error(diagnostic.help("`...` stands for values that may be anything: `G (x => 1, ...)`"));
        None
    }

    /// The profiles that a gate allows; `None` where it allows everything.
    pub(super) fn allowed(&self, gate: GateRef) -> Option<Vec<Vec<TypeId>>> {
        match gate {
            GateRef::Internal | GateRef::Unexpected => Some(vec![Vec::new()]),
            GateRef::Local(id) => match (self.handler_profiles.get(&id), self.scope[id].channel) {
                (Some(profile), _) => Some(vec![profile.clone()]),
                (None, ChannelId::ANY) => None,
                (None, channel) => Some(self.globals.program[channel].profiles.clone()),
            },
        }
    }

    pub(super) fn offers(&mut self, gate: GateRef, name: &Name, arguments: &Actuals) -> Option<Vec<Offer>> {
        let values = &arguments.values;
        let Some(profiles) = self.allowed(gate) else {
            let mut typed = Vec::new();
            let mut bound = Vec::new();
            for actual in values {
                typed.push(self.free_offer(actual, &mut bound));
            }
            return typed.into_iter().collect();
        };
        let same_count: Vec<&Vec<TypeId>> =
            profiles.iter().filter(|profile| profile.len() == values.len()).collect();
        if same_count.is_empty() {
            self.wrong_offers(gate, name, arguments.span, values.len(), &profiles);
            return None;
        }
        let known: Vec<Possible> = values.iter().map(|actual| self.possible_offer(actual)).collect();
        let fits =
            |profile: &&&Vec<TypeId>| profile.iter().zip(&known).all(|(ty, known)| known.contains(*ty));
        let fitting: Vec<&Vec<TypeId>> = same_count.iter().filter(fits).copied().collect();
        let profile = match (fitting.as_slice(), same_count.as_slice()) {
            ([one, ..], _) => one,
            ([], [one]) => one,
            _ => {
                let found: Vec<String> = known.iter().map(|known| self.describe(known)).collect();
                let mut diagnostic =
                    Diagnostic::error(format!("no profile of gate `{}` fits these offers", name.text))
                        .label(arguments.span, format!("the offers are ({})", found.join(", ")));
                for profile in &same_count {
                    diagnostic =
                        diagnostic.note(format!("its channel allows {}", self.globals.profile(profile)));
                }
                self.error(diagnostic);
                return None;
            }
        };
        if fitting.len() > 1 {
            // Several profiles fit: only literals can make that happen, and `nat` comes first for them.
            let weights = |profile: &Vec<TypeId>| -> Vec<u8> {
                profile.iter().map(|&ty| super::overload::weight(ty)).collect()
            };
            let least = fitting.iter().map(|profile| weights(profile)).min();
            let best: Vec<&&Vec<TypeId>> =
                fitting.iter().filter(|profile| Some(weights(profile)) == least).collect();
            if best.len() > 1 {
                let mut diagnostic =
                    Diagnostic::error(format!("several profiles of gate `{}` fit", name.text))
                        .label(arguments.span, "not clear which one is meant")
                        .help("say which type an offer has: `V of T`");
                for profile in best {
                    diagnostic =
                        diagnostic.note(format!("its channel allows {}", self.globals.profile(profile)));
                }
                self.error(diagnostic);
                return None;
            }
            let profile = best[0].to_vec();
            return self.typed_offers(values, &profile, gate);
        }
        let profile = profile.to_vec();
        self.typed_offers(values, &profile, gate)
    }

    pub(super) fn possible_offer(&self, actual: &Actual) -> Possible {
        match &actual.kind {
            ActualKind::Value(value) => self.possible(value),
            ActualKind::Receive(pattern) => self.possible_pattern(pattern),
            ActualKind::InOut(_) => Possible::Types(Vec::new()),
        }
    }

    pub(super) fn typed_offers(
        &mut self,
        values: &[Actual],
        profile: &[TypeId],
        gate: GateRef,
    ) -> Option<Vec<Offer>> {
        let because = match gate {
            GateRef::Local(id) => {
                let channel = &self.globals.program[self.scope[id].channel].name;
                Some((
                    self.scope[id].span,
                    format!(
                        "`{}` takes {} (channel `{channel}`)",
                        self.scope[id].name,
                        self.globals.profile(profile)
                    ),
                ))
            }
            _ => None,
        };
        let mut bound = Vec::new();
        let mut typed = Vec::new();
        for (actual, &ty) in values.iter().zip(profile) {
            let expect = Expect { ty, because: because.clone() };
            let kind = match &actual.kind {
                ActualKind::Value(value) => self.resolve(value, Some(&expect)).map(OfferKind::Send),
                ActualKind::Receive(tree::Pattern { kind: PatternKind::Name(name), .. })
                    if self.variable(&name.text).is_none()
                        && self.signatures(&name.text).next().is_none() =>
                {
                    self.unknown_variable(name);
                    None
                }
                ActualKind::Receive(pattern) => {
                    self.resolve_pattern(pattern, &expect, &mut bound).map(OfferKind::Receive)
                }
                ActualKind::InOut(_) => self.no_inout(actual),
            };
            typed.push(kind.map(|kind| Offer { kind, ty, span: actual.span }));
        }
        typed.into_iter().collect()
    }

    /// An offer on a gate that allows everything.
    pub(super) fn free_offer(&mut self, actual: &Actual, bound: &mut Vec<VariableId>) -> Option<Offer> {
        let span = actual.span;
        match &actual.kind {
            ActualKind::Value(value) => {
                let value = self.resolve(value, None)?;
                Some(Offer { ty: value.ty, kind: OfferKind::Send(value), span })
            }
            ActualKind::Receive(pattern) => {
                let ty = match self.possible_pattern(pattern) {
                    Possible::Types(types) if types.len() == 1 => types[0],
                    Possible::Types(types) => {
                        match types.iter().copied().min_by_key(|&ty| super::overload::weight(ty)) {
                            Some(best) if super::overload::weight(best) < 4 => best,
                            _ => {
                                self.unclear_pattern(pattern.span);
                                return None;
                            }
                        }
                    }
                    Possible::Any => {
                        match &pattern.kind {
                            PatternKind::Name(name) => self.unknown_variable(name),
                            PatternKind::Any(Some(ty)) | PatternKind::Of { ty, .. } => {
                                self.find_type(ty);
                            }
                            PatternKind::Wrong => {}
                            _ => self.unclear_pattern(pattern.span),
                        }
                        return None;
                    }
                };
                let pattern = self.resolve_pattern(pattern, &Expect::of(ty), bound)?;
                Some(Offer { kind: OfferKind::Receive(pattern), ty, span })
            }
            ActualKind::InOut(_) => {
                self.no_inout(actual);
                None
            }
        }
    }

    pub(super) fn no_inout(&mut self, actual: &Actual) -> Option<OfferKind> {
        self.error(
            Diagnostic::error("`!?` is not allowed in an action")
                .label(actual.span, "an offer is either sent or received")
                .help("send with `!x`, receive with `?x`"),
        );
        None
    }

    pub(super) fn unclear_pattern(&mut self, span: Span) {
        self.error(
            Diagnostic::error("the type of this offer is not clear")
                .label(span, "fits several types, or none")
                .help("say which type it has: `?any T`, `?P of T`"),
        );
    }

    pub(super) fn describe(&self, known: &Possible) -> String {
        match known {
            Possible::Any => "?".to_owned(),
            Possible::Types(types) => {
                let best = types.iter().copied().min_by_key(|&ty| super::overload::weight(ty));
                best.map_or("?".to_owned(), |ty| self.type_name(ty).to_owned())
            }
        }
    }

    pub(super) fn wrong_offers(
        &mut self,
        gate: GateRef,
        name: &Name,
        span: Span,
        found: usize,
        profiles: &[Vec<TypeId>],
    ) {
        let mut counts: Vec<usize> = profiles.iter().map(Vec::len).collect();
        counts.sort();
        counts.dedup();
        let wanted = counted(&counts);
        let count = |count: usize| counted(&[count]);
        let mut diagnostic =
            Diagnostic::error(format!("gate `{}` takes {wanted}, found {}", name.text, count(found)))
                .label(span, format!("expected {wanted}"));
        if let GateRef::Local(id) = gate {
            let channel = &self.globals.program[self.scope[id].channel].name;
            diagnostic = diagnostic.label(self.scope[id].span, format!("declared with channel `{channel}`"));
            let channel = channel.clone();
            for profile in profiles.iter().filter(|profile| !profile.is_empty()) {
                diagnostic =
                    diagnostic.note(format!("channel `{channel}` allows {}", self.globals.profile(profile)));
            }
        }
        self.error(diagnostic);
    }

    /// The values of a `raise`.
    pub(super) fn raised_values(
        &mut self,
        gate: GateRef,
        name: &Name,
        values: &[Actual],
    ) -> Option<Vec<Expression>> {
        let span = values.first().map_or(name.span, |first| first.span);
        let arguments = Actuals { values: values.to_vec(), ellipsis: false, span };
        let offers = self.offers(gate, name, &arguments)?;
        let mut typed = Vec::new();
        for offer in offers {
            match offer.kind {
                OfferKind::Send(value) => typed.push(value),
                OfferKind::Receive(_) => {
                    self.error(
                        Diagnostic::error("`raise` sends values only").label(offer.span, "can't receive"),
                    );
                    return None;
                }
            }
        }
        Some(typed)
    }
}

/// `no offers`, `1 offer`, `1 or 2 offers`
fn counted(counts: &[usize]) -> String {
    let texts: Vec<String> =
        counts.iter().map(|count| if *count == 0 { "no".to_owned() } else { count.to_string() }).collect();
    let plural = if counts == [1] { "" } else { "s" };
    format!("{} offer{plural}", texts.join(" or "))
}
