//! Campaigns in a folder, against the naive twin, with crashes of everything that can crash.

mod world;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use campaign::{Campaign, CampaignError, Place, StartMode, State, Work};
use world::graph::Graph;
use world::{Dice, Twin, WorkerProcess, run, settings, with_trouble, work_here};

fn folder() -> (tempfile::TempDir, Place) {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::folder(folder.path().join("campaign"));
    (folder, place)
}

#[test]
fn a_campaign_finds_what_the_naive_twin_finds() {
    for seed in 1..=24 {
        let graph = Graph { seed, nodes: 5 + 12 * seed, plain: seed % 2 == 0 };
        let depth = 1 + seed % 5;
        let twin = Twin::explore(graph, depth);
        let mode = if graph.plain { StartMode::State } else { StartMode::Schedule };
        let mut outcomes = Vec::new();
        for threads in [1, 3] {
            let (_folder, place) = folder();
            let outcome = run(&place, &settings(graph, depth, mode), threads);
            twin.compare(graph, &outcome);
            outcomes.push(outcome);
        }
        assert_eq!(outcomes[0], outcomes[1], "seed {seed}");
    }
}

#[test]
fn what_earlier_layers_have_expanded_saves_work_and_loses_nothing() {
    struct Accepts;
    impl campaign::Checker for Accepts {
        fn check(&mut self, _: &[serde_json::Value]) -> Result<campaign::Verdict, campaign::CheckError> {
            Ok(campaign::Verdict::Accepted)
        }
    }
    let causes = |outcome: &campaign::Outcome| -> BTreeSet<String> {
        outcome.failures.iter().map(|failure| format!("{:?} {}", failure.kind, failure.from)).collect()
    };
    let mut saved = 0;
    for seed in 31..=42 {
        let graph = Graph { seed, nodes: 10 * (seed - 30), plain: seed % 2 == 0 };
        let depth = 1 + seed % 4;
        let sharing = settings(graph, depth, StartMode::Schedule);
        let forgetful = with_trouble(sharing.clone(), "--forgetful", "yes");
        let (_folder, place) = folder();
        let rejecting = run(&place, &forgetful, 2);
        Twin::explore_with(graph, depth, false).compare(graph, &rejecting);
        let outcomes = [sharing.clone(), forgetful, sharing].map(|settings| {
            let (_folder, place) = folder();
            let campaign = Campaign::start(&place, &settings).unwrap();
            campaign.work(&Work::default(), &|| Ok(Box::new(Accepts))).unwrap().outcome
        });
        let [with, without, again] = &outcomes;
        assert_eq!(with, again);
        assert_eq!((with.states, causes(with)), (without.states, causes(without)), "seed {seed}");
        assert!(with.executions <= without.executions && with.jobs().jobs <= without.jobs().jobs);
        saved += without.executions - with.executions;
    }
    assert!(saved > 0);
    let graph = Graph { seed: 31, nodes: 30, plain: true };
    let mut settings = with_trouble(settings(graph, 2, StartMode::Schedule), "--no-hashes", 0);
    settings.patience.crashes = 1;
    let (_folder, place) = folder();
    assert!(run(&place, &settings, 1).poison[0].reason.contains("expanded states that are no hashes"));
}

#[test]
fn output_of_the_program_is_left_alone() {
    let graph = Graph { seed: 5, nodes: 100, plain: true };
    let (_folder, place) = folder();
    let settings = with_trouble(settings(graph, 3, StartMode::Schedule), "--garbage", "yes");
    Twin::explore_with(graph, 3, true).compare(graph, &run(&place, &settings, 2));
}

#[test]
fn without_promised_hashes_schedules_tell_places_apart() {
    let graph = Graph { seed: 3, nodes: 30, plain: true };
    let mut with_limit = with_trouble(settings(graph, 2, StartMode::Schedule), "--hashless", "yes");
    with_limit.limits.layers = Some(3);
    let (_folder, place) = folder();
    let many = run(&place, &with_limit, 2);
    let mut observed = with_limit.clone();
    observed.sameness = campaign::Sameness::Observed;
    let (_folder, place) = folder();
    let few = run(&place, &observed, 2);
    assert!(few.jobs().jobs < many.jobs().jobs);
    assert_eq!(few.failure_count, many.failure_count);
}

#[test]
fn a_campaign_that_is_killed_goes_on() {
    let graph = Graph { seed: 11, nodes: 1000, plain: false };
    let settings = with_trouble(settings(graph, 2, StartMode::Schedule), "--slow", 10);
    let (_folder, undisturbed) = folder();
    let expected = run(&undisturbed, &settings, 2);
    Twin::explore(graph, 2).compare(graph, &expected);
    let (temporary, place) = folder();
    let campaign = Campaign::start(&place, &settings).unwrap();
    let mut dice = Dice(7);
    let mut kills = 0;
    loop {
        let mut worker = WorkerProcess::in_folder(2, &temporary.path().join("campaign"));
        std::thread::sleep(Duration::from_millis(300 + dice.below(400)));
        if worker.has_ended() {
            break;
        }
        worker.kill();
        kills += 1;
        let status = campaign.status(3).unwrap();
        assert_eq!(status.outcome.jobs().running, 0);
        assert!(kills < 100, "no progress: {status:?}");
    }
    assert!(kills > 2, "the campaign was too short to be disturbed");
    assert_eq!(campaign.status(usize::MAX).unwrap().outcome, expected);
}

#[test]
fn a_running_campaign_shows_its_status_and_can_be_stopped() {
    let graph = Graph { seed: 12, nodes: 3000, plain: true };
    let settings = with_trouble(settings(graph, 2, StartMode::State), "--slow", 8);
    let (_folder, place) = folder();
    let campaign = Campaign::start(&place, &settings).unwrap();
    assert!(matches!(Campaign::start(&place, &settings), Err(CampaignError::Exists { .. })));
    let work = Work { threads: 2, ..Work::default() };
    let stopped = std::thread::scope(|scope| {
        let worker =
            scope.spawn(|| campaign.work(&work, &|| Ok(Box::new(world::checker::EdgeChecker))).unwrap());
        let since = Instant::now();
        loop {
            std::thread::sleep(Duration::from_millis(50));
            assert!(since.elapsed() < Duration::from_secs(20), "no progress is shown");
            match campaign.status(3) {
                Ok(status) if status.outcome.jobs().done > 0 => {
                    assert_eq!(status.workers.len(), 1);
                    assert!(status.outcome.failures.len() <= 3);
                    break;
                }
                _ => {}
            }
        }
        assert!(matches!(work_here(&campaign, 1), Err(CampaignError::Busy { .. })));
        work.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        worker.join().unwrap()
    });
    assert_eq!(stopped.outcome.state, State::Running);
    let later = campaign.status(0).unwrap();
    assert_eq!((later.outcome.jobs(), later.workers.len()), (stopped.outcome.jobs(), 0));
    Twin::explore(graph, 2).compare(graph, &work_here(&campaign, 2).unwrap().outcome);
}

#[test]
fn what_crashes_once_is_tried_again() {
    let graph = Graph { seed: 13, nodes: 80, plain: true };
    let (temporary, place) = folder();
    let settings =
        with_trouble(settings(graph, 2, StartMode::State), "--flaky", temporary.path().to_str().unwrap());
    Twin::explore(graph, 2).compare(graph, &run(&place, &settings, 2));
}

#[test]
fn what_always_fails_is_set_aside_with_the_reason() {
    let graph = Graph { seed: 14, nodes: 80, plain: true };
    let (_folder, place) = folder();
    let whole = run(&place, &settings(graph, 2, StartMode::State), 2);
    // A node at which a job of the second layer starts.
    let node = graph
        .explore(0, &[], 2, &Default::default())
        .iter()
        .find_map(|sent| match sent {
            world::graph::Sent::Frontier { node, .. } if *node != 0 => Some(*node),
            _ => None,
        })
        .unwrap();
    for (trouble, reason) in [
        ("--crash", "signal: 6"),
        ("--hang", "it has said nothing for 1 s"),
        ("--complain", "it says: this state can't be restored"),
        ("--wrong-job", "it has answered job \"another\""),
        ("--no-json", "no message of the protocol"),
        ("--hello-again", "`hello` twice"),
        ("--no-states", "no list of states"),
    ] {
        let (_folder, place) = folder();
        let mut settings = with_trouble(settings(graph, 2, StartMode::State), trouble, node);
        settings.patience.silence_seconds = 1;
        settings.patience.crashes = 2;
        let outcome = run(&place, &settings, 2);
        assert_eq!(outcome.state, State::Complete);
        assert_eq!(outcome.partial, ["1 job was set aside: the program or its workers failed"], "{trouble}");
        assert_eq!(outcome.poison.len(), 1);
        assert!(outcome.poison[0].reason.contains(reason), "{trouble}: {}", outcome.poison[0].reason);
        assert_eq!((outcome.layers[1].poison, outcome.layers[1].jobs), (1, whole.layers[1].jobs));
        if trouble == "--crash" {
            assert_eq!(outcome.poison[0].output, [format!("node {node} is too much")]);
        }
    }
}

#[test]
fn programs_that_are_none_are_refused_at_the_start() {
    let graph = Graph { seed: 1, nodes: 10, plain: true };
    let (_folder, place) = folder();
    let mut good = settings(graph, 2, StartMode::State);
    good.patience.silence_seconds = 1;
    for (trouble, value, reason) in [
        ("--protocol", "2", "protocol 2"),
        ("--starts", "schedule", "can't be started from a state"),
        ("--mute", "yes", "said nothing for 1 s"),
    ] {
        let error = Campaign::start(&place, &with_trouble(good.clone(), trouble, value)).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
    let mut missing = good.clone();
    missing.program = "no-such-program".into();
    assert!(matches!(Campaign::start(&place, &missing), Err(CampaignError::Program { .. })));
    let mut ends = good.clone();
    ends.program = "true".into();
    assert!(Campaign::start(&place, &ends).unwrap_err().to_string().contains("has ended"));
    let mut flat = good;
    flat.depth = 0;
    assert!(matches!(Campaign::start(&place, &flat), Err(CampaignError::Settings { .. })));
}

#[test]
fn limits_give_a_partial_result_that_says_so() {
    let graph = Graph { seed: 15, nodes: 200, plain: true };
    let whole = Twin::explore(graph, 2);
    for threads in [1, 3] {
        let (_folder, place) = folder();
        let mut layers = settings(graph, 2, StartMode::State);
        layers.limits.layers = Some(2);
        let outcome = run(&place, &layers, threads);
        assert_eq!((outcome.state, outcome.layers.len()), (State::Limit, 2));
        assert_eq!(outcome.partial, ["the limit of layers was reached"]);
        assert_eq!(outcome.frontier, whole.jobs[2]);

        let (_folder, place) = folder();
        let mut sequences = settings(graph, 2, StartMode::State);
        sequences.limits.sequences = Some(20);
        let outcome = run(&place, &sequences, threads);
        assert_eq!(outcome.partial, ["the limit of sequences was reached"]);
        assert!(outcome.sequences >= 20 && outcome.sequences < whole.sequences.len() as u64);

        let (_folder, place) = folder();
        let mut failures = settings(graph, 2, StartMode::State);
        failures.limits.failures = Some(1);
        let outcome = run(&place, &failures, threads);
        assert_eq!(outcome.partial, ["the limit of failures was reached"]);
        assert!(outcome.failure_count >= 1);
    }
    let outcomes: Vec<_> = [1, 3]
        .into_iter()
        .map(|threads| {
            let (_folder, place) = folder();
            let mut jobs = settings(graph, 2, StartMode::State);
            jobs.limits.jobs = Some(20);
            run(&place, &jobs, threads)
        })
        .collect();
    assert_eq!((outcomes[0].jobs().done, &outcomes[0].partial[0][..]), (20, "the limit of jobs was reached"));
    assert_eq!(outcomes[0], outcomes[1]);
}

#[test]
fn incomplete_and_undecided_work_is_said_to_be() {
    struct Shrugs;
    impl campaign::Checker for Shrugs {
        fn check(&mut self, _: &[serde_json::Value]) -> Result<campaign::Verdict, campaign::CheckError> {
            Ok(campaign::Verdict::Undecided("too many states".into()))
        }
    }
    let graph = Graph { seed: 16, nodes: 50, plain: true };
    let (_folder, place) = folder();
    let settings = with_trouble(settings(graph, 2, StartMode::State), "--incomplete", 0);
    let campaign = Campaign::start(&place, &settings).unwrap();
    let outcome = campaign.work(&Work::default(), &|| Ok(Box::new(Shrugs))).unwrap().outcome;
    assert_eq!((outcome.undecided, outcome.state), (outcome.sequences, State::Complete));
    assert_eq!(outcome.undecided_reasons["too many states"], outcome.sent);
    assert!(outcome.incomplete > 0);
    assert!(outcome.partial[0].contains("cut short by their limit of executions"), "{:?}", outcome.partial);
    assert!(outcome.partial[1].contains("sequences could not be decided"), "{:?}", outcome.partial);
}

#[test]
fn a_checker_that_fails_ends_the_work_and_loses_nothing() {
    struct Fails;
    impl campaign::Checker for Fails {
        fn check(&mut self, _: &[serde_json::Value]) -> Result<campaign::Verdict, campaign::CheckError> {
            Err(campaign::CheckError::new("no variable `node`"))
        }
    }
    let graph = Graph { seed: 17, nodes: 50, plain: true };
    let (_folder, place) = folder();
    let campaign = Campaign::start(&place, &settings(graph, 2, StartMode::State)).unwrap();
    let error = campaign.work(&Work::default(), &|| Ok(Box::new(Fails))).unwrap_err();
    assert_eq!(error.to_string(), "sequences can't be checked: no variable `node`");
    assert!(campaign.work(&Work::default(), &|| Err(campaign::CheckError::new("no model"))).is_err());
    Twin::explore(graph, 2).compare(graph, &work_here(&campaign, 2).unwrap().outcome);
}

#[test]
fn workers_with_other_files_refuse() {
    let graph = Graph { seed: 1, nodes: 10, plain: true };
    let (temporary, place) = folder();
    let model = temporary.path().join("model.maude");
    std::fs::write(&model, "one").unwrap();
    let mut settings = settings(graph, 2, StartMode::State);
    settings.model = serde_json::json!({"path": "model.maude"});
    settings.fingerprint([&model]).unwrap();
    Campaign::start(&place, &settings).unwrap();
    let campaign = Campaign::open(&place).unwrap();
    assert_eq!(campaign.settings(), &settings);
    std::fs::write(&model, "another").unwrap();
    assert!(matches!(work_here(&campaign, 1), Err(CampaignError::FileDiffers { .. })));
}

#[test]
fn a_checker_that_panics_ends_the_work_of_all_threads() {
    struct Panics;
    impl campaign::Checker for Panics {
        fn check(&mut self, states: &[serde_json::Value]) -> Result<campaign::Verdict, campaign::CheckError> {
            assert!(states[0]["node"] == 0, "this checker panics on purpose");
            Ok(campaign::Verdict::Accepted)
        }
    }
    let graph = Graph { seed: 18, nodes: 50, plain: true };
    let (_folder, place) = folder();
    let campaign = Campaign::start(&place, &settings(graph, 2, StartMode::State)).unwrap();
    let work = Work { threads: 3, ..Work::default() };
    let error = campaign.work(&work, &|| Ok(Box::new(Panics))).unwrap_err();
    assert_eq!(error.to_string(), "sequences can't be checked: the checker has panicked");
    assert_eq!(campaign.status(0).unwrap().outcome.layers[0].done, 1);
}
