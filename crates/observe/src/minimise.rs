//! Schedules with few context switches that fail in the same way.
//!
//! Local search: parts of the schedule are left out, moved to another part of the same task, or extended until the task has to
//! wait, as long as the execution still fails and has fewer switches, or as many and fewer steps. The result is a minimum among
//! these neighbours, and has never more switches than the schedule it comes from.

use crate::program::{End, Job, Program, Sequence, Start, Strategy};
use crate::schedule::Schedule;

/// How many executions are spent at most.
const PATIENCE: usize = 5000;

impl Program {
    /// A schedule with fewer context switches that fails as a given one does: with the same panic, with a deadlock, or with a
    /// sequence of states of which `fails` says so.
    ///
    /// ```
    /// use watershed_observe::{End, Job, Program, Strategy, sync::{Arc, Mutex}, thread};
    ///
    /// let program = Program::new("crossed", || {
    ///     let (first, second) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
    ///     let other = {
    ///         let (first, second) = (first.clone(), second.clone());
    ///         thread::spawn(move || {
    ///             let _second = second.lock().unwrap();
    ///             let _first = first.lock().unwrap();
    ///         })
    ///     };
    ///     let guards = (first.lock().unwrap(), second.lock().unwrap());
    ///     drop(guards);
    ///     other.join().unwrap();
    /// });
    /// let job = Job { strategy: Strategy::Random { seed: 1 }, ..Job::systematic() };
    /// let found = program.explore(&job);
    /// let failing = found.sequences.iter().find(|sequence| sequence.end == End::Deadlock).unwrap();
    /// let smallest = program.minimise(failing, |_| false).unwrap();
    /// assert_eq!(smallest.end, End::Deadlock);
    /// assert!(smallest.schedule.switches() <= 2);
    /// ```
    ///
    /// # Errors
    ///
    /// If the schedule does not fail, or cannot be followed.
    pub fn minimise(
        &self,
        failing: &Sequence,
        fails: impl Fn(&Sequence) -> bool,
    ) -> Result<Sequence, String> {
        self.minimise_from(failing, &Start::Beginning, fails)
    }

    pub(crate) fn minimise_from(
        &self,
        failing: &Sequence,
        start: &Start,
        fails: impl Fn(&Sequence) -> bool,
    ) -> Result<Sequence, String> {
        let ends = matches!(failing.end, End::Panic | End::Deadlock);
        let same = |sequence: &Sequence| match failing.end {
            End::Panic => sequence.end == End::Panic && sequence.message == failing.message,
            End::Deadlock => sequence.end == End::Deadlock,
            _ => fails(sequence),
        };
        let attempt = |blocks: Vec<(usize, usize)>, depth: usize| {
            let strategy = Strategy::Plan(blocks);
            let job = Job { start: start.clone(), depth: Some(depth), strategy, ..Job::systematic() };
            self.single(&job)
        };
        // A panic or a deadlock may come later in another schedule; a sequence of states is cut where it has failed.
        let length = failing.schedule.tasks().len();
        let depth = if ends { length * 2 + 100 } else { length };
        let mut best = attempt(failing.schedule.blocks(), depth)?;
        if !same(&best) {
            return Err("the schedule does not fail".to_owned());
        }
        // After the plan the execution goes on to its end: not longer than what is already known.
        if cost(&failing.schedule) < cost(&best.schedule) {
            best = failing.clone();
        }
        let cut = |best: Sequence| -> Result<Sequence, String> {
            let (mut fails_at, mut best) = (best.schedule.tasks().len(), best);
            let mut fine_at = 0;
            while !ends && fine_at + 1 < fails_at {
                let middle = fine_at.midpoint(fails_at);
                let shorter = attempt(best.schedule.blocks(), middle)?;
                if same(&shorter) {
                    fails_at = middle;
                    best = shorter;
                } else {
                    fine_at = middle;
                }
            }
            Ok(best)
        };
        best = cut(best)?;
        let mut left = PATIENCE;
        'improve: loop {
            let depth = if ends { depth } else { best.schedule.tasks().len() };
            for candidate in neighbours(&best.schedule.blocks()) {
                if left == 0 {
                    break 'improve;
                }
                left -= 1;
                let sequence = attempt(candidate, depth)?;
                if same(&sequence) && cost(&sequence.schedule) < cost(&best.schedule) {
                    best = cut(sequence)?;
                    continue 'improve;
                }
            }
            break;
        }
        Ok(best)
    }
}

fn cost(schedule: &Schedule) -> (usize, usize) {
    (schedule.switches(), schedule.tasks().len())
}

/// Plans that could do with fewer switches.
fn neighbours(blocks: &[(usize, usize)]) -> impl Iterator<Item = Vec<(usize, usize)>> + '_ {
    let left_out = (0..blocks.len()).map(|index| {
        let mut plan = blocks.to_vec();
        plan.remove(index);
        plan
    });
    let joined_before = (0..blocks.len()).filter_map(|index| {
        let before = blocks[..index].iter().rposition(|block| block.0 == blocks[index].0)?;
        let mut plan = blocks.to_vec();
        plan[before].1 += plan[index].1;
        plan.remove(index);
        Some(plan)
    });
    let joined_after = (0..blocks.len()).filter_map(|index| {
        let after = blocks[index + 1..].iter().position(|block| block.0 == blocks[index].0)? + index + 1;
        let mut plan = blocks.to_vec();
        plan[after].1 += plan[index].1;
        plan.remove(index);
        Some(plan)
    });
    let extended = (0..blocks.len()).map(|index| {
        let mut plan = blocks.to_vec();
        plan[index].1 = usize::MAX;
        plan
    });
    left_out.chain(joined_before).chain(joined_after).chain(extended)
}
