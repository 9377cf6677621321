//! With the feature `loom`: what is observed within `loom::model`.
#![cfg(feature = "loom")]

use loom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use watershed_observe::{observe, under_loom};

#[test]
fn sequences_of_a_lost_update() {
    let sequences = under_loom::model(|| {
        let counter = loom::sync::Arc::new(AtomicU32::new(0));
        observe!("counter", &0);
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let counter = counter.clone();
                loom::thread::spawn(move || {
                    let value = counter.load(SeqCst);
                    counter.store(value + 1, SeqCst);
                    observe!("counter", &(value + 1));
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
    let texts: Vec<String> = sequences.iter().map(|states| states.join(" ")).collect();
    assert!(texts.contains(&r#"{"counter":0} {"counter":1}"#.to_owned()));
    assert!(texts.contains(&r#"{"counter":0} {"counter":1} {"counter":2}"#.to_owned()));
}
