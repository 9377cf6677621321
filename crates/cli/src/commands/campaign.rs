//! `watershed campaign`: a program under test explored in layers, by many workers, each sequence checked against a model.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use campaign::{
    Broker, Campaign as Kept, CampaignError, CheckError, Checker, MakeChecker, Place, Reduction, Rejection,
    Sameness, Settings, StartMode, Verdict, Work,
};
use clap::{Args, Parser, Subcommand, ValueEnum};
use conform::{Moment, Position, Relation, Step};
use serde_json::{Value, json};

use crate::arguments::Reading;
use crate::commands::conform::{Acceptance, Subject};
use crate::failure::{Answer, Failure};
use crate::inputs::ModelSource;
use crate::progress::with_progress;
use crate::terminal::Terminal;

/// Explore a program in layers, on all cores or many machines, and check everything it does against a model
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed campaign start protocol.maude --map relation.toml --program ./protocol --folder runs/one -- --size 2\n  \
    watershed campaign work --folder runs/one                    goes on after a crash\n  \
    watershed campaign start protocol.maude --program ./protocol --broker redis://host --name nightly\n  \
    watershed campaign work --broker redis://host --name nightly   on as many machines as there are\n  \
    watershed campaign status --broker redis://host --name nightly --watch\n\n\
A password for the broker is read from WATERSHED_BROKER_PASSWORD. Exit codes: 0 all accepted, 1 not, 2 the input is \
wrong or the broker is away, 3 partial.")]
pub struct Campaign {
    #[command(subcommand)]
    command: CampaignCommand,
}

#[derive(Subcommand)]
enum CampaignCommand {
    Start(Box<Start>),
    Work(WorkOn),
    Status(Status),
}

/// Start a campaign; in a folder, also work on it until it is finished
#[derive(Args)]
struct Start {
    #[command(flatten)]
    model: CheckedModel,
    #[command(flatten)]
    place: PlaceOf,
    /// The program under test, made with watershed-observe
    #[arg(long, value_name = "PROGRAM")]
    program: PathBuf,
    /// How many scheduling points a layer has; jobs do not know what others have seen, so a small depth repeats work
    #[arg(long, value_name = "N", default_value_t = 1000)]
    depth: u64,
    /// How later layers are started: by putting the program into a state, or by repeating a schedule
    #[arg(long, value_enum, default_value_t = From::Schedule)]
    start_from: From,
    /// Places of the frontier are the same if their observed states are, whatever the program hides
    #[arg(long)]
    same_if_observed: bool,
    /// Leave out schedules that differ in the order of independent steps only
    #[arg(long)]
    reduce: bool,
    /// Sequences begin where they differ from those before, instead of where their job starts
    #[arg(long)]
    parts: bool,
    /// Stop after so many layers
    #[arg(long, value_name = "N")]
    max_layers: Option<u64>,
    /// Stop after so many jobs
    #[arg(long, value_name = "N")]
    max_jobs: Option<u64>,
    /// Stop after so many sequences
    #[arg(long, value_name = "N")]
    max_sequences: Option<u64>,
    /// Stop after so many failures
    #[arg(long, value_name = "N")]
    max_failures: Option<u64>,
    /// After how many seconds without a heartbeat a worker's jobs are given to others
    #[arg(long, value_name = "N", default_value_t = 30)]
    lease: u64,
    /// In a folder: only start, do not work
    #[arg(long)]
    no_work: bool,
    /// Arguments of the program
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

/// Work on a campaign until it is finished
#[derive(Args)]
struct WorkOn {
    #[command(flatten)]
    place: PlaceOf,
}

/// Show what is known of a campaign
#[derive(Args)]
struct Status {
    #[command(flatten)]
    place: PlaceOf,
    /// Show it again every second until the campaign is finished
    #[arg(long)]
    watch: bool,
    /// Show at most so many failures
    #[arg(long, value_name = "N", default_value_t = 5)]
    failures: usize,
}

/// What sequences are checked against.
#[derive(Args)]
struct CheckedModel {
    #[command(flatten)]
    source: ModelSource,
    #[command(flatten)]
    acceptance: Acceptance,
    #[command(flatten)]
    reading: Reading,
}

/// The same as a command line of its own, which is how a campaign keeps it for workers elsewhere.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct KeptModel {
    #[command(flatten)]
    model: CheckedModel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum From {
    /// States
    State,
    /// Schedules
    Schedule,
}

/// Where a campaign is kept.
#[derive(Args)]
struct PlaceOf {
    /// The folder of the campaign
    #[arg(long, value_name = "FOLDER", required_unless_present = "broker", conflicts_with_all = ["broker", "name"])]
    folder: Option<PathBuf>,
    /// The Redis server of the campaign: `redis://user:password@host:port`, or `rediss://` for TLS
    #[arg(long, value_name = "URL", requires = "name")]
    broker: Option<String>,
    /// The name of the campaign in the broker
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// A file with the certificates to trust (PEM), for rediss://
    #[arg(long, value_name = "FILE", requires = "broker")]
    roots: Option<PathBuf>,
}

impl PlaceOf {
    fn open(&self) -> Result<Place, Failure> {
        match (&self.folder, &self.broker, &self.name) {
            (Some(folder), ..) => Ok(Place::folder(folder)),
            (None, Some(url), Some(name)) => {
                let mut broker = Broker::parse(url).map_err(failed)?.with_password_of_environment();
                if let Some(roots) = &self.roots {
                    broker = broker.with_roots(roots);
                }
                Place::broker(broker, name).map_err(failed)
            }
            _ => Err(Failure::wrong("a campaign is in a folder or in a broker")
                .help("`--folder FOLDER`, or `--broker URL --name NAME`")),
        }
    }
}

fn failed(error: CampaignError) -> Failure {
    Failure::wrong(error.to_string())
}

impl Campaign {
    pub fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        match self.command {
            CampaignCommand::Start(start) => start.run(terminal),
            CampaignCommand::Work(work) => {
                let place = work.place.open()?;
                let campaign = Kept::open(&place).map_err(failed)?;
                let kept = campaign.settings().model["arguments"].clone();
                let arguments: Vec<String> = serde_json::from_value(kept)
                    .map_err(|_| Failure::wrong("the campaign was started by another program"))?;
                let KeptModel { model } = KeptModel::try_parse_from(arguments).map_err(|error| {
                    Failure::wrong(format!("the campaign's model can't be understood: {error}"))
                })?;
                work_on(&campaign, &model, terminal)
            }
            CampaignCommand::Status(status) => status.run(terminal),
        }
    }
}

impl Start {
    fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        let place = self.place.open()?;
        // A model that can't be opened, or a relation that is none, is told now and not by every worker.
        self.model.acceptance.relation()?;
        self.model.open(terminal)?;
        let mut settings = Settings::new(&self.program);
        settings.arguments = self.arguments.clone();
        settings.depth = self.depth;
        settings.mode = match self.start_from {
            From::State => StartMode::State,
            From::Schedule => StartMode::Schedule,
        };
        settings.sameness = if self.same_if_observed { Sameness::Observed } else { Sameness::Promised };
        settings.reduction = if self.reduce { Reduction::Dependence } else { Reduction::None };
        settings.whole = !self.parts;
        settings.limits.layers = self.max_layers;
        settings.limits.jobs = self.max_jobs;
        settings.limits.sequences = self.max_sequences;
        settings.limits.failures = self.max_failures;
        settings.patience.lease_seconds = self.lease;
        settings.model = json!({ "arguments": self.model.arguments() });
        let files = [&self.model.source.model].into_iter().chain(&self.model.acceptance.map);
        settings.fingerprint(files.chain([&self.program])).map_err(failed)?;
        let campaign = Kept::start(&place, &settings).map_err(failed)?;
        for warning in campaign.warnings().map_err(failed)? {
            terminal.remark(format!("warning: {warning}"));
        }
        if self.place.folder.is_some() && !self.no_work {
            return work_on(&campaign, &self.model, terminal);
        }
        terminal.show(&views::CampaignView(campaign.status(0).map_err(failed)?));
        Ok(Answer::Yes)
    }
}

impl CheckedModel {
    fn open(&self, terminal: &Terminal) -> Result<Subject, Failure> {
        self.acceptance.open(&self.source, &self.reading, None, terminal)
    }

    /// The command line that means the same.
    fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![self.source.model.display().to_string()];
        let mut add = |option: &str, value: Option<String>| {
            if let Some(value) = value {
                arguments.extend([option.to_owned(), value]);
            }
        };
        add("--root", self.source.root.clone());
        for folder in &self.source.include {
            add("--include", Some(folder.display().to_string()));
        }
        if self.source.values() {
            add("--labels", Some("values".to_owned()));
        }
        arguments.extend(self.acceptance.arguments());
        arguments.extend(self.reading.arguments());
        arguments
    }
}

impl Status {
    fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        let place = self.place.open()?;
        let campaign = Kept::open(&place).map_err(failed)?;
        loop {
            let status = campaign.status(self.failures).map_err(failed)?;
            let finished = status.outcome.is_finished();
            let answer = answer(&status);
            if self.watch && !finished {
                terminal.clear();
            }
            terminal.show(&views::CampaignView(status));
            if !self.watch || finished {
                return Ok(if finished { answer } else { Answer::Yes });
            }
            std::thread::sleep(Duration::from_secs(1));
        }
    }
}

/// Works until everything is done, or until the user has had enough.
fn work_on(campaign: &Kept, model: &CheckedModel, terminal: &Terminal) -> Result<Answer, Failure> {
    let relation = model.acceptance.relation()?;
    let subject = model.open(terminal)?;
    let settings = model.acceptance.settings(false);
    let make = || -> Result<Box<dyn Checker + '_>, CheckError> {
        let checker = conform::Checker::new(subject.model(), &relation, settings);
        Ok(Box::new(ByModel {
            checker,
            relation: &relation,
            subject: &subject,
            bound: settings.bound.most(),
        }))
    };
    let make: &MakeChecker<'_> = &make;
    let stop = Arc::new(AtomicBool::new(false));
    let status = with_progress(terminal, "working", |progress| {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    if progress.is_cancelled() {
                        stop.store(true, Ordering::Relaxed);
                    }
                    std::thread::sleep(Duration::from_millis(50));
                }
            });
            let work = Work { threads: rayon::current_num_threads(), stop: stop.clone() };
            let status = campaign.work(&work, make);
            done.store(true, Ordering::Relaxed);
            status
        })
    });
    let status = status.map_err(failed)?;
    let answer = answer(&status);
    terminal.show(&views::CampaignView(status));
    Ok(answer)
}

fn answer(status: &campaign::Status) -> Answer {
    match &status.outcome {
        outcome if outcome.failure_count > 0 => Answer::No,
        outcome if !outcome.is_finished() || !outcome.partial.is_empty() => Answer::Partial,
        _ => Answer::Yes,
    }
}

/// Sequences of a campaign are judged by a model.
struct ByModel<'m> {
    checker: conform::Checker<'m>,
    relation: &'m Relation,
    subject: &'m Subject,
    bound: u32,
}

impl Checker for ByModel<'_> {
    fn check(&mut self, states: &[Value]) -> Result<Verdict, CheckError> {
        if self.checker.is_full() {
            self.checker.renew(std::iter::empty());
        }
        let wrong = |error: conform::CheckError| match error {
            conform::CheckError::State(state, why) => {
                CheckError::new(format!("this is no state of the model: {why}: {state}"))
            }
            conform::CheckError::Model(error) => {
                CheckError::new(format!("the model fails: {}", error.message))
            }
        };
        let mut position = Position::default();
        for (at, state) in states.iter().enumerate() {
            let state = Some(self.relation.state(state).map_err(CheckError::new)?);
            let moment = Moment { event: None, state, line: 1 };
            match self.checker.follow(&mut position, &moment).map_err(wrong)? {
                Step::Accepted(_) | Step::Unspecified => {}
                Step::Unknown => {
                    return Ok(Verdict::Undecided("too many states between two neighbours".to_owned()));
                }
                Step::Rejected => {
                    let diagnosis = self.checker.diagnose(&position, &moment).map_err(wrong)?;
                    let told = match self.subject {
                        Subject::Model(opened) => {
                            views::non_conformance(&diagnosis, self.bound, &opened.sources)
                        }
                        Subject::System(_) => {
                            views::non_conformance(&diagnosis, self.bound, &source::Sources::new())
                        }
                    };
                    let details = serde_json::to_value(told).unwrap_or_default();
                    let rejection = Rejection::between(states, at.saturating_sub(1));
                    return Ok(Verdict::Rejected(Rejection { details, ..rejection }));
                }
            }
        }
        Ok(Verdict::Accepted)
    }
}
