//! No text makes the PNML reader fail or take long; nor does what it reads, whatever is then done with it.

use std::time::{Duration, Instant};

use explore::{Limits, explore};
use lts::{Chance, Progress};
use net::{
    Diagram, FlatModel, PromelaOptions, Sketch, classes, coverability, probe_pnml, siphons, traps,
    write_pnml, write_promela,
};

const COLOURED: &str = r#"<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<net id="n" type="http://www.pnml.org/version-2009/grammar/symmetricnet"><page id="g">
<place id="p"><name><text>P</text></name><type><structure><usersort declaration="S"/></structure></type>
<hlinitialMarking><structure><add><subterm><all><usersort declaration="S"/></all></subterm><subterm><numberof><subterm>
<numberconstant value="2"><positive/></numberconstant></subterm><subterm><useroperator declaration="a"/></subterm></numberof>
</subterm></add></structure></hlinitialMarking></place>
<place id="q"><type><structure><usersort declaration="B"/></structure></type></place>
<place id="d"><type><structure><dot/></structure></type><hlinitialMarking><structure><dotconstant/></structure></hlinitialMarking></place>
<transition id="t"><condition><structure><and><subterm><inequality><subterm><variable refvariable="x"/></subterm><subterm>
<successor><subterm><variable refvariable="y"/></subterm></successor></subterm></inequality></subterm><subterm><or><subterm>
<lessthan><subterm><variable refvariable="r"/></subterm><subterm><finiteintrangeconstant value="3"><finiteintrange start="1" end="4"/>
</finiteintrangeconstant></subterm></lessthan></subterm><subterm><equality><subterm><partitionelementof refpartition="h"><subterm>
<variable refvariable="x"/></subterm></partitionelementof></subterm><subterm><useroperator declaration="h1"/></subterm></equality>
</subterm></or></subterm></and></structure></condition></transition>
<arc id="1" source="p" target="t"><hlinscription><structure><variable refvariable="x"/></structure></hlinscription></arc>
<arc id="2" source="p" target="t"><hlinscription><structure><subtract><subterm><all><usersort declaration="S"/></all></subterm>
<subterm><variable refvariable="y"/></subterm></subtract></structure></hlinscription></arc>
<arc id="3" source="t" target="q"><hlinscription><structure><tuple><subterm><variable refvariable="x"/></subterm><subterm>
<variable refvariable="r"/></subterm></tuple></structure></hlinscription></arc>
<arc id="4" source="d" target="t"><type value="inhibitor"/><inscription><text>3</text></inscription></arc>
<arc id="5" source="d" target="t" type="test"/></page>
<declaration><structure><declarations>
<namedsort id="S" name="S"><cyclicenumeration><feconstant id="a" name="1"/><feconstant id="b" name="2"/></cyclicenumeration></namedsort>
<namedsort id="R" name="R"><finiteintrange start="1" end="4"/></namedsort>
<namedsort id="B" name="B"><productsort><usersort declaration="S"/><usersort declaration="R"/></productsort></namedsort>
<partition id="h" name="h"><usersort declaration="S"/><partitionelement id="h1" name="x"><useroperator declaration="a"/></partitionelement>
<partitionelement id="h2" name="y"><useroperator declaration="b"/></partitionelement></partition>
<variabledecl id="x" name="x"><usersort declaration="S"/></variabledecl>
<variabledecl id="y" name="y"><usersort declaration="S"/></variabledecl>
<variabledecl id="r" name="r"><usersort declaration="R"/></variabledecl>
</declarations></structure></declaration></net></pnml>"#;

const PLAIN: &str = r#"<pnml><net id="n" type="P/T net"><token id="Default"/><place id="p"><initialMarking><value>Default,3</value></initialMarking>
<capacity><value>5</value></capacity></place><page id="g"><place id="q"/><referencePlace id="r" ref="p"/><transition id="t">
<timed><value>false</value></timed><priority><value>1</value></priority></transition></page><transition id="u"><priority><value>1</value>
</priority><timed><value>false</value></timed></transition><arc id="1" source="r" target="t"><inscription><value>Default,2</value>
</inscription></arc><arc id="2" source="t" target="q"><inscription><text>4</text></inscription></arc><arc id="3" source="q" target="u"/>
<arc id="4" source="u" target="p"/><arc id="5" source="q" target="t"><type value="reset"/></arc></net></pnml>"#;

/// Where an element of a text is; all of it where it is no XML any more.
fn an_element(text: &str, chance: &mut Chance) -> std::ops::Range<usize> {
    let Ok(document) = roxmltree::Document::parse(text) else { return 0..text.len() };
    let elements: Vec<_> = document.descendants().filter(roxmltree::Node::is_element).collect();
    elements[chance.below(elements.len())].range()
}

fn mutated(text: &str, chance: &mut Chance) -> String {
    let mut text = text.to_owned();
    for _ in 0..1 + chance.below(3) {
        let at = chance.below(text.len() + 1);
        let at = (at..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        match chance.below(12) % 6 + usize::from(chance.below(3) > 0) * 2 {
            0 => text.insert(at, ['<', '>', '"', '&', '/', '\u{0}', 'é', '9', '-'][chance.below(9)]),
            1 => {
                let end = (at + chance.below(12)).min(text.len());
                if let Some(end) = (end..=text.len()).find(|&end| text.is_char_boundary(end)) {
                    text.replace_range(at..end, "");
                }
            }
            // A number becomes extreme.
            2 => {
                let numbers = [
                    "0",
                    "-1",
                    "4294967295",
                    "4294967296",
                    "9223372036854775807",
                    "1000000",
                    "99999999999999999999",
                ];
                let quoted: Vec<usize> = text.match_indices("=\"").map(|(at, _)| at + 2).collect();
                if !quoted.is_empty() {
                    let start = quoted[chance.below(quoted.len())];
                    let end = text[start..].find('"').map_or(text.len(), |end| start + end);
                    text.replace_range(start..end, numbers[chance.below(numbers.len())]);
                }
            }
            // An element comes again, in place of another one or beside it.
            3 => {
                let part = text[an_element(&text, chance)].to_owned();
                let other = an_element(&text, chance);
                if part.len() < 2000 {
                    let range = if chance.below(2) == 0 { other } else { other.start..other.start };
                    text.replace_range(range, &part);
                }
            }
            // An element goes.
            4 => {
                let gone = an_element(&text, chance);
                if gone.len() < 300 {
                    text.replace_range(gone, "");
                }
            }
            // One name becomes another one, everywhere.
            _ => {
                let names: Vec<&str> =
                    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() > 2).collect();
                if !names.is_empty() {
                    let (one, other) = (names[chance.below(names.len())], names[chance.below(names.len())]);
                    text = text
                        .replace(&format!("<{one}"), &format!("<{other}"))
                        .replace(&format!("</{one}"), &format!("</{other}"));
                }
            }
        }
    }
    text
}

#[test]
fn mutated_files_are_read_or_refused() {
    let mut chance = Chance::new(12);
    let (mut read, mut refused, mut slowest) = (0, 0, Duration::ZERO);
    for base in [COLOURED, PLAIN] {
        probe_pnml(base).unwrap_or_else(|errors| panic!("{errors:?}"));
    }
    for round in 0..3000 {
        let text = mutated([COLOURED, PLAIN][round % 2], &mut chance);
        let start = Instant::now();
        match probe_pnml(&text) {
            Err(errors) => {
                assert!(errors.iter().all(|error| error.is_error() && error.span().is_some()), "{text}");
                refused += 1;
            }
            Ok(flat) => {
                read += 1;
                assert_eq!(
                    probe_pnml(&write_pnml(&flat)).map(|again| again.transitions.len()),
                    Ok(flat.transitions.len())
                );
                let (_, _, _) = (classes(&flat), siphons(&flat), traps(&flat));
                let _ = coverability(&flat, 200);
                assert!(Diagram::new(&Sketch::of(&flat)).to_svg().ends_with("</svg>\n"));
                let model = FlatModel::new(flat);
                let _ = write_promela(&model, PromelaOptions::default());
                explore(&model, &Limits { states: 100, threads: 1, ..Limits::default() }, &Progress::new());
            }
        }
        slowest = slowest.max(start.elapsed());
    }
    println!("{read} read, {refused} refused, the slowest took {slowest:?}");
    assert!(read > 300 && refused > 300, "{read} {refused}");
}
