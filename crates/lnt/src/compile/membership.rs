//! Functions that tell whether a list or set has an element, however they are written: with recursion or a loop, by
//! patterns or by `head` and `tail`. They become `member`, which guards use to name what can be received
//! ([`crate::run`]) and which takes one instruction.
//!
//! A function is run symbolically, with the element that is looked for and the list. Each test (is this part of the list
//! empty, is its first element the one that is wanted, does the function itself say so of what is left) is followed both
//! ways, and what a path knows then has to imply what it returns, in both directions. A function that calls itself on a
//! shorter list is taken at its word there, by induction; a loop has to shorten a list in each round, and what is known
//! when it comes to its start again is explored like a state. Whatever might fail, or is not understood, is left alone.

use rustc_hash::FxHashSet;

use super::code::{Code, Op};
use super::types::{Kind, Representation};
use crate::typed::{Builtin, TypeId};

/// More instructions than this are not followed, nor more states at the start of a loop, nor deeper calls.
const MOST_OPS: usize = 4000;
const MOST_STATES: usize = 64;
const DEEPEST: usize = 4;

/// A parameter of a function: its first word among the variables, and its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub first: u32,
    pub ty: TypeId,
}

/// What a function is membership of: the parameters of the element and of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    pub element: Parameter,
    pub list: Parameter,
    /// Whether it tells that the list does not have the element.
    pub negated: bool,
}

/// Finds out whether a function, known by its number, does nothing else than tell whether a list has an element.
/// `element_of` gives the type of a list's elements, `empty` is the number of the empty row.
pub fn membership(
    code: &Code,
    types: &[Representation],
    function: u32,
    parameters: &[Parameter],
    element_of: impl Fn(TypeId) -> Option<TypeId>,
    empty: u32,
) -> Option<Membership> {
    let is_list = |ty: TypeId| {
        let shape = &types[ty.index()];
        matches!(shape.kind, Kind::List { .. }) && shape.words() == 1
    };
    for &list in parameters.iter().filter(|parameter| is_list(parameter.ty)) {
        for &element in parameters {
            if element == list || element_of(list.ty) != Some(element.ty) {
                continue;
            }
            for negated in [false, true] {
                let wanted = Membership { element, list, negated };
                let mut proof = Proof {
                    code,
                    types,
                    function,
                    wanted,
                    empty,
                    todo: Vec::new(),
                    seen: FxHashSet::default(),
                    head: None,
                    shrinking: None,
                    ops: 0,
                };
                if proof.succeeds().is_some() {
                    return Some(wanted);
                }
            }
        }
    }
    None
}

/// A word, symbolically.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Word {
    Constant(u32),
    /// A word of the element that is looked for.
    Wanted(u32),
    /// What is left of the list: a position among [`Path::rests`].
    Rest(u32),
    /// A word of the first element of what is left.
    First(u32, u32),
    Other,
}

/// What is known of a part at the end of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Rest {
    /// What it is the tail of.
    tail_of: Option<u32>,
    /// Whether the element is known not to be before it, where it is the tail of nothing.
    skipped: bool,
    /// Whether it is shorter than the list.
    shorter: bool,
    empty: Option<bool>,
    /// Whether its first element is the one that is looked for.
    same: Option<bool>,
    /// Whether it has the element, as the function itself says.
    says: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Frame {
    function: u32,
    back: u32,
    variables: Vec<Word>,
}

/// A path through the function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Path {
    at: u32,
    stack: Vec<Word>,
    frames: Vec<Frame>,
    rests: Vec<Rest>,
    /// Whether the element is known to be in the list, and known not to be.
    present: bool,
    absent: bool,
    /// The variables that were lists when the loop began its round, by frame, with their positions among the rests.
    round: Option<Vec<((usize, usize), u32)>>,
}

struct Proof<'c> {
    code: &'c Code,
    types: &'c [Representation],
    function: u32,
    wanted: Membership,
    empty: u32,
    todo: Vec<Path>,
    seen: FxHashSet<Path>,
    /// The start of the loop, and the variables that become shorter in each round.
    head: Option<u32>,
    shrinking: Option<Vec<(usize, usize)>>,
    ops: usize,
}

impl Proof<'_> {
    /// Follows all paths; nothing where one of them is not as it has to be.
    fn succeeds(&mut self) -> Option<()> {
        let function = self.code.functions[self.function as usize];
        let Membership { element, list, .. } = self.wanted;
        let mut variables = vec![Word::Other; function.variables as usize];
        for word in 0..self.types[element.ty.index()].words() {
            *variables.get_mut((element.first + word) as usize)? = Word::Wanted(word);
        }
        *variables.get_mut(list.first as usize)? = Word::Rest(0);
        self.todo.push(Path {
            at: function.address,
            stack: Vec::new(),
            frames: vec![Frame { function: self.function, back: 0, variables }],
            rests: vec![Rest { skipped: true, ..Rest::default() }],
            present: false,
            absent: false,
            round: None,
        });
        while let Some(mut path) = self.todo.pop() {
            while self.step(&mut path)? {
                self.ops += 1;
                if self.ops > MOST_OPS {
                    return None;
                }
            }
        }
        // Each round of a loop makes a list shorter, so that it ends.
        self.shrinking.as_ref().is_none_or(|variables| !variables.is_empty()).then_some(())
    }

    /// Takes one instruction; gives false at the end of the path, nothing where there is no proof.
    fn step(&mut self, path: &mut Path) -> Option<bool> {
        let at = path.at;
        path.at += 1;
        match self.code.ops[at as usize] {
            Op::Push(value) => path.stack.push(Word::Constant(value)),
            Op::LoadLocal(local) => path.load(local, 1)?,
            Op::LoadLocals(local, words) => path.load(local, words)?,
            Op::StoreLocal(local) => path.store(local, 1)?,
            Op::StoreLocals(local, words) => path.store(local, words)?,
            Op::Pick(depth) => path.pick(depth, 1)?,
            Op::PickMany(depth, words) => path.pick(depth, words)?,
            Op::Pop(words) => _ = path.pop(words as usize)?,
            Op::Pad(words) => path.stack.resize(path.stack.len() + words as usize, Word::Constant(0)),
            Op::Slice(total, from, words) => {
                let value = path.pop(total as usize)?;
                path.stack.extend_from_slice(value.get(from as usize..(from + words) as usize)?);
            }
            Op::Not => {
                let [condition] = path.pop(1)?[..] else { return None };
                path.stack.push(match condition {
                    Word::Constant(value) => Word::Constant(u32::from(value == 0)),
                    _ => Word::Other,
                });
            }
            Op::Equal => self.compare(path, 1)?,
            Op::EqualMany(words) => self.compare(path, words as usize)?,
            Op::IsEmpty(_) => match path.pop(1)?[..] {
                [Word::Rest(rest)] => self.ask(path, rest, Test::Empty)?,
                _ => path.stack.push(Word::Other),
            },
            Op::Head(ty) => self.head(path, ty)?,
            Op::Tail(_) => path.tail()?,
            Op::Apply(number) => {
                let application = self.code.applications[number as usize];
                match application.operation {
                    Builtin::Head => self.head(path, application.operand)?,
                    Builtin::Tail => path.tail()?,
                    _ => return None,
                }
            }
            Op::Jump(target) => path.at = target,
            Op::JumpIfFalse(target) | Op::JumpIfTrue(target) => {
                let if_true = matches!(self.code.ops[at as usize], Op::JumpIfTrue(_));
                let [condition] = path.pop(1)?[..] else { return None };
                match condition {
                    Word::Constant(value) => {
                        if (value != 0) == if_true {
                            path.at = target;
                        }
                    }
                    // Whatever it depends on, both ways have to be right.
                    _ if target > at => self.todo.push(Path { at: target, ..path.clone() }),
                    _ => return None,
                }
            }
            Op::Call(number) if number == self.function => self.call_itself(path)?,
            Op::Call(number) => {
                let function = self.code.functions[number as usize];
                let mut variables = path.pop(function.arguments as usize)?;
                variables.resize(function.variables as usize, Word::Other);
                let nested = path.frames.iter().any(|frame| frame.function == number);
                if nested || path.frames.len() > DEEPEST {
                    return None;
                }
                path.frames.push(Frame { function: number, back: path.at, variables });
                path.at = function.address;
            }
            Op::Return(words) => {
                let frame = path.frames.pop()?;
                if path.frames.is_empty() {
                    return path.is_right(words, self.wanted.negated).then_some(false);
                }
                path.at = frame.back;
            }
            // What computes something else is of no interest, as long as it can't fail.
            Op::Less | Op::LessEqual => {
                path.pop(2)?;
                path.stack.push(Word::Other);
            }
            Op::Offset(_) | Op::Bits(..) | Op::Component(_) => {
                path.pop(1)?;
                path.stack.push(Word::Other);
            }
            _ => return None,
        }
        let begins_round =
            path.at <= at && !matches!(self.code.ops[at as usize], Op::Call(_) | Op::Return(_));
        let begins_round = begins_round || self.head == Some(path.at);
        Some(!begins_round || self.begin_round(path)?)
    }

    /// Control comes to the start of the loop; gives false if it was there already with what is known now.
    fn begin_round(&mut self, path: &mut Path) -> Option<bool> {
        if *self.head.get_or_insert(path.at) != path.at {
            return None;
        }
        if let Some(round) = &path.round {
            let shorter = |&((frame, variable), old): &((usize, usize), u32)| {
                let Word::Rest(new) = *path.frames.get(frame)?.variables.get(variable)? else { return None };
                path.is_tail_of(new, old).then_some((frame, variable))
            };
            let now: Vec<(usize, usize)> = round.iter().filter_map(shorter).collect();
            match &mut self.shrinking {
                Some(all) => all.retain(|variable| now.contains(variable)),
                None => self.shrinking = Some(now),
            }
        }
        path.forget();
        let is_new = self.seen.insert(path.clone());
        (self.seen.len() <= MOST_STATES).then_some(is_new)
    }

    /// Two values of so many words are compared.
    fn compare(&mut self, path: &mut Path, words: usize) -> Option<()> {
        let (b, a) = (path.pop(words)?, path.pop(words)?);
        let element = self.types[self.wanted.element.ty.index()].words() as usize;
        let is_wanted = |value: &[Word]| {
            words == element && value.iter().enumerate().all(|(at, &word)| word == Word::Wanted(at as u32))
        };
        let first_of = |value: &[Word]| match value {
            [Word::First(rest, 0), ..] if words == element => {
                let all = value.iter().enumerate().all(|(at, &word)| word == Word::First(*rest, at as u32));
                all.then_some(*rest)
            }
            _ => None,
        };
        match (first_of(&a), first_of(&b)) {
            (Some(rest), _) if is_wanted(&b) => return self.ask(path, rest, Test::Same),
            (_, Some(rest)) if is_wanted(&a) => return self.ask(path, rest, Test::Same),
            _ => {}
        }
        let empty = Word::Constant(self.empty);
        match (&a[..], &b[..]) {
            (&[Word::Rest(rest)], &[other]) | (&[other], &[Word::Rest(rest)]) if other == empty => {
                return self.ask(path, rest, Test::Empty);
            }
            (&[Word::Constant(a)], &[Word::Constant(b)]) => {
                path.stack.push(Word::Constant(u32::from(a == b)));
            }
            _ => path.stack.push(Word::Other),
        }
        Some(())
    }

    /// Pushes the words of the first element of what is left, if that is known not to be empty.
    fn head(&self, path: &mut Path, ty: TypeId) -> Option<()> {
        let [Word::Rest(rest)] = path.pop(1)?[..] else { return None };
        if path.rests[rest as usize].empty != Some(false) {
            return None;
        }
        let words = self.types[ty.index()].element.words;
        path.stack.extend((0..words).map(|word| Word::First(rest, word)));
        Some(())
    }

    /// The function calls itself: it has to be about the same element and a shorter list.
    fn call_itself(&mut self, path: &mut Path) -> Option<()> {
        let function = self.code.functions[self.function as usize];
        let arguments = path.pop(function.arguments as usize)?;
        let Membership { element, list, .. } = self.wanted;
        let words = self.types[element.ty.index()].words();
        let same = (0..words)
            .all(|word| arguments.get((element.first + word) as usize) == Some(&Word::Wanted(word)));
        let Word::Rest(rest) = *arguments.get(list.first as usize)? else { return None };
        if !same || !path.rests[rest as usize].shorter {
            return None;
        }
        self.ask(path, rest, Test::Says)
    }

    /// Follows both answers to a test, unless it is known already.
    fn ask(&mut self, path: &mut Path, rest: u32, test: Test) -> Option<()> {
        let known = match test {
            Test::Empty => path.rests[rest as usize].empty,
            Test::Same => path.rests[rest as usize].same,
            Test::Says => path.rests[rest as usize].says,
        };
        let contrary = test == Test::Says && self.wanted.negated;
        let word = |answer: bool| Word::Constant(u32::from(answer != contrary));
        if known.is_none() {
            let mut other = path.clone();
            other.learn(rest, test, false);
            other.stack.push(word(false));
            self.todo.push(other);
            path.learn(rest, test, true);
        }
        path.stack.push(word(known.unwrap_or(true)));
        Some(())
    }
}

/// What can be asked of a part of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    Empty,
    Same,
    Says,
}

impl Path {
    fn pop(&mut self, words: usize) -> Option<Vec<Word>> {
        let first = self.stack.len().checked_sub(words)?;
        Some(self.stack.split_off(first))
    }

    fn load(&mut self, local: u32, words: u32) -> Option<()> {
        let variables = &self.frames.last()?.variables;
        self.stack.extend_from_slice(variables.get(local as usize..(local + words) as usize)?);
        Some(())
    }

    fn store(&mut self, local: u32, words: u32) -> Option<()> {
        let values = self.pop(words as usize)?;
        let variables = &mut self.frames.last_mut()?.variables;
        variables.get_mut(local as usize..(local + words) as usize)?.copy_from_slice(&values);
        Some(())
    }

    fn pick(&mut self, depth: u32, words: u32) -> Option<()> {
        let first = self.stack.len().checked_sub(1 + depth as usize)?;
        let values = self.stack.get(first..first + words as usize)?.to_vec();
        self.stack.extend(values);
        Some(())
    }

    /// Pushes what is left behind the first element, if there is one.
    fn tail(&mut self) -> Option<()> {
        let [Word::Rest(rest)] = self.pop(1)?[..] else { return None };
        if self.rests[rest as usize].empty != Some(false) {
            return None;
        }
        let known = self.rests.iter().position(|one| one.tail_of == Some(rest));
        let number = known.unwrap_or_else(|| {
            self.rests.push(Rest { tail_of: Some(rest), shorter: true, ..Rest::default() });
            self.rests.len() - 1
        });
        self.stack.push(Word::Rest(number as u32));
        Some(())
    }

    fn learn(&mut self, rest: u32, test: Test, answer: bool) {
        let one = &mut self.rests[rest as usize];
        match test {
            Test::Empty => one.empty = Some(answer),
            Test::Same => one.same = Some(answer),
            Test::Says => one.says = Some(answer),
        }
        self.present |= answer && test != Test::Empty;
    }

    fn is_tail_of(&self, rest: u32, other: u32) -> bool {
        let before = |&rest: &u32| self.rests[rest as usize].tail_of;
        std::iter::successors(before(&rest), before).any(|one| one == other)
    }

    /// Whether the element is not before a part of the list.
    fn is_skipped(&self, rest: u32) -> bool {
        let one = &self.rests[rest as usize];
        match one.tail_of {
            Some(before) => self.rests[before as usize].same == Some(false) && self.is_skipped(before),
            None => one.skipped,
        }
    }

    /// Whether it is known that the list does not have the element.
    fn is_absent(&self) -> bool {
        let settled = |rest: &u32| {
            let one = &self.rests[*rest as usize];
            (one.empty == Some(true) || one.says == Some(false)) && self.is_skipped(*rest)
        };
        self.absent || (0..self.rests.len() as u32).any(|rest| settled(&rest))
    }

    /// Whether what is returned follows from what is known.
    fn is_right(&self, words: u32, negated: bool) -> bool {
        match self.stack[..] {
            [Word::Constant(answer @ 0..=1)] if words == 1 => match (answer == 1) != negated {
                true => self.present,
                false => self.is_absent(),
            },
            _ => false,
        }
    }

    /// Forgets the parts of the list that no variable has, and how the others came about.
    fn forget(&mut self) {
        self.absent = self.is_absent();
        let mut kept: Vec<u32> = Vec::new();
        let mut number = |word: &mut Word, rests: &[Rest]| {
            if let Word::Rest(rest) | Word::First(rest, _) = word {
                debug_assert!((*rest as usize) < rests.len());
                let place = kept.iter().position(|one| one == rest).unwrap_or_else(|| {
                    kept.push(*rest);
                    kept.len() - 1
                });
                *rest = place as u32;
            }
        };
        self.stack.iter_mut().for_each(|word| number(word, &self.rests));
        let variables = self.frames.iter_mut().flat_map(|frame| &mut frame.variables);
        variables.for_each(|word| number(word, &self.rests));
        let rest = |&old: &u32| {
            let skipped = self.is_skipped(old);
            Rest { tail_of: None, skipped, ..self.rests[old as usize] }
        };
        self.rests = kept.iter().map(rest).collect();
        let lists = self.frames.iter().enumerate().flat_map(|(frame, one)| {
            one.variables.iter().enumerate().filter_map(move |(variable, word)| match word {
                Word::Rest(rest) => Some(((frame, variable), *rest)),
                _ => None,
            })
        });
        self.round = Some(lists.collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::types::Shaping;
    use crate::compile::{Root, compile};

    /// Whether the function `f` of a text has become an operation.
    fn is_operation(function: &str) -> bool {
        let text = format!(
            "module m is
                type item is item (high, low : nat) with \"==\", \"!=\", \"<\" end type
                type items is sorted set of item with \"==\", \"!=\", \"empty\", \"head\", \"tail\" end type
                channel told is (bool) end channel
                {function}
                process MAIN [TELL : told] is TELL (f (item (0, 1), {{}})) end process
            end module"
        );
        let mut sources = source::Sources::new();
        let checked = crate::Loader::new()
            .load_text("f.lnt", &text, &mut sources)
            .unwrap_or_else(|errors| panic!("{}", sources.render_all(&errors, false)));
        let process = checked.program.main().unwrap();
        let root = Root { process, gates: vec!["TELL".into()] };
        let compiled =
            compile(&checked.program, &root, model::Telling::Nothing, Shaping::Fixed).ok().unwrap();
        let is_member =
            |application: &super::super::code::Application| application.operation == Builtin::Member;
        compiled.code.applications.iter().any(is_member)
    }

    #[test]
    fn styles_of_looking_for_an_element() {
        for body in [
            "case s in var x : item, rest : items in
                {} -> return false
             |  cons (x, rest) -> if x == m then return true else return f (m, rest) end if
             end case",
            "case s in var x : item, rest : items in
                {} -> return false
             |  cons (x, rest) where x == m -> return true
             |  cons (any item, rest) -> return f (m, rest)
             end case",
            "if empty (s) then return false end if; return (head (s) == m) or else f (m, tail (s))",
            "return (s != {}) and then ((head (s) == m) or f (m, tail (s)))",
            "if s == {} then return true elsif m == head (s) then return false else return f (m, tail (s)) end if",
            "var rest : items in
                rest := s;
                while not (empty (rest)) loop
                    if head (rest) == m then return true end if;
                    rest := tail (rest)
                end loop;
                return false
             end var",
            "var rest : items, found : bool in
                rest := s; found := false;
                while not (empty (rest)) loop
                    if head (rest) == m then found := true end if;
                    rest := tail (rest)
                end loop;
                return found
             end var",
            "var rest : items, absent : bool in
                rest := s; absent := true;
                while absent and not (empty (rest)) loop
                    absent := head (rest) != m;
                    rest := tail (rest)
                end loop;
                return absent
             end var",
        ] {
            let function = format!("function f (m : item, s : items) : bool is {body} end function");
            assert!(is_operation(&function), "{function}");
        }
    }

    #[test]
    fn others_are_left_alone() {
        for body in [
            "return (s != {}) and then ((head (s) == m) and f (m, tail (s)))",
            "return (s != {}) and then ((head (s) == m) or f (head (s), tail (s)))",
            "return (s == {}) or else ((head (s) == m) or f (m, tail (s)))",
            "return (head (s) == m) or f (m, tail (s))",
            "return (s != {}) and then ((head (s) == m) or f (m, s))",
        ] {
            let function = format!("function f (m : item, s : items) : bool is {body} end function");
            assert!(!is_operation(&function), "{function}");
        }
    }
}
