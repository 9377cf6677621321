//! Four worker processes over a broker, with workers and the broker killed at random.
//!
//! `cargo test -p campaign --test soak` kills a few times; `CAMPAIGN_SOAK=20` as often as it says, on a campaign that is
//! large enough for that. `CAMPAIGN_SEED=2` makes another campaign and other choices.

mod world;

use std::time::{Duration, Instant};

use campaign::{Campaign, Place, StartMode};
use world::graph::Graph;
use world::server::Server;
use world::{Dice, Twin, WorkerProcess, run, settings, with_trouble};

#[test]
fn workers_and_broker_are_killed_and_nothing_is_lost_or_counted_twice() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let kills = number("CAMPAIGN_SOAK").unwrap_or(4);
    let seed = number("CAMPAIGN_SEED").unwrap_or(31);
    let Some(mut server) = Server::start(&[]) else { return };
    let graph = Graph { seed, nodes: 500 * kills, plain: false };
    let plain = settings(graph, 2, StartMode::Schedule);
    let settings = with_trouble(plain.clone(), "--slow", 20);
    let folder = tempfile::tempdir().unwrap();
    let expected = run(&Place::folder(folder.path().join("campaign")), &plain, 2);
    Twin::explore(graph, 2).compare(graph, &expected);

    let campaign = Campaign::start(&server.place("soak"), &settings).unwrap();
    let start = |server: &Server| WorkerProcess::start(1, &server.address(), "soak");
    let mut workers: Vec<_> = (0..4).map(|_| start(&server)).collect();
    let mut dice = Dice(seed);
    let mut killed = 0;
    let since = Instant::now();
    while killed < kills {
        std::thread::sleep(Duration::from_millis(100 + dice.below(500)));
        if campaign.status(0).unwrap().outcome.is_finished() {
            break;
        }
        match dice.below(5) {
            4 => {
                server.kill();
                std::thread::sleep(Duration::from_millis(dice.below(400)));
                server.restart();
            }
            victim => {
                workers[victim as usize].kill();
                workers[victim as usize] = start(&server);
            }
        }
        killed += 1;
    }
    assert_eq!(killed, kills, "the campaign was too short to be disturbed");
    let left = Duration::from_secs(60 + 10 * kills).saturating_sub(since.elapsed());
    assert!(workers.iter_mut().all(|worker| worker.end(left)), "{:?}", campaign.status(0));
    let outcome = campaign.status(usize::MAX).unwrap().outcome;
    assert_eq!(outcome, expected);
    let jobs = outcome.jobs();
    eprintln!("{killed} kills, {} jobs, {} sequences in {:?}", jobs.done, outcome.sequences, since.elapsed());
}
