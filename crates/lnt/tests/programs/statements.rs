//! Statements that compute: in functions, and between the actions of processes.

use super::functions::variable;
use super::types::{Kind, NAT};
use super::{Drawing, Passing, Scope};

/// What a statement may do besides computing.
#[derive(Clone, Default)]
pub struct Place {
    /// The type of what it may return.
    pub returns: Option<usize>,
    /// The loop that it may leave.
    pub leaves: Option<String>,
}

impl Drawing {
    /// One statement or several.
    pub fn statements(&mut self, depth: usize, scope: &Scope, place: &Place) -> String {
        let all: Vec<String> =
            (0..1 + self.chance.below(3)).map(|_| self.statement(depth, scope, place)).collect();
        all.join(";\n      ")
    }

    fn statement(&mut self, depth: usize, scope: &Scope, place: &Place) -> String {
        let inner = depth.saturating_sub(1);
        match self.chance.below(if depth == 0 { 7 } else { 16 }) {
            0..=3 => self.assignment(scope),
            4 | 5 => self.assignment_to_part(scope).unwrap_or_else(|| self.assignment(scope)),
            6 => match (place.returns, &place.leaves) {
                (_, Some(name)) => format!("if {} then break {name} end if", self.condition(1, scope)),
                (Some(result), _) if self.chance.one_in(2) => {
                    let condition = self.condition(1, scope);
                    format!("if {condition} then return {} end if", self.expression(result, 1, scope))
                }
                _ if self.risks() => format!("assert {}", self.condition(1, scope)),
                _ => "null".to_owned(),
            },
            7..=9 => {
                let (condition, then) = (self.condition(2, scope), self.statements(inner, scope, place));
                let otherwise = match self.chance.below(3) {
                    0 => String::new(),
                    1 => format!(" else {}", self.statements(inner, scope, place)),
                    _ => {
                        let other = self.condition(1, scope);
                        let (elsif, last) =
                            (self.statements(inner, scope, place), self.statements(inner, scope, place));
                        format!(" elsif {other} then {elsif} else {last}")
                    }
                };
                format!("if {condition} then {then}{otherwise} end if")
            }
            10 | 11 => self.case(inner, scope, place),
            12 => {
                let counter = self.local(NAT);
                let mut within = scope.clone();
                within.variables.push(variable(&counter, NAT, false));
                let first = self.chance.below(2);
                let body = self.statements(inner, &within, place);
                format!(
                    "for {counter} := {first} while {counter} < {} by {counter} := {counter} + 1 loop {body} end loop",
                    2 + self.chance.below(2)
                )
            }
            13 => {
                // A counter sees to its end.
                let (counter, name) = (self.local(NAT), self.name("L"));
                let within = Place { leaves: Some(name.clone()), ..place.clone() };
                let body = self.statements(inner, scope, &within);
                format!(
                    "{counter} := 0; loop {name} in {counter} := {counter} + 1; \
                     if {counter} > 2 then break {name} end if; {body} end loop"
                )
            }
            14 => self.procedure_call(scope).unwrap_or_else(|| self.assignment(scope)),
            _ => self.trap(scope).unwrap_or_else(|| self.assignment(scope)),
        }
    }

    fn assignment(&mut self, scope: &Scope) -> String {
        let targets: Vec<(String, usize)> = assignable(scope);
        let (name, ty) = self.chance.pick(&targets).clone();
        format!("{name} := {}", self.changed(ty, scope))
    }

    fn assignment_to_part(&mut self, scope: &Scope) -> Option<String> {
        let targets: Vec<(String, usize)> = assignable(scope)
            .into_iter()
            .filter(|(_, ty)| {
                matches!(
                    self.types[*ty].kind,
                    Kind::Array { .. } | Kind::Constructed { recursive: false, .. }
                )
            })
            .collect();
        if targets.is_empty() {
            return None;
        }
        let (mut part, mut ty) = self.chance.pick(&targets).clone();
        loop {
            match self.types[ty].kind.clone() {
                Kind::Array { lower, length, element } => {
                    part = format!("{part}[{}]", self.index(lower, length, 1, scope));
                    ty = element;
                }
                Kind::Constructed { constructors, recursive: false } => {
                    let fields = self.common_fields(&constructors);
                    if fields.is_empty() {
                        break;
                    }
                    let (field, of) = self.chance.pick(&fields).clone();
                    part = format!("{part}.{field}");
                    ty = of;
                }
                _ => break,
            }
            if self.chance.one_in(2) {
                break;
            }
        }
        Some(format!("{part} := {}", self.expression(ty, 2, scope)))
    }

    fn case(&mut self, depth: usize, scope: &Scope, place: &Place) -> String {
        let of: Vec<usize> = scope.variables.iter().map(|one| one.ty).collect();
        let count = 1 + usize::from(self.chance.one_in(4));
        let types: Vec<usize> = (0..count).map(|_| *self.chance.pick(&of)).collect();
        let values: Vec<String> = types.iter().map(|&ty| self.expression(ty, 1, scope)).collect();
        let mut branches = Vec::new();
        for _ in 0..1 + self.chance.below(3) {
            let mut bound = Vec::new();
            let patterns: Vec<String> =
                types.iter().map(|&ty| self.pattern(ty, 3, scope, &mut bound)).collect();
            let mut within = scope.clone();
            within.focus = bound.clone();
            for (name, ty) in &bound {
                if !scope.variables.iter().any(|one| one.name == *name) {
                    self.locals.push((name.clone(), *ty));
                    within.variables.push(variable(name, *ty, true));
                }
            }
            let guard = match self.chance.one_in(3) {
                true => format!(" where {}", self.guard(1, &within)),
                false => String::new(),
            };
            let body = self.statements(depth, &within, place);
            branches.push(format!("{}{guard} -> {body}", patterns.join(", ")));
        }
        if !self.risks() {
            branches.push(format!("any -> {}", self.statements(0, scope, place)));
        }
        format!("case {} in {} end case", values.join(", "), branches.join("\n      |  "))
    }

    fn procedure_call(&mut self, scope: &Scope) -> Option<String> {
        if self.procedures.is_empty() {
            return None;
        }
        let at = self.chance.below(self.procedures.len());
        let parameters = self.procedures[at].parameters.clone();
        let mut taken: Vec<String> = Vec::new();
        let mut arguments = Vec::new();
        for (way, ty) in parameters {
            if way == Passing::In {
                arguments.push(self.expression(ty, 1, scope));
                continue;
            }
            let free: Vec<(String, usize)> =
                assignable(scope).into_iter().filter(|one| one.1 == ty && !taken.contains(&one.0)).collect();
            let name = match free.is_empty() {
                true => self.local(ty),
                false => self.chance.pick(&free).0.clone(),
            };
            arguments.push(format!("{}{name}", if way == Passing::InOut { "!?" } else { "?" }));
            taken.push(name);
        }
        Some(format!("{} ({})", self.procedures[at].name, arguments.join(", ")))
    }

    fn trap(&mut self, scope: &Scope) -> Option<String> {
        let targets = assignable(scope);
        let fitting: Vec<usize> = (0..self.raising.len())
            .filter(|&at| targets.iter().any(|one| one.1 == self.raising[at].function.result))
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let at = *self.chance.pick(&fitting);
        let (parameters, result) =
            (self.raising[at].function.parameters.clone(), self.raising[at].function.result);
        let carries = self.raising[at].carries;
        let fitting: Vec<String> =
            targets.into_iter().filter(|one| one.1 == result).map(|one| one.0).collect();
        let target = self.chance.pick(&fitting).clone();
        let arguments: Vec<String> = parameters.iter().map(|&ty| self.expression(ty, 1, scope)).collect();
        let (exception, value) = (self.name("X"), self.name("x"));
        let mut within = scope.clone();
        within.variables.push(variable(&value, carries, false));
        within.focus = vec![(value.clone(), carries)];
        let handler = self.assignment(&within);
        Some(format!(
            "trap exception {exception} ({value} : {}) is use {value}; {handler} in {target} := {} [{exception}] ({}) end trap",
            self.types[carries].name,
            self.raising[at].function.name,
            arguments.join(", ")
        ))
    }
}

fn assignable(scope: &Scope) -> Vec<(String, usize)> {
    scope.variables.iter().filter(|one| one.assignable).map(|one| (one.name.clone(), one.ty)).collect()
}
