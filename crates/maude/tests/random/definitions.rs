//! The statements of a random module: equations, memberships and rules. `generator.rs` says why their answers do not
//! depend on the order in which they are tried.

use super::{Axioms, Collection, Function, Writer};

impl Writer {
    // ---- equations ----

    pub(super) fn equations(&mut self) {
        self.deterministic = self.random.percent(40);
        for collection in self.collections.clone() {
            self.constant_equations(&collection);
        }
        for collection in self.collections.clone() {
            self.collection_functions(&collection);
        }
        self.number_functions();
        for index in 0..1 + self.random.below(3) {
            self.case_function(index);
        }
        if self.random.percent(40) {
            self.symmetric_function();
        }
    }

    /// `a ; b = c` or `X ; X = X`.
    fn constant_equations(&mut self, collection: &Collection) {
        if !collection.axioms.associative() && collection.axioms != Axioms::Commutative {
            return;
        }
        if collection.axioms.associative()
            && collection.axioms.commutative()
            && !collection.wide
            && self.random.percent(15)
        {
            let equation = self.collect(collection, &["X".into(), "X".into()]);
            self.state(format!("eq {equation} = X ."));
            return;
        }
        let fresh: Vec<String> = self
            .constants
            .iter()
            .map(|(name, _)| name.clone())
            .filter(|name| !self.consumed.contains(name))
            .collect();
        if fresh.len() < 3 || self.random.percent(35) {
            return;
        }
        let (left, right) = (fresh[0].clone(), fresh[1].clone());
        self.consumed.extend([left.clone(), right.clone()]);
        // The result is a constant that no left side has, now or later.
        let result = fresh[fresh.len() - 1].clone();
        let sort =
            |name: &str| self.constants.iter().find(|(constant, _)| constant == name).unwrap().1.clone();
        // In a wide collection, a result of a larger sort could change what a small element is.
        if collection.wide && sort(&result) != sort(&left) {
            return;
        }
        let equation = self.collect(collection, &[left, right]);
        self.state(format!("eq {equation} = {result} ."));
    }

    fn collection_functions(&mut self, collection: &Collection) {
        let axioms = collection.axioms;
        if !axioms.associative() || collection.wide {
            return;
        }
        let suffix = match collection.symbol {
            ";" => "1",
            "+" => "2",
            _ => "3",
        };
        let more = self.collect(collection, &["X".into(), "P".into()]);
        if self.random.percent(60) {
            let name = format!("size{suffix}");
            self.function(&name, &["Bag"], "Num");
            let empty = if axioms.identity() { collection.identity.clone() } else { "X".into() };
            let least = if axioms.identity() { "z" } else { "s(z)" };
            self.state(format!("eq {name}({empty}) = {least} ."));
            self.state(format!("eq {name}({more}) = s({name}(P)) ."));
        }
        if self.random.percent(60) {
            let name = format!("has{suffix}");
            self.function(&name, &["Elt", "Bag"], "Num");
            let pattern = if axioms.commutative() {
                self.collect(collection, &["X".into(), "P".into()])
            } else {
                self.collect(collection, &["P".into(), "X".into(), "Q".into()])
            };
            self.state(format!("eq {name}(X, {pattern}) = s(z) ."));
            if !axioms.identity() {
                self.state(format!("eq {name}(X, X) = s(z) ."));
            }
            self.state(format!("eq {name}(X, P) = z [owise] ."));
        }
        if self.random.percent(50) {
            let name = format!("count{suffix}");
            let constant = self.constant("Elt");
            self.function(&name, &["Bag"], "Num");
            if axioms.commutative() {
                let pattern = self.collect(collection, &[constant.clone(), "P".into()]);
                self.state(format!("eq {name}({pattern}) = s({name}(P)) ."));
                if !axioms.identity() {
                    self.state(format!("eq {name}({constant}) = s(z) ."));
                }
                self.state(format!("eq {name}(P) = z [owise] ."));
            } else {
                let pattern = self.collect(collection, &["P".into(), constant, "Q".into()]);
                self.state(format!("eq {name}({pattern}) = s(z) ."));
                self.state(format!("eq {name}(P) = z [owise] ."));
            }
        }
        if axioms.identity() && self.random.percent(50) {
            let name = format!("map{suffix}");
            self.function(&name, &["Bag"], "Bag");
            let mut variables = vec![("X".to_string(), "Elt".to_string())];
            let image = self.open("Elt", &mut variables, 1);
            let mapped = self.collect(collection, &[image, format!("{name}(P)")]);
            self.state(format!("eq {name}({}) = {} .", collection.identity, collection.identity));
            self.state(format!("eq {name}({more}) = {mapped} ."));
        }
        if !axioms.commutative() && self.random.percent(60) {
            let name = format!("head{suffix}");
            self.function(&name, &["Bag"], "Elt");
            let first = format!("X {} P", collection.symbol);
            let first = if collection.infix { first } else { format!("{}(X, P)", collection.symbol) };
            self.state(format!("eq {name}({first}) = X ."));
        }
        if axioms.commutative() && self.random.percent(40) {
            // All elements that match are the same constant, so that the rest does not depend on the choice.
            let name = format!("find{suffix}");
            let constant = self.constant("Elt");
            self.function(&name, &["Bag"], "Bag");
            let pattern = self.collect(collection, &[constant, "Q".into()]);
            self.state(format!("ceq {name}(P) = Q if {pattern} := P ."));
            self.state(format!("eq {name}(P) = P [owise] ."));
        }
    }

    fn number_functions(&mut self) {
        if self.random.percent(60) {
            self.function("plus", &["Num", "Num"], "Num");
            self.state("eq plus(N, z) = N .".into());
            self.state("eq plus(N, s(M)) = s(plus(N, M)) .".into());
        }
        if self.random.percent(50) {
            self.function("half", &["Num"], "Num");
            self.state("eq half(z) = z .".into());
            self.state("eq half(s(z)) = z .".into());
            self.state("eq half(s(s(N))) = s(half(N)) .".into());
        }
        if self.random.percent(40) {
            self.function("least", &["Num", "Num"], "Num");
            self.state("eq least(z, N) = z .".into());
            self.state("eq least(s(N), z) = z .".into());
            self.state("eq least(s(N), s(M)) = s(least(N, M)) .".into());
        }
    }

    /// A function by cases on the constant or constructor of its first argument, with conditions, and owise.
    fn case_function(&mut self, index: usize) {
        let name = format!("f{index}");
        let extra: Vec<&str> = match self.random.below(4) {
            0 => vec![],
            1 => vec!["Elt"],
            2 => vec!["Num"],
            _ => vec!["Elt", "Num"],
        };
        let result = self.random.pick(&["Elt", "Elt", "Num", "Bag"]);
        let rest: Vec<(String, String)> = extra
            .iter()
            .map(|sort| {
                if *sort == "Elt" {
                    ("Y".to_string(), "Elt".to_string())
                } else {
                    ("N".to_string(), "Num".to_string())
                }
            })
            .collect();
        let mut lines = Vec::new();
        let mut patterns: Vec<(String, Vec<(String, String)>)> = Vec::new();
        for (constant, _) in self.constants.clone() {
            if self.random.percent(35) {
                patterns.push((constant, vec![]));
            }
        }
        for constructor in self.constructors.clone() {
            if self.random.percent(60) {
                let (term, variables) = match constructor.name.as_str() {
                    "box" => ("box(P)", vec![("P", "Bag")]),
                    "p" => ("p(X, Z)", vec![("X", "Elt"), ("Z", "Elt")]),
                    "t" => ("t(X, M, Z)", vec![("X", "Elt"), ("M", "Num"), ("Z", "Elt")]),
                    _ => ("k(X)", vec![("X", "Elt")]),
                };
                let variables =
                    variables.iter().map(|(name, sort)| (name.to_string(), sort.to_string())).collect();
                patterns.push((term.to_string(), variables));
            }
        }
        if patterns.is_empty() {
            patterns.push((self.constants[0].0.clone(), vec![]));
        }
        for (pattern, bound) in patterns {
            let mut variables = bound.clone();
            variables.extend(rest.clone());
            let arguments: Vec<String> =
                std::iter::once(pattern).chain(rest.iter().map(|(variable, _)| variable.clone())).collect();
            let left = format!("{name}({})", arguments.join(", "));
            let condition = if self.random.percent(40) { self.condition(&variables) } else { None };
            match condition {
                Some((condition, more)) => {
                    variables.extend(more);
                    let right = self.open(result, &mut variables, 2);
                    lines.push(format!("ceq {left} = {right} if {condition} ."));
                }
                None => {
                    let right = self.open(result, &mut variables, 2);
                    lines.push(format!("eq {left} = {right} ."));
                }
            }
        }
        if self.random.percent(60) {
            let mut variables = vec![("X".to_string(), "Elt".to_string())];
            variables.extend(rest.clone());
            let arguments: Vec<String> = variables.iter().map(|(variable, _)| variable.clone()).collect();
            let left = format!("{name}({})", arguments.join(", "));
            let right = self.open(result, &mut variables, 2);
            lines.push(format!("eq {left} = {right} [owise] ."));
        }
        let mut arguments = vec!["Elt"];
        arguments.extend(extra);
        self.function(&name, &arguments, result);
        for line in lines {
            self.state(line);
        }
    }

    /// A condition over bound variables, with the variables that it binds.
    fn condition(&mut self, variables: &[(String, String)]) -> Option<(String, Vec<(String, String)>)> {
        let elements: Vec<String> = variables
            .iter()
            .filter(|(_, sort)| sort == "Elt")
            .map(|(variable, _)| variable.clone())
            .collect();
        let numbers: Vec<String> = variables
            .iter()
            .filter(|(_, sort)| sort == "Num")
            .map(|(variable, _)| variable.clone())
            .collect();
        let mut fragments = Vec::new();
        let mut bound = Vec::new();
        if !elements.is_empty() {
            let element = self.random.pick(&elements);
            let has_pairs = self.constructors.iter().any(|constructor| constructor.name == "p");
            match self.random.below(5) {
                0 if !self.subsorts.is_empty() => {
                    let sort = self.random.pick(&self.subsorts.clone());
                    fragments.push(format!("{element} : {sort}"));
                }
                1 if !self.subsorts.is_empty() => {
                    let sort = self.random.pick(&self.subsorts.clone());
                    fragments.push(format!("{element} :: {sort}"));
                }
                2 if has_pairs => {
                    fragments.push(format!("p(C:Elt, D:Elt) := {element}"));
                    bound.push(("C:Elt".to_string(), "Elt".to_string()));
                    bound.push(("D:Elt".to_string(), "Elt".to_string()));
                }
                3 => {
                    let constant = self.constant("Elt");
                    fragments.push(format!("{element} = {constant}"));
                }
                _ => {
                    let constant = self.constant("Elt");
                    fragments.push(format!("{element} =/= {constant}"));
                }
            }
        }
        if !numbers.is_empty() && (fragments.is_empty() || self.random.percent(40)) {
            let number = self.random.pick(&numbers);
            if self.random.percent(50) {
                fragments.push(format!("s(L:Num) := {number}"));
                bound.push(("L:Num".to_string(), "Num".to_string()));
            } else {
                fragments.push(format!("{number} =/= z"));
            }
        }
        if fragments.is_empty() { None } else { Some((fragments.join(" /\\ "), bound)) }
    }

    /// A commutative function that tells equal arguments from different ones.
    fn symmetric_function(&mut self) {
        self.declare("op same : Elt Elt -> Num [comm] .".into());
        self.functions.push(Function {
            name: "same".into(),
            arguments: vec!["Elt".into(), "Elt".into()],
            result: "Num",
        });
        self.state("eq same(X, X) = s(z) .".into());
        let constant = self.constant("Elt");
        self.state(format!("ceq same(X, {constant}) = s(s(z)) if X =/= {constant} ."));
        self.state("eq same(X, Y) = z [owise] .".into());
    }

    fn function(&mut self, name: &str, arguments: &[&str], result: &'static str) {
        self.declare(format!("op {name} : {} -> {result} .", arguments.join(" ")));
        let arguments = arguments.iter().map(|sort| sort.to_string()).collect();
        self.functions.push(Function { name: name.into(), arguments, result });
    }

    // ---- memberships and rules ----

    /// Constructor terms that are of a smaller sort than their constructor says.
    pub(super) fn memberships(&mut self) {
        if self.subsorts.is_empty() || self.random.percent(60) {
            return;
        }
        let sort = self.random.pick(&self.subsorts.clone());
        if self.constructors.iter().any(|constructor| constructor.name == "k") {
            let constant = self.constant("Elt");
            if self.random.percent(50) {
                self.state(format!("mb k({constant}) : {sort} ."));
            } else {
                self.state(format!("cmb k(X) : {sort} if X =/= {constant} ."));
            }
        }
        if self.constructors.iter().any(|constructor| constructor.name == "t") && self.random.percent(50) {
            self.state(format!("cmb t(X, N, Y) : {sort} if X = Y ."));
        }
    }

    pub(super) fn rules(&mut self) {
        if self.random.percent(15) {
            return;
        }
        self.has_rules = true;
        if self.deterministic {
            let free: Vec<String> = self
                .constants
                .iter()
                .map(|(name, _)| name.clone())
                .filter(|name| !self.consumed.contains(name))
                .collect();
            for (index, pair) in free.windows(2).enumerate() {
                if self.random.percent(90) {
                    self.state(format!("rl [r{index}] : {} => {} .", pair[0], pair[1]));
                }
            }
            return;
        }
        for index in 0..1 + self.random.below(3) {
            let collection = self.random.pick(&self.collections.clone());
            let label = format!("[r{index}]");
            match self.random.below(6) {
                0 => {
                    let (left, right) = (self.constant("Elt"), self.ground("Elt", 1));
                    self.state(format!("rl {label} : {left} => {right} ."));
                }
                1 | 2 => {
                    let parts = [self.constant("Elt"), self.constant("Elt")];
                    let left = self.collect(&collection, &parts);
                    let right = self.ground("Bag", 1);
                    self.state(format!("rl {label} : {left} => {right} ."));
                }
                3 => {
                    let constant = self.constant("Elt");
                    let left = self.collect(&collection, &[constant, "X".into()]);
                    let right = self.open("Bag", &mut vec![("X".into(), "Elt".into())], 1);
                    let constant = self.constant("Elt");
                    self.state(format!("crl {label} : {left} => {right} if X =/= {constant} ."));
                }
                4 if self.constructors.iter().any(|constructor| constructor.name == "p") => {
                    let variables =
                        &mut vec![("X".to_string(), "Elt".to_string()), ("Y".to_string(), "Elt".to_string())];
                    let right = self.open("Elt", variables, 1);
                    self.state(format!("rl {label} : p(X, Y) => {right} ."));
                }
                5 if self.constructors.iter().any(|constructor| constructor.name == "box") => {
                    let inner = self.collect(&collection, &["X".into(), "P".into()]);
                    let right = if self.random.percent(50) { "box(P)".to_string() } else { "X".to_string() };
                    self.state(format!("rl {label} : box({inner}) => {right} ."));
                }
                _ => {
                    let (left, right) = (self.constant("Elt"), self.constant("Elt"));
                    let (element, other) = (self.constant("Elt"), self.constant("Elt"));
                    let condition = if self.random.percent(50) {
                        format!("{element} =/= {other}")
                    } else {
                        format!("Y := {right}")
                    };
                    let right = if condition.starts_with('Y') { "Y".to_string() } else { right };
                    self.state(format!("crl {label} : {left} => {right} if {condition} ."));
                }
            }
        }
        if self.random.percent(25) {
            self.number_rule();
        }
    }

    /// A rule that makes numbers smaller. Where they are repetitions, it applies to every part that ends with them.
    fn number_rule(&mut self) {
        let rule = self.random.pick(&[
            "rl [n] : s(s(N)) => N .",
            "rl [n] : s(s(s(N))) => s(N) .",
            "rl [n] : s(s(N)) => s(z) .",
            "rl [n] : s(s(z)) => z .",
            "crl [n] : s(N) => z if N =/= z .",
        ]);
        self.state(rule.to_string());
        let number = (0..2 + self.random.below(4)).fold("z".to_string(), |inner, _| format!("s({inner})"));
        let arrow = self.random.pick(&["=>*", "=>1", "=>!"]);
        self.commands.push(format!("search {number} {arrow} N ."));
        let pattern = self.random.pick(&["s(N)", "s(s(N))", "s(s(z))"]);
        self.commands.push(format!("xmatch {pattern} <=? {number} ."));
    }
}
