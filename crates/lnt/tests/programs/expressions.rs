//! Expressions of a wanted type.

use super::types::{BOOL, CHAR, Constructor, INT, Kind, NAT, STRING, construct};
use super::{Drawing, Scope};

impl Drawing {
    /// An expression. It says by itself which type it has.
    pub fn expression(&mut self, ty: usize, depth: usize, scope: &Scope) -> String {
        if depth == 0 {
            return self.leaf(ty, scope);
        }
        let inner = depth - 1;
        let found = match self.chance.below(12) {
            0 | 1 => None,
            2 | 3 => self.field_of_something(ty, inner, scope),
            4 => self.element_of_something(ty, inner, scope),
            5 => self.member_of_something(ty, inner, scope),
            6 | 7 => self.call(ty, inner, scope),
            _ => self.operation(ty, inner, scope),
        };
        found.unwrap_or_else(|| self.leaf(ty, scope))
    }

    /// An expression that is rarely just a variable, so that assignments lead somewhere.
    pub fn changed(&mut self, ty: usize, scope: &Scope) -> String {
        let made = match self.chance.one_in(4) {
            true => None,
            false => self.operation(ty, 2, scope),
        };
        made.unwrap_or_else(|| self.expression(ty, 3, scope))
    }

    /// A variable or a constant.
    pub fn leaf(&mut self, ty: usize, scope: &Scope) -> String {
        let focused: Vec<&String> =
            scope.focus.iter().filter(|(_, of)| *of == ty).map(|(name, _)| name).collect();
        if !focused.is_empty() && !self.chance.one_in(3) {
            return (*self.chance.pick(&focused)).clone();
        }
        let known: Vec<&String> =
            scope.variables.iter().filter(|one| one.ty == ty).map(|one| &one.name).collect();
        match known.is_empty() || self.chance.one_in(4) {
            true => self.literal(ty),
            false => (*self.chance.pick(&known)).clone(),
        }
    }

    /// A variable if there is one, so that what is accessed is rarely a constant.
    fn whole(&mut self, ty: usize, depth: usize, scope: &Scope) -> String {
        let has = scope.variables.iter().any(|one| one.ty == ty);
        match has && !self.chance.one_in(3) {
            true => self.leaf(ty, scope),
            false => self.expression(ty, depth, scope),
        }
    }

    fn field_of_something(&mut self, ty: usize, depth: usize, scope: &Scope) -> Option<String> {
        let risks = self.risks();
        let mut ways: Vec<(usize, String)> = Vec::new();
        for (whole, one) in self.types.iter().enumerate() {
            if let Kind::Constructed { constructors, .. } = &one.kind {
                for (name, of) in &constructors[0].fields {
                    let everywhere =
                        constructors.iter().all(|other| other.fields.iter().any(|field| field.0 == *name));
                    if *of == ty && (everywhere || risks) {
                        ways.push((whole, name.clone()));
                    }
                }
            }
        }
        if ways.is_empty() {
            return None;
        }
        let (whole, field) = self.chance.pick(&ways).clone();
        let value = self.whole(whole, depth, scope);
        Some(match self.chance.below(4) {
            0 => format!("get_{field} ({value})"),
            _ => format!("({value}).{field}"),
        })
    }

    fn element_of_something(&mut self, ty: usize, depth: usize, scope: &Scope) -> Option<String> {
        let arrays: Vec<(usize, i64, usize)> = self
            .types
            .iter()
            .enumerate()
            .filter_map(|(whole, one)| match one.kind {
                Kind::Array { lower, length, element } if element == ty => Some((whole, lower, length)),
                _ => None,
            })
            .collect();
        if arrays.is_empty() {
            return None;
        }
        let &(whole, lower, length) = self.chance.pick(&arrays);
        let index = self.index(lower, length, depth, scope);
        let value = self.whole(whole, depth, scope);
        Some(format!("({value})[{index}]"))
    }

    /// An index into an array.
    pub fn index(&mut self, lower: i64, length: usize, depth: usize, scope: &Scope) -> String {
        let upper = lower + length as i64 - 1;
        let ranges: Vec<usize> = (0..self.types.len())
            .filter(|&ty| match self.types[ty].kind {
                Kind::Range { base, lower: least, upper: most } => {
                    base != CHAR && lower <= least && most <= upper
                }
                _ => false,
            })
            .collect();
        if ranges.is_empty() || !self.chance.one_in(3) {
            return self.number_index(lower, length, depth, scope);
        }
        let ty = *self.chance.pick(&ranges);
        self.leaf(ty, scope)
    }

    /// An index that is a number, not of a range.
    fn number_index(&mut self, lower: i64, length: usize, depth: usize, scope: &Scope) -> String {
        let numbers = if lower < 0 || self.chance.one_in(5) { INT } else { NAT };
        if self.risks() {
            return self.expression(numbers, depth, scope);
        }
        match self.chance.below(2) {
            0 => {
                let number = self.expression(numbers, depth.min(1), scope);
                let (length, lower) =
                    (self.number_of(length as i64, numbers), self.number_of(lower, numbers));
                format!("(({number}) mod {length}) + {lower}")
            }
            _ => {
                let number = lower + self.chance.below(length) as i64;
                self.number_of(number, numbers)
            }
        }
    }

    fn collections_of(&self, ty: usize) -> Vec<usize> {
        let of = |&whole: &usize| matches!(self.types[whole].kind, Kind::Collection { element, .. } if element == ty);
        (0..self.types.len()).filter(of).collect()
    }

    /// A collection type whose elements have a type.
    pub fn collection_with(&mut self, ty: usize) -> Option<usize> {
        let all = self.collections_of(ty);
        if all.is_empty() { None } else { Some(*self.chance.pick(&all)) }
    }

    fn member_of_something(&mut self, ty: usize, depth: usize, scope: &Scope) -> Option<String> {
        let whole = self.collection_with(ty)?;
        let list = self.whole(whole, depth, scope);
        if self.risks() {
            return Some(match self.chance.below(3) {
                0 => format!("head ({list})"),
                1 => format!("last ({list})"),
                _ => format!("element ({list}, {})", 1 + self.chance.below(3)),
            });
        }
        let other = self.leaf(ty, scope);
        let name = &self.types[whole].name;
        Some(format!("first_{name} ({list}, {other})"))
    }

    fn call(&mut self, ty: usize, depth: usize, scope: &Scope) -> Option<String> {
        let fitting: Vec<usize> =
            (0..self.functions.len()).filter(|&at| self.functions[at].result == ty).collect();
        if fitting.is_empty() {
            return None;
        }
        let at = *self.chance.pick(&fitting);
        let parameters = self.functions[at].parameters.clone();
        let arguments: Vec<String> =
            parameters.iter().map(|&parameter| self.expression(parameter, depth.min(1), scope)).collect();
        Some(apply(&self.functions[at].name, &arguments))
    }

    fn operation(&mut self, ty: usize, depth: usize, scope: &Scope) -> Option<String> {
        let name = self.types[ty].name.clone();
        Some(match self.types[ty].kind.clone() {
            Kind::Bool => self.condition(depth, scope),
            Kind::Nat => return self.natural(depth, scope),
            Kind::Int => return self.integer(depth, scope),
            Kind::Char => {
                let value = self.expression(CHAR, depth, scope);
                match self.chance.below(3) {
                    0 => format!("tolower ({value})"),
                    1 => format!("toupper ({value})"),
                    _ if self.risks() => format!("succ ({value})"),
                    _ => return self.base_of_something(CHAR, depth, scope),
                }
            }
            Kind::String => {
                // Strings that are printed into strings would double with every round of a loop.
                let printed: Vec<usize> =
                    (0..self.types.len()).filter(|&ty| !self.contains_strings(ty)).collect();
                let of = *self.chance.pick(&printed);
                match self.chance.below(4) {
                    0 => {
                        let (one, two) = (self.literal(STRING), self.literal(STRING));
                        format!("({one} & {two})")
                    }
                    1 => format!("toupper ({})", self.leaf(STRING, scope)),
                    _ => format!("string ({})", self.whole(of, depth, scope)),
                }
            }
            Kind::Enumeration(_) | Kind::Range { .. } => {
                let value = self.expression(ty, depth, scope);
                match self.chance.below(6) {
                    0 => format!("(first of {name})"),
                    1 => format!("(last of {name})"),
                    2 if matches!(self.types[ty].kind, Kind::Range { .. }) => {
                        let other = self.expression(ty, depth, scope);
                        let which = *self.chance.pick(&["min", "max"]);
                        format!("{which} ({value}, {other})")
                    }
                    3 if self.risks() => format!("{} ({value})", *self.chance.pick(&["succ", "pred"])),
                    4 if self.risks() => format!("(val ({}) of {name})", self.expression(NAT, depth, scope)),
                    _ => format!("next_{name} ({value})"),
                }
            }
            Kind::Predicate { base, .. } => {
                let value = self.expression(base, depth, scope);
                match self.risks() {
                    true => format!("{name} ({value})"),
                    false => format!("make_{name} ({value})"),
                }
            }
            Kind::Constructed { constructors, recursive } => {
                let made = match self.chance.below(3) {
                    0 => self.update(ty, &constructors, depth, scope)?,
                    _ => self.constructed_value(&constructors, depth, scope),
                };
                match recursive {
                    true => format!("cut_{name} ({made}, 2)"),
                    false => made,
                }
            }
            Kind::Collection { element, set, .. } => self.collection_value(ty, element, set, depth, scope),
            Kind::Array { lower, length, element } => match self.chance.below(4) {
                0 => format!("{name} ({})", self.expression(element, depth, scope)),
                1 | 2 => {
                    let index = self.number_index(lower, length, depth, scope);
                    let whole = self.whole(ty, depth, scope);
                    format!("set ({whole}, {index}, {})", self.expression(element, depth, scope))
                }
                _ => {
                    let elements: Vec<String> =
                        (0..length).map(|_| self.expression(element, depth.min(1), scope)).collect();
                    match length > 1 && self.chance.one_in(2) {
                        true => format!("{name} ({})", elements.join(", ")),
                        false => format!("({{{}}} of {name})", elements.join(", ")),
                    }
                }
            },
        })
    }

    /// A range or predicate type's value as one of its base.
    fn base_of_something(&mut self, ty: usize, depth: usize, scope: &Scope) -> Option<String> {
        let narrower: Vec<usize> = (0..self.types.len())
            .filter(|&other| match self.types[other].kind {
                Kind::Range { base, .. } | Kind::Predicate { base, .. } => base == ty,
                _ => false,
            })
            .collect();
        if narrower.is_empty() {
            return None;
        }
        let from = *self.chance.pick(&narrower);
        let value = self.expression(from, depth, scope);
        Some(format!("{} ({value})", self.types[ty].name))
    }

    fn constructed_value(&mut self, constructors: &[Constructor], depth: usize, scope: &Scope) -> String {
        let constructor = self.chance.pick(constructors).clone();
        let fields: Vec<String> =
            constructor.fields.iter().map(|field| self.expression(field.1, depth, scope)).collect();
        if fields.len() > 1 && self.chance.one_in(4) {
            let mut named: Vec<String> = constructor
                .fields
                .iter()
                .zip(&fields)
                .map(|(field, value)| format!("{} -> {value}", field.0))
                .collect();
            named.reverse();
            return format!("{} ({})", constructor.name, named.join(", "));
        }
        construct(&constructor, &fields)
    }

    /// Fields that all constructors have; or any, where that is a risk to take.
    pub fn common_fields(&mut self, constructors: &[Constructor]) -> Vec<(String, usize)> {
        let risks = self.risks();
        let everywhere =
            |field: &&(String, usize)| risks || constructors.iter().all(|other| other.fields.contains(field));
        constructors[0].fields.iter().filter(everywhere).cloned().collect()
    }

    fn update(
        &mut self,
        ty: usize,
        constructors: &[Constructor],
        depth: usize,
        scope: &Scope,
    ) -> Option<String> {
        let mut fields = self.common_fields(constructors);
        if fields.is_empty() {
            return None;
        }
        let first = self.chance.below(fields.len());
        fields.rotate_left(first);
        fields.truncate(1 + self.chance.below(2));
        let whole = self.whole(ty, depth, scope);
        let changes: Vec<String> = fields
            .iter()
            .map(|(name, ty)| format!("{name} -> {}", self.expression(*ty, depth, scope)))
            .collect();
        Some(format!("({whole}).{{{}}}", changes.join(", ")))
    }

    fn collection_value(
        &mut self,
        ty: usize,
        element: usize,
        set: bool,
        depth: usize,
        scope: &Scope,
    ) -> String {
        let name = self.types[ty].name.clone();
        let one = self.whole(ty, depth, scope);
        // Trees in lists are small already.
        let item = self.expression(element, depth.min(1), scope);
        let two = self.expression(ty, depth.min(1), scope);
        let grown = match self.chance.below(14) {
            0 => format!("cons ({item}, {one})"),
            1 | 2 => format!("insert ({item}, {one})"),
            3 => format!("append ({item}, {one})"),
            4 => format!("concat ({one}, {two})"),
            5 => format!("union ({one}, {two})"),
            6 => return format!("remove ({item}, {one})"),
            7 => return format!("inter ({one}, {two})"),
            8 => return format!("diff ({one}, {two})"),
            9 if !set || self.chance.one_in(3) => return format!("reverse ({one})"),
            10 if self.risks() => return format!("tail ({one})"),
            11 if self.risks() => return format!("delete ({one}, {})", 1 + self.chance.below(2)),
            10 => return format!("rest_{name} ({one})"),
            11 => return format!("drop_{name} ({one}, {})", 1 + self.chance.below(3)),
            12 => format!("({{{item}, {item}}} of {name})"),
            _ => format!("({{{item}}} of {name})"),
        };
        format!("trim_{name} ({grown})")
    }

    fn natural(&mut self, depth: usize, scope: &Scope) -> Option<String> {
        let value = self.expression(NAT, depth, scope);
        let other = self.expression(NAT, depth.min(1), scope);
        if self.risks() {
            return Some(match self.chance.below(6) {
                0 => format!("({value} + {other})"),
                1 => format!("({value} - {other})"),
                2 => format!("({value} * {other})"),
                3 => format!("({value} div {other})"),
                4 => format!("({value} mod {other})"),
                _ => format!("succ ({value})"),
            });
        }
        Some(match self.chance.below(10) {
            0 => format!("min ({value}, {other})"),
            1 => format!("max ({value}, {other})"),
            2 => format!("({value} mod {})", 1 + self.chance.below(4)),
            3 => format!("({value} div {})", 1 + self.chance.below(3)),
            4 => format!("({value} - min ({value}, {other}))"),
            5 => format!("(({value} mod 4) + {})", 1 + self.chance.below(3)),
            6 => {
                let counted: Vec<usize> = (0..self.types.len())
                    .filter(|&ty| {
                        matches!(self.types[ty].kind, Kind::Bool | Kind::Enumeration(_) | Kind::Range { .. })
                    })
                    .collect();
                let ty = *self.chance.pick(&counted);
                format!("ord ({})", self.expression(ty, depth, scope))
            }
            7 => return self.base_of_something(NAT, depth, scope),
            8 => {
                let lists: Vec<usize> = (0..self.types.len())
                    .filter(|&ty| matches!(self.types[ty].kind, Kind::Collection { .. }))
                    .collect();
                let list = *self.chance.pick(&lists);
                format!("length ({})", self.expression(list, depth, scope))
            }
            _ => format!("gcd ({value}, {other})"),
        })
    }

    fn integer(&mut self, depth: usize, scope: &Scope) -> Option<String> {
        let value = self.expression(INT, depth, scope);
        let other = self.expression(INT, depth.min(1), scope);
        if self.risks() {
            return Some(match self.chance.below(5) {
                0 => format!("({value} + {other})"),
                1 => format!("({value} - {other})"),
                2 => format!("({value} rem {other})"),
                3 => format!("int ({})", self.expression(NAT, depth, scope)),
                _ => format!("pred ({value})"),
            });
        }
        Some(match self.chance.below(8) {
            0 => format!("min ({value}, {other})"),
            1 => format!("max ({value}, {other})"),
            2 => format!("({value} mod ({} of int))", 1 + self.chance.below(4)),
            3 => format!("({value} div (- ({} of int)))", 2 + self.chance.below(2)),
            4 => format!("sign ({value})"),
            5 => format!("int ({} mod 4)", self.expression(NAT, depth, scope)),
            6 => format!("(({value} mod (3 of int)) - (1 of int))"),
            _ => return self.base_of_something(INT, depth, scope),
        })
    }

    /// A Boolean expression.
    pub fn condition(&mut self, depth: usize, scope: &Scope) -> String {
        let inner = depth.saturating_sub(1);
        match self.chance.below(16) {
            0 => format!("not ({})", self.expression(BOOL, inner, scope)),
            1..=3 => {
                let operator =
                    *self.chance.pick(&["and", "or", "and then", "or else", "xor", "implies", "iff"]);
                let (one, two) = (self.condition(inner, scope), self.expression(BOOL, inner, scope));
                format!("(({one}) {operator} ({two}))")
            }
            4 | 5 if depth > 0 => {
                let ty = self.chance.below(self.types.len());
                match self.collection_with(ty) {
                    Some(list) => self.membership(ty, list, depth, scope),
                    None => self.comparison(depth, scope),
                }
            }
            6 if depth > 0 => {
                let lists: Vec<usize> = (0..self.types.len())
                    .filter(|&ty| matches!(self.types[ty].kind, Kind::Collection { .. }))
                    .collect();
                let list = *self.chance.pick(&lists);
                let (one, two) = (self.expression(list, inner, scope), self.expression(list, inner, scope));
                match self.chance.one_in(3) {
                    true => format!("empty ({one})"),
                    false => format!("subset ({one}, {two})"),
                }
            }
            7 => format!(
                "is{} ({})",
                *self.chance.pick(&["lower", "alpha", "digit"]),
                self.expression(CHAR, inner, scope)
            ),
            8 | 9 => self.call(BOOL, inner, scope).unwrap_or_else(|| self.comparison(depth, scope)),
            _ => self.comparison(depth, scope),
        }
    }

    /// Whether something is an element of a collection, in one of the ways to ask that.
    pub fn membership(&mut self, ty: usize, list: usize, depth: usize, scope: &Scope) -> String {
        let item = self.expression(ty, depth.min(1), scope);
        let whole = self.whole(list, depth.min(1), scope);
        let name = &self.types[list].name;
        match self.chance.below(5) {
            0 => format!("held_{name} ({item}, {whole})"),
            1 => format!("among_{name} ({item}, {whole})"),
            _ => format!("member ({item}, {whole})"),
        }
    }

    pub fn comparison(&mut self, depth: usize, scope: &Scope) -> String {
        // Something that there are variables of.
        let of: Vec<usize> =
            scope.focus.iter().map(|one| one.1).chain(scope.variables.iter().map(|one| one.ty)).collect();
        let ty = match of.is_empty() || self.chance.one_in(4) {
            true => self.chance.below(self.types.len()),
            false => *self.chance.pick(&of),
        };
        let operator = *self.chance.pick(&["==", "==", "==", "!=", "<", "<=", ">", ">="]);
        let (one, two) = (self.leaf(ty, scope), self.expression(ty, depth, scope));
        match self.chance.one_in(2) {
            true => format!("({one} {operator} {two})"),
            false => format!("({two} {operator} {one})"),
        }
    }
}

/// A call of a function.
pub fn apply(name: &str, arguments: &[String]) -> String {
    match arguments.is_empty() {
        true => name.to_owned(),
        false => format!("{name} ({})", arguments.join(", ")),
    }
}
