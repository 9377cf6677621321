//! Types and their constants.

use super::Drawing;

pub const BOOL: usize = 0;
pub const NAT: usize = 1;
pub const INT: usize = 2;
pub const CHAR: usize = 3;
pub const STRING: usize = 4;

/// More values than anybody lists.
pub const ENDLESS: u64 = u64::MAX;

pub struct Type {
    pub name: String,
    pub kind: Kind,
    /// How many values it has, at most.
    pub count: u64,
}

#[derive(Clone)]
pub enum Kind {
    Bool,
    Nat,
    Int,
    Char,
    String,
    Enumeration(Vec<String>),
    Range {
        base: usize,
        lower: i64,
        upper: i64,
    },
    /// Values of another type that satisfy a condition on `it`, and one that does.
    Predicate {
        base: usize,
        condition: String,
        witness: String,
    },
    /// Of types that contain themselves, the first constructor ends values.
    Constructed {
        constructors: Vec<Constructor>,
        recursive: bool,
    },
    Collection {
        element: usize,
        set: bool,
    },
    Array {
        lower: i64,
        length: usize,
        element: usize,
    },
}

#[derive(Clone)]
pub struct Constructor {
    pub name: String,
    pub fields: Vec<(String, usize)>,
}

const COMPARED: &str = "\"==\", \"!=\", \"<\", \"<=\", \">\", \">=\", \"string\"";
const COUNTED: &str = "\"first\", \"last\", \"ord\", \"val\", \"succ\", \"pred\"";
const COLLECTED: &str = "\"append\", \"concat\", \"length\", \"empty\", \"member\", \"element\", \"head\", \"tail\", \
    \"last\", \"reverse\", \"delete\", \"remove\", \"union\", \"inter\", \"diff\", \"subset\", \"insert\"";

impl Drawing {
    pub fn draw_types(&mut self) {
        let span = |lower: i64, upper: i64| (upper - lower + 1) as u64;
        let predefined = [
            ("bool", Kind::Bool, 2),
            ("nat", Kind::Nat, span(0, self.nat_upper)),
            ("int", Kind::Int, span(self.int_lower, self.int_upper)),
            ("char", Kind::Char, 256),
            ("string", Kind::String, ENDLESS),
        ];
        for (name, kind, count) in predefined {
            self.types.push(Type { name: name.to_owned(), kind, count });
        }
        // Something to build on, then anything.
        self.enumeration();
        self.range();
        let more = 5 + self.chance.below(6);
        for number in 0..more {
            match self.chance.below(if number < 2 { 7 } else { 16 }) {
                0 => self.enumeration(),
                1 | 2 => self.range(),
                3..=5 => self.constructed(),
                6 | 7 => self.array(),
                8 | 9 => self.collection(),
                10 => self.predicate(),
                11 => self.tree(),
                12 | 13 => self.wide(),
                _ => self.constructed(),
            }
        }
        // Offers are often about membership.
        self.collection();
        if self.chance.one_in(2) {
            self.packets();
        }
    }

    /// What a soup holds: values that come together, and a collection of them.
    fn packets(&mut self) {
        let number = self.types.len();
        let few: Vec<usize> = (0..number).filter(|&ty| (2..=5).contains(&self.types[ty].count)).collect();
        let fields = |of: &str, drawing: &mut Self| {
            let fields = (0..2 + drawing.chance.below(2)).map(|at| {
                let ty = *drawing.chance.pick(&few);
                (format!("{of}{number}_{at}"), ty)
            });
            fields.collect::<Vec<_>>()
        };
        let own = fields("f", self);
        let other = match self.chance.below(3) {
            0 => None,
            1 => Some(Vec::new()),
            _ => Some(fields("g", self)),
        };
        let constructors = [Some(own), other].into_iter().flatten().enumerate();
        let constructors =
            constructors.map(|(at, fields)| Constructor { name: format!("c{number}_{at}"), fields });
        let constructors = constructors.collect();
        self.declare_constructed(constructors, false);
        self.collection_of(number);
        self.packet = Some(number);
    }

    fn declare(&mut self, kind: Kind, count: u64, text: &str, with: &str) {
        let name = format!("t{}", self.types.len());
        self.text += &format!("type {name} is {text} with {COMPARED}{with} end type\n");
        self.types.push(Type { name, kind, count });
    }

    fn enumeration(&mut self) {
        let count = *self.chance.pick(&[1, 2, 3, 3, 4, 5]);
        let names: Vec<String> = (0..count).map(|at| format!("e{}_{at}", self.types.len())).collect();
        let text = names.join(", ");
        self.declare(Kind::Enumeration(names), count as u64, &text, &format!(", {COUNTED}"));
    }

    fn range(&mut self) {
        let length = *self.chance.pick(&[1, 2, 3, 3, 4, 6]);
        let with = format!(", {COUNTED}, \"min\", \"max\"");
        let (base, lower) = match self.chance.below(8) {
            0 => (CHAR, i64::from(*self.chance.pick(b"aAx0"))),
            1 | 2 => (INT, *self.chance.pick(&[self.int_lower, -1, self.int_upper - 3])),
            // Many bits for few values.
            3..=5 => (NAT, (self.nat_upper - 3 - self.chance.below(2) as i64).max(0)),
            _ => (NAT, *self.chance.pick(&[0, 1, 2, 3])),
        };
        let most = match base {
            CHAR => 126,
            INT => self.int_upper,
            _ => self.nat_upper,
        };
        let upper = (lower + length - 1).min(most);
        let (first, last) = match base {
            CHAR => (format!("'{}'", lower as u8 as char), format!("'{}'", upper as u8 as char)),
            _ => (lower.to_string(), upper.to_string()),
        };
        let text = format!("range {first} .. {last} of {}", self.types[base].name);
        self.declare(Kind::Range { base, lower, upper }, (upper - lower + 1) as u64, &text, &with);
    }

    /// A type to be a part of another; mostly one with few values.
    fn part(&mut self) -> usize {
        for _ in 0..4 {
            let ty = self.chance.below(self.types.len());
            if self.types[ty].count <= 12 || self.chance.one_in(6) {
                return ty;
            }
        }
        BOOL
    }

    fn constructed(&mut self) {
        let several = self.chance.below(2) * (1 + self.chance.below(3));
        let mut constructors: Vec<Constructor> = Vec::new();
        let number = self.types.len();
        let mut names: Vec<(String, usize)> = Vec::new();
        for at in 0..=several {
            let most = if several > 0 { 3 } else { 4 };
            let least = usize::from(several == 0);
            let mut fields: Vec<(String, usize)> = Vec::new();
            for _ in 0..least + self.chance.below(most) {
                // Fields of the same name and type in several constructors.
                let known: Vec<&(String, usize)> =
                    names.iter().filter(|field| !fields.contains(field)).collect();
                if !known.is_empty() && self.chance.one_in(2) {
                    let again = (*self.chance.pick(&known)).clone();
                    fields.push(again);
                    continue;
                }
                let field = (format!("f{number}_{}", names.len()), self.part());
                names.push(field.clone());
                fields.push(field);
            }
            constructors.push(Constructor { name: format!("c{number}_{at}"), fields });
        }
        self.declare_constructed(constructors, false);
    }

    fn declare_constructed(&mut self, constructors: Vec<Constructor>, recursive: bool) {
        let written: Vec<String> = constructors
            .iter()
            .map(|constructor| {
                let fields: Vec<String> = constructor
                    .fields
                    .iter()
                    .map(|(name, ty)| match self.types.get(*ty) {
                        Some(ty) => format!("{name} : {}", ty.name),
                        // Of itself, or of the list that comes next.
                        None => format!("{name} : t{ty}"),
                    })
                    .collect();
                match fields.is_empty() {
                    true => constructor.name.clone(),
                    false => format!("{} ({})", constructor.name, fields.join(", ")),
                }
            })
            .collect();
        let count_of = |constructor: &Constructor| {
            let counts =
                constructor.fields.iter().map(|field| self.types.get(field.1).map_or(ENDLESS, |ty| ty.count));
            counts.fold(1u64, |product, count| product.saturating_mul(count))
        };
        let count = match recursive {
            true => ENDLESS,
            false => constructors.iter().map(count_of).fold(0, u64::saturating_add),
        };
        let text = written.join(", ");
        self.declare(Kind::Constructed { constructors, recursive }, count, &text, ", \"get\", \"set\"");
    }

    /// A record or an array of more than one word: parts of many bits, though of few values.
    fn wide(&mut self) {
        let narrow: Vec<usize> = (0..self.types.len())
            .filter(|&ty| match self.types[ty].kind {
                Kind::Range { base, lower, .. } => base == CHAR || lower > 7 || self.int_lower < -200,
                Kind::Char | Kind::Int => self.chance.one_in(4),
                Kind::Constructed { .. } | Kind::Array { .. } => self.chance.one_in(2),
                _ => false,
            })
            .collect();
        let Some(_) = narrow.first() else { return self.array() };
        if self.chance.one_in(3) {
            let element = *self.chance.pick(&narrow);
            let length = 2 + self.chance.below(3);
            return self.array_of(element, length);
        }
        let number = self.types.len();
        let constructors = (0..1 + self.chance.below(2)).map(|at| {
            let fields = (0..2 + self.chance.below(3)).map(|field| {
                let ty = if self.chance.one_in(4) { self.part() } else { *self.chance.pick(&narrow) };
                (format!("f{number}_{at}{field}"), ty)
            });
            Constructor { name: format!("c{number}_{at}"), fields: fields.collect() }
        });
        let constructors = constructors.collect();
        self.declare_constructed(constructors, false);
    }

    fn array(&mut self) {
        let element = self.part();
        let length = *self.chance.pick(&[1, 2, 2, 3, 3, 4]);
        self.array_of(element, length);
    }

    fn array_of(&mut self, element: usize, length: usize) {
        let lower = *self.chance.pick(&[0, 0, 1, 2, -1]);
        let upper = lower + length as i64 - 1;
        let text = format!("array [{lower} .. {upper}] of {}", self.types[element].name);
        let count = (0..length).fold(1u64, |product, _| product.saturating_mul(self.types[element].count));
        self.declare(Kind::Array { lower, length, element }, count, &text, ", \"set\"");
    }

    fn collection(&mut self) {
        // Rather of records than of numbers.
        let element = match self.chance.below(3) {
            0 => self.part(),
            _ => 5 + self.chance.below(self.types.len() - 5),
        };
        self.collection_of(element);
    }

    fn collection_of(&mut self, element: usize) {
        let (sorted, set) =
            *self.chance.pick(&[(false, false), (true, false), (false, true), (true, true), (true, true)]);
        let kind = format!("{}{}", if sorted { "sorted " } else { "" }, if set { "set" } else { "list" });
        let text = format!("{kind} of {}", self.types[element].name);
        self.declare(Kind::Collection { element, set }, ENDLESS, &text, &format!(", {COLLECTED}"));
    }

    fn predicate(&mut self) {
        let base = self.part();
        let witness = self.literal(base);
        let condition = match &self.types[base].kind {
            Kind::Nat => "it mod 2 == 0".to_owned(),
            Kind::Collection { .. } => "length (it) < 3".to_owned(),
            Kind::Constructed { .. } | Kind::Range { .. } | Kind::Enumeration(_) | Kind::Array { .. } => {
                let other = self.literal(base);
                match other == witness {
                    true => "it == it".to_owned(),
                    false => format!("it != {other}"),
                }
            }
            _ => return self.constructed(),
        };
        let witness = if base == NAT { "4".to_owned() } else { witness };
        let count = self.types[base].count;
        let text = format!("it : {} where {condition}", self.types[base].name);
        self.declare(Kind::Predicate { base, condition, witness }, count, &text, "");
    }

    /// A type that contains itself, directly or in a list.
    fn tree(&mut self) {
        let number = self.types.len();
        let value = self.part();
        let name = |what: &str| format!("{what}{number}");
        let leaf = Constructor { name: name("leaf"), fields: vec![(name("value"), value)] };
        let in_list = self.chance.one_in(2);
        let inner = if in_list { vec![number + 1] } else { vec![number; 2] };
        let mut fields = vec![(name("value"), value)];
        fields.extend(inner.iter().enumerate().map(|(at, &ty)| (format!("inner{number}_{at}"), ty)));
        let node = Constructor { name: name("node"), fields };
        self.declare_constructed(vec![leaf, node], true);
        if in_list {
            self.collection_of(number);
        }
    }

    /// Where a type contains itself in a list, the list.
    pub fn inner_list(&self, ty: usize) -> Option<usize> {
        match &self.types[ty].kind {
            Kind::Constructed { constructors, recursive: true } => {
                constructors[1].fields.iter().map(|field| field.1).find(|&field| field == ty + 1)
            }
            _ => None,
        }
    }

    /// Whether values of a type may have strings in them.
    pub fn contains_strings(&self, ty: usize) -> bool {
        let mut todo = vec![ty];
        let mut seen = vec![false; self.types.len()];
        while let Some(ty) = todo.pop() {
            if std::mem::replace(&mut seen[ty], true) {
                continue;
            }
            match &self.types[ty].kind {
                Kind::String => return true,
                Kind::Constructed { constructors, .. } => {
                    todo.extend(constructors.iter().flat_map(|one| one.fields.iter().map(|field| field.1)));
                }
                Kind::Range { base: part, .. }
                | Kind::Predicate { base: part, .. }
                | Kind::Collection { element: part, .. }
                | Kind::Array { element: part, .. } => todo.push(*part),
                Kind::Bool | Kind::Nat | Kind::Int | Kind::Char | Kind::Enumeration(_) => {}
            }
        }
        false
    }

    /// A constant. Different ones of a type that is not a collection have different texts.
    pub fn literal(&mut self, ty: usize) -> String {
        self.literal_within(ty, 2)
    }

    fn literal_within(&mut self, ty: usize, depth: usize) -> String {
        let name = self.types[ty].name.clone();
        match self.types[ty].kind.clone() {
            Kind::Bool => self.chance.pick(&["false", "true"]).to_string(),
            Kind::Nat => match self.chance.one_in(8) {
                true => self.nat_upper.to_string(),
                false => self.chance.below(5).to_string(),
            },
            Kind::Int => {
                let number = match self.chance.below(8) {
                    0 => self.int_lower,
                    1 => self.int_upper,
                    _ => self.chance.below(3) as i64 - 1,
                };
                self.number(number, "int")
            }
            Kind::Char => format!("'{}'", *self.chance.pick(b"abAB0") as char),
            Kind::String => self.chance.pick(&["\"\"", "\"a\"", "\"RED\"", "\"b c\"", "\"4\""]).to_string(),
            Kind::Enumeration(names) => self.chance.pick(&names).clone(),
            Kind::Range { base, lower, upper } => {
                let number = lower + self.chance.below((upper - lower + 1) as usize) as i64;
                match base {
                    CHAR => format!("('{}' of {name})", number as u8 as char),
                    _ if number < 0 => format!("{name} ({})", self.number(number, "int")),
                    _ => format!("({number} of {name})"),
                }
            }
            Kind::Predicate { witness, .. } => format!("{name} ({witness})"),
            Kind::Constructed { constructors, recursive } => {
                let at = match recursive && depth == 0 {
                    true => 0,
                    false => self.chance.below(constructors.len()),
                };
                let depth = depth.saturating_sub(1);
                let fields: Vec<String> =
                    constructors[at].fields.iter().map(|field| self.literal_within(field.1, depth)).collect();
                construct(&constructors[at], &fields)
            }
            Kind::Collection { element, .. } => {
                let count = if depth == 0 { 0 } else { self.chance.below(3) };
                let elements: Vec<String> =
                    (0..count).map(|_| self.literal_within(element, depth - 1)).collect();
                format!("({{{}}} of {name})", elements.join(", "))
            }
            Kind::Array { length, element, .. } => {
                let elements: Vec<String> =
                    (0..length).map(|_| self.literal_within(element, depth.saturating_sub(1))).collect();
                format!("({{{}}} of {name})", elements.join(", "))
            }
        }
    }

    fn number(&self, number: i64, ty: &str) -> String {
        match number < 0 {
            true => format!("(- ({} of {ty}))", -number),
            false => format!("({number} of {ty})"),
        }
    }

    /// A number of a numeric type as an index or operand of that type.
    pub fn number_of(&self, number: i64, ty: usize) -> String {
        match ty {
            NAT => number.to_string(),
            _ => self.number(number, "int"),
        }
    }
}

/// A value of a constructor with these fields.
pub fn construct(constructor: &Constructor, fields: &[String]) -> String {
    match fields.is_empty() {
        true => constructor.name.clone(),
        false => format!("{} ({})", constructor.name, fields.join(", ")),
    }
}
