//! Writes a program with probes in it (Salaün and Ye 2015, tables 2 and 3), for people who measure with other tools.
//!
//! A probe is an action on a fresh gate that nobody synchronises on: `PROBE ("B3")` behind block 3, `PROBE ("D2", x > 0)`
//! before decision 2, `PROBE ("A5")` behind action 5. Where that would change what the program does (critical places),
//! variables keep what would have been shown, and the probe stands behind the choice, as in table 3. Where the place
//! behind the choice is critical too, it stands behind the next instruction that has acted for certain; and in a loop
//! or process without such a place, behind the next action. A process that comes back without having acted leaves
//! that to its callers.
//!
//! The variables are Boolean, because a model may have its own idea of numbers (`!nat_sup 1`): one for a block, and one
//! for each outcome of a decision. A probe is shown where there is something to show.
//!
//! The original text is kept, comments and all: probes are inserted into it.

use rustc_hash::FxHashSet;
use source::{FileId, Sources, Span};

use super::critical::{CriticalPlaces, critical_places};
use super::edits::{
    Edit, Rank, actual_gate, actual_parameters, apply, fresh, gate_list, parameter_list, used_names,
};
use super::map::{case_decision_span, coverage_map, is_simple, need_not_return};
use crate::lexer::{Keyword, Token, TokenKind, tokens};
use crate::typed::{ConditionalBranch, LoopId, Process, ProcessId, Program, Statement, StatementKind};
use model::{CoverageMap, Instrumented, Probes, Text};

/// Writes the program of a coverage map with probes; the sources are those it was loaded from, and `root` is what it
/// starts with.
pub fn instrument(program: &Program, sources: &Sources, probes: &Probes, root: Option<&str>) -> Instrumented {
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
        numbers: 0,
        variables: Vec::new(),
        flags: Vec::new(),
        fallback: Vec::new(),
        shown: Vec::new(),
        labels: FxHashSet::default(),
        handed: vec![Vec::new(); program.processes.len()],
        recursive: recursive_calls(program),
        process: 0,
        critical_blocks: vec![false; map.blocks.len()],
        critical_decisions: vec![false; map.decisions.len()],
    };
    let silent = silent_processes(program, &writer.recursive);
    // What callers have to hand on depends on what the processes do that they call.
    loop {
        let before = writer.handed.clone();
        writer.edits.clear();
        writer.labels.clear();
        for (index, process) in program.processes.iter().enumerate() {
            if program.root.is_none_or(|root| root.index() != index) {
                writer.process = index;
                writer.handed[index] = writer.process(process, silent[index]);
            }
        }
        if writer.handed == before {
            break;
        }
    }
    let Writer { mut edits, gate, critical_blocks, critical_decisions, labels, .. } = writer;
    let unshown = |kind: &str, critical: &[bool]| -> Vec<bool> {
        let label = |number: usize| format!("{kind}{number}");
        critical
            .iter()
            .enumerate()
            .map(|(number, critical)| *critical && !labels.contains(&label(number)))
            .collect()
    };
    let (unshown_blocks, unshown_decisions) =
        (unshown("B", &critical_blocks), unshown("D", &critical_decisions));
    edits.sort_by_key(|edit| (edit.span.file, edit.span.start, edit.rank));
    let modules = program.modules.iter().map(|module| Text {
        name: sources.name(module.span.file).to_owned(),
        text: apply(sources.text(module.span.file), module.span.file, &edits),
    });
    let modules = modules.collect();
    let root = root.map(|root| root_with_probes(root, &gate));
    Instrumented {
        modules,
        root,
        gate,
        critical_blocks,
        critical_decisions,
        unshown_blocks,
        unshown_decisions,
    }
}

/// A root instantiation such as `MAIN [A, B] (1)` for the program with probes: gates that are named get one more.
fn root_with_probes(text: &str, gate: &str) -> String {
    let mut sources = Sources::new();
    let file = sources.add("root", text);
    let tokens = tokens(file, text, &mut Vec::new());
    let mut text = text.to_owned();
    if let Some((open, close)) = gate_list(&tokens, 0) {
        text.insert_str(tokens[close].span.start as usize, &actual_gate(&tokens, open, close, gate));
    }
    text
}

/// An enclosing statement of the place at hand.
struct Frame<'p> {
    statement: &'p Statement,
    /// The statements behind it in its sequence.
    following: &'p [Statement],
}

/// For each process, whether it comes back without having acted: it has no action, and calls neither itself nor a process
/// that acts. The processes that a run starts with are none: their parameters stay as they are.
fn silent_processes(program: &Program, recursive: &[Vec<usize>]) -> Vec<bool> {
    let first = match program.root {
        Some(root) => called_in(&program.processes[root.index()].body),
        None => program.main().map(ProcessId::index).into_iter().collect(),
    };
    let acts =
        |process: &Process| any_part(&process.body, &|one| matches!(one.kind, StatementKind::Action(_)));
    let mut silent: Vec<bool> = program.processes.iter().map(|process| !acts(process)).collect();
    loop {
        let before = silent.clone();
        for (index, process) in program.processes.iter().enumerate() {
            let calls_silence = called_in(&process.body).into_iter().all(|callee| before[callee]);
            silent[index] &= calls_silence && recursive[index].is_empty() && !first.contains(&index);
        }
        if silent == before {
            return silent;
        }
    }
}

/// Whether something holds for a statement or one inside.
fn any_part(statement: &Statement, holds: &dyn Fn(&Statement) -> bool) -> bool {
    holds(statement) || parts(statement).into_iter().any(|(part, _)| any_part(part, holds))
}

/// Whether a region is another one, or lies around it.
fn contains(region: Span, inner: Span) -> bool {
    region.file == inner.file && region.start <= inner.start && inner.end <= region.end
}

/// For each process, those it calls that may call it in turn. Such a call is the last thing that a process does.
fn recursive_calls(program: &Program) -> Vec<Vec<usize>> {
    let calls: Vec<Vec<usize>> = program.processes.iter().map(|process| called_in(&process.body)).collect();
    let reaches = |from: usize, to: usize| {
        let mut seen = vec![false; calls.len()];
        let mut todo = vec![from];
        while let Some(process) = todo.pop() {
            if !std::mem::replace(&mut seen[process], true) {
                todo.extend(&calls[process]);
            }
        }
        seen[to]
    };
    let recursive = |(process, calls): (usize, &Vec<usize>)| {
        calls.iter().copied().filter(|&callee| reaches(callee, process)).collect()
    };
    calls.iter().enumerate().map(recursive).collect()
}

/// The processes that a statement calls.
fn called_in(statement: &Statement) -> Vec<usize> {
    let mut called = Vec::new();
    let mut todo = vec![statement];
    while let Some(statement) = todo.pop() {
        if let StatementKind::Instantiate { process, .. } = &statement.kind {
            called.push(process.index());
        }
        todo.extend(parts(statement).into_iter().map(|(part, _)| part));
    }
    called
}

/// What is kept of a critical item until it can be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tag {
    /// `B3` or `D2`.
    label: String,
    /// Whether the block was executed; or whether the decision was true, and whether it was false.
    names: Vec<String>,
}

impl Tag {
    /// Keeps an outcome of a decision, or that a block was executed (`true`).
    fn set(&self, outcome: bool) -> String {
        format!("{} := true", self.names[usize::from(!outcome)])
    }

    /// Keeps the outcome of a condition.
    fn set_to(&self, condition: &str) -> String {
        format!("if {condition} then {} else {} end if", self.set(true), self.set(false))
    }

    fn initial(&self) -> String {
        self.names.iter().map(|name| format!("{name} := false; ")).collect()
    }

    /// The probes, where there is something to show.
    fn shown(&self, gate: &str) -> String {
        let label = &self.label;
        let probe = |(name, outcome): (&String, &str)| match self.names.len() {
            1 => format!("if {name} then {gate} (\"{label}\"); {name} := false end if"),
            _ => format!("if {name} then {gate} (\"{label}\", {outcome}); {name} := false end if"),
        };
        self.names.iter().zip(["true", "false"]).map(probe).collect::<Vec<_>>().join("; ")
    }
}

/// What is shown behind every action of a parallel branch, or of the process.
struct Fallback {
    region: Span,
    tag: Tag,
}

/// What is shown behind a statement, after it was initialised before another one.
struct Shown {
    start: Span,
    end: Span,
    region: Span,
    tag: Tag,
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
    /// How many variables the process at hand has got.
    numbers: usize,
    /// Those that it declares.
    variables: Vec<String>,
    /// Loops that have a variable for having been left by a `break`.
    flags: Vec<(LoopId, String)>,
    /// What is shown behind every action of a region, for want of a better place.
    fallback: Vec<Fallback>,
    /// What is shown at a place of its own.
    shown: Vec<Shown>,
    /// The critical items that are shown anywhere.
    labels: FxHashSet<String>,
    /// For each process, what its callers hand to it and take back.
    handed: Vec<Vec<Tag>>,
    /// For each process, those it calls recursively.
    recursive: Vec<Vec<usize>>,
    /// The process at hand.
    process: usize,
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

    /// Writes a process; gives what its callers have to show where it is silent.
    fn process(&mut self, process: &Process, silent: bool) -> Vec<Tag> {
        self.numbers = 0;
        self.variables.clear();
        self.flags.clear();
        self.fallback.clear();
        self.shown.clear();
        let body = process.body.span;
        self.walk(&process.body, &mut Vec::new(), body);
        if !self.fallback.is_empty() {
            self.fallback_displays(&process.body, body);
        }
        let mut handed: Vec<Tag> = Vec::new();
        let mut initial = String::new();
        for Fallback { tag, .. } in &self.fallback {
            // Of parallel branches that wait to show the same, one has to do.
            if silent && handed.iter().all(|other| other.label != tag.label) {
                handed.push(tag.clone());
            } else {
                initial.push_str(&tag.initial());
            }
        }
        self.variables.retain(|name| !handed.iter().any(|tag| tag.names.contains(name)));
        if !self.variables.is_empty() {
            let names = self.variables.join(", ");
            let text = format!("var {names} : bool in {initial}");
            self.insert(body.file, body.start, Rank::Declaration, text);
            self.insert(body.file, body.end, Rank::End, " end var".to_owned());
        }
        self.header(process, &handed);
        handed
    }

    /// One more gate in the header of a process, and parameters for what is handed to it.
    fn header(&mut self, process: &Process, handed: &[Tag]) {
        let Some((tokens, at)) = self.token_at(process.span) else { return };
        let gate = format!("{} : any", self.gate);
        let (offset, text) = match gate_list(tokens, at) {
            Some((open, close)) if close == open + 1 => (tokens[close].span.start, gate),
            Some((_, close)) => (tokens[close].span.start, format!(", {gate}")),
            None => (tokens[at].span.end, format!(" [{gate}]")),
        };
        let names: Vec<&str> = handed.iter().flat_map(|tag| tag.names.iter().map(String::as_str)).collect();
        let formals = format!("in out {} : bool", names.join(", "));
        let behind_gates = gate_list(tokens, at).map_or(at, |(_, close)| close);
        let (list, formals) = match parameter_list(tokens, at) {
            Some(open) => (tokens[open].span.end, format!("{formals}, ")),
            None => (tokens[behind_gates].span.end, format!(" ({formals})")),
        };
        self.insert(process.span.file, offset, Rank::Probe, text);
        if !names.is_empty() {
            self.insert(process.span.file, list, Rank::Probe, formals);
        }
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
                let mut tags: Vec<Option<Tag>> = Vec::new();
                for decision in &decisions {
                    let tagged = decision.filter(|_| critical);
                    tags.push(tagged.map(|decision| self.decision_tag(decision, around, region)));
                }
                for (taken, branch) in branches.iter().enumerate() {
                    let mut text = Vec::new();
                    for (index, decision) in decisions.iter().enumerate().take(taken + 1) {
                        let Some(decision) = decision else { continue };
                        text.push(match &tags[index] {
                            Some(tag) => tag.set(index == taken),
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
            StatementKind::Instantiate { process, .. } => self.call(*process, span, around, region),
            StatementKind::Break(id) => {
                let flag = self.flags.iter().find(|(flagged, _)| flagged == id).map(|(_, name)| name.clone());
                if let Some(name) = flag {
                    self.before(span, format!("{name} := true"));
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

    /// One more gate in a call, and what is handed on.
    fn call(&mut self, process: ProcessId, span: Span, around: &[Frame<'_>], region: Span) {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for formal in self.handed[process.index()].clone() {
            let actual = self.tag(&formal.label, formal.names.len(), around, region);
            let actuals = actual.names.iter().map(|name| format!("!?{name}"));
            pairs.extend(formal.names.into_iter().zip(actuals));
        }
        let Some((tokens, at)) = self.token_at(span) else { return };
        let (offset, text) = match gate_list(tokens, at) {
            Some((open, close)) => (tokens[close].span.start, actual_gate(tokens, open, close, &self.gate)),
            None => (tokens[at].span.end, format!(" [{}]", self.gate)),
        };
        let behind_gates = gate_list(tokens, at).map_or(at, |(_, close)| close);
        let (list, actuals) = match parameter_list(tokens, at) {
            Some(open) => (tokens[open].span.end, actual_parameters(tokens, open, &pairs)),
            None => {
                let actuals: Vec<&str> = pairs.iter().map(|(_, actual)| actual.as_str()).collect();
                (tokens[behind_gates].span.end, format!(" ({})", actuals.join(", ")))
            }
        };
        self.insert(span.file, offset, Rank::Probe, text);
        if !pairs.is_empty() {
            self.insert(span.file, list, Rank::Probe, actuals);
        }
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
            true => {
                self.critical_blocks[block] = true;
                self.tag(&format!("B{block}"), 1, around, region).set(true)
            }
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
                true => self.decision_tag(decision, around, region).set_to(&condition),
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
            true => self.decision_tag(decision, around, region).set_to(&text),
            false => format!("{} (\"D{decision}\", ({text}))", self.gate),
        };
        self.before(span, probe);
        if around.last().is_some_and(|frame| breaks_out_of(frame.statement, id)) {
            let name = self.variable();
            self.flags.push((id, name.clone()));
            self.before(span, format!("{name} := false"));
        }
    }

    /// The probe behind a loop with a condition: its false outcome, unless a `break` has led there.
    fn loop_end(&mut self, id: LoopId, condition: Span, span: Span, around: &[Frame<'_>], region: Span) {
        let Some(decision) = self.decision(condition) else { return };
        let Some(critical) = self.places.after(span) else { return };
        let text = self.condition(condition);
        let probe = match critical {
            true => self.decision_tag(decision, around, region).set_to(&text),
            false => format!("{} (\"D{decision}\", ({text}))", self.gate),
        };
        let flag = self.flags.iter().find(|(flagged, _)| *flagged == id).map(|(_, name)| name.clone());
        let probe = match flag {
            Some(name) => format!("if not ({name}) then {probe} end if"),
            None => probe,
        };
        self.after(span, probe);
    }

    /// A variable of the process at hand.
    fn variable(&mut self) -> String {
        let name = format!("{}_{}", self.prefix, self.numbers);
        self.numbers += 1;
        self.variables.push(name.clone());
        name
    }

    fn decision_tag(&mut self, decision: usize, around: &[Frame<'_>], region: Span) -> Tag {
        self.critical_decisions[decision] = true;
        self.tag(&format!("D{decision}"), 2, around, region)
    }

    /// Variables for a critical item, with the probe that shows them where that changes nothing (table 3).
    fn tag(&mut self, label: &str, count: usize, around: &[Frame<'_>], region: Span) -> Tag {
        let Some((start, end)) = self.display_place(around) else {
            return self.waiting(label, count, region);
        };
        let same = |other: &&Shown| {
            (other.start, other.end, other.region) == (start, end, region) && other.tag.label == label
        };
        if let Some(known) = self.shown.iter().find(same) {
            return known.tag.clone();
        }
        let tag = self.new_tag(label, count);
        self.insert(start.file, start.start, Rank::Initial, tag.initial());
        self.after(end, tag.shown(&self.gate));
        self.labels.insert(tag.label.clone());
        self.shown.push(Shown { start, end, region, tag: tag.clone() });
        tag
    }

    /// Variables that wait for the next action of a region.
    fn waiting(&mut self, label: &str, count: usize, region: Span) -> Tag {
        let same = |other: &&Fallback| other.region == region && other.tag.label == label;
        if let Some(known) = self.fallback.iter().find(same) {
            return known.tag.clone();
        }
        let tag = self.new_tag(label, count);
        self.fallback.push(Fallback { region, tag: tag.clone() });
        tag
    }

    fn new_tag(&mut self, label: &str, count: usize) -> Tag {
        Tag { label: label.to_owned(), names: (0..count).map(|_| self.variable()).collect() }
    }

    /// Where a variable of a critical item is shown: from the statement before which it is initialised, to the one
    /// behind which the probe stands. The innermost choice that leads silently to the item comes first; nothing where
    /// a loop ends before there is a place at which an action has surely happened.
    fn display_place(&self, around: &[Frame<'_>]) -> Option<(Span, Span)> {
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
            let mut candidates = std::iter::once(statement).chain(frame.following);
            if let Some(end) = candidates.find(|one| self.is_safe_behind(one)) {
                return Some((statement.span, end.span));
            }
        }
        None
    }

    /// Whether a probe behind a statement changes nothing: something has happened there, and it is not the end of a
    /// process that calls itself there, which has to stay the last thing that it does.
    fn is_safe_behind(&self, statement: &Statement) -> bool {
        let recursive = &self.recursive[self.process];
        self.places.after(statement.span) == Some(false)
            && !called_in(statement).iter().any(|callee| recursive.contains(callee))
    }

    /// Shows what has no place of its own behind everything in its region that acts. Where nothing leads silently from a
    /// choice to an action, there is nothing left to show.
    fn fallback_displays(&mut self, statement: &Statement, region: Span) {
        let acts = matches!(statement.kind, StatementKind::Action(_) | StatementKind::Instantiate { .. })
            && self.places.before(statement.span)
            && self.is_safe_behind(statement);
        if acts {
            for index in 0..self.fallback.len() {
                let Fallback { region: own, tag } = &self.fallback[index];
                if contains(region, *own) {
                    let text = tag.shown(&self.gate);
                    self.labels.insert(tag.label.clone());
                    self.after(statement.span, text);
                }
            }
        }
        for (part, own_region) in parts(statement) {
            self.fallback_displays(part, if own_region { part.span } else { region });
        }
    }
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
