//! Conditions on values that an offer leaves open.

use super::types::{BOOL, CHAR, Kind, NAT};
use super::{Drawing, Scope};

impl Drawing {
    /// A condition on the variables in the focus of a scope.
    pub fn guard(&mut self, depth: usize, scope: &Scope) -> String {
        if depth == 0 {
            return self.atom(scope);
        }
        if self.chance.one_in(5)
            && let Some(condition) = self.assembled(scope)
        {
            return condition;
        }
        let inner = depth - 1;
        match self.chance.below(8) {
            0 => format!("not ({})", self.guard(inner, scope)),
            1 | 2 => format!("(({}) and ({}))", self.guard(inner, scope), self.guard(inner, scope)),
            3 => format!("(({}) or ({}))", self.guard(inner, scope), self.guard(inner, scope)),
            4 => {
                let operator = *self.chance.pick(&["and then", "or else", "implies", "xor", "iff"]);
                format!("(({}) {operator} ({}))", self.guard(inner, scope), self.guard(inner, scope))
            }
            _ => self.atom(scope),
        }
    }

    fn atom(&mut self, scope: &Scope) -> String {
        if scope.focus.is_empty() || self.chance.one_in(8) {
            return self.condition(2, scope);
        }
        let (name, ty) = self.chance.pick(&scope.focus).clone();
        // What the variable is compared with should not be the variable itself.
        let others = Scope {
            variables: scope.variables.iter().filter(|one| one.name != name).cloned().collect(),
            focus: scope.focus.iter().filter(|one| one.0 != name).cloned().collect(),
        };
        match self.chance.below(13) {
            0 | 1 => format!("({name} == {})", self.expression(ty, 2, &others)),
            2 => format!("({} != {name})", self.expression(ty, 1, &others)),
            3 => {
                let operator = *self.chance.pick(&["<", "<=", ">", ">="]);
                let bound = match self.length_of_variable(&others) {
                    Some(length) if ty == NAT && self.chance.one_in(2) => length,
                    _ => self.expression(ty, 1, &others),
                };
                match self.chance.one_in(4) {
                    true => format!("({bound} {operator} {name})"),
                    false => format!("({name} {operator} {bound})"),
                }
            }
            4..=6 => match self.collection_with(ty) {
                Some(list) => {
                    let whole = self.expression(list, 1, &others);
                    let list = &self.types[list].name;
                    match self.chance.below(5) {
                        0 => format!("held_{list} ({name}, {whole})"),
                        1 => format!("among_{list} ({name}, {whole})"),
                        2 => format!("(insert ({name}, {whole}) == {whole})"),
                        _ => format!("member ({name}, {whole})"),
                    }
                }
                None => self.inside(&name, ty, scope, &others),
            },
            7 => {
                // The open value as a part of another one.
                let around: Vec<usize> = (0..self.types.len())
                    .filter(|&whole| match &self.types[whole].kind {
                        Kind::Constructed { constructors, .. } => {
                            constructors.iter().any(|one| one.fields.iter().any(|field| field.1 == ty))
                        }
                        Kind::Array { element, .. } => *element == ty,
                        _ => false,
                    })
                    .collect();
                if around.is_empty() {
                    return self.inside(&name, ty, scope, &others);
                }
                let whole = *self.chance.pick(&around);
                let made = self.expression(whole, 2, scope);
                match self.collection_with(whole) {
                    Some(list) if self.chance.one_in(2) => {
                        format!("member ({made}, {})", self.expression(list, 1, &others))
                    }
                    _ => format!("({made} == {})", self.expression(whole, 1, &others)),
                }
            }
            8 => {
                let asking: Vec<usize> = (0..self.functions.len())
                    .filter(|&at| {
                        self.functions[at].result == BOOL && self.functions[at].parameters.contains(&ty)
                    })
                    .collect();
                if asking.is_empty() {
                    return self.inside(&name, ty, scope, &others);
                }
                let at = *self.chance.pick(&asking);
                let parameters = self.functions[at].parameters.clone();
                let mut used = false;
                let arguments: Vec<String> = parameters
                    .iter()
                    .map(|&parameter| match parameter == ty && !used {
                        true => {
                            used = true;
                            name.clone()
                        }
                        false => self.expression(parameter, 1, &others),
                    })
                    .collect();
                format!("{} ({})", self.functions[at].name, arguments.join(", "))
            }
            9 => format!("(string ({name}) == string ({}))", self.expression(ty, 1, &others)),
            10 => self.condition(2, scope),
            _ => self.inside(&name, ty, scope, &others),
        }
    }

    /// How many elements some variable has, if there is one that has any.
    fn length_of_variable(&mut self, scope: &Scope) -> Option<String> {
        let is_collection = |ty: usize| matches!(self.types[ty].kind, Kind::Collection { .. });
        let found: Vec<String> = scope
            .variables
            .iter()
            .filter(|one| is_collection(one.ty))
            .map(|one| format!("length ({})", one.name))
            .collect();
        if found.is_empty() { None } else { Some(self.chance.pick(&found).clone()) }
    }

    /// What is received, put together as an element of a set that some variable holds.
    fn assembled(&mut self, scope: &Scope) -> Option<String> {
        let is_received = |ty: usize| scope.focus.iter().any(|one| one.1 == ty);
        let mut ways = Vec::new();
        for one in scope.variables.iter().filter(|one| !scope.focus.iter().any(|(name, _)| *name == one.name))
        {
            let Kind::Collection { element, .. } = self.types[one.ty].kind else { continue };
            let Kind::Constructed { constructors, .. } = &self.types[element].kind else { continue };
            let fitting =
                constructors.iter().filter(|made| made.fields.iter().any(|field| is_received(field.1)));
            ways.extend(fitting.map(|made| (made.clone(), one.name.clone())));
        }
        if ways.is_empty() {
            return None;
        }
        let (made, set) = self.chance.pick(&ways).clone();
        let mut unused = scope.focus.clone();
        let fields: Vec<String> = made
            .fields
            .iter()
            .map(|field| match unused.iter().position(|one| one.1 == field.1) {
                Some(at) if !self.chance.one_in(8) => unused.remove(at).0,
                _ => self.leaf(field.1, scope),
            })
            .collect();
        Some(format!("member ({} ({}), {set})", made.name, fields.join(", ")))
    }

    /// A condition on a part of a value, or on what it is converted to.
    fn inside(&mut self, name: &str, ty: usize, scope: &Scope, others: &Scope) -> String {
        let (part, of) = match self.types[ty].kind.clone() {
            Kind::Constructed { constructors, .. } => {
                let fields = self.common_fields(&constructors);
                if fields.is_empty() {
                    return self.matches(name, ty, scope);
                }
                let (field, of) = self.chance.pick(&fields).clone();
                (format!("{name}.{field}"), of)
            }
            Kind::Array { lower, length, element } => {
                let index = self.index(lower, length, 1, others);
                (format!("{name}[{index}]"), element)
            }
            Kind::Range { base, .. } if base != CHAR => (format!("{} ({name})", self.types[base].name), base),
            Kind::Predicate { base, .. } => (format!("{} ({name})", self.types[base].name), base),
            Kind::Bool => return name.to_owned(),
            _ => return self.matches(name, ty, scope),
        };
        let operator = *self.chance.pick(&["==", "==", "==", "!=", "<", ">="]);
        match self.types[of].kind {
            // One level deeper.
            Kind::Constructed { .. } | Kind::Array { .. } if self.chance.one_in(2) => {
                self.inside(&part, of, scope, others)
            }
            Kind::Bool if self.chance.one_in(2) => part,
            _ => match self.collection_with(of) {
                Some(list) if self.chance.one_in(3) => {
                    format!("member ({part}, {})", self.expression(list, 1, others))
                }
                _ => format!("({part} {operator} {})", self.expression(of, 1, others)),
            },
        }
    }

    /// A function that takes the value apart by a pattern.
    fn matches(&mut self, name: &str, ty: usize, scope: &Scope) -> String {
        match self.types[ty].kind {
            Kind::Enumeration(_) | Kind::Range { .. } => {
                let other = self.leaf(ty, scope);
                format!("(next_{} ({name}) == {other})", self.types[ty].name)
            }
            _ => format!("test_{} ({name})", self.types[ty].name),
        }
    }
}
