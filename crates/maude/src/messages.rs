//! What is said about terms that have no reading, or two.

use source::{Diagnostic, Span};

use crate::grammar::NoReading;
use crate::modules::Module;
use crate::names::Name;
use crate::print::{self, Style};
use crate::signature::{Signature, SortId};
use crate::syntax::lexer::Token;
use crate::syntax::parser::begins_something;
use crate::terms::{TermId, Terms};

/// The most words that a message lists.
const MOST_WORDS: usize = 5;
/// The most kinds that a message lists.
const MOST_KINDS: usize = 3;

/// There is no sort of this name.
pub fn unknown_sort(name: Name, span: Span, known: impl Iterator<Item = Name>) -> Diagnostic {
    let near = source::closest(name.text(), known.map(|name| name.text()));
    Diagnostic::error(format!("there is no sort `{name}`"))
        .label(span, "not declared here or in an imported module")
        .maybe_help(near.map(|near| format!("did you mean `{near}`?")))
}

/// A phrase with two readings, which are shown so that they differ.
pub fn two_readings(
    signature: &Signature,
    terms: &Terms,
    tokens: &[Token],
    (from, to, one, two): (usize, usize, TermId, TermId),
) -> Diagnostic {
    let short = Style { format: false, ..Style::default() };
    let styles = [
        short,
        Style { parentheses: true, flat: false, ..short },
        Style { mixfix: false, flat: false, ..short },
    ];
    let shown = styles
        .iter()
        .map(|&style| [one, two].map(|term| print::styled(signature, terms, term, style)))
        .find(|[one, two]| one != two);
    let mut warning =
        Diagnostic::warning("this has two readings").label(span_of(&tokens[from..to]), "ambiguous");
    let sorts = [one, two].map(|term| signature.sort_name(terms.sort(term)));
    match shown {
        Some([first, second]) if sorts[0] != sorts[1] => {
            warning = warning
                .note(format!("one is of sort `{}`: {first}", sorts[0]))
                .note(format!("the other is of sort `{}`: {second}", sorts[1]));
        }
        Some([first, second]) => {
            warning = warning.note(format!("one: {first}")).note(format!("the other: {second}"));
        }
        // Operators of one name, with arguments of two kinds.
        None => {
            warning = warning.note(format!("as a term of sort `{}` or `{}`", sorts[0], sorts[1]));
        }
    }
    warning.help(match sorts[0] != sorts[1] {
        true => format!("the first is taken; `(t).{}` says which sort is meant", sorts[0]),
        false => "the first is taken; parentheses make it clear".to_owned(),
    })
}

/// From the first to the last token.
pub fn span_of(tokens: &[Token]) -> Span {
    tokens[0].span.to(tokens[tokens.len() - 1].span)
}

/// What is wrong with tokens that have no reading.
pub fn cannot_read(no: &NoReading, tokens: &[Token], module: &Module, what: &str) -> Diagnostic {
    let Some(&last) = tokens.last() else { return Diagnostic::error(format!("{what} is missing")) };
    let Some(&token) = tokens.get(no.at) else {
        return Diagnostic::error(format!("{what} is incomplete"))
            .label(last.span, "something is missing after this")
            .maybe_help(arguments(no, tokens, module).or_else(|| expected(no, module)));
    };
    if no.unknown {
        return unknown(tokens, no.at, module);
    }
    if let Some(error) = unmatched(tokens, no.at) {
        return error;
    }
    let mut error = Diagnostic::error(format!("{what} can't be read"));
    if no.sorts.is_empty() || no.kinds.is_empty() {
        return error
            .label(token.span, format!("`{}` does not fit here", token.text()))
            .maybe_help(arguments(no, tokens, module).or_else(|| expected(no, module)));
    }
    let sorts: Vec<&str> = no.sorts.iter().map(|&sort| module.signature.sort_name(sort)).collect();
    let is = format!("`{}` is of sort {}", token.text(), choice(sorts));
    error = error.label(token.span, is);
    if no.kinds.len() <= MOST_KINDS {
        let names = no.kinds.iter().map(|&kind| largest(&module.signature, kind));
        error = error.help(format!("a term of sort {} is expected here", choice(names.collect())));
    }
    error
}

/// `a`, `b` or `c`.
fn choice(mut words: Vec<&str>) -> String {
    words.dedup();
    words.truncate(MOST_WORDS);
    let last = words.pop().map(|word| format!("`{word}`")).unwrap_or_default();
    if words.is_empty() {
        return last;
    }
    let first: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    format!("{} or {last}", first.join(", "))
}

/// The name of the largest sort of a kind, or of the kind if there are several.
fn largest(signature: &Signature, kind: crate::signature::KindId) -> &'static str {
    let top = signature.top(kind);
    let own: Vec<SortId> =
        (0..signature.sorts.len() as u32).map(SortId).filter(|&sort| sort != top).collect();
    let own: Vec<SortId> = own.into_iter().filter(|&sort| signature.kind_of(sort) == kind).collect();
    let is_largest = |&&sort: &&SortId| own.iter().all(|&other| other == sort || !signature.leq(sort, other));
    let mut found = own.iter().filter(is_largest);
    match (found.next(), found.next()) {
        (Some(&one), None) => signature.sort_name(one),
        _ => signature.kind_name(kind),
    }
}

/// What could come in this place.
fn expected(no: &NoReading, module: &Module) -> Option<String> {
    let mut words: Vec<&str> = no.expected.iter().map(|word| word.text()).collect();
    // Every term can be compared: that is no news if there is anything else.
    if words.iter().any(|word| !matches!(*word, "==" | "=/=" | "::")) {
        words.retain(|word| !matches!(*word, "==" | "=/=" | "::"));
    }
    if !no.kinds.is_empty() {
        let few = no.kinds.len() <= MOST_KINDS && no.kinds.len() < module.signature.kinds.len();
        return match few {
            true => {
                let names = no.kinds.iter().map(|&kind| largest(&module.signature, kind)).collect();
                Some(format!("expected a term of sort {}", choice(names)))
            }
            false => Some("expected a term".into()),
        };
    }
    (!words.is_empty()).then(|| format!("expected {}", choice(words)))
}

/// How many arguments the operator takes whose arguments are written here.
fn arguments(no: &NoReading, tokens: &[Token], module: &Module) -> Option<String> {
    let at = tokens.get(no.at);
    let wrong = match at {
        None => no.expected.iter().any(|word| word.text() == "("),
        Some(token) => token.is(",") || token.is(")") && no.expected.iter().any(|word| word.text() == ","),
    };
    if !wrong {
        return None;
    }
    let name = if at.is_none() {
        tokens[tokens.len() - 1].name
    } else {
        let mut depth = 0usize;
        let open = (0..no.at).rev().find(|&before| {
            match tokens[before].text() {
                ")" => depth += 1,
                "(" if depth == 0 => return true,
                "(" => depth -= 1,
                _ => {}
            }
            false
        })?;
        tokens[open.checked_sub(1)?].name
    };
    let named = module.signature.named(name);
    let mut arities: Vec<usize> = named.iter().map(|&id| module.signature.symbol(id).arity()).collect();
    arities.sort_unstable();
    arities.dedup();
    match arities[..] {
        [] | [0] => None,
        [1] => Some(format!("`{name}` takes 1 argument")),
        _ => {
            let counts: Vec<String> = arities.iter().map(usize::to_string).collect();
            Some(format!("`{name}` takes {} arguments", counts.join(" or ")))
        }
    }
}

/// A bracket that closes nothing.
fn unmatched(tokens: &[Token], at: usize) -> Option<Diagnostic> {
    let (open, close) = match tokens[at].text() {
        ")" => ("(", ")"),
        "]" => ("[", "]"),
        "}" => ("{", "}"),
        _ => return None,
    };
    let mut depth = 0i64;
    for token in &tokens[..at] {
        depth += i64::from(token.is(open)) - i64::from(token.is(close));
    }
    (depth <= 0).then(|| {
        Diagnostic::error(format!("`{close}` closes nothing"))
            .label(tokens[at].span, format!("no `{open}` before it is open"))
    })
}

/// A token that nothing is written with.
fn unknown(tokens: &[Token], at: usize, module: &Module) -> Diagnostic {
    let signature = &module.signature;
    let token = tokens[at];
    let text = token.text();
    let before = at.checked_sub(1).map(|before| tokens[before]);
    if let Some(before) = before.filter(|before| before.ends_line && begins_something(text)) {
        return Diagnostic::error(format!("a period is missing before `{text}`"))
            .label(before.span, "expected ` .` after this")
            .label(token.span, "something else begins here");
    }
    if before.is_some_and(|before| matches!(before.text(), ":" | "::")) {
        return unknown_sort(token.name, token.span, signature.sort_names());
    }
    let inline = text
        .rsplit_once(':')
        .filter(|(name, sort)| !name.is_empty() && !sort.is_empty() && !name.starts_with('\''));
    if let Some((_, sort)) = inline.filter(|(_, sort)| sort.starts_with(char::is_alphabetic)) {
        return unknown_sort(Name::new(sort), token.span, signature.sort_names());
    }
    let symbols = || signature.symbols.iter().filter(|symbol| !symbol.is_special("SortTestSymbol"));
    let names = symbols().map(|symbol| symbol.name.text());
    let words = symbols().flat_map(|symbol| symbol.mixfix.iter().flatten().map(|word| word.text()));
    let variables = module.variables.keys().map(|name| name.text());
    // Names that differ in capitals alone come first; the order is that of the alphabet, not of a table.
    let mut near: Vec<&str> = names.chain(words).chain(variables).collect();
    near.sort_unstable();
    near.dedup();
    let capital = near.iter().copied().find(|near| near.eq_ignore_ascii_case(text));
    let near = capital.or_else(|| source::closest(text, near));
    let first = text.chars().next().unwrap_or(' ');
    let help = match near {
        Some(near) => Some(format!("did you mean `{near}`?")),
        None if text == "modelCheck" => {
            Some("`load model-checker` first, and import `MODEL-CHECKER` into the module".into())
        }
        None if first.is_ascii_digit() => {
            Some("numbers need `protecting NAT .` or another module of numbers".into())
        }
        None if first == '\'' => Some("quoted identifiers need `protecting QID .`".into()),
        None if first == '"' => Some("strings need `protecting STRING .`".into()),
        None if text.ends_with('.') && text.len() > 1 => {
            Some(format!("write a blank before the period: `{} .`", text.trim_end_matches('.')))
        }
        None if first.is_uppercase() => {
            Some(format!("a variable is declared with `var {text} : SORT .`, or written `{text}:SORT`"))
        }
        None => None,
    };
    Diagnostic::error(format!("`{text}` is not known in `{}`", module.name))
        .label(token.span, "no operator or variable is written like this")
        .maybe_help(help)
}
