//! "Did you mean": the known name nearest to an unknown one.

/// The candidate nearest to `name` by edit distance, ignoring case, if it is near enough to be meant.
///
/// ```
/// assert_eq!(source::closest("lenght", ["length", "append"]), Some("length"));
/// assert_eq!(source::closest("x", ["length", "append"]), None);
/// ```
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = name.to_lowercase().chars().collect();
    let limit = (wanted.len() / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| candidate.chars().count().abs_diff(wanted.len()) <= limit)
        .map(|candidate| {
            (edit_distance(&wanted, &candidate.to_lowercase().chars().collect::<Vec<_>>()), candidate)
        })
        .filter(|&(distance, _)| distance <= limit && distance < wanted.len().max(1))
        .min()
        .map(|(_, candidate)| candidate)
}

/// Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours cost 1.
fn edit_distance(from: &[char], to: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, &a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &b) in to.iter().enumerate() {
            let mut best = (last[j] + usize::from(a != b)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a == to[j - 1] && from[i - 1] == b {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swaps_cost_one() {
        let distance =
            |a: &str, b: &str| edit_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!(distance("slect", "select"), 1);
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn a_name_of_one_letter_is_never_a_typing_error_of_another() {
        assert_eq!(closest("x", ["y", "z"]), None);
    }
}
