//! From tokens to modules, views and commands. The parser never fails: it gives what it understood, and diagnostics.

use source::{Diagnostic, FileId, Sources, Span};

use super::lexer::{self, Token};
use super::tree::*;
use crate::names::Name;

/// Words that begin a declaration in a module.
const DECLARATIONS: [&str; 41] = [
    "sort",
    "sorts",
    "subsort",
    "subsorts",
    "op",
    "ops",
    "var",
    "vars",
    "eq",
    "ceq",
    "cq",
    "mb",
    "cmb",
    "rl",
    "crl",
    "protecting",
    "pr",
    "extending",
    "ex",
    "including",
    "inc",
    "generated-by",
    "gb",
    "using",
    "us",
    "class",
    "subclass",
    "subclasses",
    "msg",
    "msgs",
    "endfm",
    "endm",
    "endfth",
    "endth",
    "endom",
    "endoth",
    "endv",
    "strat",
    "sd",
    "csd",
    "classes",
];

/// Words that begin a command, or anything else between modules.
pub const COMMANDS: [&str; 41] = [
    "red", "reduce", "rew", "rewrite", "frew", "frewrite", "erew", "erewrite", "search", "match", "xmatch",
    "parse", "show", "set", "select", "load", "in", "sload", "continue", "cont", "fmod", "mod", "omod",
    "fth", "th", "oth", "view", "eof", "quit", "q", "do", "debug", "trace", "cd", "pwd", "ls", "loop",
    "sreduce", "unify", "smod", "step",
];

/// Commands of Maude for what is not supported. They are not among the others, as they are also good names for operators.
const REFUSED: [&str; 16] = [
    "srew",
    "srewrite",
    "dsrew",
    "dsrewrite",
    "narrow",
    "vu-narrow",
    "fvu-narrow",
    "smt-search",
    "get",
    "variant",
    "irred",
    "irredundant",
    "filtered",
    "check",
    "test",
    "dump",
];

/// How deep module expressions may be nested.
const DEEPEST: usize = 100;

/// How operators are declared.
const PROFILE: &str = "an operator is declared as in `op f : A B -> C .`, a constant as in `op c : -> A .`";

/// What a file says, and what is wrong with it.
pub fn parse(sources: &Sources, file: FileId) -> (Vec<Item>, Vec<Diagnostic>) {
    let (tokens, mut diagnostics) = lexer::tokens(sources, file);
    let cut = !diagnostics.is_empty();
    let tokens = with_periods(tokens, &mut diagnostics);
    let end = sources.span(file).end;
    let mut parser =
        Parser { tokens, at: 0, end: Span { file, start: end, end }, diagnostics, cut, depth: 0 };
    let mut items = Vec::new();
    while parser.at < parser.tokens.len() {
        let before = parser.at;
        match parser.item() {
            Ok(Some(item)) => items.push(item),
            Ok(None) => break,
            Err(error) => {
                // Behind a comment that does not end, nothing else can be expected.
                if !(parser.cut && parser.at >= parser.tokens.len()) {
                    parser.diagnostics.push(*error);
                }
                parser.at = parser.at.max(before + 1);
                parser.skip_to_item();
            }
        }
    }
    (items, parser.diagnostics)
}

/// A module expression that stands in a command.
pub fn module_expression(tokens: &[Token]) -> Result<ModuleExpression, Box<Diagnostic>> {
    let end = tokens[tokens.len() - 1].span;
    let mut parser =
        Parser { tokens: tokens.to_vec(), at: 0, end, diagnostics: Vec::new(), cut: false, depth: 0 };
    let expression = parser.module_expression()?;
    if parser.at < tokens.len() {
        return Err(parser.expected("`:`"));
    }
    Ok(expression)
}

/// Whether a word begins a declaration, a command or a module.
pub fn begins_something(word: &str) -> bool {
    DECLARATIONS.contains(&word) || COMMANDS.contains(&word)
}

/// A word in the attributes of a statement that is not one.
pub fn no_statement_attribute(token: Token) -> Diagnostic {
    let known = ["owise", "otherwise", "nonexec", "variant", "label", "metadata", "print"];
    let near = source::closest(token.text(), known);
    Diagnostic::error(format!("`{}` is not an attribute of statements", token.text()))
        .label(token.span, "not known here")
        .maybe_help(near.map(|near| format!("did you mean `{near}`?")))
}

/// Takes periods off the words they touch at the end of a line, where something else begins on the next.
fn with_periods(tokens: Vec<Token>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut out = Vec::with_capacity(tokens.len());
    for (at, &token) in tokens.iter().enumerate() {
        let text = token.text();
        let touched = token.ends_line
            && text.len() > 1
            && text.ends_with('.')
            && text[..text.len() - 1].ends_with(|c: char| c.is_alphanumeric() || c == '"')
            && tokens.get(at + 1).is_none_or(|next| begins_something(next.text()));
        if !touched {
            out.push(token);
            continue;
        }
        let word = &text[..text.len() - 1];
        let place = Span { start: token.span.end - 1, ..token.span };
        let warning = Diagnostic::warning(format!("a blank is missing between `{word}` and the period"))
            .label(place, format!("write `{word} .`"));
        diagnostics.push(warning);
        let span = Span { end: token.span.end - 1, ..token.span };
        out.push(Token { name: Name::new(word), span, ends_line: false });
        out.push(Token { name: Name::new("."), span: place, ends_line: true });
    }
    out
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    end: Span,
    diagnostics: Vec<Diagnostic>,
    /// Whether a comment or string does not end, which was told.
    cut: bool,
    /// How deep the expression is that is being read.
    depth: usize,
}

type Parsed<T> = Result<T, Box<Diagnostic>>;

impl Parser {
    fn peek(&self) -> Option<Token> {
        self.tokens.get(self.at).copied()
    }

    fn peek_is(&self, text: &str) -> bool {
        self.peek().is_some_and(|token| token.is(text))
    }

    fn ahead_is(&self, ahead: usize, text: &str) -> bool {
        self.tokens.get(self.at + ahead).is_some_and(|token| token.is(text))
    }

    fn here(&self) -> Span {
        self.peek().map_or(self.end, |token| token.span)
    }

    fn next(&mut self, expected: &str) -> Parsed<Token> {
        match self.peek() {
            Some(token) => {
                self.at += 1;
                Ok(token)
            }
            None => Err(self.expected(expected)),
        }
    }

    fn expected(&self, expected: &str) -> Box<Diagnostic> {
        let found = match self.peek() {
            Some(token) => format!("expected {expected}, found `{}`", token.text()),
            None => format!("expected {expected}, but the text ends"),
        };
        Box::new(Diagnostic::error(found).label(self.here(), format!("expected {expected}")))
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.peek_is(text);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, text: &str) -> Parsed<Token> {
        if !self.peek_is(text) {
            return Err(self.expected(&format!("`{text}`")));
        }
        self.next(text)
    }

    fn skip_to_item(&mut self) {
        while let Some(token) = self.peek() {
            let begins = COMMANDS.contains(&token.text());
            if begins && (self.at == 0 || self.tokens[self.at - 1].ends_line) {
                return;
            }
            self.at += 1;
        }
    }

    /// The words of one thing between modules.
    fn item(&mut self) -> Parsed<Option<Item>> {
        let Some(first) = self.peek() else { return Ok(None) };
        match first.text() {
            "fmod" | "mod" | "fth" | "th" | "omod" | "oth" => Ok(Some(Item::Module(self.module()?))),
            "view" => Ok(Some(Item::View(self.view()?))),
            "smod" | "sth" => {
                let error = Diagnostic::error("strategy modules are not supported")
                    .label(first.span, "a strategy module begins here")
                    .help("`mod … endm` holds everything but strategies");
                Err(Box::new(error))
            }
            "load" | "sload" => {
                self.at += 1;
                Ok(Some(Item::Load(self.file_name(first)?, first.is("sload"))))
            }
            "in" => {
                self.at += 1;
                Ok(Some(Item::Load(self.file_name(first)?, false)))
            }
            "eof" | "quit" | "q" | "pwd" | "ls" | "cd" => {
                while !self.tokens[self.at].ends_line {
                    self.at += 1;
                }
                self.at += 1;
                if matches!(first.text(), "eof" | "quit" | "q") {
                    self.at = self.tokens.len();
                    return Ok(None);
                }
                self.item()
            }
            word if COMMANDS.contains(&word) => {
                let tokens = self.bubble(&COMMANDS, "the command")?;
                if tokens.iter().any(|token| token.is("\"")) {
                    // A string that does not end.
                    return self.item();
                }
                let span = tokens
                    .first()
                    .map_or(first.span, |token| token.span)
                    .to(tokens.last().map_or(first.span, |token| token.span));
                Ok(Some(Item::Command(CommandText { tokens, span })))
            }
            word if REFUSED.contains(&word) => {
                let error = Diagnostic::error(format!("the command `{word}` is not supported"));
                let help = "`watershed maude --help` and the book's page on Maude say which commands are";
                Err(Box::new(error.label(first.span, "here").help(help)))
            }
            word => {
                let help = match source::closest(word, COMMANDS) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => {
                        "a module begins with `fmod` or `mod`, a command with `reduce`, `rewrite`, `search`, \
                             `match`, `show` or the like"
                            .to_owned()
                    }
                };
                let error = Diagnostic::error(format!("`{word}` begins no module, view or command"))
                    .label(first.span, "not known here")
                    .help(help);
                Err(Box::new(error))
            }
        }
    }

    /// The rest of the line, without blanks.
    fn file_name(&mut self, keyword: Token) -> Parsed<Token> {
        if keyword.ends_line || self.peek().is_none() {
            return Err(self.expected("the name of a file"));
        }
        let mut text = String::new();
        let first = self.here();
        let mut span = first;
        loop {
            let token = self.next("the name of a file")?;
            if token.is(".") && !text.is_empty() {
                break;
            }
            text.push_str(token.text());
            span = first.to(token.span);
            if token.ends_line {
                break;
            }
        }
        Ok(Token { name: Name::new(text.trim_matches('"')), span, ends_line: true })
    }

    /// Everything up to the period that ends it: one outside of parentheses, at the end of a line or before a word that
    /// begins something else. The period itself is passed over.
    fn bubble(&mut self, keywords: &[&str], what: &str) -> Parsed<Vec<Token>> {
        let start = self.at;
        if start >= self.tokens.len() {
            return Err(self.expected(what));
        }
        let ends = |at: usize| {
            let token = self.tokens[at];
            let next = self.tokens.get(at + 1);
            token.is(".") && (token.ends_line || next.is_none_or(|next| keywords.contains(&next.text())))
        };
        let mut depth = 0i64;
        for at in start..self.tokens.len() {
            match self.tokens[at].text() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ if depth <= 0 && ends(at) => {
                    self.at = at + 1;
                    return Ok(self.tokens[start..at].to_vec());
                }
                _ => {}
            }
        }
        // Without such a period, brackets may be out of balance.
        let first = self.tokens[start];
        let Some(end) = (start..self.tokens.len()).find(|&at| ends(at)) else {
            self.at = self.tokens.len();
            let error = Diagnostic::error(format!("{what} does not end"))
                .label(first.span, "it begins here")
                .help("a period with a blank before it ends it");
            return Err(Box::new(error));
        };
        self.at = end + 1;
        let mut open: Vec<Token> = Vec::new();
        for &token in &self.tokens[start..end] {
            match token.text() {
                "(" | "[" | "{" => open.push(token),
                ")" | "]" | "}" => drop(open.pop()),
                _ => {}
            }
        }
        let wrong = open.last().copied().unwrap_or(first);
        let error = Diagnostic::error(format!("`{}` is never closed", wrong.text()))
            .label(wrong.span, "opened here")
            .label(self.tokens[end].span, format!("{what} ends here"));
        Err(Box::new(error))
    }

    fn module(&mut self) -> Parsed<ModuleText> {
        let keyword = self.next("a module")?;
        let kind = match keyword.text() {
            "fmod" => ModuleKind { system: false, theory: false, object: false },
            "mod" => ModuleKind { system: true, theory: false, object: false },
            "omod" => ModuleKind { system: true, theory: false, object: true },
            "fth" => ModuleKind { system: false, theory: true, object: false },
            "oth" => ModuleKind { system: true, theory: true, object: true },
            _ => ModuleKind { system: true, theory: true, object: false },
        };
        let name = self.next("the name of the module")?;
        let errors = self.diagnostics.len();
        if name.is("is") && !self.peek_is("is") {
            let error = Diagnostic::error("the module has no name")
                .label(name.span, "expected a name before this")
                .help(format!("a module begins with `{} NAME is`", kind.keyword()));
            self.diagnostics.push(error);
        } else {
            let begin = self.parameters();
            let begin = begin.and_then(|parameters| self.expect("is").map(|_| parameters));
            match begin {
                Ok(parameters) => return self.module_body(keyword, kind, name, parameters, errors),
                Err(error) => {
                    let help = format!("a module begins with `{} NAME is`", kind.keyword());
                    self.diagnostics.push(error.help(help));
                    if !self.peek().is_some_and(|token| DECLARATIONS.contains(&token.text())) {
                        self.skip_to_declaration();
                    }
                }
            }
        }
        self.module_body(keyword, kind, name, Vec::new(), errors)
    }

    /// Everything behind `is`. A module with errors is given too, for what comes after it.
    fn module_body(
        &mut self,
        keyword: Token,
        kind: ModuleKind,
        name: Token,
        parameters: Vec<Parameter>,
        errors: usize,
    ) -> Parsed<ModuleText> {
        let end = kind.end();
        let mut module = ModuleText {
            kind,
            name: name.name,
            name_span: name.span,
            broken: false,
            parameters,
            declarations: Vec::new(),
            span: keyword.span,
        };
        loop {
            let Some(token) = self.peek() else {
                if !self.cut {
                    let error = Diagnostic::error(format!("the module `{}` does not end", name.text()))
                        .label(keyword.span.to(name.span), "it begins here")
                        .help(format!("`{end}` ends it"));
                    self.diagnostics.push(error);
                }
                module.broken = true;
                return Ok(module);
            };
            let word = token.text();
            module.span = keyword.span.to(token.span);
            if word == end || matches!(word, "endfm" | "endm" | "endfth" | "endth" | "endom" | "endoth") {
                if word != end {
                    let error = Diagnostic::error(format!("the module ends with `{word}`, not `{end}`"))
                        .label(token.span, format!("`{end}` is expected"))
                        .label(keyword.span, "because of this");
                    self.diagnostics.push(error);
                }
                self.at += 1;
                module.broken |= self.diagnostics[errors..].iter().any(Diagnostic::is_error);
                return Ok(module);
            }
            let begins_line = self.tokens[self.at - 1].ends_line;
            if begins_line && COMMANDS.contains(&word) {
                let error = Diagnostic::error(format!("the module `{}` does not end", name.text()))
                    .label(keyword.span.to(name.span), "it begins here")
                    .label(token.span, "something else begins here")
                    .help(format!("`{end}` ends it"));
                self.diagnostics.push(error);
                module.broken = true;
                return Ok(module);
            }
            let before = self.at;
            match self.declaration(kind, &mut module.declarations) {
                Ok(true) => {}
                Ok(false) => module.broken = true,
                Err(error) => {
                    self.diagnostics.push(*error);
                    self.at = self.at.max(before + 1);
                    self.skip_to_declaration();
                }
            }
        }
    }

    fn skip_to_declaration(&mut self) {
        while let Some(token) = self.peek() {
            let previous = self.tokens[self.at - 1];
            if DECLARATIONS.contains(&token.text()) && (previous.ends_line || previous.is(".")) {
                return;
            }
            if COMMANDS.contains(&token.text()) && previous.ends_line {
                return;
            }
            self.at += 1;
        }
    }

    fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        let mut parameters = Vec::new();
        if !self.eat("{") {
            return Ok(parameters);
        }
        loop {
            let name = self.next("the name of a parameter")?;
            self.expect("::")?;
            let theory = self.module_expression()?;
            parameters.push(Parameter { name, theory });
            if self.eat("}") {
                return Ok(parameters);
            }
            self.expect(",")?;
        }
    }

    /// Goes one level down in an expression.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEEPEST {
            let error = Diagnostic::error("the expression is nested too deeply")
                .label(self.here(), format!("more than {DEEPEST} levels"));
            return Err(Box::new(error));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn module_expression(&mut self) -> Parsed<ModuleExpression> {
        let first = self.factor()?;
        if !self.peek_is("+") {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.eat("+") {
            parts.push(self.factor()?);
        }
        let span = parts[0].span.to(parts[parts.len() - 1].span);
        Ok(ModuleExpression { kind: ExpressionKind::Sum(parts), span })
    }

    fn factor(&mut self) -> Parsed<ModuleExpression> {
        let mut expression = if self.eat("(") {
            let inner = self.deeper(Self::module_expression)?;
            self.expect(")")?;
            inner
        } else {
            let token = self.next("the name of a module")?;
            if token.is(".") || lexer::is_special(token.text().chars().next().unwrap_or(' ')) {
                self.at -= 1;
                return Err(self.expected("the name of a module"));
            }
            ModuleExpression { kind: ExpressionKind::Named(token.name), span: token.span }
        };
        for _ in 0..DEEPEST {
            if self.eat("{") {
                let arguments = self.arguments()?;
                let span = expression.span.to(self.tokens[self.at - 1].span);
                expression = ModuleExpression {
                    kind: ExpressionKind::Instance(Box::new(expression), arguments),
                    span,
                };
            } else if self.peek_is("*") && self.ahead_is(1, "(") {
                self.at += 2;
                let items = self.renaming()?;
                let span = expression.span.to(self.tokens[self.at - 1].span);
                expression =
                    ModuleExpression { kind: ExpressionKind::Renaming(Box::new(expression), items), span };
            } else {
                return Ok(expression);
            }
        }
        Err(self.expected("the end of the expression"))
    }

    fn arguments(&mut self) -> Parsed<Vec<Argument>> {
        let mut arguments = Vec::new();
        loop {
            let name = self.next("the name of a view or parameter")?;
            let inner = if self.eat("{") { self.deeper(Self::arguments)? } else { Vec::new() };
            arguments.push(Argument { name, arguments: inner });
            if self.eat("}") {
                return Ok(arguments);
            }
            self.expect(",")?;
        }
    }

    fn renaming(&mut self) -> Parsed<Vec<RenamingItem>> {
        let mut items = Vec::new();
        loop {
            let keyword = self.next("`sort`, `op` or `label`")?;
            match keyword.text() {
                "sort" => {
                    let (from, _) = self.sort_name()?;
                    self.expect("to")?;
                    let (to, span) = self.sort_name()?;
                    items.push(RenamingItem::Sort(from, to, keyword.span.to(span)));
                }
                "label" => {
                    let from = self.next("a label")?;
                    self.expect("to")?;
                    let to = self.next("a label")?;
                    items.push(RenamingItem::Label(from.name, to.name, keyword.span.to(to.span)));
                }
                "op" | "msg" => {
                    let (from, _) = self.operator_name(&[":", "to"])?;
                    let profile = match self.eat(":") {
                        true => Some(self.profile()?),
                        false => None,
                    };
                    self.expect("to")?;
                    let (to, span) = self.operator_name(&["[", ",", ")", "sort", "op", "label", "."])?;
                    let attributes = match self.peek_is("[") {
                        true => self.attributes()?,
                        false => Attributes::default(),
                    };
                    items.push(RenamingItem::Operator {
                        from,
                        profile,
                        to,
                        attributes: Box::new(attributes),
                        span: keyword.span.to(span),
                    });
                }
                _ => {
                    self.at -= 1;
                    return Err(self.expected("`sort`, `op` or `label`"));
                }
            }
            if self.eat(")") {
                return Ok(items);
            }
            self.eat(",");
        }
    }

    fn profile(&mut self) -> Parsed<(Vec<Type>, Type)> {
        let mut domain = Vec::new();
        while !self.peek_is("->") && !self.peek_is("~>") {
            domain.push(self.type_name()?);
        }
        self.at += 1;
        Ok((domain, self.type_name()?))
    }

    /// `Nat`, `List{Nat}`, `X$Elt`.
    fn sort_name(&mut self) -> Parsed<(Name, Span)> {
        let token = self.next("a sort")?;
        if token.is(".")
            || token.text().starts_with(lexer::is_special)
            || matches!(token.text(), "<" | "->" | "~>" | ":")
        {
            self.at -= 1;
            return Err(self.expected("a sort"));
        }
        let mut text = token.text().to_owned();
        let mut span = token.span;
        while self.peek_is("{") {
            let mut depth = 0;
            loop {
                let token = self.next("`}`")?;
                text.push_str(token.text());
                span = span.to(token.span);
                match token.text() {
                    "{" => depth += 1,
                    "}" => depth -= 1,
                    "." if token.ends_line => return Err(self.expected("`}`")),
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
        }
        Ok((Name::new(&text), span))
    }

    fn type_name(&mut self) -> Parsed<Type> {
        if !self.peek_is("[") {
            let (name, span) = self.sort_name()?;
            return Ok(Type { sorts: vec![name], kind: false, span });
        }
        let open = self.next("`[`")?;
        let mut sorts = Vec::new();
        loop {
            sorts.push(self.sort_name()?.0);
            if self.eat("]") {
                break;
            }
            self.expect(",")?;
        }
        let span = open.span.to(self.tokens[self.at - 1].span);
        Ok(Type { sorts, kind: true, span })
    }

    /// The name of an operator, up to one of these words.
    fn operator_name(&mut self, until: &[&str]) -> Parsed<(Name, Span)> {
        let start = self.at;
        if self.peek_is("(") {
            // `(_,_)`: everything within the parentheses that belong together.
            let mut depth = 0;
            for at in start..self.tokens.len() {
                match self.tokens[at].text() {
                    "(" => depth += 1,
                    ")" => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    let next = self.tokens.get(at + 1);
                    if next.is_some_and(|next| until.contains(&next.text())) && at > start + 1 {
                        self.at = at + 1;
                        let span = self.tokens[start].span.to(self.tokens[at].span);
                        return Ok((joined(&self.tokens[start + 1..at]), span));
                    }
                    break;
                }
            }
        }
        while let Some(token) = self.peek() {
            if until.contains(&token.text()) && self.at > start || (token.is(".") && token.ends_line) {
                break;
            }
            self.at += 1;
        }
        if self.at == start {
            return Err(self.expected("the name of an operator"));
        }
        let taken = &self.tokens[start..self.at];
        Ok((joined(taken), taken[0].span.to(taken[taken.len() - 1].span)))
    }

    /// One declaration; not if what is wrong with it was told.
    fn declaration(&mut self, kind: ModuleKind, into: &mut Vec<Declaration>) -> Parsed<bool> {
        let keyword = self.next("a declaration")?;
        match keyword.text() {
            "protecting" | "pr" | "extending" | "ex" | "including" | "inc" | "generated-by" | "gb"
            | "using" | "us" => {
                let expression = self.module_expression()?;
                self.period("the import")?;
                let mode = match keyword.text() {
                    "protecting" | "pr" => Mode::Protecting,
                    "extending" | "ex" => Mode::Extending,
                    _ => Mode::Including,
                };
                into.push(Declaration::Import(mode, expression));
            }
            "sort" | "sorts" => {
                let mut sorts = Vec::new();
                while !self.peek_is(".") {
                    if self.peek_is(",") {
                        let error = self.expected("a sort or `.`");
                        return Err(Box::new(error.help("sorts are separated by blanks: `sorts A B .`")));
                    }
                    let next = self.peek().is_some_and(|next| DECLARATIONS.contains(&next.text()));
                    if next && self.tokens[self.at - 1].ends_line && !sorts.is_empty() {
                        break;
                    }
                    sorts.push(self.sort_name()?);
                }
                if sorts.is_empty() {
                    return Err(self.expected("a sort"));
                }
                self.period("the declaration")?;
                into.push(Declaration::Sorts(sorts));
            }
            "subsort" | "subsorts" => into.push(Declaration::Subsorts(self.chain()?)),
            "subclass" | "subclasses" if kind.object => into.push(Declaration::Subclasses(self.chain()?)),
            "op" | "ops" => {
                let operators = self.operators(keyword)?;
                into.push(Declaration::Operators(operators));
            }
            "msg" | "msgs" if kind.object => {
                let operators = self.operators(keyword)?;
                into.push(Declaration::Messages(operators));
            }
            "class" if kind.object => {
                let name = self.next("the name of a class")?;
                let mut attributes = Vec::new();
                if self.eat("|") {
                    loop {
                        let attribute = self.next("an attribute")?;
                        self.expect(":")?;
                        attributes.push((attribute, self.type_name()?));
                        if !self.eat(",") {
                            break;
                        }
                    }
                }
                self.period("the class")?;
                into.push(Declaration::Class(name, attributes));
            }
            "class" | "classes" | "subclass" | "subclasses" | "msg" | "msgs" => {
                let error = Diagnostic::error(format!("`{}` belongs into object modules", keyword.text()))
                    .label(keyword.span, "not known in this module")
                    .help("begin the module with `omod`");
                return Err(Box::new(error));
            }
            "var" | "vars" => {
                let mut names = Vec::new();
                while !self.peek_is(":") {
                    let token = self.next("a variable")?;
                    if token.is(".") {
                        self.at -= 1;
                        return Err(self.expected("`:` and a sort"));
                    }
                    names.push(token);
                }
                self.expect(":")?;
                let sort = self.type_name()?;
                self.period("the declaration")?;
                into.push(Declaration::Variables(names, sort));
            }
            "eq" | "ceq" | "cq" | "mb" | "cmb" | "rl" | "crl" => {
                let start = self.at;
                let statement = self.statement(keyword, kind);
                if self.tokens[start..self.at].iter().any(|token| token.is("\"")) {
                    // A string that does not end.
                    return Ok(false);
                }
                into.push(Declaration::Statement(statement?));
            }
            word => {
                let near = source::closest(word, DECLARATIONS);
                let error = Diagnostic::error(format!("`{word}` begins no declaration"))
                    .label(keyword.span, "not known here")
                    .maybe_help(near.map(|near| format!("did you mean `{near}`?")));
                return Err(Box::new(error));
            }
        }
        Ok(true)
    }

    fn period(&mut self, what: &str) -> Parsed<()> {
        if self.eat(".") {
            return Ok(());
        }
        let previous = self.tokens[self.at - 1];
        if previous.ends_line {
            let found = self.peek().map_or("the end".to_owned(), |token| format!("`{}`", token.text()));
            let error = Diagnostic::error(format!("a period is missing before {found}"))
                .label(previous.span, "expected ` .` after this")
                .help(format!("{what} ends with a period"));
            return Err(Box::new(error));
        }
        let mut error = self.expected("`.`");
        *error = error.help(format!("{what} ends with a period"));
        Err(error)
    }

    fn chain(&mut self) -> Parsed<Vec<Vec<(Name, Span)>>> {
        let mut chain = vec![Vec::new()];
        while !self.peek_is(".") {
            if self.eat("<") {
                chain.push(Vec::new());
            } else {
                let sort = self.sort_name()?;
                chain.last_mut().expect("there is one").push(sort);
            }
        }
        if chain.len() < 2 {
            return Err(self.expected("`<`"));
        }
        if chain.iter().any(Vec::is_empty) {
            return Err(self.expected("a sort"));
        }
        self.period("the declaration")?;
        Ok(chain)
    }

    fn operators(&mut self, keyword: Token) -> Parsed<OperatorText> {
        let several = matches!(keyword.text(), "ops" | "msgs");
        let mut names = Vec::new();
        if several {
            while !self.peek_is(":") {
                let token = self.next("the name of an operator")?;
                if token.is("(") {
                    self.at -= 1;
                    let start = self.at;
                    let mut depth = 0;
                    loop {
                        match self.next("`)`")?.text() {
                            "(" => depth += 1,
                            ")" => depth -= 1,
                            _ => {}
                        }
                        if depth == 0 {
                            break;
                        }
                    }
                    let inner = &self.tokens[start + 1..self.at - 1];
                    names.push((joined(inner), self.tokens[start].span.to(self.tokens[self.at - 1].span)));
                } else if token.is(".") {
                    self.at -= 1;
                    return Err(self.expected("`:` and sorts"));
                } else {
                    // Brackets in a name hold it together: `[_]`.
                    let start = self.at - 1;
                    let mut depth = bracket(token.text());
                    while depth > 0 || self.glued() {
                        depth += bracket(self.next("the name of an operator")?.text());
                    }
                    let taken = &self.tokens[start..self.at];
                    names.push((joined(taken), taken[0].span.to(taken[taken.len() - 1].span)));
                }
            }
        } else {
            let start = self.at;
            names.push(self.operator_name(&[":"])?);
            let arrow = self.tokens[start..self.at].iter().find(|token| token.is("->"));
            if let Some(arrow) = arrow.filter(|_| !self.peek_is(":")) {
                let error = Diagnostic::error("expected `:` before `->`")
                    .label(arrow.span, "expected `:` and the sorts of the arguments before this")
                    .help(PROFILE);
                return Err(Box::new(error));
            }
        }
        self.expect(":").map_err(|error| Box::new(error.help(PROFILE)))?;
        let mut domain = Vec::new();
        while !self.peek_is("->") && !self.peek_is("~>") {
            if self.peek().is_none_or(|token| token.is(".")) {
                return Err(Box::new(self.expected("`->`").help(PROFILE)));
            }
            domain.push(
                self.type_name()
                    .map_err(|error| Box::new(error.help("the sorts of arguments come before `->`")))?,
            );
        }
        let partial = self.next("`->`")?.is("~>");
        let range = self.type_name()?;
        let attributes = match self.peek_is("[") {
            true => self.attributes()?,
            false => Attributes::default(),
        };
        self.period("the declaration")?;
        let span = keyword.span.to(self.tokens[self.at - 1].span);
        Ok(OperatorText { names, domain, range, partial, attributes, span })
    }

    /// Whether the next token follows without a blank.
    fn glued(&self) -> bool {
        match (self.tokens.get(self.at.wrapping_sub(1)), self.peek()) {
            (Some(before), Some(next)) => before.span.end == next.span.start,
            _ => false,
        }
    }

    fn parenthesised(&mut self) -> Parsed<Vec<Token>> {
        self.expect("(")?;
        let start = self.at;
        let mut depth = 1;
        loop {
            match self.next("`)`")?.text() {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Ok(self.tokens[start..self.at - 1].to_vec());
            }
        }
    }

    fn numbers(&mut self, least: i64) -> Parsed<Vec<i64>> {
        let tokens = self.parenthesised()?;
        tokens
            .iter()
            .map(|token| {
                token.text().parse().ok().filter(|&number| number >= least).ok_or_else(|| {
                    Box::new(
                        Diagnostic::error(format!(
                            "expected the number of an argument, found `{}`",
                            token.text()
                        ))
                        .label(token.span, "not a number of an argument"),
                    )
                })
            })
            .collect()
    }

    /// The words of a term, up to an attribute or the end of the list.
    fn identity(&mut self) -> Parsed<Vec<Token>> {
        const NEXT: [&str; 17] = [
            "assoc", "comm", "idem", "iter", "ctor", "prec", "gather", "strat", "memo", "frozen", "format",
            "poly", "special", "ditto", "left", "right", "config",
        ];
        let start = self.at;
        let mut depth = 0;
        while let Some(token) = self.peek() {
            match token.text() {
                "(" | "[" | "{" => depth += 1,
                "]" if depth == 0 => break,
                ")" | "]" | "}" => depth -= 1,
                word if depth == 0 && NEXT.contains(&word) && self.at > start => break,
                _ => {}
            }
            self.at += 1;
        }
        if self.at == start {
            return Err(self.expected("the identity"));
        }
        Ok(self.tokens[start..self.at].to_vec())
    }

    fn attributes(&mut self) -> Parsed<Attributes> {
        let mut attributes = Attributes::default();
        self.expect("[")?;
        loop {
            let token = self.next("an attribute")?;
            match token.text() {
                "]" => return Ok(attributes),
                "assoc" | "associative" => attributes.assoc = Some(token.span),
                "comm" | "commutative" => attributes.comm = Some(token.span),
                "idem" | "idempotent" => attributes.idem = Some(token.span),
                "iter" | "iterated" => attributes.iter = Some(token.span),
                "ctor" | "constructor" => attributes.ctor = true,
                "ditto" => attributes.ditto = true,
                "memo" => attributes.memo = true,
                "config" | "configuration" => attributes.object = Some(ObjectRole::Configuration),
                "obj" | "object" => attributes.object = Some(ObjectRole::Object),
                "msg" | "message" => attributes.object = Some(ObjectRole::Message),
                "portal" | "pconst" => {}
                "id:" | "identity:" => attributes.id = Some(self.identity()?),
                "left" | "right" => {
                    let left = token.is("left");
                    if !self.eat("id:") && !self.eat("identity:") {
                        return Err(self.expected("`id:`"));
                    }
                    let identity = Some(self.identity()?);
                    match left {
                        true => attributes.left_id = identity,
                        false => attributes.right_id = identity,
                    }
                }
                "prec" | "precedence" => {
                    let number = self.next("a number")?;
                    let prec =
                        number.text().parse().ok().filter(|&prec: &u32| prec <= 127).ok_or_else(|| {
                            Box::new(
                                Diagnostic::error(format!("`{}` is not a precedence", number.text()))
                                    .label(number.span, "expected a number from 0 to 127"),
                            )
                        })?;
                    attributes.prec = Some((prec, token.span.to(number.span)));
                }
                "gather" | "gathering" => {
                    let tokens = self.parenthesised()?;
                    if let Some(wrong) = tokens.iter().find(|token| !matches!(token.text(), "e" | "E" | "&"))
                    {
                        let error = Diagnostic::error(format!("`{}` is not a gathering", wrong.text()))
                            .label(wrong.span, "expected `e`, `E` or `&`")
                            .help("`e` takes terms of a lower precedence, `E` also of the same, `&` any");
                        return Err(Box::new(error));
                    }
                    let span = token.span.to(self.tokens[self.at - 1].span);
                    attributes.gather = Some((tokens, span));
                }
                "strat" | "strategy" => {
                    let numbers = self.numbers(0)?;
                    attributes.strat = Some((numbers, token.span.to(self.tokens[self.at - 1].span)));
                }
                "frozen" => {
                    let numbers = if self.peek_is("(") { self.numbers(1)? } else { Vec::new() };
                    attributes.frozen = Some((numbers, token.span.to(self.tokens[self.at - 1].span)));
                }
                "poly" | "polymorphic" => {
                    let numbers = self.numbers(0)?;
                    attributes.poly = Some((numbers, token.span.to(self.tokens[self.at - 1].span)));
                }
                "format" => {
                    let tokens = self.parenthesised()?;
                    attributes.format = Some((tokens, token.span.to(self.tokens[self.at - 1].span)));
                }
                "metadata" => attributes.metadata = Some(self.next("a string")?),
                "latex" => drop(self.parenthesised()?),
                "special" => attributes.special = Some(self.special(token)?),
                "." if token.ends_line => {
                    self.at -= 1;
                    return Err(self.expected("`]`"));
                }
                _ => attributes.unknown.push(token),
            }
        }
    }

    fn special(&mut self, keyword: Token) -> Parsed<Special> {
        let tokens = self.parenthesised()?;
        let span = keyword.span.to(self.tokens[self.at - 1].span);
        let mut special = Special {
            id: Name::new(""),
            details: Vec::new(),
            operators: Vec::new(),
            terms: Vec::new(),
            span,
        };
        let mut at = 0;
        while at < tokens.len() {
            let kind = tokens[at];
            let Some(&name) = tokens.get(at + 1) else { break };
            at += 2;
            let mut inner: Vec<Token> = Vec::new();
            if tokens.get(at).is_some_and(|token| token.is("(")) {
                let mut depth = 0;
                while at < tokens.len() {
                    match tokens[at].text() {
                        "(" => depth += 1,
                        ")" => depth -= 1,
                        _ => {}
                    }
                    at += 1;
                    if depth == 0 {
                        break;
                    }
                    inner.push(tokens[at - 1]);
                }
                inner.remove(0);
            }
            match kind.text() {
                "id-hook" => {
                    special.id = name.name;
                    special.details = inner.iter().map(|token| token.name).collect();
                }
                "op-hook" => {
                    let Some(end) = inner.iter().position(|token| token.is(":")) else {
                        let error = Diagnostic::error("the type of the operator is missing")
                            .label(name.span, "in this hook");
                        return Err(Box::new(error));
                    };
                    let tokens = inner[end + 1..].to_vec();
                    let mut parser =
                        Parser { tokens, at: 0, end: span, diagnostics: Vec::new(), cut: false, depth: 0 };
                    let (domain, range) = parser.profile()?;
                    let hook =
                        OperatorHook { purpose: name.name, name: joined(&inner[..end]), domain, range };
                    special.operators.push(hook);
                }
                "term-hook" => special.terms.push((name.name, inner)),
                other => {
                    let error = Diagnostic::error(format!("`{other}` is not a hook"))
                        .label(kind.span, "expected `id-hook`, `op-hook` or `term-hook`");
                    return Err(Box::new(error));
                }
            }
        }
        Ok(special)
    }

    fn statement(&mut self, keyword: Token, module: ModuleKind) -> Parsed<StatementText> {
        let conditional = keyword.text().starts_with('c');
        let kind = match keyword.text() {
            "eq" | "ceq" | "cq" => StatementKind::Equation,
            "mb" | "cmb" => StatementKind::Membership,
            _ => StatementKind::Rule,
        };
        let mut label = None;
        if self.peek_is("[") && self.ahead_is(2, "]") && self.ahead_is(3, ":") {
            label = Some(self.tokens[self.at + 1]);
            self.at += 4;
        }
        let mut tokens = self.bubble(&DECLARATIONS, "the statement")?;
        let span = keyword.span.to(self.tokens[self.at - 1].span);
        if kind == StatementKind::Rule && !module.system {
            let error = Diagnostic::error("a functional module has no rules")
                .label(span, "this is a rule")
                .help("rules belong into system modules, `mod … endm`; an equation begins with `eq`");
            return Err(Box::new(error));
        }
        let mut statement = StatementText {
            kind,
            conditional,
            tokens: Vec::new(),
            label,
            otherwise: false,
            nonexec: false,
            metadata: None,
            span,
        };
        if let Some(open) = attribute_list(&tokens) {
            let mut at = open + 1;
            while at < tokens.len() - 1 {
                let token = tokens[at];
                at += 1;
                match token.text() {
                    "owise" | "otherwise" => statement.otherwise = true,
                    "nonexec" => statement.nonexec = true,
                    "variant" | "narrowing" | "dnt" => {}
                    "label" => {
                        statement.label = tokens.get(at).copied();
                        at += 1;
                    }
                    "metadata" => {
                        statement.metadata = tokens.get(at).copied();
                        at += 1;
                    }
                    "print" => at = tokens.len() - 1,
                    _ => return Err(Box::new(no_statement_attribute(token))),
                }
            }
            tokens.truncate(open);
        }
        if tokens.is_empty() {
            let error = Diagnostic::error("the statement is empty").label(span, "nothing is said here");
            return Err(Box::new(error));
        }
        if statement.otherwise && kind != StatementKind::Equation {
            let error = Diagnostic::error("`owise` is for equations").label(span, "this is not an equation");
            return Err(Box::new(error));
        }
        statement.tokens = tokens;
        Ok(statement)
    }

    fn view(&mut self) -> Parsed<ViewText> {
        let keyword = self.next("a view")?;
        let name = self.next("the name of the view")?;
        let parameters = self.parameters()?;
        self.expect("from")?;
        let from = self.module_expression()?;
        self.expect("to")?;
        let to = self.module_expression()?;
        self.expect("is")?;
        let mut view = ViewText {
            name: name.name,
            name_span: name.span,
            parameters,
            from,
            to,
            sorts: Vec::new(),
            operators: Vec::new(),
            variables: Vec::new(),
            span: keyword.span,
        };
        loop {
            let word = self.next("`endv`").map_err(|_| {
                Box::new(
                    Diagnostic::error(format!("the view `{}` does not end", name.text()))
                        .label(keyword.span.to(name.span), "it begins here")
                        .help("`endv` ends it"),
                )
            })?;
            match word.text() {
                "endv" => {
                    view.span = keyword.span.to(word.span);
                    return Ok(view);
                }
                "sort" => {
                    let (from, _) = self.sort_name()?;
                    self.expect("to")?;
                    let (to, span) = self.sort_name()?;
                    self.period("the mapping")?;
                    view.sorts.push((from, to, word.span.to(span)));
                }
                "var" | "vars" => {
                    let mut names = Vec::new();
                    while !self.peek_is(":") {
                        names.push(self.next("a variable")?);
                    }
                    self.at += 1;
                    let sort = self.type_name()?;
                    self.period("the declaration")?;
                    view.variables.push((names, sort));
                }
                "op" | "msg" => {
                    let mut keywords = DECLARATIONS.to_vec();
                    keywords.push("endv");
                    let tokens = self.bubble(&keywords, "the mapping")?;
                    let span = word.span.to(self.tokens[self.at - 1].span);
                    view.operators.push(view_operator(&tokens, span)?);
                }
                "class" | "attr" => {
                    let error = Diagnostic::error("views of classes are not supported").label(word.span, "");
                    return Err(Box::new(error));
                }
                _ => {
                    self.at -= 1;
                    return Err(self.expected("`sort`, `op`, `var` or `endv`"));
                }
            }
        }
    }
}

/// `f to g`, `f : A -> B to g`, `f(X) to term t`.
fn view_operator(tokens: &[Token], span: Span) -> Parsed<ViewOperator> {
    let wrong =
        |what: &str| Box::new(Diagnostic::error(format!("expected {what}")).label(span, "in this mapping"));
    let to = tokens.iter().rposition(|token| token.is("to")).filter(|&to| to > 0 && to + 1 < tokens.len());
    let to = match tokens.windows(2).position(|pair| pair[0].is("to") && pair[1].is("term")) {
        Some(at) => at,
        None => to.ok_or_else(|| wrong("`to` between two operators"))?,
    };
    let (left, right) = (&tokens[..to], &tokens[to + 1..]);
    if right[0].is("term") && right.len() > 1 {
        return Ok(ViewOperator::Term { from: left.to_vec(), to: right[1..].to_vec(), span });
    }
    let colon = left.iter().position(|token| token.is(":"));
    let (name, profile) = match colon.filter(|&colon| colon > 0) {
        None => (joined(unwrapped(left)), None),
        Some(colon) => {
            let end = left[left.len() - 1].span;
            let mut parser = Parser {
                tokens: left[colon + 1..].to_vec(),
                at: 0,
                end,
                diagnostics: Vec::new(),
                cut: false,
                depth: 0,
            };
            (joined(unwrapped(&left[..colon])), Some(parser.profile()?))
        }
    };
    Ok(ViewOperator::Renamed { from: name, profile, to: joined(unwrapped(right)), span })
}

/// A name without the parentheses around it.
fn unwrapped(tokens: &[Token]) -> &[Token] {
    match tokens {
        [first, inner @ .., last] if first.is("(") && last.is(")") && !inner.is_empty() => inner,
        _ => tokens,
    }
}

/// How an operator is called whose name is written with these tokens.
pub fn joined(tokens: &[Token]) -> Name {
    let mut text = String::new();
    for (at, token) in tokens.iter().enumerate() {
        let word = token.text();
        let special = word.chars().next().is_some_and(lexer::is_special) && word.len() == 1;
        if special {
            text.push('`');
        } else if at > 0 {
            let before = tokens[at - 1].text();
            let special_before = before.chars().next().is_some_and(lexer::is_special) && before.len() == 1;
            if !special_before && !before.ends_with('_') && !word.starts_with('_') {
                text.push('`');
            }
        }
        text.push_str(word);
    }
    Name::new(&text)
}

fn bracket(word: &str) -> i32 {
    match word {
        "(" | "[" | "{" => 1,
        ")" | "]" | "}" => -1,
        _ => 0,
    }
}

/// Where the attributes of a statement begin.
fn attribute_list(tokens: &[Token]) -> Option<usize> {
    const ATTRIBUTES: [&str; 9] =
        ["owise", "otherwise", "nonexec", "label", "metadata", "variant", "narrowing", "print", "dnt"];
    if !tokens.last()?.is("]") {
        return None;
    }
    let mut depth = 0;
    for at in (0..tokens.len()).rev() {
        match tokens[at].text() {
            "]" => depth += 1,
            "[" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (at > 0 && ATTRIBUTES.contains(&tokens[at + 1].text())).then_some(at);
        }
    }
    None
}
