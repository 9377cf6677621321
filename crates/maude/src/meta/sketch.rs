//! Terms of the meta-level outside of any table: what an object-level term is at the meta-level, and back.
//!
//! A term goes from one level to the other by way of a [`Sketch`], so that both levels may be the same table. Parts that
//! occur several times are drawn once: all this is linear in the number of different parts.

use num_bigint::BigUint;
use rustc_hash::FxHashMap;
use source::Span;

use super::level::Level;
use crate::grammar::Literals;
use crate::names::{Name, quoted_sort, split};
use crate::print::{float_text, quoted};
use crate::signature::{Signature, SortId, SymbolId, Theory};
use crate::syntax::lexer::{Token, is_special};
use crate::terms::{TermId, Terms, Top};

/// A part of a meta-term.
#[derive(Clone, Debug)]
pub enum Node {
    /// A constant or variable: the name of a quoted identifier.
    Word(Name),
    /// An operator on earlier parts.
    Apply(Name, Vec<usize>),
    /// The hole of a context.
    Hole,
}

/// A meta-term, its parts before the whole.
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    nodes: Vec<Node>,
    known: FxHashMap<TermId, usize>,
}

impl Sketch {
    /// Adds a part; gives its number.
    pub fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// The sketch of one object-level term.
    pub fn of_object(signature: &Signature, terms: &Terms, term: TermId) -> Self {
        let mut sketch = Self::default();
        sketch.object(signature, terms, term);
        sketch
    }

    /// Draws an object-level term. All terms of one sketch have to be of one table.
    pub fn object(&mut self, signature: &Signature, terms: &Terms, term: TermId) -> usize {
        if let Some(&known) = self.known.get(&term) {
            return known;
        }
        let node = stacker::maybe_grow(64 << 10, 1 << 20, || self.object_node(signature, terms, term));
        let number = self.add(node);
        self.known.insert(term, number);
        number
    }

    fn object_node(&mut self, signature: &Signature, terms: &Terms, term: TermId) -> Node {
        let symbol = match terms.top(term) {
            Top::Variable(sort) => {
                return Node::Word(variable_name(signature, terms.variable_name(term), sort));
            }
            Top::Symbol(symbol) => symbol,
        };
        let data = signature.symbol(symbol);
        let constant = |name: &str| {
            let sort = quoted_sort(signature.sort_name(terms.sort(term)));
            Node::Word(Name::new(&format!("{name}.{sort}")))
        };
        if data.theory == Theory::Data {
            return match data.special.as_ref().map(|special| special.id.text()) {
                Some("StringSymbol") => constant(&quoted(&terms.string_text(term))),
                Some("FloatSymbol") => constant(&float_text(terms.float_value(term))),
                _ => constant(&format!("'{}", terms.quoted_name(term))),
            };
        }
        if data.arity() == 0 {
            return constant(data.name.text());
        }
        let arguments = terms.arguments(term);
        let arguments = arguments.iter().map(|&part| self.object(signature, terms, part)).collect();
        Node::Apply(applied_name(signature, terms, term, symbol), arguments)
    }

    /// Draws a meta-term; none if it is not well-formed.
    pub fn of_meta(level: &Level<'_>, term: TermId) -> Option<Self> {
        let mut sketch = Self::default();
        sketch.meta(level, term)?;
        Some(sketch)
    }

    fn meta(&mut self, level: &Level<'_>, term: TermId) -> Option<usize> {
        if let Some(&known) = self.known.get(&term) {
            return Some(known);
        }
        let node = stacker::maybe_grow(64 << 10, 1 << 20, || self.meta_node(level, term))?;
        let number = self.add(node);
        self.known.insert(term, number);
        Some(number)
    }

    fn meta_node(&mut self, level: &Level<'_>, term: TermId) -> Option<Node> {
        if let Some(name) = level.word(term) {
            return Some(Node::Word(name));
        }
        if !level.is(term, "metaTermSymbol") {
            return None;
        }
        let parts = level.arguments(term);
        let name = level.word(parts[0])?;
        let mut arguments = Vec::new();
        for part in level.elements(parts[1], "metaArgSymbol", "emptyTermListSymbol") {
            arguments.push(self.meta(level, part)?);
        }
        (!arguments.is_empty()).then_some(Node::Apply(name, arguments))
    }

    /// Makes the meta-terms; they have the numbers of their parts.
    pub fn write(&self, level: &mut Level<'_>) -> Option<Vec<TermId>> {
        let mut made: Vec<TermId> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let term = match node {
                Node::Word(name) => level.quoted(name.text())?,
                Node::Hole => level.make("holeSymbol", &[])?,
                Node::Apply(name, arguments) => {
                    let name = level.quoted(name.text())?;
                    let arguments: Vec<TermId> = arguments.iter().map(|&at| made[at]).collect();
                    let list = level.join("metaArgSymbol", "emptyTermListSymbol", &arguments)?;
                    level.make("metaTermSymbol", &[name, list])?
                }
            };
            made.push(term);
        }
        Some(made)
    }

    /// The same, for the last part only.
    pub fn write_last(&self, level: &mut Level<'_>) -> Option<TermId> {
        self.write(level)?.last().copied()
    }

    /// Makes the object-level term; none if the signature does not have what it needs.
    pub fn build(&self, signature: &Signature, terms: &mut Terms, literals: &Literals) -> Option<TermId> {
        let mut made: Vec<TermId> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let term = match node {
                Node::Hole => return None,
                Node::Word(name) => build_word(signature, terms, literals, name.text())?,
                Node::Apply(name, arguments) => {
                    let arguments: Vec<TermId> = arguments.iter().map(|&at| made[at]).collect();
                    build_application(signature, terms, *name, &arguments)?
                }
            };
            made.push(term);
        }
        made.last().copied()
    }

    /// The words of the term as it is written with all its operators before their arguments.
    pub fn tokens(&self, span: Span) -> Option<Vec<Token>> {
        let mut tokens = Vec::new();
        self.add_tokens(self.nodes.len().checked_sub(1)?, span, &mut tokens)?;
        Some(tokens)
    }

    fn add_tokens(&self, at: usize, span: Span, into: &mut Vec<Token>) -> Option<()> {
        let token = |text: &str| Token { name: Name::new(text), span, ends_line: false };
        match &self.nodes[at] {
            Node::Hole => return None,
            Node::Word(word) => {
                let (name, mark, sort) = split(word.text())?;
                if mark == ':' {
                    into.push(token(&format!("{name}:{}", unquoted_sort(sort))));
                } else if is_literal(name) {
                    into.push(token(name));
                } else {
                    into.push(token("("));
                    let parts = crate::signature::mixfix(Name::new(name));
                    match parts.is_empty() {
                        true => into.push(token(name)),
                        false => into.extend(parts.iter().flatten().map(|part| token(part.text()))),
                    }
                    into.push(token(")"));
                    into.push(token(&format!(".{}", unquoted_sort(sort))));
                }
            }
            Node::Apply(name, arguments) => {
                into.push(token(name.text()));
                for (number, &argument) in arguments.iter().enumerate() {
                    into.push(token(if number == 0 { "(" } else { "," }));
                    self.add_tokens(argument, span, into)?;
                }
                into.push(token(")"));
            }
        }
        Some(())
    }
}

/// The quoted identifier of a variable.
pub fn variable_name(signature: &Signature, name: Name, sort: SortId) -> Name {
    Name::new(&format!("{name}:{}", quoted_sort(signature.sort_name(sort))))
}

/// The name that stands before the arguments of a term.
pub fn applied_name(signature: &Signature, terms: &Terms, term: TermId, symbol: SymbolId) -> Name {
    let data = signature.symbol(symbol);
    if data.theory == Theory::Iter {
        let (count, _) = terms.iterations(term);
        if count != BigUint::from(1u32) {
            return Name::new(&format!("{}^{count}", data.name));
        }
    }
    match &data.special {
        Some(special) if data.is_special("SortTestSymbol") => {
            Name::new(&format!("_::`{}", quoted_sort(special.details[0].text())))
        }
        _ => data.name,
    }
}

/// The name of a sort or kind without the backquotes of its quoted identifier.
pub fn unquoted_sort(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '`' || !chars.peek().is_some_and(|&next| is_special(next)) {
            out.push(c);
        }
    }
    out
}

/// The sort that a quoted identifier stands for.
pub fn sort_of(signature: &Signature, text: &str) -> Option<SortId> {
    let plain = unquoted_sort(text);
    let Some(inner) = plain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return signature.sort(Name::new(&plain));
    };
    let mut kind = None;
    for name in crate::grammar::split_sorts(inner) {
        let own = signature.kind_of(signature.sort(Name::new(name))?);
        if kind.is_some_and(|kind| kind != own) {
            return None;
        }
        kind = Some(own);
    }
    kind.map(|kind| signature.top(kind))
}

fn is_literal(name: &str) -> bool {
    name.starts_with(['"', '\'']) && name.len() > 1 || crate::grammar::float_of(name).is_some()
}

fn build_word(signature: &Signature, terms: &mut Terms, literals: &Literals, text: &str) -> Option<TermId> {
    let (name, mark, sort) = split(text)?;
    let sort = sort_of(signature, sort)?;
    if mark == ':' {
        return Some(terms.variable(Name::new(name), sort));
    }
    let kind = signature.kind_of(sort);
    if let Some(symbol) = signature.find(Name::new(name), &[], kind)
        && signature.symbol(symbol).theory != Theory::Data
    {
        return Some(terms.make(signature, symbol, &[]));
    }
    if !is_literal(name) {
        return None;
    }
    let term = literals.read(signature, terms, name)?;
    (signature.kind_of(terms.sort(term)) == kind).then_some(term)
}

fn build_application(
    signature: &Signature,
    terms: &mut Terms,
    name: Name,
    arguments: &[TermId],
) -> Option<TermId> {
    let kinds: Vec<_> = arguments.iter().map(|&argument| signature.kind_of(terms.sort(argument))).collect();
    let fits = |id: &&SymbolId| {
        let symbol = signature.symbol(**id);
        let chain = symbol.is_assoc() && kinds.len() > 2 && kinds.iter().all(|&kind| kind == symbol.range);
        symbol.domain == kinds || chain
    };
    if let Some(&symbol) = signature.named(name).iter().find(fits) {
        return Some(terms.make(signature, symbol, arguments));
    }
    let text = name.text();
    if let (Some((base, count)), [argument]) = (text.rsplit_once('^'), arguments) {
        let count: Option<BigUint> = count.parse().ok();
        let symbol = signature.named(Name::new(base)).iter().find(fits);
        if let (Some(count), Some(&symbol)) = (count, symbol)
            && signature.symbol(symbol).theory == Theory::Iter
            && count > BigUint::ZERO
        {
            return Some(terms.make_iter(signature, symbol, &count, *argument));
        }
    }
    let test = text.strip_prefix("_::`")?;
    let symbol = *signature.named(Name::new(&format!("_::`{}", unquoted_sort(test)))).iter().find(fits)?;
    Some(terms.make(signature, symbol, arguments))
}
