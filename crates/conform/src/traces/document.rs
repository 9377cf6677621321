//! JSON that is one document: ITF of Apalache and Quint, OpenTelemetry's spans, or an array of sequences.

use serde_json::{Map, Value, json};

use super::{Moment, Said, moments};
use crate::relation::{Relation, kind};

/// What a document says.
pub(super) fn said(value: &Value, relation: &Relation) -> Result<Vec<Said>, String> {
    match value {
        Value::Object(fields) if fields.contains_key("resourceSpans") => spans(fields, relation),
        Value::Object(fields) => match fields.get("states").or(fields.get("sequences")) {
            Some(Value::Array(items)) if fields.contains_key("states") => itf(items, relation),
            Some(Value::Array(items)) => sequences(items, relation),
            _ => Err("this document has neither `states` (ITF), nor `sequences`, nor `resourceSpans` (OpenTelemetry)"
                .to_owned()),
        },
        Value::Array(items) if items.iter().all(Value::is_array) => sequences(items, relation),
        Value::Array(items) => Ok(vec![Said::Sequence(moments(items, 1, relation)?)]),
        other => Err(format!("this document is {}, not a trace", kind(other))),
    }
}

fn sequences(items: &[Value], relation: &Relation) -> Result<Vec<Said>, String> {
    let sequence = |(position, item): (usize, &Value)| match item {
        Value::Array(items) => {
            let moments = moments(items, 1, relation).map_err(|why| format!("sequence {position}, {why}"))?;
            Ok(Said::Sequence(moments))
        }
        other => Err(format!("sequence {position} is {}, not an array", kind(other))),
    };
    items.iter().enumerate().map(sequence).collect()
}

/// ITF: every element of `states` is an object of variables.
fn itf(items: &[Value], relation: &Relation) -> Result<Vec<Said>, String> {
    let mut states = Vec::with_capacity(items.len());
    for (position, item) in items.iter().enumerate() {
        if !item.is_object() {
            return Err(format!("state {position} is {}, not an object", kind(item)));
        }
        let state = relation.state(item).map_err(|why| format!("state {position}: {why}"))?;
        states.push(Moment { event: None, state: Some(state), line: 1 });
    }
    Ok(vec![Said::Sequence(states)])
}

/// Spans: a sequence for every trace, in the order in which spans begin. Where the relation looks at `phase`, the end of a
/// span is an event as well.
fn spans(fields: &Map<String, Value>, relation: &Relation) -> Result<Vec<Said>, String> {
    let ends = relation.mentions("phase");
    let mut events: Vec<(String, u128, usize, Value)> = Vec::new();
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    for resource in list(fields.get("resourceSpans")) {
        let about = attributes(resource.get("resource").and_then(|resource| resource.get("attributes")));
        for scope in
            list(resource.get("scopeSpans")).iter().chain(&list(resource.get("instrumentationLibrarySpans")))
        {
            for span in list(scope.get("spans")) {
                let trace = span.get("traceId").and_then(Value::as_str).unwrap_or_default().to_owned();
                let mut event = json!({
                    "name": span.get("name").cloned().unwrap_or_default(),
                    "kind": span.get("kind").cloned().unwrap_or_default(),
                    "traceId": trace.clone(),
                    "spanId": span.get("spanId").cloned().unwrap_or_default(),
                    "attributes": attributes(span.get("attributes")),
                    "resource": about.clone(),
                    "phase": "start",
                });
                let start = time(&span, "startTimeUnixNano")?;
                events.push((trace.clone(), start, events.len(), event.clone()));
                if ends {
                    event["phase"] = json!("end");
                    events.push((trace, time(&span, "endTimeUnixNano")?, events.len(), event));
                }
            }
        }
    }
    events.sort_by(|one, other| (&one.0, one.1, one.2).cmp(&(&other.0, other.1, other.2)));
    let mut said = Vec::new();
    for (trace, _, _, event) in events {
        if let Some(label) = relation.event(&event).map_err(|why| format!("trace {trace}: {why}"))? {
            said.push(Said::Moment(Some(trace), Moment { event: Some(label), state: None, line: 1 }));
        }
    }
    Ok(said)
}

fn time(span: &Value, name: &str) -> Result<u128, String> {
    let wrong = || format!("a span has no `{name}`");
    match span.get(name).ok_or_else(wrong)? {
        Value::String(text) => text.parse().map_err(|_| format!("`{name}` of a span is no time: {text}")),
        Value::Number(number) => number.as_u64().map(u128::from).ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

/// Attributes as an object: `[{key, value: {stringValue}}]` becomes `{key: value}`.
fn attributes(list: Option<&Value>) -> Value {
    let mut fields = Map::new();
    for attribute in list.and_then(Value::as_array).into_iter().flatten() {
        let (Some(key), Some(value)) = (attribute.get("key").and_then(Value::as_str), attribute.get("value"))
        else {
            continue;
        };
        fields.insert(key.to_owned(), plain(value));
    }
    Value::Object(fields)
}

fn plain(value: &Value) -> Value {
    let Some((name, inner)) = value.as_object().and_then(|fields| fields.iter().next()) else {
        return value.clone();
    };
    match name.as_str() {
        "intValue" => match inner.as_str().and_then(|text| text.parse::<i64>().ok()) {
            Some(number) => json!(number),
            None => inner.clone(),
        },
        "arrayValue" => {
            let items = inner.get("values").and_then(Value::as_array).into_iter().flatten();
            Value::Array(items.map(plain).collect())
        }
        _ => inner.clone(),
    }
}
