//! What a file of commands answers, in a form in which two implementations can be compared: commands are not echoed, blanks
//! don't count, solutions are sets, and what depends on an order or on the clock is left out.

// Not every test needs everything.
#![allow(dead_code)]

use std::process::{Command, Stdio};

use maude::session::{Event, Session};
use model::{Folders, Text};

/// What a command answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The command as it was echoed.
    pub command: String,
    /// Solutions, sorted.
    pub solutions: Vec<String>,
    /// Everything else.
    pub rest: String,
}

/// Our own output for a text.
pub fn ours(text: &Text, adjust: impl FnOnce(&mut Session)) -> String {
    let mut session = Session::new();
    adjust(&mut session);
    let mut out = String::new();
    session.take(text, &Folders::beside(&[]), &mut |_, event| {
        if let Event::Output(text) = event {
            out.push_str(&text);
        }
    });
    out
}

/// The output of Maude itself for a file; none where it is not installed.
pub fn theirs(path: &std::path::Path) -> Option<String> {
    let folder = path.canonicalize().ok()?.parent()?.to_owned();
    let output = Command::new("maude")
        .args(["-no-banner", "-no-ansi-color", "-no-advise", "-no-wrap"])
        .arg(path.file_name()?)
        .current_dir(&folder)
        // Where it is, Maude takes from here.
        .env("PWD", &folder)
        .stdin(Stdio::null())
        .output()
        .ok()?;

    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The answers in an output.
pub fn answers(output: &str) -> Vec<Answer> {
    let mut joined = String::new();
    for line in output.lines() {
        if line.starts_with("rewrites:") || line.starts_with("Decision time") || line == "Bye." {
            continue;
        }
        // Long lines are continued with four blanks.
        if line.starts_with("    ") && !joined.is_empty() {
            joined.pop();
            joined.push(' ');
            joined.push_str(line.trim_start());
        } else if let Some(states) = line.strip_prefix("states: ") {
            let number = states.split_whitespace().next().unwrap_or("");
            joined.push_str(&format!("states: {number}"));
        } else {
            joined.push_str(line);
        }
        joined.push('\n');
    }
    let rule = format!("{}\n", "=".repeat(42));
    joined.split(rule.as_str()).filter(|block| !block.trim().is_empty()).map(answer).collect()
}

fn answer(block: &str) -> Answer {
    let kind = block.split_whitespace().next().unwrap_or("");
    let echoes = matches!(kind, "reduce" | "rewrite" | "frewrite" | "search" | "match" | "xmatch");
    // Modules among the arguments have periods at the ends of lines, too.
    let whole = matches!(kind, "reduce" | "rewrite" | "frewrite");
    let end = if whole { block.find(" .\nresult ") } else { block.find(" .\n") };
    let (command, body) = match end.map(|end| (&block[..end], &block[end + 3..])) {
        Some((command, body)) if echoes => (command.to_owned(), body.to_owned()),
        _ => (String::new(), block.to_owned()),
    };
    let tight = |text: &str| text.split_whitespace().collect::<String>();
    if !matches!(kind, "search" | "match" | "xmatch") {
        // Whether a sort was computed is an accident of Maude's fair rewriting.
        let body = if kind == "frewrite" { without_sorts(&body) } else { body };
        return Answer { command, solutions: Vec::new(), rest: tight(&body) };
    }
    // At the bound, whether a state is final is seen from its first step, which is added: which one is first is open.
    let open = kind == "search" && command.starts_with("search [") && command.contains(" =>! ");
    let mut solutions = Vec::new();
    let mut rest = String::new();
    let mut current: Option<Vec<String>> = None;
    let close = |current: &mut Option<Vec<String>>, solutions: &mut Vec<String>| {
        if let Some(mut lines) = current.take() {
            lines.sort();
            solutions.push(lines.join(" "));
        }
    };
    for line in body.lines() {
        if line.starts_with("Solution ") || line.starts_with("Matcher ") {
            close(&mut current, &mut solutions);
            current = Some(Vec::new());
        } else if line.is_empty() || line.starts_with("No ") {
            close(&mut current, &mut solutions);
            rest.push_str(&tight(line));
        } else if let Some(lines) = &mut current {
            if !line.starts_with("states:") {
                lines.push(tight(line));
            }
        } else if !(open && line.starts_with("states:")) {
            rest.push_str(&tight(line));
        }
    }
    close(&mut current, &mut solutions);
    solutions.sort();
    Answer { command, solutions, rest }
}

fn without_sorts(body: &str) -> String {
    body.lines()
        .map(|line| match line.strip_prefix("result ").and_then(|line| line.split_once(": ")) {
            Some((_, term)) => format!("result: {term}\n"),
            None => format!("{line}\n"),
        })
        .collect()
}
