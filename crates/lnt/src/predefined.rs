//! The functions that come with every type: what they are called, what they take, what they yield.
//!
//! In LNT, a type has only the functions that its `with` clause (or its module's) asks for, besides a few that
//! it always has. We know all of them for all types, so that a forgotten clause is a warning with a remedy and
//! not a riddle: [`Rank`] says which kind a signature is, and better ranks win.

use crate::tree::key;
use crate::typed::{Builtin, ConstructorId, FieldPosition, FunctionId, Mode, Program, TypeId, TypeKind};

/// Which of several fitting signatures is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// Written by the user.
    Defined,
    /// Predefined and available.
    Declared,
    /// Predefined, but its `with` clause is missing.
    Undeclared,
}

/// What a signature calls.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    Constructor(ConstructorId),
    Function(FunctionId),
    Builtin(Builtin),
    Bool(bool),
    /// The empty list or set.
    Empty,
    /// Unary plus, and conversions from a type to itself.
    Identity,
    FilledArray,
    Collection,
    Get(Vec<FieldPosition>),
    Set(Vec<FieldPosition>),
}

/// A function as its callers see it.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub name: String,
    pub target: Target,
    /// Names, for named parameters; empty where there are none.
    pub names: Vec<String>,
    pub parameters: Vec<(Mode, TypeId)>,
    pub result: Option<TypeId>,
    pub rank: Rank,
    /// What a `with` clause has to say to get it, and for which type.
    pub with: Option<(&'static str, TypeId)>,
    /// Where it is defined; none if predefined.
    pub module: Option<usize>,
}

/// The names of `with` clauses, each with the names that the function has in expressions.
const GROUPS: &[(&str, &[&str])] = &[
    ("==", &["==", "=", "eq"]),
    ("!=", &["!=", "<>", "/=", "=/=", "ne"]),
    ("<", &["<", "lt"]),
    ("<=", &["<=", "le"]),
    (">", &[">", "gt"]),
    (">=", &[">=", "ge"]),
    ("string", &["string"]),
    ("first", &["first"]),
    ("last", &["last"]),
    ("card", &["card"]),
    ("ord", &["ord"]),
    ("val", &["val"]),
    ("succ", &["succ"]),
    ("pred", &["pred"]),
    ("min", &["min"]),
    ("max", &["max"]),
    ("get", &["get"]),
    ("set", &["set", "update"]),
    ("cons", &["cons"]),
    ("nil", &["nil", "{}"]),
    ("insert", &["insert"]),
    ("append", &["append"]),
    ("concat", &["concat", "&"]),
    ("length", &["length"]),
    ("empty", &["empty", "isempty", "is_empty"]),
    ("member", &["member"]),
    ("element", &["element", "access", "nth"]),
    ("head", &["head"]),
    ("tail", &["tail"]),
    ("reverse", &["reverse"]),
    ("delete", &["delete"]),
    ("remove", &["remove"]),
    ("union", &["union"]),
    ("inter", &["inter"]),
    ("diff", &["diff", "minus"]),
    ("subset", &["subset"]),
];

/// The canonical name of a `with` clause, if there is one of this name.
pub(crate) fn with_group(name: &str) -> Option<&'static str> {
    let wanted = key(name);
    if wanted == "is" || wanted == "iterator" {
        return None;
    }
    GROUPS
        .iter()
        .find(|(group, names)| *group == wanted || names.contains(&wanted.as_str()))
        .map(|(group, _)| *group)
}

/// All names that `with` clauses may use.
pub(crate) fn with_names() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().flat_map(|(_, names)| names.iter().copied())
}

fn names_of(group: &'static str) -> &'static [&'static str] {
    GROUPS.iter().find(|(name, _)| *name == group).map_or(&[], |(_, names)| names)
}

/// Builds the signatures of one program's predefined functions.
pub(crate) struct Predefined<'a> {
    pub program: &'a Program,
    /// Whether a type has a function of this `with` group.
    pub declared: &'a dyn Fn(TypeId, &'static str) -> bool,
    pub signatures: Vec<Signature>,
}

impl Predefined<'_> {
    /// Everything, for all types.
    pub fn all(mut self) -> Vec<Signature> {
        self.booleans();
        self.numbers();
        self.characters();
        for index in 0..self.program.types.len() {
            self.of_type(TypeId(index as u32));
        }
        self.signatures
    }

    fn push(&mut self, name: &str, target: Target, parameters: &[TypeId], result: TypeId, rank: Rank) {
        self.signatures.push(Signature {
            name: name.to_owned(),
            target,
            names: Vec::new(),
            parameters: parameters.iter().map(|&ty| (Mode::In, ty)).collect(),
            result: Some(result),
            rank,
            with: None,
            module: None,
        });
    }

    /// An operation that is always there.
    fn always(&mut self, names: &[&str], builtin: Builtin, parameters: &[TypeId], result: TypeId) {
        for name in names {
            self.push(name, Target::Builtin(builtin), parameters, result, Rank::Declared);
        }
    }

    /// An operation of a type that a `with` clause asks for.
    fn with(
        &mut self,
        group: &'static str,
        ty: TypeId,
        builtin: Builtin,
        parameters: &[TypeId],
        result: TypeId,
    ) {
        let predefined = ty.index() <= TypeId::STRING.index();
        let rank = if predefined || (self.declared)(ty, group) { Rank::Declared } else { Rank::Undeclared };
        for name in names_of(group) {
            self.push(name, Target::Builtin(builtin), parameters, result, rank);
            self.mark(group, ty);
        }
    }

    fn mark(&mut self, group: &'static str, ty: TypeId) {
        if let Some(last) = self.signatures.last_mut() {
            last.with = Some((group, ty));
        }
    }

    fn booleans(&mut self) {
        let bool = TypeId::BOOL;
        self.push("true", Target::Bool(true), &[], bool, Rank::Declared);
        self.push("false", Target::Bool(false), &[], bool, Rank::Declared);
        self.always(&["not", "~"], Builtin::Not, &[bool], bool);
        let binary: [(&[&str], Builtin); 7] = [
            (&["and", "/\\"], Builtin::AndThen),
            (&["or", "\\/"], Builtin::OrElse),
            (&["xor"], Builtin::Xor),
            (&["implies", "=>"], Builtin::Implies),
            (&["iff"], Builtin::Iff),
            (&["and_then"], Builtin::AndThen),
            (&["or_else"], Builtin::OrElse),
        ];
        for (names, builtin) in binary {
            self.always(names, builtin, &[bool, bool], bool);
        }
    }

    fn numbers(&mut self) {
        let (nat, int, real) = (TypeId::NAT, TypeId::INT, TypeId::REAL);
        for ty in [nat, int, real] {
            let mut binary: Vec<(&[&str], Builtin)> = vec![
                (&["+"], Builtin::Add),
                (&["-"], Builtin::Subtract),
                (&["*"], Builtin::Multiply),
                (&["div", "/"], Builtin::Divide),
                (&["**"], Builtin::Power),
                (&["min"], Builtin::Minimum),
                (&["max"], Builtin::Maximum),
            ];
            if ty != real {
                binary.push((&["mod", "%"], Builtin::Modulo));
                binary.push((&["rem"], Builtin::Remainder));
                binary.push((&["gcd"], Builtin::GreatestCommonDivisor));
                binary.push((&["scm"], Builtin::SmallestCommonMultiple));
                self.always(&["succ"], Builtin::Successor, &[ty], ty);
                self.always(&["pred"], Builtin::Predecessor, &[ty], ty);
                self.always(&["first"], Builtin::First, &[], ty);
                self.always(&["last"], Builtin::Last, &[], ty);
            }
            for (names, builtin) in binary {
                self.always(names, builtin, &[ty, ty], ty);
            }
            self.push("+", Target::Identity, &[ty], ty, Rank::Declared);
            if ty != nat {
                self.always(&["-", "neg"], Builtin::Negate, &[ty], ty);
                self.always(&["abs"], Builtin::Absolute, &[ty], ty);
                self.always(&["sign"], Builtin::Sign, &[ty], ty);
            }
            for from in [nat, int, real] {
                let name = self.program[ty].name.clone();
                let target = if from == ty { Target::Identity } else { Target::Builtin(Builtin::Convert) };
                self.push(&name, target, &[from], ty, Rank::Declared);
            }
        }
    }

    fn characters(&mut self) {
        let (bool, nat, char, string) = (TypeId::BOOL, TypeId::NAT, TypeId::CHAR, TypeId::STRING);
        self.always(&["nat", "ord"], Builtin::Convert, &[char], nat);
        self.always(&["char", "chr"], Builtin::Convert, &[nat], char);
        self.push("char", Target::Identity, &[char], char, Rank::Declared);
        let tests: [(&[&str], Builtin); 6] = [
            (&["islower"], Builtin::IsLower),
            (&["isupper"], Builtin::IsUpper),
            (&["isalpha"], Builtin::IsAlpha),
            (&["isalnum"], Builtin::IsAlphanumeric),
            (&["isdigit"], Builtin::IsDigit),
            (&["isxdigit"], Builtin::IsHexadecimalDigit),
        ];
        for (names, builtin) in tests {
            self.always(names, builtin, &[char], bool);
        }
        for ty in [char, string] {
            self.always(&["tolower"], Builtin::ToLower, &[ty], ty);
            self.always(&["toupper"], Builtin::ToUpper, &[ty], ty);
        }
        self.always(&["succ"], Builtin::Successor, &[char], char);
        self.always(&["pred"], Builtin::Predecessor, &[char], char);
        self.always(&["&", "concat", "+"], Builtin::Concatenate, &[string, string], string);
        self.always(&["length"], Builtin::Length, &[string], nat);
        self.always(&["empty", "isempty", "is_empty"], Builtin::IsEmpty, &[string], bool);
        self.always(&["element", "access", "nth"], Builtin::Access, &[string, nat], char);
        self.always(&["substr", "substring"], Builtin::Substring, &[string, nat, nat], string);
        self.always(&["prefix"], Builtin::Prefix, &[string, nat], string);
        self.always(&["suffix"], Builtin::Suffix, &[string, nat], string);
        self.always(&["index"], Builtin::Index, &[string, string], nat);
        self.always(&["rindex"], Builtin::ReverseIndex, &[string, string], nat);
        self.push("string", Target::Identity, &[string], string, Rank::Declared);
    }

    fn of_type(&mut self, ty: TypeId) {
        let (bool, nat) = (TypeId::BOOL, TypeId::NAT);
        let comparisons = [
            ("==", Builtin::Equal),
            ("!=", Builtin::NotEqual),
            ("<", Builtin::Less),
            ("<=", Builtin::LessEqual),
            (">", Builtin::Greater),
            (">=", Builtin::GreaterEqual),
        ];
        for (group, builtin) in comparisons {
            self.with(group, ty, builtin, &[ty, ty], bool);
        }
        if ty != TypeId::STRING {
            self.with("string", ty, Builtin::ToString, &[ty], TypeId::STRING);
        }
        match self.program[ty].kind.clone() {
            TypeKind::Constructed(constructors) => {
                self.enumeration(ty, true);
                self.fields(ty, &constructors);
            }
            TypeKind::Bool => self.enumeration(ty, true),
            TypeKind::List { element, .. } => self.collection(ty, element, false),
            TypeKind::Set { element, .. } => self.collection(ty, element, true),
            TypeKind::Array { lower, upper, element } => {
                let name = self.program[ty].name.clone();
                self.push(&name, Target::FilledArray, &[element], ty, Rank::Declared);
                let size = upper.saturating_sub(lower).saturating_add(1);
                if (2..=1024).contains(&size) {
                    self.push(&name, Target::Collection, &vec![element; size as usize], ty, Rank::Declared);
                }
                for index in [nat, TypeId::INT] {
                    self.with("set", ty, Builtin::Store, &[ty, index, element], ty);
                }
            }
            TypeKind::Range { base, .. } => {
                self.enumeration(ty, true);
                self.with("min", ty, Builtin::Minimum, &[ty, ty], ty);
                self.with("max", ty, Builtin::Maximum, &[ty, ty], ty);
                self.conversions(ty, base);
            }
            TypeKind::Predicate { base, .. } => {
                self.enumeration(ty, false);
                self.conversions(ty, base);
            }
            _ => {}
        }
    }

    fn enumeration(&mut self, ty: TypeId, ordered: bool) {
        let nat = TypeId::NAT;
        self.with("first", ty, Builtin::First, &[], ty);
        self.with("last", ty, Builtin::Last, &[], ty);
        self.with("card", ty, Builtin::Cardinality(ty), &[], nat);
        self.with("ord", ty, Builtin::Ordinal, &[ty], nat);
        self.with("val", ty, Builtin::Value, &[nat], ty);
        if ordered {
            self.with("succ", ty, Builtin::Successor, &[ty], ty);
            self.with("pred", ty, Builtin::Predecessor, &[ty], ty);
        }
    }

    /// `T (x)` and `base (x)`
    fn conversions(&mut self, ty: TypeId, base: TypeId) {
        for (from, to) in [(base, ty), (ty, base)] {
            let name = self.program[to].name.clone();
            self.push(&name, Target::Builtin(Builtin::Convert), &[from], to, Rank::Declared);
        }
    }

    /// `get_f (x)`, `set_f (x, v)`
    fn fields(&mut self, ty: TypeId, constructors: &[ConstructorId]) {
        let mut names: Vec<(String, TypeId)> = Vec::new();
        for &constructor in constructors {
            for field in &self.program[constructor].fields {
                if !names.iter().any(|(name, _)| *name == key(&field.name)) {
                    names.push((key(&field.name), field.ty));
                }
            }
        }
        for (name, field_type) in names {
            let positions = field_positions(self.program, ty, &name);
            let rank = |group: &'static str| {
                if (self.declared)(ty, group) { Rank::Declared } else { Rank::Undeclared }
            };
            let (get, set) = (rank("get"), rank("set"));
            self.push(&format!("get_{name}"), Target::Get(positions.clone()), &[ty], field_type, get);
            self.mark("get", ty);
            for prefix in ["set", "update"] {
                let target = Target::Set(positions.clone());
                self.push(&format!("{prefix}_{name}"), target, &[ty, field_type], ty, set);
                self.mark("set", ty);
            }
        }
    }

    fn collection(&mut self, ty: TypeId, element: TypeId, set: bool) {
        let (bool, nat) = (TypeId::BOOL, TypeId::NAT);
        self.push("nil", Target::Empty, &[], ty, Rank::Declared);
        self.always(&["cons"], Builtin::Cons, &[element, ty], ty);
        if set {
            self.always(&["insert"], Builtin::Insert, &[element, ty], ty);
        } else {
            self.with("insert", ty, Builtin::Insert, &[element, ty], ty);
        }
        self.with("append", ty, Builtin::Append, &[element, ty], ty);
        self.with("concat", ty, Builtin::Concatenate, &[ty, ty], ty);
        self.with("length", ty, Builtin::Length, &[ty], nat);
        self.with("empty", ty, Builtin::IsEmpty, &[ty], bool);
        self.with("member", ty, Builtin::Member, &[element, ty], bool);
        self.with("element", ty, Builtin::Access, &[ty, nat], element);
        self.with("head", ty, Builtin::Head, &[ty], element);
        self.with("tail", ty, Builtin::Tail, &[ty], ty);
        self.with("last", ty, Builtin::LastElement, &[ty], element);
        self.with("reverse", ty, Builtin::Reverse, &[ty], ty);
        self.with("delete", ty, Builtin::Delete, &[ty, nat], ty);
        self.with("remove", ty, Builtin::Remove, &[element, ty], ty);
        self.with("union", ty, Builtin::Union, &[ty, ty], ty);
        self.with("inter", ty, Builtin::Intersection, &[ty, ty], ty);
        self.with("diff", ty, Builtin::Difference, &[ty, ty], ty);
        self.with("subset", ty, Builtin::Subset, &[ty, ty], bool);
    }
}

/// Where a field (given by its key) is, for each constructor of the type that has it.
pub(crate) fn field_positions(program: &Program, ty: TypeId, field: &str) -> Vec<FieldPosition> {
    let TypeKind::Constructed(constructors) = &program[ty].kind else { return Vec::new() };
    let mut positions = Vec::new();
    for &constructor in constructors {
        if let Some(at) =
            program[constructor].fields.iter().position(|candidate| key(&candidate.name) == field)
        {
            positions.push(FieldPosition { constructor, field: at as u32 });
        }
    }
    positions
}

impl Signature {
    /// Whether patterns may use it.
    pub fn is_constructor(&self) -> bool {
        matches!(
            self.target,
            Target::Constructor(_) | Target::Bool(_) | Target::Empty | Target::Builtin(Builtin::Cons)
        )
    }
}
