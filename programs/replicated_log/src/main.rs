//! A log that a leader replicates to two followers over TCP, on loopback; every step is an event of `tracing`.
//!
//! An entry is committed once the leader and one follower have stored it. With `--flawed`, the leader counts
//! acknowledgements without looking at the entry that they are for: one that comes late counts for the next entry, which is
//! then committed although nobody else has it.
//!
//! ```text
//! replicated-log --entries 1000 | watershed conform models/replicated_log/replicated_log.lnt - \
//!     --map models/replicated_log/relation.toml
//! ```

use std::io::{self, BufReader, BufWriter, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use tracing::info;

/// How far a follower may lag behind.
const WINDOW: u64 = 3;

/// Entries are shown modulo this.
const SLOTS: u64 = 4;

const HELP: &str = "Usage: replicated-log [--entries N] [--flawed]

Replicates N entries (1000) from a leader to two followers over TCP, and writes what happens as JSON lines.
--flawed: the leader counts acknowledgements, whichever entry they are for.
";

/// What the leader sends, and what comes back: a kind and the number of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Append = 1,
    Commit,
    Stored,
    Applied,
}

struct Message {
    kind: Kind,
    entry: u64,
}

impl Message {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut bytes = [0; 9];
        bytes[0] = self.kind as u8;
        bytes[1..].copy_from_slice(&self.entry.to_be_bytes());
        out.write_all(&bytes)?;
        out.flush()
    }

    /// The next message; none at the end.
    fn read(input: &mut impl Read) -> io::Result<Option<Self>> {
        let mut bytes = [0; 9];
        match input.read_exact(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            result => result?,
        }
        let kind = match bytes[0] {
            1 => Kind::Append,
            2 => Kind::Commit,
            3 => Kind::Stored,
            4 => Kind::Applied,
            _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "an unknown message")),
        };
        let mut entry = [0; 8];
        entry.copy_from_slice(&bytes[1..]);
        Ok(Some(Self { kind, entry: u64::from_be_bytes(entry) }))
    }
}

fn main() -> ExitCode {
    let (mut entries, mut flawed) = (1000, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--entries" => match arguments.next().and_then(|number| number.parse().ok()) {
                Some(number) => entries = number,
                None => return wrong("--entries needs a number"),
            },
            "--flawed" => flawed = true,
            "--help" | "-h" => {
                print!("{HELP}");
                return ExitCode::SUCCESS;
            }
            other => return wrong(&format!("`{other}` is not known")),
        }
    }
    tracing_subscriber::fmt().json().with_writer(io::stdout).init();
    match run(entries, flawed) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads has had enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => wrong(&error.to_string()),
    }
}

fn wrong(what: &str) -> ExitCode {
    eprintln!("error: {what}\n{HELP}");
    ExitCode::from(2)
}

/// Starts the followers, each behind a socket of its own, and leads.
fn run(entries: u64, flawed: bool) -> io::Result<()> {
    let (heard, hears) = channel();
    let mut links = Vec::new();
    let mut followers = Vec::new();
    for node in [2usize, 3] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        followers.push(thread::spawn(move || follow(node as u64, &listener)));
        let link = TcpStream::connect(address)?;
        link.set_nodelay(true)?;
        let (input, heard) = (link.try_clone()?, heard.clone());
        thread::spawn(move || hear(node, input, &heard));
        links.push(BufWriter::new(link));
    }
    drop(heard);
    lead(entries, flawed, &mut links, &hears)?;
    // Followers end when the leader hangs up.
    for link in &links {
        link.get_ref().shutdown(std::net::Shutdown::Write)?;
    }
    for follower in followers {
        follower.join().map_err(|_| io::Error::other("a follower has failed"))??;
    }
    Ok(())
}

/// A follower: stores entries, and applies those that are committed.
fn follow(node: u64, listener: &TcpListener) -> io::Result<()> {
    let (link, _) = listener.accept()?;
    link.set_nodelay(true)?;
    let mut output = BufWriter::new(link.try_clone()?);
    let mut input = BufReader::new(link);
    while let Some(message) = Message::read(&mut input)? {
        let slot = message.entry % SLOTS;
        let kind = match message.kind {
            Kind::Append => {
                info!(node, slot, "store");
                Kind::Stored
            }
            Kind::Commit => {
                info!(node, slot, "apply");
                Kind::Applied
            }
            Kind::Stored | Kind::Applied => continue,
        };
        Message { kind, entry: message.entry }.write(&mut output)?;
    }
    Ok(())
}

/// Passes on what a follower says.
fn hear(node: usize, input: TcpStream, heard: &Sender<(usize, Message)>) {
    let mut input = BufReader::new(input);
    while let Ok(Some(message)) = Message::read(&mut input) {
        if heard.send((node, message)).is_err() {
            return;
        }
    }
}

/// The leader: one entry after the other, each committed by a majority.
fn lead(
    entries: u64,
    flawed: bool,
    links: &mut [BufWriter<TcpStream>],
    hears: &Receiver<(usize, Message)>,
) -> io::Result<()> {
    // How many entries each follower has applied, and how many acknowledgements this entry has.
    let mut applied = [0; 2];
    for entry in 0..entries {
        let mut acknowledgements = 0;
        while applied.iter().any(|&applied| entry - applied >= WINDOW) {
            listen(hears, entry, flawed, &mut applied, &mut acknowledgements)?;
        }
        info!(slot = entry % SLOTS, "append");
        for link in &mut *links {
            Message { kind: Kind::Append, entry }.write(link)?;
        }
        while acknowledgements == 0 {
            listen(hears, entry, flawed, &mut applied, &mut acknowledgements)?;
        }
        info!(slot = entry % SLOTS, "commit");
        for link in &mut *links {
            Message { kind: Kind::Commit, entry }.write(link)?;
        }
    }
    Ok(())
}

/// Hears one message.
fn listen(
    hears: &Receiver<(usize, Message)>,
    entry: u64,
    flawed: bool,
    applied: &mut [u64; 2],
    acknowledgements: &mut u64,
) -> io::Result<()> {
    let (node, message) = hears.recv().map_err(|_| io::Error::other("both followers are gone"))?;
    match message.kind {
        Kind::Applied => applied[node - 2] = message.entry + 1,
        Kind::Stored if flawed || message.entry == entry => *acknowledgements += 1,
        _ => {}
    }
    Ok(())
}
