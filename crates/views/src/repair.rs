//! Interventions at the suspects of an explanation, in the words of the model.

use explain::{Tag, Tagged};
use lts::Progress;
use mutate::{Attempt, Baseline, Effect, Place};
use report::{Repair, Repairs, SuspectPlace};
use source::Sources;

/// The most changes that are tried.
const MOST_ATTEMPTS: usize = 300;

/// The labels that happen where nothing is lost yet: no repair should take them away. Those that only a violation has
/// may go.
pub fn needed_labels(tagged: &Tagged<'_>) -> Vec<String> {
    let system = tagged.system();
    let (used, involved) = (system.used_labels(), tagged.involved_labels());
    let uninvolved = system.labels().iter().filter(|(id, _)| used[id.index()] && !involved[id.index()]);
    let mut labels: Vec<String> = uninvolved.map(|(_, text)| text.to_owned()).collect();
    let open = tagged.steps().filter(|&step| tagged.tag(step) != Tag::Incorrect);
    labels.extend(open.map(|step| tagged.label(step).to_owned()).collect::<std::collections::BTreeSet<_>>());
    labels.sort();
    labels.dedup();
    labels
}

/// Changes the suspects of a model one at a time, and tells what comes of it. The baseline's questions are all
/// properties of the model.
pub fn repairs(
    baseline: &Baseline<'_>,
    suspects: &[SuspectPlace],
    needed: &[String],
    progress: &Progress,
) -> Repairs {
    let sources = &baseline.sources;
    let places: Vec<Place> = suspects.iter().filter_map(|suspect| place(suspect, sources)).collect();
    let possible = mutate::candidates(baseline, &places).len();
    let attempts = mutate::interventions(baseline, &places, needed, MOST_ATTEMPTS, progress);
    let unknown = attempts.iter().filter(|attempt| attempt.effect == Effect::Unknown).count();
    let mut repairs = Repairs {
        tried: attempts.len() as u64,
        unknown: unknown as u64,
        left_out: (possible - attempts.len()) as u64,
        ..Repairs::default()
    };
    for attempt in &attempts {
        match &attempt.effect {
            Effect::Repairs => repairs.repairs.push(repair(baseline, attempt, Vec::new())),
            Effect::Loses(losses) => repairs.losing.push(repair(baseline, attempt, losses.clone())),
            Effect::Fails | Effect::Unknown => {}
        }
    }
    repairs
}

fn repair(baseline: &Baseline<'_>, attempt: &Attempt, losses: Vec<String>) -> Repair {
    let (mutant, sources) = (&baseline.mutants[attempt.mutant], &baseline.sources);
    let (start, end) = (sources.position(mutant.span), sources.end_position(mutant.span));
    Repair {
        operator: mutant.operator.name().into(),
        description: mutant.description.clone(),
        file: sources.name(mutant.span.file).to_owned(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        suspect: attempt.suspect + 1,
        losses,
        diff: mutant.diff(sources),
    }
}

/// Where a suspect is in the texts of the baseline.
fn place(suspect: &SuspectPlace, sources: &Sources) -> Option<Place> {
    let file = sources.files().find(|&file| sources.name(file) == suspect.file)?;
    let text = sources.text(file);
    let offset = |line: usize, column: usize| {
        let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
        let rest = &text[start..];
        start + rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at)
    };
    let range = offset(suspect.line, suspect.column)..offset(suspect.end_line, suspect.end_column);
    Some(Place { file: suspect.file.clone(), range })
}
