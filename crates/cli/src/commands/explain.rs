//! `watershed explain`: the choices that decide a violation.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use explain::{Options, Property, Prospect, Run, Selection, Tagged, Unexplained};
use explore::{Exploration, Limits, Outcome};
use lts::{Lts, LtsBuilder, OriginId, Selector, StateId};
use report::{Explanation, Extent};
use source::Sources;
use views::{Asking, Findings, Origin};

use crate::arguments::Reading;
use crate::failure::{Answer, Failure};
use crate::inputs::{ModelFile, ModelSource, read_lts, read_run};
use crate::progress::with_progress;
use crate::properties::PropertySource;
use crate::terminal::Terminal;

/// Explain a violation: the few choices that decide it, in the model's own source
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed explain model.lnt safety.mcl\n  \
    watershed explain model.lnt safety.mcl --html report.html\n  \
    watershed explain model.lnt safety.mcl --try\n  \
    watershed explain model.lnt --inevitable 'REQUEST, GRANT'\n  \
    watershed explain model.aut --never LOSS --kind in --through 'SEND.*' --through RECEIVE\n  \
    watershed explain model.lnt safety.mcl --counterexample trace.aut --svg lanes.svg\n\n\
A transition is correct if every run that goes on with it satisfies the property, incorrect if every one violates \
it, and neutral otherwise. A neighbourhood is a state with exits that are not neutral; its kind says which it has: cn \
correct ones, in incorrect ones, ci both and no neutral ones, cin all three.")]
pub struct Explain {
    #[command(flatten)]
    source: ModelSource,
    #[command(flatten)]
    properties: PropertySource,
    /// Which property to explain, where there are several; if not said, the first that is violated and expected to hold
    #[arg(long, value_name = "NAME")]
    property: Option<String>,
    /// How tags are computed
    #[arg(long, value_name = "METHOD")]
    method: Option<Method>,
    /// Look at neighbourhoods of one kind only, cn, in, ci or cin: choices, steps that matter, the way to a choice. Files
    /// with the tagged system have all of them
    #[arg(long, value_name = "KIND", help_heading = "Which counterexample")]
    kind: Option<Kind>,
    /// The run and the way to a neighbourhood have these labels, in this order; others may come between
    #[arg(long, value_name = "LABELS", value_parser = parse_selector, help_heading = "Which counterexample")]
    through: Vec<Selector>,
    /// The N-th shortest
    #[arg(long, value_name = "N", conflicts_with_all = ["random", "counterexample"],
          value_parser = clap::value_parser!(u16).range(1..), help_heading = "Which counterexample")]
    nth: Option<u16>,
    /// One drawn at random
    #[arg(
        long,
        value_name = "SEED",
        conflicts_with = "counterexample",
        help_heading = "Which counterexample"
    )]
    random: Option<u64>,
    /// One from a file: .aut, or text with a label a line
    #[arg(long, value_name = "FILE", help_heading = "Which counterexample")]
    counterexample: Option<PathBuf>,
    /// Rank suspects by what runs and the text say alone, without asking what would be if something else stood there
    #[arg(long)]
    no_what_if: bool,
    /// Change the suspects one at a time, and tell which single change makes all properties hold without taking
    /// behaviour away
    #[arg(long = "try")]
    try_changes: bool,
    /// Write a report for the browser
    #[arg(long, value_name = "FILE", help_heading = "Outputs")]
    html: Option<PathBuf>,
    /// Write the tagged system with colours, as CLEAR does
    #[arg(long, value_name = "FILE", help_heading = "Outputs")]
    autx: Option<PathBuf>,
    /// Write the tagged system for Graphviz
    #[arg(long, value_name = "FILE", help_heading = "Outputs")]
    dot: Option<PathBuf>,
    /// Write the counterexample as swim lanes for Mermaid
    #[arg(long, value_name = "FILE", help_heading = "Outputs")]
    mermaid: Option<PathBuf>,
    /// Draw the counterexample as swim lanes
    #[arg(long, value_name = "FILE", help_heading = "Outputs")]
    svg: Option<PathBuf>,
    /// Swim lanes of the steps that matter only
    #[arg(long, help_heading = "Outputs")]
    abstracted: bool,
    /// Write the tagged system for Neo4j: states.csv, transitions.csv and load.cypher in this folder
    #[arg(long, value_name = "FOLDER", help_heading = "Outputs")]
    neo4j: Option<PathBuf>,
    /// Show everything: all suspects, choices and steps, figures, the lines of the source
    #[arg(long)]
    all: bool,
    /// Show the values of all variables after every step, not only those that change
    #[arg(long)]
    values: bool,
    /// Stop at this many states
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    max_states: usize,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// Statements about all maximal runs, endless ones included (the default)
    Exact,
    /// As CLEAR does it, for safety: incorrect is what has no way back to safety
    CounterexampleLts,
    /// For labels that must come: prefixes and suffixes of them
    PrefixSuffix,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Cn,
    In,
    Ci,
    Cin,
}

fn parse_selector(text: &str) -> Result<Selector, String> {
    Selector::parse(text).map_err(|error| error.to_string())
}

/// A transition system, and the model it comes from.
enum Subject {
    System(Lts),
    Model(Box<ModelFile>, Box<Exploration>),
}

impl Subject {
    fn lts(&self) -> &Lts {
        match self {
            Self::System(lts) => lts,
            Self::Model(_, found) => &found.lts,
        }
    }

    fn origin(&self) -> Option<Origin<'_>> {
        match self {
            Self::System(_) => None,
            Self::Model(file, exploration) => {
                Some(Origin { sources: &file.sources, program: &*file.program, exploration })
            }
        }
    }
}

impl Explain {
    pub fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        let start = Instant::now();
        let mut sources = Sources::new();
        let properties = self.properties.load(&mut sources, terminal)?;
        let all: Vec<logic::Property> = properties.into_iter().map(|(property, _)| property).collect();
        let properties = self.chosen(all.clone())?;
        let subject = self.open(terminal)?;
        let used = subject.lts().used_labels();
        let labels = subject.lts().labels().iter().filter(|(label, _)| used[label.index()]);
        let labels: Vec<&str> = labels.map(|(_, text)| text).collect();
        let through = self.through.iter();
        let through = through.filter_map(|one| logic::unmatched_selector("--through", one, &labels));
        // A label that a part of a system lacks may be in the rest.
        if subject.lts().unexplored().is_empty() {
            terminal.warn(&Sources::new(), &through.collect::<Vec<_>>());
            for property in &properties {
                terminal.warn(&sources, &logic::unmatched(&property.formula, &labels));
            }
        }
        let selection = with_progress(terminal, "checking", |progress| {
            Selection::new(subject.lts(), &properties, self.max_states, progress)
        });
        let selection = selection.map_err(|stopped| Failure::limit(stopped.to_string()))?;
        let explained = selection.chosen.map(|at| &selection.prospects[at]);
        if let Some((property, Prospect::Violated(wanted))) = explained {
            if let Some(explanation) =
                self.explain(&subject, &selection, (property, wanted), &all, start, terminal)?
            {
                terminal.show(&explanation);
                return Ok(Answer::No);
            }
        } else if let Some(explanation) = self.explain_part(&subject, &selection, start, terminal)? {
            terminal.show(&explanation);
            return Ok(Answer::No);
        }
        let unexplained = selection.prospects.iter().find_map(|(property, prospect)| match prospect {
            Prospect::Unexplained(why) => Some(failure(&property.name, why)),
            Prospect::Unknown(why) => {
                Some(Failure::limit(format!("property {} has no verdict: {why}", property.name)))
            }
            _ => None,
        });
        if let Some(failure) = unexplained {
            return Err(match selection.alternatives().as_slice() {
                [] => failure,
                others => failure.help(format!(
                    "violated as expected, and explained with --property: {}",
                    others.join(", ")
                )),
            });
        }
        match properties.first() {
            Some(property) => {
                let properties = rows(&selection, None);
                terminal.show(&Explanation { properties, ..holds(&subject, property, start) });
            }
            None => return Err(Failure::wrong("there is no property to look at")),
        }
        Ok(Answer::Yes)
    }

    /// Shows the part of the system that violates a property which no single run violates.
    fn explain_part(
        &self,
        subject: &Subject,
        selection: &Selection<'_>,
        start: Instant,
        terminal: &Terminal,
    ) -> Result<Option<Explanation>, Failure> {
        let found = selection.prospects.iter().find(|(property, prospect)| {
            property.expected && matches!(prospect, Prospect::Unexplained(Unexplained::NotARun))
        });
        let lts = subject.lts();
        let (Some((property, _)), true) = (found, lts.unexplored().is_empty()) else { return Ok(None) };
        let options = logic::Options { max_states: self.max_states, ..Default::default() };
        let part = with_progress(terminal, "looking for a part that violates it", |progress| {
            let verdict = logic::check_lts(lts, &property.formula, &options, progress)?;
            logic::evidence(lts, &property.formula, &verdict, &options, progress)
        });
        // Without such a part it is said why there is no explanation.
        let Ok(part) = part else { return Ok(None) };
        let steps = part.transitions().take(MOST_OF_PART);
        let number = |state: StateId| state.index() as u64;
        let mut explanation = Explanation {
            part: Some(report::SystemPart {
                states: part.state_count() as u64,
                transitions: steps
                    .map(|step| (number(step.source), part.label(step.label).to_owned(), number(step.target)))
                    .collect(),
                transition_count: part.transition_count() as u64,
            }),
            ..about(subject, property, start)
        };
        explanation.properties = rows(selection, Some(&property.name));
        explanation.colour = terminal.colour_results();
        explanation.all = self.all;
        if let Some(path) = &self.html {
            lts::write_file(path, |out| out.write_all(explanation.html().as_bytes()))?;
        }
        Ok(Some(explanation))
    }

    /// The property that was named, or all.
    fn chosen(&self, properties: Vec<logic::Property>) -> Result<Vec<logic::Property>, Failure> {
        let Some(name) = &self.property else { return Ok(properties) };
        let names: Vec<String> = properties.iter().map(|property| property.name.clone()).collect();
        let found: Vec<logic::Property> = properties.into_iter().filter(|one| one.name == *name).collect();
        if found.is_empty() {
            let failure = Failure::wrong(format!("there is no property {name}"));
            return Err(match source::closest(name, names.iter().map(String::as_str)) {
                Some(close) => failure.help(format!("did you mean {close}?")),
                None => failure.help(format!("there are: {}", names.join(", "))),
            });
        }
        Ok(found)
    }

    fn open(&self, terminal: &Terminal) -> Result<Subject, Failure> {
        if !self.source.is_model() {
            let lts = read_lts(&self.source.model, &self.reading.options(), terminal)?;
            return Ok(Subject::System(lts));
        }
        let file = Box::new(self.source.load(terminal, true)?);
        let limits = Limits { states: self.max_states, origins: true, ..Limits::default() };
        let mut found = with_progress(terminal, "exploring", |progress| {
            explore::explore(file.model(), &limits, progress)
        });
        match &found.outcome {
            Outcome::Complete => Ok(Subject::Model(file, Box::new(found))),
            Outcome::Error { error, state } => {
                let labels: Option<Vec<String>> = state.and_then(|state| {
                    let trace = found.trace_to(file.model(), state).ok()?;
                    Some(trace.iter().map(|step| file.model().label(step.label)).collect())
                });
                let diagnostics = vec![error.diagnostic(file.model(), labels.as_deref())];
                Err(Failure { code: 1, diagnostics, sources: file.sources })
            }
            // A violation in a part of the system may be one of the whole.
            _ => {
                found.lts = marked(&found);
                Ok(Subject::Model(file, Box::new(found)))
            }
        }
    }

    /// Tags the system and tells what that says; nothing where the property holds.
    fn explain(
        &self,
        subject: &Subject,
        selection: &Selection<'_>,
        (property, wanted): (&logic::Property, &Property),
        all: &[logic::Property],
        start: Instant,
        terminal: &Terminal,
    ) -> Result<Option<Explanation>, Failure> {
        let options = Options {
            method: self.method.map(|method| match method {
                Method::CounterexampleLts => explain::Method::Counterexample,
                Method::Exact => explain::Method::Exact,
                Method::PrefixSuffix => explain::Method::PrefixSuffix,
            }),
            // The product of a part of the system is not what the limit is for.
            most_states: match subject.lts().unexplored().is_empty() {
                true => self.max_states,
                false => usize::MAX,
            },
        };
        let tag = |options: &Options| {
            with_progress(terminal, "tagging", |progress| wanted.tag(subject.lts(), options, progress))
                .map_err(|why| failure(&property.name, &why))
        };
        let Some(tagged) = tag(&options)? else { return Ok(None) };
        // Prefixes and suffixes don't know where a violation is complete; the exact tags do.
        let exact = match options.method {
            Some(explain::Method::PrefixSuffix) => tag(&Options { method: None, ..options })?,
            _ => None,
        };
        let run = match &exact {
            Some(exact) => self.find_run(exact, terminal)?.and_then(|run| tagged.translate(&run, exact)),
            None => self.find_run(&tagged, terminal)?,
        };
        let kind = self.kind.map(|kind| match kind {
            Kind::Cn => explain::Kind::Cn,
            Kind::In => explain::Kind::In,
            Kind::Ci => explain::Kind::Ci,
            Kind::Cin => explain::Kind::Cin,
        });
        let nearest = tagged.way_to_neighbourhood(&self.pattern(subject.lts()), kind);
        let properties = expecting(all, property);
        let start_with = cover::Example { root: self.source.root.clone(), ..cover::Example::default() };
        let asked = match subject {
            Subject::Model(..) if !self.no_what_if => {
                Some(cover::Subject::including(&self.source.model, &self.source.include)?)
            }
            _ => None,
        };
        let mut explanation = with_progress(terminal, "looking for suspects", |progress| {
            let asking = asked.as_ref().map(|asked| Asking {
                subject: asked,
                start: &start_with,
                properties: &properties,
                progress,
            });
            Findings {
                tagged: &tagged,
                run: run.as_ref(),
                kind,
                nearest: nearest.as_ref(),
                origin: subject.origin(),
                values: self.values,
                asking,
            }
            .explanation()
        });
        if nearest.is_none() && !tagged.neighbourhoods().is_empty() {
            explanation.remarks.push(
                "There is no neighbourhood of that kind, or none can be reached through these labels.".into(),
            );
        }
        if let Subject::Model(_, found) = subject
            && !found.outcome.is_complete()
        {
            explanation.partial = true;
            explanation.remarks.insert(
                0,
                format!(
                    "Only {} were explored. The counterexample is one of the whole system; tags, choices and \
                     suspects speak of the explored part. Allow more with --max-states.",
                    report::count(found.states() as u64, "state")
                ),
            );
        }
        explanation.properties = rows(selection, Some(&property.name));
        if self.try_changes && !explanation.partial {
            explanation.repairs = self.repairs(&tagged, property, all, &explanation.suspects, terminal)?;
        }
        explanation.property = property.name.clone();
        explanation.description = property.description.clone();
        explanation.seconds = start.elapsed().as_secs_f64();
        explanation.colour = terminal.colour_results();
        explanation.all = self.all;
        self.write(&tagged, &explanation)?;
        Ok(Some(explanation))
    }

    /// Changes the suspects one at a time; nothing where the language knows no changes.
    fn repairs(
        &self,
        tagged: &Tagged<'_>,
        property: &logic::Property,
        all: &[logic::Property],
        suspects: &[report::SuspectPlace],
        terminal: &Terminal,
    ) -> Result<Option<report::Repairs>, Failure> {
        if !self.source.is_model() {
            terminal.remark("--try changes models; this is a transition system");
            return Ok(None);
        }
        let properties = expecting(all, property);
        let subject = cover::Subject::including(&self.source.model, &self.source.include)?;
        let question = mutate::Question {
            start: cover::Example { root: self.source.root.clone(), ..cover::Example::default() },
            operators: &mutate::INTERVENTIONS,
            ..mutate::Question::new(&subject, &properties)
        };
        let needed = views::needed_labels(tagged);
        let repairs = with_progress(terminal, "trying changes", |progress| {
            let baseline = mutate::Baseline::new(&question, &progress.part())?;
            Ok::<_, mutate::NoBaseline>((
                baseline.mutants.is_empty(),
                views::repairs(&baseline, suspects, &needed, progress),
            ))
        })?;
        if repairs.0 {
            terminal.remark("--try knows no changes of this model: they are known for LNT so far");
            return Ok(None);
        }
        Ok(Some(repairs.1))
    }

    fn pattern(&self, lts: &Lts) -> Vec<Vec<bool>> {
        let mask =
            |selector: &Selector| lts.labels().iter().map(|(_, text)| selector.matches(text)).collect();
        self.through.iter().map(mask).collect()
    }

    /// The counterexample that was asked for.
    fn find_run(&self, tagged: &Tagged<'_>, terminal: &Terminal) -> Result<Option<Run>, Failure> {
        if let Some(file) = &self.counterexample {
            return self.read_run(tagged, file, terminal).map(Some);
        }
        if !self.through.is_empty() {
            let run = tagged.run_through(&self.pattern(tagged.system()));
            if run.is_none() {
                terminal
                    .remark("no counterexample has these labels in this order; the shortest one is shown");
            }
            return Ok(run.or_else(|| tagged.shortest_run()));
        }
        if let Some(nth) = self.nth {
            let runs = tagged.shortest_runs(usize::from(nth));
            let found = runs.len();
            return match runs.into_iter().nth(usize::from(nth) - 1) {
                Some(run) => Ok(Some(run)),
                None => Err(Failure::wrong(format!(
                    "only {} found",
                    match found {
                        1 => "1 counterexample was".to_owned(),
                        _ => format!("{found} counterexamples were"),
                    }
                ))),
            };
        }
        Ok(match self.random {
            Some(seed) => tagged.random_run(seed),
            None => tagged.shortest_run(),
        })
    }

    fn read_run(&self, tagged: &Tagged<'_>, file: &Path, terminal: &Terminal) -> Result<Run, Failure> {
        let (labels, lasso) = read_run(file, &self.reading, terminal)?;
        let run = tagged.run_of_labels(&labels, lasso);
        run.map_err(|why| Failure::wrong(format!("{} is no counterexample: {why}", file.display())))
    }

    /// Writes the files that were asked for.
    fn write(&self, tagged: &Tagged<'_>, explanation: &Explanation) -> Result<(), Failure> {
        let extent = if self.abstracted { Extent::Abstracted } else { Extent::Whole };
        let text = |path: &Option<PathBuf>, text: &dyn Fn() -> String| match path {
            Some(path) => lts::write_file(path, |out| out.write_all(text().as_bytes())),
            None => Ok(()),
        };
        text(&self.html, &|| explanation.html())?;
        text(&self.mermaid, &|| explanation.mermaid(extent))?;
        text(&self.svg, &|| explanation.svg(extent))?;
        if let Some(path) = &self.autx {
            lts::write_file(path, |out| report::write_autx(tagged, out))?;
        }
        if let Some(path) = &self.dot {
            lts::write_file(path, |out| report::write_dot(tagged, out))?;
        }
        if let Some(folder) = &self.neo4j {
            std::fs::create_dir_all(folder)
                .map_err(|error| Failure::wrong(format!("{}: {error}", folder.display())))?;
            lts::write_file(&folder.join("states.csv"), |out| report::write_csv_states(tagged, out))?;
            lts::write_file(&folder.join("transitions.csv"), |out| {
                report::write_csv_transitions(tagged, out)
            })?;
            lts::write_file(&folder.join("load.cypher"), |out| report::write_cypher(tagged, out))?;
        }
        Ok(())
    }
}

/// All properties, where the one that is explained should hold.
fn expecting(all: &[logic::Property], explained: &logic::Property) -> Vec<logic::Property> {
    let mut properties = all.to_vec();
    properties.iter_mut().filter(|one| one.name == explained.name).for_each(|one| one.expected = true);
    properties
}

fn failure(property: &str, why: &Unexplained) -> Failure {
    let message = format!("property {property} can't be explained: {why}");
    match why {
        Unexplained::Stopped(_) => Failure::limit(message).help(why.help()),
        _ => Failure::wrong(message).help(why.help()),
    }
}

/// The explored part of a system, with marks where more would follow.
fn marked(found: &Exploration) -> Lts {
    let lts = &found.lts;
    let mut builder = LtsBuilder::with_labels(lts.labels().clone());
    builder.set_initial(lts.initial());
    builder.reserve_states(lts.state_count());
    for (edge, step) in lts.transitions().enumerate() {
        let origin = lts.origin(edge).unwrap_or(OriginId::ZERO);
        builder.add_with_origin(step.source, step.label, step.target, origin);
    }
    let mark = builder.label(lts::NOT_EXPLORED);
    for state in (found.statistics.expanded..found.states()).map(StateId::new) {
        builder.add_with_origin(state, mark, state, OriginId::ZERO);
    }
    builder.finish().expect("a system with one step more a state still has 32-bit numbers")
}

/// The most transitions of a part that are kept.
const MOST_OF_PART: usize = 1000;

/// A row for each of several properties.
fn rows(selection: &Selection<'_>, explained: Option<&str>) -> Vec<report::PropertyRow> {
    match selection.prospects.as_slice() {
        [] | [_] => Vec::new(),
        several => views::property_rows(several, explained),
    }
}

/// What there is to say of a property that holds.
fn holds(subject: &Subject, property: &logic::Property, start: Instant) -> Explanation {
    Explanation {
        verdict: true,
        remarks: vec!["It holds, so there is nothing to explain.".into()],
        ..about(subject, property, start)
    }
}

/// What there is to say of any property.
fn about(subject: &Subject, property: &logic::Property, start: Instant) -> Explanation {
    let used = subject.lts().used_labels().iter().filter(|&&used| used).count();
    Explanation {
        property: property.name.clone(),
        description: property.description.clone(),
        method: "none".into(),
        full: report::TaggedSize {
            states: subject.lts().state_count() as u64,
            transitions: subject.lts().transition_count() as u64,
            labels: used as u64,
        },
        seconds: start.elapsed().as_secs_f64(),
        ..Explanation::default()
    }
}
