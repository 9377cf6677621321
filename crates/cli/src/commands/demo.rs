//! `watershed demo`: a tour on bundled models. Every command shown is run as shown.

use clap::{Args, Parser};

use crate::arguments::Arguments;
use crate::failure::{Answer, Failure};
use crate::terminal::Terminal;

/// Take a tour of the bundled models: explore, reduce, compare, check, explain, cover
#[derive(Args)]
#[command(after_help = "Example:\n  watershed demo")]
pub struct Demo {}

/// A model file of the tour, built into the program.
macro_rules! bundled {
    ($($name:literal from $path:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../../models/", $path)))),*]
    };
}

const FILES: [(&str, &str); 10] = bundled![
    "alternating_bit.lnt" from "alternating_bit/alternating_bit.lnt",
    "alternating_bit.mcl" from "alternating_bit/properties.mcl",
    "producer_consumer.lnt" from "producer_consumer/producer_consumer.lnt",
    "robot.lnt" from "bugs/frontiers.lnt",
    "robot.mcl" from "bugs/frontiers.mcl",
    "rendezvous.lnt" from "coverage/synchro/synchro1.lnt",
    "sender.aut" from "network/sender.aut",
    "medium.aut" from "network/medium.aut",
    "receiver.aut" from "network/receiver.aut",
    "network.exp" from "network/network.exp",
];

/// What the tour says, and the command that it then runs.
const STEPS: [(&str, &str); 10] = [
    (
        "The alternating bit protocol sends messages over media that lose them. Here is its state space:",
        "explore alternating_bit.lnt -o protocol.aut",
    ),
    (
        "Much less can be seen from outside. Branching bisimulation keeps just that:",
        "reduce protocol.aut --by branching -o small.aut",
    ),
    (
        "The service that it should offer is a one-place buffer:",
        "explore alternating_bit.lnt --root SERVICE -o service.aut",
    ),
    ("Does the protocol offer it? Yes:", "compare protocol.aut service.aut --by branching"),
    (
        "But not if endless internal activity counts, and the formula says why:",
        "compare protocol.aut service.aut --by divbranching",
    ),
    (
        "Properties state what is expected, both good and bad:",
        "check alternating_bit.lnt alternating_bit.mcl",
    ),
    (
        "In this market, something is consumed before anything is produced. Here is the shortest way there:",
        "check producer_consumer.lnt --never \"CONSUME !3\" --sequence",
    ),
    (
        "A robot arm runs a test before it is calibrated. Which choices decide that? One early on, and two just before the violation:",
        "explain robot.lnt robot.mcl",
    ),
    (
        "What does one example of a rendezvous exercise, and what is wrong with the rest?",
        "cover rendezvous.lnt --example \"SYSTEM (1, false, false)\"",
    ),
    ("Transition systems from other tools can be composed as well:", "compose network.exp"),
];

impl Demo {
    pub fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        let folder = tempfile::tempdir()
            .map_err(|error| Failure::wrong(format!("can't create a folder for the tour: {error}")))?;
        for (name, text) in FILES {
            lts::write_file(&folder.path().join(name), |out| out.write_all(text.as_bytes()))?;
        }
        std::env::set_current_dir(folder.path())
            .map_err(|error| Failure::wrong(format!("can't create a folder for the tour: {error}")))?;
        let bold =
            |text: &str| if terminal.colour { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() };
        for (caption, command) in STEPS {
            println!("\n{caption}\n\n{}\n", bold(&format!("$ watershed {command}")));
            // A failing property is part of the tour, and so is its exit code.
            let answer = super::run(parse(command)?, terminal)?;
            if answer == Answer::No {
                println!("\n(exit code 1)");
            }
        }
        println!(
            "\nThe models are in models/, and the book starts at docs/src/introduction.md. To look rather than read:\n\n{}",
            bold("$ watershed studio models/bugs/frontiers.lnt models/bugs/frontiers.mcl")
        );
        // The folder is about to be removed.
        let _ = std::env::set_current_dir(std::env::temp_dir());
        Ok(Answer::Yes)
    }
}

/// A command line as the shell would split it.
fn parse(command: &str) -> Result<super::Command, Failure> {
    let mut words = vec!["watershed".to_owned()];
    for (index, part) in command.split('"').enumerate() {
        match index % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    let arguments = Arguments::try_parse_from(words).map_err(|error| Failure::wrong(error.to_string()))?;
    Ok(arguments.command)
}
