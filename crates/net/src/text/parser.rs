//! From text to a tree. Types, functions, expressions and patterns are read by LNT's own parser.

use lnt::data::{Name, Reader};
use source::{Diagnostic, FileId, Span};

use super::tree::{
    ArcText, ArcWord, Count, MarkingText, NestedNet, NetText, PlaceText, StateText, TransitionText,
};

/// Behind an expression, these begin a clause.
const CLAUSES: &[&str] = &["take", "read", "inhibit", "reset", "put"];

/// What may stand in a net.
const ELEMENTS: [&str; 5] = ["place", "transition", "marking", "state", "net"];

/// How deep nets may be nested.
const DEEPEST: usize = 50;

/// Reads a file; what can't be read is left out after a complaint.
pub(crate) fn parse(file: FileId, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<NetText> {
    let mut parser = Parser {
        reader: Reader::new(file, text, CLAUSES, diagnostics),
        nets: Vec::new(),
        places: Vec::new(),
        transitions: Vec::new(),
        markings: Vec::new(),
        states: Vec::new(),
    };
    if !parser.reader.at("net") {
        let reader = &mut parser.reader;
        let diagnostic = Diagnostic::error(format!("expected `net`, found {}", reader.found()))
            .label(reader.span(), "expected `net`")
            .help("a file holds one net: `net NAME is … end net`");
        reader.error(diagnostic);
        return None;
    }
    parser.net(None, 0)?;
    if !parser.reader.at_end() {
        let reader = &mut parser.reader;
        let diagnostic = Diagnostic::error(format!("{} after the end of the net", reader.found()))
            .label(reader.span(), "nothing may follow")
            .help("a file holds one net; nets that share its places stand inside it");
        reader.error(diagnostic);
    }
    let name = parser.nets.first()?.name.clone();
    Some(NetText {
        nets: parser.nets,
        places: parser.places,
        transitions: parser.transitions,
        markings: parser.markings,
        states: parser.states,
        written: parser.reader.finish(&name),
        name,
    })
}

struct Parser<'a> {
    reader: Reader<'a>,
    nets: Vec<NestedNet>,
    places: Vec<PlaceText>,
    transitions: Vec<TransitionText>,
    markings: Vec<MarkingText>,
    states: Vec<StateText>,
}

impl Parser<'_> {
    /// `net N is … end net`
    fn net(&mut self, parent: Option<usize>, depth: usize) -> Option<()> {
        let start = self.reader.span();
        self.reader.skip();
        let name = self.reader.free_name("a name for the net")?;
        let number = self.nets.len();
        self.nets.push(NestedNet { name, span: start, parent });
        self.reader.expect("is");
        while !self.reader.at_end() && !self.closes("net") {
            if self.reader.definition() {
                continue;
            }
            let element = self.reader.span();
            let read = match ELEMENTS.into_iter().find(|word| self.reader.at(word)) {
                Some("place") => self.places(number),
                Some("transition") => self.transition(number),
                Some("marking") => self.marking(number),
                Some("state") => self.state(number),
                Some(_) if depth >= DEEPEST => {
                    let diagnostic = Diagnostic::error(format!("nested more than {DEEPEST} levels deep"))
                        .label(element, "too deep from here on");
                    self.reader.error(diagnostic);
                    while !self.reader.at_end() {
                        self.reader.skip();
                    }
                    return None;
                }
                Some(_) => self.net(Some(number), depth + 1),
                None => self.no_element(),
            };
            if read.is_none() {
                self.recover(element);
            }
        }
        self.reader.end("net", start);
        self.nets[number].span = self.reader.span_since(start);
        Some(())
    }

    fn closes(&self, word: &str) -> bool {
        self.reader.at("end") && self.reader.at_ahead(1, word)
    }

    fn no_element(&mut self) -> Option<()> {
        let what = "`place`, `transition`, `marking`, `state`, `net`, `type`, `function` or `end net`";
        let mut diagnostic = Diagnostic::error(format!("expected {what}, found {}", self.reader.found()))
            .label(self.reader.span(), "not part of a net");
        if self.reader.at("process") {
            diagnostic = diagnostic.help("what happens is written as transitions; a net has no processes");
        }
        self.reader.error(diagnostic);
        None
    }

    /// Goes on at the next element.
    fn recover(&mut self, from: Span) {
        while !self.reader.at_end() {
            let moved = self.reader.span() != from;
            let starts = ELEMENTS.into_iter().chain(["type", "function", "channel"]);
            if moved && starts.into_iter().any(|word| self.reader.at(word)) {
                return;
            }
            if self.closes("net") {
                return;
            }
            if self.reader.eat("end") {
                // Closes what was not read.
                self.reader.skip();
                continue;
            }
            self.reader.skip();
        }
    }

    /// `place P, Q : set of T, U`
    fn places(&mut self, net: usize) -> Option<()> {
        self.reader.skip();
        let mut names = vec![self.reader.free_name("a name for the place")?];
        while self.reader.eat(",") {
            names.push(self.reader.free_name("a name for the place")?);
        }
        let (mut sorts, mut is_set) = (Vec::new(), false);
        if self.reader.eat(":") {
            is_set = self.reader.at("set") && self.reader.at_ahead(1, "of");
            if is_set {
                self.reader.skip();
                self.reader.skip();
            }
            sorts.push(self.reader.name("the name of a type")?);
            while self.reader.eat(",") {
                sorts.push(self.reader.name("the name of a type")?);
            }
        }
        for name in names {
            self.places.push(PlaceText { name, net, sorts: sorts.clone(), is_set });
        }
        Some(())
    }

    fn transition(&mut self, net: usize) -> Option<()> {
        let start = self.reader.span();
        self.reader.skip();
        let name = self.reader.free_name("a name for the transition")?;
        let variables = if self.reader.eat("(") { self.variables()? } else { Vec::new() };
        self.reader.eat("is");
        let (mut arcs, mut guards) = (Vec::new(), Vec::new());
        while !self.reader.at("end") {
            if self.reader.eat("where") {
                guards.push(self.reader.expression());
                continue;
            }
            let Some((_, word)) = ArcWord::ALL.into_iter().find(|(text, _)| self.reader.at(text)) else {
                let what = "`take`, `put`, `read`, `inhibit`, `reset`, `where` or `end transition`";
                self.reader.expected(what);
                return None;
            };
            self.reader.skip();
            self.arcs(word, &mut arcs)?;
        }
        self.reader.end("transition", start);
        let span = self.reader.span_since(start);
        self.transitions.push(TransitionText { name, span, net, variables, arcs, guards });
        Some(())
    }

    /// `x, y : T, z)`
    fn variables(&mut self) -> Option<Vec<(Name, Option<Name>)>> {
        let mut variables: Vec<(Name, Option<Name>)> = Vec::new();
        let mut pending = 0;
        if self.reader.eat(")") {
            return Some(variables);
        }
        loop {
            variables.push((self.reader.name("the name of a variable")?, None));
            pending += 1;
            if self.reader.eat(":") {
                let sort = self.reader.name("the name of a type")?;
                let first = variables.len() - pending;
                variables[first..].iter_mut().for_each(|(_, of)| *of = Some(sort.clone()));
                pending = 0;
            }
            if !self.reader.eat(",") {
                break;
            }
        }
        self.reader.expect(")").then_some(variables)
    }

    /// `2 * P (x), Q`
    fn arcs(&mut self, word: ArcWord, arcs: &mut Vec<ArcText>) -> Option<()> {
        loop {
            arcs.push(self.arc(word)?);
            if !self.reader.eat(",") {
                return Some(());
            }
        }
    }

    fn arc(&mut self, word: ArcWord) -> Option<ArcText> {
        let start = self.reader.span();
        let mut count = Count::One;
        if let Some((number, span)) = self.reader.integer() {
            count = Count::Number(number, span);
            if !self.reader.expect("*") {
                return None;
            }
        } else if self.reader.at_ahead(1, "*") {
            count = Count::Constant(self.reader.name("a number")?);
            self.reader.skip();
        }
        let mut place = vec![self.reader.free_name("the name of a place")?];
        while self.reader.eat(".") {
            place.push(self.reader.free_name("the name of a place")?);
        }
        let mut inscription = None;
        if self.reader.eat("(") {
            let mut parts = Vec::new();
            if !self.reader.at(")") {
                parts.push(self.reader.inscription());
                while self.reader.eat(",") {
                    parts.push(self.reader.inscription());
                }
            }
            if !self.reader.expect(")") {
                return None;
            }
            inscription = Some(parts);
        }
        Some(ArcText { word, count, place, inscription, span: self.reader.span_since(start) })
    }

    fn marking(&mut self, net: usize) -> Option<()> {
        let start = self.reader.span();
        self.reader.skip();
        let name = self.reader.free_name("a name for the marking")?;
        self.reader.expect("is");
        let mut tokens = Vec::new();
        if !self.reader.at("end") {
            self.arcs(ArcWord::Put, &mut tokens)?;
        }
        self.reader.end("marking", start);
        self.markings.push(MarkingText { name, net, tokens });
        Some(())
    }

    fn state(&mut self, net: usize) -> Option<()> {
        let start = self.reader.span();
        self.reader.skip();
        let name = self.reader.free_name("a name for the state")?;
        self.reader.expect("is");
        let condition = self.reader.expression();
        self.reader.end("state", start);
        self.states.push(StateText { name, net, condition, span: self.reader.span_since(start) });
        Some(())
    }
}
