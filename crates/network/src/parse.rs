//! The text of networks, in the spirit of CADP's EXP:
//!
//! ```text
//! hide SEND, ACK in
//!    par SEND, ACK in
//!       "sender.aut" || "medium.aut" || rename RECV -> SEND in "receiver.aut" end rename
//!    end par
//! end hide
//! ```
//!
//! `par GAME #2 in A || B || C end par` synchronises any two of the three; `par A in G -> X || G -> Y || Z end
//! par` adds gates of single branches; `par using A * B * _ -> C in X || Y || Z end par` gives vectors;
//! `X |[A, B]| Y` and `X ||| Y` are the operators of LOTOS. A bare word names a gate, `"text"` one label,
//! `'text'` a regular expression. Comments are `(* … *)` and `-- …`.

use std::collections::HashMap;
use std::sync::Arc;

use source::{Diagnostic, FileId, Sources, Span};

use lts::{Lts, Selector};

use super::{Leaf, Network, Part, SyncRule, SyncVector, Synchronisation};

/// Networks nested deeper than this are refused, so that no input can exhaust the stack.
const DEEPEST: usize = 200;

/// Reads a network. `load` is called with the name of each leaf as written, once for leaves of one name; what it says is
/// wrong is told at the place of that name.
///
/// ```
/// let mut sources = source::Sources::new();
/// let file = sources.add("net.exp", "par A in one.aut || two.aut end par");
/// let network = network::parse_network(file, &sources, &mut |_name| {
///     Ok(lts::parse_aut("des (0, 1, 2)\n(0, A, 1)\n", &Default::default()).unwrap().into())
/// });
/// assert!(network.is_ok());
/// ```
pub fn parse_network(
    file: FileId,
    sources: &Sources,
    load: &mut dyn FnMut(&str) -> Result<Arc<Lts>, String>,
) -> Result<Network, Vec<Diagnostic>> {
    let tokens = tokenise(file, sources.text(file)).map_err(|error| vec![error])?;
    let mut parser =
        Parser { tokens, at: 0, depth: 0, load, loaded: HashMap::new(), load_errors: Vec::new() };
    let network = parser.whole_file().map_err(|error| {
        let mut errors = std::mem::take(&mut parser.load_errors);
        errors.push(*error);
        errors
    })?;
    match parser.load_errors.is_empty() {
        true => Ok(network),
        false => Err(parser.load_errors),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A gate, a keyword or a file name.
    Word(String),
    /// `"text"`.
    Quoted(String),
    /// `'text'`.
    Pattern(String),
    /// `||`, `|||`, `|[`, `]|`, `->`, `,`, `#`, `(`, `)`, `*`.
    Symbol(&'static str),
    End,
}

fn tokenise(file: FileId, text: &str) -> Result<Vec<(Token, Span)>, Diagnostic> {
    const SYMBOLS: [&str; 10] = ["|||", "||", "|[", "]|", "->", ",", "#", "(", ")", "*"];
    let mut tokens = Vec::new();
    let mut at = 0;
    let span = |start: usize, end: usize| Span { file, start: start as u32, end: end as u32 };
    while let Some(character) = text[at..].chars().next() {
        let rest = &text[at..];
        if character.is_whitespace() {
            at += character.len_utf8();
        } else if rest.starts_with("--") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("(*") {
            let end = rest.find("*)").ok_or_else(|| {
                Diagnostic::error("this comment is not closed")
                    .label(span(at, at + 2), "it starts here")
                    .help("close it with `*)`")
            })?;
            at += end + 2;
        } else if let quote @ ('"' | '\'') = character {
            let end = rest[1..].find([quote, '\n']).filter(|&end| rest[1 + end..].starts_with(quote));
            let end = end.ok_or_else(|| {
                Diagnostic::error("this quote is not closed on its line").label(span(at, at + 1), "")
            })?;
            let inner = rest[1..1 + end].to_owned();
            let token = if quote == '"' { Token::Quoted(inner) } else { Token::Pattern(inner) };
            tokens.push((token, span(at, at + end + 2)));
            at += end + 2;
        } else if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
            tokens.push((Token::Symbol(symbol), span(at, at + symbol.len())));
            at += symbol.len();
        } else {
            let length = word_length(rest);
            if length == 0 {
                return Err(Diagnostic::error(format!("unexpected character `{character}`"))
                    .label(span(at, at + character.len_utf8()), "")
                    .help("names with unusual characters are written in double quotes"));
            }
            tokens.push((Token::Word(rest[..length].to_owned()), span(at, at + length)));
            at += length;
        }
    }
    tokens.push((Token::End, span(text.len(), text.len())));
    Ok(tokens)
}

/// How long the word is that `text` starts with: letters, digits and `_ . / -`, up to `->` or `--`.
fn word_length(text: &str) -> usize {
    let mut length = 0;
    for character in text.chars() {
        let rest = &text[length..];
        let inside = character.is_alphanumeric() || "_./-".contains(character);
        if !inside || rest.starts_with("->") || rest.starts_with("--") {
            break;
        }
        length += character.len_utf8();
    }
    length
}

struct Parser<'a> {
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: usize,
    load: &'a mut dyn FnMut(&str) -> Result<Arc<Lts>, String>,
    /// Leaves that were read.
    loaded: HashMap<String, Arc<Lts>>,
    /// Leaves that could not be read: reported together.
    load_errors: Vec<Diagnostic>,
}

type Parse<T> = Result<T, Box<Diagnostic>>;

/// A gate before `in`, with how many branches it takes.
struct Gate {
    selector: Selector,
    count: Option<(usize, Span)>,
    span: Span,
}

impl Parser<'_> {
    fn whole_file(&mut self) -> Parse<Network> {
        let network = self.behaviour()?;
        match self.peek() {
            Token::End => Ok(network),
            Token::Symbol("||") => Err(Box::new(
                self.unexpected("the end of the file").help("write `par A || B end par`, or `A ||| B`"),
            )),
            _ => Err(Box::new(self.unexpected("the end of the file"))),
        }
    }

    /// An operand, with infix compositions behind it; these are loops, so that long chains need no stack.
    fn behaviour(&mut self) -> Parse<Network> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let error = Diagnostic::error(format!(
                "networks nested more than {DEEPEST} levels deep are not supported"
            ));
            return Err(Box::new(error.label(self.span(), "")));
        }
        let mut network = self.operand()?;
        loop {
            let gates = if self.eat("|||") {
                Vec::new()
            } else if self.eat("|[") {
                let gates = if self.peek() == &Token::Symbol("]|") { Vec::new() } else { self.gates()? };
                self.expect("]|")?;
                gates
            } else {
                break;
            };
            let right = self.operand()?;
            let rules = self.global_rules(gates, 2)?;
            let synchronisation = Synchronisation::Rules(rules);
            network = Network::Par { synchronisation, branches: vec![network, right] };
        }
        self.depth -= 1;
        Ok(network)
    }

    fn operand(&mut self) -> Parse<Network> {
        if self.eat("(") {
            let network = self.behaviour()?;
            self.expect(")")?;
            return Ok(network);
        }
        if self.eat_word("par") {
            let network =
                if self.eat_word("using") { self.par_with_vectors()? } else { self.par_with_gates()? };
            self.end_of("par")?;
            return Ok(network);
        }
        if self.eat_word("hide") {
            let all_but = self.eat_word("all");
            if all_but {
                self.expect_word("but")?;
            }
            let selectors = self.selectors()?;
            let inner = Box::new(self.body_of("hide")?);
            return Ok(match all_but {
                true => Network::HideAllBut(inner, selectors),
                false => Network::Hide(inner, selectors),
            });
        }
        if self.eat_word("cut") {
            let selectors = self.selectors()?;
            return Ok(Network::Cut(Box::new(self.body_of("cut")?), selectors));
        }
        if self.eat_word("rename") {
            let mut rules = Vec::new();
            loop {
                let from = self.selector()?;
                self.expect("->")?;
                rules.push((from, self.new_name()?));
                if !self.eat(",") {
                    break;
                }
            }
            return Ok(Network::Rename(Box::new(self.body_of("rename")?), rules));
        }
        self.leaf()
    }

    fn leaf(&mut self) -> Parse<Network> {
        let span = self.span();
        let name = match self.peek() {
            Token::Word(name) if !is_keyword(name) => name.clone(),
            Token::Quoted(name) => name.clone(),
            _ => {
                return Err(Box::new(
                    self.unexpected("a file or one of `par`, `hide`, `rename`, `cut`, `(`"),
                ));
            }
        };
        self.at += 1;
        if let Some(lts) = self.loaded.get(&name) {
            return Ok(Network::Leaf(Leaf { lts: Arc::clone(lts), name, span: Some(span) }));
        }
        match (self.load)(&name) {
            Ok(lts) => {
                self.loaded.insert(name.clone(), Arc::clone(&lts));
                Ok(Network::Leaf(Leaf { lts, name, span: Some(span) }))
            }
            Err(reason) => {
                self.load_errors.push(Diagnostic::error(reason).label(span, "used here"));
                // Anything will do: the network is not returned.
                Ok(Network::Par { synchronisation: Synchronisation::Rules(Vec::new()), branches: Vec::new() })
            }
        }
    }

    fn body_of(&mut self, keyword: &str) -> Parse<Network> {
        self.expect_word("in")?;
        let inner = self.behaviour()?;
        self.end_of(keyword)?;
        Ok(inner)
    }

    /// `par [gates in] [gates ->] B || …`, from behind `par`.
    fn par_with_gates(&mut self) -> Parse<Network> {
        let global = if self.gates_follow("in") {
            let gates = self.gates()?;
            self.expect_word("in")?;
            gates
        } else {
            Vec::new()
        };
        let mut branches = Vec::new();
        let mut interfaces: Vec<(Gate, usize)> = Vec::new();
        loop {
            if self.gates_follow("->") {
                let gates = self.gates()?;
                self.expect("->")?;
                interfaces.extend(gates.into_iter().map(|gate| (gate, branches.len())));
            }
            branches.push(self.behaviour()?);
            if !self.eat("||") {
                break;
            }
        }
        let rules = self.par_rules(global, interfaces, branches.len())?;
        Ok(Network::Par { synchronisation: Synchronisation::Rules(rules), branches })
    }

    /// A gate before `in` concerns all branches, unless some name it before `->`: then it concerns those.
    fn par_rules(
        &self,
        global: Vec<Gate>,
        interfaces: Vec<(Gate, usize)>,
        branches: usize,
    ) -> Parse<Vec<SyncRule>> {
        let mut scoped: Vec<(Gate, Vec<usize>)> = Vec::new();
        for (gate, branch) in interfaces {
            if let Some((count, _)) = gate.count {
                let message = format!("`#{count}` belongs to a gate before `in`, not to one before `->`");
                return Err(Box::new(Diagnostic::error(message).label(gate.span, "")));
            }
            match scoped.iter_mut().find(|(known, _)| same_selector(&known.selector, &gate.selector)) {
                Some((_, members)) => members.push(branch),
                None => scoped.push((gate, vec![branch])),
            }
        }
        let mut rules = Vec::new();
        for gate in global {
            let members = scoped.iter().position(|(known, _)| same_selector(&known.selector, &gate.selector));
            let members = match members {
                Some(at) => scoped.remove(at).1,
                None => (0..branches).collect(),
            };
            rules.push(rule(gate, members)?);
        }
        for (gate, members) in scoped {
            rules.push(rule(gate, members)?);
        }
        Ok(rules)
    }

    fn global_rules(&self, gates: Vec<Gate>, branches: usize) -> Parse<Vec<SyncRule>> {
        self.par_rules(gates, Vec::new(), branches)
    }

    /// `par using V, … in B || …`, from behind `using`.
    fn par_with_vectors(&mut self) -> Parse<Network> {
        let mut vectors: Vec<(SyncVector, Span)> = Vec::new();
        loop {
            let start = self.span();
            let mut parts = Vec::new();
            loop {
                parts.push(self.part()?);
                if !self.eat("*") {
                    break;
                }
            }
            self.expect("->")?;
            let result = self.new_name()?;
            let span = start.to(self.tokens[self.at - 1].1);
            if parts.iter().all(Option::is_none) {
                return Err(Box::new(
                    Diagnostic::error("no branch takes part in this vector").label(span, ""),
                ));
            }
            vectors.push((SyncVector { parts, result }, span));
            if !self.eat(",") {
                break;
            }
        }
        self.expect_word("in")?;
        let mut branches = Vec::new();
        loop {
            branches.push(self.behaviour()?);
            if !self.eat("||") {
                break;
            }
        }
        for (vector, span) in &vectors {
            if vector.parts.len() != branches.len() {
                let parts = match vector.parts.len() {
                    1 => "1 part".to_owned(),
                    several => format!("{several} parts"),
                };
                let message = match branches.len() {
                    1 => format!("this vector has {parts} for 1 branch"),
                    several => format!("this vector has {parts} for {several} branches"),
                };
                let error = Diagnostic::error(message).label(*span, "");
                return Err(Box::new(error.help("write `_` for a branch that does not move")));
            }
        }
        let vectors = vectors.into_iter().map(|(vector, _)| vector).collect();
        Ok(Network::Par { synchronisation: Synchronisation::Vectors(vectors), branches })
    }

    fn part(&mut self) -> Parse<Option<Part>> {
        let part = match self.peek() {
            Token::Word(name) if name == "_" => None,
            Token::Word(name) if !is_keyword(name) => Some(Part::Gate(name.clone())),
            Token::Quoted(text) => Some(Part::Label(text.clone())),
            _ => return Err(Box::new(self.unexpected("a gate, a \"label\" or `_`"))),
        };
        self.at += 1;
        Ok(part)
    }

    fn gates(&mut self) -> Parse<Vec<Gate>> {
        let mut gates = Vec::new();
        loop {
            let span = self.span();
            let selector = self.selector()?;
            let count = if self.eat("#") { Some(self.count()?) } else { None };
            gates.push(Gate { selector, count, span });
            if !self.eat(",") {
                return Ok(gates);
            }
        }
    }

    fn count(&mut self) -> Parse<(usize, Span)> {
        let span = self.span();
        match self.peek() {
            Token::Word(digits) => match digits.parse() {
                Ok(count) => {
                    self.at += 1;
                    Ok((count, span))
                }
                Err(_) => Err(Box::new(self.unexpected("a number"))),
            },
            _ => Err(Box::new(self.unexpected("a number"))),
        }
    }

    fn selectors(&mut self) -> Parse<Vec<Selector>> {
        let mut selectors = vec![self.selector()?];
        while self.eat(",") {
            selectors.push(self.selector()?);
        }
        Ok(selectors)
    }

    fn selector(&mut self) -> Parse<Selector> {
        let span = self.span();
        let selector = match self.peek() {
            Token::Word(name) if !is_keyword(name) => Selector::Gate(name.clone()),
            Token::Quoted(text) => Selector::Exact(text.clone()),
            Token::Pattern(text) => Selector::pattern(text)
                .map_err(|error| Box::new(Diagnostic::error(error.to_string()).label(span, "")))?,
            _ => return Err(Box::new(self.unexpected("a gate, a \"label\" or a 'regular expression'"))),
        };
        self.at += 1;
        Ok(selector)
    }

    fn new_name(&mut self) -> Parse<String> {
        let name = match self.peek() {
            Token::Word(name) if !is_keyword(name) => name.clone(),
            Token::Quoted(text) | Token::Pattern(text) => text.clone(),
            _ => return Err(Box::new(self.unexpected("the new name"))),
        };
        self.at += 1;
        Ok(name)
    }

    /// Whether a list of gates comes next, closed by `end`: `par A, B#2 in` and `A, B ->` are told from a first
    /// branch only by what follows.
    fn gates_follow(&self, end: &str) -> bool {
        let mut at = self.at;
        loop {
            match &self.tokens[at].0 {
                Token::Word(word) if is_keyword(word) => return false,
                Token::Word(_) | Token::Quoted(_) | Token::Pattern(_) => at += 1,
                _ => return false,
            }
            if self.tokens[at].0 == Token::Symbol("#") {
                at += 1;
                at += usize::from(matches!(self.tokens[at].0, Token::Word(_)));
            }
            match &self.tokens[at].0 {
                Token::Symbol(",") => at += 1,
                Token::Symbol(symbol) => return *symbol == end,
                Token::Word(word) => return word.eq_ignore_ascii_case(end),
                _ => return false,
            }
        }
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Token::Symbol(found) if *found == symbol);
        self.at += usize::from(found);
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(found) if found.eq_ignore_ascii_case(word));
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &str) -> Parse<()> {
        match self.eat(symbol) {
            true => Ok(()),
            false => Err(Box::new(self.unexpected(&format!("`{symbol}`")))),
        }
    }

    fn expect_word(&mut self, word: &str) -> Parse<()> {
        match self.eat_word(word) {
            true => Ok(()),
            false => Err(Box::new(self.unexpected(&format!("`{word}`")))),
        }
    }

    fn end_of(&mut self, keyword: &str) -> Parse<()> {
        self.expect_word("end")?;
        self.expect_word(keyword)
    }

    fn unexpected(&self, expected: &str) -> Diagnostic {
        let found = match self.peek() {
            Token::End => "the file ends".to_owned(),
            Token::Word(word) => format!("found `{word}`"),
            Token::Quoted(text) => format!("found `\"{text}\"`"),
            Token::Pattern(text) => format!("found `'{text}'`"),
            Token::Symbol(symbol) => format!("found `{symbol}`"),
        };
        Diagnostic::error(format!("expected {expected}, but {found}")).label(self.span(), "")
    }
}

fn rule(gate: Gate, branches: Vec<usize>) -> Parse<SyncRule> {
    let count = gate.count.map_or(branches.len(), |(count, _)| count);
    if let Some((_, span)) = gate.count
        && (count == 0 || count > branches.len())
    {
        let message = match branches.len() {
            1 => format!("{count} branches can't synchronise: there is only 1"),
            all => format!("{count} of {all} branches can't synchronise"),
        };
        let error = Diagnostic::error(message).label(span, "");
        return Err(Box::new(error.help(format!("choose a number from 1 to {}", branches.len()))));
    }
    Ok(SyncRule { labels: gate.selector, branches, count })
}

fn same_selector(a: &Selector, b: &Selector) -> bool {
    match (a, b) {
        (Selector::Gate(a), Selector::Gate(b)) | (Selector::Exact(a), Selector::Exact(b)) => a == b,
        (Selector::Pattern(a), Selector::Pattern(b)) => a.as_str() == b.as_str(),
        _ => false,
    }
}

fn is_keyword(word: &str) -> bool {
    ["par", "hide", "cut", "rename", "in", "end", "using"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(word))
}
