//! The verdict on traces, with places in the model's source.

use std::collections::BTreeMap;
use std::path::PathBuf;

use conform::{Diagnosis, Outcome, Problem, ReadError, Settings, TraceError};
use model::{CoverageMap, Model};
use report::{
    BlockedStep, Cause, Conformance, Counts, Differing, Exercised, NeededSteps, NonConformance, Unexercised,
};
use source::{Diagnostic, Sources};

/// The verdict for people. The files are those that the traces were read from; a map is there where coverage was asked for.
pub fn conformance(
    outcome: &Outcome,
    settings: &Settings,
    files: &[PathBuf],
    model: &dyn Model,
    sources: &Sources,
    map: Option<&CoverageMap>,
    seconds: f64,
) -> Conformance {
    let bound = settings.bound.most();
    let mut failures: Vec<NonConformance> = Vec::with_capacity(outcome.failures.len());
    let mut causes: Vec<Cause> = Vec::new();
    for failure in &outcome.failures {
        let mut told = match &failure.diagnosis {
            Some(diagnosis) => non_conformance(diagnosis, bound, sources),
            None => NonConformance::default(),
        };
        let cause = match &failure.diagnosis {
            Some(diagnosis) => diagnosis.cause.clone(),
            None => "not explained: there are too many different failures".to_owned(),
        };
        told.cause = match causes.iter().position(|known| known.cause == cause) {
            Some(position) => {
                causes[position].failures += 1;
                position
            }
            None => {
                causes.push(Cause { cause, failures: 1, first: failures.len() });
                causes.len() - 1
            }
        };
        told.seq = failure.seq;
        told.name = failure.name.clone();
        told.file = files.get(failure.file).map(|file| file.display().to_string()).unwrap_or_default();
        told.line = failure.line;
        told.index = failure.index;
        told.bound = bound;
        failures.push(told);
    }
    // The most frequent first; of those the one that was found first.
    let mut order: Vec<usize> = (0..causes.len()).collect();
    order.sort_by_key(|&cause| (std::cmp::Reverse(causes[cause].failures), causes[cause].first));
    let place: BTreeMap<usize, usize> = order.iter().enumerate().map(|(new, &old)| (old, new)).collect();
    failures.iter_mut().for_each(|failure| failure.cause = place[&failure.cause]);
    let causes = order.into_iter().map(|cause| causes[cause].clone()).collect();
    let needed = outcome.bounds.iter().map(|(&steps, &pairs)| {
        let &(seq, index) = outcome.first.get(&steps).unwrap_or(&(0, 0));
        NeededSteps { steps, pairs, seq, index }
    });
    Conformance {
        sequences: outcome.sequences,
        accepted: outcome.accepted,
        rejected: outcome.rejected,
        unknown: outcome.unknown,
        unspecified: outcome.unspecified,
        moments: outcome.moments,
        bound,
        needed: needed.collect(),
        failures,
        causes,
        explained: outcome.failures.len() as u64,
        coverage: map.map(|map| exercised(outcome, model, map, sources)),
        ends: Vec::new(),
        explored: None,
        stopped: None,
        seconds,
    }
}

/// A rejection for people: what is known of it, without which sequence it is in.
pub fn non_conformance(diagnosis: &Diagnosis, bound: u32, sources: &Sources) -> NonConformance {
    let blocked = diagnosis.blocked.iter().map(|blocked| {
        let place = sources.position(blocked.span);
        let text = sources.slice(blocked.span);
        let mut lines = text.lines();
        let mut source = lines.next().unwrap_or_default().trim().to_owned();
        if lines.next().is_some() {
            source.push_str(" …");
        }
        BlockedStep {
            file: sources.name(blocked.span.file).to_owned(),
            line: place.line,
            column: place.column,
            why: blocked.why.clone(),
            source,
        }
    });
    let differs = diagnosis.differs.iter().map(|difference| Differing {
        component: difference.component.clone(),
        model: difference.model.clone(),
        program: difference.program.clone(),
    });
    let (steps, complete) = diagnosis.searched;
    let searched = match (diagnosis.needed, steps, complete) {
        (Some(0), ..) => String::new(),
        (Some(needed), ..) if !diagnosis.possible.is_empty() || diagnosis.closest.is_none() => {
            format!("it would be possible {} later", report::count(u64::from(needed), "step"))
        }
        (Some(needed), ..) => format!("a bound of {needed} would do instead of {bound}"),
        (None, 0, false) => String::new(),
        (None, _, true) => {
            "no bound would do: nothing that the model can reach from there is like this".to_owned()
        }
        (None, steps, false) => {
            format!("nothing like this was found within {}", report::count(u64::from(steps), "step"))
        }
    };
    NonConformance {
        from: diagnosis.from.clone(),
        to: diagnosis.to.clone(),
        closest: diagnosis.closest.clone(),
        steps: diagnosis.steps.clone(),
        differs: differs.collect(),
        blocked: blocked.collect(),
        needed: diagnosis.needed,
        searched,
        possible: diagnosis.possible.clone(),
        ..NonConformance::default()
    }
}

fn exercised(outcome: &Outcome, model: &dyn Model, map: &CoverageMap, sources: &Sources) -> Exercised {
    let coverage = cover::covered(model, map, outcome.origins.iter().copied());
    let counts = |covered: &[bool]| Counts {
        total: covered.len(),
        covered: covered.iter().filter(|&&covered| covered).count(),
    };
    let mut never: Vec<(String, usize, String)> = Vec::new();
    let mut add = |span: source::Span, what: String| {
        never.push((sources.name(span.file).to_owned(), sources.position(span).line, what));
    };
    for (action, covered) in map.actions.iter().zip(&coverage.actions) {
        if !covered {
            add(action.span, action.gate.clone());
        }
    }
    let mut outcomes = Counts::default();
    for (decision, seen) in map.decisions.iter().zip(&coverage.decisions) {
        outcomes.total += 2;
        outcomes.covered += usize::from(seen.yes) + usize::from(seen.no);
        let text = sources.slice(decision.span).split_whitespace().collect::<Vec<&str>>().join(" ");
        if !seen.yes {
            add(decision.span, format!("`{text}` is true"));
        }
        if !seen.no {
            add(decision.span, format!("`{text}` is false"));
        }
    }
    never.sort();
    Exercised {
        actions: counts(&coverage.actions),
        outcomes,
        blocks: counts(&coverage.blocks),
        never: never.into_iter().map(|(file, line, what)| Unexercised { file, line, what }).collect(),
    }
}

/// What is wrong with traces, with the texts that it speaks of.
pub fn trace_problem(problem: &Problem, files: &[PathBuf]) -> (Diagnostic, Sources) {
    let mut sources = Sources::new();
    let diagnostic = match problem {
        Problem::Read(ReadError::File(error)) => Diagnostic::error(error.to_string()),
        Problem::Read(ReadError::Trace(error)) => line_problem(error, &mut sources),
        Problem::State { file, line, seq, state, why } => {
            let file = files.get(*file).map(|file| file.display().to_string()).unwrap_or_default();
            Diagnostic::error(format!("{file}:{line}: this is no state of the model: {why}"))
                .note(format!("in sequence {seq}: {state}"))
                .help("a relation (--map FILE) says how the program's states are written in the model's language")
        }
        Problem::Model(error) => Diagnostic::error(error.message.clone()),
        Problem::Cancelled => Diagnostic::error("cancelled"),
    };
    (diagnostic, sources)
}

fn line_problem(error: &TraceError, sources: &mut Sources) -> Diagnostic {
    let name = error.file.display().to_string();
    let diagnostic = match &error.text {
        Some(text) => {
            let file = sources.add_excerpt(name, text.clone(), error.line as usize);
            Diagnostic::error(error.message.clone()).label(sources.span(file), "in this line")
        }
        None => Diagnostic::error(error.to_string()),
    };
    diagnostic.maybe_help(error.help.clone())
}
