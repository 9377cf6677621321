//! Suspects in the words of the model: where they are written, and one sentence why each is there.

use explain::{Clues, Run, Scene, Suspect, Tagged, Through};
use model::{Construct, ConstructKind};
use report::SuspectPlace;

use crate::explanation::Origin;
use crate::run::Inside;

/// The most suspects that are listed.
const MOST_SUSPECTS: usize = 30;
/// The most characters of a construct's text.
const MOST_CHARACTERS: usize = 60;

/// The suspects behind a violation, best first.
pub(crate) fn suspects(
    tagged: &Tagged<'_>,
    run: Option<&Run>,
    inside: Option<&Inside>,
    origin: Origin<'_>,
) -> Vec<SuspectPlace> {
    let constructs = origin.program.constructs();
    let actors = inside.map(Inside::actors).unwrap_or_default();
    let scene = Scene {
        tagged,
        run,
        provenance: origin.provenance(),
        constructs: &constructs,
        initially: origin.program.model().initial_origin(),
        actors: &actors,
        waiting: inside.map_or(&[], |inside| &inside.waiting),
    };
    let found = explain::suspects(&scene);
    found.iter().take(MOST_SUSPECTS).map(|one| place(one, &constructs, origin)).collect()
}

fn place(suspect: &Suspect, constructs: &[Construct], origin: Origin<'_>) -> SuspectPlace {
    let construct = &constructs[suspect.construct];
    let span = construct.span;
    let (start, end) = (origin.sources.position(span), origin.sources.end_position(span));
    SuspectPlace {
        file: origin.sources.name(span.file).to_owned(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        kind: construct.kind.key(),
        construct: text(construct, origin),
        process: construct.process.clone(),
        reason: reason(suspect, constructs, origin),
        score: (suspect.score * 1000.0).round() / 1000.0,
    }
}

/// The text of a construct, on one line.
fn text(construct: &Construct, origin: Origin<'_>) -> String {
    let text = origin.sources.text(construct.span.file);
    let words: Vec<&str> = text.get(construct.span.range()).unwrap_or_default().split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}

fn reason(suspect: &Suspect, constructs: &[Construct], origin: Origin<'_>) -> String {
    let Some((through, at)) = suspect.through else {
        return own_reason(&suspect.clues, constructs[suspect.construct].kind);
    };
    let other = &constructs[at];
    let line = origin.sources.position(other.span).line;
    let what = text(other, origin);
    match through {
        Through::Value => {
            format!("line {line} (`{what}`) depends on its value, and shows in what goes wrong")
        }
        Through::Neighbour => format!("it stands next to line {line} (`{what}`), where it shows"),
    }
}

fn own_reason(clues: &Clues, kind: ConstructKind) -> String {
    let outcome = match clues.outcome {
        Some(true) => "it is true",
        Some(false) => "it is false",
        None if kind == ConstructKind::Action => "it happens",
        None => "it is executed",
    };
    if clues.never > 0.0 {
        return "control comes here, but it never happens in any run".into();
    }
    if clues.one_sided > 0.0 {
        return format!(
            "{outcome} whenever it is evaluated, although something depends on the other outcome"
        );
    }
    if clues.waits > 0.0 {
        return "a process waits here for ever where the counterexample ends".into();
    }
    let share = |part: f64| match part {
        all if all > 0.999 => "all".to_owned(),
        none if none < 0.001 => "none".to_owned(),
        part => format!("{:.0} %", 100.0 * part),
    };
    let runs = format!(
        "in {} of the violating runs that were compared and {} of the others",
        share(clues.failing),
        share(clues.passing)
    );
    if clues.turning > 0.0 {
        return format!("{outcome} in the step that loses for good, and {runs}");
    }
    format!("{outcome} {runs}")
}
