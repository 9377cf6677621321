//! All mutants of a model, on all cores; the result does not depend on how many there are.

use std::sync::{Mutex, PoisonError};

use lts::Progress;
use rayon::prelude::*;

use crate::baseline::Baseline;
use crate::judge::Judgement;
use crate::record::Record;

/// Judges all mutants, one a thread, but those that a record knows. Nothing is known of a mutant where it was asked to
/// stop. The error is one of writing the record.
pub fn study(
    baseline: &Baseline<'_>,
    record: Option<&Record>,
    progress: &Progress,
) -> std::io::Result<Vec<Option<Judgement>>> {
    progress.expect(baseline.mutants.len() as u64);
    let failed: Mutex<Option<std::io::Error>> = Mutex::new(None);
    let judge = |at: usize| {
        let known = record.and_then(|record| record.get(at)).cloned();
        let judgement = match known {
            Some(known) => Some(known),
            None if progress.is_cancelled() => None,
            None => {
                // The bar counts mutants, not their states.
                let judgement = baseline.judge(at, &progress.part());
                if let (Some(judgement), Some(record)) = (&judgement, record)
                    && let Err(error) = record.add(at, judgement)
                {
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    progress.cancel();
                }
                judgement
            }
        };
        progress.advance(1);
        judgement
    };
    let judged: Vec<Option<Judgement>> =
        (0..baseline.mutants.len()).into_par_iter().with_max_len(1).map(judge).collect();
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(judged),
    }
}
