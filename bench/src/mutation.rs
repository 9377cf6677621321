//! Where explanations point: models are broken in one place each, and the place is looked for among the suspects.
//!
//! A mutant is *violating* if a property that holds on the model is violated on it. It is explained as `watershed explain`
//! does it, and the rank of the first suspect that points at the change is noted: as it is shown, and by clues alone, which is
//! `--no-what-if`. Half of the operators may be looked at while the ranking is tuned, the other half only measures.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use cover::{Example, Subject};
use explain::{Options, Prospect, Selection};
use explore::Limits;
use logic::Property;
use lts::Progress;
use model::{Mutant, Operator, Telling};
use rayon::prelude::*;
use report::{Explanation, SuspectPlace};
use source::{FileId, Sources};
use views::{Asking, Findings, Origin};

/// The operators that the ranking may be tuned with.
const TUNE: [Operator; 8] = [
    Operator::ActionRemoved,
    Operator::ActionSwapped,
    Operator::GuardNegated,
    Operator::GuardStrengthened,
    Operator::Comparison,
    Operator::Constant,
    Operator::BranchRemoved,
    Operator::Parallel,
];

/// The operators that only measure.
const MEASURE: [Operator; 7] = [
    Operator::ActionDuplicated,
    Operator::ActionMoved,
    Operator::GuardWeakened,
    Operator::Offer,
    Operator::AssignmentRemoved,
    Operator::Synchronisation,
    Operator::Stop,
];

/// Models with properties beside them: folder, and what to start with.
const MODELS: [(&str, &str, Option<&str>); 25] = [
    ("models/alternating_bit", "alternating_bit", None),
    ("models/cache_coherence", "cache_coherence", None),
    ("models/leader_election", "leader_election", None),
    ("models/lift", "lift", None),
    ("models/peterson", "peterson", None),
    ("models/philosophers", "philosophers", None),
    ("models/producer_consumer", "producer_consumer", None),
    ("models/readers_writers", "readers_writers", None),
    ("models/replicated_log", "replicated_log", None),
    ("models/rock_paper_scissors", "rock_paper_scissors", None),
    ("models/sliding_window", "sliding_window", None),
    ("models/two_phase_commit", "two_phase_commit", None),
    ("models/vending_machine", "vending_machine", None),
    ("bench/models/mutation", "bank", None),
    ("bench/models/mutation", "barrier", None),
    ("bench/models/mutation", "bounded_buffer", None),
    ("bench/models/mutation", "election", None),
    ("bench/models/mutation", "failover", None),
    ("bench/models/mutation", "handshake", None),
    ("bench/models/mutation", "lock_order", None),
    ("bench/models/mutation", "small_coherence", Some("SMALL")),
    ("bench/models/mutation", "small_filter_lock", Some("SMALL")),
    ("bench/models/mutation", "small_readers_writers", Some("SMALL")),
    ("bench/models/mutation", "ticket_lock", None),
    ("bench/models/mutation", "traffic_lights", None),
];

/// Mutants with more states than this are left out, and counted.
const MOST_STATES: usize = 5_000;
/// Counterexamples from this length on are expected to shrink.
const LONG: usize = 10;
/// A suspect may be this many lines longer than the change that it points at.
const MOST_LINES_MORE: usize = 2;

/// A violating mutant that was explained.
struct Trial {
    model: &'static str,
    mutant: Mutant,
    line: usize,
    property: String,
    /// As `explain` shows suspects, with what-ifs.
    shown: Ranks,
    /// By clues alone.
    clues: Ranks,
    suspects: usize,
    first: String,
    length: usize,
    kept: usize,
}

/// Where the change is among the suspects.
#[derive(Clone, Copy)]
struct Ranks {
    /// The rank of the first suspect that points at the change or, where that leaves nothing to point at, beside it.
    rank: Option<usize>,
    /// The same for the change alone.
    exact: Option<usize>,
}

/// One of the two ways to rank.
type Way = fn(&Trial) -> Ranks;

/// What happened to the mutants of a model.
#[derive(Default)]
struct Counts {
    mutants: usize,
    refused: usize,
    too_large: usize,
    errors: usize,
    satisfying: usize,
    unexplained: usize,
    states: usize,
    seconds: f64,
}

enum Outcome {
    Explained(Box<Trial>),
    Refused,
    TooLarge,
    Error,
    Satisfying,
    Unexplained,
}

/// Runs the section; names of models on the command line after it choose some of them, `K/N` the K-th of every N mutants.
pub fn section(chosen: &[String]) {
    let (parts, chosen): (Vec<&String>, Vec<&String>) = chosen.iter().partition(|one| one.contains('/'));
    let sample = parts.first().map_or(Some(Sample { first: 0, every: 1 }), |part| Sample::of(part));
    let Some(sample) = sample else { panic!("a sample is written K/N, with K from 1 to N") };
    println!("## Mutation: where explanations point\n");
    let mut trials: Vec<Trial> = Vec::new();
    let mut counts: Vec<(&str, Counts)> = Vec::new();
    for (folder, name, root) in MODELS {
        if !chosen.is_empty() && !chosen.iter().any(|one| *one == name) {
            continue;
        }
        let (found, count) = model_trials(folder, name, root, sample);
        eprintln!(
            "{name}: {} of {} mutants are violating, {:.1} s",
            found.len(),
            count.mutants,
            count.seconds
        );
        trials.extend(found);
        counts.push((name, count));
    }
    print!("{}", tables(&trials, &counts));
    let file = "bench/results/mutation.csv";
    let _ = std::fs::create_dir_all("bench/results");
    match std::fs::write(file, csv(&trials)) {
        Ok(()) => println!("Every mutant with its rank is in {file}.\n"),
        Err(error) => println!("{file} can't be written: {error}\n"),
    }
}

/// A part of the mutants of each model.
#[derive(Clone, Copy)]
struct Sample {
    first: usize,
    every: usize,
}

impl Sample {
    /// `1/N` begins in the middle of the first N, the others go on from there.
    fn of(text: &str) -> Option<Self> {
        let (which, every) = text.split_once('/')?;
        let (which, every): (usize, usize) = (which.parse().ok()?, every.parse().ok()?);
        (1..=every).contains(&which).then(|| Self { first: (every / 2 + which - 1) % every, every })
    }
}

fn model_trials(
    folder: &str,
    name: &'static str,
    root: Option<&str>,
    sample: Sample,
) -> (Vec<Trial>, Counts) {
    let start = Instant::now();
    let path = Path::new(folder).join(format!("{name}.lnt"));
    let include = [Path::new("bench/models").to_path_buf()];
    let Ok(subject) = Subject::including(&path, &include) else { panic!("{name} can't be opened") };
    let example = Example { root: root.map(str::to_owned), ..Example::default() };
    let Ok(opened) = subject.open_telling(&example, Telling::Nothing) else { panic!("{name} has errors") };
    let limits = Limits { states: 100_000, ..Limits::default() };
    let found = explore::explore(opened.model(), &limits, &Progress::new());
    assert!(found.outcome.is_complete(), "{name} has more than {} states", limits.states);
    let own = Path::new(folder).join(format!("{name}.mcl"));
    let own = if own.exists() { own } else { Path::new(folder).join("properties.mcl") };
    let mut sources = Sources::new();
    let Ok(loaded) = logic::load_properties(&own, &mut sources) else {
        panic!("{} has errors", own.display())
    };
    let mut properties = loaded.properties;
    properties.push(logic::deadlock(&mut sources));
    let options = logic::Options { explain: false, ..logic::Options::default() };
    let holds = |property: &Property| {
        let verdict = logic::check_lts(&found.lts, &property.formula, &options, &Progress::new());
        verdict.is_ok_and(|verdict| verdict.holds)
    };
    properties.retain(|property| property.expected && holds(property));
    let mutants = opened.program.mutants(&opened.sources);
    let mutants: Vec<Mutant> = mutants.into_iter().skip(sample.first).step_by(sample.every).collect();
    let mut counts = Counts { mutants: mutants.len(), states: found.states(), ..Counts::default() };
    let most = MOST_STATES.max(found.states() * 2);
    let study = Study {
        subject: &subject,
        example: &example,
        sources: &opened.sources,
        properties: &properties,
        name,
        most,
    };
    let outcomes: Vec<Outcome> =
        mutants.into_par_iter().with_max_len(1).map(|mutant| study.look_at(mutant)).collect();
    let mut trials = Vec::new();
    for outcome in outcomes {
        match outcome {
            Outcome::Explained(trial) => trials.push(*trial),
            Outcome::Refused => counts.refused += 1,
            Outcome::TooLarge => counts.too_large += 1,
            Outcome::Error => counts.errors += 1,
            Outcome::Satisfying => counts.satisfying += 1,
            Outcome::Unexplained => counts.unexplained += 1,
        }
    }
    counts.seconds = start.elapsed().as_secs_f64();
    (trials, counts)
}

struct Study<'a> {
    subject: &'a Subject,
    example: &'a Example,
    sources: &'a Sources,
    properties: &'a [Property],
    name: &'static str,
    most: usize,
}

impl Study<'_> {
    /// Builds a mutant, and explains it if it violates something.
    fn look_at(&self, mutant: Mutant) -> Outcome {
        let file = self.sources.name(mutant.span.file);
        let changed = self.subject.changed(file, mutant.apply(self.sources.text(mutant.span.file)));
        let Ok(opened) = changed.open_telling(self.example, Telling::Marks) else { return Outcome::Refused };
        let limits = Limits { states: self.most, origins: true, threads: 1, ..Limits::default() };
        let progress = Progress::new();
        let found = explore::explore(opened.model(), &limits, &progress);
        match &found.outcome {
            explore::Outcome::Complete => {}
            explore::Outcome::Error { .. } => return Outcome::Error,
            _ => return Outcome::TooLarge,
        }
        let Ok(selection) = Selection::new(&found.lts, self.properties, usize::MAX, &progress) else {
            return Outcome::Unexplained;
        };
        if selection.prospects.iter().all(|(_, prospect)| matches!(prospect, Prospect::Holds)) {
            return Outcome::Satisfying;
        }
        let chosen = selection.chosen.map(|at| &selection.prospects[at]);
        let Some((property, Prospect::Violated(wanted))) = chosen else { return Outcome::Unexplained };
        let Ok(Some(tagged)) = wanted.tag(&found.lts, &Options::default(), &progress) else {
            return Outcome::Unexplained;
        };
        let run = tagged.shortest_run();
        let explanation = |asking| {
            Findings {
                tagged: &tagged,
                run: run.as_ref(),
                kind: None,
                nearest: None,
                origin: Some(Origin {
                    sources: &opened.sources,
                    program: &*opened.program,
                    exploration: &found,
                }),
                values: false,
                asking,
            }
            .explanation()
        };
        let (start, properties) = (self.example, self.properties);
        let asking = Asking { subject: &changed, start, properties, progress: &progress };
        let (shown, clues) = (explanation(Some(asking)), explanation(None));
        Outcome::Explained(Box::new(self.trial(mutant, &property.name, (&shown, &clues), &opened.sources)))
    }

    fn trial(
        &self,
        mutant: Mutant,
        property: &str,
        (explanation, clues): (&Explanation, &Explanation),
        changed: &Sources,
    ) -> Trial {
        let name = self.sources.name(mutant.span.file);
        // Of two texts with the same name, the model's is the first.
        let file = changed.files().find(|&file| changed.name(file) == name);
        let rank = |explanation: &Explanation, places: &[Range<usize>]| {
            let points = |one: &SuspectPlace| {
                file.is_some_and(|file| places.iter().any(|place| points_at(one, place, file, changed)))
            };
            explanation.suspects.iter().position(points).map(|at| at + 1)
        };
        let own = [mutant.place()];
        let mut all = own.to_vec();
        all.extend(mutant.neighbours.iter().map(|&one| mutant.moved(one)));
        Trial {
            model: self.name,
            line: self.sources.position(mutant.span).line,
            property: property.to_owned(),
            shown: Ranks { rank: rank(explanation, &all), exact: rank(explanation, &own) },
            clues: Ranks { rank: rank(clues, &all), exact: rank(clues, &own) },
            suspects: explanation.suspects.len(),
            first: explanation.suspects.first().map_or_else(String::new, |one| {
                format!("{}:{} {} {}", one.line, one.column, one.kind, one.construct)
            }),
            length: explanation.counterexample.as_ref().map_or(0, Vec::len),
            kept: explanation.abstracted.len(),
            mutant,
        }
    }
}

/// Whether a suspect points at a place: it overlaps it, or touches it where nothing is left there, and is at most two
/// lines longer.
fn points_at(suspect: &SuspectPlace, place: &Range<usize>, file: FileId, sources: &Sources) -> bool {
    if suspect.file != sources.name(file) {
        return false;
    }
    let text = sources.text(file);
    let (start, end) =
        (offset(text, suspect.line, suspect.column), offset(text, suspect.end_line, suspect.end_column));
    let overlaps = match place.is_empty() {
        true => start <= place.end && place.start <= end,
        false => start < place.end && place.start < end,
    };
    let lines = text[place.clone()].matches('\n').count();
    overlaps && suspect.end_line - suspect.line <= lines + MOST_LINES_MORE
}

/// The offset of a line and a column, both counted from 1, columns in characters.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let rest = &text[start..];
    start + rest.char_indices().nth(column - 1).map_or(rest.len(), |(at, _)| at)
}

fn share(part: usize, all: usize) -> String {
    if all == 0 { "-".into() } else { format!("{:.1} %", part as f64 * 100.0 / all as f64) }
}

/// `mutants | first | top 3 | top 10 | not listed` of some trials, by the rule with neighbours and by the change alone.
fn row(name: &str, trials: &[&Trial], ranks: Way) -> String {
    let count = |rank: &dyn Fn(Ranks) -> Option<usize>, most: usize| {
        trials.iter().filter(|one| rank(ranks(one)).is_some_and(|rank| rank <= most)).count()
    };
    let within = |most: usize| count(&|ranks| ranks.rank, most);
    let exact = |most: usize| count(&|ranks| ranks.exact, most);
    let all = trials.len();
    format!(
        "| {name} | {all} | {} | {} | {} | {} | {} | {} |\n",
        share(within(1), all),
        share(within(3), all),
        share(within(10), all),
        share(exact(1), all),
        share(exact(3), all),
        share(exact(10), all),
    )
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn tables(trials: &[Trial], counts: &[(&str, Counts)]) -> String {
    let mut text = String::new();
    let names = |operators: &[Operator]| {
        operators.iter().map(|operator| operator.name()).collect::<Vec<_>>().join(", ")
    };
    let _ = writeln!(
        text,
        "{} violating mutants of {} models. A suspect points at a mutant if its place overlaps the text that was written\n\
         (touches it where nothing was written) and is at most {MOST_LINES_MORE} lines longer. Where the change left nothing to\n\
         point at (an action, assignment or branch that is gone, a gate that no longer synchronises, `stop`), the constructs\n\
         just before and after it, the heads of the branches that are left, or the actions on that gate count as well; the\n\
         columns \"exact\" count the changed text alone.\n",
        trials.len(),
        counts.len(),
    );
    let _ = writeln!(text, "Tuned with: {}.\nOnly measured with: {}.\n", names(&TUNE), names(&MEASURE));
    let head = "| first | first 3 | first 10 | exact: first | exact: first 3 | exact: first 10 |\n|---|---|---|---|---|---|---|---|\n";
    let ways: [(&str, Way); 2] = [
        ("As `explain` shows them, with what-ifs", |one| one.shown),
        ("By clues alone (`--no-what-if`)", |one| one.clues),
    ];
    for (way, ranks) in ways {
        let _ = write!(text, "{way}:\n\n| half | mutants {head}");
        for (name, operators) in [("tuning", &TUNE[..]), ("measuring", &MEASURE[..])] {
            let own: Vec<&Trial> =
                trials.iter().filter(|one| operators.contains(&one.mutant.operator)).collect();
            text += &row(name, &own, ranks);
        }
        text += &row("all", &trials.iter().collect::<Vec<_>>(), ranks);
        let _ = write!(text, "\n| operator | mutants {head}");
        for (half, operators) in [("t", &TUNE[..]), ("m", &MEASURE[..])] {
            for &operator in operators {
                let own: Vec<&Trial> = trials.iter().filter(|one| one.mutant.operator == operator).collect();
                text += &row(&format!("{operator} ({half})"), &own, ranks);
            }
        }
        text.push('\n');
    }
    let _ = write!(text, "With what-ifs, by model:\n\n| model | violating {head}");
    let mut by_model: BTreeMap<&str, Vec<&Trial>> = BTreeMap::new();
    trials.iter().for_each(|one| by_model.entry(one.model).or_default().push(one));
    for (name, own) in &by_model {
        text += &row(name, own, |one| one.shown);
    }
    let _ = writeln!(
        text,
        "\n| model | states | mutants | violating | satisfying | run-time error | too large | refused | not explained | seconds |\n|---|---|---|---|---|---|---|---|---|---|"
    );
    for (name, one) in counts {
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} |",
            one.states,
            one.mutants,
            by_model.get(name).map_or(0, Vec::len),
            one.satisfying,
            one.errors,
            one.too_large,
            one.refused,
            one.unexplained,
            one.seconds
        );
    }
    let halves: [(&str, &[Operator]); 2] = [("tuning", &TUNE), ("measuring", &MEASURE)];
    for (half, operators) in halves {
        let long: Vec<&Trial> = trials
            .iter()
            .filter(|one| operators.contains(&one.mutant.operator) && one.length >= LONG)
            .collect();
        let shrink = median(long.iter().map(|one| one.length as f64 / one.kept.max(1) as f64).collect());
        let _ = writeln!(
            text,
            "\nCounterexamples of {LONG} or more steps, {half} half: {}, median length over steps that matter: {}.",
            long.len(),
            shrink.map_or("-".into(), |shrink| format!("{shrink:.1}")),
        );
    }
    text.push('\n');
    text
}

fn csv(trials: &[Trial]) -> String {
    let mut csv = String::from(
        "model,operator,half,file_line,description,property,rank,exact_rank,rank_by_clues,exact_by_clues,suspects,length,matters,first_suspect\n",
    );
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    for one in trials {
        let rank = |rank: Option<usize>| rank.map_or(String::new(), |rank| rank.to_string());
        let half = if TUNE.contains(&one.mutant.operator) { "tuning" } else { "measuring" };
        let _ = writeln!(
            csv,
            "{},{},{half},{},{},{},{},{},{},{},{},{},{},{}",
            one.model,
            one.mutant.operator,
            one.line,
            quoted(&one.mutant.description),
            quoted(&one.property),
            rank(one.shown.rank),
            rank(one.shown.exact),
            rank(one.clues.rank),
            rank(one.clues.exact),
            one.suspects,
            one.length,
            one.kept,
            quoted(&one.first)
        );
    }
    csv
}
