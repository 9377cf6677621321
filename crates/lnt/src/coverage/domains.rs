//! The values that the arguments of a process can take, as they are written.
//!
//! Values of a type are listed by growing size, and combinations of them *diagonally*: by the growing sum of their
//! positions. A short list then has every value of every parameter, beside small values of the others, instead of all
//! values of the last parameter and one of the first.

use model::Arguments;

use crate::typed::{Mode, ProcessId, Program, TypeId, TypeKind};

/// A constructed value has at most this many constructors one inside the other.
const DEEPEST: usize = 3;

/// Combinations of values for the parameters of a process, as text, at most so many. Where the values of a type can't be
/// listed, those that are `known` of it (name of the type, text) have to do. The error says which parameter has no value.
///
/// ```
/// let mut sources = source::Sources::new();
/// let text = "module M is type colour is red, green end type
///             type pair is pair (on : bool, c : colour) end type
///             process P [A : any] (on : bool, c : colour) is A (on, c) end process
///             process Q [A : any] (p : pair, s : string) is A (p, s) end process end module";
/// let program = lnt::load_text("m.lnt", text, &mut sources).unwrap().program;
/// let found = lnt::arguments(&program, program.process_named("P").unwrap(), &[], 100).unwrap();
/// assert!(found.all);
/// assert_eq!(found.combinations.len(), 4);
/// assert_eq!(found.combinations[1], ["false", "green"]);
///
/// let process = program.process_named("Q").unwrap();
/// let error = lnt::arguments(&program, process, &[], 100).unwrap_err();
/// assert_eq!(error, "no value of its parameter s is known");
/// let known = [("string".to_owned(), "\"a\"".to_owned())];
/// let found = lnt::arguments(&program, process, &known, 100).unwrap();
/// assert!(!found.all);
/// assert_eq!(found.combinations[1], ["pair (false, green)", "\"a\""]);
/// ```
pub fn arguments(
    program: &Program,
    process: ProcessId,
    known: &[(String, String)],
    most: usize,
) -> Result<Arguments, String> {
    let process = &program[process];
    let mut domains: Vec<Vec<String>> = Vec::new();
    let mut all = true;
    for parameter in &process.parameters {
        let variable = &process.scope[parameter.variable];
        if parameter.mode != Mode::In {
            return Err(format!("its parameter {} is a result", variable.name));
        }
        let (values, complete) = values(program, variable.ty, known, most, DEEPEST);
        if values.is_empty() {
            return Err(format!("no value of its parameter {} is known", variable.name));
        }
        all &= complete;
        domains.push(values);
    }
    let sizes: Vec<usize> = domains.iter().map(Vec::len).collect();
    let chosen = diagonal(&sizes, most);
    let product = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    all &= product == Some(chosen.len());
    let value = |(domain, &index): (&Vec<String>, &usize)| domain[index].clone();
    let combinations = chosen.iter().map(|indexes| domains.iter().zip(indexes).map(value).collect());
    Ok(Arguments { combinations: combinations.collect(), all })
}

/// The first positions in a product of lists of these sizes, by growing sum; those of equal sum in the order of the lists.
fn diagonal(sizes: &[usize], most: usize) -> Vec<Vec<usize>> {
    fn fill(sizes: &[usize], sum: usize, most: usize, chosen: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
        let position = chosen.len();
        if position == sizes.len() {
            found.push(chosen.clone());
            return;
        }
        let behind: usize = sizes[position + 1..].iter().map(|size| size - 1).sum();
        for index in sum.saturating_sub(behind)..=sum.min(sizes[position] - 1) {
            if found.len() >= most {
                return;
            }
            chosen.push(index);
            fill(sizes, sum - index, most, chosen, found);
            chosen.pop();
        }
    }
    let mut found = Vec::new();
    if sizes.contains(&0) {
        return found;
    }
    let largest: usize = sizes.iter().map(|size| size - 1).sum();
    for sum in 0..=largest {
        if found.len() >= most {
            break;
        }
        fill(sizes, sum, most, &mut Vec::new(), &mut found);
    }
    found
}

/// Values of a type, at most so many; and whether these are all.
fn values(
    program: &Program,
    ty: TypeId,
    known: &[(String, String)],
    most: usize,
    depth: usize,
) -> (Vec<String>, bool) {
    // The one nearest to zero first, and outwards from there: small ones are the likeliest to matter.
    let numbers = |lower: i64, upper: i64| {
        let (lower, upper) = (i128::from(lower), i128::from(upper));
        let first = 0.clamp(lower, upper);
        let outwards = (0..=upper - lower)
            .flat_map(|by| [first + by, first - by].into_iter().take(1 + usize::from(by > 0)));
        let inside = outwards.filter(|value| (lower..=upper).contains(value));
        let values: Vec<String> = inside.take(most).map(|value| value.to_string()).collect();
        let all = values.len() as i128 == upper - lower + 1;
        (values, all)
    };
    let own = || {
        let name = &program[ty].name;
        let mut own: Vec<String> = Vec::new();
        for (_, text) in known.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name)) {
            if !own.contains(text) {
                own.push(text.clone());
            }
        }
        own
    };
    match &program[ty].kind {
        TypeKind::Bool => (vec!["false".to_owned(), "true".to_owned()], true),
        TypeKind::Nat { lower, upper } | TypeKind::Int { lower, upper } => numbers(*lower, *upper),
        TypeKind::Range { lower, upper, base } if *base != TypeId::CHAR => numbers(*lower, *upper),
        TypeKind::Constructed(constructors) => {
            let mut lists: Vec<Vec<String>> = Vec::new();
            let mut all = true;
            for &constructor in constructors {
                let entry = &program[constructor];
                if entry.fields.is_empty() {
                    lists.push(vec![entry.name.clone()]);
                } else if depth == 0 {
                    all = false;
                } else {
                    let (mut domains, mut sizes) = (Vec::new(), Vec::new());
                    for field in &entry.fields {
                        let (values, complete) = values(program, field.ty, known, most, depth - 1);
                        all &= complete;
                        sizes.push(values.len());
                        domains.push(values);
                    }
                    let chosen = diagonal(&sizes, most);
                    all &= sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size))
                        == Some(chosen.len());
                    let value = |indexes: &Vec<usize>| {
                        let fields: Vec<&str> = domains
                            .iter()
                            .zip(indexes)
                            .map(|(domain, &index)| domain[index].as_str())
                            .collect();
                        format!("{} ({})", entry.name, fields.join(", "))
                    };
                    lists.push(chosen.iter().map(value).collect());
                }
            }
            let (mut found, more) = in_turn(lists, most);
            all &= !more;
            if !all {
                let own: Vec<String> = own().into_iter().filter(|text| !found.contains(text)).collect();
                found.extend(own);
            }
            (found, all)
        }
        TypeKind::List { element, .. } | TypeKind::Set { element, .. } => {
            let mut found = vec!["{}".to_owned()];
            if depth > 0 {
                let (elements, _) = values(program, *element, known, most, depth - 1);
                found.extend(elements.iter().take(most).map(|element| format!("{{{element}}}")));
            }
            let own: Vec<String> = own().into_iter().filter(|text| !found.contains(text)).collect();
            found.extend(own);
            (found, false)
        }
        _ => (own(), false),
    }
}

/// The first of each list, then the second of each, and so on, at most so many; and whether there are more.
fn in_turn(lists: Vec<Vec<String>>, most: usize) -> (Vec<String>, bool) {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut found: Vec<String> = (0..longest)
        .flat_map(|index| lists.iter().filter_map(move |list| list.get(index).cloned()))
        .collect();
    let more = found.len() > most;
    found.truncate(most);
    (found, more)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The naive twin lists everything and sorts it.
    #[test]
    fn combinations_come_by_growing_sum() {
        let mut seed = 3u64;
        let mut draw = |bound: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((seed >> 33) % bound) as usize
        };
        for _ in 0..1000 {
            let sizes: Vec<usize> = (0..draw(5)).map(|_| draw(6)).collect();
            let most = draw(60);
            let mut all: Vec<Vec<usize>> = vec![Vec::new()];
            for &size in &sizes {
                let longer = |chosen: &Vec<usize>| {
                    let with = |index| chosen.iter().copied().chain([index]).collect::<Vec<usize>>();
                    (0..size).map(with).collect::<Vec<_>>()
                };
                all = all.iter().flat_map(longer).collect();
            }
            all.sort_by_key(|chosen| (chosen.iter().sum::<usize>(), chosen.clone()));
            all.truncate(most);
            assert_eq!(diagonal(&sizes, most), all, "{sizes:?}, {most}");
        }
    }
}
