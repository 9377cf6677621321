//! Why a property fails: the choices that decide it, in the words of the model.

mod exports;
mod html;
mod lanes;
mod text;

use std::ops::RangeInclusive;

use explain::{Group, Kind, Method, Relation, Run, Shape, Step, Tag, Tagged};
use model::{MarkId, MarkKind, Provenance};
use serde::Serialize;
use source::{Sources, Span};

pub use exports::{write_autx, write_csv_states, write_csv_transitions, write_cypher, write_dot};
pub use lanes::Extent;

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
    /// The choices: neighbourhoods grouped by what decides in them.
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
    fn tag(self) -> Tag {
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

/// The model behind a system.
#[derive(Clone, Copy)]
pub struct Origin<'a> {
    /// Its files.
    pub sources: &'a Sources,
    /// Its constructs.
    pub provenance: &'a Provenance,
}

impl Origin<'_> {
    fn action(&self, mark: MarkId) -> ActionSpan {
        let mark = self.provenance.mark(mark);
        let (start, end) = (self.sources.position(mark.span), self.sources.end_position(mark.span));
        ActionSpan {
            process: mark.process.clone(),
            file: self.sources.name(mark.span.file).to_owned(),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
        }
    }

    fn actions(&self, tagged: &Tagged<'_>, step: Step) -> Vec<ActionSpan> {
        let origin = tagged.system().origin(tagged.system_edge(step));
        let marks = origin.map(|origin| self.provenance.marks_of(origin)).unwrap_or_default();
        let mut actions: Vec<ActionSpan> = marks
            .into_iter()
            .filter(|&mark| self.provenance.mark(mark).kind == MarkKind::Action)
            .map(|mark| self.action(mark))
            .collect();
        actions.dedup();
        actions
    }
}

/// What an explanation is made from.
pub struct Findings<'a> {
    /// The tagged system.
    pub tagged: &'a Tagged<'a>,
    /// The run that shows the violation, in the tagged system.
    pub run: Option<&'a Run>,
    /// The kind of neighbourhood that was asked for.
    pub kind: Option<Kind>,
    /// The way to a neighbourhood.
    pub nearest: Option<&'a Run>,
    /// The model behind the system, where there is one.
    pub origin: Option<Origin<'a>>,
}

/// The most states that a choice lists.
const MOST_STATES: usize = 100;

impl Explanation {
    /// An explanation of a violation; the property's name and the time are for the caller to add.
    pub fn new(findings: &Findings<'_>) -> Self {
        let tagged = findings.tagged;
        let provenance = findings.origin.map(|origin| origin.provenance);
        let (groups, relations) = rayon::join(|| tagged.groups(provenance), || tagged.relations());
        let system = tagged.system();
        let used = system.used_labels();
        let involved = tagged.involved_labels();
        let labels = |mask: &[bool]| mask.iter().filter(|&&used| used).count() as u64;
        let counts = tagged.neighbourhood_counts();
        let of = |kind| counts.of(kind);
        let uninvolved = system.labels().iter().filter(|(id, _)| used[id.index()] && !involved[id.index()]);
        let mut explanation = Self {
            method: tagged.method().name().into(),
            full: TaggedSize {
                states: system.state_count() as u64,
                transitions: system.transition_count() as u64,
                labels: labels(&used),
            },
            counterexample_lts: TaggedSize {
                states: tagged.state_count() as u64,
                transitions: tagged.inner_transition_count() as u64,
                labels: labels(&involved),
            },
            tags: tagged.tag_counts().into(),
            neighbourhoods: KindCounts {
                cn: of(Kind::Cn),
                r#in: of(Kind::In),
                ci: of(Kind::Ci),
                cin: of(Kind::Cin),
                total: counts.total(),
            },
            shape: tagged.shape(&groups, &relations).map(NamedShape::from),
            choices: match findings.kind {
                Some(_) => choices(findings, &tagged.groups_of(provenance, findings.kind), &relations),
                None => choices(findings, &groups, &relations),
            },
            kind: findings.kind.map(Kind::key),
            nearest: findings.nearest.map(|run| texts(tagged, &run.steps)),
            uninvolved: uninvolved.map(|(_, text)| text.to_owned()).collect(),
            endless_regions: tagged.endless_regions(),
            ..Self::default()
        };
        if let Some(run) = findings.run {
            explanation.add_run(findings, run);
        }
        if let Some(origin) = findings.origin {
            explanation.add_source(tagged, origin);
        }
        explanation.add_remarks(findings);
        explanation
    }

    fn add_run(&mut self, findings: &Findings<'_>, run: &Run) {
        let tagged = findings.tagged;
        let kept = tagged.abstraction(run, findings.kind);
        self.counterexample = Some(texts(tagged, &run.steps));
        self.lasso = run.lasso;
        self.round = tagged.round(run).map(|round| EndlessPart {
            states: round.states.len() as u64,
            initial: round.states.contains(&0),
            entries: alike(findings, &round.entries),
            exits: alike(findings, &round.exits),
        });
        self.abstracted = kept.iter().map(|&at| tagged.label(run.steps[at]).to_owned()).collect();
        let step = |(at, &step): (usize, &Step)| ExplainedStep {
            label: tagged.label(step).to_owned(),
            tag: tagged.tag(step).word(),
            matters: kept.binary_search(&at).is_ok(),
            leaves: tagged
                .neighbourhood(step.source)
                .filter(|one| findings.kind.is_none_or(|kind| one.kind == kind))
                .map(|one| one.kind.key()),
            actions: findings.origin.map(|origin| origin.actions(tagged, step)).unwrap_or_default(),
        };
        self.steps = run.steps.iter().enumerate().map(step).collect();
    }

    fn add_source(&mut self, tagged: &Tagged<'_>, origin: Origin<'_>) {
        let counts = tagged.construct_tags(origin.provenance);
        let place = |span: Span| (span.file, span.range().start, span.range().end);
        let mut marks: Vec<usize> = (0..counts.len()).filter(|&mark| counts[mark] != [0; 3]).collect();
        marks.sort_by_key(|&mark| (place(origin.provenance.marks()[mark].span), mark));
        for at in marks {
            let mark = &origin.provenance.marks()[at];
            let span = origin.action(MarkId(at as u32));
            let counts = TagCounts::from(counts[at]);
            self.source.push(Construct {
                file: span.file,
                line: span.line,
                column: span.column,
                end_line: span.end_line,
                end_column: span.end_column,
                process: span.process,
                kind: match mark.kind {
                    MarkKind::Action => "action",
                    MarkKind::Decision(true) => "true",
                    MarkKind::Decision(false) => "false",
                    MarkKind::Block => "block",
                },
                tag: counts.tag().word(),
                counts,
            });
        }
        let mut files: Vec<source::FileId> =
            origin.provenance.marks().iter().map(|mark| mark.span.file).collect();
        files.sort_unstable();
        files.dedup();
        let text = |file| SourceFile {
            name: origin.sources.name(file).to_owned(),
            text: origin.sources.text(file).to_owned(),
        };
        self.files = files.into_iter().map(text).collect();
    }

    /// Says what a table would leave unsaid.
    fn add_remarks(&mut self, findings: &Findings<'_>) {
        let tagged = findings.tagged;
        // The method of CLEAR doesn't look at runs that stay somewhere for ever.
        let certain = self.endless_regions == 0 || tagged.method() != Method::Counterexample;
        if tagged.is_goal(0) && !tagged.owes(0) {
            let remark = "The initial state itself violates the property, so no choice decides.";
            self.remarks.push(remark.into());
        } else if self.neighbourhoods.total == 0 {
            self.remarks.push(match tagged.method() {
                Method::PrefixSuffix => "There is no neighbourhood: no transition decides by itself.".into(),
                // A violation that is seen, or a run that ends, makes the step before it incorrect.
                _ => "There is no neighbourhood: after every step a run can still satisfy the property or violate \
                      it. What is wrong is what it repeats for ever."
                    .into(),
            });
        } else if self.tags.correct == 0 && self.tags.neutral == 0 {
            self.remarks.push(match certain {
                true => "Every run violates the property, whatever is chosen.".into(),
                false => "No choice leads to where the property is safe for good.".into(),
            });
        } else if tagged.neighbourhood(0).is_some() {
            self.remarks.push("A step from the initial state can already decide.".into());
        }
        if self.endless_regions > 0 {
            let parts = crate::count(self.endless_regions as u64, "part");
            let tag = match certain {
                true => "",
                false => {
                    " Its steps are tagged incorrect all the same; `--method exact` is exact about this."
                }
            };
            let tag = if self.endless_regions > 1 { tag.replace("Its", "Their") } else { tag.to_owned() };
            self.remarks.push(format!(
                "{parts} of the system can be stayed in for ever without the violation, but no way leads from there \
                 to where the property is safe for good.{tag}"
            ));
        }
        if tagged.method() == Method::PrefixSuffix {
            self.remarks.push(
                "Prefixes and suffixes forget which way was taken, so more may be neutral than need be; \
                 `--method exact` remembers."
                    .into(),
            );
        }
    }
}

impl Explanation {
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

fn texts(tagged: &Tagged<'_>, steps: &[Step]) -> Vec<String> {
    steps.iter().map(|&step| tagged.label(step).to_owned()).collect()
}

fn choices(findings: &Findings<'_>, groups: &[Group], relations: &[Relation]) -> Vec<Choice> {
    let tagged = findings.tagged;
    let predecessors = tagged.predecessors(groups);
    let all = tagged.neighbourhoods();
    let mut group_of = vec![NOT_SHOWN; all.len()];
    for (number, group) in groups.iter().enumerate() {
        group.members.iter().for_each(|&member| group_of[member] = number);
    }
    let choice = |(number, group): (usize, &Group)| {
        let members = &group.members;
        let mut kinds: Vec<Kind> = members.iter().map(|&member| all[member].kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let exits = |tag: Tag| {
            let wanted = group.exits.iter().filter(|exit| exit.tag == tag);
            wanted.map(|exit| choice_exit(findings, exit)).collect::<Vec<ChoiceExit>>()
        };
        let gates: Vec<Option<usize>> =
            members.iter().map(|&member| gate(number, member, &group_of, relations)).collect();
        Choice {
            neighbourhoods: members.len() as u64,
            kinds: kinds.into_iter().map(Kind::key).collect(),
            states: members.iter().take(MOST_STATES).map(|&member| u64::from(all[member].node)).collect(),
            from_start: ends(range(members.iter().map(|&member| Some(relations[member].from_start))))
                .unwrap_or((0, 0)),
            to_violation: ends(range(members.iter().map(|&member| relations[member].to_violation))),
            probability: members
                .iter()
                .map(|&member| relations[member].probability)
                .collect::<Option<Vec<f64>>>()
                .map(|all| all.into_iter().fold(0.0, f64::max)),
            after: gates[0].filter(|_| gates.iter().all(|gate| *gate == gates[0])),
            before: predecessors[number]
                .iter()
                .map(|&label| tagged.system().label(label).to_owned())
                .collect(),
            correct: exits(Tag::Correct),
            incorrect: exits(Tag::Incorrect),
            neutral: exits(Tag::Neutral),
        }
    };
    groups.iter().enumerate().map(choice).collect()
}

/// No choice: the neighbourhood is not of the kind that was asked for.
const NOT_SHOWN: usize = usize::MAX;

/// Steps by label and actions.
fn alike(findings: &Findings<'_>, steps: &[Step]) -> Vec<ChoiceExit> {
    let mut found: Vec<ChoiceExit> = Vec::new();
    for &step in steps {
        let label = findings.tagged.label(step).to_owned();
        let actions = findings.origin.map(|origin| origin.actions(findings.tagged, step)).unwrap_or_default();
        match found.iter_mut().find(|one| one.labels[0] == label && one.actions == actions) {
            Some(known) => known.transitions += 1,
            None => found.push(ChoiceExit { labels: vec![label], transitions: 1, actions }),
        }
    }
    found
}

/// The nearest other choice that must be passed before a neighbourhood.
fn gate(own: usize, member: usize, group_of: &[usize], relations: &[Relation]) -> Option<usize> {
    let mut above = relations[member].after;
    while let Some(one) = above {
        if group_of[one] != own && group_of[one] != NOT_SHOWN {
            return Some(group_of[one]);
        }
        above = relations[one].after;
    }
    None
}

fn choice_exit(findings: &Findings<'_>, exit: &explain::Exit) -> ChoiceExit {
    let action = |&mark: &MarkId| findings.origin.map(|origin| origin.action(mark));
    let mut actions: Vec<ActionSpan> = exit.actions.iter().filter_map(action).collect();
    actions.dedup();
    let system = findings.tagged.system();
    ChoiceExit {
        labels: exit.labels.iter().map(|&label| system.label(label).to_owned()).collect(),
        transitions: exit.transitions,
        actions,
    }
}

/// The least and the most of some numbers; nothing where one is not known.
fn range(numbers: impl Iterator<Item = Option<u32>>) -> Option<RangeInclusive<u32>> {
    let numbers = numbers.collect::<Option<Vec<u32>>>()?;
    Some(*numbers.iter().min()?..=*numbers.iter().max()?)
}

fn ends(range: Option<RangeInclusive<u32>>) -> Option<(u32, u32)> {
    range.map(RangeInclusive::into_inner)
}
