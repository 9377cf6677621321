//! Schedules as text: the task chosen at every scheduling point, `0*3.1.2*5` for 0, 0, 0, 1, 2, 2, 2, 2, 2.

use std::fmt;
use std::str::FromStr;

/// The task that runs at every scheduling point. Task 0 is the closure of the program; threads and asynchronous tasks have
/// the next numbers, in the order in which they are made.
///
/// ```
/// use watershed_observe::Schedule;
///
/// let schedule: Schedule = "0*3.1.2*5".parse().unwrap();
/// assert_eq!(schedule.tasks(), [0, 0, 0, 1, 2, 2, 2, 2, 2]);
/// assert_eq!(schedule.switches(), 2);
/// assert_eq!(schedule.to_string(), "0*3.1.2*5");
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub struct Schedule {
    tasks: Vec<usize>,
}

impl Schedule {
    /// The task of every scheduling point.
    pub fn tasks(&self) -> &[usize] {
        &self.tasks
    }

    /// How often another task goes on than the one before.
    pub fn switches(&self) -> usize {
        self.tasks.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    /// Runs of one task: the task and how often it is chosen.
    pub(crate) fn blocks(&self) -> Vec<(usize, usize)> {
        let mut blocks: Vec<(usize, usize)> = Vec::new();
        for &task in &self.tasks {
            match blocks.last_mut() {
                Some((last, times)) if *last == task => *times += 1,
                _ => blocks.push((task, 1)),
            }
        }
        blocks
    }
}

impl From<Vec<usize>> for Schedule {
    fn from(tasks: Vec<usize>) -> Schedule {
        Schedule { tasks }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (task, times)) in self.blocks().into_iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            match times {
                1 => write!(f, "{dot}{task}")?,
                _ => write!(f, "{dot}{task}*{times}")?,
            }
        }
        Ok(())
    }
}

/// A text that is no schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidSchedule {
    part: String,
}

impl fmt::Display for InvalidSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is no part of a schedule: a task or task*times is, as in 0*3.1.2*5", self.part)
    }
}

impl std::error::Error for InvalidSchedule {}

/// More steps than any program takes under a scheduler; a text with more is a mistake, not a schedule.
const LONGEST: usize = 100_000_000;

impl FromStr for Schedule {
    type Err = InvalidSchedule;

    fn from_str(text: &str) -> Result<Schedule, InvalidSchedule> {
        let mut tasks = Vec::new();
        let text = text.trim();
        if text.is_empty() {
            return Ok(Schedule { tasks });
        }
        for part in text.split('.') {
            let invalid = || InvalidSchedule { part: part.to_owned() };
            let (task, times) = match part.split_once('*') {
                Some((task, times)) => (task, times.parse().map_err(|_| invalid())?),
                None => (part, 1usize),
            };
            let task: usize = task.parse().map_err(|_| invalid())?;
            if times > LONGEST - tasks.len() {
                return Err(invalid());
            }
            tasks.extend(std::iter::repeat_n(task, times));
        }
        Ok(Schedule { tasks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_no_schedules_are_refused() {
        assert!("".parse::<Schedule>().unwrap().tasks().is_empty());
        for text in ["1..2", "a", "1*", "1*x", "-1", "1*99999999999"] {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
    }
}
