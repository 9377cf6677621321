//! Random nets, and what they do by definition: every value of every variable is tried.

#![allow(dead_code)]

mod generate;
mod steps;

pub use generate::random_net;
pub use steps::{Fired, Tokens, describe, initial, joint, modes};

/// What the nets' types are, as text.
pub const TYPES: &str = "
   type D is range 0 .. 2 of nat with \"==\", \"!=\", \"<\" end type
   type E is e0, e1 with \"==\", \"!=\", \"<\" end type
   type R is p (d : D), q (d : D, e : E), r with \"==\", \"!=\", \"<\" end type
   function next (d : D) : D is if d == 2 then return 0 else return D (nat (d) + 1) end if end function
   function lower (d : D) : D is return D (nat (d) - 1) end function
";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sort {
    D,
    E,
    R,
}

/// A value; the order is LNT's within a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    D(u8),
    E(u8),
    P(u8),
    Q(u8, u8),
    R,
}

impl Sort {
    pub fn name(self) -> &'static str {
        match self {
            Sort::D => "D",
            Sort::E => "E",
            Sort::R => "R",
        }
    }

    /// All values, in ascending order.
    pub fn values(self) -> Vec<Value> {
        match self {
            Sort::D => (0..3).map(Value::D).collect(),
            Sort::E => (0..2).map(Value::E).collect(),
            Sort::R => {
                let p = (0..3).map(Value::P);
                let q = (0..3).flat_map(|d| (0..2).map(move |e| Value::Q(d, e)));
                p.chain(q).chain([Value::R]).collect()
            }
        }
    }
}

impl Value {
    /// As labels print it.
    pub fn print(self) -> String {
        match self {
            Value::D(d) => d.to_string(),
            Value::E(e) => format!("E{e}"),
            Value::P(d) => format!("P ({d})"),
            Value::Q(d, e) => format!("Q ({d}, E{e})"),
            Value::R => "R".to_owned(),
        }
    }
}

#[derive(Clone, Debug)]
pub enum Term {
    Variable(usize),
    Constant(Value),
    Any,
    All,
    Next(Box<Term>),
    Lower(Box<Term>),
    P(Box<Term>),
    Q(Box<Term>, Box<Term>),
    As(usize, Box<Term>),
}

#[derive(Clone, Debug)]
pub enum Condition {
    Equal(Term, Term),
    Different(Term, Term),
    Less(Term, Term),
    Or(Box<Condition>, Box<Condition>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Take,
    Read,
    Inhibit,
    Reset,
    Put,
}

#[derive(Clone, Debug)]
pub struct Arc {
    pub word: Word,
    pub count: u32,
    pub place: usize,
    /// None for any token.
    pub terms: Option<Vec<Term>>,
}

#[derive(Clone, Debug)]
pub struct Transition {
    pub variables: Vec<Sort>,
    pub arcs: Vec<Arc>,
    /// Guards, each a conjunction.
    pub guards: Vec<Vec<Condition>>,
}

#[derive(Clone, Debug)]
pub struct Place {
    pub sorts: Vec<Sort>,
    pub is_set: bool,
}

#[derive(Clone, Debug)]
pub struct Net {
    pub places: Vec<Place>,
    pub transitions: Vec<Transition>,
    /// Place, values, how many.
    pub initial: Vec<(usize, Vec<Value>, u32)>,
}

impl Term {
    fn text(&self) -> String {
        match self {
            Term::Variable(variable) => format!("x{variable}"),
            Term::Constant(value) => value.print().to_lowercase(),
            Term::Any => "any".to_owned(),
            Term::All => "all".to_owned(),
            Term::Next(inner) => format!("next ({})", inner.text()),
            Term::Lower(inner) => format!("lower ({})", inner.text()),
            Term::P(inner) => format!("p ({})", inner.text()),
            Term::Q(one, other) => format!("q ({}, {})", one.text(), other.text()),
            Term::As(variable, inner) => format!("x{variable} as {}", inner.text()),
        }
    }
}

impl Condition {
    fn text(&self) -> String {
        match self {
            Condition::Equal(a, b) => format!("({} == {})", a.text(), b.text()),
            Condition::Different(a, b) => format!("({} != {})", a.text(), b.text()),
            Condition::Less(a, b) => format!("({} < {})", a.text(), b.text()),
            Condition::Or(a, b) => format!("({} or {})", a.text(), b.text()),
        }
    }
}

impl Net {
    /// The net in the text language.
    pub fn text(&self) -> String {
        let mut text = format!("net RANDOM is{TYPES}");
        let terms = |terms: &[Term]| terms.iter().map(Term::text).collect::<Vec<String>>().join(", ");
        for (number, place) in self.places.iter().enumerate() {
            let sorts: Vec<&str> = place.sorts.iter().map(|sort| sort.name()).collect();
            let set = if place.is_set { "set of " } else { "" };
            let sorts =
                if sorts.is_empty() { String::new() } else { format!(" : {set}{}", sorts.join(", ")) };
            text += &format!("   place P{number}{sorts}\n");
        }
        for (number, transition) in self.transitions.iter().enumerate() {
            let variables = transition.variables.iter().enumerate();
            let variables: Vec<String> =
                variables.map(|(number, sort)| format!("x{number} : {}", sort.name())).collect();
            text += &format!("   transition T{number} ({})\n", variables.join(", "));
            for arc in &transition.arcs {
                let word = format!("{:?}", arc.word).to_lowercase();
                let count = if arc.count == 1 { String::new() } else { format!("{} * ", arc.count) };
                let inscription = match &arc.terms {
                    Some(inscribed) if !inscribed.is_empty() => format!(" ({})", terms(inscribed)),
                    _ => String::new(),
                };
                text += &format!("      {word} {count}P{}{inscription}\n", arc.place);
            }
            for guard in &transition.guards {
                let conditions: Vec<String> = guard.iter().map(Condition::text).collect();
                text += &format!("      where {}\n", conditions.join(" and "));
            }
            text += "   end transition\n";
        }
        let tokens = self.initial.iter().map(|(place, values, count)| {
            let values: Vec<String> = values.iter().map(|value| value.print().to_lowercase()).collect();
            let values = if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) };
            format!("{count} * P{place}{values}")
        });
        text +=
            &format!("   marking M is {} end marking\nend net\n", tokens.collect::<Vec<String>>().join(", "));
        text
    }
}
