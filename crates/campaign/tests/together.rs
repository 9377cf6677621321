//! Campaigns in a broker, against the naive twin and campaigns in a folder, with crashes of everything that can crash.
//!
//! Each test has a Redis server of its own; without `redis-server` they are skipped, and say so.

mod world;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use campaign::{Broker, Campaign, CampaignError, Place, StartMode, State, Work};
use world::graph::Graph;
use world::server::Server;
use world::{Dice, Twin, WorkerProcess, run, settings, with_trouble, work_here};

#[test]
fn a_broker_gives_what_a_folder_and_the_naive_twin_give() {
    let Some(server) = Server::start(&[]) else { return };
    for seed in 1..=12 {
        let graph = Graph { seed, nodes: 10 + 20 * seed, plain: seed % 2 == 0 };
        let depth = 1 + seed % 4;
        let mode = if graph.plain { StartMode::State } else { StartMode::Schedule };
        let settings = settings(graph, depth, mode);
        let folder = tempfile::tempdir().unwrap();
        let alone = run(&Place::folder(folder.path().join("campaign")), &settings, 2);
        for threads in [1, 3] {
            let place = server.place(&format!("twin-{seed}-{threads}"));
            let outcome = run(&place, &settings, threads);
            Twin::explore(graph, depth).compare(graph, &outcome);
            assert_eq!(outcome, alone, "seed {seed}");
        }
    }
}

#[test]
fn both_stores_stop_at_the_same_limits() {
    let Some(server) = Server::start(&[]) else { return };
    let graph = Graph { seed: 15, nodes: 200, plain: true };
    let mut layers = settings(graph, 2, StartMode::State);
    layers.limits.layers = Some(2);
    let mut jobs = settings(graph, 2, StartMode::State);
    jobs.limits.jobs = Some(20);
    for (name, settings) in [("layers", &layers), ("jobs", &jobs)] {
        let folder = tempfile::tempdir().unwrap();
        let alone = run(&Place::folder(folder.path().join("campaign")), settings, 2);
        let together = run(&server.place(name), settings, 3);
        assert_eq!(together, alone);
        assert_eq!(together.partial, [format!("the limit of {name} was reached")]);
    }
    let mut sequences = settings(graph, 2, StartMode::State);
    sequences.limits.sequences = Some(20);
    let outcome = run(&server.place("sequences"), &sequences, 2);
    assert_eq!(
        (outcome.state, &outcome.partial[0][..]),
        (State::Limit, "the limit of sequences was reached")
    );
}

#[test]
fn workers_that_are_killed_lose_nothing() {
    let Some(server) = Server::start(&[]) else { return };
    let graph = Graph { seed: 11, nodes: 600, plain: false };
    let settings = with_trouble(settings(graph, 2, StartMode::Schedule), "--slow", 10);
    let folder = tempfile::tempdir().unwrap();
    let expected = run(&Place::folder(folder.path().join("campaign")), &settings, 2);
    let campaign = Campaign::start(&server.place("killed"), &settings).unwrap();
    let mut dice = Dice(11);
    let mut workers: Vec<_> = (0..3).map(|_| WorkerProcess::start(1, &server.address(), "killed")).collect();
    let mut kills = 0;
    while kills < 8 {
        std::thread::sleep(Duration::from_millis(50 + dice.below(150)));
        if campaign.status(0).unwrap().outcome.is_finished() {
            break;
        }
        let victim = dice.below(3) as usize;
        workers[victim].kill();
        workers[victim] = WorkerProcess::start(1, &server.address(), "killed");
        kills += 1;
    }
    assert!(kills > 2, "the campaign was too short to be disturbed");
    assert!(workers.iter_mut().all(|worker| worker.end(Duration::from_secs(40))));
    assert_eq!(campaign.status(usize::MAX).unwrap().outcome, expected);
}

#[test]
fn a_broker_that_is_killed_and_restarted_loses_nothing() {
    let Some(mut server) = Server::start(&[]) else { return };
    let graph = Graph { seed: 21, nodes: 600, plain: true };
    let settings = with_trouble(settings(graph, 2, StartMode::State), "--slow", 10);
    let folder = tempfile::tempdir().unwrap();
    let expected = run(&Place::folder(folder.path().join("campaign")), &settings, 2);
    let campaign = Campaign::start(&server.place("restarted"), &settings).unwrap();
    let mut workers: Vec<_> =
        (0..2).map(|_| WorkerProcess::start(1, &server.address(), "restarted")).collect();
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(400));
        server.kill();
        std::thread::sleep(Duration::from_millis(150));
        server.restart();
    }
    assert!(workers.iter_mut().all(|worker| worker.end(Duration::from_secs(40))));
    assert_eq!(campaign.status(usize::MAX).unwrap().outcome, expected);
}

#[test]
fn a_job_that_two_workers_finish_counts_once() {
    let Some(server) = Server::start(&[]) else { return };
    let graph = Graph { seed: 22, nodes: 500, plain: true };
    let settings = with_trouble(settings(graph, 2, StartMode::State), "--slow", 20);
    let folder = tempfile::tempdir().unwrap();
    let expected = run(&Place::folder(folder.path().join("campaign")), &settings, 4);
    let campaign = Campaign::start(&server.place("frozen"), &settings).unwrap();
    let mut workers: Vec<_> = (0..2).map(|_| WorkerProcess::start(1, &server.address(), "frozen")).collect();
    // A worker that is frozen for longer than its lease goes on with a job that somebody else has done by then.
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(300));
        let process = workers[0].0.id().to_string();
        let signal = |name: &str| Command::new("kill").args([name, &process]).status();
        assert!(signal("-STOP").is_ok_and(|status| status.success()));
        std::thread::sleep(Duration::from_millis(1600));
        assert!(signal("-CONT").is_ok_and(|status| status.success()));
    }
    assert!(workers.iter_mut().all(|worker| worker.end(Duration::from_secs(40))));
    assert_eq!(campaign.status(usize::MAX).unwrap().outcome, expected);
}

#[test]
fn jobs_that_always_fail_are_set_aside() {
    let Some(server) = Server::start(&[]) else { return };
    let graph = Graph { seed: 14, nodes: 80, plain: true };
    let first = with_trouble(settings(graph, 2, StartMode::State), "--crash", 0);
    let outcome = run(&server.place("first"), &first, 2);
    assert_eq!((outcome.jobs().poison, outcome.jobs().done, outcome.sequences), (1, 0, 0));
    assert!(outcome.poison[0].reason.contains("signal: 6"), "{:?}", outcome.poison);
    assert_eq!(outcome.poison[0].output, ["node 0 is too much"]);

    let folder = tempfile::tempdir().unwrap();
    let marks = folder.path().to_str().unwrap();
    let flaky = with_trouble(settings(graph, 2, StartMode::State), "--flaky", marks);
    Twin::explore(graph, 2).compare(graph, &run(&server.place("flaky"), &flaky, 2));
}

#[test]
fn jobs_whose_workers_vanish_are_set_aside() {
    let Some(server) = Server::start(&[]) else { return };
    let graph = Graph { seed: 14, nodes: 80, plain: true };
    let mut settings = with_trouble(settings(graph, 2, StartMode::State), "--hang", 0);
    settings.patience.deliveries = 2;
    let campaign = Campaign::start(&server.place("vanish"), &settings).unwrap();
    for _ in 0..2 {
        let mut worker = WorkerProcess::start(1, &server.address(), "vanish");
        let since = Instant::now();
        while campaign.status(0).unwrap().workers.iter().all(|worker| worker.silent_seconds > 0.5)
            || campaign.status(0).unwrap().outcome.jobs().running == 0
        {
            assert!(since.elapsed() < Duration::from_secs(20), "nobody works");
            std::thread::sleep(Duration::from_millis(20));
        }
        // Long enough for the job of the worker before to be taken over.
        std::thread::sleep(Duration::from_millis(1500));
        worker.kill();
    }
    let status = work_here(&campaign, 1).unwrap();
    assert_eq!(
        status.outcome.poison[0].reason,
        "the job was given to 2 workers, none of which has finished it"
    );
}

#[test]
fn a_worker_that_stops_gives_its_job_back() {
    let Some(server) = Server::start(&[]) else { return };
    let graph = Graph { seed: 12, nodes: 400, plain: true };
    let mut settings = with_trouble(settings(graph, 2, StartMode::State), "--slow", 5);
    settings.patience.lease_seconds = 3600;
    let campaign = Campaign::start(&server.place("stops"), &settings).unwrap();
    let work = Work { threads: 2, ..Work::default() };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            work.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let stopped = campaign.work(&work, &|| Ok(Box::new(world::checker::EdgeChecker))).unwrap();
        assert_eq!((stopped.outcome.state, stopped.outcome.jobs().running), (State::Running, 0));
    });
    // With such a lease nobody would take over jobs that were not given back.
    Twin::explore(graph, 2).compare(graph, &work_here(&campaign, 2).unwrap().outcome);
    assert_eq!(campaign.status(0).unwrap().workers, []);
}

#[test]
fn a_broker_that_is_away_or_refuses_is_named_without_the_password() {
    let graph = Graph { seed: 1, nodes: 10, plain: true };
    let settings = settings(graph, 2, StartMode::State);
    let place = |address: &str| Place::broker(Broker::parse(address).unwrap(), "first").unwrap();
    let away = Campaign::start(&place("redis://:secret@127.0.0.1:1"), &settings).unwrap_err();
    assert!(matches!(away, CampaignError::BrokerAway { .. }), "{away:?}");
    assert!(away.to_string().contains("redis://127.0.0.1:1 can't be reached"), "{away}");
    assert!(!format!("{away} {away:?}").contains("secret"));

    let Some(server) = Server::start(&["--requirepass", "right"]) else { return };
    for address in ["redis://:wrong@127.0.0.1", "redis://127.0.0.1"] {
        let refused = Campaign::start(&place(&format!("{address}:{}", server.port)), &settings).unwrap_err();
        assert!(matches!(refused, CampaignError::BrokerRefuses { .. }), "{refused:?}");
        assert!(!format!("{refused} {refused:?}").contains("wrong@"));
    }
    let broker = Broker::parse(&server.address()).unwrap().with_password("right");
    let place = Place::broker(broker, "first").unwrap();
    assert!(matches!(Campaign::open(&place), Err(CampaignError::Missing { .. })));
    Twin::explore(graph, 2).compare(graph, &run(&place, &settings, 2));
    assert!(matches!(Campaign::start(&place, &settings), Err(CampaignError::Exists { .. })));
    let status = Campaign::open(&place).unwrap().status(5).unwrap();
    assert!(!serde_json::to_string(&status).unwrap().contains("right"));
    assert_eq!(status.warnings, [""; 0]);
}

#[test]
fn a_broker_that_keeps_nothing_gives_a_warning_and_its_loss_an_error() {
    let options = ["--appendonly", "no", "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"];
    let Some(mut server) = Server::start(&options) else { return };
    let graph = Graph { seed: 12, nodes: 2000, plain: true };
    let settings = with_trouble(settings(graph, 2, StartMode::State), "--slow", 10);
    let campaign = Campaign::start(&server.place("forgotten"), &settings).unwrap();
    let warnings = campaign.warnings().unwrap();
    assert!(warnings[0].contains("appendonly no") && warnings[1].contains("allkeys-lru"), "{warnings:?}");
    let error = std::thread::scope(|scope| {
        let worker = scope.spawn(|| work_here(&campaign, 2).unwrap_err());
        std::thread::sleep(Duration::from_millis(500));
        server.kill();
        server.restart();
        worker.join().unwrap()
    });
    assert!(matches!(error, CampaignError::Lost { .. }), "{error}");
}

#[test]
fn workers_wait_while_the_memory_of_the_broker_is_full() {
    let Some(server) = Server::start(&["--maxmemory-policy", "noeviction"]) else { return };
    let graph = Graph { seed: 12, nodes: 300, plain: true };
    let settings = with_trouble(settings(graph, 2, StartMode::State), "--slow", 5);
    let campaign = Campaign::start(&server.place("full"), &settings).unwrap();
    let set_memory = |bytes: &str| {
        let mut connection = redis::Client::open(server.address()).unwrap().get_connection().unwrap();
        redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg(bytes).exec(&mut connection).unwrap();
    };
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| work_here(&campaign, 2).unwrap());
        std::thread::sleep(Duration::from_millis(200));
        set_memory("1mb");
        std::thread::sleep(Duration::from_millis(1200));
        let before = campaign.status(0).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let after = campaign.status(0).unwrap();
        // Before anything is asserted, so that the worker ends in any case.
        set_memory("0");
        let outcome = worker.join().unwrap().outcome;
        assert_eq!((after.outcome.state, after.outcome.jobs()), (State::Running, before.outcome.jobs()));
        let note = after.workers[0].note.as_deref().unwrap_or_default();
        assert!(note.contains("maxmemory"), "{note}");
        Twin::explore(graph, 2).compare(graph, &outcome);
    });
}

#[test]
fn a_broker_can_be_reached_by_tls() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let openssl = |arguments: &[&str]| {
        let mut command = Command::new("openssl");
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    std::fs::write(file("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
        .unwrap();
    let (root, root_key, request) = (file("root.pem"), file("root.key"), file("request"));
    let (certificate, key) = (file("server.pem"), file("server.key"));
    let made = openssl(&[
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=root", "-keyout",
        &root_key, "-out", &root,
    ]) && openssl(&[
        "req",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-subj",
        "/CN=localhost",
        "-keyout",
        &key,
        "-out",
        &request,
    ]) && openssl(&[
        "x509",
        "-req",
        "-in",
        &request,
        "-CA",
        &root,
        "-CAkey",
        &root_key,
        "-CAcreateserial",
        "-days",
        "2",
        "-out",
        &certificate,
        "-extfile",
        &file("names"),
    ]);
    if !made {
        eprintln!("skipped: openssl is not installed");
        return;
    }
    let plain = Server::start(&[]);
    let Some(plain) = plain else { return };
    let port = plain.port;
    drop(plain);
    let options = [
        "--tls-port",
        &port.to_string(),
        "--port",
        "0",
        "--tls-cert-file",
        &certificate,
        "--tls-key-file",
        &key,
        "--tls-ca-cert-file",
        &root,
        "--tls-auth-clients",
        "no",
    ];
    let Some(server) = Server::start_on(port, &options) else {
        eprintln!("skipped: redis-server has no TLS");
        return;
    };
    let graph = Graph { seed: 4, nodes: 60, plain: true };
    let settings = settings(graph, 2, StartMode::State);
    let broker = || Broker::parse(&format!("rediss://localhost:{}", server.port)).unwrap();
    let trusted = Place::broker(broker().with_roots(&root), "tls").unwrap();
    Twin::explore(graph, 2).compare(graph, &run(&trusted, &settings, 2));
    // The root of this test is none of the system's.
    let stranger = Place::broker(broker(), "tls").unwrap();
    assert!(Campaign::open(&stranger).is_err());
}
