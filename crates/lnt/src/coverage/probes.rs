//! Writes a program with probes in it (Salaün and Ye 2015, tables 2 and 3), for people who measure with other tools.
//!
//! A probe is an action on a fresh gate that nobody synchronises on: `PROBE ("B3")` behind block 3, `PROBE ("D2", x > 0)`
//! before decision 2, `PROBE ("A5")` behind action 5. Where that would change what the program does (critical places),
//! a variable keeps what would have been shown, and the probe stands behind the choice, as in table 3. Where the place
//! behind the choice is critical too, it stands behind the next instruction that has acted for certain; and in a loop
//! without such a place, behind the next action.
//!
//! The original text is kept, comments and all: probes are inserted into it.

use rustc_hash::FxHashSet;
use source::{FileId, Sources, Span};

use super::critical::{CriticalPlaces, critical_places};
use super::map::{case_decision_span, coverage_map, is_simple, need_not_return};
use crate::lexer::{Keyword, Token, TokenKind, tokens};
use crate::typed::{ConditionalBranch, LoopId, Process, Program, Statement, StatementKind};
use model::CoverageMap;

/// Which constructs get probes: positions in the coverage map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probes {
    /// Blocks.
    pub blocks: Vec<usize>,
    /// Decisions.
    pub decisions: Vec<usize>,
    /// Actions.
    pub actions: Vec<usize>,
}

impl Probes {
    /// A probe for everything.
    pub fn all(map: &CoverageMap) -> Self {
        Self { actions: (0..map.actions.len()).collect(), ..Self::first_step(map) }
    }

    /// The first of the two steps of measuring: blocks and decisions.
    pub fn first_step(map: &CoverageMap) -> Self {
        Self {
            blocks: (0..map.blocks.len()).collect(),
            decisions: (0..map.decisions.len()).collect(),
            actions: Vec::new(),
        }
    }
}

/// A program with probes.
#[derive(Clone, Debug)]
pub struct Instrumented {
    /// The modules, imported ones first: name, file, and text.
    pub modules: Vec<InstrumentedModule>,
    /// The gate of the probes.
    pub gate: String,
    /// For each block and decision of the coverage map, whether its probe was moved because of a choice.
    pub critical_blocks: Vec<bool>,
    /// See above.
    pub critical_decisions: Vec<bool>,
}

/// A module with probes.
#[derive(Clone, Debug)]
pub struct InstrumentedModule {
    /// Its name.
    pub name: String,
    /// The file it came from.
    pub file: String,
    /// Its text.
    pub text: String,
}

impl Instrumented {
    /// A root instantiation such as `MAIN [A, B] (1)` for the program with probes: gates that are named get one more.
    pub fn root(&self, text: &str) -> String {
        let mut sources = Sources::new();
        let file = sources.add("root", text);
        let tokens = tokens(file, text, &mut Vec::new());
        match gate_list(&tokens, 0) {
            Some((open, close)) => {
                let mut text = text.to_owned();
                text.insert_str(
                    tokens[close].span.start as usize,
                    &actual_gate(&tokens, open, close, &self.gate),
                );
                text
            }
            None => text.to_owned(),
        }
    }
}

/// Writes the program of a coverage map with probes; the sources are those it was loaded from.
pub fn instrument(program: &Program, sources: &Sources, probes: &Probes) -> Instrumented {
    let map = coverage_map(program);
    let files: Vec<FileId> = program.modules.iter().map(|module| module.span.file).collect();
    let all_tokens: Vec<Vec<Token>> =
        files.iter().map(|&file| tokens(file, sources.text(file), &mut Vec::new())).collect();
    let names = used_names(&files, &all_tokens, sources);
    let mut writer = Writer {
        sources,
        map: &map,
        probes,
        places: critical_places(program),
        tokens: all_tokens,
        files: &files,
        gate: fresh("PROBE", &names),
        prefix: fresh("PROBED", &names),
        edits: Vec::new(),
        variables: Vec::new(),
        flags: Vec::new(),
        fallback: Vec::new(),
        critical_blocks: vec![false; map.blocks.len()],
        critical_decisions: vec![false; map.decisions.len()],
    };
    for (index, process) in program.processes.iter().enumerate() {
        if program.root.is_none_or(|root| root.index() != index) {
            writer.process(process);
        }
    }
    let Writer { mut edits, gate, critical_blocks, critical_decisions, .. } = writer;
    edits.sort_by_key(|edit| (edit.span.file, edit.span.start, edit.rank));
    let modules = program.modules.iter().map(|module| InstrumentedModule {
        name: module.name.clone(),
        file: sources.name(module.span.file).to_owned(),
        text: apply(sources.text(module.span.file), module.span.file, &edits),
    });
    Instrumented { modules: modules.collect(), gate, critical_blocks, critical_decisions }
}

/// A piece of text in place of another; nothing is replaced where the span is empty.
struct Edit {
    span: Span,
    /// At one place, lower ranks come first, and equal ones in the order in which they were made.
    rank: Rank,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Declaration,
    Initial,
    Probe,
    End,
}

fn apply(text: &str, file: FileId, edits: &[Edit]) -> String {
    let mut result = String::with_capacity(text.len() * 2);
    let mut at = 0;
    for edit in edits.iter().filter(|edit| edit.span.file == file) {
        result.push_str(&text[at..edit.span.start as usize]);
        result.push_str(&edit.text);
        at = edit.span.end as usize;
    }
    result.push_str(&text[at..]);
    result
}

fn used_names(files: &[FileId], tokens: &[Vec<Token>], sources: &Sources) -> FxHashSet<String> {
    let mut names = FxHashSet::default();
    for (&file, tokens) in files.iter().zip(tokens) {
        for token in tokens.iter().filter(|token| token.kind == TokenKind::Identifier) {
            names.insert(sources.text(file)[token.span.range()].to_ascii_uppercase());
        }
    }
    names
}

fn fresh(base: &str, names: &FxHashSet<String>) -> String {
    let taken = |name: &str| names.iter().any(|known| known.starts_with(name));
    let mut name = base.to_owned();
    let mut number = 0;
    while taken(&name) {
        number += 1;
        name = format!("{base}{number}");
    }
    name
}

/// The brackets of the gate list behind the name at a token, if there is one.
fn gate_list(tokens: &[Token], name: usize) -> Option<(usize, usize)> {
    let open = name + 1;
    if tokens.get(open)?.kind != TokenKind::BracketOpen {
        return None;
    }
    let close = (open..tokens.len()).find(|&at| tokens[at].kind == TokenKind::BracketClose)?;
    Some((open, close))
}

/// What to insert before the closing bracket of actual gates.
fn actual_gate(tokens: &[Token], open: usize, close: usize, gate: &str) -> String {
    let inside = &tokens[open + 1..close];
    let has = |kind: TokenKind| inside.iter().any(|token| token.kind == kind);
    match () {
        // `...` takes every gate that has the same name here.
        () if has(TokenKind::Ellipsis) => String::new(),
        () if has(TokenKind::Arrow) => format!(", {gate} -> {gate}"),
        () if inside.is_empty() => gate.to_owned(),
        () => format!(", {gate}"),
    }
}

/// An enclosing statement of the place at hand.
struct Frame<'p> {
    statement: &'p Statement,
    /// The statements behind it in its sequence.
    following: &'p [Statement],
}

/// A variable that is shown behind every action of a parallel branch, or of the process.
struct Fallback {
    region: Span,
    name: String,
    label: String,
}

struct Writer<'a> {
    sources: &'a Sources,
    map: &'a CoverageMap,
    probes: &'a Probes,
    places: CriticalPlaces,
    tokens: Vec<Vec<Token>>,
    files: &'a [FileId],
    gate: String,
    prefix: String,
    edits: Vec<Edit>,
    /// Of the process at hand: variables of critical items, and whether each is a flag.
    variables: Vec<String>,
    /// Loops that have a variable for having been left by a `break`.
    flags: Vec<(LoopId, String)>,
    /// What is shown behind every action of a region, for want of a better place.
    fallback: Vec<Fallback>,
    critical_blocks: Vec<bool>,
    critical_decisions: Vec<bool>,
}

impl<'a> Writer<'a> {
    fn insert(&mut self, file: FileId, offset: u32, rank: Rank, text: String) {
        self.edits.push(Edit { span: Span { file, start: offset, end: offset }, rank, text });
    }

    fn before(&mut self, statement: Span, text: String) {
        self.insert(statement.file, statement.start, Rank::Probe, format!("{text}; "));
    }

    fn after(&mut self, statement: Span, text: String) {
        self.insert(statement.file, statement.end, Rank::Probe, format!("; {text}"));
    }

    fn process(&mut self, process: &Process) {
        self.header(process);
        self.variables.clear();
        self.flags.clear();
        self.fallback.clear();
        let body = process.body.span;
        self.walk(&process.body, &mut Vec::new(), body);
        if !self.fallback.is_empty() {
            self.fallback_displays(&process.body, body);
        }
        if !self.variables.is_empty() {
            let names = self.variables.join(", ");
            let initial: String =
                self.fallback.iter().map(|fallback| format!("{} := 2; ", fallback.name)).collect();
            let text = format!("var {names} : nat in {initial}");
            self.insert(body.file, body.start, Rank::Declaration, text);
            self.insert(body.file, body.end, Rank::End, " end var".to_owned());
        }
    }

    /// One more gate in the header of a process.
    fn header(&mut self, process: &Process) {
        let Some((tokens, at)) = self.token_at(process.span) else { return };
        let gate = format!("{} : any", self.gate);
        let (offset, text) = match gate_list(tokens, at) {
            Some((open, close)) if close == open + 1 => (tokens[close].span.start, gate),
            Some((_, close)) => (tokens[close].span.start, format!(", {gate}")),
            None => (tokens[at].span.end, format!(" [{gate}]")),
        };
        self.insert(process.span.file, offset, Rank::Probe, text);
    }

    /// The tokens of a file, and the one that starts where a span does.
    fn token_at(&self, span: Span) -> Option<(&[Token], usize)> {
        let file = self.files.iter().position(|&file| file == span.file)?;
        let tokens = self.tokens[file].as_slice();
        let at = tokens.binary_search_by_key(&span.start, |token| token.span.start).ok()?;
        Some((tokens, at))
    }

    /// The text of a condition, whatever parentheses stand around it: between `if`, `elsif` or `while`, and `then`,
    /// `loop` or `by`.
    fn condition(&self, span: Span) -> String {
        let whole = || {
            let (tokens, at) = self.token_at(span)?;
            let opens = |token: &Token| {
                matches!(token.kind, TokenKind::Keyword(Keyword::If | Keyword::Elsif | Keyword::While))
            };
            let closes = |token: &Token| {
                matches!(token.kind, TokenKind::Keyword(Keyword::Then | Keyword::Loop | Keyword::By))
            };
            let first = tokens[..at].iter().rposition(opens)? + 1;
            let last = at + tokens[at..].iter().position(closes)? - 1;
            Some(Span { start: tokens[first].span.start, end: tokens[last].span.end, ..span })
        };
        self.sources.slice(whole().unwrap_or(span)).to_owned()
    }

    fn walk<'p>(&mut self, statement: &'p Statement, around: &mut Vec<Frame<'p>>, region: Span) {
        if let StatementKind::Sequence(statements) = &statement.kind {
            for (index, one) in statements.iter().enumerate() {
                self.single(one, &statements[index + 1..], around, region);
            }
        } else {
            self.single(statement, &[], around, region);
        }
    }

    fn single<'p>(
        &mut self,
        statement: &'p Statement,
        following: &'p [Statement],
        around: &mut Vec<Frame<'p>>,
        region: Span,
    ) {
        around.push(Frame { statement, following });
        let span = statement.span;
        match &statement.kind {
            StatementKind::If { branches, otherwise } | StatementKind::OnlyIf { branches, otherwise } => {
                self.conditions(branches, span, around, region);
                for branch in branches {
                    self.walk(&branch.body, around, region);
                }
                if let Some(otherwise) = otherwise {
                    self.walk(otherwise, around, region);
                }
            }
            StatementKind::Case { branches, .. } => {
                let critical = self.places.before(span);
                let decisions: Vec<Option<usize>> = branches
                    .iter()
                    .map(|branch| case_decision_span(branch).and_then(|place| self.decision(place)))
                    .collect();
                let mut names: Vec<Option<String>> = Vec::new();
                for decision in &decisions {
                    let tagged = decision.filter(|_| critical);
                    names.push(tagged.map(|decision| self.tag(Some(decision), None, around, region)));
                }
                for (taken, branch) in branches.iter().enumerate() {
                    let mut text = Vec::new();
                    for (index, decision) in decisions.iter().enumerate().take(taken + 1) {
                        let Some(decision) = decision else { continue };
                        text.push(match names.get(index).cloned().flatten() {
                            Some(name) => format!("{name} := {}", u8::from(index == taken)),
                            None => format!("{} (\"D{decision}\", {})", self.gate, index == taken),
                        });
                    }
                    if !text.is_empty() {
                        self.before(branch.body.span, text.join("; "));
                    }
                    self.walk(&branch.body, around, region);
                }
            }
            StatementKind::While { id, condition, body } => {
                self.loop_condition(*id, condition.span, span, self.places.before(span), around, region);
                self.walk(body, around, region);
                self.loop_end(*id, condition.span, span, around, region);
            }
            StatementKind::For { id, initial, condition, step, body } => {
                let critical = self.places.inside_for.get(&span).copied().unwrap_or(false);
                if self.decision(condition.span).is_some() {
                    // The condition is evaluated behind the first part, which therefore goes before the loop.
                    let first = self.sources.slice(initial.span).to_owned();
                    self.edits.push(Edit { span: initial.span, rank: Rank::Probe, text: "null".to_owned() });
                    self.before(span, first);
                    if let Some(block) = self.block_ending(last_span(initial)) {
                        let place = self.places.after(last_span(initial)).unwrap_or(false);
                        self.block_probe(block, span, true, place, around, region);
                    }
                } else {
                    self.walk(initial, around, region);
                }
                self.loop_condition(*id, condition.span, span, critical, around, region);
                self.walk(body, around, region);
                self.walk(step, around, region);
                self.loop_end(*id, condition.span, span, around, region);
            }
            StatementKind::Loop { body, .. }
            | StatementKind::Var { body, .. }
            | StatementKind::Hide { body, .. } => self.walk(body, around, region),
            StatementKind::Select(branches) => {
                for branch in branches {
                    self.walk(branch, around, region);
                }
            }
            StatementKind::Par { branches, .. } => {
                for branch in branches {
                    self.walk(&branch.body, around, branch.body.span);
                }
            }
            StatementKind::Disrupt { body, interruption } => {
                self.walk(body, around, body.span);
                self.walk(interruption, around, interruption.span);
            }
            StatementKind::Trap { handlers, body } => {
                for handler in handlers {
                    self.walk(&handler.body, around, region);
                }
                self.walk(body, around, region);
            }
            _ if is_simple(statement) => self.simple(statement, around, region),
            _ => {}
        }
        around.pop();
    }

    fn simple(&mut self, statement: &Statement, around: &[Frame<'_>], region: Span) {
        let span = statement.span;
        if let Some(block) = self.block_ending(span) {
            let before = need_not_return(statement);
            let critical =
                if before { self.places.before(span) } else { self.places.after(span).unwrap_or(false) };
            self.block_probe(block, span, before, critical, around, region);
        }
        match &statement.kind {
            StatementKind::Instantiate { .. } => self.call(span),
            StatementKind::Break(id) => {
                let flag = self.flags.iter().find(|(flagged, _)| flagged == id).map(|(_, name)| name.clone());
                if let Some(name) = flag {
                    self.before(span, format!("{name} := 1"));
                }
            }
            StatementKind::Action(_) => {
                let action = self.map.actions.iter().position(|action| action.span == span);
                if let Some(action) = action.filter(|action| self.probes.actions.contains(action)) {
                    self.after(span, format!("{} (\"A{action}\")", self.gate));
                }
            }
            _ => {}
        }
    }

    /// One more gate in a call.
    fn call(&mut self, span: Span) {
        let Some((tokens, at)) = self.token_at(span) else { return };
        let (offset, text) = match gate_list(tokens, at) {
            Some((open, close)) => (tokens[close].span.start, actual_gate(tokens, open, close, &self.gate)),
            None => (tokens[at].span.end, format!(" [{}]", self.gate)),
        };
        self.insert(span.file, offset, Rank::Probe, text);
    }

    fn block_ending(&self, last: Span) -> Option<usize> {
        let found = self.map.blocks.iter().position(|block| block.last == last);
        found.filter(|block| self.probes.blocks.contains(block))
    }

    fn decision(&self, span: Span) -> Option<usize> {
        let found = self.map.decisions.iter().position(|decision| decision.span == span);
        found.filter(|decision| self.probes.decisions.contains(decision))
    }

    fn block_probe(
        &mut self,
        block: usize,
        place: Span,
        before: bool,
        critical: bool,
        around: &[Frame<'_>],
        region: Span,
    ) {
        let text = match critical {
            true => format!("{} := 1", self.tag(None, Some(block), around, region)),
            false => format!("{} (\"B{block}\")", self.gate),
        };
        if before { self.before(place, text) } else { self.after(place, text) }
    }

    /// Probes for the conditions of an `if`: each is evaluated where those before it are false.
    fn conditions(&mut self, branches: &[ConditionalBranch], span: Span, around: &[Frame<'_>], region: Span) {
        let critical = self.places.before(span);
        let decisions: Vec<Option<usize>> =
            branches.iter().map(|branch| self.decision(branch.condition.span)).collect();
        let Some(last) = decisions.iter().rposition(Option::is_some) else { return };
        // `PROBE (c1); if not (c1) then PROBE (c2); if not (c2) then … end if end if`
        let mut text = String::new();
        for (index, branch) in branches.iter().enumerate().take(last + 1) {
            let condition = self.condition(branch.condition.span);
            let probe = decisions[index].map(|decision| match critical {
                true => {
                    let name = self.tag(Some(decision), None, around, region);
                    format!("if {condition} then {name} := 1 else {name} := 0 end if")
                }
                false => format!("{} (\"D{decision}\", ({condition}))", self.gate),
            });
            text.push_str(&probe.unwrap_or_else(|| "null".to_owned()));
            if index < last {
                text.push_str(&format!("; if not ({condition}) then "));
            }
        }
        text.push_str(&" end if".repeat(last));
        self.before(span, text);
    }

    /// The probe before a loop with a condition.
    fn loop_condition(
        &mut self,
        id: LoopId,
        condition: Span,
        span: Span,
        critical: bool,
        around: &[Frame<'_>],
        region: Span,
    ) {
        let Some(decision) = self.decision(condition) else { return };
        let text = self.condition(condition);
        let probe = match critical {
            true => {
                let name = self.tag(Some(decision), None, around, region);
                format!("if {text} then {name} := 1 else {name} := 0 end if")
            }
            false => format!("{} (\"D{decision}\", ({text}))", self.gate),
        };
        self.before(span, probe);
        if around.last().is_some_and(|frame| breaks_out_of(frame.statement, id)) {
            let name = format!("{}_{}", self.prefix, self.variables.len());
            self.variables.push(name.clone());
            self.flags.push((id, name.clone()));
            self.before(span, format!("{name} := 0"));
        }
    }

    /// The probe behind a loop with a condition: its false outcome, unless a `break` has led there.
    fn loop_end(&mut self, id: LoopId, condition: Span, span: Span, around: &[Frame<'_>], region: Span) {
        let Some(decision) = self.decision(condition) else { return };
        let Some(critical) = self.places.after(span) else { return };
        let text = self.condition(condition);
        let probe = match critical {
            true => {
                let name = self.tag(Some(decision), None, around, region);
                format!("if {text} then {name} := 1 else {name} := 0 end if")
            }
            false => format!("{} (\"D{decision}\", ({text}))", self.gate),
        };
        let flag = self.flags.iter().find(|(flagged, _)| *flagged == id).map(|(_, name)| name.clone());
        let probe = match flag {
            Some(name) => format!("if {name} == 0 then {probe} end if"),
            None => probe,
        };
        self.after(span, probe);
    }

    /// A variable for a critical item, with the probe that shows it where that changes nothing (table 3).
    fn tag(
        &mut self,
        decision: Option<usize>,
        block: Option<usize>,
        around: &[Frame<'_>],
        region: Span,
    ) -> String {
        let name = format!("{}_{}", self.prefix, self.variables.len());
        self.variables.push(name.clone());
        let (label, initial) = match (decision, block) {
            (Some(decision), _) => {
                self.critical_decisions[decision] = true;
                (format!("D{decision}"), 2)
            }
            (_, Some(block)) => {
                self.critical_blocks[block] = true;
                (format!("B{block}"), 0)
            }
            (None, None) => (String::new(), 2),
        };
        match display_place(&self.places, around) {
            Some((start, end)) => {
                let text = format!("{name} := {initial}; ");
                self.insert(start.file, start.start, Rank::Initial, text);
                self.after(end, format!("{} (\"{label}\", {name})", self.gate));
            }
            None => self.fallback.push(Fallback { region, name: name.clone(), label }),
        }
        name
    }

    /// Shows the variables that have no place of their own behind every action of their region.
    fn fallback_displays(&mut self, statement: &Statement, region: Span) {
        if matches!(statement.kind, StatementKind::Action(_)) {
            for index in 0..self.fallback.len() {
                let Fallback { region: own, name, label } = &self.fallback[index];
                if *own == region {
                    let probe = format!("{} (\"{label}\", {name})", self.gate);
                    let text = format!("if {name} != 2 then {probe}; {name} := 2 end if");
                    self.after(statement.span, text);
                }
            }
        }
        for (part, own_region) in parts(statement) {
            self.fallback_displays(part, if own_region { part.span } else { region });
        }
    }
}

/// Where a variable of a critical item is shown: from the statement before which it is initialised, to the one behind
/// which the probe stands. The innermost choice that leads silently to the item comes first; nothing where a loop ends
/// before there is a place at which an action has surely happened.
fn display_place(places: &CriticalPlaces, around: &[Frame<'_>]) -> Option<(Span, Span)> {
    let is_choice = |frame: &Frame<'_>| {
        matches!(frame.statement.kind, StatementKind::Select(_) | StatementKind::Disrupt { .. })
    };
    let innermost = around.iter().rposition(is_choice).unwrap_or(around.len() - 1);
    for frame in around[..=innermost].iter().rev() {
        let statement = frame.statement;
        let is_loop = matches!(
            statement.kind,
            StatementKind::Loop { .. } | StatementKind::While { .. } | StatementKind::For { .. }
        );
        if is_loop && !std::ptr::eq(statement, around[around.len() - 1].statement) {
            return None;
        }
        let candidates = std::iter::once(statement).chain(frame.following);
        let mut safe = candidates.map(|one| one.span).filter(|&span| places.after(span) == Some(false));
        if let Some(end) = safe.next() {
            return Some((statement.span, end));
        }
    }
    None
}

/// The statements directly inside another one, and whether each is a region of its own.
fn parts(statement: &Statement) -> Vec<(&Statement, bool)> {
    let mut parts: Vec<(&Statement, bool)> = Vec::new();
    match &statement.kind {
        StatementKind::Sequence(statements) | StatementKind::Select(statements) => {
            parts.extend(statements.iter().map(|one| (one, false)));
        }
        StatementKind::Var { body, .. }
        | StatementKind::Hide { body, .. }
        | StatementKind::Loop { body, .. }
        | StatementKind::While { body, .. } => parts.push((body, false)),
        StatementKind::For { initial, step, body, .. } => {
            parts.extend([initial, body, step].map(|one| (&**one, false)));
        }
        StatementKind::If { branches, otherwise } | StatementKind::OnlyIf { branches, otherwise } => {
            parts.extend(branches.iter().map(|branch| (&branch.body, false)));
            parts.extend(otherwise.iter().map(|one| (&**one, false)));
        }
        StatementKind::Case { branches, .. } => {
            parts.extend(branches.iter().map(|branch| (&branch.body, false)));
        }
        StatementKind::Par { branches, .. } => {
            parts.extend(branches.iter().map(|branch| (&branch.body, true)));
        }
        StatementKind::Disrupt { body, interruption } => {
            parts.extend([(&**body, true), (&**interruption, true)]);
        }
        StatementKind::Trap { handlers, body } => {
            parts.extend(handlers.iter().map(|handler| (&handler.body, false)));
            parts.push((body, false));
        }
        _ => {}
    }
    parts
}

/// Whether a statement has a `break` that leaves a loop.
fn breaks_out_of(statement: &Statement, id: LoopId) -> bool {
    matches!(statement.kind, StatementKind::Break(left) if left == id)
        || parts(statement).into_iter().any(|(part, _)| breaks_out_of(part, id))
}

/// The last simple statement of a statement.
fn last_span(statement: &Statement) -> Span {
    match &statement.kind {
        StatementKind::Sequence(statements) => statements.last().map_or(statement.span, last_span),
        _ => statement.span,
    }
}
