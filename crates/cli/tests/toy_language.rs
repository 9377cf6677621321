//! A language is one file and one line of the registry: this is the file, and `Registry::with` the line. Everything
//! downstream then works: exploration, properties, explanations, coverage.

use cover::{Behaviour, Example, Settings, Subject};
use explain::{Options, Prospect, Selection};
use languages::{Registry, registry};
use lts::{LabelId, OriginId, Progress};
use model::{
    ActionInstance, CoverageMap, Input, Language, Layout, Mark, MarkKind, Model, ModelError, ProcessEntry,
    Program, Provenance, Slot, StateView, Step, Text, Worker,
};
use source::{Diagnostic, Sources, Span};

/// Machines that count: a line `NAME FROM TO` is a step from one number to another; it starts with 0.
struct Toy;

impl Language for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["toy"]
    }

    fn load(&self, input: &Input<'_>, sources: &mut Sources) -> Result<Box<dyn Program>, Vec<Diagnostic>> {
        let text = &input.main.text;
        let file = sources.add(input.main.name.clone(), text.clone());
        let (mut steps, mut marks, mut map) = (Vec::new(), Vec::new(), CoverageMap::default());
        let whole = sources.span(file);
        map.processes.push(ProcessEntry { name: "TOY".into(), module: "TOY".into(), span: whole });
        let mut start = 0;
        for line in text.lines() {
            let span = Span { file, start, end: start + line.len() as u32 };
            start = span.end + 1;
            let wrong =
                || vec![Diagnostic::error("expected a name and two numbers").label(span, "not a step")];
            let words: Vec<&str> = line.split_whitespace().collect();
            let [name, from, to] = words[..] else { return Err(wrong()) };
            let numbers = from.parse::<u32>().ok().zip(to.parse::<u32>().ok());
            let (from, to) = numbers.filter(|&(from, to)| from < 16 && to < 16).ok_or_else(wrong)?;
            map.actions.push(ActionInstance { span, process: 0, gate: name.to_owned(), block: None });
            marks.push(Mark { kind: MarkKind::Action, span, process: "TOY".to_owned() });
            steps.push((name.to_owned(), from, to));
        }
        let provenance = Provenance::new(marks);
        let origins =
            (0..steps.len() as u32).map(|mark| OriginId::from_raw(provenance.origins().intern(&[mark])));
        let model = Machine { origins: origins.collect(), steps, layout: Layout::new(&[4]), provenance };
        Ok(Box::new(ToyProgram { model, map, functions: CoverageMap::default() }))
    }
}

struct ToyProgram {
    model: Machine,
    map: CoverageMap,
    functions: CoverageMap,
}

impl Program for ToyProgram {
    fn model(&self) -> &dyn Model {
        &self.model
    }

    fn warnings(&self) -> &[Diagnostic] {
        &[]
    }

    fn map(&self) -> &CoverageMap {
        &self.map
    }

    fn functions(&self) -> &CoverageMap {
        &self.functions
    }

    fn started(&self) -> Vec<usize> {
        vec![0]
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

struct Machine {
    steps: Vec<(String, u32, u32)>,
    origins: Vec<OriginId>,
    layout: Layout,
    provenance: Provenance,
}

impl Model for Machine {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initial(&self) -> Result<Vec<Slot>, ModelError> {
        Ok(vec![0])
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(Stepping(self))
    }

    fn label(&self, label: LabelId) -> String {
        self.steps[label.index() - 1].0.clone()
    }

    fn describe(&self, state: &[Slot]) -> StateView {
        StateView { values: vec![("number".to_owned(), state[0].to_string())] }
    }

    fn provenance(&self) -> &Provenance {
        &self.provenance
    }
}

struct Stepping<'m>(&'m Machine);

impl Worker for Stepping<'_> {
    fn successors(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        for (number, (_, from, to)) in self.0.steps.iter().enumerate().filter(|(_, step)| step.1 == state[0])
        {
            debug_assert_eq!(*from, state[0]);
            emit(Step { label: LabelId::new(number + 1), target: &[*to], origin: self.0.origins[number] });
        }
        Ok(())
    }
}

/// The line of the registry.
fn with_toy() -> Registry {
    registry().clone().with(&Toy)
}

const DOOR: &str = "KNOCK 0 1\nOPEN 1 2\nFALL 1 3\nCLOSE 2 0\nWAKE 9 0";

#[test]
fn a_language_is_a_file_and_a_line() {
    let text = Text::new("door.toy", DOOR);
    let opened = with_toy().load(&Input::new(&text)).unwrap();
    let model = opened.program.model();
    let limits = explore::Limits { origins: true, ..Default::default() };
    let exploration = explore::explore(model, &limits, &Progress::new());
    let lts = &exploration.lts;
    assert_eq!((lts.state_count(), lts.transition_count()), (4, 4));

    let mut sources = Sources::new();
    let text = "property SAFE is [ true* . \"FALL\" ] false end property";
    let properties = logic::load_text("safe.mcl", text, &mut sources).unwrap().properties;
    let wanted: Vec<&logic::Property> = properties.iter().collect();
    let selection = Selection::new(lts, wanted, 1000, &Progress::new()).ok().unwrap();
    let (_, Prospect::Violated(violated)) = &selection.prospects[0] else { panic!("it falls") };
    let tagged = violated.tag(lts, &Options::default(), &Progress::new()).ok().flatten().unwrap();
    let run = tagged.shortest_run();
    let origin =
        views::Origin { sources: &opened.sources, program: &*opened.program, exploration: &exploration };
    let findings = views::Findings {
        tagged: &tagged,
        run: run.as_ref(),
        kind: None,
        nearest: None,
        origin: Some(origin),
        values: false,
        asking: None,
    };
    let explanation = findings.explanation();
    assert_eq!(explanation.counterexample.unwrap(), ["KNOCK", "FALL"]);
    // The choice stands in the source of the toy.
    assert_eq!((explanation.choices.len(), explanation.choices[0].incorrect[0].actions[0].line), (1, 3));
}

#[test]
fn its_coverage_counts_what_fired() {
    let subject = Subject::in_language(&Toy, Text::new("door.toy", DOOR));
    let (settings, progress) = (Settings::default(), Progress::new());
    let outcome = cover::run(&subject, &[Example::default()], &settings, &progress).ok().unwrap();
    // All origins exist from the start, but nothing ever leads to 9.
    assert_eq!(outcome.coverage.actions, [true, true, true, true, false]);
    assert_eq!(outcome.findings[0].message, "WAKE never happens");
    let criteria = [Behaviour::Transitions, Behaviour::Sequences { length: 2 }];
    let measured = cover::behaviours(&subject, &outcome, &criteria, &settings, &progress);
    let counts: Vec<usize> = measured.iter().map(|one| one.as_ref().unwrap().items.len()).collect();
    // KNOCK OPEN, KNOCK FALL, OPEN CLOSE, CLOSE KNOCK.
    assert_eq!(counts, [4, 8]);
}

#[test]
fn its_errors_have_a_place_and_its_files_a_kind() {
    let text = Text::new("door.toy", "KNOCK 0 1\nOPEN 1 two");
    let error = with_toy().load(&Input::new(&text)).err().unwrap();
    assert!(error.sources.render_all(&error.diagnostics, false).contains("door.toy:2:1"));
    let unknown = registry().load(&Input::new(&text)).err().unwrap();
    let told = unknown.sources.render_all(&unknown.diagnostics, false);
    assert!(told.contains("a file with the extension .toy") && told.contains(".lnt, .net"), "{told}");
    assert!(with_toy().extensions().contains(&"toy"));
}
