use std::collections::HashMap;

use lts::OriginId;
use model::{Layout, Provenance, StateView, Step, Worker};
use proptest::prelude::*;

use super::*;

/// A model given by arithmetic: from `s`, step `k` leads to `(s * multiplier + k * k + 1) mod size`.
struct Arithmetic {
    size: u32,
    multiplier: u32,
    fan: u32,
    /// How many steps more every hundredth state has.
    burst: u32,
    /// The state that makes an error.
    broken: Option<u32>,
    layout: Layout,
    provenance: Provenance,
}

impl Arithmetic {
    fn new(size: u32, multiplier: u32, fan: u32) -> Self {
        Self {
            size,
            multiplier,
            fan,
            burst: 0,
            broken: None,
            layout: Layout::new(&[20, 20]),
            provenance: Provenance::default(),
        }
    }

    fn steps(&self, state: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let more = if state.is_multiple_of(100) { self.burst } else { 0 };
        (0..self.fan + more).map(move |k| {
            let target =
                (u64::from(state) * u64::from(self.multiplier) + u64::from(k * k) + 1) % u64::from(self.size);
            (k % 3 + 1, target as u32)
        })
    }
}

impl Model for Arithmetic {
    fn layout(&self) -> &Layout {
        &self.layout
    }
    fn initial(&self) -> Result<Vec<Slot>, ModelError> {
        Ok(vec![0, 0])
    }
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(ArithmeticWorker(self))
    }
    fn label(&self, label: LabelId) -> String {
        format!("L{}", label.index())
    }
    fn describe(&self, state: &[Slot]) -> StateView {
        StateView { values: vec![("s".into(), state[0].to_string())] }
    }
    fn provenance(&self) -> &Provenance {
        &self.provenance
    }
}

struct ArithmeticWorker<'a>(&'a Arithmetic);

impl Worker for ArithmeticWorker<'_> {
    fn successors(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        if self.0.broken == Some(state[0]) {
            return Err(ModelError { message: "broken".into(), span: None, help: None, during: None });
        }
        for (label, target) in self.0.steps(state[0]) {
            emit(Step {
                label: LabelId::new(label as usize),
                target: &[target, target / 2],
                origin: OriginId::ZERO,
            });
        }
        Ok(())
    }
}

/// Breadth first, one state after the other, with a map.
fn naive(model: &Arithmetic) -> (usize, Vec<(usize, String, usize)>) {
    let mut numbers = HashMap::from([(0, 0)]);
    let mut order = vec![0];
    let mut transitions = Vec::new();
    let mut next = 0;
    while next < order.len() {
        for (label, target) in model.steps(order[next]) {
            let fresh = numbers.len();
            let number = *numbers.entry(target).or_insert_with(|| {
                order.push(target);
                fresh
            });
            transitions.push((next, format!("L{label}"), number));
        }
        next += 1;
    }
    transitions.sort();
    transitions.dedup();
    (order.len(), transitions)
}

/// The transitions as the naive twin gives them.
fn transitions_of(found: &Exploration) -> Vec<(usize, String, usize)> {
    let Exploration { lts, .. } = found;
    let named = |t: lts::Transition| (t.source.index(), lts.label(t.label).to_owned(), t.target.index());
    let mut transitions: Vec<_> = lts.transitions().map(named).collect();
    transitions.sort();
    transitions
}

fn with_threads(threads: usize) -> Limits {
    Limits { threads, ..Limits::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_number_of_threads_gives_the_naive_result(
        size in 1u32..3000, multiplier in 0u32..50, fan in 0u32..5,
    ) {
        let model = Arithmetic::new(size, multiplier, fan);
        let (states, expected) = naive(&model);
        let mut texts = Vec::new();
        for threads in [1, 2, 3] {
            let found = explore(&model, &with_threads(threads), &Progress::new());
            prop_assert!(found.outcome.is_complete());
            prop_assert_eq!(found.states(), states);
            prop_assert_eq!(&transitions_of(&found), &expected);
            prop_assert_eq!(found.statistics.transitions, expected.len() as u64);
            let distances = found.lts.distances();
            let depth = distances.iter().flatten().max().copied().unwrap_or(0);
            prop_assert_eq!(found.statistics.depth, depth as usize);
            let widest = (0..=depth).map(|d| distances.iter().filter(|&&x| x == Some(d)).count()).max();
            prop_assert_eq!(Some(found.statistics.widest_level), widest);
            texts.push(format!("{:?}", found.lts));
        }
        prop_assert!(texts.windows(2).all(|pair| pair[0] == pair[1]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn limits_and_errors_cut_at_the_same_place_on_all_threads(
        size in 100u32..3000, multiplier in 0u32..50, fan in 1u32..5,
        states in 1usize..400, broken in prop::option::of(1u32..100),
    ) {
        let mut model = Arithmetic::new(size, multiplier, fan);
        model.broken = broken;
        let results: Vec<_> = [1, 2, 3, 4]
            .map(|threads| {
                let found = explore(&model, &Limits { states, ..with_threads(threads) }, &Progress::new());
                let values: Vec<_> =
                    (0..found.states()).map(|number| found.state(&model, StateId::new(number))).collect();
                (format!("{:?}", found.lts), found.outcome, values, found.statistics.transitions)
            })
            .into();
        prop_assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
        prop_assert!(results[0].2.len() <= states);
    }
}

#[test]
fn a_large_space_is_the_same_on_all_threads() {
    // With 1 as multiplier, steps of neighbouring states lead to the same new states: threads meet in the table.
    for (size, multiplier, fan) in [(300_000, 7, 3), (50_000, 1, 20)] {
        let model = Arithmetic::new(size, multiplier, fan);
        let texts: Vec<String> = [1, 2, 4]
            .map(|threads| format!("{:?}", explore(&model, &with_threads(threads), &Progress::new()).lts))
            .into();
        assert!(texts[0] == texts[1] && texts[1] == texts[2]);
    }
}

#[test]
fn states_with_many_steps_at_once_find_room() {
    for (size, fan, burst) in [(20_000, 1, 3000), (200_000, 2, 500)] {
        let model = Arithmetic { burst, ..Arithmetic::new(size, 7, fan) };
        let (states, expected) = naive(&model);
        for threads in [1, 2, 4] {
            let found = explore(&model, &with_threads(threads), &Progress::new());
            assert_eq!(found.states(), states);
            assert!(transitions_of(&found) == expected, "with {threads} threads");
        }
    }
}

#[test]
fn limits_leave_an_honest_part() {
    let model = Arithmetic::new(100_000, 7, 3);
    for threads in [1, 2] {
        let found = explore(&model, &Limits { states: 1000, ..with_threads(threads) }, &Progress::new());
        assert_eq!((found.outcome.clone(), found.states()), (Outcome::StateLimit, 1000));
        assert!(found.statistics.expanded < 1000);
    }
    let found = explore(&model, &Limits { bytes: 1, ..Limits::default() }, &Progress::new());
    assert_eq!(found.outcome, Outcome::MemoryLimit);
    let found =
        explore(&model, &Limits { time: Some(Duration::ZERO), ..Limits::default() }, &Progress::new());
    assert_eq!(found.outcome, Outcome::TimeLimit);
    let progress = Progress::new();
    progress.cancel();
    assert_eq!(explore(&model, &Limits::default(), &progress).outcome, Outcome::Cancelled);
}

#[test]
fn an_error_of_the_model_comes_with_the_way_to_it() {
    let mut model = Arithmetic::new(100_000, 7, 3);
    model.broken = Some(57);
    for threads in [1, 2] {
        let found = explore(&model, &with_threads(threads), &Progress::new());
        let Outcome::Error { state: Some(state), .. } = found.outcome.clone() else { panic!("no error") };
        assert_eq!(found.state(&model, state)[0], 57);
        let trace = found.trace_to(&model, state).unwrap();
        let mut at = 0;
        for step in &trace {
            let target = found.state(&model, step.target)[0];
            assert!(model.steps(at).any(|known| known == (step.label.raw(), target)));
            at = target;
        }
        assert_eq!(at, 57);
        // 0 -> 1 -> 8 -> 57
        assert_eq!(trace.len(), 3);
    }
}

#[test]
fn counting_needs_no_transitions() {
    let model = Arithmetic::new(5000, 3, 3);
    let kept = explore(&model, &Limits::default(), &Progress::new());
    let counted = explore(&model, &Limits { transitions: false, ..Limits::default() }, &Progress::new());
    assert_eq!(kept.statistics.transitions, counted.statistics.transitions);
    assert_eq!(counted.lts.transition_count(), 0);
    assert_eq!(counted.lts.state_count(), kept.lts.state_count());
}

/// Several registers of a word each; a step changes one or two of them.
struct Registers {
    count: usize,
    modulus: u32,
    seed: u64,
    /// What it claims to keep for each state that was looked at, and how many were.
    kept: usize,
    looked_at: std::sync::atomic::AtomicUsize,
    layout: Layout,
    provenance: Provenance,
}

impl Registers {
    fn new(count: usize, modulus: u32, seed: u64) -> Self {
        let layout = Layout::new(&vec![32; count]);
        Self {
            count,
            modulus,
            seed,
            kept: 0,
            looked_at: Default::default(),
            layout,
            provenance: Provenance::default(),
        }
    }
}

impl Model for Registers {
    fn layout(&self) -> &Layout {
        &self.layout
    }
    fn initial(&self) -> Result<Vec<Slot>, ModelError> {
        Ok((0..self.count as u32).map(|register| register % self.modulus).collect())
    }
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(RegistersWorker(self))
    }
    fn label(&self, label: LabelId) -> String {
        format!("L{}", label.index())
    }
    fn describe(&self, state: &[Slot]) -> StateView {
        StateView { values: vec![("registers".into(), format!("{state:?}"))] }
    }
    fn provenance(&self) -> &Provenance {
        &self.provenance
    }
    fn bytes(&self) -> usize {
        self.kept * self.looked_at.load(std::sync::atomic::Ordering::Relaxed)
    }
}

struct RegistersWorker<'a>(&'a Registers);

impl Worker for RegistersWorker<'_> {
    fn successors(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        let Registers { count, modulus, seed, looked_at, .. } = self.0;
        looked_at.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        for step in 0..3u32 {
            let mut target = state.to_vec();
            let first = (*seed >> (8 * step)) as usize % count;
            let second = (first + 1 + state[first] as usize) % count;
            // A large stride, so that values do not look like numbers of pairs.
            let turned = |value: u32| (value % modulus + 1 + step) % modulus + value / modulus * modulus;
            (target[first], target[second]) = (turned(target[first]), target[second] ^ (step << 20));
            emit(Step { label: LabelId::new(step as usize + 1), target: &target, origin: OriginId::ZERO });
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn compressed_states_are_the_same_states(count in 3usize..12, modulus in 1u32..5, seed: u64) {
        let model = Registers::new(count, modulus, seed);
        let limits = Limits { states: 4000, ..with_threads(1) };
        let plain = explore(&model, &limits, &Progress::new());
        for threads in 1..4 {
            let compressed = Compressed::new(&model).unwrap();
            let found = explore(&compressed, &Limits { threads, ..limits.clone() }, &Progress::new());
            prop_assert_eq!(&found.outcome, &plain.outcome);
            prop_assert_eq!(transitions_of(&found), transitions_of(&plain));
            let (of_plain, of_found) = (plain.statistics, found.statistics);
            prop_assert_eq!(of_found, Statistics { bytes: of_found.bytes, state_bytes: 8, ..of_plain });
            for state in (0..found.states()).step_by(97).map(StateId::new) {
                let pair = found.state(&compressed, state);
                prop_assert_eq!(compressed.expanded(&pair), plain.state(&model, state));
                let (trace, same) = (found.trace_to(&compressed, state), plain.trace_to(&model, state));
                prop_assert_eq!(trace.unwrap(), same.unwrap());
            }
        }
    }
}

#[test]
fn what_is_counted_stays_below_the_limit() {
    for threads in [1, 2] {
        let mut before = 0;
        for bytes in [100_000, 400_000, 1_600_000, 6_400_000] {
            let model = Arithmetic::new(1_000_000, 7, 3);
            let limits = Limits { bytes, transitions: false, ..with_threads(threads) };
            let found = explore(&model, &limits, &Progress::new());
            assert_eq!(found.outcome, Outcome::MemoryLimit);
            assert!(found.statistics.bytes <= bytes);
            assert!(found.states() > before, "more memory, more states");
            before = found.states();
        }
    }
}

#[test]
fn what_the_model_keeps_counts() {
    let mut model = Registers::new(9, 4, 0x0804_0200);
    let limits = Limits { bytes: 20_000_000, states: 50_000, transitions: false, ..with_threads(2) };
    let found = explore(&model, &limits, &Progress::new());
    assert!(found.outcome != Outcome::MemoryLimit && found.states() > 1000, "{}", found.states());
    model.kept = 20_000_000 / 1000;
    model.looked_at = Default::default();
    let found = explore(&model, &limits, &Progress::new());
    assert_eq!(found.outcome, Outcome::MemoryLimit);
    assert!(found.statistics.bytes <= limits.bytes);
}

/// Everything that does not depend on memory.
fn found_by(model: &dyn Model, found: &Exploration) -> impl PartialEq + use<> {
    let states: Vec<_> = (0..found.states())
        .map(|number| (found.state(model, StateId::new(number)), found.store.parent(number)))
        .collect();
    let statistics = Statistics { bytes: 0, disk_bytes: 0, ..found.statistics };
    (states, format!("{:?}", found.lts), statistics, found.outcome.clone())
}

fn any_disk() -> Option<Disk> {
    Some(Disk::in_folder(&std::env::temp_dir()).expect("a folder for temporary files"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn states_on_disk_are_the_same_states(
        size in 500u32..6000, multiplier in 0u32..50, fan in 1u32..5,
        count in 1usize..6, modulus in 2u32..5, seed: u64,
        registers: bool, transitions: bool, share in 0usize..100,
    ) {
        let (arithmetic, values);
        let model: &dyn Model = if registers {
            values = Registers::new(count, modulus, seed);
            &values
        } else {
            arithmetic = Arithmetic::new(size, multiplier, fan);
            &arithmetic
        };
        let explored = |limits: &Limits| {
            explore(model, limits, &Progress::new())
        };
        let limits = Limits { states: 6000, transitions, ..Limits::default() };
        let plain = explored(&limits);
        for threads in [1, 2, 3] {
            let limits = Limits { threads, ..limits.clone() };
            let all = explored(&limits);
            prop_assert!(found_by(model, &all) == found_by(model, &plain));
            // From nearly nothing of the states on disk to more than all of them.
            let vectors = all.states() * (all.statistics.state_bytes + 4);
            let bytes = all.statistics.bytes - vectors * share / 90;
            let limits = Limits { bytes, ..limits };
            let small = explored(&limits);
            let found = explored(&Limits { disk: any_disk(), ..limits });
            if found.outcome == Outcome::MemoryLimit {
                prop_assert!(threads > 1 || found.states() >= small.states());
                for number in 0..found.states() {
                    let state = StateId::new(number);
                    prop_assert_eq!(found.state(model, state), plain.state(model, state));
                    prop_assert_eq!(found.store.parent(number), plain.store.parent(number));
                }
            } else {
                prop_assert!(found_by(model, &found) == found_by(model, &plain));
                // What several threads work with is not always equally large.
                let has_to = threads == 1 && small.outcome == Outcome::MemoryLimit;
                prop_assert!(!has_to || found.statistics.disk_bytes > 0);
            }
            prop_assert!(found.statistics.bytes <= bytes);
        }
    }
}

/// More states than are looked at, of two words each, with steps to states that were seen long ago.
fn large() -> Arithmetic {
    Arithmetic::new(1_000_000, 7, 3)
}

#[test]
fn a_disk_leads_further_than_memory() {
    let model = large();
    for threads in [1, 2] {
        let limits = Limits { states: 60_000, transitions: false, ..with_threads(threads) };
        let explored = |bytes, disk| {
            let limits = Limits { bytes, disk, ..limits.clone() };
            explore(&model, &limits, &Progress::new())
        };
        let plain = explored(usize::MAX, None);
        assert_eq!((plain.outcome.clone(), plain.statistics.disk_bytes), (Outcome::StateLimit, 0));
        let bytes = plain.statistics.bytes - 30_000 * 12;
        let small = explored(bytes, None);
        assert_eq!(small.outcome, Outcome::MemoryLimit);
        let found = explored(bytes, any_disk());
        assert!(found_by(&model, &found) == found_by(&model, &plain));
        let last = StateId::new(found.states() - 1);
        assert_eq!(found.trace_to(&model, last), plain.trace_to(&model, last));
        let on_disk = found.statistics.disk_bytes;
        assert!((30_000 * 11..60_000 * 12).contains(&on_disk), "{on_disk}");
        assert!(found.statistics.bytes <= bytes);
        // The table does not move, and becomes much larger when it does: not every limit is one for states.
        let further = (1..8).filter(|eighths| {
            let bytes = plain.statistics.bytes / 8 * eighths;
            let (small, found) = (explored(bytes, None), explored(bytes, any_disk()));
            assert!(found.statistics.bytes <= bytes);
            found.states() > small.states()
        });
        // What several threads work with is most of it for so few states.
        assert!(further.count() > 1 || threads > 1);
    }
}

#[test]
fn compressed_states_move_to_disk() {
    let model = Registers::new(9, 4, 0x0804_0200);
    let limits = Limits { transitions: false, ..with_threads(1) };
    let explored = |bytes, disk| {
        let compressed = Compressed::new(&model).unwrap();
        let limits = Limits { bytes, disk, ..limits.clone() };
        let found = explore(&compressed, &limits, &Progress::new());
        let states: Vec<_> = (0..found.states())
            .map(|number| compressed.expanded(&found.state(&compressed, StateId::new(number))))
            .collect();
        (states, found.outcome, found.statistics)
    };
    let (states, outcome, statistics) = explored(usize::MAX, None);
    assert_eq!(outcome, Outcome::Complete);
    let found = explored(statistics.bytes - states.len() / 2 * 12, any_disk());
    assert!(found.2.disk_bytes > 0);
    assert!((states, outcome) == (found.0, found.1));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_leaves_an_honest_part() {
    let model = large();
    let limits = Limits { bytes: 1_000_000, transitions: false, ..with_threads(2) };
    let explored = |limits: &Limits| explore(&model, limits, &Progress::new());
    let small = explored(&limits);
    assert_eq!(small.outcome, Outcome::MemoryLimit);
    let full = std::fs::OpenOptions::new().read(true).write(true).open("/dev/full").unwrap();
    let found = explored(&Limits { disk: Some(Disk::new(full)), ..limits });
    let Outcome::DiskFailed(reason) = &found.outcome else { panic!("{:?}", found.outcome) };
    assert!(reason.contains("No space left on device"), "{reason}");
    assert_eq!((found.states(), found.statistics.disk_bytes), (small.states(), 0));
    assert_eq!(found.statistics.transitions, small.statistics.transitions);
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    assert!(Disk::in_folder(file.path()).is_err());
    assert!(Disk::in_folder(&file.path().with_extension("not_there")).is_err());
}
