//! Computing with values.

use std::cmp::Ordering;
use std::sync::Arc;

use model::{ModelError, OfferType};
use source::Diagnostic;

use super::{Function, Matcher};
use crate::compile::types::Kind;
use crate::compile::{Compiled, Root, compile_functions};
use crate::run::{Machine, Unlisted, Values, all_values, literal_value, print_value};
use crate::typed::{ConstructorId, FunctionId, Pattern, PatternKind, ProcessId, Program, TypeId};

/// Compiled types and functions, and the values that turn up.
pub struct Data {
    program: Program,
    compiled: Compiled,
    /// The numbers of the functions that were added.
    functions: Vec<u32>,
}

impl Data {
    pub(super) fn new(program: Program, written: usize, diagnostics: &mut Vec<Diagnostic>) -> Option<Self> {
        let added: Vec<FunctionId> =
            (written as u32..program.functions.len() as u32).map(FunctionId).collect();
        let root = Root { process: ProcessId(program.processes.len() as u32 - 1), gates: Vec::new() };
        match compile_functions(&program, &root, &added) {
            Ok((compiled, functions)) => Some(Self { program, compiled, functions }),
            Err(errors) => {
                diagnostics.extend(errors);
                None
            }
        }
    }

    /// Computes on one thread.
    pub fn evaluator(&self) -> Evaluator<'_> {
        Evaluator { machine: Machine::new(&self.compiled, &self.program), data: self, row: Vec::new() }
    }

    /// The name of a type.
    pub fn type_name(&self, ty: TypeId) -> &str {
        &self.program[ty].name
    }

    /// What labels can print of values of a type.
    pub fn offer_type(&self, ty: TypeId) -> OfferType {
        self.compiled.types[ty.index()].offer_type(&self.program)
    }

    /// The names of the constructors of a type, where it has them, in ascending order.
    pub fn constructors(&self, ty: TypeId) -> Option<Vec<String>> {
        match &self.compiled.types[ty.index()].kind {
            Kind::Bool => Some(vec!["FALSE".into(), "TRUE".into()]),
            Kind::Enumeration(constructors) | Kind::Constructed(constructors) => {
                let name = |&constructor: &ConstructorId| self.program[constructor].name.to_uppercase();
                Some(constructors.iter().map(name).collect())
            }
            _ => None,
        }
    }

    /// A printer of the values that are known by now.
    pub fn printer(&self) -> impl Fn(TypeId, u32) -> String + '_ {
        let values = Values::new(&self.compiled.values, &self.compiled.types, &self.program);
        move |ty, value| print_value(&values, ty, &[value])
    }
}

/// Computes on one thread. A value is a number: of booleans, numbers and constructors without fields itself, of others
/// the number of an interned row. Equal values have equal numbers.
pub struct Evaluator<'a> {
    machine: Machine<'a>,
    data: &'a Data,
    row: Vec<u32>,
}

impl<'a> Evaluator<'a> {
    /// What it computes with.
    pub fn data(&self) -> &'a Data {
        self.data
    }

    /// The result of a function for the values of variables.
    pub fn call(&mut self, function: &Function, variables: &[u32]) -> Result<u32, ModelError> {
        self.row.clear();
        self.row.extend(function.reads.iter().map(|&variable| variables[variable]));
        self.machine.call(self.data.functions[function.number], &self.row)
    }

    /// Whether a value matches; the parts that it is asked for are added to `parts`.
    pub fn matches(&mut self, matcher: &Matcher, value: u32, parts: &mut Vec<u32>) -> bool {
        let first = parts.len();
        parts.resize(first + matcher.leaves.len(), 0);
        matches(&mut self.machine.values, &matcher.pattern, value, &mut parts[first..])
    }

    /// The values that a value is made of: the fields of a constructor behind its position, the elements of a list.
    pub fn row(&self, value: u32) -> &[u32] {
        self.machine.values.row(value)
    }

    /// The value that is made of these.
    pub fn intern(&mut self, row: &[u32]) -> u32 {
        self.machine.values.intern(row)
    }

    /// The order of two values of a type.
    pub fn compare(&self, ty: TypeId, a: u32, b: u32) -> Ordering {
        self.machine.values.compare(ty, &[a], &[b])
    }

    /// The position of a value's constructor among those of its type.
    pub fn constructor(&self, ty: TypeId, value: u32) -> Option<usize> {
        match self.machine.values.kind(ty) {
            Kind::Bool | Kind::Enumeration(_) => Some(value as usize),
            Kind::Constructed(_) => self.row(value).first().map(|&ordinal| ordinal as usize),
            _ => None,
        }
    }

    /// The number that a value of a number type stands for.
    pub fn number(&self, ty: TypeId, value: u32) -> Option<i64> {
        match self.machine.values.kind(ty) {
            Kind::Number { offset, .. } => Some(i64::from(value) + offset),
            _ => None,
        }
    }

    /// The value of a number in a number type, where it has one.
    pub fn value_of(&self, ty: TypeId, number: i64) -> Option<u32> {
        match *self.machine.values.kind(ty) {
            Kind::Number { lower, upper, offset, .. } if (lower..=upper).contains(&number) => {
                Some((number - offset) as u32)
            }
            _ => None,
        }
    }

    /// A value as labels print it.
    pub fn print(&self, ty: TypeId, value: u32) -> String {
        print_value(&self.machine.values, ty, &[value])
    }

    /// All values of a type, in ascending order, or why they can't be listed: "has infinitely many values".
    pub fn values(&mut self, ty: TypeId) -> Result<Arc<[u32]>, String> {
        all_values(&mut self.machine, ty).map_err(|unlisted| match unlisted {
            Unlisted::TooMany(too_many) => too_many.reason().to_owned(),
            Unlisted::Error(error) => format!("has a condition that fails: {}", error.message),
        })
    }
}

/// Whether a value matches a pattern. Patterns are not deep: the parser sees to it.
fn matches(values: &mut Values<'_>, pattern: &Pattern, value: u32, parts: &mut [u32]) -> bool {
    match &pattern.kind {
        PatternKind::Wildcard => true,
        PatternKind::Variable(variable) => {
            parts[variable.index()] = value;
            true
        }
        PatternKind::As(variable, inner) => {
            parts[variable.index()] = value;
            matches(values, inner, value, parts)
        }
        PatternKind::Literal(_) => literal_value(values, pattern) == value,
        PatternKind::Nil => values.row(value).is_empty(),
        PatternKind::Constructor(constructor, fields) => {
            let ordinal = values.program()[*constructor].ordinal;
            if let Kind::Enumeration(_) = values.kind(pattern.ty) {
                return value == ordinal;
            }
            values.row(value)[0] == ordinal && all_match(values, fields, value, 1, parts)
        }
        PatternKind::Array(elements) => {
            values.row(value).len() == elements.len() && all_match(values, elements, value, 0, parts)
        }
        PatternKind::Cons(head, tail) => {
            let Some(&first) = values.row(value).first() else { return false };
            let rest = values.build(|values, row| row.extend(values.row(value).iter().skip(1)));
            matches(values, head, first, parts) && matches(values, tail, rest, parts)
        }
        // Constants that are computed are leaves of their own: `Definitions::matcher` refuses the others.
        PatternKind::Equal(_) => false,
    }
}

fn all_match(
    values: &mut Values<'_>,
    patterns: &[Pattern],
    value: u32,
    first: usize,
    parts: &mut [u32],
) -> bool {
    patterns.iter().enumerate().all(|(index, pattern)| {
        let part = values.row(value)[first + index];
        matches(values, pattern, part, parts)
    })
}
