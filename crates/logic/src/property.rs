//! Property files: one formula, or several properties with names, sentences and expected verdicts.

use std::path::Path;

use source::{Diagnostic, Sources, Span};

use crate::check::check;
use crate::macros::Macros;
use crate::parser::{Parsed, parse};
use crate::tree::{Formula, Syntax};

/// The built-in patterns, as MCL.
pub const PATTERNS: &str = include_str!("patterns.mcl");

/// A formula with what is said about it.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name; for a file with one formula, the file's.
    pub name: String,
    /// What it says, in plain words.
    pub description: Option<String>,
    /// The formula, checked.
    pub formula: Formula,
    /// The verdict that the author expects.
    pub expected: bool,
    /// Where the formula stands.
    pub span: Span,
}

/// What a file holds.
#[derive(Clone, Debug)]
pub struct Properties {
    /// At least one property.
    pub properties: Vec<Property>,
    /// What is suspicious in them.
    pub warnings: Vec<Diagnostic>,
}

/// Loads the properties of a file, with the libraries it names.
///
/// The error holds at least one error, and no warnings.
pub fn load_properties(path: &Path, sources: &mut Sources) -> Result<Properties, Vec<Diagnostic>> {
    let text = lts::read_text(path).map_err(|error| vec![Diagnostic::error(error.to_string())])?;
    let name = path.file_stem().map_or_else(|| "property".into(), |stem| stem.to_string_lossy().into_owned());
    load(&path.display().to_string(), &name, &text, Syntax::Basic, Some(path), sources)
}

/// Loads properties given as text alone. It can't include libraries: whatever the text says, no file is read.
///
/// ```
/// let mut sources = source::Sources::new();
/// let text = r#"property SAFE "no error happens" is NEVER ("ERROR") end property"#;
/// let loaded = logic::load_text("p.mcl", text, &mut sources).unwrap();
/// assert_eq!(loaded.properties[0].name, "SAFE");
/// assert_eq!(loaded.properties[0].formula.to_string(), r#"([ (true* . "ERROR") ] false)"#);
///
/// let errors = logic::load_text("p.mcl", "[ true* . ERROR ] false", &mut sources).unwrap_err();
/// assert!(sources.render_all(&errors, false).contains("expected a step, found `ERROR`"));
/// ```
pub fn load_text(name: &str, text: &str, sources: &mut Sources) -> Result<Properties, Vec<Diagnostic>> {
    let stem = Path::new(name).file_stem().map_or_else(|| name.into(), |stem| stem.to_string_lossy());
    load(name, &stem, text, Syntax::Basic, None, sources)
}

fn load(
    shown: &str,
    stem: &str,
    text: &str,
    syntax: Syntax,
    path: Option<&Path>,
    sources: &mut Sources,
) -> Result<Properties, Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    let mut macros = Macros::default();
    let patterns = sources.add("built-in patterns", PATTERNS);
    macros.read(patterns, None, sources, &mut diagnostics);
    debug_assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let file = sources.add(shown, text);
    let tokens = macros.read(file, path, sources, &mut diagnostics);
    // What the lexer could not read would only be complained about a second time.
    let silent = !diagnostics.is_empty();
    let parsed = parse(tokens, syntax, silent, &mut diagnostics);
    let mut properties: Vec<Property> = Vec::new();
    for Parsed { name, description, formula, expected, wrong } in parsed {
        if !wrong {
            check(&formula, &|name| macros.nearest(name), &mut diagnostics);
        }
        if let Some(name) = &name
            && let Some(other) = properties.iter().find(|other| other.name == name.text)
        {
            diagnostics.push(
                Diagnostic::error(format!("two properties have the name `{}`", name.text))
                    .label(name.span, "second")
                    .label(other.span, "the first one"),
            );
        }
        let span = formula.span;
        let name = name.map_or_else(|| stem.to_owned(), |name| name.text);
        properties.push(Property { name, description, formula, expected, span });
    }
    if diagnostics.iter().any(Diagnostic::is_error) {
        // An unknown name often comes with an unused one: the error says it all.
        diagnostics.retain(Diagnostic::is_error);
        return Err(diagnostics);
    }
    Ok(Properties { properties, warnings: diagnostics })
}

/// A property from the text of its formula; the text is made here and is right unless a selector is wrong. Patterns
/// are extended regular expressions, as everywhere on the command line.
fn made(
    name: &str,
    description: String,
    text: String,
    sources: &mut Sources,
) -> Result<Property, Vec<Diagnostic>> {
    let mut loaded = load(&format!("--{name}"), name, &text, Syntax::Extended, None, sources)?;
    let mut property = loaded.properties.swap_remove(0);
    property.description = Some(description);
    Ok(property)
}

/// The property that every state has a way on.
///
/// ```
/// let mut sources = source::Sources::new();
/// let property = logic::deadlock(&mut sources);
/// assert_eq!(property.formula.to_string(), "([ true* ] (< true > true))");
/// ```
pub fn deadlock(sources: &mut Sources) -> Property {
    made("deadlock", "no state is a deadlock".into(), "DEADLOCK_FREE".into(), sources)
        .expect("the pattern is part of this crate")
}

/// The property that there is no endless sequence of internal steps.
pub fn livelock(sources: &mut Sources) -> Property {
    made("livelock", "no endless sequence of internal steps".into(), "LIVELOCK_FREE".into(), sources)
        .expect("the pattern is part of this crate")
}

/// The property that no label that `selector` chooses ever happens. A selector is a gate `SEND`, a label
/// `"SEND !1"` or an extended regular expression `'SEND .*'`; any other text is taken as such an expression.
pub fn never(selector: &str, sources: &mut Sources) -> Result<Property, Vec<Diagnostic>> {
    let text = format!("NEVER ({})", predicate(selector));
    made("never", format!("{selector} never happens"), text, sources)
}

/// The property that a label that `selector` chooses can happen.
pub fn reachable(selector: &str, sources: &mut Sources) -> Result<Property, Vec<Diagnostic>> {
    let text = format!("REACHABLE ({})", predicate(selector));
    made("reachable", format!("{selector} can happen"), text, sources)
}

/// The property that on every run the labels that these selectors choose happen one after the other.
///
/// ```
/// let mut sources = source::Sources::new();
/// let property = logic::inevitable(&["A", "\"B !1\""], &mut sources).unwrap();
/// assert_eq!(logic::inevitability(&property.formula).unwrap().len(), 2);
/// ```
pub fn inevitable<S: AsRef<str>>(
    selectors: &[S],
    sources: &mut Sources,
) -> Result<Property, Vec<Diagnostic>> {
    if selectors.is_empty() {
        return Err(vec![Diagnostic::error("no label is given that should be inevitable")]);
    }
    let mut text = String::new();
    for (at, selector) in selectors.iter().enumerate() {
        let predicate = predicate(selector.as_ref());
        let last = at + 1 == selectors.len();
        let next = if last { String::new() } else { format!(" and [ {predicate} ] ") };
        text += &format!("(mu X{at} . (< true > true and [ not {predicate} ] X{at}{next}");
    }
    text += &"))".repeat(selectors.len());
    let names: Vec<&str> = selectors.iter().map(AsRef::as_ref).collect();
    made("inevitable", format!("{} on every run", names.join(", then ")), text, sources)
}

/// A selector of the command line as MCL.
fn predicate(selector: &str) -> String {
    let text = selector.trim();
    let quoted = |quote: char| text.len() > 1 && text.starts_with(quote) && text.ends_with(quote);
    if quoted('"') || quoted('\'') {
        text.to_owned()
    } else if !text.is_empty() && text.chars().all(|one| one.is_ascii_alphanumeric() || one == '_') {
        match text {
            "i" | "tau" => "tau".to_owned(),
            _ => format!("{{ \"{text}\" ... }}"),
        }
    } else {
        format!("'{}'", text.replace('\'', "\\'"))
    }
}
