//! The checker against its naive twin: every run of small random systems is tried, one after the other.

use conform::{Bound, Checker, Moment, Observed, Position, Relation, Settings, Step};
use lts::LabelId;
use model::{Layout, Model, ModelError, Provenance, Slot, StateView, Worker};

const STATES: u64 = 7;
const LABELS: [&str; 4] = ["i", "A", "B !1", "B !2"];

/// Steps between a few states, each of which shows a colour and hides the rest.
struct Random {
    layout: Layout,
    provenance: Provenance,
    steps: Vec<Vec<(u32, u32)>>,
    colours: Vec<u32>,
}

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

impl Random {
    fn new(numbers: &mut Numbers) -> Self {
        let mut row = || {
            let count = numbers.below(4);
            (0..count).map(|_| (numbers.below(4) as u32, numbers.below(STATES) as u32)).collect()
        };
        let steps = (0..STATES).map(|_| row()).collect();
        let colours = (0..STATES).map(|_| numbers.below(3) as u32).collect();
        Self { layout: Layout::new(&[3]), provenance: Provenance::default(), steps, colours }
    }

    /// Whether a run of visible steps, with silent ones in between, has these labels.
    fn has_events(&self, state: u32, events: &[String], silent: usize) -> bool {
        let Some((first, rest)) = events.split_first() else { return true };
        self.steps[state as usize].iter().any(|&(label, target)| match label {
            0 => silent < STATES as usize && self.has_events(target, events, silent + 1),
            label => {
                let text = LABELS[label as usize];
                let same = text == first || (first == "B !_" && text.starts_with("B !"));
                same && self.has_events(target, rest, 0)
            }
        })
    }

    /// Whether a run shows these colours, with at most so many steps between two of them.
    fn has_colours(&self, state: u32, colours: &[u32], bound: u32, count_silent: bool) -> bool {
        let Some((first, rest)) = colours.split_first() else { return true };
        self.near(state, bound, count_silent).into_iter().any(|next| {
            self.colours[next as usize] == *first && self.has_colours(next, rest, bound, count_silent)
        })
    }

    /// The states that are at most so many steps away.
    fn near(&self, state: u32, bound: u32, count_silent: bool) -> Vec<u32> {
        // The fewest steps to every state, by relaxing until nothing changes.
        let mut fewest = vec![u32::MAX; STATES as usize];
        fewest[state as usize] = 0;
        loop {
            let before = fewest.clone();
            for (from, steps) in self.steps.iter().enumerate() {
                for &(label, target) in steps.iter().filter(|_| before[from] != u32::MAX) {
                    let cost = before[from] + u32::from(count_silent || label != 0);
                    fewest[target as usize] = fewest[target as usize].min(cost);
                }
            }
            if before == fewest {
                break;
            }
        }
        (0..STATES as u32).filter(|&other| fewest[other as usize] <= bound).collect()
    }

    fn reachable(&self) -> Vec<u32> {
        self.near(0, u32::MAX - 1, false)
    }
}

impl Model for Random {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initial(&self) -> Result<Vec<Slot>, ModelError> {
        Ok(vec![0])
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(Steps(self))
    }

    fn label(&self, label: LabelId) -> String {
        LABELS[label.raw() as usize].to_owned()
    }

    fn describe(&self, state: &[Slot]) -> StateView {
        let values = vec![
            ("colour".to_owned(), self.colours[state[0] as usize].to_string()),
            ("number".to_owned(), state[0].to_string()),
        ];
        StateView { values }
    }

    fn provenance(&self) -> &Provenance {
        &self.provenance
    }
}

struct Steps<'m>(&'m Random);

impl Worker for Steps<'_> {
    fn successors(
        &mut self,
        state: &[Slot],
        emit: &mut dyn FnMut(model::Step<'_>),
    ) -> Result<(), ModelError> {
        for &(label, target) in &self.0.steps[state[0] as usize] {
            emit(model::Step {
                label: LabelId::from_raw(label),
                target: &[target],
                origin: Provenance::NONE,
            });
        }
        Ok(())
    }
}

fn accepts(checker: &mut Checker<'_>, moments: &[Moment], renewing: bool) -> bool {
    let mut position = Position::default();
    moments.iter().all(|moment| {
        if renewing {
            checker.renew(std::iter::once(&mut position));
        }
        match checker.follow(&mut position, moment).expect("no error") {
            Step::Accepted(_) => true,
            Step::Rejected => {
                // Whatever is rejected can be explained.
                checker.diagnose(&position, moment).expect("no error");
                false
            }
            other => panic!("{other:?}"),
        }
    })
}

#[test]
fn acceptance_is_that_of_some_run() {
    let relation = Relation::default();
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let (mut yes, mut no) = (0, 0);
    for case in 0..150 {
        let system = Random::new(&mut numbers);
        let settings = Settings {
            bound: Bound::Steps(numbers.below(3) as u32 + 1),
            from_initial: numbers.below(2) == 0,
            count_silent: numbers.below(2) == 0,
            ..Settings::default()
        };
        let renewing = numbers.below(4) == 0;
        let mut checker = Checker::new(&system, &relation, settings);
        for _ in 0..6 {
            let length = numbers.below(6) as usize + 1;
            let events: Vec<String> = (0..length)
                .map(|_| ["A", "B !1", "B !2", "B !_"][numbers.below(4) as usize].to_owned())
                .collect();
            let moments: Vec<Moment> = events
                .iter()
                .map(|event| Moment { event: Some(event.clone()), state: None, line: 1 })
                .collect();
            let expected = system.has_events(0, &events, 0);
            assert_eq!(accepts(&mut checker, &moments, renewing), expected, "case {case}: {events:?}");
            // Equal neighbours are one for the checker; for the twin they are left out.
            let mut colours: Vec<u32> = (0..length).map(|_| numbers.below(3) as u32).collect();
            colours.dedup();
            let moment = |colour: &u32| Moment {
                event: None,
                state: Some(Observed::Values(vec![("colour".to_owned(), colour.to_string())])),
                line: 1,
            };
            let moments: Vec<Moment> = colours.iter().map(moment).collect();
            let Bound::Steps(bound) = settings.bound else { unreachable!() };
            let starts = match settings.from_initial {
                // Silent steps may come first.
                true => system.near(0, 0, false),
                false => system.reachable(),
            };
            let shown = |&start: &u32| {
                system.colours[start as usize] == colours[0]
                    && system.has_colours(start, &colours[1..], bound, settings.count_silent)
            };
            let expected = starts.iter().any(shown);
            assert_eq!(
                accepts(&mut checker, &moments, renewing),
                expected,
                "case {case}: {colours:?} {settings:?}"
            );
            yes += usize::from(expected);
            no += usize::from(!expected);
        }
    }
    assert!(yes > 100 && no > 100, "{yes} accepted, {no} rejected");
}
