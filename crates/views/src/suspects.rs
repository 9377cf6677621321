//! Suspects in the words of the model: where they are written, and one sentence why each is there.

use cover::{Example, Subject};
use explain::{Clues, Run, Scene, Suspect, Tagged, Through};
use logic::Property;
use lts::Progress;
use model::{Construct, ConstructKind};
use report::SuspectPlace;

use crate::explanation::Origin;
use crate::run::Inside;
use crate::what_if;

/// The most suspects that are listed.
const MOST_SUSPECTS: usize = 30;
/// The most characters of a construct's text.
const MOST_CHARACTERS: usize = 60;

/// What is needed to ask what would be if something else stood there.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// The model.
    pub subject: &'a Subject,
    /// What it starts with.
    pub start: &'a Example,
    /// Everything that should be as expected.
    pub properties: &'a [Property],
    /// Where it can be stopped.
    pub progress: &'a Progress,
}

/// The suspects behind a violation, best first.
pub(crate) fn suspects(
    tagged: &Tagged<'_>,
    run: Option<&Run>,
    inside: Option<&Inside>,
    origin: Origin<'_>,
    asking: Option<Asking<'_>>,
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
    let mut found = explain::suspects(&scene);
    if asking.is_some() {
        let known: Vec<usize> = found.iter().map(|one| one.construct).collect();
        let others = (0..constructs.len()).filter(|at| !known.contains(at));
        found.extend(others.map(Suspect::unknown));
    }
    let mut places: Vec<SuspectPlace> = found.iter().map(|one| place(one, &constructs, origin)).collect();
    if let Some(asking) = asking
        && origin.exploration.outcome.is_complete()
    {
        what_if::ask(&mut places, &found, &constructs, tagged, origin, asking);
    }
    // Of a construct that nothing tells against there is nothing to say.
    places.retain(|place| place.score > 0.0);
    places.truncate(MOST_SUSPECTS);
    places
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
