//! Models far too large to explore: a verdict needs what its explanation needs.

use logic::{CheckError, Explanation, Formula, Options, Stop};
use lts::{LabelId, Progress};
use model::{Layout, Model, ModelError, Provenance, Slot, StateView, Step, Worker};
use source::Sources;

/// Eight wheels of ten digits that turn on their own: a hundred million states. Where all digits are at
/// most 2 and their sum is 6, `ALARM` can happen. In the broken one, a 3 on the third wheel is a run-time error.
struct Wheels {
    layout: Layout,
    provenance: Provenance,
    broken: bool,
}

fn wheels(broken: bool) -> Wheels {
    Wheels { layout: Layout::new(&[4; 8]), provenance: Provenance::default(), broken }
}

impl Model for Wheels {
    fn layout(&self) -> &Layout {
        &self.layout
    }
    fn initial(&self) -> Result<Vec<Slot>, ModelError> {
        Ok(vec![0; 8])
    }
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(Turn(self.broken))
    }
    fn label(&self, label: LabelId) -> String {
        match label.index() {
            9 => "ALARM".into(),
            wheel => format!("TURN !{wheel}"),
        }
    }
    fn describe(&self, _: &[Slot]) -> StateView {
        StateView::default()
    }
    fn provenance(&self) -> &Provenance {
        &self.provenance
    }
}

struct Turn(bool);

impl Worker for Turn {
    fn successors(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        if self.0 && state[2] == 3 {
            return Err(ModelError {
                message: "wheel 3 is stuck".into(),
                span: None,
                help: None,
                during: None,
            });
        }
        for wheel in 0..8 {
            let mut target = state.to_vec();
            target[wheel] = (target[wheel] + 1) % 10;
            emit(Step { label: LabelId::new(wheel + 1), target: &target, origin: Provenance::NONE });
        }
        if state.iter().sum::<u32>() == 6 && state.iter().all(|&digit| digit <= 2) {
            emit(Step { label: LabelId::new(9), target: state, origin: Provenance::NONE });
        }
        Ok(())
    }
}

fn formula(text: &str) -> Formula {
    let mut sources = Sources::new();
    logic::load_text("p.mcl", text, &mut sources).unwrap().properties.remove(0).formula
}

#[test]
fn a_violation_costs_what_its_trace_needs() {
    let verdict = logic::check_model(
        &wheels(false),
        &formula(r#"NEVER ("ALARM")"#),
        &Options::default(),
        &Progress::new(),
    )
    .unwrap();
    assert!(!verdict.holds);
    assert_eq!(verdict.explanation.unwrap().labels().unwrap().len(), 7);
    assert!(verdict.states_visited < 20_000, "{}", verdict.states_visited);
}

#[test]
fn a_lasso_and_a_game_end_early_too() {
    let inevitable = formula(r#"INEVITABLE ("ALARM")"#);
    let options = Options { max_states: 1_000_000, ..Options::default() };
    let verdict = logic::check_model(&wheels(false), &inevitable, &options, &Progress::new()).unwrap();
    assert!(matches!(verdict.explanation, Some(Explanation::Lasso { .. })));
    let text =
        r#"(mu Y . (< "ALARM" > true or < true > Y)) and (nu Z . (< "TURN !1" > Z and [ "TURN !9" ] false))"#;
    let verdict = logic::check_model(&wheels(false), &formula(text), &options, &Progress::new()).unwrap();
    assert!(verdict.holds);
    assert_eq!(verdict.method, logic::Method::Game);
    assert!(verdict.states_visited < 1_000_000, "{}", verdict.states_visited);
}

#[test]
fn limits_and_errors_say_where() {
    let options = Options { max_states: 5000, ..Options::default() };
    let never = formula(r#"NEVER ("NOTHING")"#);
    let error = logic::check_model(&wheels(false), &never, &options, &Progress::new()).unwrap_err();
    assert!(matches!(error, CheckError::Stopped { stop: Stop::States(5000), .. }), "{error}");
    let error = logic::check_model(&wheels(true), &never, &Options::default(), &Progress::new()).unwrap_err();
    assert_eq!(error.to_string(), "wheel 3 is stuck");
    let CheckError::Stopped { trace, .. } = error else { panic!() };
    let labels: Vec<&str> = trace.iter().map(|step| step.label.as_str()).collect();
    assert_eq!(labels, ["TURN !3"; 3]);
    assert_eq!(trace[2].slots.as_deref().unwrap()[2], 3);
}

#[test]
fn a_cancelled_check_stops() {
    let progress = Progress::new();
    progress.cancel();
    let error = logic::check_model(&wheels(false), &formula("DEADLOCK_FREE"), &Options::default(), &progress);
    assert!(matches!(error, Err(CheckError::Stopped { stop: Stop::Cancelled, .. })));
}
