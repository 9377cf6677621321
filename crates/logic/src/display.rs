//! Formulas as text, fully in brackets: nothing is left to precedence.

use std::fmt::{self, Display, Formatter};

use crate::tree::*;

impl Display for Type {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Type::Bool => "bool",
            Type::Nat => "nat",
            Type::Int => "int",
            Type::Real => "real",
            Type::Char => "char",
            Type::String => "string",
            Type::Term(name) => name,
        })
    }
}

impl Display for BinaryOperator {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            BinaryOperator::Implies => "implies",
            BinaryOperator::Equ => "equ",
            BinaryOperator::Xor => "xor",
            BinaryOperator::Or => "or",
            BinaryOperator::And => "and",
            BinaryOperator::Equal => "=",
            BinaryOperator::Different => "<>",
            BinaryOperator::Less => "<",
            BinaryOperator::LessEqual => "<=",
            BinaryOperator::Greater => ">",
            BinaryOperator::GreaterEqual => ">=",
            BinaryOperator::Plus => "+",
            BinaryOperator::Minus => "-",
            BinaryOperator::Times => "*",
            BinaryOperator::Divide => "div",
            BinaryOperator::Modulo => "mod",
        })
    }
}

/// Several things with a text between two.
fn joined<T: Display>(out: &mut Formatter<'_>, all: &[T], between: &str) -> fmt::Result {
    for (at, one) in all.iter().enumerate() {
        if at > 0 {
            out.write_str(between)?;
        }
        write!(out, "{one}")?;
    }
    Ok(())
}

/// A label as MCL writes it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl Display for Expression {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExpressionKind::Bool(value) => write!(out, "{value}"),
            ExpressionKind::Number(value) => write!(out, "{value}"),
            ExpressionKind::Real(value) => write!(out, "{value:?}"),
            ExpressionKind::Char('\'') => out.write_str("'\\''"),
            ExpressionKind::Char(letter) => write!(out, "'{letter}'"),
            ExpressionKind::Of(of, type_of) => write!(out, "({of} of {type_of})"),
            ExpressionKind::Text(text) => out.write_str(&quoted(text)),
            ExpressionKind::Name(name) => out.write_str(name),
            ExpressionKind::Call(name, arguments) => {
                let (open, close) = if name == "{}" { ("{", "}") } else { ("(", ")") };
                if name != "{}" {
                    write!(out, "{name} ")?;
                }
                out.write_str(open)?;
                joined(out, arguments, ", ")?;
                out.write_str(close)
            }
            ExpressionKind::Unary(UnaryOperator::Minus, of) => write!(out, "(- {of})"),
            ExpressionKind::Unary(UnaryOperator::Not, of) => write!(out, "(not {of})"),
            ExpressionKind::Binary(operator, left, right) => write!(out, "({left} {operator} {right})"),
            ExpressionKind::Wrong => out.write_str("true"),
        }
    }
}

impl Display for Action {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let chain = |out: &mut Formatter<'_>, all: &[Action], between: &str| {
            out.write_str("(")?;
            joined(out, all, between)?;
            out.write_str(")")
        };
        match &self.kind {
            ActionKind::Constant(value) => write!(out, "{value}"),
            ActionKind::Tau => out.write_str("tau"),
            ActionKind::Exact(text) => out.write_str(&quoted(text)),
            ActionKind::Regex(pattern) => {
                write!(out, "'{}'", pattern.text.replace('\'', "\\'"))?;
                match pattern.syntax {
                    Syntax::Basic => Ok(()),
                    // What is shown is then MCL only in spirit, and says so.
                    Syntax::Extended => out.write_str(" (* extended *)"),
                }
            }
            ActionKind::Pattern(pattern) => write!(out, "{pattern}"),
            ActionKind::Not(of) => write!(out, "(not {of})"),
            ActionKind::And(all) => chain(out, all, " and "),
            ActionKind::Or(all) => chain(out, all, " or "),
            ActionKind::Binary(operator, left, right) => write!(out, "({left} {operator} {right})"),
        }
    }
}

impl Display for ActionPattern {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let gate = self.gate.as_ref().map_or("any", |gate| gate.text.as_str());
        let word = !gate.is_empty() && gate.chars().all(|one| one.is_ascii_alphanumeric() || one == '_');
        if word {
            write!(out, "{{ {gate}")?;
        } else {
            write!(out, "{{ {}", quoted(gate))?;
        }
        for offer in &self.offers {
            match offer {
                Offer::Value(value) => write!(out, " !{value}")?,
                Offer::Bind(name, type_of) => write!(out, " ?{}:{type_of}", name.text)?,
                Offer::Any => write!(out, " ?any")?,
                Offer::Rest => write!(out, " ...")?,
            }
        }
        if let Some(condition) = &self.condition {
            write!(out, " where {condition}")?;
        }
        write!(out, " }}")
    }
}

impl Display for Regular {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            RegularKind::Nil => out.write_str("nil"),
            RegularKind::Action(action) => write!(out, "{action}"),
            RegularKind::Sequence(all) | RegularKind::Choice(all) => {
                let between = if matches!(self.kind, RegularKind::Choice(_)) { " | " } else { " . " };
                out.write_str("(")?;
                joined(out, all, between)?;
                out.write_str(")")
            }
            RegularKind::Repeat { body, min, max } => {
                // Postfix signs on postfix signs need brackets of their own: `(a{2})+` is not `a{2}+` to a reader.
                match body.kind {
                    RegularKind::Repeat { .. } => write!(out, "({body})")?,
                    _ => write!(out, "{body}")?,
                }
                match (min, max) {
                    (0, None) => out.write_str("*"),
                    (1, None) => out.write_str("+"),
                    (0, Some(1)) => out.write_str("?"),
                    (min, None) => write!(out, "{{{min},}}"),
                    (min, Some(max)) if min == max => write!(out, "{{{min}}}"),
                    (min, Some(max)) => write!(out, "{{{min},{max}}}"),
                }
            }
            RegularKind::Counted { body, min, max } => {
                write!(out, "({body}){{{min},")?;
                match max {
                    Some(max) => write!(out, "{max}}}"),
                    None => out.write_str("}"),
                }
            }
            RegularKind::If(arms, otherwise) => {
                for (at, (condition, branch)) in arms.iter().enumerate() {
                    write!(out, "{}if {condition} then {branch} ", if at > 0 { "els" } else { "" })?;
                }
                if let Some(otherwise) = otherwise {
                    write!(out, "else {otherwise} ")?;
                }
                out.write_str("end if")
            }
            RegularKind::Case(of, branches) => write_case(out, of, branches),
            RegularKind::Let(bindings, body) => {
                out.write_str("let ")?;
                joined(out, bindings, ", ")?;
                write!(out, " in {body} end let")
            }
            RegularKind::For { name, type_of, from, to, step, body } => {
                write!(out, "for {}:{type_of} from {from} to {to}", name.text)?;
                if let Some(step) = step {
                    write!(out, " step {step}")?;
                }
                write!(out, " do {body} end for")
            }
            RegularKind::While(condition, body) => write!(out, "while {condition} do {body} end while"),
            RegularKind::Until(body, condition) => write!(out, "repeat {body} until {condition} end repeat"),
            RegularKind::Loop { parameters, results, body } => {
                out.write_str("loop ")?;
                if !parameters.is_empty() {
                    out.write_str("(")?;
                    joined(out, parameters, ", ")?;
                    out.write_str(") ")?;
                }
                if !results.is_empty() {
                    let list: Vec<String> =
                        results.iter().map(|(name, type_of)| format!("{}:{type_of}", name.text)).collect();
                    write!(out, ": ({}) ", list.join(", "))?;
                }
                write!(out, "in {body} end loop")
            }
            RegularKind::Continue(values) => write_jump(out, "continue", values),
            RegularKind::Exit(values) => write_jump(out, "exit", values),
        }
    }
}

fn write_jump(out: &mut Formatter<'_>, word: &str, values: &[Expression]) -> fmt::Result {
    out.write_str(word)?;
    if values.is_empty() {
        return Ok(());
    }
    out.write_str(" (")?;
    joined(out, values, ", ")?;
    out.write_str(")")
}

fn write_case<T: Display>(out: &mut Formatter<'_>, of: &Expression, branches: &[Branch<T>]) -> fmt::Result {
    write!(out, "case {of} is ")?;
    for (at, branch) in branches.iter().enumerate() {
        if at > 0 {
            out.write_str(" | ")?;
        }
        match &branch.pattern {
            CasePattern::Any => out.write_str("any")?,
            CasePattern::Bind(name, type_of) => write!(out, "{}:{type_of}", name.text)?,
            CasePattern::Values(values) => joined(out, values, ", ")?,
        }
        if let Some(condition) = &branch.condition {
            write!(out, " where {condition}")?;
        }
        write!(out, " -> {}", branch.body)?;
    }
    out.write_str(" end case")
}

impl Display for Formula {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            FormulaKind::Data(expression) => write!(out, "{expression}"),
            FormulaKind::Name(name, arguments) => {
                out.write_str(&name.text)?;
                if !arguments.is_empty() {
                    out.write_str(" (")?;
                    joined(out, arguments, ", ")?;
                    out.write_str(")")?;
                }
                Ok(())
            }
            FormulaKind::Not(of) => write!(out, "(not {of})"),
            FormulaKind::And(all) | FormulaKind::Or(all) => {
                let between = if matches!(self.kind, FormulaKind::And(_)) { " and " } else { " or " };
                out.write_str("(")?;
                joined(out, all, between)?;
                out.write_str(")")
            }
            FormulaKind::Binary(operator, left, right) => write!(out, "({left} {operator} {right})"),
            FormulaKind::Possible(regular, body) => write!(out, "(< {regular} > {body})"),
            FormulaKind::Necessary(regular, body) => write!(out, "([ {regular} ] {body})"),
            FormulaKind::Forever(regular) => write!(out, "(< {regular} > @)"),
            FormulaKind::Saturated(regular) => write!(out, "([ {regular} ] -|)"),
            FormulaKind::Fixpoint { least, name, parameters, body } => {
                write!(out, "({} {}", if *least { "mu" } else { "nu" }, name.text)?;
                if !parameters.is_empty() {
                    out.write_str(" (")?;
                    joined(out, parameters, ", ")?;
                    out.write_str(")")?;
                }
                write!(out, " . {body})")
            }
            FormulaKind::Quantified { exists, variables, body } => {
                write!(out, "({} ", if *exists { "exists" } else { "forall" })?;
                joined(out, variables, ", ")?;
                write!(out, " . {body})")
            }
            FormulaKind::If(arms, otherwise) => {
                for (at, (condition, branch)) in arms.iter().enumerate() {
                    write!(out, "{}if {condition} then {branch} ", if at > 0 { "els" } else { "" })?;
                }
                write!(out, "else {otherwise} end if")
            }
            FormulaKind::Let(bindings, body) => {
                out.write_str("let ")?;
                joined(out, bindings, ", ")?;
                write!(out, " in {body} end let")
            }
            FormulaKind::Case(of, branches) => write_case(out, of, branches),
        }
    }
}

impl Display for Binding {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{} := {}", self.name.text, self.type_of, self.value)
    }
}

impl Display for Domain {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.name.text, self.type_of)?;
        match &self.values {
            DomainValues::Bool => Ok(()),
            DomainValues::Range(from, to) => write!(out, " among {{ {from} ... {to} }}"),
            DomainValues::Set(all) => {
                out.write_str(" among { ")?;
                joined(out, all, ", ")?;
                out.write_str(" }")
            }
        }
    }
}
