//! State formulas, by operator precedence.

use source::{Diagnostic, Span};

use super::Parser;
use crate::lexer::{KEYWORDS, TokenKind};
use crate::tree::{
    BinaryOperator, Binding, Branch, CasePattern, Domain, DomainValues, Expression, ExpressionKind, Formula,
    FormulaKind, Name, Type, UnaryOperator,
};

/// Levels of operators, loosest first.
const IMPLIES: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const COMPARISON: u8 = 4;
pub(super) const SUM: u8 = 5;
const PRODUCT: u8 = 6;

/// How many operators of one chain of arithmetic or implications are accepted: they nest.
const CHAIN_LIMIT: usize = 100;

impl Parser<'_> {
    /// A state formula.
    pub(super) fn formula(&mut self) -> Formula {
        self.operators(IMPLIES)
    }

    fn operator(&self) -> Option<(BinaryOperator, u8)> {
        if !matches!(self.kind(), TokenKind::Word | TokenKind::Symbol) {
            return None;
        }
        Some(match self.tokens[self.at].text.as_str() {
            "implies" => (BinaryOperator::Implies, IMPLIES),
            "equ" | "<=>" => (BinaryOperator::Equ, IMPLIES),
            "xor" => (BinaryOperator::Xor, IMPLIES),
            "or" => (BinaryOperator::Or, OR),
            "and" => (BinaryOperator::And, AND),
            "=" | "==" => (BinaryOperator::Equal, COMPARISON),
            "<>" | "!=" => (BinaryOperator::Different, COMPARISON),
            "<" => (BinaryOperator::Less, COMPARISON),
            "<=" => (BinaryOperator::LessEqual, COMPARISON),
            ">" => (BinaryOperator::Greater, COMPARISON),
            ">=" => (BinaryOperator::GreaterEqual, COMPARISON),
            "+" => (BinaryOperator::Plus, SUM),
            "-" => (BinaryOperator::Minus, SUM),
            "*" => (BinaryOperator::Times, PRODUCT),
            "/" | "div" => (BinaryOperator::Divide, PRODUCT),
            "mod" | "%" => (BinaryOperator::Modulo, PRODUCT),
            _ => return None,
        })
    }

    /// Operands joined by operators of at least `level`.
    pub(super) fn operators(&mut self, level: u8) -> Formula {
        let start = self.span();
        let mut left = self.nested(wrong(start), |parser| parser.operand());
        if self.eat("of") {
            let of = self.as_expression(left);
            let type_of = self.type_name();
            let span = self.since(start);
            let kind = ExpressionKind::Of(Box::new(of), type_of);
            left = Formula { kind: FormulaKind::Data(Expression { kind, span }), span };
        }
        let mut chained = 0;
        while let Some((operator, found)) = self.operator() {
            if found < level {
                break;
            }
            chained += 1;
            if chained > CHAIN_LIMIT && !matches!(operator, BinaryOperator::And | BinaryOperator::Or) {
                self.error(
                    Diagnostic::error(format!("more than {CHAIN_LIMIT} operators in a row"))
                        .label(self.span(), "this is one too many")
                        .help("put parts of the chain in brackets"),
                );
                // Reading on would nest what every pass has to walk down.
                self.silent = true;
                self.at = self.tokens.len() - 1;
                return left;
            }
            self.bump();
            match operator {
                BinaryOperator::And | BinaryOperator::Or => {
                    let word = if found == AND { "and" } else { "or" };
                    let mut all = vec![left];
                    loop {
                        all.push(self.operators(found + 1));
                        if !self.eat(word) {
                            break;
                        }
                    }
                    let kind = if found == AND { FormulaKind::And(all) } else { FormulaKind::Or(all) };
                    left = Formula { kind, span: self.since(start) };
                }
                BinaryOperator::Implies => {
                    let right = self.nested(wrong(start), |parser| parser.operators(IMPLIES));
                    let kind = FormulaKind::Binary(operator, Box::new(left), Box::new(right));
                    left = Formula { kind, span: self.since(start) };
                }
                BinaryOperator::Equ | BinaryOperator::Xor => {
                    let right = self.operators(found + 1);
                    let kind = FormulaKind::Binary(operator, Box::new(left), Box::new(right));
                    left = Formula { kind, span: self.since(start) };
                }
                _ => {
                    let right = self.operators(found + 1);
                    let (left_data, right_data) = (self.as_expression(left), self.as_expression(right));
                    let kind = ExpressionKind::Binary(operator, Box::new(left_data), Box::new(right_data));
                    let span = self.since(start);
                    left = Formula { kind: FormulaKind::Data(Expression { kind, span }), span };
                    if found == COMPARISON
                        && let Some((_, COMPARISON)) = self.operator()
                    {
                        let diagnostic = Diagnostic::error("comparisons can't be chained")
                                .label(self.span(), "a second comparison")
                                .help("write `a < b and b < c`; a modality `<R> F` after a formula needs `and` or `or` before it");
                        self.error(diagnostic);
                    }
                }
            }
        }
        left
    }

    fn operand(&mut self) -> Formula {
        let start = self.span();
        let token = &self.tokens[self.at];
        let data = |kind: ExpressionKind| FormulaKind::Data(Expression { kind, span: start });
        let kind = match token.kind {
            TokenKind::Number => match (token.text.parse::<i64>(), token.text.parse::<f64>()) {
                (Ok(value), _) => data(ExpressionKind::Number(value)),
                (Err(_), Ok(value)) if token.text.contains('.') => data(ExpressionKind::Real(value)),
                _ => {
                    let diagnostic = Diagnostic::error("this number is too large")
                        .label(start, format!("at most {}", i64::MAX));
                    self.error(diagnostic);
                    data(ExpressionKind::Wrong)
                }
            },
            TokenKind::Text => data(ExpressionKind::Text(token.text.clone())),
            TokenKind::Pattern if token.text.chars().count() == 1 => {
                data(ExpressionKind::Char(token.text.chars().next().unwrap_or_default()))
            }
            TokenKind::Pattern => {
                let diagnostic = Diagnostic::error("a pattern on labels is not a formula about states")
                    .label(start, "expected a formula")
                    .help(format!(
                        "write `<'{0}'> true` (such a step is possible) or `['{0}'] false` (it is not)",
                        token.text
                    ));
                self.error(diagnostic);
                data(ExpressionKind::Wrong)
            }
            TokenKind::End => return self.no_operand(start),
            TokenKind::Word | TokenKind::Symbol => return self.construct(start),
        };
        self.bump();
        Formula { kind, span: start }
    }

    fn construct(&mut self, start: Span) -> Formula {
        let text = self.tokens[self.at].text.clone();
        let kind = match text.as_str() {
            "true" | "false" => {
                self.bump();
                let kind = ExpressionKind::Bool(text == "true");
                FormulaKind::Data(Expression { kind, span: start })
            }
            "not" => {
                self.bump();
                FormulaKind::Not(Box::new(self.operators(COMPARISON)))
            }
            "-" => {
                self.bump();
                let of = self.operators(PRODUCT + 1);
                let of = self.as_expression(of);
                let kind = ExpressionKind::Unary(UnaryOperator::Minus, Box::new(of));
                FormulaKind::Data(Expression { kind, span: self.since(start) })
            }
            "(" => {
                self.bump();
                self.brackets += 1;
                let inside = self.formula();
                self.brackets -= 1;
                self.close(")", start);
                return Formula { span: self.since(start), ..inside };
            }
            "<" | "[" => return self.modality(start, text == "<"),
            "{" => {
                self.bump();
                let list = self.list("}");
                self.close("}", start);
                let kind = ExpressionKind::Call("{}".to_owned(), list);
                FormulaKind::Data(Expression { kind, span: self.since(start) })
            }
            "mu" | "nu" => self.fixpoint(text == "mu"),
            "forall" | "exists" => self.quantified(text == "exists"),
            "if" => self.conditional(start),
            "let" => self.let_in(start),
            "case" => match self.case(start, &mut |parser| parser.formula()) {
                Some((of, branches)) => FormulaKind::Case(Box::new(of), branches),
                None => wrong(start).kind,
            },
            _ if self.kind() == TokenKind::Word && !KEYWORDS.contains(&text.as_str()) => {
                let name = Name { text, span: start };
                self.bump();
                if self.at(".") && self.tokens[self.ahead(1)].kind == TokenKind::Word {
                    let diagnostic = Diagnostic::error("fields of records are not supported")
                        .label(self.span(), "a field of a value")
                        .note("values of the model's types are compared as labels print them, as a whole")
                        .help("match the whole value, `!PAIR (1, ROCK)`, or the text of the label with a pattern");
                    self.error(diagnostic);
                    self.bump();
                    self.bump();
                    return wrong(start);
                }
                let arguments = if self.at("(") { self.arguments() } else { Vec::new() };
                FormulaKind::Name(name, arguments)
            }
            _ => return self.no_operand(start),
        };
        Formula { kind, span: self.since(start) }
    }

    /// Gives up on the file where one construct has too many parts: each of them nests the others.
    pub(super) fn limit(&mut self, count: usize, what: &str) {
        if count >= CHAIN_LIMIT {
            self.last_error = None;
            let diagnostic = Diagnostic::error(format!("more than {CHAIN_LIMIT} {what} in one construct"))
                .label(self.span(), "this is one too many")
                .help("nest a second construct in the last one");
            self.error(diagnostic);
            self.silent = true;
            self.at = self.tokens.len() - 1;
        }
    }

    fn no_operand(&mut self, start: Span) -> Formula {
        let mut diagnostic = self.expected_diagnostic("a formula");
        diagnostic = match self.tokens[self.at].text.as_str() {
            "tau" | "any" | "nil" if self.kind() == TokenKind::Word => {
                diagnostic.help("steps are written in a modality: `< tau > true`")
            }
            "while" | "for" | "loop" | "repeat" if self.kind() == TokenKind::Word => diagnostic.help(
                "iterations are regular formulas: write them in a modality, `< while … end while > true`",
            ),
            "@" => diagnostic.help("`@` follows a possibility: `< R > @`"),
            "-|" => diagnostic.help("`-|` follows a necessity: `[ R ] -|`"),
            "," if self.kind() == TokenKind::Symbol => diagnostic,
            _ => diagnostic,
        };
        self.error(diagnostic);
        // Step over what can't start or end anything, so that the rest is read.
        if self.kind() == TokenKind::Symbol
            && matches!(self.tokens[self.at].text.as_str(), "&" | "~" | "!" | "@" | "-|")
        {
            self.bump();
        }
        wrong(start)
    }

    /// `<R> F`, `[R] F`, `<R> @`, `[R] -|`
    fn modality(&mut self, start: Span, possible: bool) -> Formula {
        self.bump();
        self.brackets += 1;
        let regular = self.regular();
        self.brackets -= 1;
        self.close(if possible { ">" } else { "]" }, start);
        let kind = if possible && self.eat("@") {
            FormulaKind::Forever(regular)
        } else if !possible && self.eat("-|") {
            FormulaKind::Saturated(regular)
        } else {
            if self.at("@") || self.at("-|") {
                let (right, wrong) = if possible { ("< R > @", "-|") } else { ("[ R ] -|", "@") };
                let diagnostic = Diagnostic::error(format!("`{wrong}` does not follow this modality"))
                    .label(self.span(), "not here")
                    .label(start, "because of this")
                    .help(format!("write `{right}`"));
                self.error(diagnostic);
                self.bump();
                return Formula { kind: FormulaKind::Forever(regular), span: self.since(start) };
            }
            let ends = self.kind() == TokenKind::End
                || [")", "and", "or", "end", "implies", "expected"].iter().any(|end| self.at(end));
            if ends {
                let found = self.found();
                let what = if possible {
                    "`true`: such a step is possible"
                } else {
                    "`false`: there is no such step"
                };
                let diagnostic =
                    Diagnostic::error(format!("expected a formula after the modality, found {found}"))
                        .label(self.span(), "expected a formula")
                        .label(start, "after this modality")
                        .help(format!("write {what}"));
                self.error(diagnostic);
                return wrong(start);
            }
            let body = Box::new(self.operators(COMPARISON));
            if possible {
                FormulaKind::Possible(regular, body)
            } else {
                FormulaKind::Necessary(regular, body)
            }
        };
        Formula { kind, span: self.since(start) }
    }

    /// `mu X (x:T := E) . F`
    fn fixpoint(&mut self, least: bool) -> FormulaKind {
        let span = self.span();
        self.bump();
        let name = self.name("the name of the fixpoint variable");
        // A bracket without `x:` behind it begins the body: the dot is missing.
        let has_parameters = self.at("(")
            && self.tokens[self.ahead(1)].kind == TokenKind::Word
            && (self.tokens[self.ahead(2)].is(":") || self.tokens[self.ahead(2)].is(","));
        let parameters = if has_parameters {
            let opener = self.span();
            self.bump();
            let parameters = self.bindings();
            self.close(")", opener);
            parameters
        } else {
            Vec::new()
        };
        self.dot("the fixpoint variable");
        let body = Box::new(self.formula());
        match name {
            Some(name) => FormulaKind::Fixpoint { least, name, parameters, body },
            None => wrong(span).kind,
        }
    }

    fn dot(&mut self, behind: &str) {
        if self.eat(".") {
            return;
        }
        let diagnostic =
            self.expected_diagnostic("`.`").note(format!("a `.` stands between {behind} and the body"));
        self.error(diagnostic);
    }

    /// `x:T := E, y, z:U := E`
    pub(super) fn bindings(&mut self) -> Vec<Binding> {
        let mut bindings = Vec::new();
        loop {
            let names = self.names();
            let Some(first) = names.first().map(|name| name.text.clone()) else { return bindings };
            let type_of = self.type_of();
            if !self.eat(":=") {
                let diagnostic = self
                    .expected_diagnostic("`:=` and a value")
                    .help(format!("give `{first}` its first value: `{first}:nat := 0`"));
                self.error(diagnostic);
                return bindings;
            }
            let value = self.expression();
            bindings.extend(names.into_iter().map(|name| Binding {
                name,
                type_of: type_of.clone(),
                value: value.clone(),
            }));
            if !self.at(",") {
                return bindings;
            }
            self.limit(bindings.len(), "variables");
            self.bump();
        }
    }

    /// `x, y, z` before their common type; none after an error.
    pub(super) fn names(&mut self) -> Vec<Name> {
        let mut names = Vec::new();
        loop {
            match self.name("the name of a variable") {
                Some(name) => names.push(name),
                None => return Vec::new(),
            }
            if !self.eat(",") {
                return names;
            }
        }
    }

    /// `case E is P where E -> X | P -> X end case`
    pub(super) fn case<T>(
        &mut self,
        start: Span,
        body: &mut dyn FnMut(&mut Self) -> T,
    ) -> Option<(Expression, Vec<Branch<T>>)> {
        self.bump();
        let of = self.expression();
        if !self.expect("is") {
            return None;
        }
        let mut branches = Vec::new();
        self.eat("|");
        loop {
            let pattern = self.case_pattern();
            let condition = self.eat("where").then(|| self.expression());
            if !self.expect("->") {
                return None;
            }
            let body = body(self);
            branches.push(Branch { pattern, condition, body });
            if !self.at("|") {
                break;
            }
            self.limit(branches.len(), "branches");
            self.bump();
        }
        self.closing("case", start);
        Some((of, branches))
    }

    fn case_pattern(&mut self) -> CasePattern {
        if self.eat("any") {
            // `any of T` says the type too.
            if self.eat("of") {
                self.type_name();
            }
            return CasePattern::Any;
        }
        if self.kind() == TokenKind::Word && self.tokens[self.ahead(1)].is(":") {
            return match self.name("the name of a variable") {
                Some(name) => CasePattern::Bind(name, self.type_of()),
                None => CasePattern::Any,
            };
        }
        let mut values = vec![self.offer_value()];
        while self.at(",") {
            self.limit(values.len(), "values");
            self.bump();
            values.push(self.offer_value());
        }
        CasePattern::Values(values)
    }

    /// `forall x:T among { a ... b }, y:bool . F`
    fn quantified(&mut self, exists: bool) -> FormulaKind {
        self.bump();
        let mut variables = Vec::new();
        loop {
            let names = self.names();
            let Some(first) = names.first().map(|name| name.text.clone()) else { break };
            let type_of = self.type_of();
            let values = if self.eat("among") {
                self.domain()
            } else if type_of == Type::Bool {
                DomainValues::Bool
            } else {
                let diagnostic = self
                    .expected_diagnostic("`among` and the values")
                    .note("only finite sets of values can be tried one by one")
                    .help(format!("write `{first}:nat among {{ 0 ... 9 }}`"));
                self.error(diagnostic);
                DomainValues::Bool
            };
            variables.extend(names.into_iter().map(|name| Domain {
                name,
                type_of: type_of.clone(),
                values: values.clone(),
            }));
            if !self.eat(",") {
                break;
            }
        }
        self.dot("the variables");
        let body = Box::new(self.formula());
        FormulaKind::Quantified { exists, variables, body }
    }

    fn domain(&mut self) -> DomainValues {
        let opener = self.span();
        if !self.expect("{") {
            return DomainValues::Bool;
        }
        let first = self.expression();
        let values = if self.eat("...") || self.eat("..") {
            DomainValues::Range(first, self.expression())
        } else {
            let mut all = vec![first];
            while self.eat(",") {
                all.push(self.expression());
            }
            DomainValues::Set(all)
        };
        self.close("}", opener);
        values
    }

    /// `if F then G elsif F then G else H end if`
    fn conditional(&mut self, start: Span) -> FormulaKind {
        let mut arms = Vec::new();
        loop {
            self.bump();
            let condition = self.formula();
            if !self.expect("then") {
                return wrong(start).kind;
            }
            let branch = self.formula();
            arms.push((condition, branch));
            if !self.at("elsif") {
                break;
            }
            self.limit(arms.len(), "branches");
        }
        if !self.eat("else") {
            let diagnostic = self
                .expected_diagnostic("`else`")
                .label(start, "this `if` does not cover the other case")
                .help("write `else true` if nothing is required there");
            self.error(diagnostic);
            self.closing("if", start);
            return wrong(start).kind;
        }
        let otherwise = Box::new(self.formula());
        self.closing("if", start);
        FormulaKind::If(arms, otherwise)
    }

    /// `end if`, `end let`
    pub(super) fn closing(&mut self, word: &str, opener: Span) {
        if self.eat(&format!("end_{word}")) {
            return;
        }
        if self.at("end") && self.tokens[self.ahead(1)].is(word) {
            self.bump();
            self.bump();
            return;
        }
        let diagnostic = self.expected_diagnostic(&format!("`end {word}`")).label(opener, "to close this");
        self.error(diagnostic);
    }

    /// `let x:T := E in F end let`
    fn let_in(&mut self, start: Span) -> FormulaKind {
        self.bump();
        let bindings = self.bindings();
        if !self.expect("in") {
            return wrong(start).kind;
        }
        let body = Box::new(self.formula());
        self.closing("let", start);
        FormulaKind::Let(bindings, body)
    }
}

fn wrong(span: Span) -> Formula {
    Formula { kind: FormulaKind::Data(Expression { kind: ExpressionKind::Wrong, span }), span }
}
