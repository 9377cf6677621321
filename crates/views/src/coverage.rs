//! The outcome of a suite as the report shows it: places as files and lines, examples as counts.

use cover::{Coverage, ExampleOutcome, Finding, FindingSubject, Item, Outcome, Specification};
use model::CoverageMap;
use report::{
    Counts, CoverageExample, CoverageFinding, CoveredFile, CoveredProcess, DecisionCounts, Executability,
    Hole, RelatedPlace, Site, SiteKind,
};
use source::{Diagnostic, FileId, Span};

/// Everything that a report needs.
pub fn view(model: &str, method: &'static str, outcome: &Outcome) -> report::Coverage {
    let specification = &outcome.specification;
    let map = &specification.map;
    report::Coverage {
        model: model.to_owned(),
        method,
        blocks: counts(outcome.coverage.block_ratio()),
        executability: executability(map, &outcome.coverage),
        decisions: decision_counts(map, &outcome.coverage),
        actions: counts(outcome.coverage.action_ratio()),
        functions: outcome.functions.as_ref().map(|functions| report::FunctionCoverage {
            blocks: counts(functions.coverage.block_ratio()),
            decisions: decision_counts(&functions.specification.map, &functions.coverage),
            holes: functions.holes().into_iter().map(|item| hole(&functions.specification, item)).collect(),
        }),
        examples: outcome.examples.iter().map(|one| example(specification, one)).collect(),
        subset: outcome
            .subset
            .examples
            .iter()
            .map(|&one| outcome.examples[one].example.name.clone())
            .collect(),
        subset_is_smallest: outcome.subset.smallest,
        holes: outcome.holes().into_iter().map(|item| uncovered(outcome, item)).collect(),
        findings: outcome.findings.iter().map(|one| finding(specification, one)).collect(),
        criteria: Vec::new(),
        baseline: None,
        suggestions: None,
        partial: outcome.examples.iter().any(|one| one.stopped.is_some()),
        covered: covered_names(outcome),
        seconds: 0.0,
        files: covered_files(outcome),
    }
}

/// What `--baseline` compares.
fn covered_names(outcome: &Outcome) -> Vec<String> {
    let named = cover::named_items(outcome).into_iter();
    named.filter(|(_, covered)| *covered).map(|(name, _)| name).collect()
}

/// Suggested examples, by place.
pub fn suggestions(specification: &Specification, found: &cover::Suggestions) -> report::Suggestions {
    let holes = |items: &[Item]| items.iter().map(|&item| hole(specification, item)).collect();
    report::Suggestions {
        tried: found.tried,
        roots: found
            .roots
            .iter()
            .map(|root| report::TriedRoot {
                process: root.process.clone(),
                combinations: root.combinations,
                all: root.all,
                problem: root.problem.clone(),
            })
            .collect(),
        exhaustive: found.exhaustive,
        not_tried: found.not_tried.clone(),
        examples: found
            .examples
            .iter()
            .map(|(example, closes)| report::Suggestion {
                name: example.name.clone(),
                root: example.start().to_owned(),
                constants: example.constants.iter().cloned().collect(),
                modules: example.modules.iter().map(|(name, _)| name.clone()).collect(),
                toml: example.to_toml(),
                closes: holes(closes),
            })
            .collect(),
        open: holes(&found.open),
        elsewhere: holes(&found.elsewhere),
    }
}

/// A finding as a message with its source.
pub fn diagnostic(finding: &Finding) -> Diagnostic {
    let label = match finding.subject {
        FindingSubject::Decision(_, true) => "never true",
        FindingSubject::Decision(_, false) => "never false",
        FindingSubject::Action(_) => "never happens",
        FindingSubject::Block(_) => "never executed",
        FindingSubject::Process(_) => "never started",
    };
    let mut diagnostic = Diagnostic::warning(finding.message.clone()).label(finding.span, label);
    for (span, text) in &finding.related {
        diagnostic = diagnostic.label(*span, text.clone());
    }
    for why in &finding.why {
        diagnostic = diagnostic.note(why.clone());
    }
    diagnostic.maybe_help(finding.advice.clone())
}

/// A thing that can be exercised, by place.
pub fn hole(specification: &Specification, item: Item) -> Hole {
    let (kind, outcome) = match item {
        Item::Block(_) => ("block", None),
        Item::Outcome(_, outcome) => ("decision", Some(outcome)),
        Item::Action(_) => ("action", None),
    };
    let (span, process) = item.place(&specification.map);
    let position = specification.position(span);
    Hole {
        kind,
        outcome,
        executable: None,
        process: specification.process(process).to_owned(),
        file: specification.sources.name(span.file).to_owned(),
        line: position.line,
        column: position.column,
        text: one_line(specification.sources.slice(span)),
    }
}

/// A hole, and whether a block could have been entered.
fn uncovered(outcome: &Outcome, item: Item) -> Hole {
    let executable = match item {
        Item::Block(block) => Some(outcome.coverage.is_executable(&outcome.specification.map, block)),
        _ => None,
    };
    Hole { executable, ..hole(&outcome.specification, item) }
}

fn executability(map: &CoverageMap, coverage: &Coverage) -> Executability {
    let uncovered: Vec<usize> = (0..map.blocks.len()).filter(|&block| !coverage.blocks[block]).collect();
    let executable = uncovered.iter().filter(|&&block| coverage.is_partially_covered(map, block)).count();
    Executability { uncovered: uncovered.len(), executable, not_executable: uncovered.len() - executable }
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn counts(ratio: cover::Ratio) -> Counts {
    Counts { total: ratio.total, covered: ratio.covered }
}

fn decision_counts(map: &CoverageMap, coverage: &Coverage) -> DecisionCounts {
    let ratio = coverage.decision_ratio(map);
    let mut counts =
        DecisionCounts { total: ratio.total, covered: ratio.covered, ..DecisionCounts::default() };
    for (decision, outcomes) in coverage.decisions.iter().enumerate() {
        match (outcomes.yes, outcomes.no) {
            _ if coverage.decision(map, decision) => {}
            (true, _) => counts.only_true += 1,
            (false, true) => counts.only_false += 1,
            (false, false) => counts.none += 1,
        }
    }
    counts
}

fn example(specification: &Specification, outcome: &ExampleOutcome) -> CoverageExample {
    CoverageExample {
        name: outcome.example.name.clone(),
        states: outcome.states,
        transitions: outcome.transitions,
        complete: outcome.stopped.is_none(),
        stopped: outcome.stopped.as_ref().map(ToString::to_string),
        blocks: counts(outcome.coverage.block_ratio()),
        decisions: decision_counts(&specification.map, &outcome.coverage),
        actions: counts(outcome.coverage.action_ratio()),
        only: outcome.only.iter().map(|&item| hole(specification, item)).collect(),
        cached: outcome.cached,
        seconds: outcome.seconds,
    }
}

fn finding(specification: &Specification, finding: &Finding) -> CoverageFinding {
    let map = &specification.map;
    let process = match finding.subject {
        FindingSubject::Decision(decision, _) => map.decisions[decision].process,
        FindingSubject::Action(action) => map.actions[action].process,
        FindingSubject::Block(block) => map.blocks[block].process,
        FindingSubject::Process(process) => process,
    };
    let sources = &specification.sources;
    let (start, end) = (sources.position(finding.span), sources.end_position(finding.span));
    let related = finding.related.iter().map(|(span, text)| {
        let place = sources.position(*span);
        let file = sources.name(span.file).to_owned();
        RelatedPlace { file, line: place.line, column: place.column, text: text.clone() }
    });
    CoverageFinding {
        kind: finding.kind.name(),
        file: sources.name(finding.span.file).to_owned(),
        line: start.line,
        column: start.column,
        message: finding.message.clone(),
        process: specification.process(process).to_owned(),
        why: finding.why.clone(),
        advice: finding.advice.clone(),
        related: related.collect(),
        end: (end.line, end.column),
    }
}

/// All files with their processes and functions.
fn covered_files(outcome: &Outcome) -> Vec<CoveredFile> {
    let examples: Vec<&Coverage> = outcome.examples.iter().map(|example| &example.coverage).collect();
    let sources = &outcome.specification.sources;
    let of_processes = |file| covered_file(&outcome.specification, &outcome.coverage, &examples, file);
    let mut files: Vec<CoveredFile> = sources.files().map(of_processes).collect();
    let Some(functions) = &outcome.functions else { return files };
    let examples: Vec<&Coverage> = functions.examples.iter().collect();
    for file in functions.specification.sources.files() {
        let mut more = covered_file(&functions.specification, &functions.coverage, &examples, file);
        // They are counted apart.
        more.processes.iter_mut().for_each(|function| function.module.push_str(" (functions)"));
        match files.iter_mut().find(|file| file.name == more.name && file.text == more.text) {
            None => files.push(more),
            Some(file) => {
                let first = file.processes.len();
                more.sites.iter_mut().for_each(|site| site.process += first);
                file.processes.append(&mut more.processes);
                file.sites.append(&mut more.sites);
                file.sites.sort_by_key(|site| (site.range.start, site.range.end));
            }
        }
    }
    files
}

/// A file with its processes, or functions, and how many examples have exercised what.
fn covered_file(
    specification: &Specification,
    coverage: &Coverage,
    examples: &[&Coverage],
    file: FileId,
) -> CoveredFile {
    let map = &specification.map;
    let hits =
        |covered: &dyn Fn(&Coverage) -> bool| examples.iter().filter(|coverage| covered(coverage)).count();
    let own: Vec<usize> =
        (0..map.processes.len()).filter(|&process| map.processes[process].span.file == file).collect();
    let mut processes: Vec<CoveredProcess> = Vec::new();
    for &number in &own {
        let entry = &map.processes[number];
        let mut process = CoveredProcess {
            name: entry.name.clone(),
            module: entry.module.clone(),
            lines: lines(specification, entry.span),
            hits: hits(&|coverage| exercises(map, coverage, number)),
            blocks: Counts::default(),
            decisions: Counts::default(),
            actions: Counts::default(),
        };
        let add = |counts: &mut Counts, covered: bool| {
            counts.total += 1;
            counts.covered += usize::from(covered);
        };
        for (block, _) in map.blocks.iter().enumerate().filter(|(_, block)| block.process == number) {
            add(&mut process.blocks, coverage.blocks[block]);
        }
        for (decision, _) in map.decisions.iter().enumerate().filter(|(_, one)| one.process == number) {
            add(&mut process.decisions, coverage.decision(map, decision));
        }
        for (action, _) in map.actions.iter().enumerate().filter(|(_, one)| one.process == number) {
            add(&mut process.actions, coverage.actions[action]);
        }
        processes.push(process);
    }
    let mut sites: Vec<Site> = Vec::new();
    let mut site = |kind: SiteKind, process: usize, span: Span, hits: usize| {
        if let Some(process) = own.iter().position(|&one| one == process) {
            sites.push(Site { kind, process, range: span.range(), lines: lines(specification, span), hits });
        }
    };
    for (number, block) in map.blocks.iter().enumerate() {
        site(SiteKind::Block, block.process, block.span, hits(&|coverage| coverage.blocks[number]));
    }
    for (number, decision) in map.decisions.iter().enumerate() {
        let outcomes = |outcome: bool| hits(&|coverage| coverage.decisions[number].has(outcome));
        let evaluated =
            hits(&|coverage| coverage.decisions[number].has(true) || coverage.decisions[number].has(false));
        let no = (!decision.always_true).then(|| outcomes(false));
        let kind = SiteKind::Decision { yes: outcomes(true), no };
        site(kind, decision.process, decision.span, evaluated);
    }
    for (number, action) in map.actions.iter().enumerate() {
        site(SiteKind::Action, action.process, action.span, hits(&|coverage| coverage.actions[number]));
    }
    sites.sort_by_key(|site| (site.range.start, site.range.end));
    CoveredFile {
        name: specification.sources.name(file).to_owned(),
        text: specification.sources.text(file).to_owned(),
        processes,
        sites,
    }
}

fn exercises(map: &CoverageMap, coverage: &Coverage, process: usize) -> bool {
    let block = |(number, one): (usize, &model::Block)| one.process == process && coverage.blocks[number];
    let action =
        |(number, one): (usize, &model::ActionInstance)| one.process == process && coverage.actions[number];
    let decision = |(number, one): (usize, &model::Decision)| {
        one.process == process && (coverage.decisions[number].yes || coverage.decisions[number].no)
    };
    map.blocks.iter().enumerate().any(block)
        || map.actions.iter().enumerate().any(action)
        || map.decisions.iter().enumerate().any(decision)
}

fn lines(specification: &Specification, span: Span) -> (usize, usize) {
    (specification.sources.position(span).line, specification.sources.end_position(span).line)
}

/// A criterion over what executions do one after the other, for the examples of these names.
pub fn behaviour(measured: &cover::BehaviourCoverage, examples: &[String]) -> report::Criterion {
    let missing =
        measured.items.iter().filter(|item| item.covered_by.is_empty()).map(|item| match &item.suggestion {
            None => item.name.clone(),
            Some((example, labels)) if labels.is_empty() => {
                format!("{}: `{}` starts there", item.name, measured.starts[*example])
            }
            Some((example, labels)) => {
                format!("{}: from `{}`, {}", item.name, measured.starts[*example], labels.join("; "))
            }
        });
    let longest = measured.items.iter().map(|item| item.length).max().unwrap_or(0);
    let of_length = |length: usize| {
        let those = || measured.items.iter().filter(move |item| item.length == length);
        Counts { total: those().count(), covered: those().filter(|item| !item.covered_by.is_empty()).count() }
    };
    let has_lengths = measured.items.iter().any(|item| item.length == 1);
    report::Criterion {
        name: measured.criterion.to_string(),
        total: measured.items.len(),
        covered: measured.covered(),
        infeasible: measured.infeasible.len(),
        missing: missing.collect(),
        infeasible_items: measured.infeasible.clone(),
        by_length: if has_lengths { (1..=longest).map(of_length).collect() } else { Vec::new() },
        subset: match examples.len() {
            0 | 1 => Vec::new(),
            _ => measured.subset.examples.iter().map(|&one| examples[one].clone()).collect(),
        },
        doubts: measured.doubts.clone(),
        examples: match examples.len() {
            0 | 1 => Vec::new(),
            _ => (examples.iter().enumerate())
                .map(|(at, name)| {
                    let covered = || measured.items.iter().filter(move |item| item.covered_by.contains(&at));
                    let only = covered().filter(|item| item.covered_by.len() == 1).count();
                    report::CriterionExample { name: name.clone(), covered: covered().count(), only }
                })
                .collect(),
        },
    }
}

/// A criterion that was measured over the whole suite.
pub fn criterion(measured: cover::Criterion) -> report::Criterion {
    report::Criterion {
        name: measured.name.to_owned(),
        total: measured.total,
        covered: measured.covered,
        infeasible: 0,
        missing: measured.missing,
        infeasible_items: Vec::new(),
        by_length: Vec::new(),
        subset: Vec::new(),
        doubts: Vec::new(),
        examples: Vec::new(),
    }
}
