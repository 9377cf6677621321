//! The verdict for CI services: JUnit and SARIF.

use serde_json::{Value, json};

use super::{Conformance, NonConformance};
use crate::coverage::location;
use crate::markup::escape;

impl Conformance {
    /// The verdict as a JUnit report: a case for each sequence that is rejected, and one for all that are accepted.
    ///
    /// ```
    /// let verdict = report::Conformance { sequences: 2, accepted: 2, ..Default::default() };
    /// assert!(verdict.junit("model.maude").contains("failures=\"0\""));
    /// ```
    pub fn junit(&self, model: &str) -> String {
        let model = escape(model);
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let tests = self.failures.len() as u64 + u64::from(self.accepted > 0) + u64::from(self.unknown > 0);
        text += &format!(
            "<testsuites>\n<testsuite name=\"{model}\" tests=\"{tests}\" failures=\"{}\" errors=\"{}\" time=\"{:.3}\">\n",
            self.failures.len(),
            u64::from(self.unknown > 0),
            self.seconds
        );
        if self.accepted > 0 {
            text += &format!(
                "  <testcase classname=\"{model}\" name=\"{} sequences accepted\"/>\n",
                self.accepted
            );
        }
        if self.unknown > 0 {
            text += &format!(
                "  <testcase classname=\"{model}\" name=\"{0} sequences\">\n    <error message=\"{0} sequences were not decided\"/>\n  </testcase>\n",
                self.unknown
            );
        }
        for failure in &self.failures {
            let cause = self.causes.get(failure.cause).map_or("", |cause| cause.cause.as_str());
            text += &format!(
                "  <testcase classname=\"{model}\" name=\"sequence {} of {}\">\n    <failure message=\"{}\">{}</failure>\n  </testcase>\n",
                failure.seq,
                escape(&failure.file),
                escape(cause),
                escape(&failure.to_string())
            );
        }
        text + "</testsuite>\n</testsuites>\n"
    }

    /// The causes of failures as a SARIF log, at the places of the model that they are about.
    pub fn sarif(&self) -> String {
        let results: Vec<Value> = self
            .causes
            .iter()
            .filter_map(|cause| Some(result(&cause.cause, cause.failures, self.failures.get(cause.first)?)))
            .collect();
        let rule = json!({
            "id": "not-allowed",
            "shortDescription": { "text": "The program does what the model does not allow" },
            "defaultConfiguration": { "level": "error" },
        });
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "watershed",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": [rule],
                } },
                "columnKind": "unicodeCodePoints",
                "results": results,
            }],
        });
        format!("{log:#}\n")
    }
}

fn result(cause: &str, failures: u64, first: &NonConformance) -> Value {
    let trace = location(&first.file, (first.line.max(1) as usize, 1), None);
    let mut places: Vec<Value> =
        first.blocked.iter().map(|place| location(&place.file, (place.line, place.column), None)).collect();
    if places.is_empty() {
        places.push(trace.clone());
    }
    json!({
        "ruleId": "not-allowed",
        "ruleIndex": 0,
        "level": "error",
        "message": { "text": format!("{cause} ({failures} sequences)\n{first}") },
        "locations": [places[0]],
        "relatedLocations": places[1..].iter().chain([&trace]).collect::<Vec<&Value>>(),
    })
}
