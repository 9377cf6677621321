//! From a text to a checked net.

use source::{Diagnostic, Sources};

use super::check::Checker;
use super::parser;
use crate::high::HighNet;

/// Loads a net from its text. It starts from the marking `root`; without one, from `MAIN` or the first one. Constants
/// (functions without parameters) get other values by name.
///
/// The error holds at least one error, and the warnings that came with it.
///
/// ```
/// let text = "net LIGHT is
///    place Red, Green
///    transition Go take Red put Green end transition
///    transition Stop take Green put Red end transition
///    marking START is Red end marking
/// end net";
/// let mut sources = source::Sources::new();
/// let net = net::load_net("light.net", text, None, &[], &mut sources).unwrap();
/// assert_eq!((net.places.len(), net.transitions.len()), (2, 2));
/// ```
pub fn load_net(
    name: &str,
    text: &str,
    root: Option<&str>,
    constants: &[(String, String)],
    sources: &mut Sources,
) -> Result<HighNet, Vec<Diagnostic>> {
    if text.len() >= u32::MAX as usize {
        return Err(vec![Diagnostic::error(format!("{name} is larger than 4 GiB"))]);
    }
    let file = sources.add(name, text);
    let mut diagnostics = Vec::new();
    let Some(mut tree) = parser::parse(file, text, &mut diagnostics) else {
        return Err(explained(diagnostics, text));
    };
    for (constant, value) in constants {
        tree.written.bind(constant, value, sources, &mut diagnostics);
    }
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(explained(diagnostics, text));
    }
    let root = root.map(|root| (root.trim(), sources.add_given("marking", root)));
    let root = root.map(|(text, file)| (text, sources.span(file)));
    match Checker::check(tree, root, &mut diagnostics) {
        Some(mut net) if !diagnostics.iter().any(Diagnostic::is_error) => {
            net.warnings = diagnostics;
            Ok(net)
        }
        _ => Err(diagnostics),
    }
}

/// Adds what to do where a place has the name of a keyword, which can't be used in an expression.
fn explained(diagnostics: Vec<Diagnostic>, text: &str) -> Vec<Diagnostic> {
    let lower = text.to_lowercase();
    let with_help = |diagnostic: Diagnostic| {
        let found =
            diagnostic.message.split_once("found the keyword `").and_then(|(_, rest)| rest.split_once('`'));
        let keyword = found.map(|(word, _)| word.to_owned());
        match keyword.filter(|word| lower.contains(&format!("place {word} "))) {
            Some(word) => diagnostic.help(format!(
                "`{word}` is a keyword of LNT, so the place of this name can't be used in expressions: rename it"
            )),
            None => diagnostic,
        }
    };
    diagnostics.into_iter().map(with_help).collect()
}
