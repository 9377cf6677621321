//! Smallest conditions, against all conjunctions of all comparisons.

use explain::{Comparison, MOST_COMPARISONS, comparisons, separation};
use lts::Chance;

/// The first smallest conjunction that holds in all of the one and none of the other.
fn naive(first: &[Vec<String>], second: &[Vec<String>]) -> Option<Vec<Comparison>> {
    let all = comparisons(first, second);
    let separates = |chosen: &[usize]| {
        let holds = |row: &Vec<String>| chosen.iter().all(|&at| all[at].holds(row));
        first.iter().all(holds) && !second.iter().any(holds)
    };
    fn choose(
        from: usize,
        count: usize,
        most: usize,
        chosen: &mut Vec<usize>,
        separates: &dyn Fn(&[usize]) -> bool,
    ) -> bool {
        if chosen.len() == most {
            return separates(chosen);
        }
        for at in from..count {
            chosen.push(at);
            if choose(at + 1, count, most, chosen, separates) {
                return true;
            }
            chosen.pop();
        }
        false
    }
    (1..=MOST_COMPARISONS).find_map(|size| {
        let mut chosen = Vec::new();
        choose(0, all.len(), size, &mut chosen, &separates)
            .then(|| chosen.iter().map(|&at| all[at].clone()).collect())
    })
}

#[test]
fn a_smallest_condition_is_found_where_there_is_one() {
    let (mut found, mut none) = (0, 0);
    for seed in 0..400 {
        let mut chance = Chance::new(seed);
        let mut draw = |below: u64| chance.draw() % below;
        let width = 1 + draw(3) as usize;
        let texts = ["IDLE", "0", "1", "2", "-1"];
        let kinds = 2 + draw(4);
        let mut rows: Vec<Vec<String>> = (0..2 + draw(8))
            .map(|_| (0..width).map(|_| texts[draw(kinds) as usize].to_owned()).collect())
            .collect();
        rows.sort();
        rows.dedup();
        let cut = 1 + draw(rows.len() as u64) as usize;
        let second = rows.split_off(cut.min(rows.len()));
        if second.is_empty() {
            assert_eq!(separation(&rows, &second), None);
            continue;
        }
        let expected = naive(&rows, &second);
        assert_eq!(separation(&rows, &second), expected, "seed {seed}");
        *(if expected.is_some() { &mut found } else { &mut none }) += 1;
    }
    assert!(found > 50 && none > 5, "{found} found, {none} not");
}
