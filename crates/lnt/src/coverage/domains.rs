//! The values that the arguments of a process can take, as they are written.

use crate::typed::{Mode, ProcessId, Program, TypeId, TypeKind};

/// All combinations of values for the parameters of a process, as text, or the first `most` of them; and whether these
/// are all. Nothing where a parameter's type can't be listed.
///
/// ```
/// let mut sources = source::Sources::new();
/// let text = "module M is type colour is red, green end type
///             process P [A : any] (on : bool, c : colour) is A (on, c) end process end module";
/// let program = lnt::load_text("m.lnt", text, &mut sources).unwrap().program;
/// let (arguments, all) = lnt::arguments(&program, program.process_named("P").unwrap(), 100).unwrap();
/// assert!(all);
/// assert_eq!(arguments.len(), 4);
/// assert_eq!(arguments[1], ["false", "green"]);
/// ```
pub fn arguments(program: &Program, process: ProcessId, most: usize) -> Option<(Vec<Vec<String>>, bool)> {
    let process = &program[process];
    let mut combinations: Vec<Vec<String>> = vec![Vec::new()];
    let mut all = true;
    for parameter in &process.parameters {
        if parameter.mode != Mode::In {
            return None;
        }
        let (values, complete) = values(program, process.scope[parameter.variable].ty, most)?;
        all &= complete;
        let extended = combinations.iter().flat_map(|combination| {
            values.iter().map(|value| {
                let mut longer = combination.clone();
                longer.push(value.clone());
                longer
            })
        });
        combinations = extended.take(most + 1).collect();
        if combinations.len() > most {
            all = false;
            combinations.truncate(most);
        }
    }
    Some((combinations, all))
}

/// The values of a type, at most so many; and whether these are all.
fn values(program: &Program, ty: TypeId, most: usize) -> Option<(Vec<String>, bool)> {
    // The one nearest to zero first, and outwards from there: small ones are the likeliest to matter.
    let numbers = |lower: i64, upper: i64| {
        let (lower, upper) = (i128::from(lower), i128::from(upper));
        let first = 0.clamp(lower, upper);
        let outwards = (0..=upper - lower)
            .flat_map(|by| [first + by, first - by].into_iter().take(1 + usize::from(by > 0)));
        let inside = outwards.filter(|value| (lower..=upper).contains(value));
        let values: Vec<String> = inside.take(most).map(|value| value.to_string()).collect();
        let all = values.len() as i128 == upper - lower + 1;
        Some((values, all))
    };
    match &program[ty].kind {
        TypeKind::Bool => Some((vec!["false".to_owned(), "true".to_owned()], true)),
        TypeKind::Nat { lower, upper } | TypeKind::Int { lower, upper } => numbers(*lower, *upper),
        TypeKind::Range { lower, upper, base } if *base != TypeId::CHAR => numbers(*lower, *upper),
        TypeKind::Constructed(constructors) => {
            let plain = constructors.iter().all(|&constructor| program[constructor].fields.is_empty());
            plain.then(|| {
                let names = constructors.iter().map(|&constructor| program[constructor].name.clone());
                (names.collect(), true)
            })
        }
        _ => None,
    }
}
