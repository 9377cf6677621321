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
    /// The body, and what is done instead of the rest of it where the exception is raised.
    Trap(u32, Rc<Behaviour>, Rc<Behaviour>),
    Raise(u32),
    /// A process of its own.
    Call(Rc<Process>),
    /// What is left of a call, with its own values.
    Called(Rc<Process>, Rc<Behaviour>, Values),
    /// What is left of this round of a loop, then the loop.
    Round(u32, Rc<Behaviour>, Rc<Behaviour>),
    /// What is left of each branch, with its values, and the values at the fork.
    Branches(Vec<Meeting>, Vec<(Rc<Behaviour>, Values)>, Values),
}

/// A process and its only call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Process {
    number: u32,
    body: Rc<Behaviour>,
    /// What its gates are here.
    gates: [usize; 6],
    /// The exceptions that are handed to it.
    traps: Vec<u32>,
    /// The variable whose value its first one gets.
    argument: Option<usize>,
    /// The variable that its last one stands for.
    result: Option<usize>,
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
    /// Ways to a handler.
    raises: Vec<(u32, Values)>,
}

impl Moves {
    fn join(&mut self, other: Moves) {
        self.steps.extend(other.steps);
        self.ends.extend(other.ends);
        self.breaks.extend(other.breaks);
        self.raises.extend(other.raises);
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
        Raise(name) => found.raises.push((*name, values)),
        Trap(name, rest, handler) => {
            let mut inner = moves(rest, values);
            let raises = std::mem::take(&mut inner.raises);
            found.join(inner.wrap(|rest| Trap(*name, rest, handler.clone())));
            for (other, values) in raises {
                match other == *name {
                    true => found.join(moves(handler, values)),
                    false => found.raises.push((other, values)),
                }
            }
        }
        Call(process) => {
            let argument = process.argument.map_or(0, |argument| values[argument]);
            let own = [argument, 1, 2, process.result.map_or(2, |result| values[result])];
            found = moves(&Rc::new(Called(process.clone(), process.body.clone(), own)), values);
        }
        Called(process, rest, own) => {
            let inner = moves(rest, *own);
            for (label, rest, own) in inner.steps {
                let label = label.map(|(gate, value)| (process.gates[gate], value));
                found.steps.push((label, Rc::new(Called(process.clone(), rest, own)), values));
            }
            for own in inner.ends {
                let mut after = values;
                process.result.into_iter().for_each(|variable| after[variable] = own[VARIABLES - 1]);
                found.ends.push(after);
            }
            found.raises.extend(inner.raises.into_iter().map(|(name, _)| (name, values)));
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
        Raise(name) => write!(out, "raise E{name}").unwrap(),
        Trap(name, body, handler) => {
            let open = format!("trap exception E{name} is\n");
            list(&[handler.clone(), body.clone()], &open, "\nin\n", "\nend trap");
        }
        Call(process) => {
            let mut gates: Vec<String> = process.gates.iter().map(|&gate| GATES[gate].to_owned()).collect();
            gates.extend(process.traps.iter().map(|name| format!("E{name}")));
            let argument = process.argument.map_or("0", |variable| NAMES[variable]);
            let result = process.result.map_or(String::new(), |variable| format!("!?{}, ", NAMES[variable]));
            write!(out, "P{} [{}] ({result}{argument})", process.number, gates.join(", ")).unwrap();
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
    /// Loops, exceptions and processes get a number each.
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

    /// Shows the value of a variable.
    fn show(&mut self, variable: usize) -> Behaviour {
        Act(PLAIN + self.chance.below(GATES.len() - PLAIN), Some(Offer::Variable(variable)))
    }

    /// Gives a number.
    fn number(&mut self) -> u32 {
        self.loops += 1;
        self.loops
    }

    /// `variables` may be used here, loops may be left and exceptions raised that are `enclosing`. Behaviour that is
    /// `guarded` does something first.
    fn draw(
        &mut self,
        depth: usize,
        variables: &[usize],
        enclosing: Enclosing,
        guarded: bool,
    ) -> Rc<Behaviour> {
        let Enclosing { loops, traps } = enclosing;
        let inner = depth.saturating_sub(1);
        let variable = |chance: &mut Chance| variables[chance.below(variables.len())];
        let kind = if depth == 0 { self.chance.below(7) } else { self.chance.below(25) };
        Rc::new(match kind {
            0 if !guarded => Null,
            1 if self.chance.below(3) == 0 => Stop,
            2 => Internal,
            3 if !guarded && !variables.is_empty() => {
                let (to, from) = (variable(&mut self.chance), variable(&mut self.chance));
                Assign(to, from, self.chance.below(3) as u8)
            }
            4 if !guarded && !loops.is_empty() => Break(loops[self.chance.below(loops.len())]),
            6 if !guarded && !traps.is_empty() => Raise(traps[self.chance.below(traps.len())]),
            7..=9 | 21 => {
                let first = self.draw(inner, variables, enclosing, guarded);
                // Nothing can follow what never ends.
                match *first {
                    Stop | Break(_) | Raise(_) => return first,
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
                let name = self.number();
                let inside = [loops, &[name]].concat();
                let first = Rc::new(self.act(variables));
                let then = self.draw(inner, variables, Enclosing { loops: &inside, traps }, false);
                // A loop that can't be left would make what follows dead code.
                let leave = Rc::new(Select(vec![Rc::new(Break(name)), Rc::new(Null)]));
                let last = Rc::new(Sequence(Rc::new(Internal), leave));
                let body = match *then {
                    Stop | Break(_) | Raise(_) => then,
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
                    drawing.draw(inner, &own, Enclosing::default(), guarded)
                };
                Parallel(gates, (0..count).map(|number| branch(number, self)).collect())
            }
            17 => Hide(self.chance.below(GATES.len()), self.draw(inner, variables, enclosing, guarded)),
            18 => {
                // What an interruption sees or leaves of values that the body is just changing is nothing to rely on.
                let (one, other) = variables.split_at(variables.len() / 2);
                let body = self.draw(inner, one, Enclosing::default(), true);
                let mut whole = Disrupt(body, self.draw(inner, other, Enclosing::default(), true));
                for &variable in one {
                    whole = Sequence(Rc::new(whole), Rc::new(Assign(variable, other[0], 0)));
                }
                whole
            }
            19 | 20 | 22 => {
                let body = self.draw(inner, &[0, 1, 2, 3], Enclosing { loops: &[], traps }, guarded);
                let number = self.number();
                let result =
                    (!variables.is_empty() && self.chance.below(2) == 0).then(|| variable(&mut self.chance));
                self.write_process(number, &body, traps, result.is_some());
                // Gates change places among their kind.
                let (plain, number_gates) = (self.chance.below(3), self.chance.below(3));
                let gates = std::array::from_fn(|gate| match gate < PLAIN {
                    true => (gate + plain) % PLAIN,
                    false => PLAIN + (gate - PLAIN + number_gates) % PLAIN,
                });
                let argument = (!variables.is_empty()).then(|| variable(&mut self.chance));
                let traps = traps.to_vec();
                let call = Call(Rc::new(Process { number, body, gates, traps, argument, result }));
                match result {
                    Some(result) => Sequence(Rc::new(call), Rc::new(self.show(result))),
                    None => call,
                }
            }
            23 | 24 => {
                let name = self.number();
                let inside = [traps, &[name]].concat();
                let body = self.draw(inner, variables, Enclosing { loops, traps: &inside }, guarded);
                let mut handler = self.draw(inner, variables, enclosing, guarded);
                if !variables.is_empty() {
                    let shown = variable(&mut self.chance);
                    handler = Rc::new(Sequence(Rc::new(self.show(shown)), handler));
                }
                Trap(name, body, handler)
            }
            _ => self.act(variables),
        })
    }

    /// A process that gets a value, and may hand its last variable back.
    fn write_process(&mut self, number: u32, body: &Behaviour, traps: &[u32], returns: bool) {
        let mut text = String::new();
        write(body, &mut text);
        let traps: String = traps.iter().map(|name| format!(", E{name} : none")).collect();
        let (parameter, own, start) = match returns {
            true => ("in out z : nat, ", &NAMES[..VARIABLES - 1], ""),
            false => ("", &NAMES[..], "z := 2;"),
        };
        write!(
            self.processes,
            "process P{number} [{HEADER}{traps}] ({parameter}p : nat) is\nvar {} : nat in\n\
             w := p; x := 1; y := 2; {start}\n{text}\nend var\nend process\n",
            own.join(", ")
        )
        .unwrap();
    }
}

/// What behaviour can jump out of.
#[derive(Clone, Copy, Default)]
struct Enclosing<'a> {
    loops: &'a [u32],
    traps: &'a [u32],
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
    // More of them: `PROGRAMS=60000 cargo test -p lnt --test twin`.
    let drawn = std::env::var("PROGRAMS").ok().and_then(|count| count.parse().ok()).unwrap_or(8000);
    for seed in 0..drawn {
        let mut drawing = Drawing { chance: Chance(seed * 7919 + 1), loops: 0, processes: String::new() };
        let depth = 2 + drawing.chance.below(4);
        let behaviour = drawing.draw(depth, &[0, 1, 2, 3], Enclosing::default(), false);
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
