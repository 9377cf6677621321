//! Why a property fails: the choices that decide it, in the words of the model.

use std::ops::RangeInclusive;

use explain::{Group, Kind, Method, Relation, Run, Step, Tag, Tagged};
use explore::Exploration;
use lts::OriginId;
use model::{MarkId, MarkKind, Program, Provenance};
use report::{
    ActionSpan, Choice, ChoiceExit, Construct, EndlessPart, ExplainedStep, Explanation, KindCounts,
    NamedShape, SourceFile, TagCounts, TaggedSize,
};
use source::{Sources, Span};

use crate::run::{Inside, separations};
use crate::suspects::{Asking, suspects};

/// The model behind a system.
#[derive(Clone, Copy)]
pub struct Origin<'a> {
    /// Its files.
    pub sources: &'a Sources,
    /// What its language knows of it.
    pub program: &'a dyn Program,
    /// Its states.
    pub exploration: &'a Exploration,
}

impl<'a> Origin<'a> {
    /// Its constructs that fire.
    pub fn provenance(self) -> &'a Provenance {
        self.program.model().provenance()
    }

    pub(crate) fn action(&self, mark: MarkId) -> ActionSpan {
        let mark = self.provenance().mark(mark);
        let (start, end) = (self.sources.position(mark.span), self.sources.end_position(mark.span));
        ActionSpan {
            process: mark.process.clone(),
            file: self.sources.name(mark.span.file).to_owned(),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            instance: None,
        }
    }

    fn actions(&self, tagged: &Tagged<'_>, step: Step) -> Vec<ActionSpan> {
        self.actions_of(tagged.system().origin(tagged.system_edge(step)))
    }

    /// The actions that take part in a step.
    pub fn actions_of(&self, origin: Option<OriginId>) -> Vec<ActionSpan> {
        let marks = origin.map(|origin| self.provenance().marks_of(origin)).unwrap_or_default();
        let mut actions: Vec<ActionSpan> = marks
            .into_iter()
            .filter(|&mark| self.provenance().mark(mark).kind == MarkKind::Action)
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
    /// Whether steps of the run show all values, not only those that change.
    pub values: bool,
    /// Whether it is asked what would be if something else stood at the suspects, and of what.
    pub asking: Option<Asking<'a>>,
}

/// For how many choices conditions are looked for that tell their states apart.
const MOST_SEPARATED: usize = 3;
/// The most states that a choice lists.
const MOST_STATES: usize = 100;

impl Findings<'_> {
    /// An explanation of a violation; the property's name and the time are for the caller to add.
    pub fn explanation(&self) -> Explanation {
        let findings = self;
        let tagged = findings.tagged;
        let provenance = findings.origin.map(|origin| origin.provenance());
        let (mut groups, relations) = rayon::join(|| tagged.groups(provenance), || tagged.relations());
        let shape = tagged.shape(&groups, &relations).map(NamedShape::from);
        let order = |groups: &mut Vec<Group>| most_decisive_first(groups, findings, &relations);
        order(&mut groups);
        let system = tagged.system();
        let used = system.used_labels();
        let involved = tagged.involved_labels();
        let labels = |mask: &[bool]| mask.iter().filter(|&&used| used).count() as u64;
        let counts = tagged.neighbourhood_counts();
        let of = |kind| counts.of(kind);
        let uninvolved = system.labels().iter().filter(|(id, _)| used[id.index()] && !involved[id.index()]);
        let mut explanation = Explanation {
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
            shape,
            choices: match findings.kind {
                Some(_) => {
                    let mut groups = tagged.groups_of(provenance, findings.kind);
                    order(&mut groups);
                    choices(findings, &groups, &relations)
                }
                None => choices(findings, &groups, &relations),
            },
            kind: findings.kind.map(Kind::key),
            nearest: findings.nearest.map(|run| texts(tagged, &run.steps)),
            uninvolved: uninvolved.map(|(_, text)| text.to_owned()).collect(),
            endless_regions: tagged.endless_regions(),
            ..Explanation::default()
        };
        if let Some(run) = findings.run {
            add_run(&mut explanation, findings, run);
        }
        if let Some(origin) = findings.origin {
            let inside = findings.run.map(|run| Inside::of(tagged, run, origin));
            explanation.suspects = suspects(tagged, findings.run, inside.as_ref(), origin, findings.asking);
            if let Some(inside) = inside {
                inside.add_to(&mut explanation, origin, findings.values);
            }
            add_source(&mut explanation, tagged, origin);
        }
        add_remarks(&mut explanation, findings);
        explanation
    }
}

fn add_run(explanation: &mut Explanation, findings: &Findings<'_>, run: &Run) {
    let tagged = findings.tagged;
    let kept = tagged.abstraction(run, findings.kind);
    explanation.counterexample = Some(texts(tagged, &run.steps));
    explanation.lasso = run.lasso;
    explanation.round = tagged.round(run).map(|round| EndlessPart {
        states: round.states.len() as u64,
        initial: round.states.contains(&0),
        entries: alike(findings, &round.entries),
        exits: alike(findings, &round.exits),
    });
    explanation.abstracted = kept.iter().map(|&at| tagged.label(run.steps[at]).to_owned()).collect();
    let step = |(at, &step): (usize, &Step)| ExplainedStep {
        label: tagged.label(step).to_owned(),
        tag: tagged.tag(step).word(),
        matters: kept.binary_search(&at).is_ok(),
        leaves: tagged
            .neighbourhood(step.source)
            .filter(|one| findings.kind.is_none_or(|kind| one.kind == kind))
            .map(|one| one.kind.key()),
        actions: findings.origin.map(|origin| origin.actions(tagged, step)).unwrap_or_default(),
        changes: Vec::new(),
        values: Vec::new(),
    };
    explanation.steps = run.steps.iter().enumerate().map(step).collect();
}

fn add_source(explanation: &mut Explanation, tagged: &Tagged<'_>, origin: Origin<'_>) {
    let counts = tagged.construct_tags(origin.provenance());
    let place = |span: Span| (span.file, span.range().start, span.range().end);
    let mut marks: Vec<usize> = (0..counts.len()).filter(|&mark| counts[mark] != [0; 3]).collect();
    marks.sort_by_key(|&mark| (place(origin.provenance().marks()[mark].span), mark));
    for at in marks {
        let mark = &origin.provenance().marks()[at];
        let span = origin.action(MarkId(at as u32));
        let counts = TagCounts::from(counts[at]);
        explanation.source.push(Construct {
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
        origin.provenance().marks().iter().map(|mark| mark.span.file).collect();
    files.sort_unstable();
    files.dedup();
    let text = |file| SourceFile {
        name: origin.sources.name(file).to_owned(),
        text: origin.sources.text(file).to_owned(),
    };
    explanation.files = files.into_iter().map(text).collect();
}

/// Says what a table would leave unsaid.
fn add_remarks(explanation: &mut Explanation, findings: &Findings<'_>) {
    let tagged = findings.tagged;
    // The method of CLEAR doesn't look at runs that stay somewhere for ever.
    let certain = explanation.endless_regions == 0 || tagged.method() != Method::Counterexample;
    if tagged.is_goal(0) && !tagged.owes(0) {
        let remark = "The initial state itself violates the property, so no choice decides.";
        explanation.remarks.push(remark.into());
    } else if explanation.neighbourhoods.total == 0 {
        explanation.remarks.push(match tagged.method() {
            Method::PrefixSuffix => "There is no neighbourhood: no transition decides by itself.".into(),
            // A violation that is seen, or a run that ends, makes the step before it incorrect.
            _ => {
                "There is no neighbourhood: after every step a run can still satisfy the property or violate \
                  it. What is wrong is what it repeats for ever."
                    .into()
            }
        });
    } else if explanation.tags.correct == 0 && explanation.tags.neutral == 0 {
        explanation.remarks.push(match certain {
            true => "Every run violates the property, whatever is chosen.".into(),
            false => "No choice leads to where the property is safe for good.".into(),
        });
    } else if tagged.neighbourhood(0).is_some() {
        explanation.remarks.push("A step from the initial state can already decide.".into());
    }
    if explanation.endless_regions > 0 {
        let parts = report::count(explanation.endless_regions as u64, "part");
        let tag = match certain {
            true => "",
            false => " Its steps are tagged incorrect all the same; `--method exact` is exact about this.",
        };
        let tag = if explanation.endless_regions > 1 { tag.replace("Its", "Their") } else { tag.to_owned() };
        explanation.remarks.push(format!(
            "{parts} of the system can be stayed in for ever without the violation, but no way leads from there \
             to where the property is safe for good.{tag}"
        ));
    }
    if tagged.method() == Method::PrefixSuffix {
        explanation.remarks.push(
            "Prefixes and suffixes forget which way was taken, so more may be neutral than need be; \
             `--method exact` remembers."
                .into(),
        );
    }
}
fn texts(tagged: &Tagged<'_>, steps: &[Step]) -> Vec<String> {
    steps.iter().map(|&step| tagged.label(step).to_owned()).collect()
}

/// Choices in which it can be lost come before last chances, those near the violation first; of equal ones those that the
/// counterexample passes, and those with more states.
fn most_decisive_first(groups: &mut [Group], findings: &Findings<'_>, relations: &[Relation]) {
    let tagged = findings.tagged;
    let mut passed: Vec<u32> =
        findings.run.iter().flat_map(|run| run.steps.iter().map(|step| step.source)).collect();
    passed.sort_unstable();
    groups.sort_by_cached_key(|group| {
        let loses = group.exits.iter().any(|exit| exit.tag == Tag::Incorrect);
        let distances = group.members.iter().filter_map(|&member| relations[member].to_violation);
        let nodes = group.members.iter().map(|&member| tagged.neighbourhoods()[member].node);
        let on_run = nodes.into_iter().any(|node| passed.binary_search(&node).is_ok());
        let nearest = distances.min().unwrap_or(u32::MAX);
        (!loses, nearest, !on_run, std::cmp::Reverse(group.members.len()), group.members[0])
    });
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
            separated: match findings.origin.filter(|_| number < MOST_SEPARATED) {
                Some(origin) => separations(tagged, group, origin),
                None => Vec::new(),
            },
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
