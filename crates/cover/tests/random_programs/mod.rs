//! Draws LNT programs: well typed, finite, and full of what is hard for probes (choices with silent branches, nested
//! choices, parallel branches, loops, calls that give results or come back in silence, recursion, exceptions,
//! disruption).

/// A generator of numbers, the same for the same seed.
pub struct Draw(u64);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

/// Which programs are drawn; the environment may ask for others: `PROGRAMS=20000 FIRST=500`.
pub fn seeds(usual: u64) -> std::ops::Range<u64> {
    let number =
        |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let first = number("FIRST", 0);
    first..first + number("PROGRAMS", usual)
}

/// A program drawn from a seed.
pub fn program(seed: u64) -> String {
    let mut draw = Draw::new(seed);
    let mut names = 0;
    let mut text =
        String::from("module m is\ntype small is range 0..2 of nat with \"==\", \"!=\" end type\n");
    text.push_str("function next (n : nat) : nat is return (n + 1) mod 3 end function\n");
    text.push_str(
        "function even [ODD : none] (n : nat) : nat is if n == 1 then raise ODD end if; return n end function\n",
    );
    // Processes call only those before them, but for those that call themselves in the end.
    let processes = 1 + draw.below(3);
    let mut kinds: Vec<Kind> = Vec::new();
    for number in 0..processes {
        let kind = match draw.below(8) {
            _ if number + 1 == processes => Kind::Plain,
            0..=2 => Kind::Result,
            3 => Kind::Recursive,
            _ => Kind::Plain,
        };
        let silent = kind == Kind::Result && draw.below(2) == 0;
        let callable = kinds.clone();
        let mut writer =
            Writer { draw: &mut draw, names: &mut names, callable, loops: 0, exceptions: Vec::new(), silent };
        // The last process is the large one: others are part of it as often as they are called.
        let depth = if silent { 1 } else { 2 + u64::from(number + 1 == processes) };
        let body = writer.statements(depth, &["x", "y"]);
        let (more, end) = match kind {
            Kind::Plain => ("", String::new()),
            Kind::Result => (", out z : nat", "; z := next (x)".to_owned()),
            Kind::Recursive => {
                let again = "P [...] (y, x, n - 1)".replace('P', &format!("P{number}"));
                (", n : nat", format!("; if n > 0 then {again} end if"))
            }
        };
        text.push_str(&format!(
            "process P{number} [A, B, C : any] (in var x : nat, in var y : nat{more}) is\n   {body}{end}\nend process\n"
        ));
        kinds.push(kind);
    }
    let last = processes - 1;
    // An action in the end lets more be shown that waits for one.
    let end = ["", "; C"][draw.below(2) as usize];
    text.push_str(&format!(
        "process MAIN [A, B, C : any] is P{last} [A, B, C] ({}, {}){end} end process\nend module\n",
        draw.below(3),
        draw.below(3)
    ));
    text
}

/// What a process is like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    /// It has an `out` parameter.
    Result,
    /// It calls itself in the end.
    Recursive,
}

struct Writer<'a> {
    draw: &'a mut Draw,
    names: &'a mut u64,
    /// The processes that can be called.
    callable: Vec<Kind>,
    /// How many loops are around.
    loops: u64,
    /// The exceptions that can be raised.
    exceptions: Vec<String>,
    /// Whether nothing may act.
    silent: bool,
}

impl Writer<'_> {
    fn name(&mut self) -> String {
        *self.names += 1;
        format!("v{}", self.names)
    }

    fn variable<'v>(&mut self, variables: &[&'v str]) -> &'v str {
        variables[self.draw.below(variables.len() as u64) as usize]
    }

    fn gate(&mut self) -> &'static str {
        ["A", "B", "C"][self.draw.below(3) as usize]
    }

    fn condition(&mut self, variables: &[&str]) -> String {
        let (one, other) = (self.variable(variables), self.variable(variables));
        match self.draw.below(5) {
            0 => format!("{one} == {}", self.draw.below(3)),
            1 => format!("({one} > {other})"),
            2 => format!("({one} == 0) or ({other} == 1)"),
            3 => format!("not ({one} == {other}) and ({one} < 2)"),
            _ => format!("{one} < {}", self.draw.below(4)),
        }
    }

    fn statements(&mut self, depth: u64, variables: &[&str]) -> String {
        let count = 1 + self.draw.below(3);
        let parts: Vec<String> = (0..count).map(|_| self.statement(depth, variables)).collect();
        parts.join("; ")
    }

    fn statement(&mut self, depth: u64, variables: &[&str]) -> String {
        let kinds = if depth == 0 || self.silent { 8 } else { 20 };
        match self.draw.below(kinds) {
            0 | 1 | 4 if self.silent => self.silent_statement(variables),
            0 | 1 => self.action(variables),
            2 => {
                let (to, from) = (self.variable(variables), self.variable(variables));
                format!("{to} := ({from} + {}) mod 3", 1 + self.draw.below(2))
            }
            3 => "null".to_owned(),
            4 => self.action(variables),
            5 | 6 if !self.callable.is_empty() => self.call(variables),
            5 => "null".to_owned(),
            6 => format!("{} := next ({})", self.variable(variables), self.variable(variables)),
            7 if !self.exceptions.is_empty() => {
                let exception =
                    self.exceptions[self.draw.below(self.exceptions.len() as u64) as usize].clone();
                match self.draw.below(3) {
                    0 => format!(
                        "{} := even [{exception}] ({})",
                        self.variable(variables),
                        self.variable(variables)
                    ),
                    _ => format!("if {} then raise {exception} end if", self.condition(variables)),
                }
            }
            7 => self.silent_statement(variables),
            8..=10 => self.select(depth, variables),
            11 | 12 => self.conditional(depth, variables),
            13 => self.case(depth, variables),
            14 => self.repeat(depth, variables),
            15 => self.parallel(depth),
            16 => {
                let name = self.name();
                let rest = self.statements(depth - 1, &[name.as_str()]);
                let guard = ["", " where t != 1"][self.draw.below(2) as usize];
                format!(
                    "var {name} : nat in var t : small in t := any small{guard}; {name} := nat (t) end var; \
                     {rest} end var"
                )
            }
            17 => {
                let (body, other) =
                    (self.closed(depth - 1), format!("{}; {}", self.gate(), self.closed(depth - 1)));
                format!("disrupt {body} by {other} end disrupt")
            }
            18 => {
                let handler = self.statements(depth - 1, variables);
                let exception = self.name().to_uppercase();
                self.exceptions.push(exception.clone());
                let body = self.statements(depth - 1, variables);
                self.exceptions.pop();
                format!("trap exception {exception} is {handler} in {body} end trap")
            }
            _ => {
                let inner = self.statements(depth - 1, variables);
                match self.draw.below(3) {
                    0 => format!("hide D : any in D; {inner} end hide"),
                    1 => format!("only if {} then {inner} end if", self.condition(variables)),
                    _ => "stop".to_owned(),
                }
            }
        }
    }

    /// A statement that neither acts nor calls anything.
    fn silent_statement(&mut self, variables: &[&str]) -> String {
        let to = self.variable(variables);
        match self.draw.below(4) {
            0 => format!("if {} then {to} := 1 end if", self.condition(variables)),
            1 => format!("case {to} in 0 -> {to} := 2 | any -> null end case"),
            2 => format!("select {to} := 0 [] null end select"),
            _ => format!("{to} := next ({})", self.variable(variables)),
        }
    }

    fn call(&mut self, variables: &[&str]) -> String {
        let process = self.draw.below(self.callable.len() as u64) as usize;
        let gates = ["[...]", "[C, A, B]", "[C, A, B]"][self.draw.below(3) as usize];
        let [one, other, to] = [(); 3].map(|()| self.variable(variables));
        match self.callable[process] {
            Kind::Plain => format!("P{process} {gates} ({one}, {other})"),
            Kind::Result => match self.draw.below(2) {
                0 => format!("P{process} {gates} ({one}, {other}, ?{to})"),
                _ => format!("P{process} {gates} (y -> {other}, z -> ?{to}, x -> {one})"),
            },
            Kind::Recursive => format!("P{process} {gates} ({one}, {other}, {})", self.draw.below(3)),
        }
    }

    fn action(&mut self, variables: &[&str]) -> String {
        let (gate, variable) = (self.gate(), self.variable(variables));
        match self.draw.below(5) {
            0 => format!("{gate} ({variable})"),
            1 => format!("{gate} (?any small)"),
            2 => "i".to_owned(),
            _ => gate.to_owned(),
        }
    }

    fn select(&mut self, depth: u64, variables: &[&str]) -> String {
        let count = 1 + self.draw.below(3);
        let branches: Vec<String> = (0..count).map(|_| self.statements(depth - 1, variables)).collect();
        format!("select {} end select", branches.join(" [] "))
    }

    fn conditional(&mut self, depth: u64, variables: &[&str]) -> String {
        let mut text =
            format!("if {} then {}", self.condition(variables), self.statements(depth - 1, variables));
        for _ in 0..self.draw.below(3) {
            let (condition, body) = (self.condition(variables), self.statements(depth - 1, variables));
            text.push_str(&format!(" elsif {condition} then {body}"));
        }
        if self.draw.below(2) == 0 {
            text.push_str(&format!(" else {}", self.statements(depth - 1, variables)));
        }
        text + " end if"
    }

    fn case(&mut self, depth: u64, variables: &[&str]) -> String {
        let subject = self.variable(variables);
        let branches = ["0", "1 | 2", "any"]
            .map(|pattern| format!("{pattern} -> {}", self.statements(depth - 1, variables)));
        format!("case {subject} in {} end case", branches.join(" | "))
    }

    /// Loops that end by a counter, by a break, or not at all; each acts, so that none is endless in silence.
    fn repeat(&mut self, depth: u64, variables: &[&str]) -> String {
        self.loops += 1;
        let (counter, gate) = (self.name(), self.gate());
        let body = self.statements(depth - 1, variables);
        let leave = match self.draw.below(3) {
            0 => format!("if {} then break end if; ", self.condition(variables)),
            _ => String::new(),
        };
        let text = match self.draw.below(5) {
            0 => format!("loop {leave}{gate}; {body} end loop"),
            1 => format!("loop select {gate} [] {body} end select; {gate} end loop"),
            2 => format!(
                "var {counter} : nat in for {counter} := 0 while {counter} < 2 by {counter} := {counter} + 1 \
                 loop {leave}{body} end loop end var"
            ),
            _ => format!(
                "var {counter} : nat in {counter} := 0; while {counter} < 2 loop {leave}{body}; \
                 {counter} := {counter} + 1 end loop end var"
            ),
        };
        self.loops -= 1;
        text
    }

    /// Statements with a variable of their own.
    fn closed(&mut self, depth: u64) -> String {
        let name = self.name();
        let start = self.draw.below(3);
        let (callable, exceptions) =
            (std::mem::take(&mut self.callable), std::mem::take(&mut self.exceptions));
        let body = self.statements(depth, &[name.as_str()]);
        (self.callable, self.exceptions) = (callable, exceptions);
        format!("var {name} : nat in {name} := {start}; {body} end var")
    }

    fn parallel(&mut self, depth: u64) -> String {
        let count = 2 + self.draw.below(2);
        let gates = ["", " A in", " A, B in"][self.draw.below(3) as usize];
        let branches: Vec<String> = (0..count).map(|_| self.closed(depth.min(2) - 1)).collect();
        format!("par{gates} {} end par", branches.join(" || "))
    }
}
