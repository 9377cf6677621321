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
    let repeated = repeated(&constructs, origin);
    let actors = inside.map(Inside::actors).unwrap_or_default();
    let scene = Scene {
        tagged,
        run,
        provenance: origin.provenance(),
        constructs: &constructs,
        repeated: &repeated,
        initially: origin.program.model().initial_origin(),
        actors: &actors,
        waiting: inside.map_or(&[], |inside| &inside.waiting),
    };
    let found = explain::suspects(&scene);
    found.iter().take(MOST_SUSPECTS).map(|one| place(one, &constructs, origin)).collect()
}

/// Which actions and calls are written like the one just before them, and which calls with arguments like one beside them.
pub fn repeated(constructs: &[Construct], origin: Origin<'_>) -> Vec<bool> {
    let texts: Vec<String> = constructs.iter().map(|one| text(one, origin)).collect();
    let is_like = |at: usize, other: usize| {
        at != other && constructs[at].kind == constructs[other].kind && texts[at] == texts[other]
    };
    let repeats = |at: usize| {
        let one = &constructs[at];
        let follows = |other: usize| constructs[other].before.contains(&(at, None));
        let beside = |other: usize| constructs[other].before == one.before;
        match one.kind {
            ConstructKind::Action | ConstructKind::Assignment => {
                one.before.iter().any(|&(before, _)| is_like(at, before))
                    || (at + 1 < constructs.len() && is_like(at, at + 1) && follows(at + 1))
            }
            ConstructKind::Call => {
                let near = at.saturating_sub(32)..(at + 32).min(constructs.len());
                texts[at].contains('(') && near.into_iter().any(|other| is_like(at, other) && beside(other))
            }
            _ => false,
        }
    };
    (0..constructs.len()).map(repeats).collect()
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
    let line = origin.sources.position(constructs[at].span).line;
    match through {
        Through::Value => format!("line {line} depends on its value, and is suspicious"),
        Through::Neighbour => format!("it stands next to line {line}, which is suspicious"),
    }
}

fn own_reason(clues: &Clues, kind: ConstructKind) -> String {
    let fires = match clues.outcome {
        Some(true) => "it is true",
        Some(false) => "it is false",
        None if kind == ConstructKind::Action => "it happens",
        None => "what it belongs to happens",
    };
    if kind == ConstructKind::Synchronisation {
        return "what it puts together takes part in what goes wrong".into();
    }
    if clues.repeated > 0.0 {
        return "the same is written twice, side by side".into();
    }
    if clues.never > 0.0 {
        return "control comes here, but it never happens in any run".into();
    }
    if kind == ConstructKind::Ending && clues.stands > 0.0 {
        return "a process has ended here when the counterexample ends".into();
    }
    if clues.differs > 0.0 {
        return "it offers other values than those that it needs to meet".into();
    }
    if clues.one_sided > 0.0 {
        return format!("{fires} whenever it is evaluated, and something needs the opposite");
    }
    if clues.waits > 0.0 {
        return "a process waits here for ever when the counterexample ends".into();
    }
    if kind == ConstructKind::Call {
        return "the instance that it starts takes part in what goes wrong".into();
    }
    if clues.failing == 0.0 && clues.passing == 0.0 {
        return "it is next where the property is lost".into();
    }
    let share = |part: f64, of: &str| match part {
        all if all > 0.999 => format!("all {of}"),
        none if none < 0.001 => format!("no {of}"),
        part => format!("{:.0} % of {of}", 100.0 * part),
    };
    let (violating, correct) = (share(clues.failing, "violating"), share(clues.passing, "correct"));
    let turning = if clues.turning > 0.0 { " where it is lost," } else { "" };
    format!("{fires}{turning} in {violating} and {correct} runs")
}
