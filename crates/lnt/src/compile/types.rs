//! How values are represented: every value is one 32-bit number.
//!
//! Booleans, numbers, characters and enumerations are themselves (numbers count from the least value of their type,
//! so that order is kept). Everything else is the number of an interned row: constructed values are their
//! constructor's position and their fields, lists, sets, arrays and strings their elements, reals their bits.

use model::OfferType;

use crate::typed::{ConstructorId, Program, TypeId, TypeKind};

/// A type as the machine sees it.
#[derive(Clone, Debug)]
pub struct Representation {
    /// The type's name in upper case, as labels print it.
    pub name: String,
    /// What a value's number means.
    pub kind: Kind,
    /// How many bits a slot of this type needs.
    pub bits: u32,
    /// Where the code that checks a value starts, for types with a predicate; filled by the compiler.
    pub predicate: Option<u32>,
}

/// What a value's number means.
#[derive(Clone, Debug)]
pub enum Kind {
    /// 0 for false.
    Bool,
    /// `number + offset`; the value lies between the bounds.
    Number {
        /// Least value.
        lower: i64,
        /// Greatest value.
        upper: i64,
        /// What the number 0 stands for.
        offset: i64,
        /// Whether labels print a sign.
        signed: bool,
    },
    /// A code point between the bounds.
    Char {
        /// Least code.
        lower: u32,
        /// Greatest code.
        upper: u32,
    },
    /// The position of a constructor, none of which has fields.
    Enumeration(Vec<ConstructorId>),
    /// A row: the bits of a floating-point number, low half first.
    Real,
    /// A row of code points.
    String,
    /// A row: position of the constructor, then its fields.
    Constructed(Vec<ConstructorId>),
    /// A row of elements.
    List {
        /// Their type.
        element: TypeId,
        /// Kept in ascending order.
        sorted: bool,
        /// Kept without duplicates.
        set: bool,
    },
    /// A row of elements.
    Array {
        /// The index of the first one.
        lower: i64,
        /// How many there are.
        length: usize,
        /// Their type.
        element: TypeId,
    },
}

impl Representation {
    /// What labels can print of values of this type.
    pub fn offer_type(&self, program: &Program) -> OfferType {
        match &self.kind {
            Kind::Bool => OfferType::Names(["FALSE", "TRUE"].map(str::to_owned).into()),
            &Kind::Number { lower, upper, signed, .. } => OfferType::Number { lower, upper, signed },
            Kind::Enumeration(constructors) => {
                let names = constructors.iter().map(|&constructor| program[constructor].name.to_uppercase());
                OfferType::Names(names.collect())
            }
            _ => OfferType::Other,
        }
    }

    /// Whether values are rows.
    pub fn is_interned(&self) -> bool {
        self.bits == INTERNED_BITS
            && !matches!(
                self.kind,
                Kind::Bool | Kind::Number { .. } | Kind::Char { .. } | Kind::Enumeration(_)
            )
    }
}

/// Numbers of rows use whole slots.
const INTERNED_BITS: u32 = 32;

/// The representations of all types of a program, by [`TypeId`].
pub fn representations(program: &Program) -> Vec<Representation> {
    let mut table: Vec<Representation> = Vec::with_capacity(program.types.len());
    for ty in &program.types {
        let (kind, bits) = represent(program, &ty.kind, &table);
        table.push(Representation { name: ty.name.to_uppercase(), kind, bits, predicate: None });
    }
    table
}

fn represent(program: &Program, kind: &TypeKind, earlier: &[Representation]) -> (Kind, u32) {
    let interned = |kind| (kind, INTERNED_BITS);
    let number = |lower: i64, upper: i64, offset: i64, signed| {
        (Kind::Number { lower, upper, offset, signed }, bits_for((upper - offset).max(0) as u64))
    };
    match *kind {
        TypeKind::Bool => (Kind::Bool, 1),
        TypeKind::Nat { lower, upper } => number(lower, upper, lower, false),
        TypeKind::Int { lower, upper } => number(lower, upper, lower, true),
        TypeKind::Real => interned(Kind::Real),
        TypeKind::Char => (Kind::Char { lower: 0, upper: 255 }, bits_for(char::MAX as u64)),
        TypeKind::String => interned(Kind::String),
        TypeKind::Constructed(ref constructors) => {
            if constructors.iter().all(|&constructor| program[constructor].fields.is_empty()) {
                let bits = bits_for(constructors.len().saturating_sub(1) as u64);
                (Kind::Enumeration(constructors.clone()), bits)
            } else {
                interned(Kind::Constructed(constructors.clone()))
            }
        }
        TypeKind::List { element, sorted } => interned(Kind::List { element, sorted, set: false }),
        TypeKind::Set { element, sorted } => interned(Kind::List { element, sorted, set: true }),
        TypeKind::Array { lower, upper, element } => {
            interned(Kind::Array { lower, length: (upper - lower + 1).max(0) as usize, element })
        }
        TypeKind::Range { lower, upper, base } => match &resolved(program, base, earlier).kind {
            Kind::Char { .. } => {
                (Kind::Char { lower: lower as u32, upper: upper as u32 }, bits_for(upper as u64))
            }
            Kind::Number { offset, signed, .. } => number(lower, upper, *offset, *signed),
            // The checker allows ranges over numbers and characters only.
            other => (other.clone(), INTERNED_BITS),
        },
        TypeKind::Predicate { base, .. } => {
            let base = resolved(program, base, earlier);
            (base.kind.clone(), base.bits)
        }
    }
}

/// The representation of the type that a range or predicate type is based on, which may come later in the table.
fn resolved(program: &Program, base: TypeId, earlier: &[Representation]) -> Representation {
    if let Some(known) = earlier.get(base.index()) {
        return known.clone();
    }
    let (kind, bits) = represent(program, &program[base].kind, earlier);
    Representation { name: String::new(), kind, bits, predicate: None }
}

/// How many bits the numbers from 0 to `greatest` need.
pub fn bits_for(greatest: u64) -> u32 {
    u64::BITS - greatest.leading_zeros()
}
