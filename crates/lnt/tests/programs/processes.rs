//! Processes that meet on gates with structured values.

use super::functions::variable;
use super::statements::Place;
use super::types::{Kind, NAT};
use super::{Drawing, Scope};

/// No offer leaves more values open than this.
const MOST_VALUES: u64 = 150;

struct Gate {
    name: String,
    types: Vec<usize>,
}

/// How components are put together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// The first one takes part in every step with a gate.
    Hub,
    /// All of them meet on some gates.
    Flat,
    /// Any two of them meet on the first gate.
    Pairs,
    /// Each has its own list of gates to meet on.
    Listed,
}

struct Component {
    name: String,
    parameters: Vec<(String, usize)>,
}

impl Drawing {
    pub fn draw_processes(&mut self) {
        let mut gates: Vec<Gate> = (0..2 + self.chance.below(2))
            .map(|number| {
                let count = *self.chance.pick(&[1, 1, 1, 2, 2, 3]);
                Gate { name: format!("G{number}"), types: (0..count).map(|_| self.offered_type()).collect() }
            })
            .collect();
        if let Some(packet) = self.packet {
            // Packets come as they are, with another first part, or in parts.
            let fields = self.packet_fields(packet).1;
            self.sent = (0..3).map(|_| fields.iter().map(|&ty| self.literal(ty)).collect()).collect();
            gates[0].types = match self.chance.below(3) {
                0 => vec![packet],
                1 => vec![packet, fields[0]],
                _ => fields,
            };
        }
        for gate in &gates {
            let types: Vec<&str> = gate.types.iter().map(|&ty| self.types[ty].name.as_str()).collect();
            self.text += &format!("channel offers_{} is ({}) end channel\n", gate.name, types.join(", "));
        }
        let header: Vec<String> = gates.iter().map(|gate| format!("{0} : offers_{0}", gate.name)).collect();
        let shape = *self.chance.pick(&[
            Shape::Hub,
            Shape::Hub,
            Shape::Hub,
            Shape::Flat,
            Shape::Flat,
            Shape::Pairs,
            Shape::Listed,
        ]);
        let count = 2 + self.chance.below(2);
        let components: Vec<Component> =
            (0..count).map(|number| self.component(number, shape, &gates, &header.join(", "))).collect();
        let again = usize::from(count == 2 || self.chance.one_in(4));
        let calls: Vec<String> = (0..count + again)
            .map(|number| {
                // The hub is there only once.
                let component = &components[if number < count { number } else { 1 }];
                let arguments: Vec<String> =
                    component.parameters.iter().map(|parameter| self.literal(parameter.1)).collect();
                format!("{} [...] ({})", component.name, arguments.join(", "))
            })
            .collect();
        let body = self.composition(shape, &gates, &calls);
        let hidden = self.chance.below(6).min(gates.len());
        let (body, visible) = match header.get(hidden) {
            Some(gate) => {
                let visible: Vec<&str> =
                    header.iter().filter(|other| *other != gate).map(String::as_str).collect();
                (format!("hide {gate} in {body} end hide"), visible.join(", "))
            }
            None => (body, header.join(", ")),
        };
        self.text += &format!("process MAIN [{visible}] is\n   {body}\nend process\n");
    }

    fn composition(&mut self, shape: Shape, gates: &[Gate], calls: &[String]) -> String {
        let some = |chance: &mut super::Chance, times: usize| {
            let some: Vec<&str> =
                gates.iter().filter(|_| chance.one_in(times)).map(|gate| gate.name.as_str()).collect();
            match some.is_empty() {
                true => String::new(),
                false => format!("{} in", some.join(", ")),
            }
        };
        match shape {
            Shape::Hub => {
                let all: Vec<&str> = gates.iter().map(|gate| gate.name.as_str()).collect();
                let inner = some(&mut self.chance, 3);
                let others = match calls.len() {
                    2 => calls[1].clone(),
                    _ => format!("par {inner} {} end par", calls[1..].join(" || ")),
                };
                format!("par {} in {} || {others} end par", all.join(", "), calls[0])
            }
            Shape::Flat => {
                let meeting = some(&mut self.chance, 2);
                format!("par {meeting} {} end par", calls.join(" || "))
            }
            Shape::Pairs => {
                let others = match self.chance.one_in(2) {
                    true => "",
                    false => ", G1",
                };
                format!("par G0#2{others} in {} end par", calls.join(" || "))
            }
            Shape::Listed => {
                let listed: Vec<String> = calls
                    .iter()
                    .enumerate()
                    .map(|(number, call)| format!("G{}, G{} -> {call}", number % 2, 1 - number % 2))
                    .collect();
                let mut listed = listed;
                listed[0] = format!("G0 -> {}", calls[0]);
                format!("par {} end par", listed.join(" || "))
            }
        }
    }

    /// Mostly a type whose values can be listed.
    fn offered_type(&mut self) -> usize {
        for _ in 0..6 {
            let ty = self.any_type();
            if (2..=60).contains(&self.types[ty].count) || self.chance.one_in(8) {
                return ty;
            }
        }
        self.any_type()
    }

    fn component(&mut self, number: usize, shape: Shape, gates: &[Gate], header: &str) -> Component {
        let mut scope = Scope::default();
        let mut parameters = Vec::new();
        for _ in 0..self.chance.below(3) {
            let (name, ty) = (self.name("a"), self.any_type());
            scope.variables.push(variable(&name, ty, false));
            parameters.push((name, ty));
        }
        // Variables for what is offered, for collections of it, and others.
        let mut types: Vec<usize> = gates.iter().flat_map(|gate| gate.types.clone()).collect();
        let lists: Vec<usize> = types.clone().iter().filter_map(|&ty| self.collection_with(ty)).collect();
        types.extend(lists);
        types.push(self.any_type());
        for ty in types {
            if self.chance.one_in(8) {
                continue;
            }
            let name = self.local(ty);
            scope.variables.push(variable(&name, ty, true));
        }
        if scope.variables.iter().all(|one| !one.assignable) {
            let ty = self.any_type();
            let name = self.local(ty);
            scope.variables.push(variable(&name, ty, true));
        }
        let soup = self.packet.filter(|_| number == 0 || self.chance.one_in(4)).map(|packet| {
            let name = self.local(packet + 1);
            scope.variables.push(variable(&name, packet + 1, true));
            name
        });
        let name = format!("P{number}");
        let kind = self.chance.below(6);
        // Set once: what depends on it may come back to the choice silently.
        let flag = (kind > 1 && self.chance.one_in(4)).then(|| self.local(NAT));
        let mut branches: Vec<String> = (0..2 + self.chance.below(3))
            .map(|_| {
                if self.chance.one_in(5) {
                    return self.rounds(number, shape, gates, &scope);
                }
                if let Some(flag) = flag.as_ref().filter(|_| self.chance.one_in(2)) {
                    let condition = self.condition(2, &scope);
                    let then = self.communication(number, shape, gates, &scope);
                    return format!(
                        "only if {flag} == 0 then {flag} := 1; if {condition} then {then} end if end if"
                    );
                }
                let first = self.action(number, shape, gates, &scope);
                let mut branch = first;
                if !self.chance.one_in(3) {
                    branch += &format!(";\n      {}", self.statements(2, &scope, &Place::default()));
                }
                if self.chance.one_in(4) {
                    branch += &format!(";\n      {}", self.action(number, shape, gates, &scope));
                }
                branch
            })
            .collect();
        let filled = soup.as_ref().filter(|_| self.chance.one_in(2)).map(|soup| self.filled(soup));
        if let Some(soup) = soup {
            branches.extend([true, false].map(|keeps| self.soup(keeps, &soup, &gates[0], &scope)));
        }
        let choice = format!("select\n      {}\n      end select", branches.join("\n   []\n      "));
        let start = match self.chance.one_in(4) {
            true => format!("{};\n   ", self.statements(1, &scope, &Place::default())),
            false => String::new(),
        };
        let start = match filled {
            Some(filled) => format!("{start}{filled};\n   "),
            None => start,
        };
        let start = match &flag {
            Some(flag) => format!("{flag} := 0;\n   {start}"),
            None => start,
        };
        let body = match kind {
            0 => {
                // Again, with other arguments.
                let arguments: Vec<String> =
                    parameters.iter().map(|parameter| self.expression(parameter.1, 2, &scope)).collect();
                format!("{start}{choice};\n   {name} [...] ({})", arguments.join(", "))
            }
            1 => format!("{start}{choice};\n   {choice};\n   stop"),
            _ => format!("{start}loop {choice} end loop"),
        };
        let declared = self.declarations();
        let written: Vec<String> =
            parameters.iter().map(|(name, ty)| format!("{name} : {}", self.types[*ty].name)).collect();
        self.text += &format!(
            "process {name} [{header}] ({}) is\n   var {declared} in\n   {body}\n   end var\nend process\n",
            written.join(", ")
        );
        Component { name, parameters }
    }

    /// The first constructor of a packet, and what it is made of.
    fn packet_fields(&self, packet: usize) -> (String, Vec<usize>) {
        match &self.types[packet].kind {
            Kind::Constructed { constructors, .. } => {
                let first = &constructors[0];
                (first.name.clone(), first.fields.iter().map(|field| field.1).collect())
            }
            _ => (String::new(), Vec::new()),
        }
    }

    /// Some of the packets that others offer are in a soup.
    fn filled(&mut self, soup: &str) -> String {
        let constructor = self.packet.map_or_else(String::new, |packet| self.packet_fields(packet).0);
        let packets = self.sent.iter().skip(self.chance.below(2));
        let filled = packets.fold(soup.to_owned(), |soup, parts| {
            format!("insert ({constructor} ({}), {soup})", parts.join(", "))
        });
        format!("{soup} := {filled}")
    }

    /// What a gate for packets offers of one that soups begin with.
    fn sent(&mut self, gate: &Gate) -> Option<Vec<String>> {
        let packet = self.packet.filter(|_| gate.name == "G0" && !self.chance.one_in(3))?;
        let constructor = self.packet_fields(packet).0;
        let parts = self.chance.pick(&self.sent).clone();
        let whole = format!("{constructor} ({})", parts.join(", "));
        Some(match gate.types[..] {
            [ty] if ty == packet => vec![whole],
            [ty, _] if ty == packet => vec![whole, self.chance.pick(&self.sent)[0].clone()],
            _ => parts,
        })
    }

    /// A packet, or its parts, is received and kept, or it is received because it was.
    fn soup(&mut self, keeps: bool, soup: &str, gate: &Gate, scope: &Scope) -> String {
        let Some(packet) = self.packet else { return "i".to_owned() };
        let (constructor, types) = self.packet_fields(packet);
        let mut bound = Vec::new();
        let mut parts: Vec<String> = types.iter().map(|&ty| self.binding(ty, scope, &mut bound)).collect();
        let whole = |parts: &[String]| format!("{constructor} ({})", parts.join(", "));
        let offers = match gate.types[..] {
            [ty] if ty == packet => format!("?{}", whole(&parts)),
            [ty, _] if ty == packet => {
                let received = whole(&parts);
                parts[0] = self.binding(types[0], scope, &mut bound);
                format!("?{received}, ?{}", parts[0])
            }
            _ => parts.iter().map(|part| format!("?{part}")).collect::<Vec<_>>().join(", "),
        };
        let whole = whole(&parts);
        let within = self.having_bound(bound, scope);
        if keeps {
            return format!("{} ({offers});\n      {soup} := insert ({whole}, {soup})", gate.name);
        }
        let more = match self.chance.below(3) {
            0 => format!(" and ({})", self.guard(1, &within)),
            _ => String::new(),
        };
        format!("{} ({offers}) where member ({whole}, {soup}){more}", gate.name)
    }

    /// A scope in which an offer has bound variables, with these in the focus; new ones become locals.
    fn having_bound(&mut self, bound: Vec<(String, usize)>, scope: &Scope) -> Scope {
        let mut within = scope.clone();
        for (name, ty) in &bound {
            if !scope.variables.iter().any(|one| one.name == *name) {
                self.locals.push((name.clone(), *ty));
                within.variables.push(variable(name, *ty, true));
            }
        }
        within.focus = bound;
        within
    }

    /// Actions in a loop, some of which may be left out, and one behind it.
    fn rounds(&mut self, number: usize, shape: Shape, gates: &[Gate], scope: &Scope) -> String {
        let counter = self.local(NAT);
        let mut within = scope.clone();
        within.variables.push(variable(&counter, NAT, false));
        let act = self.communication(number, shape, gates, &within);
        let body = match self.chance.below(3) {
            0 => act,
            1 => format!("if {} then {act} end if", self.condition(1, &within)),
            _ => {
                let other = self.communication(number, shape, gates, &within);
                format!("if {} then {act} else {other} end if", self.condition(1, &within))
            }
        };
        let first = self.chance.below(2);
        let last = self.action(number, shape, gates, scope);
        format!(
            "{counter} := {first};\n      while {counter} < 3 loop {body}; {counter} := {counter} + 1 end loop;\n      {last}"
        )
    }

    fn action(&mut self, number: usize, shape: Shape, gates: &[Gate], scope: &Scope) -> String {
        match self.chance.below(13) {
            // Where others wait for each other, something still happens.
            0 | 4 => "i".to_owned(),
            1 => {
                let condition = self.condition(2, scope);
                format!("only if {condition} then {} end if", self.communication(number, shape, gates, scope))
            }
            5 if !scope.variables.is_empty() => {
                // Of some values, nothing comes.
                let ty = self.chance.pick(&scope.variables).ty;
                let value = self.expression(ty, 1, scope);
                let mut bound = Vec::new();
                let pattern = self.pattern(ty, 2, scope, &mut bound);
                let within = self.having_bound(bound, scope);
                let then = self.communication(number, shape, gates, &within);
                format!("case {value} in {pattern} -> {then} | any -> stop end case")
            }
            2 | 3 => self.choosing(number, shape, gates, scope, 2),
            _ => self.communication(number, shape, gates, scope),
        }
    }

    /// Chooses a value silently, and then does one of several things, some of which may choose again.
    fn choosing(
        &mut self,
        number: usize,
        shape: Shape,
        gates: &[Gate],
        scope: &Scope,
        deeper: usize,
    ) -> String {
        let few: Vec<(String, usize)> = scope
            .variables
            .iter()
            .filter(|one| one.assignable && self.types[one.ty].count <= [4, 8, 60][deeper])
            .map(|one| (one.name.clone(), one.ty))
            .collect();
        if few.is_empty() {
            return self.communication(number, shape, gates, scope);
        }
        let (name, ty) = self.chance.pick(&few).clone();
        let condition = match self.chance.one_in(4) {
            true => String::new(),
            false => {
                let focused = Scope { focus: vec![(name.clone(), ty)], ..scope.clone() };
                format!(" where {}", self.guard(2, &focused))
            }
        };
        let then = match self.chance.below(4) {
            0 if deeper > 0 => self.choosing(number, shape, gates, scope, deeper - 1),
            1 => {
                let mut branches = Vec::new();
                for _ in 0..2 + self.chance.below(2) {
                    branches.push(match self.chance.below(4) {
                        0 if deeper > 0 => self.choosing(number, shape, gates, scope, deeper - 1),
                        1 => {
                            let condition = self.condition(1, scope);
                            let act = self.communication(number, shape, gates, scope);
                            format!("only if {condition} then {act} end if")
                        }
                        _ => self.communication(number, shape, gates, scope),
                    });
                }
                format!("select {} end select", branches.join(" [] "))
            }
            _ => self.communication(number, shape, gates, scope),
        };
        format!("{name} := any {}{condition};\n      {then}", self.types[ty].name)
    }

    /// An offer on a gate. The hub fixes what has too many values to be listed; without a hub everybody does.
    fn communication(&mut self, number: usize, shape: Shape, gates: &[Gate], scope: &Scope) -> String {
        let gate = self.chance.pick(gates);
        let mut bound: Vec<(String, usize)> = Vec::new();
        let mut offers = Vec::new();
        let mut values = 1u64;
        // Who mostly sends, and who mostly takes.
        let sends = self.chance.below(4);
        let mut open = false;
        let sent = self.sent(gate);
        for (at, &ty) in gate.types.iter().enumerate() {
            let more = values.saturating_mul(self.types[ty].count);
            let fixed_elsewhere = shape == Shape::Hub && number > 0 && self.types[ty].count > MOST_VALUES;
            let may_open = more <= MOST_VALUES && self.types[ty].count <= MOST_VALUES;
            if !(may_open || fixed_elsewhere) || self.chance.below(4) < sends {
                offers.push(match &sent {
                    Some(sent) => sent[at].clone(),
                    None => self.expression(ty, 2, scope),
                });
                continue;
            }
            if may_open {
                values = more;
            }
            open = true;
            offers.push(match self.chance.below(6) {
                0 => format!("?any {}", self.types[ty].name),
                1 | 2 => {
                    let before = bound.len();
                    let pattern = self.pattern(ty, 3, scope, &mut bound);
                    self.features.patterns += usize::from(bound.len() > before);
                    format!("?{pattern}")
                }
                _ => format!("?{}", self.binding(ty, scope, &mut bound)),
            });
        }
        let within = self.having_bound(bound, scope);
        let guard = match within.focus.is_empty() || self.chance.one_in(3) {
            true => String::new(),
            false => {
                self.features.guards += 1;
                format!(" where {}", self.guard(2, &within))
            }
        };
        self.features.open += usize::from(open);
        format!("{} ({}){guard}", gate.name, offers.join(", "))
    }
}
