//! The coverage view: what each example exercises of the source, so that a page can switch examples on and off.

use std::path::Path;

use cover::{Coverage, Example, Settings, Subject};
use explore::Limits;
use lts::Progress;
use serde::{Deserialize, Serialize};
use source::{Diagnostic, Sources, Span};

use crate::opening::{Place, Request};

/// The most states of an example.
const MOST_STATES: usize = 1_000_000;

/// An example with the suite it belongs to.
#[derive(Clone, Debug)]
pub struct Member {
    /// The suite.
    pub suite: String,
    /// The example.
    pub example: Example,
}

/// Which examples a page asks for, besides those of the suites that the model was opened with.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// Processes to start, such as `MAIN (2, true)`. Only these: text from the page must not name files.
    #[serde(default)]
    pub roots: Vec<String>,
}

/// What the examples exercise.
#[derive(Debug, Serialize)]
pub struct View {
    examples: Vec<ExampleView>,
    items: Vec<ItemView>,
    findings: Vec<FindingView>,
}

#[derive(Debug, Serialize)]
struct ExampleView {
    suite: String,
    name: String,
    states: u64,
    transitions: u64,
    /// Why its coverage is partial.
    stopped: Option<String>,
    seconds: f64,
}

/// A block, an outcome of a decision or an action, with who exercises it.
#[derive(Debug, Serialize)]
struct ItemView {
    /// `block`, `true`, `false` or `action`.
    kind: &'static str,
    #[serde(flatten)]
    place: Place,
    /// Examples by position.
    covered_by: Vec<usize>,
}

#[derive(Debug, Serialize)]
struct FindingView {
    kind: &'static str,
    #[serde(flatten)]
    place: Place,
    message: String,
    why: Vec<String>,
    advice: Option<String>,
}

/// Why there is no coverage.
#[derive(Debug, thiserror::Error)]
pub enum CantCover {
    /// There is no source.
    #[error("coverage needs a model: this is a transition system")]
    NoModel,
    /// There is nothing to run.
    #[error("there are no examples: enter processes to start, such as MAIN, one per line")]
    NoExamples,
    /// An example is wrong.
    #[error("{0}")]
    Wrong(String),
    /// The user had enough.
    #[error("cancelled")]
    Cancelled,
}

/// Reads a suite from disk.
pub fn read_suite(path: &Path, sources: &mut Sources) -> Result<Vec<Member>, Vec<Diagnostic>> {
    let examples = cover::load_suite(path, sources)?;
    let suite = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(examples.into_iter().map(|example| Member { suite: suite.clone(), example }).collect())
}

/// Runs the examples of a project's suites and those that the page adds, on the texts as they are now.
pub fn view(request: &Request, wanted: &Wanted, progress: &Progress) -> Result<View, CantCover> {
    let main = request.files.first().filter(|file| file.is_model()).ok_or(CantCover::NoModel)?;
    let mut members = request.examples.clone();
    for root in wanted.roots.iter().map(|root| root.trim()).filter(|root| !root.is_empty()) {
        members.push(Member { suite: "this page".into(), example: Example::of_root(root) });
    }
    if members.is_empty() {
        return Err(CantCover::NoExamples);
    }
    let given = request.files[1..].iter().map(model::Text::from).collect();
    let said = |diagnostics: &[Diagnostic]| {
        diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect::<Vec<_>>().join("; ")
    };
    let subject = Subject::of_texts(main.into(), given, &request.include)
        .map_err(|error| CantCover::Wrong(said(&error.diagnostics)))?;
    let examples: Vec<Example> = members.iter().map(|member| member.example.clone()).collect();
    let states = request.most_states.min(MOST_STATES);
    let settings = Settings { limits: Limits { states, ..Limits::default() }, ..Settings::default() };
    let outcome = cover::run(&subject, &examples, &settings, progress).map_err(|wrong| {
        let told = wrong.iter().map(|one| format!("{}: {}", one.example.name, said(&one.error.diagnostics)));
        CantCover::Wrong(told.collect::<Vec<_>>().join("\n"))
    })?;
    if progress.is_cancelled() {
        return Err(CantCover::Cancelled);
    }
    let place = |span: Span| Place::of(span, &outcome.specification.sources);
    let coverages: Vec<&Coverage> = outcome.examples.iter().map(|example| &example.coverage).collect();
    let by = |covers: &dyn Fn(&Coverage) -> bool| -> Vec<usize> {
        (0..coverages.len()).filter(|&example| covers(coverages[example])).collect()
    };
    let map = &outcome.specification.map;
    let mut items = Vec::new();
    let mut add = |kind, span: Span, covers: &dyn Fn(&Coverage) -> bool| {
        items.push(ItemView { kind, place: place(span), covered_by: by(covers) });
    };
    for (at, block) in map.blocks.iter().enumerate() {
        add("block", block.span, &|coverage| coverage.blocks[at]);
    }
    for (at, decision) in map.decisions.iter().enumerate() {
        add("true", decision.span, &|coverage| coverage.decisions[at].yes);
        if !decision.always_true {
            add("false", decision.span, &|coverage| coverage.decisions[at].no);
        }
    }
    for (at, action) in map.actions.iter().enumerate() {
        add("action", action.span, &|coverage| coverage.actions[at]);
    }
    let finding = |finding: &cover::Finding| FindingView {
        kind: finding.kind.name(),
        place: place(finding.span),
        message: finding.message.clone(),
        why: finding.why.clone(),
        advice: finding.advice.clone(),
    };
    let findings = outcome.findings.iter().map(finding).collect();
    let example = |(member, outcome): (&Member, &cover::ExampleOutcome)| ExampleView {
        suite: member.suite.clone(),
        name: outcome.example.name.clone(),
        states: outcome.states,
        transitions: outcome.transitions,
        stopped: outcome.stopped.as_ref().map(ToString::to_string),
        seconds: outcome.seconds,
    };
    let examples = members.iter().zip(&outcome.examples).map(example).collect();
    Ok(View { examples, items, findings })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opening::Text;

    const DOOR: &str = "module door is process MAIN [OPEN, RING : none] (locked : bool) is
   if locked then RING else OPEN end if
end process end module";

    fn request() -> Request {
        let files = vec![Text { name: "../door.lnt".into(), text: DOOR.into() }];
        Request { files, most_states: 100, ..Request::default() }
    }

    #[test]
    fn each_item_tells_which_examples_exercise_it() {
        let wanted = Wanted { roots: vec!["MAIN (true)".into(), " ".into(), "MAIN (false)".into()] };
        let view = view(&request(), &wanted, &Progress::new()).unwrap();
        assert_eq!(view.examples.len(), 2);
        let of = |kind: &str| -> Vec<Vec<usize>> {
            view.items.iter().filter(|item| item.kind == kind).map(|item| item.covered_by.clone()).collect()
        };
        assert_eq!(of("action"), [vec![0], vec![1]]);
        assert_eq!((of("true"), of("false")), (vec![vec![0]], vec![vec![1]]));
        assert!(view.items.iter().all(|item| item.place.file == "../door.lnt" && item.place.line <= 3));
        assert!(view.findings.is_empty());
    }

    #[test]
    fn a_packed_model_is_covered_under_its_name() {
        let files = vec![Text { name: "door.lnt.gz".into(), text: DOOR.into() }];
        let wanted = Wanted { roots: vec!["MAIN (true)".into()] };
        let view = view(&Request { files, ..request() }, &wanted, &Progress::new()).unwrap();
        assert!(!view.items.is_empty());
        assert!(view.items.iter().all(|item| item.place.file == "door.lnt.gz"));
    }

    #[test]
    fn a_hole_is_explained_and_a_wrong_example_is_told() {
        let view = |request: &Request, wanted: &Wanted| super::view(request, wanted, &Progress::new());
        let one = view(&request(), &Wanted { roots: vec!["MAIN (true)".into()] }).unwrap();
        assert_eq!(one.findings[0].kind, "ill-formed-decision");
        let wrong = view(&request(), &Wanted { roots: vec!["NOBODY".into()] }).unwrap_err();
        assert!(wrong.to_string().contains("NOBODY"), "{wrong}");
        assert!(matches!(view(&request(), &Wanted::default()), Err(CantCover::NoExamples)));
        assert!(matches!(view(&Request::default(), &Wanted::default()), Err(CantCover::NoModel)));
        let enough = Progress::new();
        enough.cancel();
        let wanted = Wanted { roots: vec!["MAIN (true)".into()] };
        assert!(matches!(super::view(&request(), &wanted, &enough), Err(CantCover::Cancelled)));
    }
}
