//! Terms as text, in the form in which they could be read again.

use num_bigint::BigUint;
use rustc_hash::FxHashMap;

use crate::names::Name;
use crate::signature::{KindId, Signature, SortId, SymbolId, Theory};
use crate::syntax::lexer::is_special;
use crate::terms::{TermId, Terms, Top};

/// Arguments in parentheses after a name may have this precedence without parentheses of their own.
const PREFIX: u32 = 95;
const ANY: u32 = 127;

/// How terms are printed.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether `format` attributes count.
    pub format: bool,
    /// Whether operators are written between their arguments.
    pub mixfix: bool,
    /// Whether lists and bags are written without inner parentheses.
    pub flat: bool,
    /// Whether all parentheses are written.
    pub parentheses: bool,
    /// Whether numbers are written with digits.
    pub number: bool,
    /// Whether fractions are written as one word.
    pub rational: bool,
    /// Whether the text is to be taken apart into words again: names are written with their backquotes, and what `format`
    /// asks for is written as `\\n`, `\\s` and the like.
    pub tokens: bool,
    /// After so many bytes, the rest is left out: what a term shares with itself is printed again and again, and a few
    /// equations can make more of it than there are atoms.
    pub most: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            format: true,
            mixfix: true,
            flat: true,
            parentheses: false,
            number: true,
            rational: true,
            tokens: false,
            most: 1 << 26,
        }
    }
}

/// A term as text.
pub fn plain(signature: &Signature, terms: &Terms, term: TermId) -> String {
    styled(signature, terms, term, Style::default())
}

/// A term as text on one line, whatever its operators' formats say.
pub fn one_line(signature: &Signature, terms: &Terms, term: TermId) -> String {
    styled(signature, terms, term, Style { format: false, ..Style::default() })
}

/// A term as text in some style.
pub fn styled(signature: &Signature, terms: &Terms, term: TermId, style: Style) -> String {
    with_variables(signature, terms, term, style, &FxHashMap::default())
}

/// A term as text in some style; variables that are declared are shown by their names alone.
pub fn with_variables(
    signature: &Signature,
    terms: &Terms,
    term: TermId,
    style: Style,
    variables: &FxHashMap<Name, SortId>,
) -> String {
    let mut printer = Printer {
        signature,
        terms,
        style,
        variables,
        out: String::new(),
        indent: 0,
        minus: signature.special("MinusSymbol"),
        successor: signature.special("SuccSymbol"),
        division: signature.special("DivisionSymbol"),
    };
    printer.term(term, Place::alone(ANY), false);
    let mut text = printer.out;
    if text.len() > style.most {
        let cut = (0..=style.most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(cut);
        text.push_str("...");
    }
    text
}

/// The beginning of a term, on one line.
pub fn beginning(signature: &Signature, terms: &Terms, term: TermId, most: usize) -> String {
    styled(signature, terms, term, Style { format: false, most, ..Style::default() })
}

/// No neighbour.
const NOBODY: Neighbour = (u32::MAX, KindId(u32::MAX));

/// The precedence of an operator next to a term, and the kind of its results.
type Neighbour = (u32, KindId);

/// Where a term stands: the largest precedence that needs no parentheses, and the precedences of the operators whose words
/// are next to it.
#[derive(Clone, Copy)]
struct Place {
    limit: u32,
    left: Neighbour,
    right: Neighbour,
}

impl Place {
    fn alone(limit: u32) -> Self {
        Self { limit, left: NOBODY, right: NOBODY }
    }
}

struct Printer<'a> {
    signature: &'a Signature,
    terms: &'a Terms,
    style: Style,
    variables: &'a FxHashMap<Name, SortId>,
    out: String,
    indent: usize,
    minus: Option<SymbolId>,
    successor: Option<SymbolId>,
    division: Option<SymbolId>,
}

impl Printer<'_> {
    fn is_full(&self) -> bool {
        self.out.len() > self.style.most
    }

    fn term(&mut self, term: TermId, limit: Place, known: bool) {
        if self.is_full() {
            return;
        }
        stacker::maybe_grow(64 << 10, 1 << 20, || self.term_here(term, limit, known));
    }

    fn term_here(&mut self, term: TermId, limit: Place, known: bool) {
        let symbol = match self.terms.top(term) {
            Top::Variable(sort) => {
                let name = self.terms.variable_name(term);
                self.out.push_str(name.text());
                if self.variables.get(&name) == Some(&sort) {
                    return;
                }
                self.out.push(':');
                self.out.push_str(self.signature.sort_name(sort));
                return;
            }
            Top::Symbol(symbol) => symbol,
        };
        let data = self.signature.symbol(symbol);
        if data.theory == Theory::Data {
            self.data(term, symbol);
            return;
        }
        if self.style.number
            && let Some(text) = self.number(term)
        {
            self.out.push_str(&text);
            return;
        }
        let doubt = !known && self.signature.is_overloaded(symbol) && data.special.is_none();
        if doubt {
            self.out.push('(');
        }
        self.application(term, symbol, if doubt { Place::alone(ANY) } else { limit });
        if doubt {
            self.out.push_str(").");
            self.out.push_str(self.signature.sort_name(self.terms.sort(term)));
        }
    }

    /// An integer or rational number.
    fn number(&self, term: TermId) -> Option<String> {
        let symbol = self.terms.symbol(term)?;
        let natural = |term: TermId| -> Option<BigUint> {
            let symbol = self.terms.symbol(term)?;
            if Some(symbol) == self.successor {
                let (count, base) = self.terms.iterations(term);
                let zero = self.terms.symbol(base)?;
                return (self.signature.symbol(zero).name.text() == "0").then_some(count);
            }
            None
        };
        let integer = |term: TermId| -> Option<String> {
            if self.minus.is_some() && self.terms.symbol(term) == self.minus {
                return natural(TermId(self.terms.row(term)[0])).map(|number| format!("-{number}"));
            }
            natural(term).map(|number| number.to_string())
        };
        if Some(symbol) == self.division && self.division.is_some() {
            if !self.style.rational {
                return None;
            }
            let row = self.terms.row(term);
            let (above, below) = (integer(TermId(row[0]))?, natural(TermId(row[1]))?);
            return Some(format!("{above}/{below}"));
        }
        integer(term)
    }

    fn data(&mut self, term: TermId, symbol: SymbolId) {
        let data = self.signature.symbol(symbol);
        match data.special.as_ref().map(|special| special.id.text()) {
            Some("StringSymbol") => self.out.push_str(&quoted(&self.terms.string_text(term))),
            Some("FloatSymbol") => self.out.push_str(&float_text(self.terms.float_value(term))),
            _ => {
                self.out.push('\'');
                self.out.push_str(self.terms.quoted_name(term).text());
            }
        }
    }

    fn application(&mut self, term: TermId, symbol: SymbolId, place: Place) {
        let data = self.signature.symbol(symbol);
        let arguments = self.terms.arguments(term);
        if data.theory == Theory::Iter {
            let (count, inner) = self.terms.iterations(term);
            if count != BigUint::from(1u32) {
                self.out.push_str(&format!("{}^{count}(", data.name));
                self.term(inner, Place::alone(PREFIX), self.knows(symbol));
                self.out.push(')');
                return;
            }
        }
        self.operator(symbol, &arguments, place);
    }

    /// Whether the kinds of arguments follow from the name alone.
    fn knows(&self, symbol: SymbolId) -> bool {
        let data = self.signature.symbol(symbol);
        self.signature.named(data.name).iter().all(|&other| {
            let other = self.signature.symbol(other);
            other.arity() != data.arity() || other.domain == data.domain
        })
    }

    /// An operator on arguments: all those of a list or bag, unless each pair is to be seen.
    fn operator(&mut self, symbol: SymbolId, arguments: &[TermId], place: Place) {
        let data = self.signature.symbol(symbol);
        let known = self.knows(symbol);
        let mixfix = self.style.mixfix && !data.mixfix.is_empty();
        let pairs = !self.style.flat || (self.style.parentheses && mixfix);
        let nested = pairs && data.is_assoc() && arguments.len() > 2;
        let count = if nested { 2 } else { arguments.len() };
        let argument = |this: &mut Self, at: usize, place: Place| match nested && at == 1 {
            true => stacker::maybe_grow(64 << 10, 1 << 20, || this.operator(symbol, &arguments[1..], place)),
            false => this.term(arguments[at], place, known),
        };
        if data.is_special("SortTestSymbol") {
            let tested = self.terms.symbol(arguments[0]).map(|symbol| self.signature.symbol(symbol));
            let wrapped = tested
                .is_some_and(|tested| !tested.mixfix.is_empty() || tested.is_special("SortTestSymbol"))
                && self.number(arguments[0]).is_none();
            if wrapped {
                self.out.push('(');
            }
            self.term(arguments[0], Place::alone(ANY), known);
            if wrapped {
                self.out.push(')');
            }
            self.out.push_str(" :: ");
            self.out.push_str(data.special.as_ref().expect("it is special").details[0].text());
            return;
        }
        if !mixfix {
            // A name by itself has a format before and one behind.
            let format = data.format.as_ref().filter(|_| self.style.format && data.mixfix.is_empty());
            let format = format.and_then(|format| <[Name; 2]>::try_from(format.as_slice()).ok());
            if let Some([before, _]) = format {
                self.formatted(before, false);
            }
            match self.style.tokens || !data.mixfix.is_empty() {
                true => self.out.push_str(data.name.text()),
                false => self.out.push_str(&unquoted(data.name)),
            }
            if !arguments.is_empty() {
                self.out.push('(');
                for at in 0..count {
                    if at > 0 {
                        self.out.push_str(", ");
                    }
                    argument(self, at, Place::alone(PREFIX));
                }
                self.out.push(')');
            }
            if let Some([_, behind]) = format {
                self.formatted(behind, false);
            }
            return;
        }
        // What is open at an end could take a neighbour's argument.
        let takes = |end: Option<&Option<Name>>, hole: Option<(&u32, &KindId)>, (prec, kind): Neighbour| {
            end == Some(&None) && hole.is_some_and(|(&limit, &own)| prec <= limit && own == kind)
        };
        let holes = || data.gather.iter().zip(&data.domain);
        let wrapped = data.prec > place.limit
            || takes(data.mixfix.first(), holes().next(), place.left)
            || takes(data.mixfix.last(), holes().next_back(), place.right)
            || (self.style.parentheses && !arguments.is_empty());
        let (outer_left, outer_right) = if wrapped { (NOBODY, NOBODY) } else { (place.left, place.right) };
        if wrapped {
            self.out.push('(');
        }
        let format =
            data.format.clone().filter(|format| self.style.format && format.len() == data.mixfix.len() + 1);
        let mut next = 0;
        let rounds = if data.is_assoc() { count - 1 } else { 1 };
        let open = data.mixfix.first() == Some(&None) && data.mixfix.last() == Some(&None);
        if rounds > 1 && !open {
            // A closed associative operator: `< < a b > c >` from the left.
            self.closed_chain(symbol, arguments, rounds);
        } else {
            for round in 0..rounds {
                if self.is_full() {
                    break;
                }
                let start = usize::from(round > 0);
                for at in start..data.mixfix.len() {
                    self.space(data.mixfix.as_slice(), at, format.as_deref(), round == 0 && at == 0);
                    match data.mixfix[at] {
                        Some(word) => self.out.push_str(word.text()),
                        None => {
                            let hole = match rounds {
                                1 => next,
                                _ => usize::from(next + 1 == count),
                            };
                            let first = next == 0 && data.mixfix.first() == Some(&None);
                            let last = next + 1 == count && data.mixfix.last() == Some(&None);
                            let open = |end: bool, outer: Neighbour, at: bool| match (end, at) {
                                (true, _) => outer,
                                (false, true) => (data.prec, data.range),
                                (false, false) => NOBODY,
                            };
                            // `gather (&)` takes anything, which at an end would not be easy to read.
                            let most = if first || last { data.prec } else { ANY };
                            let inner = Place {
                                limit: data.gather[hole].min(most),
                                left: open(first, outer_left, last || rounds > 1),
                                right: open(last, outer_right, first || rounds > 1),
                            };
                            argument(self, next, inner);
                            next += 1;
                        }
                    }
                }
            }
            if let Some(format) = &format {
                self.formatted(format[data.mixfix.len()], false);
            }
        }
        if wrapped {
            self.out.push(')');
        }
    }

    fn closed_chain(&mut self, symbol: SymbolId, arguments: &[TermId], rounds: usize) {
        let data = self.signature.symbol(symbol);
        // Every operator but the last opens before the first argument.
        let holes: Vec<usize> = (0..data.mixfix.len()).filter(|&at| data.mixfix[at].is_none()).collect();
        let words = |this: &mut Self, range: std::ops::Range<usize>| {
            for at in range {
                this.space(&data.mixfix, at, None, at == 0);
                if let Some(word) = data.mixfix[at] {
                    this.out.push_str(word.text());
                }
            }
        };
        for _ in 0..rounds {
            words(self, 0..holes[0]);
        }
        self.space(&data.mixfix, holes[0], None, holes[0] == 0);
        self.term(arguments[0], Place::alone(data.gather[0]), true);
        for &argument in &arguments[1..] {
            words(self, holes[0] + 1..holes[1]);
            self.space(&data.mixfix, holes[1], None, false);
            self.term(argument, Place::alone(data.gather[1]), true);
            words(self, holes[1] + 1..data.mixfix.len());
        }
    }

    /// What stands before a part of a name.
    fn space(&mut self, parts: &[Option<Name>], at: usize, format: Option<&[Name]>, first: bool) {
        let special = |part: Option<Name>| {
            part.is_some_and(|word| word.text().len() == 1 && word.text().starts_with(is_special))
        };
        let usual = !first && at > 0 && !special(parts[at]) && !special(parts[at - 1]);
        match format {
            Some(format) => self.formatted(format[at], usual),
            None if usual => self.out.push(' '),
            None => {}
        }
    }

    fn formatted(&mut self, word: Name, usual: bool) {
        if self.style.tokens {
            self.out.push(' ');
            for letter in word.text().chars() {
                match letter {
                    'd' => {}
                    'i' => self.out.push_str(&" \\s".repeat(self.indent)),
                    '+' => self.indent += 1,
                    '-' => self.indent = self.indent.saturating_sub(1),
                    letter => self.out.extend([' ', '\\', letter]),
                }
            }
            self.out.push(' ');
            return;
        }
        let before = self.out.len();
        for letter in word.text().chars() {
            match letter {
                's' => self.out.push(' '),
                't' => self.out.push('\t'),
                'n' => self.out.push('\n'),
                'i' => self.out.extend(std::iter::repeat_n(' ', self.indent)),
                '+' => self.indent += 1,
                '-' => self.indent = self.indent.saturating_sub(1),
                _ => {}
            }
        }
        // Colours and the like leave the usual blank.
        if usual && self.out.len() == before {
            self.out.push(' ');
        }
    }
}

/// A name without the backquotes that keep special characters apart.
pub fn unquoted(name: Name) -> String {
    let text = name.text();
    if !text.contains('`') {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '`' if chars.peek().is_some_and(|&next| is_special(next)) => {}
            '`' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A string with quotation marks and escapes.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\x0b' => out.push_str("\\v"),
            c if (c as u32) < 32 || c as u32 == 127 => out.push_str(&format!("\\{:03o}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A floating-point number: as many digits as tell it from all others, an exponent where it is needed.
pub fn float_text(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "Infinity".into() } else { "-Infinity".into() };
    }
    if value == 0.0 {
        return if value.is_sign_negative() { "-0.0".into() } else { "0.0".into() };
    }
    // Seventeen digits tell every number; trailing zeros say nothing.
    let text = format!("{value:.16e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = mantissa.trim_end_matches('0');
    let mantissa = if mantissa.ends_with('.') { format!("{mantissa}0") } else { mantissa.to_owned() };
    match exponent {
        "0" => mantissa,
        exponent if exponent.starts_with('-') => format!("{mantissa}e{exponent}"),
        exponent => format!("{mantissa}e+{exponent}"),
    }
}
