//! Patterns, of `case` and of offers.

use super::types::{CHAR, Kind};
use super::{Drawing, Scope};

impl Drawing {
    /// A pattern for values of a type, and the variables that it binds: some of the scope, others new ones. Nothing is
    /// bound twice.
    pub fn pattern(
        &mut self,
        ty: usize,
        depth: usize,
        scope: &Scope,
        bound: &mut Vec<(String, usize)>,
    ) -> String {
        let name = self.types[ty].name.clone();
        if depth > 0 && self.chance.one_in(12) {
            let whole = self.binding(ty, scope, bound);
            let inner = self.pattern(ty, depth - 1, &Scope::default(), bound);
            return format!("{whole} as {inner}");
        }
        let simple = if depth == 0 { self.chance.below(3) } else { self.chance.below(12) };
        match simple {
            0 => return format!("any {name}"),
            1 => return self.binding(ty, scope, bound),
            _ => {}
        }
        let inner = depth.saturating_sub(1);
        match self.types[ty].kind.clone() {
            Kind::Bool | Kind::Nat | Kind::Char | Kind::String | Kind::Enumeration(_) => {
                match self.chance.one_in(2) {
                    true => self.literal(ty),
                    false => self.binding(ty, scope, bound),
                }
            }
            Kind::Int => match self.chance.one_in(2) {
                true => (self.chance.below(3) as i64 - 1).to_string(),
                false => self.binding(ty, scope, bound),
            },
            Kind::Range { base, lower, upper } => {
                let number = lower + self.chance.below((upper - lower + 1) as usize) as i64;
                match self.chance.below(3) {
                    0 if base == CHAR => format!("'{}'", number as u8 as char),
                    0 => number.to_string(),
                    1 => self.chance.pick(&["first", "last"]).to_string(),
                    _ => self.binding(ty, scope, bound),
                }
            }
            Kind::Predicate { .. } => self.binding(ty, scope, bound),
            Kind::Constructed { constructors, .. } => {
                let constructor = self.chance.pick(&constructors).clone();
                if constructor.fields.is_empty() {
                    return constructor.name;
                }
                if self.chance.one_in(8) {
                    let (field, of) = self.chance.pick(&constructor.fields).clone();
                    let part = self.pattern(of, inner, scope, bound);
                    return format!("{} ({field} -> {part}, ...)", constructor.name);
                }
                let fields: Vec<String> = constructor
                    .fields
                    .iter()
                    .map(|field| self.pattern(field.1, inner, scope, bound))
                    .collect();
                format!("{} ({})", constructor.name, fields.join(", "))
            }
            Kind::Collection { element, .. } => match self.chance.below(4) {
                0 => "{}".to_owned(),
                1 => {
                    let elements: Vec<String> = (0..1 + self.chance.below(2))
                        .map(|_| self.pattern(element, inner, scope, bound))
                        .collect();
                    format!("{{{}}}", elements.join(", "))
                }
                _ => {
                    let head = self.pattern(element, inner, scope, bound);
                    format!("cons ({head}, {})", self.pattern(ty, inner, scope, bound))
                }
            },
            Kind::Array { length, element, .. } => {
                let elements: Vec<String> =
                    (0..length).map(|_| self.pattern(element, inner, scope, bound)).collect();
                match length > 1 && self.chance.one_in(2) {
                    true => format!("{name} ({})", elements.join(", ")),
                    false => format!("{{{}}}", elements.join(", ")),
                }
            }
        }
    }

    /// A variable to bind.
    pub fn binding(&mut self, ty: usize, scope: &Scope, bound: &mut Vec<(String, usize)>) -> String {
        let free: Vec<&String> = scope
            .variables
            .iter()
            .filter(|one| one.ty == ty && one.assignable && !bound.iter().any(|(name, _)| *name == one.name))
            .map(|one| &one.name)
            .collect();
        let name = match free.is_empty() || self.chance.one_in(4) {
            true => self.name("b"),
            false => (*self.chance.pick(&free)).clone(),
        };
        bound.push((name.clone(), ty));
        name
    }
}
