//! `watershed studio`: a page to look at a state space, walk in it and read the explanation beside the source.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;
use studio::{Beside, Settings, Studio as Server};

use crate::failure::{Answer, Failure};
use crate::terminal::Terminal;

/// Open a page on this machine: the state space in 3D beside the source, both linked
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed studio\n  \
    watershed studio model.lnt safety.mcl\n  \
    watershed studio model.lnt --examples suite.toml\n  \
    watershed studio system.aut safety.mcl --port 8080 --no-open\n\n\
Without a model, the page offers the bundled ones. The address contains a secret: anyone on this machine who has it can \
use the page. Ctrl-C stops the program.")]
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
    /// The port; any free one by default
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Print the address without opening a browser
    #[arg(long)]
    no_open: bool,
    /// Stop after this many states
    #[arg(long, value_name = "N", default_value_t = 5_000_000)]
    max_states: usize,
}

impl Studio {
    pub fn run(self, _terminal: &Terminal) -> Result<Answer, Failure> {
        let runtime = tokio::runtime::Runtime::new()
            .map_err(|error| Failure::wrong(format!("can't start the server: {error}")))?;
        let settings = Settings { port: self.port, most_states: self.max_states };
        let served: Result<(), studio::CantServe> = runtime.block_on(async {
            let server = Server::bind(&settings).await?;
            if let Some(model) = &self.model {
                let beside = Beside {
                    property: self.property.as_deref(),
                    root: self.root.as_deref(),
                    include: &self.include,
                    examples: &self.examples,
                };
                server.open(model, &beside)?;
            }
            println!("{}", server.address());
            if !self.no_open {
                open_browser(&server.address());
            }
            server.serve(async { tokio::signal::ctrl_c().await.unwrap_or_default() }).await
        });
        // Work that does not listen must not keep the program running.
        runtime.shutdown_background();
        served.map(|()| Answer::Yes).map_err(|error| match error {
            studio::CantServe::Suite { diagnostics, sources } => Failure { code: 2, diagnostics, sources },
            other => Failure::wrong(other.to_string()),
        })
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
