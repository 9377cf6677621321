//! What is known of a campaign, on one screen.

use std::fmt;

use campaign::{State, Status};
use report::{count, grouped};
use serde::{Serialize, Serializer};

/// The status of a campaign for people and, as it is, for programs.
pub struct CampaignView(pub Status);

impl Serialize for CampaignView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl fmt::Display for CampaignView {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = &self.0;
        let outcome = &status.outcome;
        let state = match outcome.state {
            State::Running => "running",
            State::Complete => "finished",
            State::Limit => "ended by a limit",
        };
        let verdict = match (outcome.failure_count, outcome.sequences) {
            (0, 0) => String::new(),
            (0, _) => ", everything accepted so far".to_owned(),
            (failures, _) => format!(", {}", count(failures, "different failure").to_uppercase()),
        };
        let verdict = match outcome.is_finished() {
            true => verdict.replace(" so far", ""),
            false => verdict,
        };
        writeln!(out, "{}: {state}{verdict}, after {}", status.place, report::seconds(status.seconds))?;
        writeln!(
            out,
            "sequences  {} checked ({} accepted, {} rejected, {} undecided), {}/s",
            grouped(outcome.sequences),
            grouped(outcome.accepted),
            grouped(outcome.rejected),
            grouped(outcome.undecided),
            grouped(status.sequences_per_second as u64),
        )?;
        writeln!(
            out,
            "program    {}, {}, {}",
            count(outcome.states, "observed state"),
            count(outcome.executions, "execution"),
            count(outcome.steps, "step"),
        )?;
        writeln!(out, "jobs       {}/s", grouped(status.jobs_per_second as u64))?;
        writeln!(out, "  layer       jobs    waiting    running       done  set aside")?;
        for layer in &outcome.layers {
            writeln!(
                out,
                "  {:>5} {:>10} {:>10} {:>10} {:>10} {:>10}",
                layer.layer,
                grouped(layer.jobs),
                grouped(layer.waiting),
                grouped(layer.running),
                grouped(layer.done),
                grouped(layer.poison),
            )?;
        }
        if outcome.frontier > 0 {
            writeln!(out, "  {} for the next layer", count(outcome.frontier, "place"))?;
        }
        for worker in &status.workers {
            writeln!(
                out,
                "worker     {} ({}): {}, {}, heard {} ago{}",
                worker.name,
                count(worker.threads, "thread"),
                count(worker.jobs, "job"),
                count(worker.sequences, "sequence"),
                report::seconds(worker.silent_seconds),
                worker.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default(),
            )?;
        }
        for (number, failure) in outcome.failures.iter().enumerate() {
            let text =
                |name: &str| failure.details.get(name).and_then(serde_json::Value::as_str).map(str::to_owned);
            let kind = serde_json::to_value(failure.kind).ok();
            let kind = kind.as_ref().and_then(serde_json::Value::as_str).unwrap_or("failure").to_owned();
            writeln!(out, "\n{}. {kind}, layer {}", number + 1, failure.layer)?;
            writeln!(out, "   from     {}", text("from").unwrap_or_else(|| failure.from.to_string()))?;
            writeln!(out, "   to       {}", text("to").unwrap_or_else(|| failure.to.to_string()))?;
            if let Some(closest) = text("closest") {
                writeln!(out, "   closest  {closest}")?;
            }
            if let Some(message) = &failure.message {
                writeln!(out, "   says     {message}")?;
            }
            for place in failure.details["blocked"].as_array().into_iter().flatten().take(2) {
                let part = |name: &str| place[name].as_str().unwrap_or_default();
                writeln!(out, "   {}:{}: {}", part("file"), place["line"], part("why"))?;
                writeln!(out, "     | {}", part("source"))?;
            }
            for trail in &failure.trail {
                writeln!(out, "   before   {trail}")?;
            }
            writeln!(out, "   schedule {}", failure.schedule)?;
        }
        if outcome.failure_count > outcome.failures.len() as u64 && !outcome.failures.is_empty() {
            let more = outcome.failure_count - outcome.failures.len() as u64;
            writeln!(out, "\nand {} more: --failures N shows more, --json has them", count(more, "failure"))?;
        }
        for poison in outcome.poison.iter().take(5) {
            writeln!(out, "\nset aside: job {} of layer {}: {}", poison.job, poison.layer, poison.reason)?;
        }
        for reason in &outcome.partial {
            writeln!(out, "\npartial: {reason}")?;
        }
        for warning in &status.warnings {
            writeln!(out, "\nwarning: {warning}")?;
        }
        Ok(())
    }
}
