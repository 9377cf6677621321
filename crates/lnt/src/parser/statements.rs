//! Statements of functions and behaviours of processes: one grammar, the checker tells them apart.

use source::{Diagnostic, Span};

use super::Parser;
use crate::lexer::{Keyword, TokenKind, integer_value};
use crate::tree::*;

impl Parser<'_> {
    /// `B1; B2; …` up to something that can't follow. `stop` is the keyword that ends the sequence although it
    /// could begin a statement: `while` and `loop` in the head of a `for`.
    pub(super) fn sequence(&mut self, stop: Option<Keyword>) -> Statement {
        let start = self.span();
        let mut statements = vec![self.statement()];
        loop {
            if matches!(statements.last(), Some(Statement { kind: StatementKind::Wrong, .. })) {
                self.skip_statement();
            }
            if self.peek() == TokenKind::Semicolon {
                let semicolon = self.span();
                self.bump();
                if self.at_sequence_end() {
                    self.diagnostics.push(
                        Diagnostic::warning("a `;` with nothing after it")
                            .several("semicolons have nothing after them")
                            .label(semicolon, "separates statements, but none follows")
                            .help("remove it"),
                    );
                    break;
                }
                statements.push(self.statement());
            } else if self.silent
                || self.at_sequence_end()
                || stop.is_some_and(|keyword| self.at_keyword(keyword))
                || !self.at_statement()
            {
                break;
            } else {
                let diagnostic = Diagnostic::error(format!("expected `;` before {}", self.found()))
                    .label(self.last_span(), "expected `;` after this")
                    .label(self.span(), "the next statement begins here");
                self.error(diagnostic);
                statements.push(self.statement());
            }
        }
        match statements.len() {
            1 => statements.remove(0),
            _ => Statement { kind: StatementKind::Sequence(statements), span: self.span_since(start) },
        }
    }

    fn at_sequence_end(&self) -> bool {
        self.at_box()
            || self.at_misspelt_keyword()
            || matches!(
                self.peek(),
                TokenKind::End
                    | TokenKind::Bar
                    | TokenKind::BarBar
                    | TokenKind::Keyword(
                        Keyword::End | Keyword::Else | Keyword::Elsif | Keyword::By | Keyword::In
                    )
            )
    }

    /// Words of other languages that end a sequence there; what comes next says how they are spelt here.
    fn at_misspelt_keyword(&self) -> bool {
        const WORDS: [&str; 8] =
            ["elseif", "elif", "endif", "endloop", "endcase", "endselect", "endpar", "endprocess"];
        WORDS.iter().any(|word| self.at_word(word))
    }

    fn at_statement(&self) -> bool {
        use Keyword::*;
        matches!(
            self.peek(),
            TokenKind::Identifier
                | TokenKind::Keyword(
                    Alt | Assert
                        | Break
                        | Case
                        | Disrupt
                        | Ensure
                        | Eval
                        | For
                        | Hide
                        | If
                        | Loop
                        | Null
                        | Only
                        | Par
                        | Raise
                        | Require
                        | Return
                        | Select
                        | Stop
                        | Trap
                        | Var
                        | While
                )
        )
    }

    pub(super) fn statement(&mut self) -> Statement {
        let wrong = Statement { kind: StatementKind::Wrong, span: self.span() };
        self.nested(wrong, |parser| {
            let start = parser.span();
            let kind = parser.statement_kind(start);
            let span = if parser.at == 0 { start } else { parser.span_since(start) };
            Statement { kind, span: if span.end < span.start { start } else { span } }
        })
    }

    fn statement_kind(&mut self, start: Span) -> StatementKind {
        let keyword = match self.peek() {
            TokenKind::Keyword(keyword) => keyword,
            TokenKind::Identifier => return self.simple(),
            TokenKind::ParenOpen => {
                // Not in the language, but often written by those who come from other ones.
                self.expected("a statement");
                return StatementKind::Wrong;
            }
            _ => {
                self.expected("a statement");
                return StatementKind::Wrong;
            }
        };
        match keyword {
            Keyword::Null => self.one(StatementKind::Null),
            Keyword::Stop => self.one(StatementKind::Stop),
            Keyword::Return => {
                self.bump();
                let value = if self.at_sequence_end() || self.peek() == TokenKind::Semicolon {
                    None
                } else {
                    Some(self.expression())
                };
                StatementKind::Return(value)
            }
            Keyword::Break => {
                self.bump();
                let name = if self.peek() == TokenKind::Identifier { self.name("a loop") } else { None };
                StatementKind::Break(name)
            }
            Keyword::Raise => self.raise(),
            Keyword::Assert | Keyword::Require | Keyword::Ensure => self.assertion(keyword, start),
            Keyword::Eval => {
                self.bump();
                match self.simple() {
                    StatementKind::Invoke(mut invoke) => {
                        invoke.eval = true;
                        StatementKind::Invoke(invoke)
                    }
                    other => other,
                }
            }
            Keyword::Var => self.block(Keyword::Var, start, |parser| {
                let (variables, mut values) = parser.variables();
                parser.expect_keyword(Keyword::In);
                let body = parser.sequence(None);
                if values.is_empty() {
                    return StatementKind::Var { variables, body: Box::new(body) };
                }
                let span = values[0].span.to(body.span);
                match body.kind {
                    StatementKind::Sequence(statements) => values.extend(statements),
                    _ => values.push(body),
                }
                let body = Statement { kind: StatementKind::Sequence(values), span };
                StatementKind::Var { variables, body: Box::new(body) }
            }),
            Keyword::If => self.conditional(false, start),
            Keyword::Only => {
                self.bump();
                if !self.at_keyword(Keyword::If) {
                    self.expected("`if` after `only`");
                    return StatementKind::Wrong;
                }
                self.conditional(true, start)
            }
            Keyword::Case => self.case(start),
            Keyword::Loop => self.looping(start, |_, name, body| StatementKind::Loop { name, body }),
            Keyword::While => {
                self.bump();
                let condition = self.expression();
                self.looping(start, |_, name, body| StatementKind::While { name, condition, body })
            }
            Keyword::For => self.for_loop(start),
            Keyword::Select | Keyword::Alt => self.block(keyword, start, |parser| {
                let mut branches = vec![parser.sequence(None)];
                while parser.at_box() {
                    parser.bump();
                    parser.bump();
                    branches.push(parser.sequence(None));
                }
                StatementKind::Select(branches)
            }),
            Keyword::Par => self.block(Keyword::Par, start, Self::parallel),
            Keyword::Hide => self.block(Keyword::Hide, start, |parser| {
                let gates = parser.gate_declarations();
                parser.expect_keyword(Keyword::In);
                StatementKind::Hide { gates, body: Box::new(parser.sequence(None)) }
            }),
            Keyword::Disrupt => self.block(Keyword::Disrupt, start, |parser| {
                let body = Box::new(parser.sequence(None));
                parser.expect_keyword(Keyword::By);
                StatementKind::Disrupt { body, interruption: Box::new(parser.sequence(None)) }
            }),
            Keyword::Trap => self.block(Keyword::Trap, start, |parser| {
                let handlers = parser.handlers();
                parser.expect_keyword(Keyword::In);
                StatementKind::Trap { handlers, body: Box::new(parser.sequence(None)) }
            }),
            _ => {
                self.expected("a statement");
                StatementKind::Wrong
            }
        }
    }

    /// `x, y : T := V, z : U`: the variables, and the assignments that give them their first values.
    fn variables(&mut self) -> (Vec<Declaration>, Vec<Statement>) {
        let mut values = Vec::new();
        let mut variables = self.declarations("the name of a variable");
        while self.peek() == TokenKind::Assign {
            let last = variables
                .iter()
                .rev()
                .take_while(|one| Some(one.ty.span) == variables.last().map(|one| one.ty.span));
            let names: Vec<Name> = last.map(|one| one.name.clone()).collect();
            self.bump();
            let at = self.at;
            for name in names.into_iter().rev() {
                self.at = at;
                let start = name.span;
                let kind = self.assignment(name);
                values.push(Statement { kind, span: self.span_since(start) });
            }
            if self.at == at || !self.eat(TokenKind::Comma) {
                break;
            }
            variables.extend(self.declarations("the name of a variable"));
        }
        (variables, values)
    }

    fn one(&mut self, kind: StatementKind) -> StatementKind {
        self.bump();
        kind
    }

    /// `keyword … end keyword`
    fn block(
        &mut self,
        keyword: Keyword,
        start: Span,
        inside: impl FnOnce(&mut Self) -> StatementKind,
    ) -> StatementKind {
        self.bump();
        self.open.push(keyword);
        let kind = inside(self);
        self.expect_end(keyword, start);
        self.open.pop();
        kind
    }

    fn conditional(&mut self, only: bool, start: Span) -> StatementKind {
        self.open.push(Keyword::If);
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            let branch_start = self.span();
            self.bump();
            let condition = self.expression();
            self.expect_keyword(Keyword::Then);
            let body = self.sequence(None);
            branches.push((condition, body, self.span_since(branch_start)));
            if self.at_word("elseif") || self.at_word("elif") {
                let diagnostic = Diagnostic::error(format!("{} is spelt `elsif` in LNT", self.found()))
                    .label(self.span(), "expected `elsif`");
                self.error(diagnostic);
            } else if !self.at_keyword(Keyword::Elsif) {
                break;
            }
        }
        if self.at_keyword(Keyword::Else) {
            let else_span = self.span();
            self.bump();
            if self.at_keyword(Keyword::If) && self.tokens[self.at].span.start == else_span.end + 1 {
                // `else if` needs an `end if` of its own; forgetting it is the common mistake.
                self.else_if(else_span);
            }
            otherwise = Some(Box::new(self.sequence(None)));
        }
        self.expect_end(Keyword::If, start);
        self.open.pop();
        StatementKind::If { only, branches, otherwise }
    }

    /// Counts `if` and `end if` from here: where one `end if` is missing, `elsif` was meant.
    fn else_if(&mut self, else_span: Span) {
        let mut open = 0usize;
        let mut at = self.at;
        while let Some(token) = self.tokens.get(at) {
            match token.kind {
                TokenKind::Keyword(Keyword::End) => {
                    match self.tokens.get(at + 1).map(|token| token.kind) {
                        Some(TokenKind::Keyword(Keyword::If)) if open == 0 => return,
                        Some(TokenKind::Keyword(Keyword::If)) => open -= 1,
                        Some(TokenKind::Keyword(Keyword::Process | Keyword::Function | Keyword::Module)) => {
                            break;
                        }
                        _ => {}
                    }
                    at += 1;
                }
                TokenKind::Keyword(Keyword::If) => open += 1,
                TokenKind::End => break,
                _ => {}
            }
            at += 1;
        }
        let span = Span { end: self.span().end, ..else_span };
        let diagnostic = Diagnostic::error("`else if` opens an `if` that is never closed")
            .label(span, "one `end if` is missing for this")
            .help("write `elsif`");
        self.error(diagnostic);
        self.forgiven += 1;
    }

    fn case(&mut self, start: Span) -> StatementKind {
        self.block(Keyword::Case, start, |parser| {
            let mut subjects = vec![parser.expression()];
            while parser.eat(TokenKind::Comma) {
                subjects.push(parser.expression());
            }
            // Other dialects of the language write `is`.
            if !parser.eat_keyword(Keyword::Is) {
                parser.expect_keyword(Keyword::In);
            }
            let mut variables = Vec::new();
            if parser.eat_keyword(Keyword::Var) {
                variables = parser.declarations("the name of a variable");
                parser.expect_keyword(Keyword::In);
            }
            parser.eat(TokenKind::Bar);
            let mut branches = Vec::new();
            loop {
                let before = parser.at;
                branches.push(parser.case_branch());
                if !parser.eat(TokenKind::Bar) || parser.at == before {
                    break;
                }
            }
            StatementKind::Case { subjects, variables, branches }
        })
    }

    fn case_branch(&mut self) -> CaseBranch {
        let start = self.span();
        let mut alternatives = Vec::new();
        loop {
            let alternative_start = self.span();
            let mut patterns = vec![self.pattern()];
            while self.eat(TokenKind::Comma) {
                patterns.push(self.pattern());
            }
            let guard = if self.eat_keyword(Keyword::Where) { Some(self.expression()) } else { None };
            alternatives.push(CaseAlternative { patterns, guard, span: self.span_since(alternative_start) });
            if !self.eat(TokenKind::Bar) {
                break;
            }
        }
        if matches!(self.peek(), TokenKind::FatArrow | TokenKind::Colon) {
            self.expected("`->`");
            self.bump();
        } else if !self.expect(TokenKind::Arrow, "`->` and a statement") {
            self.skip_statement();
            let body = Statement { kind: StatementKind::Wrong, span: self.span() };
            if self.peek() == TokenKind::Semicolon {
                self.bump();
                self.sequence(None);
            }
            return CaseBranch { alternatives, body, span: start };
        }
        let body = self.sequence(None);
        CaseBranch { alternatives, body, span: self.span_since(start) }
    }

    /// `loop [L in] B end loop`
    fn looping(
        &mut self,
        start: Span,
        build: impl FnOnce(&mut Self, Option<Name>, Box<Statement>) -> StatementKind,
    ) -> StatementKind {
        if !self.at_keyword(Keyword::Loop) {
            self.expected("`loop`");
            if !self.at_word("do") {
                return StatementKind::Wrong;
            }
        }
        self.block(Keyword::Loop, start, |parser| {
            let named = parser.peek() == TokenKind::Identifier
                && parser.peek_at(1) == TokenKind::Keyword(Keyword::In);
            let name = if named { parser.name("a loop") } else { None };
            if named {
                parser.bump();
            }
            let body = Box::new(parser.sequence(None));
            build(parser, name, body)
        })
    }

    fn for_loop(&mut self, start: Span) -> StatementKind {
        self.bump();
        let initial = Box::new(self.sequence(Some(Keyword::While)));
        if !self.expect_keyword(Keyword::While) {
            return StatementKind::Wrong;
        }
        let condition = self.expression();
        if !self.expect_keyword(Keyword::By) {
            return StatementKind::Wrong;
        }
        let step = Box::new(self.sequence(Some(Keyword::Loop)));
        self.looping(start, |_, name, body| StatementKind::For { name, initial, condition, step, body })
    }

    fn raise(&mut self) -> StatementKind {
        self.bump();
        let Some(gate) = self.name("the name of an exception") else { return StatementKind::Wrong };
        let values = if self.peek() == TokenKind::ParenOpen { self.actuals().values } else { Vec::new() };
        StatementKind::Raise { gate, values }
    }

    fn assertion(&mut self, keyword: Keyword, start: Span) -> StatementKind {
        self.bump();
        let condition = self.expression();
        if keyword == Keyword::Ensure {
            self.last_error = None;
            let diagnostic = Diagnostic::error("`ensure` is not supported")
                .label(self.span_since(start), "a postcondition")
                .help("write `assert V` before the end of the body, or before `return`");
            self.error(diagnostic);
        }
        let gate =
            if self.eat_keyword(Keyword::Raise) { self.name("the name of an exception") } else { None };
        if gate.is_some() && self.peek() == TokenKind::ParenOpen {
            self.actuals();
        }
        StatementKind::Assert { condition, gate }
    }

    fn parallel(&mut self) -> StatementKind {
        let mut synchronised = Vec::new();
        if self.at_gate_list(TokenKind::Keyword(Keyword::In)) {
            while let Some(gate) = self.name("the name of a gate") {
                let count = if self.eat(TokenKind::Hash) { self.count() } else { None };
                synchronised.push((gate, count));
                if !self.eat(TokenKind::Comma) {
                    break;
                }
            }
            self.bump();
        }
        let mut branches = Vec::new();
        loop {
            let start = self.span();
            let mut gates = Vec::new();
            if self.at_gate_list(TokenKind::Arrow) {
                gates = self.names("the name of a gate");
                self.bump();
            }
            let body = self.sequence(None);
            branches.push(ParBranch { gates, body, span: self.span_since(start) });
            if !self.eat(TokenKind::BarBar) {
                return StatementKind::Par { synchronised, branches };
            }
        }
    }

    fn count(&mut self) -> Option<u32> {
        let value = match self.peek() {
            TokenKind::Integer => integer_value(self.text_at(0)).and_then(|value| u32::try_from(value).ok()),
            _ => None,
        };
        if value.is_none() {
            self.expected("a number of branches after `#`");
        }
        self.bump();
        value
    }

    /// Whether `G, H#2 end` stands here.
    fn at_gate_list(&self, end: TokenKind) -> bool {
        let mut ahead = 0;
        loop {
            match self.peek_at(ahead) {
                TokenKind::Identifier | TokenKind::Comma | TokenKind::Hash | TokenKind::Integer => ahead += 1,
                kind => return kind == end && ahead > 0,
            }
        }
    }

    /// `exception E (x : T) is B`, any number of them, separated by nothing, `|` or `end exception`.
    fn handlers(&mut self) -> Vec<Handler> {
        let mut handlers = Vec::new();
        while !self.at_keyword(Keyword::In) && !self.silent {
            let start = self.span();
            let _ = self.eat_word("exception") || self.eat_word("event");
            let Some(gate) = self.name("the name of an exception") else { break };
            let parameters = if self.eat(TokenKind::ParenOpen) {
                let parameters = if self.peek() == TokenKind::ParenClose {
                    Vec::new()
                } else {
                    self.declarations("the name of a parameter")
                };
                self.expect(TokenKind::ParenClose, "`)`");
                parameters
            } else {
                Vec::new()
            };
            let channel = if self.eat(TokenKind::Colon) {
                if self.eat_keyword(Keyword::Any) { None } else { self.name("the name of a channel") }
            } else {
                None
            };
            if !self.eat(TokenKind::Arrow) && !self.expect_keyword(Keyword::Is) {
                self.skip_statement();
                break;
            }
            let body = self.handler_body();
            handlers.push(Handler { gate, channel, parameters, body, span: self.span_since(start) });
            if self.at_keyword(Keyword::End) && self.text_at(1).eq_ignore_ascii_case("exception") {
                self.bump();
                self.bump();
            }
            self.eat(TokenKind::Bar);
        }
        handlers
    }

    /// A sequence that also ends where the next handler begins.
    fn handler_body(&mut self) -> Statement {
        let start = self.span();
        let mut statements = vec![self.statement()];
        while self.eat(TokenKind::Semicolon) {
            statements.push(self.statement());
        }
        match statements.len() {
            1 => statements.remove(0),
            _ => Statement { kind: StatementKind::Sequence(statements), span: self.span_since(start) },
        }
    }

    /// What begins with a name: an assignment, an action, an instantiation or a call.
    fn simple(&mut self) -> StatementKind {
        let Some(name) = self.name("a statement") else { return StatementKind::Wrong };
        if self.peek() == TokenKind::Identifier && !self.at_word("_") {
            match name.key().as_str() {
                "use" => return StatementKind::Use(self.names("the name of a variable")),
                "access" => return StatementKind::Access(self.names("the name of a gate")),
                _ => {}
            }
        }
        if self.eat(TokenKind::Assign) {
            return self.assignment(name);
        }
        if self.at_part_assignment() {
            let path = self.path();
            self.bump();
            let value = self.expression();
            return StatementKind::AssignPart { variable: name, path, value };
        }
        if name.key() == "exit" && self.at_end_of_statement() {
            self.diagnostics.push(
                Diagnostic::warning("LNT has no `exit` statement")
                    .several("statements are `exit`, which LNT does not have")
                    .label(name.span, "treated as the end of the behaviour, as in LOTOS")
                    .help("write `null`, or nothing at the end of a process"),
            );
            return StatementKind::Null;
        }
        if self.peek() == TokenKind::Operator && self.text_at(0) == "=" {
            let diagnostic = Diagnostic::error("`=` compares, it does not assign")
                .label(self.span(), "expected `:=`")
                .help(format!("write `{} := …`", name.text));
            self.error(diagnostic);
            return StatementKind::Wrong;
        }
        let gates = if self.peek() == TokenKind::BracketOpen && !self.at_box() {
            Some(self.gate_actuals())
        } else {
            None
        };
        let arguments = match self.peek() {
            TokenKind::ParenOpen => Some(self.actuals()),
            TokenKind::Bang | TokenKind::Question => Some(self.bare_offers()),
            _ => None,
        };
        let guard = if self.eat_keyword(Keyword::Where) { Some(self.expression()) } else { None };
        StatementKind::Invoke(Box::new(Invoke { result: None, eval: false, name, gates, arguments, guard }))
    }

    /// `!V ?x`, as LOTOS writes offers.
    fn bare_offers(&mut self) -> Actuals {
        let start = self.span();
        let mut values = Vec::new();
        while matches!(self.peek(), TokenKind::Bang | TokenKind::Question) && !self.silent {
            values.push(self.actual());
        }
        let span = self.span_since(start);
        self.diagnostics.push(
            Diagnostic::warning("offers belong in parentheses")
                .several("actions have their offers written as in LOTOS, without parentheses")
                .label(span, "written as in LOTOS")
                .help("write `G (V, ?x)` for `G !V ?x`"),
        );
        Actuals { values, ellipsis: false, span }
    }

    /// Whether parts of a variable are named here, and then `:=`: `[i].f :=`.
    fn at_part_assignment(&self) -> bool {
        let mut depth = 0usize;
        let mut ahead = 0;
        loop {
            match self.peek_at(ahead) {
                TokenKind::BracketOpen => depth += 1,
                TokenKind::BracketClose => depth = depth.saturating_sub(1),
                TokenKind::End | TokenKind::Semicolon => return false,
                TokenKind::Assign => return depth == 0 && ahead > 1,
                TokenKind::Dot if depth == 0 && self.peek_at(ahead + 1) == TokenKind::Identifier => {
                    ahead += 1
                }
                _ if depth == 0 => return false,
                _ => {}
            }
            ahead += 1;
        }
    }

    /// `[i].f…`
    fn path(&mut self) -> Vec<Part> {
        let mut path = Vec::new();
        loop {
            if self.eat(TokenKind::BracketOpen) {
                path.push(Part::Element(self.expression()));
                self.expect(TokenKind::BracketClose, "`]`");
            } else if self.eat(TokenKind::Dot) {
                path.extend(self.name("the name of a field").map(Part::Field));
            } else {
                return path;
            }
            if path.len() > super::DEPTH_LIMIT {
                let diagnostic =
                    Diagnostic::error(format!("a path with more than {} parts", super::DEPTH_LIMIT))
                        .label(self.span(), "too deep");
                self.error(diagnostic);
                self.skip_statement();
                return path;
            }
        }
    }

    fn at_end_of_statement(&self) -> bool {
        self.peek() == TokenKind::Semicolon || self.at_sequence_end()
    }

    fn assignment(&mut self, variable: Name) -> StatementKind {
        if self.eat_keyword(Keyword::Any) {
            let ty = if self.peek() == TokenKind::Identifier { self.name("a type") } else { None };
            let condition = if self.eat_keyword(Keyword::Where) { Some(self.expression()) } else { None };
            return StatementKind::AssignAny { variable, ty, condition };
        }
        let value = self.expression();
        match value.kind {
            ExpressionKind::Call { name, gates, arguments, infix: false }
                if arguments.values.iter().any(|actual| !matches!(actual.kind, ActualKind::Value(_))) =>
            {
                let arguments = Some(arguments);
                let result = Some(variable);
                StatementKind::Invoke(Box::new(Invoke {
                    result,
                    eval: false,
                    name,
                    gates,
                    arguments,
                    guard: None,
                }))
            }
            kind => StatementKind::Assign { variable, value: Expression { kind, span: value.span } },
        }
    }
}
