//! What is wrong where coverage has holes: the findings of Salaün and Ye 2015, section 3.5.
//!
//! Their rules, applied to the coverage of all examples together:
//! - a decision with one outcome only is *ill-formed* where the other one controls a block, *unnecessary* where it
//!   controls none. Outcomes are those of [`crate::measure`]: one that leads to an offered action has been evaluated, so
//!   that the action is the finding, not the decision;
//! - an action that does not happen in a partially covered block (definition 10) is *non-synchronisable*;
//! - what is left uncovered for none of these reasons is *dead code*.
//!
//! Two refinements keep one defect one finding. An action counts as non-synchronisable where it was offered and never
//! happened; those behind it in its block have not been offered, and are named with it. Code that can only be reached
//! through a hole that has a finding is due to that; where several ways lead to it, all of them have to be blocked so.
//! The outcomes on such ways control the code as well: one of them would lead there.

use model::{CoverageMap, Dependency, Way};
use source::Span;

use crate::coverage::Coverage;
use crate::encounters::{ActionEvidence, Evidence};

/// What kind of defect, or lack of examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// One outcome never occurs, and blocks depend on it.
    IllFormedDecision,
    /// One outcome never occurs, and nothing depends on it.
    UnnecessaryDecision,
    /// An action is offered and never happens.
    NonSynchronisableAction,
    /// Code that can't be reached.
    DeadCode,
    /// An example closes the hole: it is missing in the suite.
    MissingExample,
}

impl FindingKind {
    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::IllFormedDecision => "ill-formed-decision",
            FindingKind::UnnecessaryDecision => "unnecessary-decision",
            FindingKind::NonSynchronisableAction => "non-synchronisable-action",
            FindingKind::DeadCode => "dead-code",
            FindingKind::MissingExample => "missing-example",
        }
    }
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A decision, and the outcome that is missing.
    Decision(usize, bool),
    /// An action.
    Action(usize),
    /// A block.
    Block(usize),
    /// A process that is never started.
    Process(usize),
}

/// A hole with its diagnosis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// What it is about.
    pub subject: Subject,
    /// Where.
    pub span: Span,
    /// One sentence.
    pub message: String,
    /// The reasons, as far as they are known.
    pub why: Vec<String>,
    /// Other places that it concerns, with a few words.
    pub related: Vec<(Span, String)>,
    /// What to do.
    pub advice: Option<String>,
}

/// Explains the holes of a coverage. `roots` are the processes that examples start.
pub fn findings(
    map: &CoverageMap,
    coverage: &Coverage,
    evidence: &Evidence,
    roots: &[usize],
) -> Vec<Finding> {
    let mut search = Search {
        map,
        coverage,
        evidence,
        explained: vec![false; map.blocks.len()],
        explained_joins: vec![false; map.joins.len()],
        findings: Vec::new(),
    };
    search.decisions();
    search.actions();
    search.choices();
    search.unused_processes(roots);
    search.spread();
    search.dead_code(roots);
    let mut findings = search.findings;
    findings.sort_by_key(|finding| (finding.span, finding.kind));
    findings
}

/// What the traces of a suite leave out, and other runs of the same examples do: blocks, and outcomes and actions that
/// belong to no such block.
pub(crate) fn missing_runs(map: &CoverageMap, coverage: &Coverage, of_all_runs: &Coverage) -> Vec<Finding> {
    let missing_block = |block: usize| !coverage.blocks[block] && of_all_runs.blocks[block];
    let needs = |block: usize, one: Dependency| map.blocks[block].depends.contains(&one);
    let outcomes = (0..map.decisions.len()).flat_map(|decision| [(decision, true), (decision, false)]);
    let outcomes = outcomes.filter(|&(decision, outcome)| {
        let is_missing =
            !coverage.decisions[decision].has(outcome) && of_all_runs.decisions[decision].has(outcome);
        let one = Dependency { decision, outcome };
        is_missing && !(0..map.blocks.len()).any(|block| missing_block(block) && needs(block, one))
    });
    let actions = (0..map.actions.len()).filter(|&action| {
        !coverage.actions[action]
            && of_all_runs.actions[action]
            && !map.actions[action].block.is_some_and(missing_block)
    });
    let blocks = (0..map.blocks.len()).filter(|&block| missing_block(block));
    let subjects =
        blocks
            .map(|block| (Subject::Block(block), map.blocks[block].span))
            .chain(outcomes.map(|(decision, outcome)| {
                (Subject::Decision(decision, outcome), map.decisions[decision].span)
            }))
            .chain(actions.map(|action| (Subject::Action(action), map.actions[action].span)));
    let finding = |(subject, span): (Subject, Span)| Finding {
        kind: FindingKind::MissingExample,
        subject,
        span,
        message: "missing example: none of these runs executes all of this, but others do".to_owned(),
        why: Vec::new(),
        related: Vec::new(),
        advice: None,
    };
    subjects.map(finding).collect()
}

struct Search<'a> {
    map: &'a CoverageMap,
    coverage: &'a Coverage,
    evidence: &'a Evidence,
    /// Uncovered blocks that some finding explains.
    explained: Vec<bool>,
    /// Joins all ways to which lead through explained holes.
    explained_joins: Vec<bool>,
    findings: Vec<Finding>,
}

impl Search<'_> {
    fn decisions(&mut self) {
        let reached = self.reached_joins();
        for (number, decision) in self.map.decisions.iter().enumerate() {
            let outcomes = self.coverage.decisions[number];
            let missing = match (outcomes.yes, outcomes.no) {
                (true, false) if !decision.always_true => false,
                (false, true) => true,
                _ => continue,
            };
            let outcome = Dependency { decision: number, outcome: missing };
            let controls = |block: &model::Block| block.depends.contains(&outcome);
            let controlled: Vec<usize> =
                (0..self.map.blocks.len()).filter(|&block| controls(&self.map.blocks[block])).collect();
            // What can't be reached by its place stays dead when the decision is mended.
            let mendable = controlled.iter().filter(|&&block| self.map.blocks[block].behind.is_none());
            mendable.for_each(|&block| self.explained[block] = true);
            let constant = if missing { "false" } else { "true" };
            let mut finding = Finding {
                kind: FindingKind::IllFormedDecision,
                subject: Subject::Decision(number, missing),
                span: decision.span,
                message: String::new(),
                why: self.evidence.operands(number).to_vec(),
                related: Vec::new(),
                advice: None,
            };
            match controlled.first() {
                Some(&first) => {
                    let other = if missing { "true" } else { "false" };
                    let blocks = match controlled.len() {
                        1 => "1 block needs".to_owned(),
                        count => format!("{count} blocks need"),
                    };
                    finding.message =
                        format!("this decision is always {constant}, but {blocks} it to be {other}");
                    let block = self.map.blocks[first].span;
                    finding.related.push((block, format!("only reached when it is {other}")));
                }
                None => match self.would_reach(outcome, &reached).as_slice() {
                    [] => {
                        finding.kind = FindingKind::UnnecessaryDecision;
                        finding.message = match self.map.blocks.is_empty() {
                            true => format!("this guard is always {constant}"),
                            false => format!(
                                "this decision is always {constant}, and no block depends on the other outcome"
                            ),
                        };
                    }
                    blocks => {
                        let other = if missing { "true" } else { "false" };
                        finding.message = format!(
                            "this decision is always {constant}; if it were {other}, {} be reached",
                            plural(blocks.len(), "more block would", "more blocks would")
                        );
                        let block = self.map.blocks[blocks[0]].span;
                        finding.related.push((
                            block,
                            format!("reached when it is {other}, or in other ways, which are blocked too"),
                        ));
                    }
                },
            }
            self.findings.push(finding);
        }
    }

    /// The joins that control has come to, as far as coverage tells.
    fn reached_joins(&self) -> Vec<bool> {
        let mut reached = vec![false; self.map.joins.len()];
        loop {
            let passable = |way: &Way| {
                way.depends.iter().all(|one| self.coverage.decisions[one.decision].has(one.outcome))
                    && way.after.iter().all(|&block| self.coverage.blocks[block])
                    && way.joins.iter().all(|&join| reached[join])
            };
            let unreached = (0..reached.len()).filter(|&join| !reached[join]);
            let more: Vec<usize> =
                unreached.filter(|&join| self.map.joins[join].ways.iter().any(passable)).collect();
            if more.is_empty() {
                return reached;
            }
            more.into_iter().for_each(|join| reached[join] = true);
        }
    }

    /// The uncovered blocks to which an outcome is one of several ways, all of them blocked.
    fn would_reach(&self, outcome: Dependency, reached: &[bool]) -> Vec<usize> {
        let mut needed: Vec<bool> = vec![false; reached.len()];
        loop {
            let leads =
                |way: &Way| way.depends.contains(&outcome) || way.joins.iter().any(|&join| needed[join]);
            let open = (0..reached.len()).filter(|&join| !reached[join] && !needed[join]);
            let more: Vec<usize> = open.filter(|&join| self.map.joins[join].ways.iter().any(leads)).collect();
            if more.is_empty() {
                break;
            }
            more.into_iter().for_each(|join| needed[join] = true);
        }
        let behind = |&block: &usize| {
            let entry = &self.map.blocks[block];
            !self.coverage.blocks[block]
                && entry.behind.is_none()
                && entry.joins.iter().any(|&join| needed[join])
        };
        (0..self.map.blocks.len()).filter(behind).collect()
    }

    fn actions(&mut self) {
        for (action, entry) in self.map.actions.iter().enumerate() {
            if entry.block.is_none() && !self.coverage.actions[action] {
                self.findings.push(Finding {
                    kind: FindingKind::DeadCode,
                    subject: Subject::Action(action),
                    span: entry.span,
                    message: format!("{} never happens", entry.gate),
                    why: Vec::new(),
                    related: Vec::new(),
                    advice: None,
                });
            }
        }
        for block in 0..self.map.blocks.len() {
            if self.coverage.is_partially_covered(self.map, block) {
                self.offered_in_vain(block);
            }
        }
    }

    /// Looks for an action of a block that is offered and never happens. Gives whether there is one.
    fn offered_in_vain(&mut self, block: usize) -> bool {
        let entry = &self.map.blocks[block];
        let missing: Vec<usize> =
            entry.actions.iter().copied().filter(|&action| !self.coverage.actions[action]).collect();
        let offered = |action: &&usize| self.evidence.action(**action).is_some();
        let Some(&culprit) = missing.iter().find(offered) else { return false };
        self.explained[block] = true;
        let action = &self.map.actions[culprit];
        let ActionEvidence { why, related, .. } = self.evidence.action(culprit).cloned().unwrap_or_default();
        let behind = missing.iter().filter(|&&other| other > culprit).count();
        let mut message = format!("action {} is offered but never happens", action.gate);
        match behind {
            0 => {}
            1 => message.push_str(", and neither does the action after it"),
            _ => message.push_str(&format!(", and neither do the {behind} actions after it")),
        }
        self.findings.push(Finding {
            kind: FindingKind::NonSynchronisableAction,
            subject: Subject::Action(culprit),
            span: action.span,
            message,
            why,
            related,
            advice: None,
        });
        true
    }

    /// Choices of a value under a condition that no value satisfies: control never gets past them.
    fn choices(&mut self) {
        for (block, entry) in self.map.blocks.iter().enumerate() {
            let stuck = |(_, condition): &&(Span, Span)| self.evidence.is_unsatisfiable(*condition);
            let Some(&(choice, condition)) = entry.choices.iter().find(stuck) else { continue };
            if self.coverage.blocks[block] || self.explained[block] {
                continue;
            }
            self.explained[block] = true;
            self.findings.push(Finding {
                kind: FindingKind::DeadCode,
                subject: Subject::Block(block),
                span: choice,
                message: "dead code: control never gets past this choice".to_owned(),
                why: vec!["it is reached, but no value satisfies its condition".to_owned()],
                related: vec![(condition, "never true".to_owned())],
                advice: None,
            });
        }
    }

    /// What stands behind an explained hole is explained; and so are processes that only such blocks call.
    fn spread(&mut self) {
        let called = self.called_by();
        loop {
            let mut changed = false;
            for block in 0..self.map.blocks.len() {
                if self.explained[block] || self.coverage.blocks[block] {
                    continue;
                }
                let entry = &self.map.blocks[block];
                // What can't be reached by its place stays dead when the hole before it is closed.
                let dead = |block: usize| self.map.blocks[block].behind.is_some();
                let behind =
                    entry.after.iter().any(|&before| self.is_hole(before) && dead(block) == dead(before));
                let callers = &called[entry.process];
                let started = self.coverage_of_process(entry.process);
                let uncalled =
                    !started && !callers.is_empty() && callers.iter().all(|&caller| self.is_hole(caller));
                let joins = !dead(block) && entry.joins.iter().any(|&join| self.explained_joins[join]);
                if behind || joins || uncalled {
                    self.explained[block] = true;
                    changed = true;
                }
            }
            for join in 0..self.map.joins.len() {
                let ways = &self.map.joins[join].ways;
                let explained = |way: &Way| {
                    way.depends.iter().any(|&one| self.is_missing(one))
                        || way.after.iter().any(|&before| self.is_hole(before))
                        || way.joins.iter().any(|&passed| self.explained_joins[passed])
                };
                if !self.explained_joins[join] && !ways.is_empty() && ways.iter().all(explained) {
                    self.explained_joins[join] = true;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Whether an outcome is the one that is missing of a decision.
    fn is_missing(&self, one: Dependency) -> bool {
        let outcomes = self.coverage.decisions[one.decision];
        outcomes.has(!one.outcome) && !outcomes.has(one.outcome)
    }

    fn is_hole(&self, block: usize) -> bool {
        self.explained[block] && !self.coverage.blocks[block]
    }

    /// Whether anything of a process was exercised.
    fn coverage_of_process(&self, process: usize) -> bool {
        let map = self.map;
        let blocks = map.blocks.iter().zip(&self.coverage.blocks);
        let decisions = map.decisions.iter().zip(&self.coverage.decisions);
        let actions = map.actions.iter().zip(&self.coverage.actions);
        blocks.into_iter().any(|(entry, &covered)| entry.process == process && covered)
            || actions.into_iter().any(|(entry, &covered)| entry.process == process && covered)
            || decisions.into_iter().any(|(entry, seen)| entry.process == process && (seen.yes || seen.no))
    }

    /// Whether control has come to a call of a process: the last instruction of a block that was executed.
    fn is_called(&self, process: usize) -> bool {
        let blocks = self.map.blocks.iter().zip(&self.coverage.blocks);
        blocks.into_iter().any(|(block, &covered)| covered && block.calls.contains(&process))
    }

    /// Whether control is inside of a process that only this block calls.
    fn stays_in_call(&self, block: usize) -> bool {
        let callers = self.called_by();
        let calls = &self.map.blocks[block].calls;
        calls.iter().any(|&process| callers[process] == [block] && self.coverage_of_process(process))
    }

    /// The calls of functions one of which would have to raise an exception for control to come to a block.
    fn calls_that_would_raise(&self, block: usize) -> Vec<Span> {
        let entry = &self.map.blocks[block];
        let ways = entry.joins.iter().flat_map(|&join| &self.map.joins[join].ways);
        let mut calls = entry.raised_by.clone();
        calls.extend(ways.flat_map(|way| way.raised_by.iter().copied()));
        calls.sort_unstable();
        calls.dedup();
        calls
    }

    fn called_by(&self) -> Vec<Vec<usize>> {
        let mut called = vec![Vec::new(); self.map.processes.len()];
        for (number, block) in self.map.blocks.iter().enumerate() {
            block.calls.iter().for_each(|&process| called[process].push(number));
        }
        called
    }

    /// Processes that nothing starts: one finding for each that no other one of them calls.
    fn unused_processes(&mut self, roots: &[usize]) {
        let calls = |process: usize| {
            let own = self.map.blocks.iter().filter(move |block| block.process == process);
            own.flat_map(|block| block.calls.iter().copied())
        };
        let mut reached = vec![false; self.map.processes.len()];
        let mut todo: Vec<usize> = roots.to_vec();
        let mut heads: Vec<usize> = Vec::new();
        loop {
            while let Some(process) = todo.pop() {
                if !std::mem::replace(&mut reached[process], true) {
                    todo.extend(calls(process));
                }
            }
            let unreached: Vec<usize> = (0..reached.len()).filter(|&process| !reached[process]).collect();
            let called = |&process: &usize| {
                unreached
                    .iter()
                    .any(|&caller| caller != process && calls(caller).any(|callee| callee == process))
            };
            // Where they all call each other, the first one has to do.
            let uncalled = unreached.iter().copied().find(|process| !called(process));
            let Some(head) = uncalled.or(unreached.first().copied()) else { break };
            heads.push(head);
            todo.push(head);
        }
        for process in heads {
            let entry = &self.map.processes[process];
            self.findings.push(Finding {
                kind: FindingKind::DeadCode,
                subject: Subject::Process(process),
                span: entry.span,
                message: format!("dead code: process {} is never started", entry.name),
                why: vec!["no example starts it, and nothing that is started calls it".to_owned()],
                related: Vec::new(),
                advice: None,
            });
        }
        let live = self.map.reachable(roots);
        for (block, entry) in self.map.blocks.iter().enumerate() {
            if !live[entry.process] {
                self.explained[block] = true;
            }
        }
    }

    fn dead_code(&mut self, roots: &[usize]) {
        for block in 0..self.map.blocks.len() {
            if self.coverage.blocks[block] || self.explained[block] {
                continue;
            }
            // A process that was not started is explained by its callers, which may come later.
            let entry = &self.map.blocks[block];
            if !self.coverage_of_process(entry.process)
                && entry.behind.is_none()
                && !roots.contains(&entry.process)
                && !self.is_called(entry.process)
            {
                continue;
            }
            // Silent ways to an action that never happens are not seen: no step tells of them.
            let offered = self.offered_in_vain(block);
            self.explained[block] = true;
            self.spread();
            if offered {
                continue;
            }
            let mut finding = Finding {
                kind: FindingKind::DeadCode,
                subject: Subject::Block(block),
                span: entry.span,
                message: "dead code: this is never reached".to_owned(),
                why: Vec::new(),
                related: Vec::new(),
                advice: None,
            };
            let entered = entry.actions.iter().any(|&action| self.coverage.actions[action])
                || entry.behind.is_some_and(|behind| entry.span.range().contains(&behind.range().start));
            // Whether control came to the start of a block that calls something first is not known.
            let starts_with_more =
                !entry.calls.is_empty() || !entry.choices.is_empty() || !entry.may_raise.is_empty();
            let last = entry.last.range();
            if entry.may_raise.iter().any(|call| last.contains(&call.range().start)) {
                finding.message = "dead code: control never gets past the end of this block".to_owned();
            } else if entered || starts_with_more {
                finding.message = "dead code: the end of this block is never reached".to_owned();
            }
            let nothing_leads_there = entry.joins.iter().any(|&join| self.map.joins[join].ways.is_empty());
            match entry.behind {
                Some(behind) => {
                    finding.why.push("the code before it never ends".to_owned());
                    finding.related.push((behind, "control never gets past this".to_owned()));
                }
                None if entered => finding.why.push("it is entered, but control never leaves it".to_owned()),
                None if nothing_leads_there => {
                    finding.why.push("nothing raises the exception that leads to it".to_owned());
                }
                None if self.stays_in_call(block) => {
                    finding.why.push("a process that it calls never returns".to_owned());
                }
                None if !entry.may_raise.is_empty() => {
                    finding.why.push("a function that it calls may raise an exception first".to_owned());
                    let call = |&call: &Span| (call, "this call may raise one".to_owned());
                    finding.related.extend(entry.may_raise.iter().map(call));
                }
                None => match self.calls_that_would_raise(block).as_slice() {
                    [] if starts_with_more => {
                        finding.why.push("it is not known why control never reaches its end".to_owned());
                    }
                    [] => finding.why.push("it is not known why control never reaches it".to_owned()),
                    calls => {
                        finding.why.push("no function call raises the exception that leads to it".to_owned());
                        let call = |&call: &Span| (call, "this call never raises it".to_owned());
                        finding.related.extend(calls.iter().map(call));
                    }
                },
            }
            self.findings.push(finding);
        }
    }
}

fn plural(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}
