//! Every format of traces, read as it is written.

use std::io::Cursor;
use std::path::Path;

use conform::{Format, Moment, Observed, Relation, Said, Traces};

fn read(name: &str, text: &str, relation: &str) -> Result<Vec<Said>, String> {
    let relation = Relation::parse(relation).map_err(|wrong| wrong.message)?;
    let input = Box::new(Cursor::new(text.as_bytes().to_vec()));
    let mut traces =
        Traces::new(Path::new(name), input, Format::Auto, &relation).map_err(|error| error.to_string())?;
    let mut all = Vec::new();
    while let Some(batch) = traces.next_batch().map_err(|error| error.to_string())? {
        all.extend(batch);
    }
    Ok(all)
}

/// What was read, in short.
fn shown(said: &[Said]) -> Vec<String> {
    let moment = |moment: &Moment| match (&moment.event, &moment.state) {
        (Some(event), Some(state)) => format!("{event} -> {state}"),
        (Some(event), None) => event.clone(),
        (None, Some(Observed::Whole(text))) => format!("<{text}>"),
        (None, Some(state)) => state.to_string(),
        (None, None) => "nothing".to_owned(),
    };
    said.iter()
        .map(|said| match said {
            Said::Sequence(moments) => moments.iter().map(moment).collect::<Vec<String>>().join(" ; "),
            Said::Moment(Some(key), one) => format!("{key}: {}", moment(one)),
            Said::Moment(None, one) => moment(one),
            Said::End => "end".to_owned(),
            Said::Wrong(why) => why.clone(),
        })
        .collect()
}

#[test]
fn terms() {
    let said =
        read("x.txt", "({a | b} | {c} | nil) ,\n*** a remark\n\n{(q: (1 | 2))} | {\"|\"} | nil ,\n", "")
            .unwrap();
    assert_eq!(shown(&said), ["<{a | b}> ; <{c}>", "<{(q: (1 | 2))}> ; <{\"|\"}>"]);
    let said = read("x.txt", "((a | nil), (b | c | nil))", "").unwrap();
    assert_eq!(shown(&said), ["<a>", "<b> ; <c>"]);
    let said = read("x.txt", "({a}|{b} | nil)\n({c, d} | {(e)(f)})", "").unwrap();
    assert_eq!(shown(&said), ["<{a}> ; <{b}>", "<{c, d}> ; <{(e)(f)}>"]);
    assert_eq!(read("x.txt", "({a} | {b)\n", "").unwrap_err(), "x.txt:1: a bracket has no partner");
    assert_eq!(read("x.txt", "({a} | | nil)\n", "").unwrap_err(), "x.txt:1: there is no state at position 1");
    assert_eq!(read("x.txt", &"(".repeat(100_000), "").unwrap_err(), "x.txt:1: a bracket has no partner");
}

#[test]
fn json_lines() {
    let said = read("x.jsonl", "{\"n\": 1, \"on\": true}\n\n{\"n\": 2, \"on\": false}\n", "").unwrap();
    assert_eq!(shown(&said), ["n = 1, on = true", "n = 2, on = false"]);
    let said = read("x.jsonl", "{\"trace\": \"a\", \"event\": \"PUT  !+1\"}\n{\"trace\": 7, \"event\": \"GET\", \"state\": {\"n\": 1}}\n", "").unwrap();
    assert_eq!(shown(&said), ["a: PUT !1", "7: GET -> n = 1"]);
    let said = read("x.jsonl", "[{\"n\": 1}, {\"n\": 2}]\n[\"A\", \"B\"]\n{\"states\": [{\"n\": 3}]}\n", "")
        .unwrap();
    assert_eq!(shown(&said), ["n = 1 ; n = 2", "A ; B", "n = 3"]);
    assert_eq!(
        read("x.jsonl", "{\"n\": 1}\nnonsense\n", "").unwrap_err(),
        "x.jsonl:2: this is not JSON: expected ident"
    );
}

#[test]
fn relations() {
    let relation = "[state]\nterm = '{(buf: ${buf}) (dc: ${dc}) (m: ${mode})}'\nignore = ['clock']\n\
        [variables.buf]\neach = 'd(${it})'\nbetween = ' | '\nempty = 'nil'\n\
        [variables.dc]\neach = '< d(${it.data}), ${it.bit} >'\nbetween = ' | '\nempty = 'none'\n\
        [variables.mode]\nwords = { '0' = 'idle' }\n";
    let line = "{\"buf\": [0, 1], \"dc\": [{\"data\": 2, \"bit\": true}], \"mode\": 0, \"clock\": 5}\n";
    let said = read("x.jsonl", line, relation).unwrap();
    assert_eq!(shown(&said), ["<{(buf: d(0) | d(1)) (dc: < d(2), true >) (m: idle)}>"]);
    let missing = read("x.jsonl", "{\"buff\": [], \"dc\": [], \"mode\": 1}\n", relation).unwrap_err();
    assert_eq!(missing, "x.jsonl:1: there is no `buf`; did you mean `buff`?");
    assert!(read("x.jsonl", "", "[state]\nterm = 'a ${b'\n").unwrap_err().contains("no closing brace"));
    assert!(read("x.jsonl", "", "[state]\nterms = 'a'\n").unwrap_err().contains("unknown field"));
}

#[test]
fn events_by_rules() {
    let relation = "[[event]]\nwhen = { 'fields.message' = ['vote', 'veto'] }\nlabel = 'VOTE !${fields.node}'\n\
        [[event]]\nwhen = { level = 'DEBUG' }\nlabel = ''\n[events]\nsequence = 'span.run'\n";
    let vote = "{\"fields\": {\"message\": \"vote\", \"node\": 3}, \"span\": {\"run\": 1}}\n";
    let noise = "{\"level\": \"DEBUG\", \"span\": {\"run\": 1}}\n";
    assert_eq!(shown(&read("x.jsonl", &format!("{vote}{noise}"), relation).unwrap()), ["1: VOTE !3"]);
    let unknown = read("x.jsonl", "{\"level\": \"INFO\", \"span\": {\"run\": 1}}\n", relation).unwrap_err();
    assert!(unknown.contains("no rule of the relation matches this event"), "{unknown}");
}

#[test]
fn labels() {
    let said = read("x.seq", "\"PUT !1\"\nGET   !1\n[]\nPUT !2\n", "").unwrap();
    assert_eq!(shown(&said), ["PUT !1", "GET !1", "end", "PUT !2"]);
    assert!(read("x.seq", "A\n<until> B\n", "").unwrap_err().starts_with("x.seq:2: only single labels"));
}

#[test]
fn itf() {
    let text = "{\n \"#meta\": {\"format\": \"ITF\"},\n \"vars\": [\"n\", \"s\"],\n \"states\": [\n  {\"#meta\": {\"index\": 0}, \
        \"n\": {\"#bigint\": \"7\"}, \"s\": {\"#set\": [1, 2]}},\n  {\"n\": 8, \"s\": {\"#tup\": [3]}}\n ]\n}\n";
    assert_eq!(shown(&read("x.itf.json", text, "").unwrap()), ["n = 7, s = {1, 2} ; n = 8, s = {3}"]);
    let broken = read("x.itf.json", "{\n \"vars\": [\n", "").unwrap_err();
    assert!(broken.starts_with("x.itf.json:"), "{broken}");
}

#[test]
fn spans() {
    let text = r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},
      "scopeSpans":[{"spans":[
        {"traceId":"b","spanId":"2","name":"pay","startTimeUnixNano":"20","endTimeUnixNano":"30","attributes":[{"key":"sum","value":{"intValue":"5"}}]},
        {"traceId":"b","spanId":"1","name":"order","startTimeUnixNano":"10","endTimeUnixNano":"40"},
        {"traceId":"a","spanId":"3","name":"order","startTimeUnixNano":"15","endTimeUnixNano":"16"}]}]}]}"#;
    assert_eq!(shown(&read("x.json", text, "").unwrap()), ["a: order", "b: order", "b: pay"]);
    let relation = "[[event]]\nwhen = { name = 'pay', phase = 'end' }\nlabel = 'PAID !${attributes.sum} !${resource.service.name}'\n\
        [events]\notherwise = 'ignore'\n";
    assert_eq!(shown(&read("x.json", text, relation).unwrap()), ["b: PAID !5 !shop"]);
}

#[test]
fn packed_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["x.txt.gz", "x.txt.zst", "x.txt"] {
        let path = folder.path().join(name);
        lts::write_file(&path, |out| out.write_all(b"A\nB\n")).unwrap();
        let relation = Relation::default();
        let mut traces = Traces::open(&path, Format::Auto, &relation).unwrap();
        assert_eq!(shown(&traces.next_batch().unwrap().unwrap()), ["A", "B"]);
    }
}
