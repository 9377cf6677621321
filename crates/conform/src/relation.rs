//! The relation between what a program shows and what a model says: a small file in TOML.
//!
//! Templates have `${name}` where values of the program go; `${name.field}` goes into a value. An entry under
//! `[variables]` says how a value is written in the model's language.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Deserialize;
use serde_json::Value;

/// How the program's states and events are written in terms of the model; the identity by default.
///
/// ```
/// use conform::{Observed, Relation};
///
/// let relation = Relation::parse("[state]\nterm = '{(n: ${count})}'\n").unwrap();
/// let state = serde_json::json!({ "count": 3 });
/// assert_eq!(relation.state(&state).unwrap(), Observed::Whole("{(n: 3)}".to_owned()));
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relation {
    #[serde(default)]
    state: StateRelation,
    #[serde(default)]
    variables: BTreeMap<String, Writing>,
    #[serde(default)]
    event: Vec<EventRule>,
    /// What is said about events as a whole.
    #[serde(default)]
    pub events: Events,
    /// Tells relations apart that were read one after the other; the identity has none.
    #[serde(skip)]
    number: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateRelation {
    /// A whole state in the model's language.
    term: Option<String>,
    /// The values of a state by the names that the model has for them.
    values: Option<BTreeMap<String, String>>,
    /// Variables of the program that the model does not have.
    #[serde(default)]
    ignore: Vec<String>,
    /// Parts of the model that the program does not show.
    #[serde(default)]
    unobserved: Vec<String>,
}

/// How a value is written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Writing {
    /// A template with `${it}`.
    write: Option<String>,
    /// The same for each element of an array.
    each: Option<String>,
    between: Option<String>,
    empty: Option<String>,
    /// Other words for some values.
    #[serde(default)]
    words: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EventRule {
    #[serde(default)]
    when: BTreeMap<String, toml::Value>,
    label: String,
}

/// What is said about events as a whole.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// The key of an event that tells sequences apart.
    pub sequence: Option<String>,
    /// What happens with events that no rule matches.
    #[serde(default)]
    pub otherwise: Otherwise,
    /// Gates on which the environment decides.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// Gates on which the program decides.
    #[serde(default)]
    pub outputs: Vec<String>,
    /// Gates of the model that count as silent.
    #[serde(default)]
    pub hidden: Vec<String>,
}

/// What happens with events that no rule matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Otherwise {
    /// The trace is refused.
    #[default]
    Error,
    /// They are left out.
    Ignore,
}

/// A state of the program in terms of the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Observed {
    /// A text that denotes a state.
    Whole(String),
    /// Some values of a state, by name.
    Values(Vec<(String, String)>),
}

impl std::fmt::Display for Observed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Observed::Whole(text) => out.write_str(text),
            Observed::Values(values) => {
                let shown: Vec<String> =
                    values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                out.write_str(&shown.join(", "))
            }
        }
    }
}

/// Why a relation is none: what is wrong, and where in its text.
#[derive(Clone, Debug)]
pub struct WrongRelation {
    /// What is wrong.
    pub message: String,
    /// Where, as bytes of the text.
    pub range: Option<std::ops::Range<usize>>,
}

impl Relation {
    /// Reads a relation.
    pub fn parse(text: &str) -> Result<Self, WrongRelation> {
        let wrong = |message: String| WrongRelation { message, range: None };
        let relation: Self = toml::from_str(text)
            .map_err(|error| WrongRelation { message: error.message().to_owned(), range: error.span() })?;
        if relation.state.term.is_some() && relation.state.values.is_some() {
            return Err(wrong("`term` and `values` both say what a state is: keep one of them".to_owned()));
        }
        if let Some(both) = relation.events.inputs.iter().find(|gate| relation.events.outputs.contains(gate))
        {
            return Err(wrong(format!("`{both}` is listed under both inputs and outputs")));
        }
        let templates =
            relation.state.term.iter().chain(relation.state.values.iter().flat_map(BTreeMap::values));
        let templates = templates
            .chain(relation.event.iter().map(|rule| &rule.label))
            .chain(relation.variables.values().flat_map(|writing| writing.write.iter().chain(&writing.each)));
        for template in templates {
            for piece in pieces(template) {
                if let Piece::Open(rest) = piece {
                    let range = text.find(template.as_str()).map(|at| at..at + template.len());
                    return Err(WrongRelation {
                        message: format!("`${{{rest}` has no closing brace"),
                        range,
                    });
                }
            }
        }
        static READ: AtomicU64 = AtomicU64::new(0);
        Ok(Self { number: READ.fetch_add(1, Ordering::Relaxed) + 1, ..relation })
    }

    /// A number that no other relation has.
    pub(crate) fn identity(&self) -> u64 {
        self.number
    }

    /// Whether anything is said about states.
    pub fn tells_states(&self) -> bool {
        self.state.term.is_some() || self.state.values.is_some()
    }

    /// Whether some rule looks at this key of events.
    pub fn mentions(&self, key: &str) -> bool {
        self.event
            .iter()
            .any(|rule| rule.when.contains_key(key) || rule.label.contains(&format!("${{{key}}}")))
    }

    /// Whether anything is said about single events.
    pub fn tells_events(&self) -> bool {
        !self.event.is_empty()
    }

    /// The parts of the model that are not observed.
    pub fn unobserved(&self) -> &[String] {
        &self.state.unobserved
    }

    /// A state of the program in terms of the model.
    pub fn state(&self, state: &Value) -> Result<Observed, String> {
        if let Some(template) = &self.state.term {
            return Ok(Observed::Whole(match state {
                // What is a term already stays one.
                Value::String(text) => text.clone(),
                _ => self.filled(template, state)?,
            }));
        }
        if let Some(values) = &self.state.values {
            let filled =
                values.iter().map(|(name, template)| Ok((name.clone(), self.filled(template, state)?)));
            return Ok(Observed::Values(filled.collect::<Result<_, String>>()?));
        }
        match state {
            Value::String(text) => Ok(Observed::Whole(text.clone())),
            Value::Object(fields) => {
                let kept = fields.iter().filter(|(name, _)| {
                    !name.starts_with('#')
                        && !self.state.ignore.contains(name)
                        && !self.state.unobserved.contains(name)
                });
                let written = kept.map(|(name, value)| Ok((name.clone(), self.written(name, value)?)));
                Ok(Observed::Values(written.collect::<Result<_, String>>()?))
            }
            other => Err(format!("a state is an object with values or a text, not {}", kind(other))),
        }
    }

    /// The variables of a state that a template for whole states leaves out without being told to.
    pub fn left_out(&self, state: &Value) -> Vec<String> {
        let (Some(template), Value::Object(fields)) = (&self.state.term, state) else { return Vec::new() };
        let used: Vec<&str> = pieces(template)
            .into_iter()
            .filter_map(|piece| match piece {
                Piece::Value(path) => path.split(['.', '[']).next(),
                _ => None,
            })
            .collect();
        let left = fields.keys().filter(|name| {
            !name.starts_with('#') && !used.contains(&name.as_str()) && !self.state.ignore.contains(name)
        });
        left.cloned().collect()
    }

    /// The label that an event has in the model; none where it is left out.
    pub fn event(&self, event: &Value) -> Result<Option<String>, String> {
        for rule in &self.event {
            let matches = rule.when.iter().all(|(path, wanted)| {
                let found = at(event, path);
                match wanted {
                    toml::Value::Array(some) => some.iter().any(|wanted| is(found, wanted)),
                    wanted => is(found, wanted),
                }
            });
            if matches {
                return match rule.label.as_str() {
                    "" => Ok(None),
                    label => Ok(Some(normal_label(&self.filled(label, event)?))),
                };
            }
        }
        if self.event.is_empty() {
            return match event {
                Value::String(label) => Ok(Some(normal_label(label))),
                Value::Object(fields) => match fields.get("label").or(fields.get("name")) {
                    Some(Value::String(label)) => Ok(Some(normal_label(label))),
                    _ => Err("this event is an object without a `label`: a relation has to say what it is in the model"
                        .to_owned()),
                },
                other => Err(format!("an event is a text or an object, not {}", kind(other))),
            };
        }
        match self.events.otherwise {
            Otherwise::Ignore => Ok(None),
            Otherwise::Error => Err(
                "no rule of the relation matches this event; `otherwise = \"ignore\"` under [events] leaves such events out"
                    .to_owned(),
            ),
        }
    }

    fn filled(&self, template: &str, values: &Value) -> Result<String, String> {
        let mut text = String::with_capacity(template.len() * 2);
        for piece in pieces(template) {
            match piece {
                Piece::Text(part) | Piece::Open(part) => text.push_str(part),
                Piece::Value(path) => {
                    let Some(value) = at(values, path) else { return Err(missing(path, values)) };
                    text.push_str(&self.written(path, value)?);
                }
            }
        }
        Ok(text)
    }

    /// A value in the model's language.
    fn written(&self, name: &str, value: &Value) -> Result<String, String> {
        let Some(writing) = self.variables.get(name) else { return plain(value) };
        let inner = |template: &str, it: &Value| -> Result<String, String> {
            let mut text = String::new();
            for piece in pieces(template) {
                match piece {
                    Piece::Text(part) | Piece::Open(part) => text.push_str(part),
                    Piece::Value("it") => text.push_str(&plain(it)?),
                    Piece::Value(path) => {
                        let Some(path) = path.strip_prefix("it.") else {
                            return Err(format!(
                                "`${{{path}}}` in the entry of `{name}`: values are called `it` there"
                            ));
                        };
                        let Some(value) = at(it, path) else { return Err(missing(path, it)) };
                        text.push_str(&plain(value)?);
                    }
                }
            }
            Ok(text)
        };
        if let Some(each) = &writing.each {
            let Value::Array(items) = unwrapped(value) else {
                return Err(format!("`{name}` should be an array, and is {}", kind(value)));
            };
            if items.is_empty() {
                return writing.empty.clone().ok_or_else(|| {
                    format!(
                        "`{name}` is an empty array, and its entry does not say what `empty` is in the model"
                    )
                });
            }
            let texts: Vec<String> =
                items.iter().map(|item| inner(each, item)).collect::<Result<_, String>>()?;
            return Ok(texts.join(writing.between.as_deref().unwrap_or(", ")));
        }
        let text = match &writing.write {
            Some(template) => inner(template, value)?,
            None => plain(value)?,
        };
        Ok(writing.words.get(&text).cloned().unwrap_or(text))
    }
}

/// A label with single blanks, and no sign before positive numbers.
pub(crate) fn normal_label(label: &str) -> String {
    let mut normal = String::with_capacity(label.len());
    for word in label.split_whitespace() {
        if !normal.is_empty() {
            normal.push(' ');
        }
        match word.strip_prefix("!+") {
            Some(number) if number.starts_with(|digit: char| digit.is_ascii_digit()) => {
                let _ = write!(normal, "!{number}");
            }
            _ => normal.push_str(word),
        }
    }
    normal
}

enum Piece<'a> {
    Text(&'a str),
    Value(&'a str),
    /// What follows a `${` without an end.
    Open(&'a str),
}

fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("${") {
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        match after.split_once('}') {
            Some((path, after)) => {
                pieces.push(Piece::Value(path.trim()));
                rest = after;
            }
            None => {
                pieces.push(Piece::Open(after));
                return pieces;
            }
        }
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    pieces
}

/// The value that a path of names and positions leads to. A name with dots in it is found as well.
pub(crate) fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let value = unwrapped(value);
    match value {
        Value::Object(fields) => {
            if let Some(found) = fields.get(path) {
                return Some(found);
            }
            let mut dots = path.match_indices('.').map(|(dot, _)| dot);
            dots.find_map(|dot| at(fields.get(&path[..dot])?, &path[dot + 1..]))
        }
        Value::Array(items) => {
            let (first, rest) =
                path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
            let item = items.get(first.parse::<usize>().ok()?)?;
            rest.map_or(Some(item), |rest| at(item, rest))
        }
        _ => None,
    }
}

fn missing(path: &str, values: &Value) -> String {
    let Value::Object(fields) = values else { return format!("there is no `{path}` in {}", kind(values)) };
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    match source::closest(path, names.iter().copied()) {
        Some(near) => format!("there is no `{path}`; did you mean `{near}`?"),
        None => format!("there is no `{path}`; there are: {}", names.join(", ")),
    }
}

fn is(found: Option<&Value>, wanted: &toml::Value) -> bool {
    let Some(found) = found else { return false };
    match (unwrapped(found), wanted) {
        (Value::String(found), toml::Value::String(wanted)) => found == wanted,
        (Value::Number(found), toml::Value::Integer(wanted)) => found.as_i64() == Some(*wanted),
        (Value::Bool(found), toml::Value::Boolean(wanted)) => found == wanted,
        (found, toml::Value::String(wanted)) => plain(found).is_ok_and(|found| found == *wanted),
        _ => false,
    }
}

/// The value inside of what ITF puts around numbers, tuples and sets.
fn unwrapped(value: &Value) -> &Value {
    match value {
        Value::Object(fields) if fields.len() == 1 => {
            let inner = ["#bigint", "#tup", "#set"].iter().find_map(|key| fields.get(*key));
            inner.unwrap_or(value)
        }
        _ => value,
    }
}

/// A value without an entry: words and numbers as they are, arrays as `{a, b}`, objects as `{name = value}`.
fn plain(value: &Value) -> Result<String, String> {
    if let Value::Object(fields) = value
        && let Some(Value::Array(pairs)) = fields.get("#map")
    {
        let pairs = pairs.iter().map(|pair| match pair {
            Value::Array(both) if both.len() == 2 => {
                Ok(format!("{} = {}", plain(&both[0])?, plain(&both[1])?))
            }
            _ => Err("a `#map` is an array of pairs".to_owned()),
        });
        return Ok(format!("{{{}}}", pairs.collect::<Result<Vec<String>, String>>()?.join(", ")));
    }
    Ok(match unwrapped(value) {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(plain).collect::<Result<_, String>>()?;
            format!("{{{}}}", items.join(", "))
        }
        Value::Object(fields) => {
            if let Some(Value::String(what)) = fields.get("#unserializable") {
                return Err(format!("`{what}` can't be written as a value"));
            }
            let fields = fields.iter().map(|(name, value)| Ok(format!("{name} = {}", plain(value)?)));
            format!("{{{}}}", fields.collect::<Result<Vec<String>, String>>()?.join(", "))
        }
    })
}

pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a Boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
