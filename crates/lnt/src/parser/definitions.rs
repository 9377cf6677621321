//! Modules, types, channels, and the heads of functions and processes.

use source::{Diagnostic, Span};

use super::Parser;
use crate::lexer::{Keyword, TokenKind, integer_value, unquote};
use crate::tree::*;

impl Parser<'_> {
    /// `module M (A, B) with "get" is … end module`
    pub(super) fn module(&mut self) -> Option<Module> {
        let start = self.span();
        if !self.eat_keyword(Keyword::Module) {
            let diagnostic = Diagnostic::error(format!("expected `module`, found {}", self.found()))
                .label(start, "expected `module`");
            self.error(diagnostic.help("an LNT file holds one module: `module NAME is … end module`"));
            while !matches!(self.peek(), TokenKind::End | TokenKind::Keyword(Keyword::Module)) {
                self.bump();
            }
            if !self.eat_keyword(Keyword::Module) {
                return None;
            }
        }
        let name = self.name("a name for the module")?;
        let mut module = Module {
            name,
            imports: Vec::new(),
            with: Vec::new(),
            pragmas: Vec::new(),
            types: Vec::new(),
            channels: Vec::new(),
            functions: Vec::new(),
            processes: Vec::new(),
            span: start,
        };
        if self.eat(TokenKind::ParenOpen) {
            module.imports = self.names("the name of a module");
            self.expect(TokenKind::ParenClose, "`)`");
        }
        module.with = self.with();
        self.expect_keyword(Keyword::Is);
        self.open.push(Keyword::Module);
        loop {
            match self.peek() {
                TokenKind::Bang => self.pragmas(&mut module.pragmas),
                TokenKind::Keyword(Keyword::Type) => {
                    if let Some(definition) = self.type_definition() {
                        module.types.push(definition);
                    }
                }
                TokenKind::Keyword(Keyword::Channel) => {
                    if let Some(definition) = self.channel_definition() {
                        module.channels.push(definition);
                    }
                }
                TokenKind::Keyword(Keyword::Function) => {
                    if let Some(definition) = self.callable(Keyword::Function) {
                        module.functions.push(definition);
                    }
                }
                TokenKind::Keyword(Keyword::Process) => {
                    if let Some(definition) = self.callable(Keyword::Process) {
                        module.processes.push(definition);
                    }
                }
                TokenKind::Keyword(Keyword::End)
                    if self.peek_at(1) == TokenKind::Keyword(Keyword::Module) =>
                {
                    self.expect_end(Keyword::Module, start);
                    break;
                }
                TokenKind::End => {
                    self.expect_end(Keyword::Module, start);
                    break;
                }
                _ => {
                    let what = "`type`, `channel`, `function`, `process` or `end module`";
                    self.expected(what);
                    self.bump();
                    self.skip_to_definition();
                }
            }
        }
        self.open.pop();
        module.span = self.span_since(start);
        if self.peek() != TokenKind::End {
            let diagnostic = Diagnostic::error(format!("{} after the end of the module", self.found()))
                .label(self.span(), "nothing may follow")
                .help("an LNT file holds one module: put the second one in its own file");
            self.error(diagnostic);
        }
        Some(module)
    }

    fn skip_to_definition(&mut self) {
        loop {
            match self.peek() {
                TokenKind::End
                | TokenKind::Keyword(
                    Keyword::Type | Keyword::Channel | Keyword::Function | Keyword::Process,
                ) => {
                    // `end process` closes what was skipped; it opens nothing.
                    if self.at == 0 || self.tokens[self.at - 1].kind != TokenKind::Keyword(Keyword::End) {
                        return;
                    }
                    if self.peek() == TokenKind::End {
                        return;
                    }
                }
                TokenKind::Keyword(Keyword::End)
                    if self.peek_at(1) == TokenKind::Keyword(Keyword::Module) =>
                {
                    return;
                }
                _ => {}
            }
            self.bump();
        }
    }

    /// `with "==", "get" as "read"`
    fn with(&mut self) -> Vec<With> {
        let mut clauses = Vec::new();
        if !self.eat_keyword(Keyword::With) {
            return clauses;
        }
        loop {
            let Some(name) = self.function_name("the name of a predefined function, such as \"==\"") else {
                return clauses;
            };
            let alias =
                if self.eat_word("as") { self.function_name("the new name of the function") } else { None };
            clauses.push(With { name, alias });
            if !self.eat(TokenKind::Comma) {
                return clauses;
            }
        }
    }

    /// A name that may be an operator, quoted, or marked as infix by underscores: `f`, `+`, `"+"`, `_+_`.
    fn function_name(&mut self, what: &str) -> Option<Name> {
        let span = self.span();
        match self.peek() {
            TokenKind::Operator => {
                let name = Name { text: self.text_at(0).to_owned(), span };
                self.bump();
                Some(name)
            }
            TokenKind::String => {
                let text = unquote(self.text_at(0)).unwrap_or_default();
                self.bump();
                Some(Name { text, span })
            }
            TokenKind::Identifier if self.text_at(0) == "_" && self.peek_at(1) == TokenKind::Operator => {
                let text = self.text_at(1).to_owned();
                self.bump();
                self.bump();
                self.eat_word("_");
                Some(Name { text, span: self.span_since(span) })
            }
            _ => self.name(what),
        }
    }

    /// `!name 6 "text"`, any number of them.
    pub(super) fn pragmas(&mut self, pragmas: &mut Vec<Pragma>) {
        while self.peek() == TokenKind::Bang {
            let start = self.span();
            self.bump();
            let Some(name) = self.name("the name of a pragma") else { return };
            let mut number = None;
            loop {
                let negative = self.peek() == TokenKind::Operator
                    && self.text_at(0) == "-"
                    && self.peek_at(1) == TokenKind::Integer;
                if negative {
                    self.bump();
                }
                match self.peek() {
                    TokenKind::Integer => {
                        number =
                            integer_value(self.text_at(0)).map(|value| if negative { -value } else { value });
                        self.bump();
                    }
                    TokenKind::String => self.bump(),
                    _ => break,
                }
            }
            pragmas.push(Pragma { name, number, span: self.span_since(start) });
        }
    }

    pub(super) fn type_definition(&mut self) -> Option<TypeDefinition> {
        let start = self.span();
        self.bump();
        self.open.push(Keyword::Type);
        let Some(name) = self.name("a name for the type") else {
            self.open.pop();
            self.skip_to_definition();
            return None;
        };
        let mut pragmas = Vec::new();
        self.expect_keyword(Keyword::Is);
        self.pragmas(&mut pragmas);
        let body = self.type_body(&mut pragmas);
        let with = self.with();
        if matches!(body, TypeBody::Wrong) {
            self.last_error = Some(self.at);
            while !matches!(self.peek(), TokenKind::End | TokenKind::Keyword(Keyword::End)) {
                self.bump();
            }
        }
        self.expect_end(Keyword::Type, start);
        self.open.pop();
        Some(TypeDefinition { name, pragmas, body, with })
    }

    fn type_body(&mut self, pragmas: &mut Vec<Pragma>) -> TypeBody {
        let of = TokenKind::Keyword(Keyword::Of);
        let sorted =
            self.at_word("sorted") && self.peek_at(1) == TokenKind::Identifier && self.peek_at(2) == of;
        if sorted {
            self.bump();
        }
        if self.peek_at(1) == of && (self.at_word("list") || self.at_word("set")) {
            let list = self.at_word("list");
            self.bump();
            self.bump();
            let Some(element) = self.name("the name of a type") else { return TypeBody::Wrong };
            self.pragmas(pragmas);
            return if list { TypeBody::List { element, sorted } } else { TypeBody::Set { element, sorted } };
        }
        if self.peek_at(1) == TokenKind::Identifier && (self.at_word("list") || self.at_word("set")) {
            self.bump();
            self.expected("`of` and the type of the elements");
            return TypeBody::Wrong;
        }
        if self.at_word("array") && self.peek_at(1) == TokenKind::BracketOpen {
            self.bump();
            self.bump();
            return self.array_body().unwrap_or(TypeBody::Wrong);
        }
        if self.at_word("range")
            && !matches!(self.peek_at(1), TokenKind::Comma | TokenKind::ParenOpen | TokenKind::Keyword(_))
        {
            self.bump();
            return self.range_body().unwrap_or(TypeBody::Wrong);
        }
        if self.peek() == TokenKind::Identifier && self.peek_at(1) == TokenKind::Colon {
            return self.predicate_body().unwrap_or(TypeBody::Wrong);
        }
        if matches!(self.peek(), TokenKind::Keyword(Keyword::End | Keyword::With)) {
            // An external type has no constructors; the checker says what to do about it.
            if !pragmas.is_empty() {
                return TypeBody::Constructors(Vec::new());
            }
        }
        self.constructors(pragmas)
    }

    fn array_body(&mut self) -> Option<TypeBody> {
        let (lower, upper) = self.bounds()?;
        self.expect(TokenKind::BracketClose, "`]`");
        self.expect_keyword(Keyword::Of);
        let element = self.name("the name of a type")?;
        Some(TypeBody::Array { lower, upper, element })
    }

    fn range_body(&mut self) -> Option<TypeBody> {
        let (lower, upper) = self.bounds()?;
        self.expect_keyword(Keyword::Of);
        let base = self.name("the name of a type")?;
        Some(TypeBody::Range { lower, upper, base })
    }

    fn predicate_body(&mut self) -> Option<TypeBody> {
        let variable = self.name("a name for the value")?;
        self.bump();
        let base = self.name("the name of a type")?;
        self.expect_keyword(Keyword::Where);
        let condition = self.expression();
        Some(TypeBody::Predicate { variable, base, condition })
    }

    fn bounds(&mut self) -> Option<(Bound, Bound)> {
        let lower = self.bound()?;
        self.expect(TokenKind::DotDot, "`..`");
        let upper = self.bound()?;
        Some((lower, upper))
    }

    fn bound(&mut self) -> Option<Bound> {
        let start = self.span();
        let sign = self.peek() == TokenKind::Operator && matches!(self.text_at(0), "-" | "+");
        let negative = sign && self.text_at(0) == "-";
        if sign {
            self.bump();
        }
        let value = match self.peek() {
            TokenKind::Integer => {
                let value = integer_value(self.text_at(0));
                if value.is_none() {
                    self.number_too_large();
                }
                value.unwrap_or(0)
            }
            TokenKind::Char => i64::from(u32::from(self.char_value())),
            _ => {
                self.expected("a constant bound, such as `0` or `'a'`");
                return None;
            }
        };
        self.bump();
        Some(Bound { value: if negative { -value } else { value }, span: self.span_since(start) })
    }

    pub(super) fn number_too_large(&mut self) {
        let diagnostic = Diagnostic::error("this number is too large")
            .label(self.span(), "does not fit")
            .note(format!("numbers go up to {}", i64::MAX));
        self.error(diagnostic);
    }

    /// The character of a token `'c'`, after a complaint where it isn't one.
    pub(super) fn char_value(&mut self) -> char {
        let value = unquote(self.text_at(0)).unwrap_or_default();
        let mut letters = value.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) => letter,
            _ => {
                let diagnostic = Diagnostic::error(format!("{} is not one character", self.found()))
                    .label(self.span(), "expected one character between the quotes")
                    .help("write a string between double quotes");
                self.error(diagnostic);
                '?'
            }
        }
    }

    fn constructors(&mut self, pragmas: &mut Vec<Pragma>) -> TypeBody {
        let mut constructors = Vec::new();
        loop {
            let Some(name) = self.name("the name of a constructor") else { return TypeBody::Wrong };
            let mut fields = Vec::new();
            if self.eat(TokenKind::ParenOpen) {
                if self.peek() != TokenKind::ParenClose {
                    fields = self.declarations("the name of a field");
                }
                self.expect(TokenKind::ParenClose, "`)`");
            }
            self.pragmas(pragmas);
            constructors.push(ConstructorDefinition { name, fields });
            if !self.eat(TokenKind::Comma) {
                if self.peek() == TokenKind::Identifier && !self.silent {
                    let diagnostic = Diagnostic::error("a `,` is missing between two constructors")
                        .label(self.span(), "expected `,` before this");
                    self.error(diagnostic);
                    continue;
                }
                return TypeBody::Constructors(constructors);
            }
        }
    }

    /// `x, y : T, z : U`
    pub(super) fn declarations(&mut self, what: &str) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        loop {
            let names = self.names(what);
            if names.is_empty() || !self.expect(TokenKind::Colon, "`:` and a type") {
                return declarations;
            }
            let Some(ty) = self.name("the name of a type") else { return declarations };
            declarations.extend(names.into_iter().map(|name| Declaration { name, ty: ty.clone() }));
            if !self.eat(TokenKind::Comma) {
                return declarations;
            }
        }
    }

    pub(super) fn channel_definition(&mut self) -> Option<ChannelDefinition> {
        let start = self.span();
        self.bump();
        self.open.push(Keyword::Channel);
        let name = self.channel_name("a name for the channel");
        self.expect_keyword(Keyword::Is);
        self.eat_keyword(Keyword::Raise);
        let mut profiles = Vec::new();
        loop {
            if !self.expect(TokenKind::ParenOpen, "a profile, such as `(nat, bool)`") {
                while !matches!(self.peek(), TokenKind::End | TokenKind::Keyword(Keyword::End)) {
                    self.bump();
                }
                break;
            }
            profiles.push(self.profile());
            self.expect(TokenKind::ParenClose, "`)`");
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect_end(Keyword::Channel, start);
        self.open.pop();
        Some(ChannelDefinition { name: name?, profiles })
    }

    /// `nat, bool` or `x, y : nat, z : bool`
    fn profile(&mut self) -> Vec<(Option<Name>, Name)> {
        let mut types: Vec<(Option<Name>, Name)> = Vec::new();
        let mut pending = 0;
        while self.peek() != TokenKind::ParenClose {
            let Some(name) = self.name("the name of a type") else { break };
            pending += 1;
            types.push((None, name));
            if self.eat(TokenKind::Colon) {
                let Some(ty) = self.name("the name of a type") else { break };
                let first = types.len() - pending;
                for (name, slot) in &mut types[first..] {
                    *name = Some(std::mem::replace(slot, ty.clone()));
                }
                pending = 0;
            }
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        types
    }

    /// The name of a channel; `any` is one although it is a keyword.
    fn channel_name(&mut self, what: &str) -> Option<Name> {
        if self.at_keyword(Keyword::Any) {
            let name = Name { text: "any".to_owned(), span: self.span() };
            self.bump();
            return Some(name);
        }
        self.name(what)
    }

    /// `A, B : c, D : any`
    pub(super) fn gate_declarations(&mut self) -> Vec<GateDeclaration> {
        let mut gates = Vec::new();
        loop {
            self.eat_keyword(Keyword::Raise);
            let names = self.names("the name of a gate");
            if names.is_empty() {
                return gates;
            }
            if self.peek() != TokenKind::Colon {
                let diagnostic =
                    Diagnostic::error(format!("expected `:` and a channel, found {}", self.found()))
                        .label(self.span(), "expected `:` and a channel")
                        .help("`any` allows all offers, `none` allows no offers: `[A, B : any]`");
                self.error(diagnostic);
                return gates;
            }
            self.bump();
            let Some(channel) = self.channel_name("the name of a channel") else { return gates };
            gates.extend(names.into_iter().map(|name| GateDeclaration { name, channel: channel.clone() }));
            if !self.eat(TokenKind::Comma) {
                return gates;
            }
        }
    }

    /// A function or a process, from its first keyword.
    pub(super) fn callable(&mut self, keyword: Keyword) -> Option<Callable> {
        let start = self.span();
        self.bump();
        self.open.push(keyword);
        let name = self.function_name(&format!("a name for the {}", keyword.text()));
        let mut gates = Vec::new();
        let mut parameters = Vec::new();
        let mut result = None;
        let mut pragmas = Vec::new();
        if self.eat(TokenKind::BracketOpen) {
            if self.peek() != TokenKind::BracketClose {
                gates = self.gate_declarations();
            }
            self.close_list(TokenKind::BracketClose, "`]`");
        }
        if self.eat(TokenKind::ParenOpen) {
            if self.peek() != TokenKind::ParenClose {
                parameters = self.parameters();
            }
            self.close_list(TokenKind::ParenClose, "`)`");
        }
        if self.peek() == TokenKind::Colon {
            let colon = self.span();
            self.bump();
            result = self.name("the name of the result's type");
            if keyword == Keyword::Process {
                self.last_error = None;
                let diagnostic = Diagnostic::error("a process has no result")
                    .label(self.span_since(colon), "not allowed here")
                    .help("pass a value back with a parameter `(out x : nat)`");
                self.error(diagnostic);
            }
        }
        if self.eat_word("raises") {
            gates.extend(self.gate_declarations());
        }
        self.pragmas(&mut pragmas);
        self.expect_keyword(Keyword::Is);
        self.pragmas(&mut pragmas);
        let body = self.body(start);
        if !self.at_keyword(Keyword::End) && !self.silent {
            self.expect_end(keyword, start);
            self.skip_to_body_end(keyword);
        }
        self.expect_end(keyword, start);
        self.open.pop();
        Some(Callable { name: name?, gates, parameters, result, pragmas, body, span: self.span_since(start) })
    }

    /// The closing bracket of a list; after an error, whatever is before it is skipped.
    fn close_list(&mut self, close: TokenKind, what: &str) {
        if self.expect(close, what) {
            return;
        }
        while !matches!(
            self.peek(),
            TokenKind::End
                | TokenKind::BracketClose
                | TokenKind::ParenClose
                | TokenKind::Keyword(Keyword::Is | Keyword::End)
        ) {
            self.bump();
        }
        self.eat(close);
    }

    /// After an error, to the `end` of this function or process, but never into the next one.
    fn skip_to_body_end(&mut self, keyword: Keyword) {
        loop {
            match self.peek() {
                TokenKind::End => return,
                TokenKind::Keyword(Keyword::End) if matches!(self.peek_at(1), TokenKind::Keyword(next) if next == keyword || next == Keyword::Module) =>
                {
                    return;
                }
                TokenKind::Keyword(
                    Keyword::Type | Keyword::Channel | Keyword::Function | Keyword::Process,
                ) if self.tokens[self.at - 1].kind != TokenKind::Keyword(Keyword::End) => {
                    self.last_error = Some(self.at);
                    return;
                }
                _ => self.bump(),
            }
        }
    }

    fn body(&mut self, start: Span) -> Statement {
        if self.at_keyword(Keyword::End) {
            let diagnostic = Diagnostic::error("this body is empty")
                .label(self.span(), "expected a statement")
                .label(start, "the body of this")
                .help("write `null` if nothing is to happen");
            self.error(diagnostic);
            return Statement { kind: StatementKind::Wrong, span: self.span() };
        }
        self.sequence(None)
    }

    /// `x, y : T, out z : U, in out v : W`
    fn parameters(&mut self) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        loop {
            let mode = self.mode();
            let names = self.names("the name of a parameter");
            if names.is_empty() || !self.expect(TokenKind::Colon, "`:` and a type") {
                return parameters;
            }
            let Some(ty) = self.name("the name of a type") else { return parameters };
            parameters.extend(names.into_iter().map(|name| Parameter { mode, name, ty: ty.clone() }));
            if !self.eat(TokenKind::Comma) {
                return parameters;
            }
        }
    }

    fn mode(&mut self) -> Mode {
        let input = self.eat_keyword(Keyword::In);
        let mode = if self.eat_keyword(Keyword::Inout) || (input && self.eat_keyword(Keyword::Out)) {
            Mode::InOut
        } else if !input && self.eat_keyword(Keyword::Out) {
            Mode::Out
        } else {
            Mode::In
        };
        match (mode, self.eat_keyword(Keyword::Var)) {
            (Mode::In, true) => Mode::InVar,
            (mode, _) => mode,
        }
    }
}
