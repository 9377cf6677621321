//! Strategies that choose schedules one by one: at random, by priorities, and after a plan.

use crate::systematic::mix;

/// Numbers that look random and depend on a seed alone.
pub(crate) struct Chance {
    state: u64,
}

impl Chance {
    pub fn new(seed: u64, stream: u64) -> Chance {
        Chance { state: mix(seed ^ mix(stream)) }
    }

    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

/// Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte 2010): the task of the highest priority
/// runs; at `bugs - 1` random steps the running task gets the lowest. With n tasks and k steps, an execution finds a bug of
/// that depth with a probability of at least 1/(n·k^(bugs-1)).
pub(crate) struct Priorities {
    bugs: usize,
    seed: u64,
    longest: usize,
    chance: Chance,
    priorities: Vec<u64>,
    changes: Vec<usize>,
    step: usize,
    lowest: u64,
}

impl Priorities {
    pub fn new(bugs: usize, seed: u64) -> Priorities {
        let chance = Chance::new(seed, 0);
        Priorities {
            bugs,
            seed,
            longest: 1,
            chance,
            priorities: Vec::new(),
            changes: Vec::new(),
            step: 0,
            lowest: 0,
        }
    }

    pub fn begin(&mut self, execution: usize) {
        self.longest = self.longest.max(self.step);
        self.chance = Chance::new(self.seed, execution as u64);
        self.priorities.clear();
        self.changes.clear();
        for _ in 1..self.bugs {
            let step = self.chance.below(self.longest);
            self.changes.push(step);
        }
        self.step = 0;
        // Below all priorities that tasks get at their birth.
        self.lowest = 1 << 32;
    }

    pub fn choose(&mut self, runnable: &[usize], current: Option<usize>, yields: bool) -> usize {
        let highest = runnable.iter().max().copied().unwrap_or_default();
        while self.priorities.len() <= highest {
            let priority = (1 << 32) | (self.chance.next() >> 1);
            self.priorities.push(priority);
        }
        if let Some(current) = current.filter(|task| *task < self.priorities.len())
            && (yields || self.changes.contains(&self.step))
        {
            self.lowest -= 1;
            self.priorities[current] = self.lowest;
        }
        self.step += 1;
        let best = runnable.iter().max_by_key(|task| (self.priorities[**task], usize::MAX - **task));
        best.copied().unwrap_or_default()
    }
}

/// A plan is followed as far as possible; where it asks for a task that cannot run, its next part is tried. After its end the
/// running task goes on as long as it can.
#[derive(Default)]
pub(crate) struct Plan {
    blocks: Vec<(usize, usize)>,
    block: usize,
    times: usize,
}

impl Plan {
    pub fn new(blocks: Vec<(usize, usize)>) -> Plan {
        Plan { blocks, block: 0, times: 0 }
    }

    pub fn choose(&mut self, runnable: &[usize], current: Option<usize>) -> usize {
        while let Some(&(task, times)) = self.blocks.get(self.block) {
            if self.times < times && runnable.contains(&task) {
                self.times += 1;
                return task;
            }
            self.block += 1;
            self.times = 0;
        }
        match current {
            Some(current) if runnable.contains(&current) => current,
            _ => runnable.iter().min().copied().unwrap_or_default(),
        }
    }
}
