//! PNML files in the form of the Model Checking Contest and of several tools, with the markings they must have.

use explore::{Exploration, Limits, explore};
use lts::Progress;
use model::Model;
use net::{ArcKind, Flat, FlatModel, load_pnml, write_pnml};
use source::Sources;

fn load(text: &str) -> Flat {
    let mut sources = Sources::new();
    load_pnml("test.pnml", text, &mut sources)
        .unwrap_or_else(|errors| panic!("{}", sources.render_all(&errors, false)))
}

/// The messages about a wrong file, as people read them.
fn errors(text: &str) -> String {
    let mut sources = Sources::new();
    let errors = load_pnml("test.pnml", text, &mut sources).expect_err("an error was expected");
    sources.render_all(&errors, false)
}

fn explored(flat: Flat) -> (FlatModel, Exploration) {
    let model = FlatModel::new(flat);
    let found = explore(&model, &Limits { threads: 1, ..Limits::default() }, &Progress::new());
    assert!(found.outcome.is_complete(), "{:?}", found.outcome);
    (model, found)
}

fn markings(text: &str) -> usize {
    explored(load(text)).1.states()
}

/// A symmetric net as the contest's files have it: declarations at the end.
struct Coloured {
    declarations: String,
    body: String,
    arcs: usize,
}

impl Coloured {
    fn new(declarations: &str) -> Self {
        Self { declarations: declarations.to_owned(), body: String::new(), arcs: 0 }
    }

    fn place(&mut self, id: &str, sort: &str, marking: &str) -> &mut Self {
        let marking = match marking {
            "" => String::new(),
            marking => {
                format!("<hlinitialMarking><text>x</text><structure>{marking}</structure></hlinitialMarking>")
            }
        };
        self.body += &format!(
            "<place id=\"{id}\"><name><graphics><offset x=\"1\" y=\"2\"/></graphics><text>{id}</text></name>\n\
             <type><text>{sort}</text><structure><usersort declaration=\"{sort}\"/></structure></type>{marking}</place>\n"
        );
        self
    }

    /// A transition with its guard, and its arcs: place, inscription.
    fn transition(
        &mut self,
        id: &str,
        guard: &str,
        inputs: &[(&str, &str)],
        outputs: &[(&str, &str)],
    ) -> &mut Self {
        let guard = match guard {
            "" => String::new(),
            guard => format!("<condition><text>g</text><structure>{guard}</structure></condition>"),
        };
        self.body += &format!("<transition id=\"{id}\"><name><text>{id}</text></name>{guard}</transition>\n");
        for (is_input, &(place, term)) in
            inputs.iter().map(|arc| (true, arc)).chain(outputs.iter().map(|arc| (false, arc)))
        {
            let (source, target) = if is_input { (place, id) } else { (id, place) };
            self.body += &format!(
                "<arc id=\"a{}\" source=\"{source}\" target=\"{target}\"><hlinscription><text>x</text><structure>\
                 <numberof><subterm><numberconstant value=\"1\"><positive/></numberconstant></subterm>\
                 <subterm>{term}</subterm></numberof></structure></hlinscription></arc>\n",
                self.arcs
            );
            self.arcs += 1;
        }
        self
    }

    fn text(&self) -> String {
        format!(
            "<?xml version=\"1.0\"?>\n<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n\
             <net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/symmetricnet\">\n<page id=\"page0\">\n{}</page>\n\
             <name><text>Coloured</text></name><declaration><structure><declarations>{}</declarations></structure>\
             </declaration></net></pnml>",
            self.body, self.declarations
        )
    }
}

fn enumeration(id: &str, count: usize, kind: &str) -> String {
    let constants: String =
        (0..count).map(|number| format!("<feconstant id=\"{id}{number}\" name=\"{number}\"/>")).collect();
    format!("<namedsort id=\"{id}\" name=\"{id}\"><{kind}>{constants}</{kind}></namedsort>")
}

fn variable(id: &str, sort: &str) -> String {
    format!("<variabledecl id=\"{id}\" name=\"{id}\"><usersort declaration=\"{sort}\"/></variabledecl>")
}

const DOT: &str = "<namedsort id=\"dot\" name=\"dot\"><dot/></namedsort>";

fn var(id: &str) -> String {
    format!("<variable refvariable=\"{id}\"/>")
}

fn after(id: &str) -> String {
    format!("<successor><subterm>{}</subterm></successor>", var(id))
}

fn tuple(parts: &[&str]) -> String {
    let parts: String = parts.iter().map(|part| format!("<subterm>{part}</subterm>")).collect();
    format!("<tuple>{parts}</tuple>")
}

fn all(sort: &str) -> String {
    format!("<all><usersort declaration=\"{sort}\"/></all>")
}

fn philosophers(number: usize) -> String {
    let declarations = enumeration("Philo", number, "cyclicenumeration") + &variable("x", "Philo");
    let mut net = Coloured::new(&declarations);
    let (x, next) = (var("x"), after("x"));
    let (x, next) = (&*x, &*next);
    for (place, marking) in
        [("Think", true), ("Fork", true), ("Catch1", false), ("Catch2", false), ("Eat", false)]
    {
        net.place(place, "Philo", &if marking { all("Philo") } else { String::new() });
    }
    net.transition("FF1a", "", &[("Think", x), ("Fork", x)], &[("Catch1", x)])
        .transition("FF1b", "", &[("Think", x), ("Fork", next)], &[("Catch2", x)])
        .transition("FF2a", "", &[("Catch1", x), ("Fork", next)], &[("Eat", x)])
        .transition("FF2b", "", &[("Catch2", x), ("Fork", x)], &[("Eat", x)])
        .transition("End", "", &[("Eat", x)], &[("Think", x), ("Fork", x), ("Fork", next)]);
    net.text()
}

#[test]
fn philosophers_of_the_contest() {
    for (number, expected) in [(5, 243), (8, 6561)] {
        let flat = load(&philosophers(number));
        assert_eq!((flat.places.len(), flat.transitions.len()), (5 * number, 5 * number));
        let (model, found) = explored(flat);
        assert_eq!(found.states(), expected);
        let labels: Vec<&str> = found.lts.labels().iter().map(|(_, text)| text).collect();
        assert!(labels.contains(&"FF1A !0") && labels.contains(&"END !4"), "{labels:?}");
        let initial = model.describe(&model.initial().unwrap());
        assert_eq!(initial.values[2], ("Catch1".to_owned(), "{}".to_owned()));
        assert!(initial.values[0].1.starts_with("{0, 1, 2, 3, 4"));
    }
}

fn shared_memory(number: usize) -> String {
    let product = "<namedsort id=\"PP\" name=\"PP\"><productsort><usersort declaration=\"P\"/>\
                   <usersort declaration=\"P\"/></productsort></namedsort>";
    let declarations = enumeration("P", number, "finiteenumeration")
        + product
        + DOT
        + &variable("x", "P")
        + &variable("y", "P");
    let mut net = Coloured::new(&declarations);
    let (x, y, both) = (var("x"), var("y"), tuple(&[&var("x"), &var("y")]));
    let different = format!("<inequality><subterm>{x}</subterm><subterm>{y}</subterm></inequality>");
    let dot = "<dotconstant/>";
    net.place("Active", "P", &all("P")).place("Memory", "P", &all("P"));
    net.place("OwnMemAcc", "P", "").place("Queue", "P", "");
    net.place("Ext_Mem_Acc", "PP", "").place("Ext_Bus", "dot", dot);
    net.transition("Begin_Own", "", &[("Active", &x)], &[("OwnMemAcc", &x)]);
    net.transition("End_Own", "", &[("OwnMemAcc", &x)], &[("Active", &x)]);
    net.transition("Req_Ext", "", &[("Active", &x)], &[("Queue", &x)]);
    net.transition(
        "Begin_Ext",
        &different,
        &[("Queue", &x), ("Memory", &y), ("Ext_Bus", dot)],
        &[("Ext_Mem_Acc", &both)],
    );
    net.transition(
        "End_Ext",
        "",
        &[("Ext_Mem_Acc", &both)],
        &[("Active", &x), ("Memory", &y), ("Ext_Bus", dot)],
    );
    net.text()
}

#[test]
fn shared_memory_of_the_contest() {
    let flat = load(&shared_memory(5));
    // No processor asks for its own memory: the guard leaves those out.
    assert_eq!((flat.places.len(), flat.transitions.len()), (41, 55));
    assert_eq!(explored(flat).1.states(), 1863);
    assert_eq!(markings(&shared_memory(3)), 3 * 3 * 3 + 3 * 2 * 9);
}

/// Dijkstra's ring: the first process changes its state if it is that of the last one, others take that of the one before.
fn token_ring(number: usize) -> String {
    let declarations = enumeration("C", number + 1, "cyclicenumeration")
        + "<namedsort id=\"CC\" name=\"CC\"><productsort><usersort declaration=\"C\"/><usersort declaration=\"C\"/>\
           </productsort></namedsort>"
        + &variable("p", "C")
        + &variable("x", "C")
        + &variable("y", "C");
    let mut net = Coloured::new(&declarations);
    let constant = |number: usize| format!("<useroperator declaration=\"C{number}\"/>");
    let pairs: String = (0..=number)
        .map(|process| format!("<subterm>{}</subterm>", tuple(&[&constant(process), &constant(process)])))
        .collect();
    net.place("State", "CC", &format!("<add>{pairs}</add>"));
    let (first, last) = (constant(0), constant(number));
    let (p, x, y, next) = (var("p"), var("x"), var("y"), after("x"));
    let follows = after("p");
    let main = [tuple(&[&first, &x]), tuple(&[&last, &x]), tuple(&[&first, &next])];
    net.transition(
        "Main",
        "",
        &[("State", &main[0]), ("State", &main[1])],
        &[("State", &main[2]), ("State", &main[1])],
    );
    let guard = format!(
        "<and><subterm><inequality><subterm>{x}</subterm><subterm>{y}</subterm></inequality></subterm>\
         <subterm><inequality><subterm>{p}</subterm><subterm>{last}</subterm></inequality></subterm></and>"
    );
    let other = [tuple(&[&p, &x]), tuple(&[&follows, &y]), tuple(&[&follows, &x])];
    net.transition(
        "Other",
        &guard,
        &[("State", &other[0]), ("State", &other[1])],
        &[("State", &other[0]), ("State", &other[2])],
    );
    net.text()
}

#[test]
fn token_ring_of_the_contest() {
    assert_eq!(markings(&token_ring(5)), 166);
}

/// The Kanban system of Ciardo and Tilgner (1996) as a place/transition net.
fn kanban(tokens: usize) -> String {
    let mut body = String::new();
    for cell in 1..=4 {
        for (place, marking) in [("m", 0), ("back", 0), ("kan", tokens), ("out", 0)] {
            body += &format!(
                "<place id=\"P{place}{cell}\"><name><text>P{place}{cell}</text></name>\
                 <initialMarking><text>{marking}</text></initialMarking></place>"
            );
        }
    }
    let mut arcs = 0;
    let mut transition = |id: &str, inputs: &[&str], outputs: &[&str]| {
        body += &format!("<transition id=\"{id}\"><name><text>{id}</text></name></transition>");
        let ends = inputs.iter().map(|place| (*place, id)).chain(outputs.iter().map(|place| (id, *place)));
        for (source, target) in ends {
            body += &format!("<arc id=\"a{arcs}\" source=\"{source}\" target=\"{target}\"/>");
            arcs += 1;
        }
    };
    for cell in 1..=4 {
        let of = |place: &str| format!("P{place}{cell}");
        transition(&format!("tredo{cell}"), &[&of("m")], &[&of("back")]);
        transition(&format!("tback{cell}"), &[&of("back")], &[&of("m")]);
        transition(&format!("tok{cell}"), &[&of("m")], &[&of("out")]);
    }
    transition("tin1", &["Pkan1"], &["Pm1"]);
    transition("tsynch1_23", &["Pout1", "Pkan2", "Pkan3"], &["Pkan1", "Pm2", "Pm3"]);
    transition("tsynch23_4", &["Pout2", "Pout3", "Pkan4"], &["Pkan2", "Pkan3", "Pm4"]);
    transition("tout4", &["Pout4"], &["Pkan4"]);
    format!(
        "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\
         <net id=\"Kanban\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"p\">{body}</page></net></pnml>"
    )
}

#[test]
fn kanban_of_the_contest() {
    for (tokens, expected) in [(1, 160), (2, 4600), (3, 58_400)] {
        let (model, found) = explored(load(&kanban(tokens)));
        assert_eq!(found.states(), expected);
        assert!(model.bounds().iter().all(|&bound| bound == Some(tokens as u64)));
    }
}

#[test]
fn kinds_of_arcs_as_tools_write_them() {
    let net = |arc: &str| {
        format!(
            "<pnml><net id=\"n\" type=\"P/T net\"><place id=\"p\"><initialMarking><value>Default,3</value></initialMarking>\
             <capacity><value>0</value></capacity></place><place id=\"q\"/><transition id=\"t\"><timed><value>false</value>\
             </timed></transition>{arc}</net></pnml>"
        )
    };
    let kind = |arc: &str| load(&net(arc)).transitions[0].arcs[0].kind;
    let with = |inside: &str| format!("<arc id=\"a\" source=\"p\" target=\"t\">{inside}</arc>");
    assert_eq!(load(&net("")).places[0].initial, 3);
    assert_eq!(
        kind(&with("<inscription><value>Default,2</value></inscription><type value=\"normal\"/>")),
        ArcKind::Take(2)
    );
    assert_eq!(kind(&with("<type value=\"inhibitor\"/>")), ArcKind::Inhibit(1));
    assert_eq!(
        kind(&with("<inscription><text> 2 </text></inscription><type value=\"test\"/>")),
        ArcKind::Read(2)
    );
    assert_eq!(kind(&with("<arctype><text>inhibitor</text></arctype>")), ArcKind::Inhibit(1));
    assert_eq!(kind(&with("<type><text>read</text></type>")), ArcKind::Read(1));
    assert_eq!(kind("<arc id=\"a\" source=\"p\" target=\"t\" type=\"reset\"/>"), ArcKind::Reset);
    let unknown = errors(&net(&with("<type value=\"transport\"/>")));
    assert!(
        unknown.contains("arcs of type `transport` are not supported") && unknown.contains("test.pnml:1:"),
        "{unknown}"
    );
}

#[test]
fn pages_and_references() {
    let text = "<pnml><net id=\"n\"><page id=\"one\">\
        <place id=\"p\"><initialMarking><text>2</text></initialMarking></place>\
        <page id=\"inner\"><referencePlace id=\"r\" ref=\"s\"/><referencePlace id=\"s\" ref=\"p\"/>\
        <transition id=\"t\"/><arc id=\"a\" source=\"r\" target=\"t\"/></page></page>\
        <page id=\"two\"><referenceTransition id=\"u\" ref=\"t\"/><place id=\"q\"/>\
        <arc id=\"b\" source=\"u\" target=\"q\"/></page></net></pnml>";
    assert_eq!(markings(text), 3);
    let circle = text.replace("ref=\"p\"", "ref=\"r\"");
    assert!(errors(&circle).contains("refers to itself"));
}

#[test]
fn capacities_hold_transitions_back() {
    let text = "<pnml><net id=\"n\"><place id=\"p\"><capacity><value>3</value></capacity></place>\
        <transition id=\"t\"/><arc id=\"a\" source=\"t\" target=\"p\"><inscription><value>2</value></inscription></arc>\
        <transition id=\"u\"/><arc id=\"b\" source=\"p\" target=\"u\"/></net></pnml>";
    // 0, 2, 1, 3: never 4.
    assert_eq!(markings(text), 4);
}

#[test]
fn names_become_gates() {
    let text = "<pnml><net id=\"n\"><transition id=\"a1\"><name><text>send (x)</text></name></transition>\
        <transition id=\"a2\"><name><text>send [x]</text></name></transition><transition id=\"3\"/></net></pnml>";
    let labels: Vec<String> = load(text).transitions.into_iter().map(|transition| transition.label).collect();
    assert_eq!(labels, ["A1", "A2", "T3"]);
}

#[test]
fn wrong_files_are_told_where_and_why() {
    let fork = philosophers(3);
    let cases = [
        ("<pnml><net", "invalid XML"),
        ("", "invalid XML"),
        ("<html/>", "this is not a PNML file"),
        ("<pnml/>", "there is no net in this file"),
        ("<pnml><net id=\"a\"/><net id=\"b\"/></pnml>", "there are 2 nets in this file"),
        (
            "<!DOCTYPE p [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><pnml>&b;</pnml>",
            "document types are not supported",
        ),
        ("<pnml><net id=\"n\"><place id=\"p\"/><place id=\"p\"/></net></pnml>", "the id `p` is given twice"),
        (
            "<pnml><net id=\"n\"><place id=\"p\"><initialMarking><text>-1</text></initialMarking></place></net></pnml>",
            "`-1` is not a number of tokens",
        ),
        (
            "<pnml><net id=\"n\"><place id=\"p\"/><arc id=\"a\" source=\"p\" target=\"x\"/></net></pnml>",
            "unknown id `x`",
        ),
        (
            "<pnml><net id=\"n\"><place id=\"p\"/><place id=\"q\"/><arc id=\"a\" source=\"p\" target=\"q\"/></net></pnml>",
            "an arc must connect a place and a transition",
        ),
        (
            "<pnml><net id=\"n\"><transition id=\"t\"><delay/></transition></net></pnml>",
            "time intervals are not supported",
        ),
        (&fork.replacen("declaration=\"Philo\"", "declaration=\"Phlio\"", 1), "did you mean `Philo`?"),
        (&fork.replace("refvariable=\"x\"", "refvariable=\"z\""), "unknown variable `z`"),
        (
            &fork.replace("<all>", "<addition>").replace("</all>", "</addition>"),
            "`addition` is not supported",
        ),
        (
            &fork.replace("<cyclicenumeration>", "<strings>").replace("</cyclicenumeration>", "</strings>"),
            "`strings` is not supported",
        ),
    ];
    for (text, expected) in cases {
        let found = errors(text);
        assert!(found.contains(expected), "{expected}: {found}");
        assert!(found.contains("test.pnml:"), "{found}");
    }
}

#[test]
fn unfoldings_that_are_too_large_are_told() {
    let declarations =
        "<namedsort id=\"R\" name=\"R\"><finiteintrange start=\"1\" end=\"100000\"/></namedsort>".to_owned()
            + &variable("x", "R")
            + &variable("y", "R");
    let mut net = Coloured::new(&declarations);
    net.place("P", "R", &all("R")).transition("T", "", &[("P", &var("x")), ("P", &var("y"))], &[]);
    let found = errors(&net.text());
    assert!(found.contains("the unfolded net is too large"), "{found}");
    assert!(found.contains("more than 2000000 transitions"), "{found}");
    assert!(found.contains("10000000000 combinations of values"), "{found}");
}

#[test]
fn products_of_large_sorts_unfold_to_what_is_used() {
    // A walk through a product of 10^12 values, ten steps of which happen.
    let range = "<finiteintrange start=\"0\" end=\"9999\"/>";
    let declarations = format!("<namedsort id=\"R\" name=\"R\">{range}</namedsort>")
        + "<namedsort id=\"B\" name=\"B\"><productsort><usersort declaration=\"R\"/><usersort declaration=\"R\"/>\
           <usersort declaration=\"R\"/></productsort></namedsort>"
        + &variable("x", "R")
        + &variable("y", "R")
        + &variable("z", "R");
    let number =
        |value: usize| format!("<finiteintrangeconstant value=\"{value}\">{range}</finiteintrangeconstant>");
    let mut net = Coloured::new(&declarations);
    net.place("P", "B", &tuple(&[&number(0), &number(7), &number(9)]));
    let guard = format!(
        "<and><subterm><lessthan><subterm>{}</subterm><subterm>{}</subterm></lessthan></subterm>\
         <subterm><equality><subterm>{}</subterm><subterm>{}</subterm></equality></subterm></and>",
        var("x"),
        number(10),
        var("z"),
        after("x")
    );
    let (before, then) =
        (tuple(&[&var("x"), &var("y"), &number(9)]), tuple(&[&var("z"), &var("y"), &number(9)]));
    net.transition("T", &guard, &[("P", &before)], &[("P", &then)]);
    let flat = load(&net.text());
    assert_eq!((flat.places.len(), flat.transitions.len()), (11, 10));
    assert_eq!(flat.transitions[3].label, "T !3 !7 !4");
    assert_eq!(flat.places[2].token, "(2, 7, 9)");
}

/// Two nets that differ in nothing but where they are written.
fn without_spans(mut flat: Flat) -> Flat {
    let span = Flat::plain("x", &[], &[]).components[0].span;
    flat.components.iter_mut().for_each(|component| component.span = span);
    flat.source_places.iter_mut().for_each(|place| place.span = span);
    flat.source_transitions.iter_mut().for_each(|transition| transition.span = span);
    flat
}

#[test]
fn what_is_written_reads_back_equal() {
    let text = "<pnml><net id=\"n\"><name><text>a &lt; b</text></name><place id=\"p\"><name><text>A &amp; B</text></name>\
        <initialMarking><text>3</text></initialMarking></place><place id=\"q\"/><transition id=\"t\"/><transition id=\"u\"/>\
        <arc id=\"1\" source=\"p\" target=\"t\"><inscription><text>2</text></inscription></arc>\
        <arc id=\"2\" source=\"t\" target=\"q\"/><arc id=\"3\" source=\"p\" target=\"u\"><type value=\"inhibitor\"/></arc>\
        <arc id=\"4\" source=\"q\" target=\"u\"><type value=\"test\"/></arc>\
        <arc id=\"5\" source=\"q\" target=\"t\"><type value=\"reset\"/></arc></net></pnml>";
    for text in [text, &kanban(2)] {
        let flat = load(text);
        assert_eq!(without_spans(load(&write_pnml(&flat))), without_spans(flat));
    }
    // A net with colours becomes a plain one with the same markings and steps.
    let flat = load(&shared_memory(4));
    let again = load(&write_pnml(&flat));
    assert_eq!(again.places.len(), flat.places.len());
    let (one, other) = (explored(flat).1, explored(again).1);
    assert_eq!((one.states(), one.lts.transition_count()), (other.states(), other.lts.transition_count()));
}

#[test]
fn deep_and_long_texts_are_harmless() {
    let deep = "<a>".repeat(200_000);
    assert!(errors(&deep).contains("nested too deeply"));
    let nots = 5000;
    let guard = format!(
        "{}<booleanconstant value=\"true\"/>{}",
        "<not><subterm>".repeat(nots / 20),
        "</subterm></not>".repeat(nots / 20)
    );
    let mut net = Coloured::new(DOT);
    net.transition("T", &guard, &[], &[]);
    assert!(errors(&net.text()).contains("nested too deeply"));
}

/// Sites that change files together: whoever has the mutex of a file tells all others and waits for their answers.
fn database(sites: usize) -> String {
    let product = |id: &str, factors: &[&str]| {
        let factors: String =
            factors.iter().map(|factor| format!("<usersort declaration=\"{factor}\"/>")).collect();
        format!("<namedsort id=\"{id}\" name=\"{id}\"><productsort>{factors}</productsort></namedsort>")
    };
    let declarations = enumeration("S", sites, "finiteenumeration")
        + &enumeration("F", sites, "finiteenumeration")
        + &product("SF", &["S", "F"])
        + &product("SSF", &["S", "S", "F"])
        + &variable("s", "S")
        + &variable("r", "S")
        + &variable("f", "F");
    let (s, f) = (var("s"), var("f"));
    let (sf, rf, srf) = (tuple(&[&s, &f]), tuple(&[&var("r"), &f]), tuple(&[&s, &var("r"), &f]));
    let others = format!(
        "<subtract><subterm>{}</subterm><subterm>{}</subterm></subtract>",
        tuple(&[&s, &all("S"), &f]),
        tuple(&[&s, &s, &f])
    );
    let mut net = Coloured::new(&declarations);
    net.place("Mutex", "F", &all("F")).place("Active", "SF", &tuple(&[&all("S"), &all("F")]));
    net.place("Chosen", "SF", "").place("Waiting", "SF", "");
    net.place("Message", "SSF", "").place("Updating", "SSF", "").place("Answer", "SSF", "");
    net.transition("Acquire", "", &[("Active", &sf), ("Mutex", &f)], &[("Chosen", &sf)]);
    net.transition("Tell", "", &[("Chosen", &sf)], &[("Waiting", &sf), ("Message", &others)]);
    net.transition("Update", "", &[("Message", &srf), ("Active", &rf)], &[("Updating", &srf)]);
    net.transition("Answer_it", "", &[("Updating", &srf)], &[("Answer", &srf), ("Active", &rf)]);
    net.transition(
        "Release",
        "",
        &[("Waiting", &sf), ("Answer", &others)],
        &[("Active", &sf), ("Mutex", &f)],
    );
    net.text()
}

#[test]
fn arcs_with_all_but_one_token() {
    // Each file is independent: idle, chosen, or of the other site message, updating or answer for either site.
    assert_eq!(markings(&database(2)), 81);
    let labels = load(&database(3)).transitions;
    let release = labels.iter().find(|transition| transition.label == "RELEASE !2 !0").unwrap();
    assert_eq!(release.arcs.len(), 1 + 2 + 1 + 1);
}

#[test]
fn bounds_are_proven_where_there_are_too_many_invariants_to_list() {
    // For every file, any of ten answers for each of ten sites: 10^10 invariants.
    let model = FlatModel::new(load(&database(10)));
    assert_eq!(model.bounds().len(), 3010);
    assert!(model.bounds().iter().all(|&bound| bound == Some(1)));
}
