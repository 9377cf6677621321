//! `watershed studio`: a page to look at a state space, walk in it and read the explanation beside the source.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;
use studio::{Beside, Settings, Studio as Server, Traces};

use crate::commands::conform::{Acceptance, TraceFormat};
use crate::failure::{Answer, Failure};
use crate::terminal::Terminal;

/// Open a page on this machine: the state space in 3D beside the source, both linked
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed studio\n  \
    watershed studio model.lnt safety.mcl\n  \
    watershed studio model.lnt --examples suite.toml\n  \
    watershed studio system.aut safety.mcl --port 8080 --no-open\n  \
    watershed studio model.lnt --traces log.jsonl --map relation.toml\n\n\
Without a model, the page offers the bundled ones. The address contains a secret: anyone on this machine who has it can \
use the page. Ctrl-C stops the program.",
    mut_arg("max_states", |limit| limit.default_value("5000000").help("Stop after this many states")))]
pub struct Studio {
    /// The model (.lnt), transition system (.aut) or network (.exp)
    model: Option<PathBuf>,
    /// The property (.mcl)
    property: Option<PathBuf>,
    /// The process to start with, with its gates and arguments, such as 'MAIN (2, true)'; MAIN by default
    #[arg(long, value_name = "PROCESS")]
    root: Option<String>,
    /// A folder to search for imported modules, in addition to the model's own; may be repeated
    #[arg(long, short = 'I', value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// A suite of examples (.toml) for the coverage view
    #[arg(long, value_name = "SUITE")]
    examples: Vec<PathBuf>,
    /// Traces of a program, to walk those that the model rejects beside it
    #[arg(long, value_name = "FILE", num_args = 1..)]
    traces: Vec<PathBuf>,
    /// What the traces are
    #[arg(long, value_enum, default_value_t = TraceFormat::Auto, requires = "traces")]
    format: TraceFormat,
    /// The term of a .maude file of traces that reduces to sequences of states
    #[arg(long, value_name = "TERM", requires = "traces")]
    term: Option<String>,
    #[command(flatten)]
    acceptance: Acceptance,
    /// The port; any free one by default
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Print the address without opening a browser
    #[arg(long)]
    no_open: bool,
}

impl Studio {
    pub fn run(self, _terminal: &Terminal) -> Result<Answer, Failure> {
        let runtime = tokio::runtime::Runtime::new()
            .map_err(|error| Failure::wrong(format!("can't start the server: {error}")))?;
        let settings = Settings { port: self.port, most_states: self.acceptance.max_states };
        let traces = self.traces()?;
        let served: Result<(), studio::CantServe> = runtime.block_on(async {
            let server = Server::bind(&settings).await?;
            if let Some(model) = &self.model {
                let beside = Beside {
                    property: self.property.as_deref(),
                    root: self.root.as_deref(),
                    include: &self.include,
                    examples: &self.examples,
                    traces: traces.as_ref(),
                };
                server.open(model, &beside)?;
            }
            println!("{}", server.address());
            if !self.no_open {
                open_browser(&server.address());
            }
            server.serve(async { tokio::signal::ctrl_c().await.unwrap_or_default() }).await;
            Ok(())
        });
        // Work that does not listen must not keep the program running.
        runtime.shutdown_background();
        served.map(|()| Answer::Yes).map_err(|error| match error {
            studio::CantServe::Suite { diagnostics, sources } => Failure { code: 2, diagnostics, sources },
            other => Failure::wrong(other.to_string()),
        })
    }
}

impl Studio {
    /// What the user says about traces.
    fn traces(&self) -> Result<Option<Traces>, Failure> {
        if self.traces.is_empty() {
            return Ok(None);
        }
        if self.model.is_none() {
            return Err(Failure::wrong("--traces needs a model that has to accept them"));
        }
        if self.traces.iter().any(|path| lts::is_standard_stream(path)) {
            return Err(Failure::wrong("the studio reads traces twice: they can't come from standard input")
                .help("write them to a file first"));
        }
        Ok(Some(Traces {
            files: self.traces.clone(),
            format: self.format.into(),
            term: self.term.clone(),
            include: self.include.clone(),
            relation: self.acceptance.relation()?,
            settings: self.acceptance.settings(false),
            module: self.acceptance.module.clone(),
        }))
    }
}

/// Asks the desktop to show the page; where there is none, the address is on the terminal.
fn open_browser(address: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let _ = Command::new(opener)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
}
