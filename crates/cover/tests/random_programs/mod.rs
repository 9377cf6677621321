//! Draws LNT programs: well typed, finite, and full of what is hard for probes (choices with silent branches, nested
//! choices, parallel branches, loops, calls, disruption).

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
    // Processes call only those before them, so that there is no recursion.
    let processes = 1 + draw.below(3);
    for number in 0..processes {
        let mut writer = Writer { draw: &mut draw, names: &mut names, callable: number, loops: 0 };
        let body = writer.statements(3, &["x", "y"]);
        text.push_str(&format!(
            "process P{number} [A, B, C : any] (in var x : nat, in var y : nat) is\n   {body}\nend process\n"
        ));
    }
    let last = processes - 1;
    text.push_str(&format!(
        "process MAIN [A, B, C : any] is P{last} [A, B, C] ({}, {}) end process\nend module\n",
        draw.below(3),
        draw.below(3)
    ));
    text
}

struct Writer<'a> {
    draw: &'a mut Draw,
    names: &'a mut u64,
    /// How many processes can be called.
    callable: u64,
    /// How many loops are around.
    loops: u64,
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
        let kinds = if depth == 0 { 6 } else { 17 };
        match self.draw.below(kinds) {
            0 | 1 => self.action(variables),
            2 => {
                let (to, from) = (self.variable(variables), self.variable(variables));
                format!("{to} := ({from} + {}) mod 3", 1 + self.draw.below(2))
            }
            3 => "null".to_owned(),
            4 => self.action(variables),
            5 if self.callable > 0 => {
                let (process, one, other) =
                    (self.draw.below(self.callable), self.variable(variables), self.variable(variables));
                match self.draw.below(3) {
                    0 => format!("P{process} [...] ({one}, {other})"),
                    _ => format!("P{process} [C, A, B] ({one}, {other})"),
                }
            }
            5 => "null".to_owned(),
            6..=8 => self.select(depth, variables),
            9 | 10 => self.conditional(depth, variables),
            11 => self.case(depth, variables),
            12 => self.repeat(depth, variables),
            13 => self.parallel(depth),
            14 => {
                let name = self.name();
                let rest = self.statements(depth - 1, &[name.as_str()]);
                let guard = ["", " where t != 1"][self.draw.below(2) as usize];
                format!(
                    "var {name} : nat in var t : small in t := any small{guard}; {name} := nat (t) end var; \
                     {rest} end var"
                )
            }
            15 => {
                let (body, other) =
                    (self.closed(depth - 1), format!("{}; {}", self.gate(), self.closed(depth - 1)));
                format!("disrupt {body} by {other} end disrupt")
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
        let callable = std::mem::take(&mut self.callable);
        let body = self.statements(depth, &[name.as_str()]);
        self.callable = callable;
        format!("var {name} : nat in {name} := {start}; {body} end var")
    }

    fn parallel(&mut self, depth: u64) -> String {
        let count = 2 + self.draw.below(2);
        let gates = ["", " A in", " A, B in"][self.draw.below(3) as usize];
        let branches: Vec<String> = (0..count).map(|_| self.closed(depth.min(2) - 1)).collect();
        format!("par{gates} {} end par", branches.join(" || "))
    }
}
