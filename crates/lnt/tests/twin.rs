//! Random behaviours compared with an interpreter that follows the rules of the language one by one.
//!
//! The twin knows nothing of regions, slots, liveness or remembered offers: a state is what remains to be done, as a
//! tree, with the values of the variables. Its systems and ours must be strongly bisimilar.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::rc::Rc;

use bisim::Relation;
use explore::{Limits, explore};
use lnt::{LntModel, Loader, Options};
use lts::{Lts, LtsBuilder, Progress, StateId};
use source::Sources;

/// Values of the variables.
type Values = [u8; VARIABLES];
const VARIABLES: usize = 4;
const NAMES: [&str; VARIABLES] = ["w", "x", "y", "z"];
/// The first gates carry nothing, the others a number.
const GATES: [&str; 6] = ["A", "B", "C", "D", "E", "F"];
const PLAIN: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Offer {
    Constant(u8),
    Variable(usize),
    /// Any number below three, kept in a variable.
    Take(usize),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Behaviour {
    Null,
    Stop,
    Internal,
    Act(usize, Option<Offer>),
    /// A variable becomes another plus a number, modulo three.
    Assign(usize, usize, u8),
    Sequence(Rc<Behaviour>, Rc<Behaviour>),
    Select(Vec<Rc<Behaviour>>),
    /// If a variable has a value.
    If(usize, u8, Rc<Behaviour>, Rc<Behaviour>),
    OnlyIf(usize, u8, Rc<Behaviour>),
    Loop(u32, Rc<Behaviour>),
    Break(u32),
    /// The gates on which branches meet, each with how many of them: all, or two of any.
    Parallel(Vec<Meeting>, Vec<Rc<Behaviour>>),
    Hide(usize, Rc<Behaviour>),
    Disrupt(Rc<Behaviour>, Rc<Behaviour>),
    /// A process of its own: its number, its body, the gates it gets, and the variable whose value it gets.
    Call(u32, Rc<Behaviour>, [usize; 6], Option<usize>),
    /// What is left of a call, with its own values.
    Called(Rc<Behaviour>, Values, [usize; 6]),
    /// What is left of this round of a loop, then the loop.
    Round(u32, Rc<Behaviour>, Rc<Behaviour>),
    /// What is left of each branch, with its values, and the values at the fork.
    Branches(Vec<Meeting>, Vec<(Rc<Behaviour>, Values)>, Values),
}

/// A gate, and whether two branches meet on it rather than all.
type Meeting = (usize, bool);

use Behaviour::*;

/// A gate with its value.
type Label = (usize, Option<u8>);

/// What can happen in a state.
#[derive(Default)]
struct Moves {
    /// A gate with its value, or the internal action, and what remains.
    steps: Vec<(Option<Label>, Rc<Behaviour>, Values)>,
    /// Ways to end.
    ends: Vec<Values>,
    /// Ways to leave a loop.
    breaks: Vec<(u32, Values)>,
}

impl Moves {
    fn join(&mut self, other: Moves) {
        self.steps.extend(other.steps);
        self.ends.extend(other.ends);
        self.breaks.extend(other.breaks);
    }

    /// The same with what remains after each step wrapped.
    fn wrap(self, wrap: impl Fn(Rc<Behaviour>) -> Behaviour) -> Moves {
        let steps = self.steps.into_iter().map(|(label, rest, values)| (label, Rc::new(wrap(rest)), values));
        Moves { steps: steps.collect(), ..self }
    }
}

fn moves(behaviour: &Rc<Behaviour>, values: Values) -> Moves {
    let mut found = Moves::default();
    match &**behaviour {
        Null => found.ends.push(values),
        Stop => {}
        Internal => found.steps.push((None, Rc::new(Null), values)),
        Act(gate, offer) => {
            let mut step = |value, values| found.steps.push((Some((*gate, value)), Rc::new(Null), values));
            match offer {
                None => step(None, values),
                Some(Offer::Constant(value)) => step(Some(*value), values),
                Some(Offer::Variable(variable)) => step(Some(values[*variable]), values),
                Some(Offer::Take(variable)) => {
                    for value in 0..3 {
                        let mut after = values;
                        after[*variable] = value;
                        step(Some(value), after);
                    }
                }
            }
        }
        Assign(variable, other, plus) => {
            let mut after = values;
            after[*variable] = (values[*other] + plus) % 3;
            found.ends.push(after);
        }
        Sequence(first, second) => {
            let mut before = moves(first, values);
            let ends = std::mem::take(&mut before.ends);
            found.join(before.wrap(|rest| Sequence(rest, second.clone())));
            ends.into_iter().for_each(|values| found.join(moves(second, values)));
        }
        Select(branches) => branches.iter().for_each(|branch| found.join(moves(branch, values))),
        If(variable, value, then, otherwise) => {
            found = moves(if values[*variable] == *value { then } else { otherwise }, values);
        }
        OnlyIf(variable, value, then) if values[*variable] == *value => found = moves(then, values),
        OnlyIf(..) => {}
        Loop(name, body) => found = moves(&Rc::new(Round(*name, body.clone(), body.clone())), values),
        Round(name, rest, body) => {
            let mut round = moves(rest, values);
            let ends = std::mem::take(&mut round.ends);
            let breaks = std::mem::take(&mut round.breaks);
            found.join(round.wrap(|rest| Round(*name, rest, body.clone())));
            ends.into_iter()
                .for_each(|values| found.join(moves(&Rc::new(Loop(*name, body.clone())), values)));
            for (other, values) in breaks {
                match other == *name {
                    true => found.ends.push(values),
                    false => found.breaks.push((other, values)),
                }
            }
        }
        Break(name) => found.breaks.push((*name, values)),
        Call(_, body, gates, argument) => {
            let own = [argument.map_or(0, |variable| values[variable]), 0, 0, 0];
            found = moves(&Rc::new(Called(body.clone(), own, *gates)), values);
        }
        Called(rest, own, gates) => {
            let inner = moves(rest, *own);
            for (label, rest, own) in inner.steps {
                let label = label.map(|(gate, value)| (gates[gate], value));
                found.steps.push((label, Rc::new(Called(rest, own, *gates)), values));
            }
            found.ends.extend(inner.ends.iter().map(|_| values));
        }
        Parallel(gates, branches) => {
            let branches = branches.iter().map(|branch| (branch.clone(), values)).collect();
            found = moves(&Rc::new(Branches(gates.clone(), branches, values)), values);
        }
        Branches(gates, branches, fork) => found = parallel(gates, branches, *fork),
        Hide(gate, inner) => {
            let mut inner = moves(inner, values);
            for (label, ..) in &mut inner.steps {
                label.take_if(|(other, _)| other == gate);
            }
            found = inner.wrap(|rest| Hide(*gate, rest));
        }
        Disrupt(body, interruption) => {
            found.join(moves(body, values).wrap(|rest| Disrupt(rest, interruption.clone())));
            found.join(moves(interruption, values));
        }
    }
    found
}

fn parallel(gates: &[Meeting], branches: &[(Rc<Behaviour>, Values)], fork: Values) -> Moves {
    let all: Vec<Moves> = branches.iter().map(|(branch, values)| moves(branch, *values)).collect();
    let mut found = Moves::default();
    // Values live in the branches until all have ended.
    let mut step = |label, branches: Vec<(Rc<Behaviour>, Values)>| {
        found.steps.push((label, Rc::new(Branches(gates.to_vec(), branches, fork)), fork));
    };
    for (number, one) in all.iter().enumerate() {
        for (label, rest, values) in &one.steps {
            let meeting = label.and_then(|(gate, _)| gates.iter().find(|meeting| meeting.0 == gate));
            let mut after = branches.to_vec();
            after[number] = (rest.clone(), *values);
            match meeting {
                None => step(*label, after),
                // One that comes first in the list leads; those behind it join with the same label.
                Some((_, two)) => {
                    let behind: Vec<usize> = (number + 1..all.len()).collect();
                    let groups: Vec<Vec<usize>> = match two {
                        true => behind.iter().map(|&other| vec![other]).collect(),
                        false if number == 0 => vec![behind],
                        false => Vec::new(),
                    };
                    for group in groups {
                        let mut together = vec![after.clone()];
                        for other in group {
                            let matching: Vec<_> =
                                all[other].steps.iter().filter(|step| step.0 == *label).collect();
                            let extend = |known: &Vec<(Rc<Behaviour>, Values)>| {
                                let extended = matching.iter().map(|(_, rest, values)| {
                                    let mut known = known.clone();
                                    known[other] = (rest.clone(), *values);
                                    known
                                });
                                extended.collect::<Vec<_>>()
                            };
                            together = together.iter().flat_map(extend).collect();
                        }
                        together.into_iter().for_each(|branches| step(*label, branches));
                    }
                }
            }
        }
    }
    // All end together; what a branch has changed is kept.
    let mut ends = vec![fork];
    for one in &all {
        let keep = |end: &Values| {
            let merged = one.ends.iter().map(|own| {
                let mut merged = *end;
                (0..VARIABLES).filter(|&at| own[at] != fork[at]).for_each(|at| merged[at] = own[at]);
                merged
            });
            merged.collect::<Vec<_>>()
        };
        ends = ends.iter().flat_map(keep).collect();
    }
    found.ends = ends;
    found
}

/// The whole system; nothing if it is larger than the limit.
fn interpret(behaviour: Rc<Behaviour>, most: usize) -> Option<Lts> {
    let mut numbers: HashMap<(Rc<Behaviour>, Values), usize> = HashMap::new();
    let mut states = vec![(behaviour, [0; VARIABLES])];
    numbers.insert(states[0].clone(), 0);
    let mut transitions = Vec::new();
    let mut at = 0;
    while at < states.len() {
        if states.len() > most {
            return None;
        }
        let (behaviour, values) = states[at].clone();
        let found = moves(&behaviour, values);
        for (label, rest, values) in found.steps {
            let label = match label {
                None => "i".to_owned(),
                Some((gate, None)) => GATES[gate].to_owned(),
                Some((gate, Some(value))) => format!("{} !{value}", GATES[gate]),
            };
            let fresh = states.len();
            let target = *numbers.entry((rest.clone(), values)).or_insert(fresh);
            if target == fresh {
                states.push((rest, values));
            }
            transitions.push((at, label, target));
        }
        if !found.ends.is_empty() {
            let stop = (Rc::new(Stop), [0; VARIABLES]);
            let fresh = states.len();
            let target = *numbers.entry(stop.clone()).or_insert(fresh);
            if target == fresh {
                states.push(stop);
            }
            transitions.push((at, "exit".to_owned(), target));
        }
        at += 1;
    }
    let mut builder = LtsBuilder::new();
    builder.reserve_states(states.len());
    for (source, label, target) in transitions {
        let label = builder.label(&label);
        builder.add(StateId::new(source), label, StateId::new(target));
    }
    Some(builder.finish().unwrap())
}

/// The behaviour as LNT.
fn write(behaviour: &Behaviour, out: &mut String) {
    let mut list = |parts: &[Rc<Behaviour>], open: &str, between: &str, close: &str| {
        out.push_str(open);
        for (number, part) in parts.iter().enumerate() {
            if number > 0 {
                out.push_str(between);
            }
            write(part, out);
        }
        out.push_str(close);
    };
    match behaviour {
        Sequence(first, second) => list(&[first.clone(), second.clone()], "", ";\n", ""),
        Select(branches) => list(branches, "select\n", "\n[]\n", "\nend select"),
        Parallel(gates, branches) => {
            let name = |&(gate, two): &Meeting| format!("{}{}", GATES[gate], if two { " #2" } else { "" });
            let names: Vec<String> = gates.iter().map(name).collect();
            let open =
                if names.is_empty() { "par\n".to_owned() } else { format!("par {} in\n", names.join(", ")) };
            list(branches, &open, "\n||\n", "\nend par");
        }
        Disrupt(body, interruption) => {
            list(&[body.clone(), interruption.clone()], "disrupt\n", "\nby\n", "\nend disrupt");
        }
        If(variable, value, then, otherwise) => {
            let open = format!("if {} == {value} then\n", NAMES[*variable]);
            list(&[then.clone(), otherwise.clone()], &open, "\nelse\n", "\nend if");
        }
        OnlyIf(variable, value, then) => {
            list(
                std::slice::from_ref(then),
                &format!("only if {} == {value} then\n", NAMES[*variable]),
                "",
                "\nend if",
            );
        }
        Loop(name, body) => list(std::slice::from_ref(body), &format!("loop L{name} in\n"), "", "\nend loop"),
        Hide(gate, inner) => {
            let channel = if *gate < PLAIN { "none" } else { "number" };
            list(
                std::slice::from_ref(inner),
                &format!("hide {} : {channel} in\n", GATES[*gate]),
                "",
                "\nend hide",
            );
        }
        Null => out.push_str("null"),
        Stop => out.push_str("stop"),
        Internal => out.push('i'),
        Break(name) => write!(out, "break L{name}").unwrap(),
        Assign(variable, other, plus) => {
            write!(out, "{} := ({} + {plus}) mod 3", NAMES[*variable], NAMES[*other]).unwrap();
        }
        Act(gate, offer) => {
            out.push_str(GATES[*gate]);
            match offer {
                None => {}
                Some(Offer::Constant(value)) => write!(out, " ({value})").unwrap(),
                Some(Offer::Variable(variable)) => write!(out, " ({})", NAMES[*variable]).unwrap(),
                Some(Offer::Take(variable)) => {
                    write!(out, " (?{0}) where {0} < 3", NAMES[*variable]).unwrap();
                }
            }
        }
        Call(number, _, gates, argument) => {
            let gates: Vec<&str> = gates.iter().map(|&gate| GATES[gate]).collect();
            let argument = argument.map_or("0", |variable| NAMES[variable]);
            write!(out, "P{number} [{}] ({argument})", gates.join(", ")).unwrap();
        }
        Round(..) | Branches(..) | Called(..) => unreachable!("only the interpreter makes these"),
    }
}

struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
}

/// Draws behaviours that the language accepts.
struct Drawing {
    chance: Chance,
    /// Loops and processes get a number each.
    loops: u32,
    /// The processes, as LNT.
    processes: String,
}

impl Drawing {
    fn act(&mut self, variables: &[usize]) -> Behaviour {
        let gate = self.chance.below(GATES.len());
        let offer = (gate >= PLAIN).then(|| match self.chance.below(3) {
            0 => Offer::Constant(self.chance.below(3) as u8),
            1 if !variables.is_empty() => Offer::Take(variables[self.chance.below(variables.len())]),
            _ if !variables.is_empty() => Offer::Variable(variables[self.chance.below(variables.len())]),
            _ => Offer::Constant(1),
        });
        Act(gate, offer)
    }

    /// `variables` may be used here, `enclosing` loops may be left. Behaviour that is `guarded` does something first.
    fn draw(&mut self, depth: usize, variables: &[usize], enclosing: &[u32], guarded: bool) -> Rc<Behaviour> {
        let inner = depth.saturating_sub(1);
        let variable = |chance: &mut Chance| variables[chance.below(variables.len())];
        let kind = if depth == 0 { self.chance.below(6) } else { self.chance.below(21) };
        Rc::new(match kind {
            0 if !guarded => Null,
            1 if self.chance.below(3) == 0 => Stop,
            2 => Internal,
            3 if !guarded && !variables.is_empty() => {
                let (to, from) = (variable(&mut self.chance), variable(&mut self.chance));
                Assign(to, from, self.chance.below(3) as u8)
            }
            4 if !guarded && !enclosing.is_empty() => Break(enclosing[self.chance.below(enclosing.len())]),
            6..=9 => {
                let first = self.draw(inner, variables, enclosing, guarded);
                // Nothing can follow what never ends.
                match *first {
                    Stop | Break(_) => return first,
                    _ => Sequence(first, self.draw(inner, variables, enclosing, false)),
                }
            }
            10 | 11 => {
                let count = 2 + self.chance.below(2);
                Select((0..count).map(|_| self.draw(inner, variables, enclosing, guarded)).collect())
            }
            12 if !variables.is_empty() => {
                let (which, value) = (variable(&mut self.chance), self.chance.below(3) as u8);
                let then = self.draw(inner, variables, enclosing, guarded);
                If(which, value, then, self.draw(inner, variables, enclosing, guarded))
            }
            13 if !variables.is_empty() => {
                let (which, value) = (variable(&mut self.chance), self.chance.below(3) as u8);
                OnlyIf(which, value, self.draw(inner, variables, enclosing, guarded))
            }
            14 => {
                self.loops += 1;
                let name = self.loops;
                let inside = [enclosing, &[name]].concat();
                let first = Rc::new(self.act(variables));
                let then = self.draw(inner, variables, &inside, false);
                // A loop that can't be left would make what follows dead code.
                let leave = Rc::new(Select(vec![Rc::new(Break(name)), Rc::new(Null)]));
                let last = Rc::new(Sequence(Rc::new(Internal), leave));
                let body = match *then {
                    Stop | Break(_) => then,
                    _ => Rc::new(Sequence(then, last)),
                };
                Loop(name, Rc::new(Sequence(first, body)))
            }
            15 | 16 => {
                let gates: Vec<usize> = (0..GATES.len()).filter(|_| self.chance.below(3) == 0).collect();
                let gates = gates.into_iter().map(|gate| (gate, self.chance.below(4) == 0)).collect();
                let count = 2 + self.chance.below(2);
                // A variable belongs to one branch.
                let owners: Vec<usize> = variables.iter().map(|_| self.chance.below(count)).collect();
                let branch = |number: usize, drawing: &mut Self| {
                    let own = variables.iter().zip(&owners).filter(|(_, owner)| **owner == number);
                    let own: Vec<usize> = own.map(|(&variable, _)| variable).collect();
                    drawing.draw(inner, &own, &[], guarded)
                };
                Parallel(gates, (0..count).map(|number| branch(number, self)).collect())
            }
            17 => Hide(self.chance.below(GATES.len()), self.draw(inner, variables, enclosing, guarded)),
            18 => {
                // What an interruption sees or leaves of values that the body is just changing is nothing to rely on.
                let (one, other) = variables.split_at(variables.len() / 2);
                let body = self.draw(inner, one, &[], true);
                let mut whole = Disrupt(body, self.draw(inner, other, &[], true));
                for &variable in one {
                    whole = Sequence(Rc::new(whole), Rc::new(Assign(variable, other[0], 0)));
                }
                whole
            }
            19 | 20 => {
                let body = self.draw(inner, &[0, 1, 2, 3], &[], guarded);
                self.loops += 1;
                let number = self.loops;
                let mut text = String::new();
                write(&body, &mut text);
                write!(
                    self.processes,
                    "process P{number} [{HEADER}] (p : nat) is\nvar {} : nat in\n\
                     w := p; x := 0; y := 0; z := 0;\n{text}\nend var\nend process\n",
                    NAMES.join(", ")
                )
                .unwrap();
                // Gates change places among their kind.
                let (plain, number_gates) = (self.chance.below(3), self.chance.below(3));
                let gates = std::array::from_fn(|gate| match gate < PLAIN {
                    true => (gate + plain) % PLAIN,
                    false => PLAIN + (gate - PLAIN + number_gates) % PLAIN,
                });
                let argument = (!variables.is_empty()).then(|| variable(&mut self.chance));
                Call(number, body, gates, argument)
            }
            _ => self.act(variables),
        })
    }
}

const HEADER: &str = "A, B, C : none, D, E, F : number";

fn program(behaviour: &Behaviour, processes: &str) -> String {
    let mut body = String::new();
    write(behaviour, &mut body);
    let start: Vec<String> = NAMES.iter().map(|name| format!("{name} := 0")).collect();
    format!(
        "module drawn is\nchannel number is (nat) end channel\n{processes}\
         process MAIN [{HEADER}] is\nvar {} : nat in\n{};\n{body}\nend var\nend process\n\
         end module\n",
        NAMES.join(", "),
        start.join(";\n")
    )
}

#[test]
fn compiled_behaviour_is_what_the_rules_say() {
    let (mut compared, mut states) = (0, 0);
    let mut refused = Vec::new();
    let drawn = 5000;
    for seed in 0..drawn {
        let mut drawing = Drawing { chance: Chance(seed * 7919 + 1), loops: 0, processes: String::new() };
        let depth = 2 + drawing.chance.below(4);
        let behaviour = drawing.draw(depth, &[0, 1, 2, 3], &[], false);
        let text = program(&behaviour, &drawing.processes);
        let mut sources = Sources::new();
        let checked = match Loader::new().load_text("drawn.lnt", &text, &mut sources) {
            Ok(checked) => checked,
            // Dead code and the like is refused; most is not.
            Err(errors) => {
                refused.push(sources.render_all(&errors, false));
                continue;
            }
        };
        let Some(expected) = interpret(behaviour, 4000) else { continue };
        let main = checked.program.main().unwrap();
        let model = match LntModel::new(checked.program, main, &Options::default()) {
            Ok(model) => model,
            Err(errors) => panic!("seed {seed}: {}\n{text}", sources.render_all(&errors, false)),
        };
        let found = explore(&model, &Limits { states: 20_000, ..Limits::default() }, &Progress::new());
        assert!(found.outcome.is_complete(), "seed {seed}: {:?}\n{text}", found.outcome);
        assert!(
            bisim::compare(&found.lts, &expected, Relation::Strong).unwrap().is_equivalent(),
            "seed {seed}\n{text}\nours:\n{:?}\nexpected:\n{expected:?}",
            found.lts
        );
        compared += 1;
        states += found.states();
    }
    assert!(2 * compared > drawn, "{compared} compared; refused, for example: {:?}", refused.first());
    assert!(states > 25_000, "{states} states");
}
