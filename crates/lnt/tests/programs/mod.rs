//! Random programs that compute with all kinds of values: well typed, and without endless loops between actions.
//!
//! Lists, sets and trees are cut where they are built, and variables never get strings that have others printed into
//! them, so that values stay small. Only programs that were drawn as `risky` have operations that may fail.

mod expressions;
mod functions;
mod guards;
mod patterns;
mod processes;
mod statements;
mod types;

use types::Type;

/// Chances that depend on a seed only.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x51_7CC1_B727_220A)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }

    /// True once in so many times.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.below(among.len())]
    }
}

/// A variable that may be read.
#[derive(Clone)]
pub struct Variable {
    name: String,
    ty: usize,
    /// Counters of loops and parameters are only read.
    assignable: bool,
}

/// What an expression may read.
#[derive(Clone, Default)]
pub struct Scope {
    variables: Vec<Variable>,
    /// Names and types of those that it should be about.
    focus: Vec<(String, usize)>,
}

/// A function that expressions can call.
struct Function {
    name: String,
    parameters: Vec<usize>,
    result: usize,
}

/// A function that raises an exception with a value of a type.
struct Raising {
    function: Function,
    carries: usize,
}

/// How a procedure takes a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passing {
    In,
    InOut,
    Out,
}

/// A function that changes variables of its caller.
struct Procedure {
    name: String,
    parameters: Vec<(Passing, usize)>,
}

/// What a program contains that a test must not lack.
#[derive(Clone, Copy, Default)]
pub struct Features {
    /// Offers with a place that their process leaves open.
    pub open: usize,
    /// Offers that bind parts of a value.
    pub patterns: usize,
    /// Offers whose open values have a condition.
    pub guards: usize,
    /// Whether operations may fail.
    pub risky: bool,
}

/// A program and what it contains.
pub struct Program {
    pub text: String,
    pub features: Features,
}

/// Draws the program of a seed.
pub fn draw(seed: u64) -> Program {
    let mut chance = Chance::new(seed);
    let nat_upper = *chance.pick(&[9, 9, 15, 15, 255, 60_000, 2_000_000_000, 4_294_967_295]);
    let (int_lower, int_upper) =
        *chance.pick(&[(-5, 5), (-4, 6), (-1, 9), (-100, 127), (-2_000_000_000, 2_000_000_000)]);
    let risky = chance.one_in(4);
    let mut drawing = Drawing {
        chance,
        nat_upper,
        int_lower,
        int_upper,
        types: Vec::new(),
        packet: None,
        sent: Vec::new(),
        functions: Vec::new(),
        raising: Vec::new(),
        procedures: Vec::new(),
        channels: Vec::new(),
        locals: Vec::new(),
        text: String::new(),
        named: 0,
        features: Features { risky, ..Features::default() },
    };
    drawing.module();
    Program { text: drawing.text, features: drawing.features }
}

struct Drawing {
    chance: Chance,
    nat_upper: i64,
    int_lower: i64,
    int_upper: i64,
    types: Vec<Type>,
    /// A type whose values are kept in the collection that comes next.
    packet: Option<usize>,
    /// The parts of packets that soups begin with and that processes offer.
    sent: Vec<Vec<String>>,
    functions: Vec<Function>,
    raising: Vec<Raising>,
    procedures: Vec<Procedure>,
    /// The types of values that exceptions carry.
    channels: Vec<usize>,
    /// Variables that the body at hand declares, with a first value.
    locals: Vec<(String, usize)>,
    text: String,
    named: usize,
    features: Features,
}

impl Drawing {
    fn module(&mut self) {
        self.text = format!(
            "module drawn is\n!nat_sup {}\n!int_inf {}\n!int_sup {}\n",
            self.nat_upper, self.int_lower, self.int_upper
        );
        self.draw_types();
        self.draw_functions();
        self.draw_processes();
        let channels: String = self
            .channels
            .iter()
            .map(|&ty| format!("channel raise_{0} is ({0}) end channel\n", self.types[ty].name))
            .collect();
        self.text += &channels;
        self.text += "end module\n";
    }

    /// A name that nothing else has.
    fn name(&mut self, of: &str) -> String {
        self.named += 1;
        format!("{of}{}", self.named)
    }

    /// Sometimes true, where operations may fail.
    fn risks(&mut self) -> bool {
        self.features.risky && self.chance.one_in(25)
    }

    /// A new variable of the body at hand.
    fn local(&mut self, ty: usize) -> String {
        let name = self.name("v");
        self.locals.push((name.clone(), ty));
        name
    }

    /// The declarations of the body at hand.
    fn declarations(&mut self) -> String {
        let locals = std::mem::take(&mut self.locals);
        let declared: Vec<String> = locals
            .iter()
            .map(|(name, ty)| {
                let value = self.literal(*ty);
                format!("{name} : {} := {value}", self.types[*ty].name)
            })
            .collect();
        declared.join(",\n      ")
    }
}
