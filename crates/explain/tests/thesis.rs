//! The examples that chapter 6 of the thesis spells out, rebuilt from its text.

use explain::{Affixes, Kind, Method, Options, Property, Tag, affixes};
use lts::{Lts, Progress};

fn system(text: &str) -> Lts {
    lts::parse_aut(text, &Default::default()).unwrap()
}

fn masks(lts: &Lts, labels: &[&str]) -> Vec<Vec<bool>> {
    let mask = |wanted: &&str| lts.labels().iter().map(|(_, label)| label == *wanted).collect();
    labels.iter().map(mask).collect()
}

/// Figures 6.3 to 6.7 with k = A·B·C: A leads into a component 1, 2, 3 that has B and C inside; from 2 there is a way to
/// a final state without any of them, from 3 one with C.
fn component() -> Lts {
    system("des (0, 6, 6)\n(0, A, 1)\n(1, X, 2)\n(2, B, 3)\n(3, C, 1)\n(2, Y, 4)\n(3, C, 5)\n")
}

#[test]
fn affixes_of_a_component() {
    let lts = component();
    let found = affixes(&lts, &masks(&lts, &["A", "B", "C"]));
    // 6.2.1: the prefix A comes in, and going round adds B and C: the whole sequence in 1, 2 and 3.
    assert_eq!([1, 2, 3].map(|state: usize| found[state].max_prefix), [3, 3, 3]);
    // 6.2.2: B·C for every state of the component.
    assert_eq!([1, 2, 3].map(|state: usize| found[state].max_suffix), [2, 2, 2]);
    // 6.2.3: A in 1; the step with X adds nothing, so A in 2; B makes A·B in 3.
    assert_eq!([1, 2, 3].map(|state: usize| found[state].common_prefix), [1, 1, 2]);
    // 6.2.4: nothing in 2, C in 3; in 1 the loop sees B·C, but the way on through 2 makes it nothing.
    assert_eq!([1, 2, 3].map(|state: usize| found[state].common_suffix), [0, 0, 1]);
    // The start has met nothing and may meet everything.
    let start = Affixes { max_prefix: 0, common_prefix: 0, max_suffix: 3, common_suffix: 0 };
    assert_eq!(found[0], start);
}

#[test]
fn without_the_way_out_the_loop_decides() {
    // The same component without an exit from 2: now 1 is sure to see what its loop sees, B·C, if not more.
    let lts = system("des (0, 5, 5)\n(0, A, 1)\n(1, X, 2)\n(2, B, 3)\n(3, C, 1)\n(3, C, 4)\n");
    let found = affixes(&lts, &masks(&lts, &["A", "B", "C"]));
    assert_eq!([1, 2, 3].map(|state: usize| found[state].common_suffix), [2, 2, 1]);
}

fn inevitable(labels: &[&str]) -> Property {
    let mut sources = source::Sources::new();
    Property::of(&logic::inevitable(labels, &mut sources).unwrap().formula).unwrap()
}

/// Where the two methods differ: two ways meet in 3, one with A and one without. Sums over states can't tell which way
/// was taken, so what follows is neutral; the product with the property can.
#[test]
fn sums_forget_which_way_was_taken() {
    let lts = system("des (0, 5, 5)\n(0, A, 1)\n(0, B, 2)\n(1, X, 3)\n(2, X, 3)\n(3, Y, 4)\n");
    let tag_of_y = |method: Method| {
        let options = Options { method: Some(method), ..Options::default() };
        let tagged = inevitable(&["A"]).tag(&lts, &options, &Progress::new()).unwrap().unwrap();
        let found: Vec<Tag> =
            tagged.steps().filter(|&step| tagged.label(step) == "Y").map(|step| tagged.tag(step)).collect();
        (tagged.neighbourhood_counts().of(Kind::Ci), found)
    };
    assert_eq!(tag_of_y(Method::PrefixSuffix), (1, vec![Tag::Neutral]));
    assert_eq!(tag_of_y(Method::Exact), (1, vec![Tag::Incorrect]));
}

#[test]
fn methods_refuse_what_they_are_not_for() {
    let lts = component();
    let mut sources = source::Sources::new();
    let safety = Property::of(&logic::never("C", &mut sources).unwrap().formula).unwrap();
    let tag = |property: &Property, method| {
        let options = Options { method: Some(method), ..Options::default() };
        property.tag(&lts, &options, &Progress::new()).err().map(|why| why.to_string())
    };
    assert!(tag(&safety, Method::PrefixSuffix).unwrap().contains("not for safety"));
    assert!(tag(&inevitable(&["A"]), Method::Counterexample).unwrap().contains("may be endless"));
}
