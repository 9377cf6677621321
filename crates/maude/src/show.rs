//! `show …`: modules, paths and graphs as text.

use source::Span;

use crate::grammar::Condition;
use crate::modules::{Module, Statement};
use crate::names::Name;
use crate::session::{Problem, Session};
use crate::syntax::lexer::Token;
use crate::syntax::tree::StatementKind;
use crate::terms::Terms;

/// Carries out `show …`.
pub fn show(session: &mut Session, tokens: &[Token], span: Span, out: &mut String) -> Result<(), Problem> {
    let words: Vec<&str> = tokens.iter().skip(1).map(Token::text).collect();
    match words[..] {
        ["path", number] => path(session, number, false, span, out),
        ["path", "labels", number] => path(session, number, true, span, out),
        ["search", "graph"] => graph(session, span, out),
        ["modules"] => {
            let mut names: Vec<&str> = session.database.names().map(Name::text).collect();
            names.sort_unstable();
            for name in names {
                let text = session.database.text(Name::new(name)).expect("it is there");
                out.push_str(&format!("{} {name}\n", text.kind.keyword()));
            }
            Ok(())
        }
        [what, ref rest @ ..] => {
            let name = match rest {
                [] => None,
                [name] => Some(Name::new(name)),
                _ => return Err(Problem::at(span, "this can't be shown")),
            };
            if let Some(name) = name {
                session.database.module(name, Some(tokens[2].span), &session.sources)?;
            }
            let name = match name.or(session.current) {
                Some(name) => name,
                None => return Err(Problem::at(span, "there is no module yet")),
            };
            let (module, _) = session.module(name, Some(span))?;
            part(session, &module, what, span, out)
        }
        [] => Err(Problem::at(span, "what is to be shown?")),
    }
}

fn part(session: &Session, module: &Module, what: &str, span: Span, out: &mut String) -> Result<(), Problem> {
    match what {
        "module" | "mod" => written(session, module, out),
        "all" => {
            let kind = module.kind;
            out.push_str(&format!("{} {} is\n", kind.keyword(), module.name));
            sorts(module, "  ", out);
            operators(module, "  ", out);
            statements(session, module, None, "  ", out);
            out.push_str(&format!("{}\n", kind.end()));
        }
        "sorts" => sorts(module, "", out),
        "ops" => operators(module, "", out),
        "mbs" => statements(session, module, Some(StatementKind::Membership), "", out),
        "eqs" => statements(session, module, Some(StatementKind::Equation), "", out),
        "rls" | "rules" => statements(session, module, Some(StatementKind::Rule), "", out),
        "vars" => {
            let mut variables: Vec<(&str, &str)> = module
                .variables
                .iter()
                .map(|(name, &sort)| (name.text(), module.signature.sort_name(sort)))
                .collect();
            variables.sort_unstable();
            for (name, sort) in variables {
                out.push_str(&format!("var {name} : {sort} .\n"));
            }
        }
        "kinds" => {
            let signature = &module.signature;
            for kind in &signature.kinds {
                out.push_str(&format!("{}:\n", signature.sort_name(kind.sorts[0])));
                for (at, &sort) in kind.sorts[1..].iter().enumerate() {
                    out.push_str(&format!("\t{}\t{}\n", at + 1, signature.sort_name(sort)));
                }
                out.push('\n');
            }
        }
        "summary" => {
            out.push_str(&format!(
                "{} {}: {} sorts, {} operators, {} statements\n",
                module.kind.keyword(),
                module.name,
                module.signature.sort_names().count(),
                module.signature.symbols.len(),
                module.statements.len()
            ));
        }
        other => {
            let near = source::closest(
                other,
                [
                    "module", "all", "sorts", "ops", "mbs", "eqs", "rls", "vars", "kinds", "path", "search",
                    "modules",
                ],
            );
            let error = source::Diagnostic::error(format!("`{other}` can't be shown"))
                .label(span, "in this command")
                .maybe_help(near.map(|near| format!("did you mean `show {near}`?")));
            return Err(Problem::Told(Box::new(error)));
        }
    }
    Ok(())
}

/// The module as it was written.
fn written(session: &Session, module: &Module, out: &mut String) {
    let Some(text) = session.database.text(module.name) else { return };
    let source = session.sources.slice(text.span);
    // Declarations begin on lines of their own.
    let (tokens, _) = crate::syntax::lexer::tokens(&session.sources, text.span.file);
    let tokens: Vec<&Token> = tokens
        .iter()
        .filter(|token| token.span.start >= text.span.start && token.span.end <= text.span.end)
        .collect();
    let _ = source;
    let mut line: Vec<&str> = Vec::new();
    let last = tokens.len() - 1;
    let begins = |at: usize| {
        let word = tokens[at].text();
        at == last
            || (at > 0
                && tokens[at - 1].is(".")
                && matches!(
                    word,
                    "sort"
                        | "sorts"
                        | "subsort"
                        | "subsorts"
                        | "op"
                        | "ops"
                        | "var"
                        | "vars"
                        | "eq"
                        | "ceq"
                        | "cq"
                        | "mb"
                        | "cmb"
                        | "rl"
                        | "crl"
                        | "pr"
                        | "protecting"
                        | "inc"
                        | "including"
                        | "ex"
                        | "extending"
                        | "gb"
                        | "class"
                        | "msg"
                        | "msgs"
                        | "subclass"
                ))
            || (at > 1 && tokens[at - 1].is("is") && line_is_header(&tokens[..at]))
    };
    for (at, token) in tokens.iter().enumerate() {
        if begins(at) && !line.is_empty() {
            out.push_str(&joined(&line));
            out.push('\n');
            line.clear();
            if at != last {
                line.push("\u{1}");
            }
        }
        line.push(token.text());
    }
    out.push_str(&joined(&line));
    out.push('\n');
}

fn line_is_header(tokens: &[&Token]) -> bool {
    !tokens.iter().any(|token| token.is("."))
}

/// Words with blanks where they were, more or less: none inside of brackets.
fn joined(words: &[&str]) -> String {
    let mut text = String::new();
    let mut before = "(";
    for &word in words {
        if word == "\u{1}" {
            text.push_str("  ");
            continue;
        }
        let tight = matches!(word, ")" | "]" | "}" | ",") || matches!(before, "(" | "[" | "{");
        if !tight && !text.is_empty() && !text.ends_with("  ") {
            text.push(' ');
        }
        text.push_str(word);
        before = word;
    }
    text
}

fn sorts(module: &Module, indent: &str, out: &mut String) {
    let signature = &module.signature;
    let imported = module.closure();
    let subsorts: Vec<(Name, Name)> = imported
        .iter()
        .flat_map(|module| &module.own_subsorts)
        .chain(&module.own_subsorts)
        .map(|&(small, large, _)| (small, large))
        .collect();
    for name in signature.sort_names() {
        out.push_str(&format!("{indent}sort {name} ."));
        let below: Vec<&str> =
            subsorts.iter().filter(|(_, large)| *large == name).map(|(small, _)| small.text()).collect();
        let above: Vec<&str> =
            subsorts.iter().filter(|(small, _)| *small == name).map(|(_, large)| large.text()).collect();
        for (names, left) in [(below, true), (above, false)] {
            if names.is_empty() {
                continue;
            }
            let plural = if names.len() > 1 { "s" } else { "" };
            let names = names.join(" ");
            let (small, large) =
                if left { (names.as_str(), name.text()) } else { (name.text(), names.as_str()) };
            out.push_str(&format!("\tsubsort{plural} {small} < {large} ."));
        }
        out.push('\n');
    }
}

fn operators(module: &Module, indent: &str, out: &mut String) {
    let signature = &module.signature;
    for symbol in &signature.symbols {
        if symbol.is_special("SortTestSymbol") {
            continue;
        }
        for profile in &symbol.profiles {
            let domain: Vec<&str> = profile.domain.iter().map(|&sort| signature.sort_name(sort)).collect();
            let mut attributes: Vec<String> = Vec::new();
            if symbol.is_assoc() {
                attributes.push("assoc".into());
            }
            if symbol.comm {
                attributes.push("comm".into());
            }
            if symbol.idem {
                attributes.push("idem".into());
            }
            if symbol.theory == crate::signature::Theory::Iter {
                attributes.push("iter".into());
            }
            if let Some(identity) = symbol.identity() {
                attributes
                    .push(format!("id: {}", crate::print::one_line(signature, &module.terms, identity)));
            }
            if profile.ctor {
                attributes.push("ctor".into());
            }
            if symbol.memo {
                attributes.push("memo".into());
            }
            if symbol.own_prec {
                attributes.push(format!("prec {}", symbol.prec));
            }
            if let Some(strategy) = &symbol.strategy {
                let numbers: Vec<String> = strategy.iter().map(u32::to_string).collect();
                attributes.push(format!("strat ({})", numbers.join(" ")));
            }
            let attributes =
                if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(" ")) };
            let space = if domain.is_empty() { "" } else { " " };
            out.push_str(&format!(
                "{indent}op {} : {}{space}-> {}{attributes} .\n",
                symbol.name,
                domain.join(" "),
                signature.sort_name(profile.range)
            ));
        }
    }
}

fn statements(
    session: &Session,
    module: &Module,
    kind: Option<StatementKind>,
    indent: &str,
    out: &mut String,
) {
    // Its own statements come first.
    let (imported, own) = module.statements.split_at(module.own_statements);
    for statement in own.iter().chain(imported) {
        if kind.is_none_or(|kind| kind == statement.kind) {
            out.push_str(indent);
            out.push_str(&statement_text(session, module, &module.terms, statement));
            out.push('\n');
        }
    }
}

/// A statement, with its label among the attributes.
pub fn statement_text(session: &Session, module: &Module, terms: &Terms, statement: &Statement) -> String {
    let show = |term| session.text(module, terms, term);
    let conditional = if statement.conditions.is_empty() { "" } else { "c" };
    let mut text = match statement.kind {
        StatementKind::Equation => {
            format!("{conditional}eq {} = {}", show(statement.left), show(statement.right))
        }
        StatementKind::Rule => {
            format!("{conditional}rl {} => {}", show(statement.left), show(statement.right))
        }
        StatementKind::Membership => {
            let sort = statement.sort.map_or("?", |sort| module.signature.sort_name(sort));
            format!("{conditional}mb {} : {sort}", show(statement.left))
        }
    };
    let conditions: &[Condition] = &statement.conditions;
    if !conditions.is_empty() {
        text.push_str(&format!(" if {}", session.conditions_text(module, terms, conditions)));
    }
    let mut attributes = Vec::new();
    if statement.otherwise {
        attributes.push("owise".to_owned());
    }
    if statement.nonexec {
        attributes.push("nonexec".to_owned());
    }
    if let Some(label) = statement.label {
        attributes.push(format!("label {label}"));
    }
    if let Some(metadata) = statement.metadata {
        attributes.push(format!("metadata {metadata}"));
    }
    if !attributes.is_empty() {
        text.push_str(&format!(" [{}]", attributes.join(" ")));
    }
    text.push_str(" .");
    text
}

fn state_number(session: &Session, number: &str, span: Span) -> Result<usize, Problem> {
    let Some((_, _, search)) = session.last_search() else {
        return Err(Problem::at(span, "there was no search yet"));
    };
    match number.parse::<usize>() {
        Ok(number) if number < search.states.len() => Ok(number),
        Ok(number) => Err(Problem::at(span, format!("the last search has no state {number}"))),
        Err(_) => Err(Problem::at(span, format!("`{number}` is not the number of a state"))),
    }
}

fn path(session: &Session, number: &str, labels: bool, span: Span, out: &mut String) -> Result<(), Problem> {
    let number = state_number(session, number, span)?;
    let (module, engine, search) = session.last_search().expect("there is one");
    let mut steps = Vec::new();
    let mut at = number;
    while let Some((parent, rule)) = search.states[at].parent {
        steps.push((at, rule));
        at = parent;
    }
    steps.reverse();
    if labels {
        if steps.is_empty() {
            out.push_str("Empty path.\n");
        }
        for (_, rule) in steps {
            let label = engine.code.rules[rule].label;
            out.push_str(label.map_or("unlabeled rule", Name::text));
            out.push('\n');
        }
        return Ok(());
    }
    let state = |number: usize, out: &mut String| {
        let term = search.states[number].term;
        let sort = module.signature.sort_name(engine.terms.sort(term));
        out.push_str(&format!("state {number}, {sort}: {}\n", session.text(module, &engine.terms, term)));
    };
    state(0, out);
    for (number, rule) in steps {
        let statement = &module.statements[engine.code.rules[rule].statement];
        out.push_str(&format!("===[ {} ]===>\n", statement_text(session, module, &module.terms, statement)));
        state(number, out);
    }
    Ok(())
}

fn graph(session: &Session, span: Span, out: &mut String) -> Result<(), Problem> {
    let Some((module, engine, search)) = session.last_search() else {
        return Err(Problem::at(span, "there was no search yet"));
    };
    for (number, state) in search.states.iter().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let sort = module.signature.sort_name(engine.terms.sort(state.term));
        out.push_str(&format!(
            "state {number}, {sort}: {}\n",
            session.text(module, &engine.terms, state.term)
        ));
        for (at, (target, rules)) in state.arcs.iter().enumerate() {
            out.push_str(&format!("arc {at} ===> state {target}"));
            for &rule in rules {
                let statement = &module.statements[engine.code.rules[rule].statement];
                out.push_str(&format!(" ({})", statement_text(session, module, &module.terms, statement)));
            }
            out.push('\n');
        }
    }
    Ok(())
}
