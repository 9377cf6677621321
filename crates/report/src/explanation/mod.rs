//! Why a property fails: the choices that decide it, in the words of the model.

mod difference;
mod exports;
mod html;
mod lanes;
mod text;

use explain::{Method, Shape, Tag};
use serde::Serialize;

pub use exports::{write_autx, write_csv_states, write_csv_transitions, write_cypher, write_dot};
pub use lanes::{Extent, Lanes};

/// The verdict on a property, and the choices behind it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Explanation {
    /// The property's name.
    pub property: String,
    /// What it says in plain words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it holds.
    pub verdict: bool,
    /// All properties that were looked at, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<PropertyRow>,
    /// Whether only a part of the system was explored: the counterexample is one of the whole, the rest speaks of the part.
    pub partial: bool,
    /// A part of the system that violates the property, where no single run does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<SystemPart>,
    /// How tags were computed.
    pub method: String,
    /// The system.
    pub full: TaggedSize,
    /// The part of it that can violate the property.
    pub counterexample_lts: TaggedSize,
    /// How many transitions have each tag.
    pub tags: TagCounts,
    /// How many states decide, by kind.
    pub neighbourhoods: KindCounts,
    /// The typical bug that this is.
    pub shape: Option<NamedShape>,
    /// What else there is to say, in sentences.
    pub remarks: Vec<String>,
    /// The kind of neighbourhood that was asked for: choices and steps that matter are of that kind only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// The constructs of the source that most likely are what is wrong, best first.
    pub suspects: Vec<SuspectPlace>,
    /// Single changes of the suspects that make all properties hold, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repairs: Option<crate::repair::Repairs>,
    /// The choices: neighbourhoods grouped by what decides in them, the most decisive first.
    pub choices: Vec<Choice>,
    /// The labels of a run that violates the property.
    pub counterexample: Option<Vec<String>>,
    /// Where in that run the part starts that is repeated for ever.
    pub lasso: Option<usize>,
    /// The part of the system in which that run goes round for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<EndlessPart>,
    /// The labels of that run that matter.
    pub abstracted: Vec<String>,
    /// That run, step by step.
    pub steps: Vec<ExplainedStep>,
    /// Where processes stand at its end, where nothing can happen any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Waiting>,
    /// Processes that wait for each other in a circle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_cycle: Option<Vec<String>>,
    /// The labels of a shortest way to a neighbourhood, of the kind and through the labels that were asked for.
    pub nearest: Option<Vec<String>>,
    /// Labels of the system that no counterexample involves.
    pub uninvolved: Vec<String>,
    /// In how many parts of the system a run avoids the violation only by going round for ever.
    pub endless_regions: usize,
    /// The constructs of the source, with how often they take part in what.
    pub source: Vec<Construct>,
    /// How long it took.
    pub seconds: f64,
    /// The texts of the model's files, for listings.
    #[serde(skip)]
    pub files: Vec<SourceFile>,
    /// Whether the text has colours.
    #[serde(skip)]
    pub colour: bool,
    /// Whether the text has everything, not only what is on the first page.
    #[serde(skip)]
    pub all: bool,
}

/// What there is to say of one of several properties.
#[derive(Clone, Debug, Serialize)]
pub struct PropertyRow {
    /// Its name.
    pub property: String,
    /// Whether it holds; none where there is no verdict.
    pub verdict: Option<bool>,
    /// Whether it is expected to.
    pub expected: bool,
    /// Whether the verdict is another one than expected.
    pub surprise: bool,
    /// Whether it is the one that is explained.
    pub explained: bool,
    /// Why it has no verdict or can't be explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A part of a system that violates a property: states, the first being the initial one, and transitions.
#[derive(Clone, Debug, Serialize)]
pub struct SystemPart {
    /// How many states it has.
    pub states: u64,
    /// Source, label and target of its transitions; the first thousand.
    pub transitions: Vec<(u64, String, u64)>,
    /// How many it has.
    pub transition_count: u64,
}

/// How large a system is.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct TaggedSize {
    /// States.
    pub states: u64,
    /// Transitions.
    pub transitions: u64,
    /// Different labels on them.
    pub labels: u64,
}

/// Transitions by tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TagCounts {
    /// After these the property is satisfied.
    pub correct: u64,
    /// After these it is lost.
    pub incorrect: u64,
    /// After these it is open.
    pub neutral: u64,
}

impl From<[u64; 3]> for TagCounts {
    fn from([correct, incorrect, neutral]: [u64; 3]) -> Self {
        Self { correct, incorrect, neutral }
    }
}

impl TagCounts {
    /// The one tag that all have, or neutral.
    pub fn tag(self) -> Tag {
        match (self.correct > 0, self.incorrect > 0, self.neutral > 0) {
            (true, false, false) => Tag::Correct,
            (false, true, false) => Tag::Incorrect,
            _ => Tag::Neutral,
        }
    }
}

/// Neighbourhoods by kind.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct KindCounts {
    /// With correct exits only, besides neutral ones.
    pub cn: u64,
    /// With incorrect exits only, besides neutral ones.
    pub r#in: u64,
    /// With correct and incorrect exits.
    pub ci: u64,
    /// With exits of all tags.
    pub cin: u64,
    /// All of them.
    pub total: u64,
}

/// A typical bug.
#[derive(Clone, Debug, Serialize)]
pub struct NamedShape {
    /// Its name.
    pub name: String,
    /// What it says about the bug.
    pub meaning: String,
}

impl From<Shape> for NamedShape {
    fn from(shape: Shape) -> Self {
        Self { name: shape.name().into(), meaning: shape.meaning().into() }
    }
}

/// Neighbourhoods that are the same choice.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// How many they are.
    pub neighbourhoods: u64,
    /// Their kinds, without repetition.
    pub kinds: Vec<&'static str>,
    /// The states of the tagged system where they are; a hundred at most.
    pub states: Vec<u64>,
    /// The fewest and the most steps from the start.
    pub from_start: (u32, u32),
    /// The fewest and the most steps to the violation, where that is known.
    pub to_violation: Option<(u32, u32)>,
    /// How likely a run with uniform choices comes to the likeliest of them, where that is known: to one of them it comes
    /// at least as likely.
    pub probability: Option<f64>,
    /// The choice, by its position, that must be passed before every one of them.
    pub after: Option<usize>,
    /// Labels of the transitions just before.
    pub before: Vec<String>,
    /// Conditions on values that tell states in which an exit loses for good from those in which it does not, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub separated: Vec<String>,
    /// Exits after which the property is satisfied.
    pub correct: Vec<ChoiceExit>,
    /// Exits after which it is lost.
    pub incorrect: Vec<ChoiceExit>,
    /// Exits after which it is open.
    pub neutral: Vec<ChoiceExit>,
}

/// Exits of a choice that come from the same place.
#[derive(Clone, Debug, Serialize)]
pub struct ChoiceExit {
    /// Their labels.
    pub labels: Vec<String>,
    /// How many transitions they are.
    pub transitions: u64,
    /// The actions that take part.
    pub actions: Vec<ActionSpan>,
}

/// A construct of the source that may be what is wrong.
#[derive(Clone, Debug, Serialize)]
pub struct SuspectPlace {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// Where it ends.
    pub end_line: usize,
    /// The column after its last character.
    pub end_column: usize,
    /// `action`, `decision`, `assignment`, `call`, `synchronisation`, `ending` or `result`.
    pub kind: &'static str,
    /// Its text, on one line.
    pub construct: String,
    /// The process or function it belongs to.
    pub process: String,
    /// Why it is suspected, in one sentence.
    pub reason: String,
    /// Between 0 and 1; that of the best suspect is 1.
    pub score: f64,
}

/// A part of the system in which a run violates the property by going round for ever.
#[derive(Clone, Debug, Serialize)]
pub struct EndlessPart {
    /// How many states it has.
    pub states: u64,
    /// Whether the run starts in it.
    pub initial: bool,
    /// The steps that lead into it.
    pub entries: Vec<ChoiceExit>,
    /// The steps that lead out of it.
    pub exits: Vec<ChoiceExit>,
}

/// An action in the source, with where it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActionSpan {
    /// The process it is written in.
    pub process: String,
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// Where it ends.
    pub end_line: usize,
    /// The column after its last character.
    pub end_column: usize,
    /// The instance of the process that takes part, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
}

impl ActionSpan {
    /// Who does it: the instance or, where that is not known, the process.
    pub fn who(&self) -> &str {
        self.instance.as_deref().unwrap_or(&self.process)
    }
}

/// A process that waits for ever.
#[derive(Clone, Debug, Serialize)]
pub struct Waiting {
    /// Where it stands.
    pub action: ActionSpan,
    /// What it offers: `PUT !3 ?nat`.
    pub offer: String,
    /// For whom it waits, and what they do, in words.
    pub why: String,
    /// For whom it waits.
    pub partners: Vec<String>,
    /// Actions of those that could help, wherever control may be.
    pub could_help: Vec<ActionSpan>,
}

/// An instance of a process in a state, with its variables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InstanceValues {
    /// Which one it is; empty where there are no instances.
    pub instance: String,
    /// Its variables, in the order of the source.
    pub values: Vec<InstanceValue>,
}

/// A variable of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InstanceValue {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Its value one step earlier; none where it had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Whether the step gave it this value.
    pub changed: bool,
}

/// A variable that a step gave another value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ValueChange {
    /// Its name.
    pub name: String,
    /// Its value before; none where it had none.
    pub before: Option<String>,
    /// Its value after; none where it has none any more.
    pub after: Option<String>,
}

impl ValueChange {
    /// For people: `term 0 → 1`, and of long values what is different.
    pub fn text(&self) -> String {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => format!("{} {}", self.name, difference::difference(before, after)),
            (None, Some(after)) => format!("{} = {after}", self.name),
            (_, None) => format!("{} is gone", self.name),
        }
    }
}

/// One step of the counterexample.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedStep {
    /// What happens.
    pub label: String,
    /// Its tag.
    pub tag: &'static str,
    /// Whether it belongs to a neighbourhood.
    pub matters: bool,
    /// The kind of the neighbourhood it leaves, where it leaves one.
    pub leaves: Option<&'static str>,
    /// The variables that have other values after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ValueChange>,
    /// All variables after it, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<(String, String)>,
    /// The actions that take part.
    pub actions: Vec<ActionSpan>,
}

/// A construct of the source with how often it takes part in what.
#[derive(Clone, Debug, Serialize)]
pub struct Construct {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// Where it ends.
    pub end_line: usize,
    /// The column after its last character.
    pub end_column: usize,
    /// The process it belongs to.
    pub process: String,
    /// `action`, `true`, `false` for the outcomes of a decision, or `block`.
    pub kind: &'static str,
    /// `correct` or `incorrect` where all its transitions are, `neutral` otherwise.
    pub tag: &'static str,
    /// How many of each.
    #[serde(flatten)]
    pub counts: TagCounts,
}

/// A file of the model.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The most characters of a construct's text.
const MOST_CHARACTERS: usize = 72;

/// What a kind of neighbourhood means.
pub(crate) fn kind_in_words(kind: &str) -> &'static str {
    match kind {
        "cn" => "here it can still be saved",
        "in" => "here it can be lost",
        "ci" => "here it is decided, saved or lost",
        _ => "here it can be saved, lost or left open",
    }
}

impl Explanation {
    /// The text of an action, on one line.
    fn text_of(&self, action: &ActionSpan) -> String {
        let (start, end) = ((action.line, action.column), (action.end_line, action.end_column));
        self.text_between(start, end, &action.file)
    }

    /// The text between two positions of a file, on one line.
    fn text_between(&self, start: (usize, usize), end: (usize, usize), file: &str) -> String {
        let Some(file) = self.files.iter().find(|one| one.name == file) else { return String::new() };
        let mut words: Vec<String> = Vec::new();
        let count = (end.0 + 1).saturating_sub(start.0);
        for (line, number) in file.text.lines().skip(start.0 - 1).zip(start.0..).take(count) {
            let first = if number == start.0 { start.1 - 1 } else { 0 };
            let last = if number == end.0 { end.1.saturating_sub(1) } else { usize::MAX };
            let part: String = line.chars().take(last).skip(first).collect();
            words.extend(part.split_whitespace().map(str::to_owned));
        }
        let text = words.join(" ");
        match text.char_indices().nth(MOST_CHARACTERS) {
            Some((end, _)) => format!("{} …", text[..end].trim_end()),
            None => text,
        }
    }

    /// Whether what can't violate the property was cut away: prefixes and suffixes tag everything.
    fn is_cut(&self) -> bool {
        self.method != Method::PrefixSuffix.name()
    }

    /// What each tag of an exit says, by method: correct, incorrect, neutral.
    fn headings(&self) -> [&'static str; 3] {
        let incorrect = match self.method == Method::Counterexample.name() {
            true => "no way back to safety after",
            false => "wrong for good after",
        };
        ["right for good after", incorrect, "still open after"]
    }
}

impl Choice {
    /// The facts about a choice, as phrases.
    fn facts(&self) -> Vec<String> {
        let steps = |(least, most): (u32, u32)| match least == most {
            true => crate::count(u64::from(least), "step"),
            false => format!("{least} to {}", crate::count(u64::from(most), "step")),
        };
        let mut facts = vec![format!("{} from the start", steps(self.from_start))];
        if let Some(distance) = self.to_violation {
            facts.push(format!("{} to the violation", steps(distance)));
        }
        if let Some(probability) = self.probability {
            // Of several states the likeliest is known.
            let at_least = if self.neighbourhoods > 1 && probability < 1.0 { "at least " } else { "" };
            facts.push(format!("reached by {at_least}{} of random runs", percent(probability)));
        }
        if let Some(after) = self.after {
            facts.push(format!("only after choice {}", after + 1));
        }
        facts
    }
}

/// A probability, never rounded to certainty.
fn percent(probability: f64) -> String {
    match 100.0 * probability {
        all if all >= 100.0 - 1e-9 => "100%".into(),
        most if most >= 99.95 => "more than 99.9%".into(),
        least if least < 0.05 => "less than 0.1%".into(),
        some => format!("{some:.1}%"),
    }
}
