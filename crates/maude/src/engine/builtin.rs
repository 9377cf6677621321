//! Built-in operators: numbers, strings, equality, and the doors to the meta-level and the model checker.

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::code::Code;
use super::{Engine, Stop};
use crate::grammar::float_of;
use crate::names::Name;
use crate::print::float_text;
use crate::signature::{Signature, SymbolId};
use crate::syntax::lexer;
use crate::terms::{TermId, Terms};

/// The most bits of a number that a power or shift may have.
const MOST_BITS: u64 = 1 << 24;

/// What a built-in operator does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// `_==_`: whether the answer for equal terms is `true`.
    Equality(bool),
    /// `if_then_else_fi`.
    Branch,
    /// `t :: S`.
    SortTest(Name),
    /// Numbers, with any number of arguments.
    Fold(&'static str),
    /// Numbers.
    Number(&'static str),
    /// `-_`.
    Minus,
    /// `_/_`.
    Division,
    /// Floating-point numbers.
    Float(&'static str),
    /// Strings and conversions.
    String(&'static str),
    /// Quoted identifiers.
    Quoted(&'static str),
    /// Random numbers.
    Random,
    /// Numbers in a row, by a rule.
    Counter,
    /// The meta-level.
    Meta(&'static str),
    /// `modelCheck`.
    ModelCheck,
    /// Something that is known, but not supported.
    Unsupported(Name),
}

/// What evaluates the functions of the meta-level.
pub trait Descent: Send + std::fmt::Debug {
    /// The value of a function on its arguments, which are normal forms; none if it has none.
    fn call(
        &mut self,
        engine: &mut Engine,
        code: &Code,
        symbol: SymbolId,
        name: &str,
        arguments: &[TermId],
    ) -> Result<Option<TermId>, Stop>;
}

impl Builtin {
    /// The meaning of an operator.
    pub fn new(signature: &Signature, _terms: &mut Terms, symbol: SymbolId) -> Option<Self> {
        let special = signature.symbol(symbol).special.as_ref()?;
        let detail = special.details.first().copied().unwrap_or(Name::new(""));
        Some(match special.id.text() {
            "EqualitySymbol" => {
                let equal = special.terms.iter().find(|(purpose, _)| purpose.text() == "equalTerm");
                let yes = equal.is_none_or(|(_, tokens)| tokens.iter().any(|token| token.is("true")));
                Self::Equality(yes)
            }
            "BranchSymbol" => Self::Branch,
            "SortTestSymbol" => Self::SortTest(detail),
            "ACU_NumberOpSymbol" | "CUI_NumberOpSymbol" => Self::Fold(detail.text()),
            "NumberOpSymbol" => Self::Number(detail.text()),
            "MinusSymbol" => Self::Minus,
            "DivisionSymbol" => Self::Division,
            "FloatOpSymbol" => Self::Float(detail.text()),
            "StringOpSymbol" => Self::String(detail.text()),
            "QuotedIdentifierOpSymbol" => Self::Quoted(detail.text()),
            "RandomOpSymbol" => Self::Random,
            "CounterSymbol" => Self::Counter,
            "MetaLevelOpSymbol" => Self::Meta(detail.text()),
            "ModelCheckerSymbol" => Self::ModelCheck,
            "SatSolverSymbol" => Self::Unsupported(Name::new("satSolve")),
            // Constants and constructors that need no evaluation.
            _ => return None,
        })
    }
}

impl Engine {
    /// The integer that a term is.
    pub fn integer(&self, code: &Code, term: TermId) -> Option<BigInt> {
        let (successor, zero) = code.literals.successor?;
        if term == zero {
            return Some(BigInt::zero());
        }
        if self.terms.has_top(term, successor) {
            let (count, base) = self.terms.iterations(term);
            return (base == zero).then(|| BigInt::from(count));
        }
        if code.literals.minus.is_some_and(|minus| self.terms.has_top(term, minus)) {
            let inner = TermId(self.terms.row(term)[0]);
            return self.integer(code, inner).filter(Signed::is_positive).map(|number| -number);
        }
        None
    }

    /// The same for small numbers.
    #[inline]
    fn small(&self, code: &Code, term: TermId) -> Option<i64> {
        let (successor, zero) = code.literals.successor?;
        if term == zero {
            return Some(0);
        }
        if self.terms.has_top(term, successor) {
            return match self.terms.row(term) {
                [base, count] if *base == zero.0 => Some(i64::from(*count)),
                _ => None,
            };
        }
        if code.literals.minus.is_some_and(|minus| self.terms.has_top(term, minus)) {
            let inner = TermId(self.terms.row(term)[0]);
            return self.small(code, inner).map(|number| -number);
        }
        None
    }

    /// The term of a number.
    pub fn number(&mut self, code: &Code, number: &BigInt) -> Option<TermId> {
        let negative = number.sign() == Sign::Minus;
        code.literals.integer(&code.signature, &mut self.terms, negative, number.magnitude())
    }

    fn small_number(&mut self, code: &Code, number: i64) -> Option<TermId> {
        let (successor, zero) = code.literals.successor?;
        match number {
            0 => Some(zero),
            1..=0xFFFF_FFFF => {
                let term = self.terms.made(&code.signature, successor, &[zero.0, number as u32]);
                self.terms.set_reduced(term);
                Some(term)
            }
            _ => self.number(code, &BigInt::from(number)),
        }
    }

    pub(crate) fn truth(&self, code: &Code, value: bool) -> Option<TermId> {
        let (yes, no) = code.booleans?;
        Some(if value { yes } else { no })
    }

    fn text(&self, code: &Code, term: TermId) -> Option<String> {
        let symbol = code.literals.string?;
        self.terms.has_top(term, symbol).then(|| self.terms.string_text(term))
    }

    fn float(&self, code: &Code, term: TermId) -> Option<f64> {
        let symbol = code.literals.float?;
        self.terms.has_top(term, symbol).then(|| self.terms.float_value(term))
    }

    fn make_text(&mut self, code: &Code, text: &str) -> Option<TermId> {
        Some(self.terms.string(&code.signature, code.literals.string?, text))
    }

    fn make_float(&mut self, code: &Code, value: f64) -> Option<TermId> {
        if value.is_nan() {
            return None;
        }
        Some(self.terms.float(&code.signature, code.literals.float?, value))
    }

    /// A rational number: above and below the line.
    fn rational(&self, code: &Code, term: TermId) -> Option<(BigInt, BigInt)> {
        if code.literals.division.is_some_and(|division| self.terms.has_top(term, division)) {
            let row = self.terms.row(term);
            let (above, below) = (TermId(row[0]), TermId(row[1]));
            return self.integer(code, above).zip(self.integer(code, below));
        }
        self.integer(code, term).map(|number| (number, BigInt::one()))
    }

    fn make_rational(&mut self, code: &Code, above: &BigInt, below: &BigInt) -> Option<TermId> {
        let divisor = above.gcd(below);
        let (above, below) = (above / &divisor, below / &divisor);
        let top = self.number(code, &above)?;
        if below.is_one() {
            return Some(top);
        }
        let bottom = self.number(code, &below)?;
        Some(self.terms.make(&code.signature, code.literals.division?, &[top, bottom]))
    }

    /// The value of a built-in operator on arguments that begin at a place of the stack.
    pub(super) fn call_builtin(
        &mut self,
        code: &Code,
        symbol: SymbolId,
        builtin: &Builtin,
        start: usize,
    ) -> Result<Option<TermId>, Stop> {
        let argument = |engine: &Engine, at: usize| engine.stack[start + at];
        Ok(match builtin {
            Builtin::Equality(yes) => {
                let equal = argument(self, 0) == argument(self, 1);
                self.truth(code, equal == *yes)
            }
            Builtin::Branch => {
                let test = self.normal_form(code, argument(self, 0))?;
                self.stack[start] = test;
                match code.booleans {
                    Some((yes, _)) if test == yes => Some(argument(self, 1)),
                    Some((_, no)) if test == no => Some(argument(self, 2)),
                    _ => {
                        for at in 1..3 {
                            let value = self.normal_form(code, argument(self, at))?;
                            self.stack[start + at] = value;
                        }
                        None
                    }
                }
            }
            Builtin::SortTest(name) => {
                let Some(sort) = code.signature.sort(*name) else { return Ok(None) };
                let fits = code.signature.leq(self.terms.sort(argument(self, 0)), sort);
                self.truth(code, fits)
            }
            Builtin::Fold(_) => None,
            Builtin::Number(name) => self.number_operation(code, name, start),
            Builtin::Minus => match self.integer(code, argument(self, 0)) {
                Some(number) if !number.is_positive() => self.number(code, &-number),
                _ => None,
            },
            Builtin::Division => {
                let (above, below) = (argument(self, 0), argument(self, 1));
                match self.integer(code, above).zip(self.integer(code, below)) {
                    Some((above, below)) if below.is_positive() => {
                        let reducible = !above.gcd(&below).is_one() || below.is_one();
                        if reducible { self.make_rational(code, &above, &below) } else { None }
                    }
                    _ => None,
                }
            }
            Builtin::Float(name) => self.float_operation(code, name, start),
            Builtin::String(name) => {
                self.check_length(start)?;
                self.string_operation(code, name, start)
            }
            Builtin::Quoted(name) => self.quoted_operation(code, name, start),
            Builtin::Random => {
                let index = self.integer(code, argument(self, 0)).and_then(|number| number.to_usize());
                match index {
                    Some(index) if index < 10_000_000 => self.number(code, &BigInt::from(random(index))),
                    _ => None,
                }
            }
            Builtin::Counter => None,
            Builtin::Meta(name) => {
                let Some(mut descent) = self.meta.take() else {
                    return Err(Stop::error(format!("`{name}` needs the modules of a session")));
                };
                let arguments: Vec<TermId> = self.stack[start..].to_vec();
                let result = descent.call(self, code, symbol, name, &arguments);
                self.meta = Some(descent);
                result?
            }
            Builtin::ModelCheck => self.model_check(code, symbol, argument(self, 0), argument(self, 1))?,
            Builtin::Unsupported(name) => return Err(Stop::error(format!("`{name}` is not supported"))),
        })
    }

    /// Whether texts on the stack from there on are short enough: work on them makes several copies.
    fn check_length(&mut self, start: usize) -> Result<(), Stop> {
        const MOST: usize = 256 << 20;
        let words: usize = self.stack[start..].iter().map(|&part| self.terms.row(part).len()).sum();
        match 4 * words > MOST {
            true => Err(Stop::limit(format!("texts of more than {} MB", MOST >> 20))),
            false => self.check_room(start),
        }
    }

    /// The value of a built-in operator with laws on a term.
    pub(super) fn call_flat(
        &mut self,
        code: &Code,
        symbol: SymbolId,
        builtin: &Builtin,
        term: TermId,
    ) -> Result<Option<TermId>, Stop> {
        let Builtin::Fold(name) = builtin else {
            // Operators that are commutative only.
            let at = self.stack.len();
            let arguments = self.terms.arguments(term);
            self.stack.extend(arguments);
            let result = self.call_builtin(code, symbol, builtin, at);
            self.stack.truncate(at);
            return result;
        };
        let row = self.terms.row(term);
        if *name == "sd" {
            let (a, b) = (TermId(row[0]), TermId(row[1]));
            let numbers = self.integer(code, a).zip(self.integer(code, b));
            return Ok(numbers.and_then(|(a, b)| self.number(code, &(a - b).abs())));
        }
        // Two small numbers, as most are.
        if let [[a, 1], [b, 1]] = *row.as_chunks::<2>().0
            && let (Some(a), Some(b)) = (self.small(code, TermId(a)), self.small(code, TermId(b)))
        {
            let result = match *name {
                "+" => a.checked_add(b),
                "*" => a.checked_mul(b),
                "min" => Some(a.min(b)),
                "max" => Some(a.max(b)),
                "gcd" => Some(a.gcd(&b)),
                _ => None,
            };
            if let Some(result) = result {
                return Ok(self.small_number(code, result));
            }
        }
        let pairs = row.as_chunks::<2>().0.to_vec();
        let mut sum: Option<BigInt> = None;
        let mut numbers = 0;
        let mut others: Vec<(TermId, u32)> = Vec::new();
        for [element, times] in pairs {
            let element = TermId(element);
            let Some(number) = self.integer(code, element) else {
                others.push((element, times));
                continue;
            };
            numbers += times;
            let value = match *name {
                "+" => number * times,
                "*" => {
                    if number.bits() * u64::from(times) > MOST_BITS {
                        return Ok(None);
                    }
                    number.pow(times)
                }
                "xor" => {
                    if times % 2 == 0 {
                        BigInt::zero()
                    } else {
                        number
                    }
                }
                _ => number,
            };
            sum = Some(match (sum, *name) {
                (None, _) => value,
                (Some(sum), "+") => sum + value,
                (Some(sum), "*") => sum * value,
                (Some(sum), "gcd") => sum.gcd(&value),
                (Some(sum), "lcm") => sum.lcm(&value),
                (Some(sum), "min") => sum.min(value),
                (Some(sum), "max") => sum.max(value),
                (Some(sum), "xor") => sum ^ value,
                (Some(sum), "&") => sum & value,
                (Some(sum), "|") => sum | value,
                _ => return Ok(None),
            });
        }
        let Some(sum) = sum.filter(|_| numbers > 1) else { return Ok(None) };
        let Some(total) = self.number(code, &sum) else { return Ok(None) };
        // Negative numbers are terms of their own.
        let total = self.normal_form(code, total)?;
        if others.is_empty() {
            return Ok(Some(total));
        }
        others.push((total, 1));
        Ok(Some(self.terms.make_bag(&code.signature, symbol, &mut others)))
    }

    fn number_operation(&mut self, code: &Code, name: &str, start: usize) -> Option<TermId> {
        let argument = |engine: &Engine, at: usize| engine.stack[start + at];
        let count = self.stack.len() - start;
        if count == 2
            && let (Some(a), Some(b)) =
                (self.small(code, argument(self, 0)), self.small(code, argument(self, 1)))
        {
            match name {
                "<" => return self.truth(code, a < b),
                "<=" => return self.truth(code, a <= b),
                ">" => return self.truth(code, a > b),
                ">=" => return self.truth(code, a >= b),
                "-" => return self.small_number(code, a - b),
                "quo" if b != 0 => return self.small_number(code, a / b),
                "rem" if b != 0 => return self.small_number(code, a % b),
                _ => {}
            }
        }
        let first = self.integer(code, argument(self, 0))?;
        if count == 1 {
            return match name {
                "abs" => self.number(code, &first.abs()),
                "~" => self.number(code, &!first),
                "-" => self.number(code, &-first),
                _ => None,
            };
        }
        let second = self.integer(code, argument(self, 1))?;
        if count == 3 {
            let third = self.integer(code, argument(self, 2))?;
            if name != "modExp" || third.is_zero() || second.is_negative() {
                return None;
            }
            return self.number(code, &first.modpow(&second, &third));
        }
        let result = match name {
            "-" => first - second,
            "quo" if !second.is_zero() => first / second,
            "rem" if !second.is_zero() => first % second,
            "^" => {
                let exponent = second.to_u32()?;
                if first.bits() * u64::from(exponent) > MOST_BITS {
                    return None;
                }
                first.pow(exponent)
            }
            ">>" => first >> second.to_u64()?,
            "<<" => {
                let places = second.to_u64().filter(|&places| places < MOST_BITS)?;
                first << places
            }
            "<" => return self.truth(code, first < second),
            "<=" => return self.truth(code, first <= second),
            ">" => return self.truth(code, first > second),
            ">=" => return self.truth(code, first >= second),
            "divides" if !first.is_zero() => return self.truth(code, (second % first).is_zero()),
            _ => return None,
        };
        self.number(code, &result)
    }

    fn float_operation(&mut self, code: &Code, name: &str, start: usize) -> Option<TermId> {
        let argument = |engine: &Engine, at: usize| engine.stack[start + at];
        let count = self.stack.len() - start;
        if name == "float" {
            let (above, below) = self.rational(code, argument(self, 0))?;
            return self.make_float(code, ratio(&above, &below));
        }
        let a = self.float(code, argument(self, 0))?;
        if name == "rat" {
            let (above, below) = exact(a)?;
            return self.make_rational(code, &above, &below);
        }
        if count == 1 {
            let value = match name {
                "-" => -a,
                "abs" => a.abs(),
                "floor" => a.floor(),
                "ceiling" => a.ceil(),
                "sqrt" if a >= 0.0 => a.sqrt(),
                "exp" => a.exp(),
                "log" if a >= 0.0 => a.ln(),
                "sin" => a.sin(),
                "cos" => a.cos(),
                "tan" => a.tan(),
                "asin" => a.asin(),
                "acos" => a.acos(),
                "atan" => a.atan(),
                _ => return None,
            };
            return self.make_float(code, value);
        }
        let b = self.float(code, argument(self, 1))?;
        let value = match name {
            "+" => a + b,
            "-" => a - b,
            "*" => a * b,
            "/" if b != 0.0 => a / b,
            "rem" if b != 0.0 => a % b,
            "^" if !(a < 0.0 && b.fract() != 0.0) => a.powf(b),
            "min" => a.min(b),
            "max" => a.max(b),
            "atan" => a.atan2(b),
            "<" => return self.truth(code, a < b),
            "<=" => return self.truth(code, a <= b),
            ">" => return self.truth(code, a > b),
            ">=" => return self.truth(code, a >= b),
            _ => return None,
        };
        self.make_float(code, value)
    }

    fn string_operation(&mut self, code: &Code, name: &str, start: usize) -> Option<TermId> {
        let argument = |engine: &Engine, at: usize| engine.stack[start + at];
        let count = self.stack.len() - start;
        match name {
            "char" => {
                let number =
                    self.integer(code, argument(self, 0))?.to_u32().filter(|&number| number < 256)?;
                let text = char::from_u32(number)?.to_string();
                return self.make_text(code, &text);
            }
            "string" if count == 1 => {
                let value = self.float(code, argument(self, 0))?;
                return self.make_text(code, &float_text(value));
            }
            "string" => {
                let base =
                    self.integer(code, argument(self, 1))?.to_u32().filter(|base| (2..=36).contains(base))?;
                let (above, below) = self.rational(code, argument(self, 0))?;
                let mut text = above.to_str_radix(base);
                if !below.is_one() {
                    text = format!("{text}/{}", below.to_str_radix(base));
                }
                return self.make_text(code, &text);
            }
            _ => {}
        }
        if name == "decFloat" {
            return self.dec_float(code, start);
        }
        let text = self.text(code, argument(self, 0))?;
        if count == 1 {
            return match name {
                "ascii" => {
                    let mut chars = text.chars();
                    let first = chars.next().filter(|_| chars.next().is_none())?;
                    self.number(code, &BigInt::from(first as u32))
                }
                "length" => self.number(code, &BigInt::from(text.chars().count())),
                "upperCase" => self.make_text(code, &text.to_ascii_uppercase()),
                "lowerCase" => self.make_text(code, &text.to_ascii_lowercase()),
                "float" => {
                    let value = match text.as_str() {
                        "Infinity" | "-Infinity" => float_of(&text)?,
                        plain => plain.parse().ok().filter(|value: &f64| !value.is_nan())?,
                    };
                    self.make_float(code, value)
                }
                _ => None,
            };
        }
        let second = argument(self, 1);
        match name {
            "+" => {
                let other = self.text(code, second)?;
                self.make_text(code, &(text + &other))
            }
            "<" | "<=" | ">" | ">=" => {
                let order = text.as_bytes().cmp(self.text(code, second)?.as_bytes());
                let holds = match name {
                    "<" => order.is_lt(),
                    "<=" => order.is_le(),
                    ">" => order.is_gt(),
                    _ => order.is_ge(),
                };
                self.truth(code, holds)
            }
            "substr" => {
                let from = self.integer(code, second)?.to_usize().unwrap_or(usize::MAX);
                let length = self.integer(code, argument(self, 2))?.to_usize().unwrap_or(usize::MAX);
                let part: String = text.chars().skip(from).take(length).collect();
                self.make_text(code, &part)
            }
            "find" | "rfind" => {
                let wanted: Vec<char> = self.text(code, second)?.chars().collect();
                let from = self.integer(code, argument(self, 2))?.to_usize().unwrap_or(usize::MAX);
                let chars: Vec<char> = text.chars().collect();
                let fits = |at: usize| chars[at..].starts_with(&wanted);
                let last = chars.len().checked_sub(wanted.len());
                let found = match (name, last) {
                    (_, None) => None,
                    ("find", Some(last)) => (from..=last).find(|&at| fits(at)),
                    (_, Some(last)) => (0..=from.min(last)).rev().find(|&at| fits(at)),
                };
                match found {
                    Some(at) => self.number(code, &BigInt::from(at)),
                    None => {
                        let symbol = code.signature.named(Name::new("notFound")).first().copied()?;
                        Some(self.terms.make(&code.signature, symbol, &[]))
                    }
                }
            }
            "rat" => {
                let base = self.integer(code, second)?.to_u32().filter(|base| (2..=36).contains(base))?;
                let number = |text: &str| -> Option<BigInt> {
                    let plain = text.strip_prefix('-').unwrap_or(text);
                    let digits = !plain.is_empty() && plain.chars().all(|c| c.is_digit(base));
                    digits.then(|| BigInt::parse_bytes(text.as_bytes(), base)).flatten()
                };
                match text.split_once('/') {
                    None => {
                        let value = number(&text)?;
                        self.number(code, &value)
                    }
                    Some((above, below)) => {
                        let (above, below) = (number(above)?, number(below).filter(Signed::is_positive)?);
                        self.make_rational(code, &above, &below)
                    }
                }
            }
            _ => None,
        }
    }

    /// `< sign, digits, exponent >` of a floating-point number.
    fn dec_float(&mut self, code: &Code, start: usize) -> Option<TermId> {
        let value = self.float(code, self.stack[start])?;
        let places = self.integer(code, self.stack[start + 1])?.to_usize().filter(|&places| places < 1000)?;
        let (sign, digits, exponent) = if value.is_infinite() {
            (if value > 0.0 { 1 } else { -1 }, "Infinity".to_owned(), 0)
        } else if value == 0.0 {
            (0, "0".to_owned(), 0)
        } else {
            let text = format!("{:.*e}", places.saturating_sub(1).min(1000), value.abs());
            let (mantissa, exponent) = text.split_once('e')?;
            let digits = mantissa.replace('.', "");
            (if value > 0.0 { 1 } else { -1 }, digits, exponent.parse::<i64>().ok()? + 1)
        };
        let symbol = code.signature.symbol_ids().find(|&id| {
            let data = code.signature.symbol(id);
            data.arity() == 3 && data.name.text() == "<_`,_`,_>"
        })?;
        let sign = self.number(code, &BigInt::from(sign))?;
        let digits = self.make_text(code, &digits)?;
        let exponent = self.number(code, &BigInt::from(exponent))?;
        Some(self.terms.make(&code.signature, symbol, &[sign, digits, exponent]))
    }

    fn quoted_operation(&mut self, code: &Code, name: &str, start: usize) -> Option<TermId> {
        let argument = self.stack[start];
        match name {
            "string" => {
                let symbol = self.terms.symbol(argument)?;
                if !code.signature.symbol(symbol).is_special("QuotedIdentifierSymbol") {
                    return None;
                }
                let text = self.terms.quoted_name(argument).text();
                self.make_text(code, text)
            }
            "qid" => {
                let text = self.text(code, argument)?;
                let symbol = code.literals.quoted?;
                // Blanks are written as backquotes.
                let words: Vec<&str> = text.split_whitespace().collect();
                let name = words.join("`");
                Some(self.terms.quoted(&code.signature, symbol, Name::new(&name)))
            }
            "printTokens" => {
                let list = self.token_list(code)?;
                let mut tokens = Vec::new();
                for at in 0..self.terms.count(&code.signature, list, argument) {
                    let word = self.terms.element(list, argument, at);
                    let symbol = self.terms.symbol(word)?;
                    if !code.signature.symbol(symbol).is_special("QuotedIdentifierSymbol") {
                        return None;
                    }
                    tokens.push(self.terms.quoted_name(word).text());
                }
                self.make_text(code, &joined_tokens(&tokens))
            }
            "tokenize" => {
                let text = self.text(code, argument)?;
                let (symbol, list) = (code.literals.quoted?, self.token_list(code)?);
                let mut words = Vec::new();
                for word in lexer::words(&text) {
                    let special = word.len() == 1 && word.starts_with(lexer::is_special);
                    let name = if special { format!("`{word}") } else { word.to_owned() };
                    words.push(self.terms.quoted(&code.signature, symbol, Name::new(&name)));
                }
                match words[..] {
                    [] => code.signature.symbol(list).identity(),
                    [only] => Some(only),
                    _ => Some(self.terms.make(&code.signature, list, &words)),
                }
            }
            _ => None,
        }
    }

    /// The operator of lists of quoted identifiers.
    fn token_list(&self, code: &Code) -> Option<SymbolId> {
        let kind = code.signature.symbol(code.literals.quoted?).range;
        code.signature.find(Name::new("__"), &[kind, kind], kind)
    }
}

/// Tokens as a text, with blanks between those that are not brackets.
fn joined_tokens(tokens: &[&str]) -> String {
    let mut text = String::new();
    // Whether a blank is due before the next word.
    let mut blank = false;
    for &token in tokens {
        let plain = token.strip_prefix('`').filter(|rest| rest.len() == 1).unwrap_or(token);
        match plain {
            "\\n" => text.push('\n'),
            "\\t" => text.push('\t'),
            "\\s" => text.push(' '),
            "(" | "[" | "{" | ")" | "]" | "}" | "," => text.push_str(plain),
            word => {
                if blank {
                    text.push(' ');
                }
                text.push_str(word);
            }
        }
        blank = !matches!(plain, "\\n" | "\\t" | "\\s" | "(" | "[" | "{");
    }
    text
}

/// The floating-point number next to a fraction.
fn ratio(above: &BigInt, below: &BigInt) -> f64 {
    match (above.to_f64(), below.to_f64()) {
        (Some(above), Some(below)) if above.is_finite() && below.is_finite() => above / below,
        _ => {
            // Too large for both: scale down first.
            let shift = above.bits().max(below.bits()).saturating_sub(1000);
            let (above, below) = (above >> shift, below >> shift);
            above.to_f64().unwrap_or(f64::INFINITY) / below.to_f64().unwrap_or(1.0)
        }
    }
}

/// The fraction that a floating-point number is.
fn exact(value: f64) -> Option<(BigInt, BigInt)> {
    if !value.is_finite() {
        return None;
    }
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7FF) as i64;
    let fraction = bits & ((1 << 52) - 1);
    let mantissa = if exponent == 0 { fraction << 1 } else { fraction | 1 << 52 };
    let mut above = BigInt::from(mantissa);
    if value.is_sign_negative() {
        above = -above;
    }
    let power = exponent - 1075;
    let one = BigInt::from(BigUint::one());
    Some(if power >= 0 { (above << power, one) } else { (above, one << -power) })
}

/// Numbers of the Mersenne twister (Matsumoto and Nishimura 1998) with seed 0.
fn random(index: usize) -> u32 {
    use std::sync::{LazyLock, Mutex};
    struct Twister {
        state: Vec<u32>,
        next: usize,
        made: Vec<u32>,
    }
    static TWISTER: LazyLock<Mutex<Twister>> = LazyLock::new(|| {
        let mut state = vec![0u32; 624];
        for at in 1..624 {
            let before = state[at - 1];
            state[at] = (before ^ before >> 30).wrapping_mul(1_812_433_253).wrapping_add(at as u32);
        }
        Mutex::new(Twister { state, next: 624, made: Vec::new() })
    });
    let mut twister = TWISTER.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    while twister.made.len() <= index {
        if twister.next == 624 {
            for at in 0..624 {
                let joined = twister.state[at] & 0x8000_0000 | twister.state[(at + 1) % 624] & 0x7FFF_FFFF;
                let odd = if joined & 1 == 1 { 0x9908_B0DF } else { 0 };
                twister.state[at] = twister.state[(at + 397) % 624] ^ joined >> 1 ^ odd;
            }
            twister.next = 0;
        }
        let mut value = twister.state[twister.next];
        twister.next += 1;
        value ^= value >> 11;
        value ^= value << 7 & 0x9D2C_5680;
        value ^= value << 15 & 0xEFC6_0000;
        value ^= value >> 18;
        twister.made.push(value);
    }
    twister.made[index]
}
