//! Files and commands, as Maude takes them: modules are learned, commands are carried out, and what they print has
//! Maude's form.

use std::cell::Cell;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use model::{Missing, Text, Texts};
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Diagnostic, FileId, Sources, Span};

use crate::engine::code::{Code, Compiled};
use crate::engine::rewrite::{Arrow, Search};
use crate::engine::{Engine, Limits, Stop};
use crate::grammar::{Condition, Goal, Reading};
use crate::messages::{cannot_read, two_readings};
use crate::modules::{Broken, Database, Module};
use crate::names::Name;
use crate::print::{self, Style};
use crate::signature::Theory;
use crate::syntax::lexer::Token;
use crate::syntax::parser;
use crate::syntax::tree::{CommandText, Item};
use crate::terms::{TermId, Terms};

/// The built-in modules.
const PRELUDE: &str = include_str!("prelude/prelude.maude");
/// The modules of `load model-checker`.
const MODEL_CHECKER: &str = include_str!("prelude/model_checker.maude");

/// The modules of the prelude where it is the first text, read once for all sessions; `BOOL` and `NAT` are flat already,
/// because nearly every module needs them.
static BUILT_IN: LazyLock<(FileId, Database)> = LazyLock::new(|| {
    let mut sources = Sources::new();
    let file = sources.add_given("prelude.maude", PRELUDE);
    let (items, _) = parser::parse(&sources, file);
    let mut database = Database::default();
    for item in items {
        match item {
            Item::Module(module) => database.add_module(module),
            Item::View(view) => database.add_view(view),
            Item::Command(_) | Item::Load(..) => {}
        }
    }
    for name in ["BOOL", "NAT"] {
        let flat = database.module(Name::new(name), None, &sources);
        debug_assert!(flat.is_ok(), "{:?}", database.diagnostics);
    }
    (file, database)
});

/// How deep files may load each other.
const DEEPEST_LOAD: usize = 40;

/// What `set show` is about, apart from what has a meaning here.
const SHOWN: [&str; 5] = ["advise", "advisories", "gc", "loop", "resources"];
/// What `set print` is about, apart from what has a meaning here.
const PRINTED: [&str; 12] = [
    "graph",
    "conceal",
    "rat",
    "rational",
    "color",
    "attribute",
    "constants",
    "combine",
    "with",
    "hooks",
    "dag",
    "attributes",
];

/// What a session says.
#[derive(Debug)]
pub enum Event {
    /// What a command prints.
    Output(String),
    /// What is wrong, or suspicious.
    Diagnostic(Box<Diagnostic>),
}

/// What can be set on and off.
#[derive(Clone, Copy, Debug)]
struct Settings {
    timing: bool,
    stats: bool,
    command: bool,
    breakdown: bool,
    style: Style,
}

/// What `continue` goes on with.
#[derive(Debug)]
enum Last {
    Nothing,
    Rewrite { engine: Box<Engine>, module: Arc<Module>, term: TermId, fair: Option<u64> },
    Search { engine: Box<Engine>, module: Arc<Module>, search: Box<Search>, given: usize, over: bool },
    Match { rest: Vec<String>, given: usize },
}

/// A module with its code, and the tokens that follow its name.
type InModule<'t> = (Arc<Module>, Arc<Code>, &'t [Token]);

/// Two bounds, and the tokens that follow them.
type Bounds<'t> = (Option<u64>, Option<u64>, &'t [Token]);

/// Modules and what was done with them.
#[derive(Debug)]
pub struct Session {
    /// The texts.
    pub sources: Sources,
    /// The modules.
    pub database: Database,
    /// The module that commands are about.
    pub current: Option<Name>,
    /// How far computations go.
    pub limits: Limits,
    settings: Settings,
    codes: FxHashMap<Name, (Arc<Module>, Arc<Code>)>,
    last: Last,
    loading: Vec<String>,
    loaded: FxHashSet<String>,
    prelude: Option<FileId>,
    main: Option<FileId>,
    /// The modules that were written, in order.
    pub written: Vec<Name>,
    /// Whether garbage is collected whenever it can be: for tests.
    pub stress: bool,
    /// Whether a command was ended by a limit.
    pub limited: Cell<bool>,
    /// Whether only modules are learned, and no command is carried out.
    pub silent: bool,
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    /// A session that knows the prelude.
    pub fn new() -> Self {
        Self::with_sources(Sources::new())
    }

    /// The same, with texts that are known already.
    pub fn with_sources(sources: Sources) -> Self {
        let settings =
            Settings { timing: true, stats: true, command: true, breakdown: false, style: Style::default() };
        let mut session = Self {
            sources,
            database: Database::default(),
            current: None,
            limits: Limits::default(),
            settings,
            codes: FxHashMap::default(),
            last: Last::Nothing,
            loading: Vec::new(),
            loaded: FxHashSet::default(),
            prelude: None,
            main: None,
            written: Vec::new(),
            stress: false,
            limited: Cell::new(false),
            silent: false,
        };
        let file = session.sources.add_given("prelude.maude", PRELUDE);
        session.prelude = Some(file);
        let (known, database) = &*BUILT_IN;
        if *known == file {
            session.database = database.clone();
        } else {
            session.learn(file);
        }
        session.database.automatic = vec![Name::new("BOOL")];
        session.database.last = None;
        session.current = Some(Name::new("CONVERSION"));
        session
    }

    /// The first text that was taken.
    pub fn main_file(&self) -> FileId {
        self.main.or(self.prelude).expect("the prelude is there")
    }

    /// Whether a text is one of the built-in ones.
    pub fn is_builtin(&self, file: FileId) -> bool {
        self.sources.is_given(file)
    }

    /// Learns built-in modules.
    fn learn(&mut self, file: FileId) {
        let (items, diagnostics) = parser::parse(&self.sources, file);
        debug_assert!(diagnostics.is_empty(), "{diagnostics:?}");
        for item in items {
            match item {
                Item::Module(module) => self.database.add_module(module),
                Item::View(view) => self.database.add_view(view),
                Item::Command(command) => {
                    self.set(&command.tokens);
                }
                Item::Load(..) => {}
            }
        }
    }

    /// Takes a text: learns its modules, carries out its commands.
    pub fn take(&mut self, text: &Text, texts: &dyn Texts, tell: &mut dyn FnMut(&Sources, Event)) {
        let file = self.sources.add(text.name.clone(), text.text.clone());
        self.main.get_or_insert(file);
        self.take_file(file, texts, tell);
    }

    fn take_file(&mut self, file: FileId, texts: &dyn Texts, tell: &mut dyn FnMut(&Sources, Event)) {
        let name = self.sources.name(file).to_owned();
        self.loading.push(name);
        let (items, diagnostics) = parser::parse(&self.sources, file);
        for diagnostic in diagnostics {
            tell(&self.sources, Event::Diagnostic(Box::new(diagnostic)));
        }
        for item in items {
            match item {
                Item::Module(module) => {
                    let name = module.name;
                    if let Some(known) = self.database.text(name) {
                        let warning = if self.is_builtin(known.name_span.file) {
                            Diagnostic::warning(format!(
                                "`{name}` takes the place of the built-in module of this name"
                            ))
                            .label(module.name_span, "here")
                        } else {
                            Diagnostic::warning(format!(
                                "`{name}` takes the place of an earlier module of this name"
                            ))
                            .label(module.name_span, "this one counts from here on")
                            .label(known.name_span, "the earlier one")
                        };
                        tell(&self.sources, Event::Diagnostic(Box::new(warning)));
                        self.codes.clear();
                    }
                    self.database.add_module(module);
                    self.current = Some(name);
                    self.written.retain(|&other| other != name);
                    self.written.push(name);
                    // Mistakes are told where they are made, not where they are used.
                    let _ = self.database.module(name, None, &self.sources);
                }
                Item::View(view) => {
                    self.codes.clear();
                    self.database.add_view(view);
                }
                Item::Load(name, once) => self.load(&name, once, texts, tell),
                Item::Command(command) if self.silent => {
                    if command.tokens[0].is("set") {
                        self.set(&command.tokens);
                    }
                }
                Item::Command(command) => {
                    let result = self.command(&command, tell);
                    if let Err(Problem::Told(diagnostic)) = result {
                        self.database.diagnostics.push(*diagnostic);
                    }
                }
            }
            for diagnostic in std::mem::take(&mut self.database.diagnostics) {
                tell(&self.sources, Event::Diagnostic(Box::new(diagnostic)));
            }
        }
        self.loading.pop();
    }

    fn load(&mut self, name: &Token, once: bool, texts: &dyn Texts, tell: &mut dyn FnMut(&Sources, Event)) {
        let wanted = name.text();
        let plain = wanted.strip_suffix(".maude").unwrap_or(wanted);
        match plain {
            "prelude" | "smt" | "socket" | "file" | "time" | "linear" | "machine-int" | "term-order"
            | "metaInterpreter"
                if plain == "prelude" =>
            {
                return;
            }
            "model-checker" => {
                if self.database.text(Name::new("MODEL-CHECKER")).is_none() {
                    let last = (self.database.last, self.current);
                    let file = self.sources.add_given("model-checker.maude", MODEL_CHECKER);
                    self.learn(file);
                    (self.database.last, _) = last;
                    self.current = Some(Name::new("MODEL-CHECKER"));
                }
                return;
            }
            _ => {}
        }
        let from = self.loading.last().cloned().unwrap_or_default();
        if self.loading.len() > DEEPEST_LOAD {
            let error =
                Diagnostic::error("files load each other without end").label(name.span, "by way of this");
            tell(&self.sources, Event::Diagnostic(Box::new(error)));
            return;
        }
        let mut missing = None;
        for candidate in [wanted.to_owned(), format!("{plain}.maude")] {
            match texts.find(&candidate, &from) {
                Ok(found) => {
                    let known = self.loaded.contains(&found.text.name);
                    if !(once && known) {
                        self.loaded.insert(found.text.name.clone());
                        self.take(&found.text, texts, tell);
                    }
                    return;
                }
                Err(reason) => missing = missing.or(Some(reason)),
            }
        }
        let error = match missing {
            Some(Missing::Unreadable(reason)) => {
                Diagnostic::error(format!("can't read {wanted}: {reason}")).label(name.span, "loaded here")
            }
            Some(Missing::NotFound { searched, there }) => {
                let near = source::closest(wanted, there.iter().map(String::as_str));
                let place =
                    if searched.is_empty() { String::new() } else { format!(" in {}", searched.join(", ")) };
                Diagnostic::error(format!("there is no file {wanted}{place}"))
                    .label(name.span, "loaded here")
                    .maybe_help(near.map(|near| format!("did you mean `{near}`?")))
            }
            None => Diagnostic::error(format!("there is no file {wanted}")).label(name.span, "loaded here"),
        };
        tell(&self.sources, Event::Diagnostic(Box::new(error)));
    }

    /// A module that commands can be about, with its code.
    pub fn module(&mut self, name: Name, span: Option<Span>) -> Result<(Arc<Module>, Arc<Code>), Broken> {
        if let Some(known) = self.codes.get(&name) {
            return Ok(known.clone());
        }
        let module = self.database.module(name, span, &self.sources)?;
        let code = Arc::new(Code::new(&module));
        self.codes.insert(name, (module.clone(), code.clone()));
        Ok((module, code))
    }

    /// `set … on`, `set … off`.
    ///
    /// Gives whether there is such an option.
    fn set(&mut self, tokens: &[Token]) -> bool {
        let words: Vec<&str> = tokens.iter().map(Token::text).collect();
        let on = words.last() == Some(&"on");
        if !on && words.last() != Some(&"off") {
            return false;
        }
        match words.get(1..words.len().saturating_sub(1)).unwrap_or_default() {
            ["show", "timing"] => self.settings.timing = on,
            ["show", "stats"] => self.settings.stats = on,
            ["show", "command"] => self.settings.command = on,
            ["show", "breakdown"] => self.settings.breakdown = on,
            ["print", "mixfix"] => self.settings.style.mixfix = on,
            ["print", "flat"] => self.settings.style.flat = on,
            ["print", "format"] => self.settings.style.format = on,
            ["print", "number"] => self.settings.style.number = on,
            ["print", "with", "parentheses"] | ["print", "parens"] => self.settings.style.parentheses = on,
            ["oo", "include", _] => {}
            ["include" | "protect" | "extend", module] => {
                let name = Name::new(module);
                self.database.automatic.retain(|&other| other != name);
                if on {
                    self.database.automatic.push(name);
                }
            }
            // Known to Maude, without a meaning here.
            ["trace" | "break" | "profile" | "clear" | "verbose" | "auto", ..] => {}
            ["show", what, ..] => return SHOWN.contains(what),
            ["print", what, ..] => return PRINTED.contains(what),
            _ => return false,
        }
        true
    }

    fn command(
        &mut self,
        command: &CommandText,
        tell: &mut dyn FnMut(&Sources, Event),
    ) -> Result<(), Problem> {
        let tokens = &command.tokens;
        let start = Instant::now();
        let mut out = String::new();
        let result = match tokens[0].text() {
            "set" => match self.set(tokens) {
                true => Ok(()),
                false => {
                    let warning = Diagnostic::warning("there is no such option")
                        .label(command.span, "ignored")
                        .help("`set show …`, `set print …`, `set trace …` and `set include …` are known, each `on` or `off`");
                    Err(Problem::Told(Box::new(warning)))
                }
            },
            "select" => match tokens.get(1) {
                Some(name) => {
                    self.database.module(name.name, Some(name.span), &self.sources)?;
                    self.current = Some(name.name);
                    Ok(())
                }
                None => Err(Problem::at(command.span, "the name of a module is missing")),
            },
            "red" | "reduce" => self.reduce(tokens, start, &mut out),
            "rew" | "rewrite" | "erew" | "erewrite" => self.rewrite(tokens, false, start, &mut out),
            "frew" | "frewrite" => self.rewrite(tokens, true, start, &mut out),
            "search" => self.search(tokens, start, &mut out),
            "match" => self.match_command(tokens, false, start, &mut out),
            "xmatch" => self.match_command(tokens, true, start, &mut out),
            "parse" => self.parse(tokens, &mut out),
            "continue" | "cont" => self.go_on(tokens, start, &mut out),
            "show" => crate::show::show(self, tokens, command.span, &mut out),
            "trace" | "do" | "debug" | "loop" | "step" => Ok(()),
            other => Err(Problem::at(tokens[0].span, format!("the command `{other}` is not supported"))),
        };
        if !out.is_empty() {
            tell(&self.sources, Event::Output(out));
        }
        result
    }

    /// Takes `in MODULE :` off the front, which makes it the current module.
    pub(crate) fn in_module<'t>(&mut self, tokens: &'t [Token]) -> Result<InModule<'t>, Problem> {
        let mut rest = tokens;
        if tokens.first().is_some_and(|token| token.is("in"))
            && let Some(colon) = tokens.iter().position(|token| token.is(":")).filter(|&colon| colon > 1)
        {
            let inner = &tokens[1..colon];
            if let [name] = inner {
                self.database.module(name.name, Some(name.span), &self.sources)?;
                self.current = Some(name.name);
            } else {
                let expression = parser::module_expression(inner).map_err(Problem::Told)?;
                let module = self.database.evaluate(&expression, &[], &self.sources)?;
                self.current = Some(module.name);
                self.codes.entry(module.name).or_insert_with(|| {
                    let code = Arc::new(Code::new(&module));
                    (module, code)
                });
            }
            rest = &tokens[colon + 1..];
        }
        let Some(name) = self.current else {
            return Err(Problem::Told(Box::new(Diagnostic::error("there is no module yet"))));
        };
        let span = tokens.first().map(|token| token.span);
        let (module, code) = self.module(name, span)?;
        Ok((module, code, rest))
    }

    /// Takes `[n, m]` off the front.
    fn bounds<'t>(&mut self, tokens: &'t [Token]) -> Result<Bounds<'t>, Problem> {
        if !tokens.first().is_some_and(|token| token.is("[")) || self.begins_with_bracket(tokens) {
            return Ok((None, None, tokens));
        }
        let Some(close) = tokens.iter().position(|token| token.is("]")) else {
            return Err(Problem::at(tokens[0].span, "`]` is missing"));
        };
        let inner = &tokens[1..close];
        let comma = inner.iter().position(|token| token.is(",")).unwrap_or(inner.len());
        let number = |tokens: &[Token]| -> Result<Option<u64>, Problem> {
            match tokens {
                [] => Ok(None),
                [token] => match token.text().parse() {
                    Ok(number) => Ok(Some(number)),
                    Err(_) => {
                        Err(Problem::at(token.span, format!("expected a number, found `{}`", token.text())))
                    }
                },
                [first, ..] => Err(Problem::at(first.span, "expected one number")),
            }
        };
        let first = number(&inner[..comma])?;
        let second = number(inner.get(comma + 1..).unwrap_or_default())?;
        Ok((first, second, &tokens[close + 1..]))
    }

    /// Whether a bracket begins a term: it has no number in it, and the current module has an operator that begins so.
    fn begins_with_bracket(&mut self, tokens: &[Token]) -> bool {
        let number = |token: &Token| token.is(",") || token.text().parse::<u64>().is_ok();
        let mut inner = tokens[1..].iter().take_while(|token| !token.is("]"));
        let Some(name) = self.current.filter(|_| !inner.all(number)) else { return false };
        let Ok((module, _)) = self.module(name, None) else { return false };
        let opens = |part: &Option<Name>| part.is_some_and(|part| part.text() == "[");
        module.signature.symbols.iter().any(|symbol| symbol.mixfix.first().is_some_and(opens))
    }

    /// Reads something in a module; the terms are in a table of their own.
    pub(crate) fn read(
        &mut self,
        module: &Arc<Module>,
        terms: &mut Terms,
        goal: Goal,
        tokens: &[Token],
        what: &str,
    ) -> Result<Reading, Problem> {
        let read = module.grammar().read(&module.signature, terms, &module.variables, goal, tokens);
        match read {
            Ok(reading) => {
                if let Some(ambiguous) = reading.ambiguous {
                    self.database.diagnostics.push(two_readings(&module.signature, terms, tokens, ambiguous));
                }
                Ok(reading)
            }
            Err(no) => Err(Problem::Told(Box::new(cannot_read(&no, tokens, module, what)))),
        }
    }

    fn engine(&self, code: &Arc<Code>, terms: Terms) -> Engine {
        let mut engine = Engine::new(code.clone());
        engine.terms = terms;
        engine.keep_all();
        engine.limits = self.limits;
        engine.stress = self.stress;
        engine.meta = Some(Box::new(crate::meta::Meta::new(self.database.clone())));
        engine
    }

    pub(crate) fn text(&self, module: &Module, terms: &Terms, term: TermId) -> String {
        print::with_variables(&module.signature, terms, term, self.settings.style, &module.variables)
    }

    fn rule_off(&self, out: &mut String) {
        out.push_str(&"=".repeat(42));
        out.push('\n');
    }

    fn statistics(&self, before: &str, engine: &Engine, start: Instant, out: &mut String) {
        if !self.settings.stats {
            return;
        }
        out.push_str(before);
        out.push_str(&format!("rewrites: {}", engine.rewrites));
        if self.settings.timing {
            let elapsed = start.elapsed();
            let milliseconds = elapsed.as_millis();
            let rate = match milliseconds {
                0 => "~".to_owned(),
                _ => format!("{}", (engine.rewrites as f64 / elapsed.as_secs_f64()) as u64),
            };
            out.push_str(&format!(
                " in {milliseconds}ms cpu ({milliseconds}ms real) ({rate} rewrites/second)"
            ));
        }
        out.push('\n');
    }

    fn result(&self, module: &Module, engine: &Engine, term: TermId, out: &mut String) {
        let sort = module.signature.sort_name(engine.terms.sort(term));
        out.push_str(&format!("result {sort}: {}\n", self.text(module, &engine.terms, term)));
    }

    /// What a limit or an error looks like.
    fn stopped(&self, stop: Stop, tokens: &[Token]) -> Problem {
        self.limited.set(self.limited.get() || stop.limit);
        let whole = tokens[0].span.to(tokens[tokens.len() - 1].span);
        Problem::Told(Box::new(stopped(stop, whole)))
    }

    fn reduce(&mut self, tokens: &[Token], start: Instant, out: &mut String) -> Result<(), Problem> {
        let (module, code, rest) = self.in_module(&tokens[1..])?;
        let mut terms = code.terms.clone();
        let reading = self.read(&module, &mut terms, Goal::Term, rest, "the term")?;
        let term = reading.terms[0];
        if self.settings.command {
            self.rule_off(out);
            out.push_str(&format!("reduce in {} : {} .\n", module.name, self.text(&module, &terms, term)));
        }
        let mut engine = self.engine(&code, terms);
        let result = engine.reduce(term).map_err(|stop| self.stopped(stop, tokens))?;
        self.statistics("", &engine, start, out);
        self.result(&module, &engine, result, out);
        if let Some(operator) = too_large(&module, &engine.terms, result) {
            let whole = tokens[0].span.to(tokens[tokens.len() - 1].span);
            let warning = Diagnostic::warning("a number is too large to be computed")
                .label(whole, format!("`{operator}` is left as it is in the result"));
            self.database.diagnostics.push(warning);
        }
        Ok(())
    }

    fn rewrite(
        &mut self,
        tokens: &[Token],
        fair: bool,
        start: Instant,
        out: &mut String,
    ) -> Result<(), Problem> {
        let (most, each, rest) = self.bounds(&tokens[1..])?;
        let (module, code, rest) = self.in_module(rest)?;
        let mut terms = code.terms.clone();
        let reading = self.read(&module, &mut terms, Goal::Term, rest, "the term")?;
        let term = reading.terms[0];
        if self.settings.command {
            self.rule_off(out);
            let bounds = match (most, each) {
                (None, None) => String::new(),
                (Some(most), None) => format!("[{most}] "),
                (most, Some(each)) => {
                    format!("[{}, {each}] ", most.map_or(String::new(), |most| most.to_string()))
                }
            };
            let name = match (fair, tokens[0].text().starts_with('e')) {
                (true, _) => "frewrite",
                (false, true) => "erewrite",
                (false, false) => "rewrite",
            };
            out.push_str(&format!(
                "{name} {bounds}in {} : {} .\n",
                module.name,
                self.text(&module, &terms, term)
            ));
        }
        let mut engine = self.engine(&code, terms);
        engine.reset_turns();
        let each = fair.then(|| each.unwrap_or(1));
        let done = match each {
            Some(each) => engine.fair_rewrite(term, most, each),
            None => engine.rewrite(term, most),
        };
        let (result, _) = done.map_err(|stop| self.stopped(stop, tokens))?;
        self.statistics("", &engine, start, out);
        self.result(&module, &engine, result, out);
        engine.kept.push(result);
        self.last = Last::Rewrite { engine: Box::new(engine), module, term: result, fair: each };
        Ok(())
    }

    fn search(&mut self, tokens: &[Token], start: Instant, out: &mut String) -> Result<(), Problem> {
        let (most, steps, rest) = self.bounds(&tokens[1..])?;
        let (module, code, rest) = self.in_module(rest)?;
        let mut terms = code.terms.clone();
        let reading =
            self.read(&module, &mut terms, Goal::Search, rest, "the search").map_err(|problem| {
                let has = rest.iter().any(|token| matches!(token.text(), "=>1" | "=>+" | "=>*" | "=>!"));
                match problem {
                    Problem::Told(diagnostic) if !has => Problem::Told(Box::new(
                        diagnostic.help("a search has an arrow: `=>1`, `=>+`, `=>*` or `=>!`"),
                    )),
                    other => other,
                }
            })?;
        let arrow_text = reading.word.map_or("=>*", |word| word.text());
        let arrow = match arrow_text {
            "=>1" => Arrow::One,
            "=>+" => Arrow::Some,
            "=>!" => Arrow::Final,
            _ => Arrow::Any,
        };
        if self.settings.command {
            self.rule_off(out);
            let bounds = match (most, steps) {
                (None, None) => String::new(),
                (Some(most), None) => format!("[{most}] "),
                (most, Some(steps)) => {
                    format!("[{}, {steps}] ", most.map_or(String::new(), |most| most.to_string()))
                }
            };
            let (from, to) = (reading.terms[0], reading.terms[1]);
            let mut such = String::new();
            if !reading.conditions.is_empty() {
                such = format!(" such that {}", self.conditions_text(&module, &terms, &reading.conditions));
            }
            out.push_str(&format!(
                "search {bounds}in {} : {} {arrow_text} {}{such} .\n",
                module.name,
                self.text(&module, &terms, from),
                self.text(&module, &terms, to)
            ));
        }
        check_pattern(&module, &terms, &reading, rest)?;
        let (pattern, code) = compile_pattern(&module, &terms, &reading, false);
        let mut engine = self.engine(&code, code.terms.clone());
        let first = engine.reduce(reading.terms[0]).map_err(|stop| self.stopped(stop, tokens))?;
        let steps = steps.map(|steps| steps as usize);
        let mut search = Search::new(first, arrow, steps, Arc::new(pattern));
        let mut given = 0;
        let over = self.solutions(&module, &mut engine, &mut search, &mut given, most, start, out);
        let over = over.map_err(|stop| self.stopped(stop, tokens))?;
        self.last = Last::Search { engine: Box::new(engine), module, search: Box::new(search), given, over };
        Ok(())
    }

    /// Prints solutions, so many at most; whether there are no more.
    #[allow(clippy::too_many_arguments)]
    fn solutions(
        &self,
        module: &Module,
        engine: &mut Engine,
        search: &mut Search,
        given: &mut usize,
        most: Option<u64>,
        start: Instant,
        out: &mut String,
    ) -> Result<bool, Stop> {
        let mut left = most.unwrap_or(u64::MAX);
        while left > 0 {
            let Some(solution) = search.next(engine)? else {
                out.push_str(if *given == 0 { "\nNo solution.\n" } else { "\nNo more solutions.\n" });
                self.statistics(&format!("states: {}  ", search.states.len()), engine, start, out);
                return Ok(true);
            };
            left -= 1;
            *given += 1;
            out.push_str(&format!("\nSolution {} (state {})\n", *given, solution.state));
            self.statistics(&format!("states: {}  ", solution.states), engine, start, out);
            self.substitution(module, &engine.terms, search.pattern(), &solution.values, out);
        }
        Ok(false)
    }

    fn substitution(
        &self,
        module: &Module,
        terms: &Terms,
        pattern: &Compiled,
        values: &[TermId],
        out: &mut String,
    ) {
        let mut any = false;
        for (&(name, sort), &value) in pattern.variables.iter().zip(values) {
            if value == TermId::NONE {
                continue;
            }
            any = true;
            // Declared variables are shown by their names alone.
            match module.variables.get(&name) {
                Some(&declared) if declared == sort => out.push_str(&format!("{name} --> ")),
                _ => out.push_str(&format!("{name}:{} --> ", module.signature.sort_name(sort))),
            }
            out.push_str(&self.text(module, terms, value));
            out.push('\n');
        }
        if !any {
            out.push_str("empty substitution\n");
        }
    }

    pub(crate) fn conditions_text(&self, module: &Module, terms: &Terms, conditions: &[Condition]) -> String {
        let show = |term: TermId| self.text(module, terms, term);
        let parts: Vec<String> = conditions
            .iter()
            .map(|condition| match *condition {
                Condition::Equal(one, two) => format!("{} = {}", show(one), show(two)),
                Condition::Assign(one, two) => format!("{} := {}", show(one), show(two)),
                Condition::Rewrite(one, two) => format!("{} => {}", show(one), show(two)),
                Condition::Sort(one, sort) => format!("{} : {}", show(one), module.signature.sort_name(sort)),
                Condition::Holds(one) => format!("{} = true", show(one)),
            })
            .collect();
        parts.join(" /\\ ")
    }

    fn match_command(
        &mut self,
        tokens: &[Token],
        extension: bool,
        start: Instant,
        out: &mut String,
    ) -> Result<(), Problem> {
        let (most, _, rest) = self.bounds(&tokens[1..])?;
        let (module, code, rest) = self.in_module(rest)?;
        let mut terms = code.terms.clone();
        let reading =
            self.read(&module, &mut terms, Goal::Match, rest, "the match").map_err(
                |problem| match problem {
                    Problem::Told(diagnostic) if !rest.iter().any(|token| token.is("<=?")) => {
                        Problem::Told(Box::new(diagnostic.help("a match has `<=?` between pattern and term")))
                    }
                    other => other,
                },
            )?;
        let (pattern_term, subject) = (reading.terms[0], reading.terms[1]);
        if self.settings.command {
            self.rule_off(out);
            let bounds = most.map_or(String::new(), |most| format!("[{most}] "));
            let mut such = String::new();
            if !reading.conditions.is_empty() {
                such = format!(" such that {}", self.conditions_text(&module, &terms, &reading.conditions));
            }
            out.push_str(&format!(
                "{}match {bounds}in {} : {} <=? {}{such} .\n",
                if extension { "x" } else { "" },
                module.name,
                self.text(&module, &terms, pattern_term),
                self.text(&module, &terms, subject)
            ));
        }
        let swapped = Reading { terms: vec![subject, pattern_term], ..reading };
        check_pattern(&module, &terms, &swapped, rest)?;
        let (pattern, code) = compile_pattern(&module, &terms, &swapped, extension);
        let mut engine = self.engine(&code, code.terms.clone());
        let mut found = Vec::new();
        let limit = most.map_or(usize::MAX, |most| most as usize);
        let partly = terms.symbol(pattern_term).or_else(|| terms.symbol(subject)).is_some_and(|top| {
            let theory = module.signature.symbol(top).theory;
            matches!(theory, Theory::List | Theory::Bag | Theory::Iter)
        });
        engine.find_sorts(subject).map_err(|stop| self.stopped(stop, tokens))?;
        let outcome = engine.matches(subject, &pattern, &mut |engine, values, portion| {
            let mut text = String::new();
            // Only operators whose arguments can be matched in part tell which part it was.
            if extension && partly {
                let shown = match portion {
                    None => "(whole)".to_owned(),
                    Some(portion) => self.text(&module, &engine.terms, portion),
                };
                text.push_str(&format!("Matched portion = {shown}\n"));
            }
            self.substitution(&module, &engine.terms, &pattern, values, &mut text);
            found.push(text);
            false
        });
        outcome.map_err(|stop| self.stopped(stop, tokens))?;
        if self.settings.timing {
            let milliseconds = start.elapsed().as_millis();
            out.push_str(&format!("Decision time: {milliseconds}ms cpu ({milliseconds}ms real)\n"));
        }
        if found.is_empty() {
            out.push_str("No match.\n");
            return Ok(());
        }
        let rest = if found.len() > limit { found.split_off(limit) } else { Vec::new() };
        for (at, text) in found.iter().enumerate() {
            out.push_str(&format!("\nMatcher {}\n{text}", at + 1));
        }
        self.last = Last::Match { rest, given: found.len() };
        Ok(())
    }

    fn parse(&mut self, tokens: &[Token], out: &mut String) -> Result<(), Problem> {
        let (module, code, rest) = self.in_module(&tokens[1..])?;
        let mut terms = code.terms.clone();
        terms.as_written = true;
        let reading = self.read(&module, &mut terms, Goal::Term, rest, "the term")?;
        let term = reading.terms[0];
        let sort = module.signature.sort_name(terms.sort(term));
        out.push_str(&format!("{sort}: {}\n", self.text(&module, &terms, term)));
        Ok(())
    }

    fn go_on(&mut self, tokens: &[Token], start: Instant, out: &mut String) -> Result<(), Problem> {
        let most = match tokens.get(1) {
            None => None,
            Some(token) => match token.text().parse::<u64>() {
                Ok(number) => Some(number),
                Err(_) => return Err(Problem::at(token.span, "expected a number")),
            },
        };
        let mut last = std::mem::replace(&mut self.last, Last::Nothing);
        let result = match &mut last {
            Last::Nothing => Err(Problem::at(tokens[0].span, "there is nothing to continue")),
            Last::Rewrite { engine, module, term, fair } => {
                engine.rewrites = 0;
                let done = match fair {
                    Some(each) => engine.fair_rewrite(*term, most, *each),
                    None => engine.rewrite(*term, most),
                };
                match done {
                    Ok((result, _)) => {
                        *term = result;
                        engine.kept.push(result);
                        self.statistics("", engine, start, out);
                        self.result(module, engine, result, out);
                        Ok(())
                    }
                    Err(stop) => Err(self.stopped(stop, tokens)),
                }
            }
            Last::Search { over: true, .. } => {
                Err(Problem::at(tokens[0].span, "there is nothing to continue"))
            }
            Last::Search { engine, module, search, given, over } => {
                match self.solutions(module, engine, search, given, most, start, out) {
                    Ok(ended) => {
                        *over = ended;
                        Ok(())
                    }
                    Err(stop) => Err(self.stopped(stop, tokens)),
                }
            }
            Last::Match { rest, given, .. } => {
                let count = most.map_or(rest.len(), |most| (most as usize).min(rest.len()));
                if count == 0 {
                    out.push_str("No more solutions.\n");
                }
                for text in rest.drain(..count) {
                    *given += 1;
                    out.push_str(&format!("\nMatcher {}\n{text}", *given));
                }
                Ok(())
            }
        };
        self.last = last;
        result
    }

    /// The states of the last search.
    pub(crate) fn last_search(&self) -> Option<(&Module, &Engine, &Search)> {
        match &self.last {
            Last::Search { engine, module, search, .. } => Some((module, engine, search)),
            _ => None,
        }
    }
}

/// A pattern may have variables; the term that is searched from may not use them, and conditions need values.
fn check_pattern(module: &Module, terms: &Terms, reading: &Reading, tokens: &[Token]) -> Result<(), Problem> {
    let mut bound = Vec::new();
    crate::modules::variables_of(terms, reading.terms[1], &mut bound);
    for (condition, &(from, to)) in reading.conditions.iter().zip(&reading.condition_places) {
        let (used, bound_here): (Vec<TermId>, Option<TermId>) = match *condition {
            Condition::Equal(one, two) => (vec![one, two], None),
            Condition::Holds(one) | Condition::Sort(one, _) => (vec![one], None),
            Condition::Assign(pattern, value) | Condition::Rewrite(value, pattern) => {
                (vec![value], Some(pattern))
            }
        };
        for term in used {
            let mut variables = Vec::new();
            crate::modules::variables_of(terms, term, &mut variables);
            if let Some(&free) = variables.iter().find(|variable| !bound.contains(variable)) {
                let name = print::plain(&module.signature, terms, free);
                let span = tokens[from].span.to(tokens[to - 1].span);
                return Err(Problem::at(span, format!("variable `{name}` has no value in the condition")));
            }
        }
        if let Some(pattern) = bound_here {
            crate::modules::variables_of(terms, pattern, &mut bound);
        }
    }
    Ok(())
}

/// Compiles the pattern of a command, in code that has its terms.
fn compile_pattern(
    module: &Arc<Module>,
    terms: &Terms,
    reading: &Reading,
    extension: bool,
) -> (Compiled, Arc<Code>) {
    let mut code = Code::with_terms(module, terms.clone());
    let pattern = code.pattern(reading.terms[1], &reading.conditions, extension);
    (pattern, Arc::new(code))
}

/// A power or shift of numbers in a result, whose value has too many digits.
fn too_large(module: &Module, terms: &Terms, result: TermId) -> Option<Name> {
    let successor = module.signature.special("SuccSymbol")?;
    let mut todo = vec![result];
    let mut seen = FxHashSet::default();
    while let Some(term) = todo.pop() {
        if !seen.insert(term) {
            continue;
        }
        let Some(symbol) = terms.symbol(term) else { continue };
        let data = module.signature.symbol(symbol);
        let arguments = match data.theory {
            Theory::Data | Theory::Iter => continue,
            _ => terms.arguments(term),
        };
        let numbers = arguments.iter().all(|&argument| terms.symbol(argument) == Some(successor));
        if numbers && data.is_special("NumberOpSymbol") && matches!(data.name.text(), "_^_" | "_<<_") {
            return Some(data.name);
        }
        todo.extend(arguments);
    }
    None
}

/// A computation that ended early, for people.
pub fn stopped(stop: Stop, place: Span) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(format!("the computation was ended: {}", stop.message));
    match stop.span {
        Some(span) => {
            diagnostic = diagnostic.label(span, "this was being used").label(place, "by this");
        }
        None => diagnostic = diagnostic.label(place, "while carrying this out"),
    }
    if let Some(term) = stop.term.as_ref().filter(|term| !term.is_empty()) {
        diagnostic = diagnostic.note(format!("with {term}"));
    }
    if stop.limit {
        diagnostic = diagnostic.help("do its equations and rules come to an end? --max-rewrites, --max-time and --max-memory set limits");
    }
    diagnostic
}

/// Why a command was not carried out.
#[derive(Debug)]
pub enum Problem {
    /// The database has told why.
    Broken,
    /// This is why.
    Told(Box<Diagnostic>),
}

impl Problem {
    /// A sentence about a place.
    pub fn at(span: Span, message: impl Into<String>) -> Self {
        Self::Told(Box::new(Diagnostic::error(message).label(span, "here")))
    }
}

impl Problem {
    /// What is wrong, in words.
    pub fn into_diagnostics(self, session: &mut Session) -> Vec<Diagnostic> {
        let mut all = std::mem::take(&mut session.database.diagnostics);
        if let Self::Told(diagnostic) = self {
            all.push(*diagnostic);
        }
        all
    }
}

impl From<Broken> for Problem {
    fn from(_: Broken) -> Self {
        Self::Broken
    }
}
