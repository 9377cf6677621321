//! `watershed cover`: what examples never exercise, and what is wrong with the model.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use cover::{Behaviour, Example, Outcome, Settings, Stopped, Subject, WrongExample};
use explore::Limits;
use model::{Instrumented, Probes};
use source::{Diagnostic, Sources};

use crate::failure::{Answer, Failure};
use crate::inputs::{model_help, partial_path};
use crate::progress::with_progress;
use crate::terminal::Terminal;

/// Measure how much of a model its examples exercise, and find out what is wrong with the rest
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed cover model.lnt --examples suite.toml\n  \
    watershed cover model.lnt --example 'MAIN (2, true)' --example 'MAIN (3, false)'\n  \
    watershed cover model.lnt --examples suite.toml --min 90 --lcov coverage.info --sarif findings.sarif\n  \
    watershed cover model.lnt --examples suite.toml --html report --conditions --suggest\n  \
    watershed cover model.lnt --examples suite.toml --json > last_week.json\n  \
    watershed cover model.lnt --examples suite.toml --baseline last_week.json\n  \
    watershed cover model.lnt --emit-probes instrumented\n\n\
A suite is a TOML file:\n  \
    [[example]]\n  \
    name = \"two caches\"\n  \
    root = \"SYSTEM (2, true)\"             # default: MAIN\n  \
    modules = { INPUT = \"inputs/a.lnt\" }  # add or replace modules\n  \
    constants = { SIZE = 3 }              # bind functions without parameters\n  \
    max_states = 100000\n\n  \
    [[example]]\n  \
    directory = \"inputs\"                  # one example for each .lnt file in it,\n  \
    module = \"INPUT\"                      # which replaces this module\n\n  \
    [[example]]\n  \
    file = \"examples/a.lnt\"               # a module that imports the model and starts it,\n  \
                                          # or a trace (.seq, .trace, .txt): the labels of a run\n\n\
Exit codes: 0 measured, 1 below --min, worse than --baseline, or a run-time error in the model,\n\
2 invalid input, 3 a limit was reached and the coverage is partial.")]
pub struct Cover {
    #[arg(help = model_help("The model", &[]))]
    model: PathBuf,
    /// A suite of examples (.toml); may be repeated
    #[arg(long, value_name = "SUITE")]
    examples: Vec<PathBuf>,
    /// An example: a process with its gates and arguments, such as 'MAIN (2, true)', a module that imports the model
    /// (.lnt), or a trace (.seq, .trace, .txt); may be repeated
    #[arg(long, value_name = "PROCESS|FILE")]
    example: Vec<String>,
    /// A folder to search for imported modules, in addition to the model's own; may be repeated
    #[arg(long, short = 'I', value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Fail (exit code 1) if block, decision or action coverage is below this percentage
    #[arg(long, value_name = "PERCENT", value_parser = percentage)]
    min: Option<f64>,
    /// How to measure: from the origins of steps, or with probes, as Salaün and Ye do
    #[arg(long, value_name = "METHOD", default_value = "direct")]
    method: Method,
    /// Write the model with probes to this folder, in two steps, for use with other tools
    #[arg(long, value_name = "DIR")]
    emit_probes: Option<PathBuf>,
    /// Search for examples that close holes: other arguments, and processes that nothing starts; try up to N
    /// combinations of arguments per process (256 by default)
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "256")]
    suggest: Option<usize>,
    /// Compare with the saved --json output of an earlier run; fail if something is no longer covered
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Also measure the conditions of compound decisions, and whether each decides on its own (MC/DC)
    #[arg(long, help_heading = "Further criteria")]
    conditions: bool,
    /// Also measure which gates follow which
    #[arg(long, help_heading = "Further criteria")]
    pairs: bool,
    /// Also measure which definitions of variables reach which uses (def-use pairs)
    #[arg(long, help_heading = "Further criteria")]
    def_use: bool,
    /// Measure what executions do one after the other: transitions, traces:K:L, sequences:L, states, state-transitions,
    /// state-paths:K, or for Petri nets arcs and tokens; may be repeated
    #[arg(long, value_name = "CRITERION", help_heading = "Further criteria")]
    criterion: Vec<Behaviour>,
    /// Measure N random runs of each example instead of everything that it can do
    #[arg(long, value_name = "N", help_heading = "Random runs")]
    runs: Option<usize>,
    /// The most steps of a random run
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Random runs")]
    steps: usize,
    /// The seed of the first random run; the others follow
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Random runs")]
    seed: u64,
    /// Show the whole source, not only the lines near holes
    #[arg(long)]
    source: bool,
    /// Write an LCOV tracefile
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    lcov: Option<PathBuf>,
    /// Write reports even if a limit is hit and the coverage is partial: beside their places, as NAME.partial.info
    #[arg(long, help_heading = "Reports")]
    partial: bool,
    /// Write a Cobertura report (XML)
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    cobertura: Option<PathBuf>,
    /// Write the findings as SARIF
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    sarif: Option<PathBuf>,
    /// Write an HTML report to this folder (as index.html), or to this .html file
    #[arg(long, value_name = "DIR", help_heading = "Reports")]
    html: Option<PathBuf>,
    /// Stop each example after this many states
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    max_states: usize,
    /// Stop each example after this many seconds
    #[arg(long, value_name = "SECONDS")]
    max_time: Option<f64>,
    /// Where to keep measurements, so that only what has changed is measured again
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Measure everything again, and keep nothing
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
}

/// How to measure.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// One exploration per example, with no extra states
    Direct,
    /// Explore the model with probes, which are taken before anything else
    Probes,
}

impl Cover {
    pub fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        let start = Instant::now();
        let mut sources = Sources::new();
        let subject = Subject::including(&self.model, &self.include)?;
        let mut examples = self.load_examples(&subject, &mut sources)?;
        if let Some(runs) = self.runs {
            examples = self.drawn(&subject, examples, runs)?;
        }
        let settings = self.settings();
        let what = format!("measuring {}", report::count(examples.len() as u64, "example"));
        let outcome =
            with_progress(terminal, &what, |progress| cover::run(&subject, &examples, &settings, progress));
        let mut outcome = outcome.map_err(|wrong| wrong_examples(wrong, &sources))?;
        if let Some(folder) = &self.emit_probes {
            return self.write_probes(folder, &subject, &examples, &outcome, terminal);
        }
        let suggestions = self.suggest.map(|most| {
            with_progress(terminal, "searching for examples", |progress| {
                cover::suggest(&subject, &mut outcome, &settings, most, progress)
            })
        });
        let method = match self.method {
            Method::Direct => "direct",
            Method::Probes => "probes",
        };
        let mut shown = views::coverage(&self.model.display().to_string(), method, &outcome);
        shown.suggestions = suggestions.map(|found| views::suggestions(&outcome.specification, &found));
        shown.criteria = self.behaviours(&subject, &outcome, &settings, terminal)?;
        shown.criteria.extend(self.further_criteria(&subject, &outcome, &settings, terminal));
        if let Some(path) = &self.baseline {
            let change = cover::compare_with_baseline(&outcome, &read_baseline(path)?);
            shown.baseline = Some(report::BaselineChange { lost: change.lost, gained: change.gained });
        }
        shown.seconds = start.elapsed().as_secs_f64();
        self.write_reports(&shown, terminal)?;
        terminal.show(&shown);
        self.show_holes(&shown, &outcome, terminal);
        Ok(self.answer(&shown, &outcome, terminal))
    }

    fn further_criteria(
        &self,
        subject: &Subject,
        outcome: &Outcome,
        settings: &Settings,
        terminal: &Terminal,
    ) -> Vec<report::Criterion> {
        let mut criteria: Vec<cover::Criterion> = Vec::new();
        let traces = outcome.examples.iter().filter(|one| one.example.trace.is_some()).count();
        if traces > 0 && (self.conditions || self.pairs || self.def_use) {
            let traces = report::count(traces as u64, "trace");
            terminal.remark(format!("the further criteria do not count {traces} of the suite"));
        }
        if self.conditions {
            criteria.extend(with_progress(terminal, "observing conditions", |progress| {
                cover::condition_criteria(subject, outcome, settings, progress)
            }));
        }
        if self.pairs {
            criteria.push(with_progress(terminal, "looking at pairs of gates", |progress| {
                cover::gate_pairs(subject, outcome, settings, progress)
            }));
        }
        if self.def_use {
            criteria.push(with_progress(terminal, "following variables", |progress| {
                cover::def_use_pairs(subject, outcome, settings, progress)
            }));
        }
        criteria.into_iter().map(views::criterion).collect()
    }

    /// Criteria over what executions do: those that were asked for, or those that the language suggests.
    fn behaviours(
        &self,
        subject: &Subject,
        outcome: &Outcome,
        settings: &Settings,
        terminal: &Terminal,
    ) -> Result<Vec<report::Criterion>, Failure> {
        let criteria = match self.criterion.is_empty() {
            false => self.criterion.clone(),
            true => subject.usual_behaviours(&outcome.examples[0].example),
        };
        if criteria.is_empty() {
            return Ok(Vec::new());
        }
        let names: Vec<String> = outcome.examples.iter().map(|one| one.example.name.clone()).collect();
        let measured = with_progress(terminal, "looking at what can happen", |progress| {
            cover::behaviours(subject, outcome, &criteria, settings, progress)
        });
        let view = |one: Result<cover::BehaviourCoverage, cover::CantMeasure>| match one {
            Ok(one) => Ok(views::behaviour(&one, &names)),
            Err(error) => Err(Failure::wrong(error.to_string())),
        };
        measured.into_iter().map(view).collect()
    }

    /// Random runs in the place of examples that would be explored as a whole.
    fn drawn(&self, subject: &Subject, examples: Vec<Example>, runs: usize) -> Result<Vec<Example>, Failure> {
        let draw = |example: Example| match example.trace {
            Some(_) => Ok(example),
            None => cover::random_runs(subject, &example, runs, self.steps, self.seed)
                .map_err(|error| wrong_examples(vec![WrongExample { example, error }], &Sources::new())),
        };
        examples.into_iter().map(draw).collect()
    }

    fn settings(&self) -> Settings {
        Settings {
            method: match self.method {
                Method::Direct => cover::Method::Direct,
                Method::Probes => cover::Method::Probes,
            },
            limits: Limits {
                states: self.max_states,
                time: self.max_time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
                ..Limits::default()
            },
            cache: match (self.no_cache, &self.cache) {
                (true, _) => None,
                (false, Some(folder)) => Some(folder.clone()),
                (false, None) => default_cache(),
            },
        }
    }

    /// The examples of all suites and options; where there are none, what the model can start with.
    fn load_examples(&self, subject: &Subject, sources: &mut Sources) -> Result<Vec<Example>, Failure> {
        let mut examples = Vec::new();
        let mut errors: Vec<Diagnostic> = Vec::new();
        for path in &self.examples {
            match cover::load_suite(path, sources) {
                Ok(loaded) => examples.extend(loaded),
                Err(diagnostics) => errors.extend(diagnostics),
            }
        }
        for written in &self.example {
            match Example::of_file(Path::new(written)) {
                Some(Ok(example)) => examples.push(example),
                Some(Err(diagnostic)) => errors.push(diagnostic),
                None => examples.push(Example::of_root(written)),
            }
        }
        if !errors.is_empty() {
            return Err(Failure { code: 2, diagnostics: errors, sources: std::mem::take(sources) });
        }
        if examples.is_empty() {
            examples.extend(subject.roots().iter().map(|root| Example::of_root(root)));
        }
        if examples.is_empty() {
            examples.push(Example { name: "MAIN".to_owned(), ..Example::default() });
        }
        Ok(examples)
    }

    /// Writes the modules of the model with probes, in the two steps of the paper: what the second one needs follows from
    /// what the suite covers. The modules are those of the first example where it brings some along.
    fn write_probes(
        &self,
        folder: &Path,
        subject: &Subject,
        examples: &[Example],
        outcome: &Outcome,
        terminal: &Terminal,
    ) -> Result<Answer, Failure> {
        let example = &examples[0];
        let opened = subject.open(example).map_err(|error| {
            wrong_examples(vec![WrongExample { example: example.clone(), error }], &Sources::new())
        })?;
        let steps = cover::TwoSteps::new(&opened, outcome);
        let second = folder.join(SECOND_STEP);
        let is_ours = |folder: &Path| folder.join(LEGEND).exists();
        let is_empty =
            |folder: &Path| std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
        for folder in [folder, &second] {
            if !is_empty(folder) && !is_ours(folder) {
                // It may well be the folder of the model: its files have the names of those to write.
                return Err(Failure::wrong(format!("{} contains other files", folder.display()))
                    .help("name a new or empty folder, or one with the probes of an earlier run"));
            }
        }
        write_instrumented(folder, &opened, &steps.first)?;
        let first = steps.first.blocks.len() + steps.first.decisions.len();
        terminal.remark(format!(
            "first step: {} for blocks and decisions in {}; {LEGEND} says what each stands for",
            report::count(first as u64, "probe"),
            folder.display()
        ));
        match steps.second.actions.len() {
            0 => {
                if is_ours(&second) {
                    std::fs::remove_dir_all(&second).map_err(|error| {
                        Failure::wrong(format!("can't remove {}: {error}", second.display()))
                    })?;
                }
                terminal.remark("no second step is needed: no block is partially covered");
            }
            actions => {
                write_instrumented(&second, &opened, &steps.second)?;
                terminal.remark(format!(
                    "second step: {} for actions of partially covered blocks in {}",
                    report::count(actions as u64, "probe"),
                    second.display()
                ));
            }
        }
        let all = report::count(steps.at_once as u64, "probe");
        let saved = steps.at_once - steps.probes();
        terminal.remark(format!("doing everything at once would need {all}: the two steps save {saved}"));
        if outcome.examples.iter().any(|one| one.stopped.is_some()) {
            terminal.remark(
                "some examples were not fully explored: the second step may lack probes, or have too many",
            );
        }
        for (name, value) in &example.constants {
            terminal.remark(format!(
                "constant {name} is written as it is in the model: bind it to {value} yourself"
            ));
        }
        Ok(Answer::Yes)
    }

    fn write_reports(&self, shown: &report::Coverage, terminal: &Terminal) -> Result<(), Failure> {
        // What is partial never takes the place of what is complete.
        let write = |path: &Path, text: String| -> Result<(), Failure> {
            let place = if shown.partial { partial_path(path) } else { path.to_owned() };
            if shown.partial && !self.partial {
                terminal.remark(format!(
                    "{} is not written: the coverage is partial; --partial writes it to {}",
                    path.display(),
                    place.display()
                ));
                return Ok(());
            }
            Ok(lts::write_file(&place, |out| out.write_all(text.as_bytes()))?)
        };
        if let Some(path) = &self.lcov {
            write(path, shown.lcov())?;
        }
        if let Some(path) = &self.cobertura {
            write(path, shown.cobertura())?;
        }
        if let Some(path) = &self.sarif {
            write(path, shown.sarif())?;
        }
        if let Some(path) = &self.html {
            let is_file = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("html"));
            if !is_file {
                std::fs::create_dir_all(path)
                    .map_err(|error| Failure::wrong(format!("can't create {}: {error}", path.display())))?;
            }
            let file = if is_file { path.clone() } else { path.join("index.html") };
            write(&file, shown.html())?;
        }
        Ok(())
    }

    /// The source with its holes, and the findings as a compiler would tell them.
    fn show_holes(&self, shown: &report::Coverage, outcome: &Outcome, terminal: &Terminal) {
        let annotated = shown.annotated(self.source, terminal.colour_results());
        if !annotated.is_empty() {
            terminal.show_picture(format!("\n{annotated}"));
        }
        if !outcome.findings.is_empty() {
            let diagnostics: Vec<Diagnostic> = outcome.findings.iter().map(views::diagnostic).collect();
            let colour = terminal.colour_results();
            terminal.show_picture(outcome.specification.sources.render_all(&diagnostics, colour));
        }
        terminal.show_picture(format!("\n{}", report::count(outcome.findings.len() as u64, "finding")));
    }

    fn answer(&self, shown: &report::Coverage, outcome: &Outcome, terminal: &Terminal) -> Answer {
        let mut answer = Answer::Yes;
        for one in &outcome.examples {
            for module in &one.unused_modules {
                let name = &one.example.name;
                terminal
                    .remark(format!("no module imports {module} of example `{name}`, so it has no effect"));
            }
        }
        for one in &outcome.examples {
            if let Some(Stopped::Error(diagnostic)) = &one.stopped {
                let message = format!("example `{}` fails: {}", one.example.name, diagnostic.message);
                let diagnostic = Diagnostic { message, ..(**diagnostic).clone() };
                terminal.remark(outcome.specification.sources.render(&diagnostic, terminal.colour));
                answer = Answer::No;
            }
            if let Some(Stopped::Trace(reason)) = &one.stopped {
                terminal
                    .remark(format!("example `{}` is not a run of the model: {reason}", one.example.name));
                answer = Answer::No;
            }
        }
        if shown.partial && answer == Answer::Yes {
            terminal.remark("partial result: raise the limits with --max-states or --max-time");
            return Answer::Partial;
        }
        if let Some(lost) = shown.baseline.as_ref().map(|change| change.lost.len()).filter(|&lost| lost > 0) {
            let places = report::count(lost as u64, "place");
            let verb = if lost == 1 { "is" } else { "are" };
            terminal.remark(format!("{places} in the baseline {verb} no longer covered"));
            answer = Answer::No;
        }
        if let Some(least) = self.min {
            let ratios =
                [("block", shown.blocks), ("decision", shown.decisions.counts()), ("action", shown.actions)];
            let criteria = shown
                .criteria
                .iter()
                .map(|one| (one.name.as_str(), report::Counts { total: one.total, covered: one.covered }));
            for (name, counts) in ratios.into_iter().chain(criteria) {
                if counts.total > 0 && counts.percent() < least {
                    let percent = counts.percent();
                    terminal
                        .remark(format!("{name} coverage is {percent:.1} %, below the minimum of {least} %"));
                    answer = Answer::No;
                }
            }
        }
        answer
    }
}

fn percentage(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=100.0).contains(&number) { Ok(number) } else { Err("not between 0 and 100".to_owned()) }
}

/// What an earlier run has covered, from its JSON.
fn read_baseline(path: &Path) -> Result<Vec<String>, Failure> {
    let text = lts::read_text(path)?;
    let names = serde_json::from_str::<serde_json::Value>(&text).ok().and_then(|saved| {
        let names = saved.get("covered")?.as_array()?.iter();
        names.map(|name| name.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
    });
    names.ok_or_else(|| {
        Failure::wrong(format!("{} is not the output of an earlier run", path.display()))
            .help("save one with `watershed cover … --json > baseline.json`")
    })
}

/// Where measurements are kept unless the user says otherwise.
fn default_cache() -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let base = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    Some(base.or_else(home)?.join("watershed").join("cover"))
}

/// What is wrong with examples, each in the words of the language, with its place in the suite.
fn wrong_examples(wrong: Vec<WrongExample>, suite: &Sources) -> Failure {
    // Examples have tables of files of their own: put what they say into one.
    let mut failure = Failure { code: 2, diagnostics: Vec::new(), sources: Sources::new() };
    let mut said: Vec<String> = Vec::new();
    for WrongExample { example, error } in wrong {
        let mut files = Vec::new();
        for file in error.sources.files() {
            files.push(failure.sources.add(error.sources.name(file), error.sources.text(file)));
        }
        let place = example.place.map(|span| {
            let position = suite.position(span);
            format!("{}:{}:{}", suite.name(span.file), position.line, position.column)
        });
        for mut diagnostic in error.diagnostics {
            // What is wrong with the model is wrong for every example.
            let key = error.sources.render(&diagnostic, false);
            if said.contains(&key) {
                continue;
            }
            said.push(key);
            for label in &mut diagnostic.labels {
                let position = error.sources.files().position(|file| file == label.span.file);
                label.span.file = position.map_or(label.span.file, |position| files[position]);
            }
            let note = match &place {
                Some(place) => format!("in example `{}` of {place}", example.name),
                None => format!("in example `{}`", example.name),
            };
            failure.diagnostics.push(diagnostic.note(note));
        }
    }
    failure
}

/// The file that tells what probes stand for; a folder that has it is one of ours.
const LEGEND: &str = "probes.txt";
/// The folder of the second step, inside of that of the first.
const SECOND_STEP: &str = "second_step";

/// Writes the modules of an example with some probes, and what they stand for.
fn write_instrumented(folder: &Path, opened: &cover::Opened, probes: &Probes) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::wrong(format!("can't create {}: {error}", folder.display())))?;
    let instrumented = opened
        .instrumented(probes)
        .ok_or_else(|| Failure::wrong("models in this language can't be given probes"))?;
    for module in &instrumented.modules {
        let name = Path::new(&module.name).file_name().unwrap_or(module.name.as_ref());
        lts::write_file(&folder.join(name), |out| out.write_all(module.text.as_bytes()))?;
    }
    let legend = legend(opened, &instrumented, probes);
    lts::write_file(&folder.join(LEGEND), |out| out.write_all(legend.as_bytes()))?;
    Ok(())
}

/// What each probe stands for, a line each; and what has none, for want of a place at which one would change nothing.
fn legend(opened: &cover::Opened, instrumented: &Instrumented, probes: &Probes) -> String {
    let map = opened.map();
    let mut text = String::new();
    let mut line = |name: String, span: source::Span, unshown: bool| {
        let name = if unshown { format!("{name} (no probe)") } else { name };
        let place = opened.sources.position(span);
        let words: Vec<&str> = opened.sources.slice(span).split_whitespace().collect();
        let file = opened.sources.name(span.file);
        text.push_str(&format!("{name}\t{file}:{}:{}\t{}\n", place.line, place.column, words.join(" ")));
    };
    for &number in &probes.blocks {
        line(format!("B{number}"), map.blocks[number].span, instrumented.unshown_blocks[number]);
    }
    for &number in &probes.decisions {
        line(format!("D{number}"), map.decisions[number].span, instrumented.unshown_decisions[number]);
    }
    for &number in &probes.actions {
        line(format!("A{number}"), map.actions[number].span, false);
    }
    text
}
