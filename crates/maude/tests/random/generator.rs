//! Random Maude modules with commands, for comparing two implementations of the language.
//!
//! The same seed gives the same text, on every machine. A module has two kinds: elements with collections of them, and
//! numbers in unary. Its answers must not depend on which redex or which matcher comes first, because implementations
//! may differ in that without being wrong. This is how that is ensured:
//!
//! - **Collections** get equations between constants only, `a ; b = c`, in which every constant of a left side occurs
//!   in one equation and once: their critical pairs are trivial. Or they get `X ; X = X` alone.
//! - **Functions** are defined in layers: the right side of an equation calls functions of lower layers, and itself only on a
//!   part of its argument. So everything terminates, and as arguments are evaluated first, each call sees normal forms.
//! - **Cases** of a function differ in the constant or constructor of the first argument, and the rest is `owise`.
//! - **Functions on collections** take an element and the rest, and combine the results by an operator for which the order
//!   does not matter: they count, map, ask for a member or, where the collection is a list, take the first element.
//! - **`rew`** is used only when every constant has at most one rule, the rules have no cycle, and no equation has these
//!   constants on its left side. Otherwise rules are free, also in that they grow; then there are only bounded searches.
//!
//! Solutions of searches and matches are to be compared as sets: their order and the numbers of states are an
//! implementation's own business.

#[path = "definitions.rs"]
mod definitions;
#[path = "numbers.rs"]
mod numbers;

use numbers::Random;

/// A module and its commands, as a file for Maude.
pub struct Case {
    pub text: String,
}

/// The module of a seed.
pub fn module(seed: u64) -> Case {
    let mut writer = Writer::new(seed);
    writer.signature();
    writer.equations();
    writer.memberships();
    writer.rules();
    writer.commands();
    Case { text: writer.finish(seed) }
}

/// The axioms of an operator that makes collections.
#[derive(Clone, Copy, PartialEq)]
enum Axioms {
    Free,
    Commutative,
    Idempotent,
    CommutativeIdentity,
    Associative,
    List,
    Multiset,
    Bag,
}

impl Axioms {
    fn associative(self) -> bool {
        matches!(self, Axioms::Associative | Axioms::List | Axioms::Multiset | Axioms::Bag)
    }

    fn commutative(self) -> bool {
        !matches!(self, Axioms::Free | Axioms::Associative | Axioms::List)
    }

    fn identity(self) -> bool {
        matches!(self, Axioms::CommutativeIdentity | Axioms::List | Axioms::Bag)
    }

    fn text(self) -> &'static str {
        match self {
            Axioms::Free => "",
            Axioms::Commutative => "comm",
            Axioms::Idempotent => "comm idem",
            Axioms::CommutativeIdentity => "comm id: ",
            Axioms::Associative => "assoc",
            Axioms::List => "assoc id: ",
            Axioms::Multiset => "assoc comm",
            Axioms::Bag => "assoc comm id: ",
        }
    }
}

/// An operator that makes collections, written between its arguments or before them.
#[derive(Clone)]
struct Collection {
    symbol: &'static str,
    infix: bool,
    axioms: Axioms,
    identity: String,
    /// Collections of some small elements are small elements: no function may take such a collection apart.
    wide: bool,
}

/// A function with its argument and result sorts.
#[derive(Clone)]
struct Function {
    name: String,
    arguments: Vec<String>,
    result: &'static str,
}

struct Writer {
    random: Random,
    declarations: Vec<String>,
    statements: Vec<String>,
    commands: Vec<String>,
    /// The sorts of elements below `Elt`.
    subsorts: Vec<String>,
    /// Which sorts are below a sort, itself included.
    below: Vec<(String, Vec<String>)>,
    /// Constants with their sorts.
    constants: Vec<(String, String)>,
    /// Constants that are on the left side of an equation between constants.
    consumed: Vec<String>,
    collections: Vec<Collection>,
    /// Constructors of elements with their arguments; the sort of the result is `Elt`.
    constructors: Vec<Function>,
    functions: Vec<Function>,
    /// `rew` has one answer.
    deterministic: bool,
    has_rules: bool,
}

impl Writer {
    fn new(seed: u64) -> Writer {
        let random = Random::new(seed);
        Writer {
            random,
            declarations: Vec::new(),
            statements: Vec::new(),
            commands: Vec::new(),
            subsorts: Vec::new(),
            below: Vec::new(),
            constants: Vec::new(),
            consumed: Vec::new(),
            collections: Vec::new(),
            constructors: Vec::new(),
            functions: Vec::new(),
            deterministic: false,
            has_rules: false,
        }
    }

    fn finish(self, seed: u64) -> String {
        let mut text = format!("*** The random module of the seed {seed}.\nmod RANDOM-{seed} is\n");
        for line in self.declarations.iter().chain(&self.statements) {
            text += &format!("  {line}\n");
        }
        text += "endm\n";
        for line in &self.commands {
            text += &format!("{line}\n");
        }
        text
    }

    fn declare(&mut self, line: String) {
        self.declarations.push(line);
    }

    fn state(&mut self, line: String) {
        self.statements.push(line);
    }

    // ---- the signature ----

    fn signature(&mut self) {
        self.sorts();
        self.element_constants();
        self.collection_operators();
        self.element_constructors();
        self.declare("vars X Y Z : Elt .".into());
        self.declare("vars P Q R : Bag .".into());
        self.declare("vars N M : Num .".into());
        for (index, sort) in self.subsorts.clone().iter().enumerate() {
            self.declare(format!("vars U{index} V{index} : {sort} ."));
        }
    }

    fn sorts(&mut self) {
        let (names, order): (Vec<&str>, Vec<(&str, &str)>) = match self.random.below(5) {
            0 => (vec!["Low"], vec![("Low", "Elt")]),
            1 => (vec!["Low", "Mid"], vec![("Low", "Mid"), ("Mid", "Elt")]),
            2 => (vec!["Left", "Right"], vec![("Left", "Elt"), ("Right", "Elt")]),
            3 => (
                vec!["Core", "Left", "Right"],
                vec![("Core", "Left"), ("Core", "Right"), ("Left", "Elt"), ("Right", "Elt")],
            ),
            _ => (vec![], vec![]),
        };
        self.subsorts = names.iter().map(|name| name.to_string()).collect();
        let all = if names.is_empty() { String::new() } else { format!("{} ", names.join(" ")) };
        self.declare(format!("sorts {all}Elt Bag Zero Num ."));
        for (lower, upper) in &order {
            self.declare(format!("subsort {lower} < {upper} ."));
        }
        self.declare("subsort Elt < Bag .".into());
        self.declare("subsort Zero < Num .".into());
        for sort in names.iter().chain(&["Elt"]) {
            let mut lower = vec![sort.to_string()];
            for _ in 0..names.len() {
                for (below, above) in &order {
                    if lower.iter().any(|known| known == above) && !lower.iter().any(|known| known == below) {
                        lower.push(below.to_string());
                    }
                }
            }
            self.below.push((sort.to_string(), lower));
        }
    }

    fn element_constants(&mut self) {
        let mut names = ["a", "b", "c", "d", "e", "f", "g", "h"].iter();
        let mut sorts = self.subsorts.clone();
        sorts.push("Elt".into());
        sorts.push("Elt".into());
        sorts.push(self.random.pick(&sorts));
        for sort in sorts {
            let name = names.next().unwrap().to_string();
            self.declare(format!("op {name} : -> {sort} [ctor] ."));
            self.constants.push((name, sort));
        }
        self.declare("op z : -> Zero [ctor] .".into());
        let iterated = if self.random.percent(80) { " iter" } else { "" };
        self.declare(format!("op s : Num -> Num [ctor{iterated}] ."));
    }

    fn collection_operators(&mut self) {
        let symbols = [("_;_", ";", true), ("_+_", "+", true), ("mix", "mix", false)];
        let count = 1 + self.random.below(3);
        for (index, (name, symbol, infix)) in symbols.into_iter().take(count).enumerate() {
            let axioms = self.random.pick(&[
                Axioms::Free,
                Axioms::Commutative,
                Axioms::Idempotent,
                Axioms::CommutativeIdentity,
                Axioms::Associative,
                Axioms::List,
                Axioms::List,
                Axioms::Multiset,
                Axioms::Multiset,
                Axioms::Bag,
                Axioms::Bag,
                Axioms::Bag,
            ]);
            let identity = format!("nil{index}");
            let mut attributes = axioms.text().to_string();
            if axioms.identity() {
                self.declare(format!("op {identity} : -> Bag [ctor] ."));
                attributes += &identity;
            }
            if infix {
                attributes += &format!(" prec {}", 40 + 5 * index);
            }
            let space = if attributes.is_empty() { "" } else { " " };
            self.declare(format!("op {name} : Bag Bag -> Bag [ctor{space}{}] .", attributes.trim()));
            let mut wide = false;
            if axioms.associative() && !self.subsorts.is_empty() && self.random.percent(15) {
                let sort = self.subsorts[0].clone();
                self.declare(format!("op {name} : {sort} {sort} -> {sort} [ctor ditto] ."));
                wide = true;
            }
            self.collections.push(Collection { symbol, infix, axioms, identity, wide });
        }
    }

    fn element_constructors(&mut self) {
        if self.random.percent(75) {
            self.constructor("box", &["Bag"]);
        }
        if self.random.percent(70) {
            self.constructor("p", &["Elt", "Elt"]);
            if !self.subsorts.is_empty() && self.random.percent(50) {
                let sort = self.subsorts[0].clone();
                self.declare(format!("op p : {sort} {sort} -> {sort} [ctor] ."));
            }
        }
        if self.random.percent(40) {
            self.constructor("t", &["Elt", "Num", "Elt"]);
        }
        if self.random.percent(40) {
            self.constructor("k", &["Elt"]);
        }
    }

    fn constructor(&mut self, name: &str, arguments: &[&str]) {
        self.declare(format!("op {name} : {} -> Elt [ctor] .", arguments.join(" ")));
        let arguments = arguments.iter().map(|sort| sort.to_string()).collect();
        self.constructors.push(Function { name: name.into(), arguments, result: "Elt" });
    }

    // ---- terms ----

    /// A collection of the given parts.
    fn collect(&mut self, collection: &Collection, parts: &[String]) -> String {
        match parts {
            [] => collection.identity.clone(),
            [one] => one.clone(),
            [first, rest @ ..] => {
                let flat = collection.axioms.associative() && self.random.percent(60);
                if flat && collection.infix {
                    return format!("({})", parts.join(&format!(" {} ", collection.symbol)));
                }
                if flat {
                    return format!("{}({})", collection.symbol, parts.join(", "));
                }
                let rest = self.collect(collection, rest);
                // The order of a list is kept, so that what was built to match does match.
                let swapped = collection.axioms.commutative() && self.random.percent(50);
                let (left, right) = if swapped { (rest, first.clone()) } else { (first.clone(), rest) };
                if collection.infix {
                    format!("({left} {} {right})", collection.symbol)
                } else {
                    format!("{}({left}, {right})", collection.symbol)
                }
            }
        }
    }

    /// A ground term of a sort, made of constructors only.
    fn ground(&mut self, sort: &str, depth: usize) -> String {
        match sort {
            "Num" => {
                let height = self.random.below(4);
                (0..height).fold("z".to_string(), |term, _| format!("s({term})"))
            }
            "Bag" => {
                if depth == 0 || self.random.percent(25) {
                    return self.ground("Elt", depth);
                }
                let collection = self.random.pick(&self.collections.clone());
                let least = if collection.axioms.identity() { 0 } else { 1 };
                let most = if collection.axioms.associative() { 4 } else { 2 };
                let count = least + self.random.below(most - least + 1);
                let parts: Vec<String> = (0..count)
                    .map(|_| {
                        if self.random.percent(85) {
                            self.ground("Elt", depth - 1)
                        } else {
                            self.ground("Bag", depth - 1)
                        }
                    })
                    .collect();
                self.collect(&collection, &parts)
            }
            "Elt" if depth > 0 && !self.constructors.is_empty() && self.random.percent(35) => {
                let constructor = self.random.pick(&self.constructors.clone());
                let arguments: Vec<String> =
                    constructor.arguments.iter().map(|sort| self.ground(sort, depth - 1)).collect();
                format!("{}({})", constructor.name, arguments.join(", "))
            }
            sort => self.constant(sort),
        }
    }

    /// A constant of an element sort.
    fn constant(&mut self, sort: &str) -> String {
        let sorts = self.below.iter().find(|(name, _)| name == sort).unwrap().1.clone();
        let fitting: Vec<String> = self
            .constants
            .iter()
            .filter(|(_, sort)| sorts.contains(sort))
            .map(|(name, _)| name.clone())
            .collect();
        self.random.pick(&fitting)
    }

    /// A ground term that calls functions.
    fn call(&mut self, sort: &str, depth: usize) -> String {
        let fitting: Vec<Function> = self
            .functions
            .iter()
            .filter(|function| function.result == sort || sort == "Bag" && function.result == "Elt")
            .cloned()
            .collect();
        if depth == 0 || fitting.is_empty() {
            return self.ground(sort, depth.max(1));
        }
        let function = self.random.pick(&fitting);
        let arguments: Vec<String> =
            function
                .arguments
                .iter()
                .map(|sort| {
                    if self.random.percent(50) {
                        self.call(sort, depth - 1)
                    } else {
                        self.ground(sort, depth)
                    }
                })
                .collect();
        format!("{}({})", function.name, arguments.join(", "))
    }

    /// A term of a sort over variables, each of which is used at most once, and over functions that exist already.
    fn open(&mut self, sort: &str, variables: &mut Vec<(String, String)>, depth: usize) -> String {
        let fitting: Vec<usize> = (0..variables.len())
            .filter(|&index| variables[index].1 == sort || sort == "Bag" && variables[index].1 == "Elt")
            .collect();
        if !fitting.is_empty() && self.random.percent(65) {
            let index = self.random.pick(&fitting);
            return variables.remove(index).0;
        }
        if depth == 0 || self.random.percent(30) {
            return self.ground(sort, 0);
        }
        let fitting: Vec<Function> = self
            .functions
            .iter()
            .chain(&self.constructors)
            .filter(|function| function.result == sort)
            .cloned()
            .collect();
        if fitting.is_empty() || sort == "Bag" && self.random.percent(50) {
            return self.ground(sort, 1);
        }
        let function = self.random.pick(&fitting);
        let arguments: Vec<String> =
            function.arguments.iter().map(|sort| self.open(sort, variables, depth - 1)).collect();
        format!("{}({})", function.name, arguments.join(", "))
    }

    // ---- commands ----

    fn commands(&mut self) {
        for _ in 0..2 + self.random.below(3) {
            let sort = self.random.pick(&["Elt", "Bag", "Bag", "Num", "Num"]);
            let term = if self.random.percent(85) { self.call(sort, 3) } else { self.ground(sort, 3) };
            self.commands.push(format!("red {term} ."));
        }
        for _ in 0..1 + self.random.below(3) {
            self.matching();
        }
        if self.has_rules {
            for _ in 0..1 + self.random.below(2) {
                self.search();
            }
            if self.deterministic {
                let term = self.soup();
                self.commands.push(format!("rew {term} ."));
            }
        }
    }

    fn matching(&mut self) {
        let collection = self.random.pick(&self.collections.clone());
        let extension = self.random.percent(35);
        let command = if extension { "xmatch" } else { "match" };
        let most = if collection.axioms.associative() { 3 } else { 2 };
        let count = 2.min(most) + self.random.below(most - 1);
        let mut pattern = Vec::new();
        let mut subject = Vec::new();
        for _ in 0..count {
            let (variable, value) = self.pattern_part(&pattern, &subject, &collection);
            pattern.push(variable);
            subject.push(value);
        }
        if extension && collection.axioms.associative() {
            subject.push(self.constant("Elt"));
        }
        if self.random.percent(15) {
            subject.remove(0);
        }
        if subject.is_empty() {
            subject.push(self.constant("Elt"));
        }
        let mut pattern = self.collect(&collection, &pattern);
        let mut subject = self.collect(&collection, &subject);
        if !extension
            && self.random.percent(20)
            && self.constructors.iter().any(|constructor| constructor.name == "box")
        {
            pattern = format!("box({pattern})");
            subject = format!("box({subject})");
        }
        let condition = if self.random.percent(15) && pattern.contains('X') {
            let constant = self.constant("Elt");
            format!(" such that X =/= {constant}")
        } else {
            String::new()
        };
        self.commands.push(format!("{command} {pattern} <=? {subject}{condition} ."));
    }

    /// A part of a pattern with a value that matches it.
    fn pattern_part(
        &mut self,
        pattern: &[String],
        subject: &[String],
        collection: &Collection,
    ) -> (String, String) {
        let repeated =
            pattern.iter().position(|part| part.len() == 1 && part.starts_with(|c: char| c.is_uppercase()));
        if let Some(index) = repeated.filter(|_| self.random.percent(25)) {
            return (pattern[index].clone(), subject[index].clone());
        }
        let unused = |names: &[&str]| {
            names
                .iter()
                .find(|name| !pattern.iter().any(|part| part.contains(*name)))
                .map(|name| name.to_string())
        };
        match self.random.below(6) {
            0 => {
                let constant = self.constant("Elt");
                (constant.clone(), constant)
            }
            1 if !self.subsorts.is_empty() => {
                let index = self.random.below(self.subsorts.len());
                let sort = self.subsorts[index].clone();
                match unused(&["U", "V"]) {
                    Some(name) => (format!("{name}{index}"), self.constant(&sort)),
                    None => {
                        let constant = self.constant(&sort);
                        (constant.clone(), constant)
                    }
                }
            }
            2 if self.constructors.iter().any(|constructor| constructor.name == "p") => {
                match unused(&["Z"]) {
                    Some(name) => {
                        let (element, other) = (self.constant("Elt"), self.constant("Elt"));
                        (format!("p({name}, {element})"), format!("p({other}, {element})"))
                    }
                    None => ("Q".into(), self.constant("Elt")),
                }
            }
            3 | 4 => match unused(&["X", "Y"]) {
                Some(name) => (name, self.ground("Elt", 1)),
                None => ("R".into(), self.constant("Elt")),
            },
            _ => match unused(&["P", "Q", "R"]) {
                Some(name) => {
                    let count = if collection.axioms.associative() { 1 + self.random.below(2) } else { 1 };
                    let parts: Vec<String> = (0..count).map(|_| self.ground("Elt", 1)).collect();
                    (name, self.collect(collection, &parts))
                }
                None => ("P".into(), self.constant("Elt")),
            },
        }
    }

    /// A collection with enough in it for rules to apply.
    fn soup(&mut self) -> String {
        let collections = self.collections.clone();
        let flat: Vec<Collection> =
            collections.iter().filter(|known| known.axioms.associative()).cloned().collect();
        let collection = self.random.pick(if flat.is_empty() { &collections } else { &flat });
        let count = if collection.axioms.associative() { 3 + self.random.below(3) } else { 2 };
        let parts: Vec<String> = (0..count).map(|_| self.ground("Elt", 1)).collect();
        self.collect(&collection, &parts)
    }

    fn search(&mut self) {
        let arrow = self.random.pick(&["=>*", "=>*", "=>1", "=>+", "=>!"]);
        let start = if self.random.percent(80) { self.soup() } else { self.ground("Bag", 3) };
        let collection = self.random.pick(&self.collections.clone());
        let goal = match self.random.below(4) {
            0 => self.collect(&collection, &["X".into(), "P".into()]),
            1 => "P such that P =/= ".to_string() + &self.constant("Elt"),
            _ => "P".to_string(),
        };
        self.commands.push(format!("search [, 3] {start} {arrow} {goal} ."));
    }
}
