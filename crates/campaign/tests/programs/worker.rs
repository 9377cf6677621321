//! A worker in a process of its own.
//!
//! campaign-worker THREADS folder FOLDER | campaign-worker THREADS ADDRESS NAME

#[path = "../world/checker.rs"]
mod checker;
#[path = "../world/graph.rs"]
#[allow(dead_code, reason = "a worker needs nothing but the rule of the checker")]
mod graph;

use campaign::{Broker, Campaign, CampaignError, Place, Status, Work};

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match work(&arguments) {
        Ok(status) => {
            println!("{}", serde_json::to_string(&status).expect("a status is plain JSON"));
            std::process::ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::ExitCode::from(2)
        }
    }
}

fn work(arguments: &[String]) -> Result<Status, CampaignError> {
    let place = match arguments[1].as_str() {
        "folder" => Place::folder(&arguments[2]),
        address => Place::broker(Broker::parse(address)?.with_password_of_environment(), &arguments[2])?,
    };
    let work = Work { threads: arguments[0].parse().expect("a number"), ..Work::default() };
    Campaign::open(&place)?.work(&work, &|| Ok(Box::new(checker::EdgeChecker)))
}
