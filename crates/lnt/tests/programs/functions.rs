//! Functions: those that every type gets, and random ones.

use super::statements::Place;
use super::types::{BOOL, CHAR, Kind, construct};
use super::{Drawing, Function, Passing, Procedure, Raising, Scope, Variable};

impl Drawing {
    pub fn draw_functions(&mut self) {
        for ty in 5..self.types.len() {
            self.helpers(ty);
        }
        for ty in 0..self.types.len() {
            self.test(ty);
        }
        for _ in 0..2 + self.chance.below(3) {
            self.function();
        }
        for _ in 0..1 + self.chance.below(2) {
            self.procedure();
            self.raising();
        }
        self.function();
    }

    /// What other parts of a program rely on.
    fn helpers(&mut self, ty: usize) {
        let name = self.types[ty].name.clone();
        match self.types[ty].kind.clone() {
            Kind::Enumeration(names) => {
                let (first, last) = (&names[0], &names[names.len() - 1]);
                self.text += &format!(
                    "function next_{name} (x : {name}) : {name} is\n   \
                     if x == {last} then return {first} else return succ (x) end if\nend function\n"
                );
            }
            Kind::Range { base, lower, upper } => {
                let written = |number: i64| match base {
                    CHAR => format!("('{}' of {name})", number as u8 as char),
                    _ => format!("{name} ({})", self.number_of(number, base)),
                };
                let (first, last) = (written(lower), written(upper));
                self.text += &format!(
                    "function next_{name} (x : {name}) : {name} is\n   \
                     if x == {last} then return {first} else return succ (x) end if\nend function\n"
                );
            }
            Kind::Predicate { base, condition, witness } => {
                let base = &self.types[base].name;
                self.text += &format!(
                    "function make_{name} (it : {base}) : {name} is\n   \
                     if {condition} then return {name} (it) else return {name} ({witness}) end if\nend function\n"
                );
            }
            Kind::Collection { element, .. } => {
                self.list_helpers(&name, element);
                self.list_walks(ty, &name, element);
            }
            Kind::Constructed { constructors, recursive: true } => {
                let value = self.literal(constructors[0].fields[0].1);
                let leaf = construct(&constructors[0], &[value]);
                let value_type = self.types[constructors[0].fields[0].1].name.clone();
                let node = &constructors[1].name;
                match self.inner_list(ty) {
                    None => {
                        self.text += &format!(
                            "function cut_{name} (t : {name}, n : nat) : {name} is\n   \
                             if n == 0 then return {leaf} end if;\n   \
                             case t in var v : {value_type}, l, r : {name} in\n      \
                             {node} (v, l, r) -> return {node} (v, cut_{name} (l, n - 1), cut_{name} (r, n - 1))\n   \
                             |  any -> return t\n   end case\nend function\n"
                        );
                    }
                    Some(list) => {
                        let list = self.types[list].name.clone();
                        self.text += &format!(
                            "function cut_{name} (t : {name}, n : nat) : {name} is\n   \
                             if n == 0 then return {leaf} end if;\n   \
                             case t in var v : {value_type}, l : {list} in\n      \
                             {node} (v, l) -> return {node} (v, cut_{list} (l, n - 1))\n   \
                             |  any -> return t\n   end case\nend function\n\
                             function cut_{list} (t : {list}, n : nat) : {list} is\n   \
                             case t in var h : {name}, l : {list} in\n      \
                             cons (h, l) -> return cons (cut_{name} (h, n), cut_{list} (l, n))\n   \
                             |  any -> return t\n   end case\nend function\n"
                        );
                    }
                }
            }
            _ => {}
        }
    }

    fn list_helpers(&mut self, name: &str, element: usize) {
        let element = self.types[element].name.clone();
        self.text += &format!(
            "function trim_{name} (l : {name}) : {name} is\n   \
             case l in var a, b, c : {element} in\n      \
             cons (a, cons (b, cons (c, any {name}))) -> return {{a, b, c}}\n   \
             |  any -> return l\n   end case\nend function\n\
             function rest_{name} (l : {name}) : {name} is\n   \
             case l in var rest : {name} in cons (any {element}, rest) -> return rest | {{}} -> return l end case\n\
             end function\n\
             function drop_{name} (l : {name}, n : nat) : {name} is\n   \
             if (n == 0) or (n > length (l)) then return l else return delete (l, n) end if\nend function\n\
             function first_{name} (l : {name}, other : {element}) : {element} is\n   \
             if empty (l) then return other else return head (l) end if\nend function\n\
             function held_{name} (x : {element}, l : {name}) : bool is\n   \
             case l in var h : {element}, rest : {name} in\n      \
             {{}} -> return false\n   \
             |  cons (h, rest) -> if h == x then return true else return held_{name} (x, rest) end if\n   \
             end case\nend function\n\
             function among_{name} (x : {element}, l : {name}) : bool is\n   \
             var n : nat in\n      \
             for n := 1 while n <= length (l) by n := n + 1 loop\n         \
             if element (l, n) == x then return true end if\n      end loop;\n      \
             return false\n   end var\nend function\n"
        );
    }

    /// Functions that build lists step by step, some of which give up by an exception.
    fn list_walks(&mut self, ty: usize, list: &str, element: usize) {
        let scope = Scope { variables: vec![variable("h", element, false)], focus: Vec::new() };
        let (other, condition) = (self.literal(element), self.condition(1, &scope));
        // What is a list itself must not grow.
        let changed = match self.types[element].kind {
            Kind::Collection { .. } | Kind::Constructed { .. } => other.clone(),
            _ => self.expression(element, 1, &scope),
        };
        let one = self.types[element].name.clone();
        self.text += &format!(
            "function map_{list} (l : {list}) : {list} is\n   \
             case l in var h : {one}, rest : {list} in\n      \
             {{}} -> return l\n   \
             |  cons (h, rest) -> return cons ({changed}, map_{list} (rest))\n   end case\nend function\n\
             function weave_{list} (l, m : {list}) : {list} is\n   \
             case l in var h : {one}, rest : {list} in\n      \
             {{}} -> return m\n   \
             |  cons (h, rest) -> if {condition} then return cons (h, weave_{list} (m, rest))\n      \
             else return weave_{list} (rest, m) end if\n   end case\nend function\n\
             function woven_{list} (l, m : {list}) : {list} is return trim_{list} (weave_{list} (l, m)) end function\n\
             function turn_{list} (l : {list}) : {list} is\n   var r, m : {list} in\n      \
             r := {{}};\n      m := l;\n      \
             while not (empty (m)) loop\n         r := cons (head (m), r);\n         m := tail (m)\n      end loop;\n      \
             if r == l then return {{{other}}} else return r end if\n   end var\nend function\n\
             function seek_{list} [E : none] (l : {list}, x : {one}) : {list} is\n   \
             case l in var h : {one}, rest : {list} in\n      \
             {{}} -> raise E\n   \
             |  cons (h, rest) -> if h == x then return rest else return cons (h, seek_{list} [E] (rest, x)) end if\n   \
             end case\nend function\n\
             function without_{list} (l : {list}, x : {one}) : {list} is\n   \
             trap exception E : none is return map_{list} (l) in return seek_{list} [E] (l, x) end trap\n\
             end function\n"
        );
        for (name, parameters) in
            [("map", vec![ty]), ("woven", vec![ty, ty]), ("turn", vec![ty]), ("without", vec![ty, element])]
        {
            self.functions.push(Function { name: format!("{name}_{list}"), parameters, result: ty });
        }
    }

    /// A predicate that takes a value apart.
    fn test(&mut self, ty: usize) {
        let name = self.types[ty].name.clone();
        let scope = Scope { variables: vec![variable("x", ty, false)], focus: Vec::new() };
        let body = self.case_returning(ty, "x", BOOL, &scope);
        let declared = self.declarations();
        let body = match declared.is_empty() {
            true => body,
            false => format!("var {declared} in\n   {body}\n   end var"),
        };
        self.text += &format!("function test_{name} (x : {name}) : bool is\n   {body}\nend function\n");
        self.functions.push(Function { name: format!("test_{name}"), parameters: vec![ty], result: BOOL });
    }

    /// A `case` each of whose branches returns.
    pub fn case_returning(&mut self, ty: usize, value: &str, result: usize, scope: &Scope) -> String {
        let mut declared = Vec::new();
        let mut branches = Vec::new();
        for _ in 0..1 + self.chance.below(3) {
            let mut bound = Vec::new();
            let pattern = self.pattern(ty, 3, &Scope::default(), &mut bound);
            let mut inner = scope.clone();
            inner.variables.extend(bound.iter().map(|(name, ty)| variable(name, *ty, false)));
            inner.focus = bound.clone();
            let guard = match self.chance.one_in(3) {
                true => format!(" where {}", self.guard(1, &inner)),
                false => String::new(),
            };
            let returned = self.expression(result, 2, &inner);
            branches.push(format!("{pattern}{guard} -> return {returned}"));
            declared.extend(bound);
        }
        // Without it, a value may match nothing.
        if !self.risks() {
            branches.push(format!("any -> return {}", self.expression(result, 1, scope)));
        }
        let declared: Vec<String> =
            declared.iter().map(|(name, ty)| format!("{name} : {}", self.types[*ty].name)).collect();
        let declared = match declared.is_empty() {
            true => String::new(),
            false => format!("var {} in", declared.join(", ")),
        };
        format!("case {value} in {declared}\n      {}\n   end case", branches.join("\n   |  "))
    }

    /// A type that a program rather computes with.
    pub fn any_type(&mut self) -> usize {
        match self.chance.below(4) {
            0 => self.chance.below(self.types.len()),
            _ => 5 + self.chance.below(self.types.len() - 5),
        }
    }

    fn parameters(&mut self) -> Vec<(String, usize)> {
        (0..1 + self.chance.below(3)).map(|_| (self.name("p"), self.any_type())).collect()
    }

    /// What a function with these parameters starts with.
    fn scope_of(&mut self, parameters: &[(String, usize)]) -> Scope {
        let mut scope = Scope::default();
        scope.variables.extend(parameters.iter().map(|(name, ty)| variable(name, *ty, true)));
        for _ in 0..1 + self.chance.below(3) {
            // Often of a type that is there already.
            let ty = match self.chance.one_in(2) {
                true => self.chance.pick(parameters).1,
                false => self.any_type(),
            };
            let name = self.local(ty);
            scope.variables.push(variable(&name, ty, true));
        }
        scope
    }

    fn written_parameters(&mut self, parameters: &[(String, usize)]) -> String {
        let written: Vec<String> =
            parameters.iter().map(|(name, ty)| format!("in var {name} : {}", self.types[*ty].name)).collect();
        written.join(", ")
    }

    fn function(&mut self) {
        let parameters = self.parameters();
        let result = if self.chance.one_in(3) { BOOL } else { self.any_type() };
        let scope = self.scope_of(&parameters);
        let place = Place { returns: Some(result), ..Place::default() };
        let mut body = self.statements(2, &scope, &place);
        let last = match self.chance.one_in(3) {
            true => {
                let (name, ty) = self.chance.pick(&parameters).clone();
                self.case_returning(ty, &name, result, &scope)
            }
            false => format!("return {}", self.expression(result, 3, &scope)),
        };
        body = format!("{body};\n      {last}");
        let name = self.name("g");
        let declared = self.declarations();
        let (written, result_name) = (self.written_parameters(&parameters), self.types[result].name.clone());
        self.text += &format!(
            "function {name} ({written}) : {result_name} is\n   var {declared} in\n      {body}\n   end var\n\
             end function\n"
        );
        let parameters = parameters.into_iter().map(|one| one.1).collect();
        self.functions.push(Function { name, parameters, result });
    }

    fn procedure(&mut self) {
        let parameters = self.parameters();
        let ways: Vec<Passing> = parameters
            .iter()
            .map(|_| *self.chance.pick(&[Passing::In, Passing::InOut, Passing::Out]))
            .collect();
        let readable: Vec<(String, usize)> = parameters
            .iter()
            .zip(&ways)
            .filter(|(_, way)| **way != Passing::Out)
            .map(|(parameter, _)| parameter.clone())
            .collect();
        if readable.is_empty() {
            return;
        }
        let scope = self.scope_of(&readable);
        let mut body = self.statements(2, &scope, &Place::default());
        for ((name, ty), way) in parameters.iter().zip(&ways) {
            if *way != Passing::In {
                body += &format!(";\n      {name} := {}", self.expression(*ty, 2, &scope));
            }
        }
        let name = self.name("h");
        let declared = self.declarations();
        let written: Vec<String> = parameters
            .iter()
            .zip(&ways)
            .map(|((name, ty), way)| {
                let way = match way {
                    Passing::In => "in var",
                    Passing::InOut => "in out",
                    Passing::Out => "out",
                };
                format!("{way} {name} : {}", self.types[*ty].name)
            })
            .collect();
        self.text += &format!(
            "function {name} ({}) is\n   var {declared} in\n      {body}\n   end var\nend function\n",
            written.join(", ")
        );
        let parameters = ways.into_iter().zip(parameters.into_iter().map(|one| one.1)).collect();
        self.procedures.push(Procedure { name, parameters });
    }

    /// A function that raises an exception with a value, or returns another.
    fn raising(&mut self) {
        let parameters = self.parameters();
        let (result, carries) = (self.any_type(), self.any_type());
        let scope = self.scope_of(&parameters);
        let body = self.statements(1, &scope, &Place::default());
        let condition = self.condition(2, &scope);
        let raised = self.expression(carries, 2, &scope);
        let returned = self.expression(result, 2, &scope);
        let name = self.name("r");
        let declared = self.declarations();
        let (written, result_name) = (self.written_parameters(&parameters), self.types[result].name.clone());
        self.text += &format!(
            "function {name} [E : raise_{}] ({written}) : {result_name} is\n   var {declared} in\n      {body};\n      \
             if {condition} then raise E ({raised}) end if;\n      return {returned}\n   end var\nend function\n",
            self.types[carries].name
        );
        if !self.channels.contains(&carries) {
            self.channels.push(carries);
        }
        let parameters = parameters.into_iter().map(|one| one.1).collect();
        self.raising.push(Raising { function: Function { name, parameters, result }, carries });
    }
}

/// A variable of a scope.
pub fn variable(name: &str, ty: usize, assignable: bool) -> Variable {
    Variable { name: name.to_owned(), ty, assignable }
}
