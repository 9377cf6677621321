//! Minimal semiflows: nonnegative weights with which the rows of a matrix add up to nothing.
//!
//! The algorithm of Farkas (1902) as Colom and Silva (1990) use it for nets: columns are eliminated one by one, each pair
//! of rows with opposite signs giving a new row; of rows whose supports include one another only the least stay. There
//! may be exponentially many, so the work is limited: what is left out then is said, what is given is right.

use std::collections::BTreeSet;

/// Weights by row, in ascending order of rows.
pub(crate) type Weights = Vec<(u32, u64)>;

/// What was found.
pub(crate) struct Found {
    /// The minimal semiflows, in lexicographic order.
    pub(crate) semiflows: Vec<Weights>,
    /// Whether these are all of them.
    pub(crate) complete: bool,
}

/// A combination of rows: with which weights, and what is left in the columns.
struct Row {
    weights: Weights,
    left: Vec<(u32, i64)>,
}

struct Elimination {
    rows: Vec<Option<Row>>,
    /// The rows that have something in a column; some of them are gone.
    by_column: Vec<Vec<u32>>,
    /// The rows by the first row of the matrix that they weigh; some of them are gone.
    by_first: Vec<Vec<u32>>,
    /// What may still be done, in entries looked at.
    budget: u64,
    complete: bool,
}

/// The minimal semiflows of a matrix given by its rows: entries by column, ascending.
pub(crate) fn semiflows(matrix: &[Vec<(u32, i64)>], columns: usize, budget: u64) -> Found {
    let mut work = Elimination {
        rows: Vec::with_capacity(matrix.len()),
        by_column: vec![Vec::new(); columns],
        by_first: vec![Vec::new(); matrix.len()],
        budget,
        complete: true,
    };
    for (number, left) in matrix.iter().enumerate() {
        work.push(Row { weights: vec![(number as u32, 1)], left: left.clone() });
    }
    // The column that makes the fewest new rows comes next.
    let mut costs: Vec<usize> = (0..columns).map(|column| work.cost(column)).collect();
    let mut queue: BTreeSet<(usize, usize)> =
        costs.iter().enumerate().map(|(column, &cost)| (cost, column)).collect();
    while let Some((_, column)) = queue.pop_first() {
        if work.budget == 0 {
            work.complete = false;
            break;
        }
        let mut touched = work.eliminate(column);
        touched.sort_unstable();
        touched.dedup();
        for other in touched.into_iter().map(|other| other as usize) {
            if queue.remove(&(costs[other], other)) {
                costs[other] = work.cost(other);
                queue.insert((costs[other], other));
            }
        }
    }
    let mut semiflows: Vec<Weights> =
        work.rows.into_iter().flatten().filter(|row| row.left.is_empty()).map(|row| row.weights).collect();
    semiflows.sort();
    Found { semiflows, complete: work.complete }
}

impl Elimination {
    fn push(&mut self, row: Row) {
        let number = self.rows.len() as u32;
        for &(column, _) in &row.left {
            self.by_column[column as usize].push(number);
        }
        self.by_first[row.weights[0].0 as usize].push(number);
        self.rows.push(Some(row));
    }

    /// The rows with a positive and with a negative entry in a column.
    fn sides(&mut self, column: usize) -> (Vec<u32>, Vec<u32>) {
        let Self { rows, by_column, budget, .. } = self;
        *budget = budget.saturating_sub(by_column[column].len() as u64);
        by_column[column].retain(|&number| rows[number as usize].is_some());
        let entry = |number: u32| {
            rows[number as usize].as_ref().map_or(0, |row| {
                let at = row.left.binary_search_by_key(&(column as u32), |&(column, _)| column);
                at.map_or(0, |at| row.left[at].1)
            })
        };
        by_column[column].iter().partition(|&&number| entry(number) > 0)
    }

    fn cost(&mut self, column: usize) -> usize {
        let (positive, negative) = self.sides(column);
        positive.len() * negative.len()
    }

    /// Replaces the rows of a column by their combinations; gives the columns whose rows have changed.
    fn eliminate(&mut self, column: usize) -> Vec<u32> {
        let (positive, negative) = self.sides(column);
        let mut touched = Vec::new();
        let mut made = Vec::new();
        let pairs = positive.iter().flat_map(|&up| negative.iter().map(move |&down| (up, down)));
        for (up, down) in pairs {
            let (Some(one), Some(other)) = (&self.rows[up as usize], &self.rows[down as usize]) else {
                continue;
            };
            let cost = (one.weights.len() + one.left.len() + other.weights.len() + other.left.len()) as u64;
            if self.budget < cost {
                (self.budget, self.complete) = (0, false);
                break;
            }
            self.budget -= cost;
            match combine(one, other, column as u32) {
                Some(row) => made.push(row),
                None => self.complete = false,
            }
        }
        for &number in positive.iter().chain(&negative) {
            if let Some(row) = self.rows[number as usize].take() {
                touched.extend(row.left.iter().map(|&(column, _)| column));
            }
        }
        // Small supports first: they remove the large ones.
        made.sort_by(|a, b| a.weights.len().cmp(&b.weights.len()).then_with(|| a.weights.cmp(&b.weights)));
        for row in made {
            if self.is_minimal(&row.weights) {
                touched.extend(row.left.iter().map(|&(column, _)| column));
                self.push(row);
            }
        }
        touched
    }

    /// Whether no row has a support inside this one.
    fn is_minimal(&mut self, weights: &Weights) -> bool {
        for &(first, _) in weights {
            let Self { rows, by_first, .. } = self;
            let list = &mut by_first[first as usize];
            list.retain(|&number| rows[number as usize].is_some());
            for &number in &*list {
                let Some(row) = &rows[number as usize] else { continue };
                self.budget = self.budget.saturating_sub(row.weights.len() as u64);
                if is_inside(&row.weights, weights) {
                    return false;
                }
            }
        }
        true
    }
}

fn is_inside(small: &Weights, large: &Weights) -> bool {
    let mut rest = large.iter();
    small.len() <= large.len() && small.iter().all(|(row, _)| rest.by_ref().any(|(other, _)| other == row))
}

/// The combination of two rows that has nothing in a column; none where numbers become too large.
fn combine(up: &Row, down: &Row, column: u32) -> Option<Row> {
    let entry = |row: &Row| {
        let at = row.left.binary_search_by_key(&column, |&(column, _)| column).ok()?;
        Some(row.left[at].1)
    };
    let (up_entry, down_entry) = (entry(up)?, entry(down)?);
    let divisor = gcd(up_entry.unsigned_abs(), down_entry.unsigned_abs());
    let (up_factor, down_factor) = (down_entry.unsigned_abs() / divisor, up_entry.unsigned_abs() / divisor);
    let weights = merge(&up.weights, &down.weights, |a, b| {
        a.checked_mul(up_factor)?.checked_add(b.checked_mul(down_factor)?)
    })?;
    let (signed_up, signed_down) = (i64::try_from(up_factor).ok()?, i64::try_from(down_factor).ok()?);
    let left = merge(&up.left, &down.left, |a: i64, b: i64| {
        a.checked_mul(signed_up)?.checked_add(b.checked_mul(signed_down)?)
    })?;
    let mut row = Row { weights, left };
    let mut common = row.weights.iter().fold(0, |common, &(_, weight)| gcd(common, weight));
    common = row.left.iter().fold(common, |common, &(_, entry)| gcd(common, entry.unsigned_abs()));
    if common > 1 {
        row.weights.iter_mut().for_each(|(_, weight)| *weight /= common);
        let signed = i64::try_from(common).ok()?;
        row.left.iter_mut().for_each(|(_, entry)| *entry /= signed);
    }
    Some(row)
}

/// Adds two sparse rows; entries that become nothing are left out.
fn merge<T: Copy + Default + PartialEq>(
    one: &[(u32, T)],
    other: &[(u32, T)],
    add: impl Fn(T, T) -> Option<T>,
) -> Option<Vec<(u32, T)>> {
    let mut sum = Vec::with_capacity(one.len() + other.len());
    let (mut i, mut j) = (0, 0);
    while i < one.len() || j < other.len() {
        let at = match (one.get(i), other.get(j)) {
            (Some(a), Some(b)) => a.0.min(b.0),
            (Some(a), None) => a.0,
            (None, Some(b)) => b.0,
            (None, None) => break,
        };
        let next = |row: &[(u32, T)], place: &mut usize| match row.get(*place) {
            Some(&(number, entry)) if number == at => {
                *place += 1;
                entry
            }
            _ => T::default(),
        };
        let (a, b) = (next(one, &mut i), next(other, &mut j));
        let entry = add(a, b)?;
        if entry != T::default() {
            sum.push((at, entry));
        }
    }
    Some(sum)
}

pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
