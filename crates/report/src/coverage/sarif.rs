//! SARIF 2.1.0, as code-scanning services and editors read findings.

use serde_json::{Value, json};

use super::{Coverage, CoverageExample, CoverageFinding};

const RULES: [(&str, &str, &str); 5] = [
    ("ill-formed-decision", "One outcome never occurs, and blocks depend on it", "warning"),
    ("unnecessary-decision", "One outcome never occurs, and nothing depends on it", "note"),
    ("non-synchronisable-action", "An action is offered but never happens", "warning"),
    ("dead-code", "Code is never reached", "warning"),
    ("missing-example", "An example that would close a hole is missing", "note"),
];

impl Coverage {
    /// The findings as a SARIF log.
    pub fn sarif(&self) -> String {
        let rules: Vec<Value> = RULES
            .iter()
            .map(|(id, text, level)| {
                json!({
                    "id": id,
                    "shortDescription": { "text": text },
                    "defaultConfiguration": { "level": level },
                })
            })
            .collect();
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "watershed",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                } },
                "invocations": [{
                    "executionSuccessful": true,
                    "toolExecutionNotifications": self.examples.iter().filter_map(notification).collect::<Vec<Value>>(),
                }],
                "columnKind": "unicodeCodePoints",
                "results": self.findings.iter().map(result).collect::<Vec<Value>>(),
            }],
        });
        format!("{log:#}\n")
    }
}

/// What was not explored to the end, so that findings may change.
fn notification(example: &CoverageExample) -> Option<Value> {
    let stopped = example.stopped.as_ref()?;
    let text = format!("the coverage of example `{}` is partial: {stopped}", example.name);
    Some(json!({ "level": "warning", "message": { "text": text } }))
}

fn result(finding: &CoverageFinding) -> Value {
    let rule = RULES.iter().position(|(id, _, _)| *id == finding.kind);
    let level = rule.map_or("warning", |rule| RULES[rule].2);
    let mut text = finding.message.clone();
    for why in &finding.why {
        text.push_str(&format!("\n{why}"));
    }
    if let Some(advice) = &finding.advice {
        text.push_str(&format!("\n{advice}"));
    }
    let related: Vec<Value> = finding
        .related
        .iter()
        .map(|place| {
            let mut location = location(&place.file, (place.line, place.column), None);
            location["message"] = json!({ "text": place.text });
            location
        })
        .collect();
    json!({
        "ruleId": finding.kind,
        "ruleIndex": rule,
        "level": level,
        "message": { "text": text },
        "locations": [location(&finding.file, (finding.line, finding.column), Some(finding.end))],
        "relatedLocations": related,
    })
}

pub(crate) fn location(file: &str, start: (usize, usize), end: Option<(usize, usize)>) -> Value {
    let mut region = json!({ "startLine": start.0, "startColumn": start.1 });
    if let Some((line, column)) = end {
        region["endLine"] = json!(line);
        region["endColumn"] = json!(column);
    }
    json!({ "physicalLocation": { "artifactLocation": { "uri": uri(file) }, "region": region } })
}

/// A path as a relative or absolute URI reference.
fn uri(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        match byte {
            b'\\' => text.push('/'),
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                text.push(char::from(byte));
            }
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}
