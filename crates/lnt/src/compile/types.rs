//! How values are represented: each is one or more 32-bit *words*, as many as its type says.
//!
//! Booleans, numbers, characters and enumerations are themselves (numbers count from the least value of their type,
//! so that order is kept). Records, variants, arrays and small sets whose parts need no more than 32 bits together are
//! *packed* into one word; larger ones of a fixed size are *wide*: their parts lie side by side. Everything else is the
//! number of an interned *row*: constructed values are their constructor's position and their fields, lists, sets,
//! arrays and strings their elements, reals their bits.
//!
//! A word means the same wherever it stands, so that equal values have equal words. The naive twin of all this keeps
//! every structured value as a row ([`Shaping::Rows`]).

use model::OfferType;

use crate::typed::{ConstructorId, Program, TypeId, TypeKind};

/// A type as the machine sees it.
#[derive(Clone, Debug)]
pub struct Representation {
    /// The type's name in upper case, as labels print it.
    pub name: String,
    /// What a value's words mean.
    pub kind: Kind,
    /// Where they are.
    pub storage: Storage,
    /// How many bits each word needs in a slot.
    pub leaves: Vec<u32>,
    /// Whether values of one word are ordered as their numbers are.
    pub ordered: bool,
    /// Whether values are ordered as their words are, the first ones first.
    pub lexical: bool,
    /// For constructed types, the places of each constructor's fields.
    pub fields: Vec<Vec<FieldPlace>>,
    /// Packed constructed types have the position of the constructor above this bit; 32 where there is only one.
    pub tag_shift: u32,
    /// What lists, sets and arrays consist of.
    pub element: ElementShape,
    /// Whether values have to satisfy the condition of a predicate type, as a whole or in parts.
    pub conditional: bool,
    /// Whether there are infinitely many values, because lists or texts are among their parts.
    pub endless: bool,
    /// Where the code that checks a value starts, for types with a predicate; filled by the compiler.
    pub predicate: Option<u32>,
}

/// Where the words of a value are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// The word is the value.
    Scalar,
    /// All parts share one word. Of constructed values and arrays, earlier parts lie higher, so that order is kept;
    /// a sorted set has a bit for each element, another set its length and then its elements.
    Packed,
    /// Parts lie side by side. Behind a constructor's position, where there are several, fields share words.
    Wide,
    /// The word is the number of an interned row.
    Row,
}

/// Where a field lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldPlace {
    /// The lowest bit of a packed field, else the first word.
    pub at: u32,
    /// How many words it has.
    pub words: u32,
    /// The bits of a packed field, shifted down to bit 0.
    pub mask: u32,
}

/// What lists, sets and arrays consist of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ElementShape {
    /// The words of an element.
    pub words: u32,
    /// The bits of a packed element.
    pub bits: u32,
    /// Elements of packed sets are less than this.
    pub span: u32,
    /// How many elements an array has.
    pub length: u32,
}

/// Which structured values are not rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shaping {
    /// Those of a fixed size.
    Fixed,
    /// None: what others compute with rows relies on it, and so do tests.
    Rows,
}

/// What a value's words mean.
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

    /// How many words a value has.
    #[inline]
    pub fn words(&self) -> u32 {
        self.leaves.len() as u32
    }

    /// Where the parts of a packed set lie: how many bits its length takes.
    pub fn length_bits(&self) -> u32 {
        bits_for(u64::from(self.element.span))
    }
}

/// Numbers of rows use whole slots.
const ROW_BITS: u32 = 32;
/// Values of more words than this are rows.
const MOST_WORDS: usize = 256;
/// Types that are nested deeper than this are rows.
const DEEPEST: usize = 64;

/// The representations of all types of a program, by [`TypeId`].
pub fn representations(program: &Program, shaping: Shaping) -> Vec<Representation> {
    let mut shaper = Shaper { program, shaping, table: vec![Shaped::Not; program.types.len()] };
    for ty in 0..program.types.len() {
        shaper.shape(TypeId(ty as u32), 0);
    }
    let shapes = shaper.table.into_iter().map(|shaped| match shaped {
        Shaped::Done(shape) => shape,
        Shaped::Not | Shaped::Now { .. } => unreachable!("every type was looked at"),
    });
    let mut shapes: Vec<Representation> = shapes.collect();
    // What a row consists of was not known before all types were: a list of trees may be part of a tree.
    for index in 0..shapes.len() {
        let element = match shapes[index].kind {
            Kind::List { element, .. } | Kind::Array { element, .. } => shapes[element.index()].words(),
            Kind::String => 1,
            _ => continue,
        };
        shapes[index].element.words = element;
    }
    for index in 0..shapes.len() {
        if let (Storage::Row, Kind::Constructed(constructors)) = (shapes[index].storage, &shapes[index].kind)
        {
            let fields = constructors.iter().map(|&constructor| {
                let mut at = 1;
                let fields = program[constructor].fields.iter().map(|field| {
                    let words = shapes[field.ty.index()].words();
                    at += words;
                    FieldPlace { at: at - words, words, mask: 0 }
                });
                fields.collect()
            });
            shapes[index].fields = fields.collect();
        }
    }
    find_hindrances(program, &mut shapes);
    shapes
}

/// Finds what keeps the values of types from being listed.
fn find_hindrances(program: &Program, shapes: &mut [Representation]) {
    loop {
        let mut changed = false;
        for (index, ty) in program.types.iter().enumerate() {
            let conditional = match &ty.kind {
                TypeKind::Predicate { .. } => true,
                TypeKind::Range { base, .. } => shapes[base.index()].conditional,
                TypeKind::Array { element, .. } => shapes[element.index()].conditional,
                TypeKind::Constructed(constructors) => constructors
                    .iter()
                    .flat_map(|&constructor| &program[constructor].fields)
                    .any(|field| shapes[field.ty.index()].conditional),
                _ => false,
            };
            let endless = match &ty.kind {
                TypeKind::Real | TypeKind::String | TypeKind::List { .. } | TypeKind::Set { .. } => true,
                TypeKind::Predicate { base, .. } => shapes[base.index()].endless,
                TypeKind::Array { element, .. } => shapes[element.index()].endless,
                TypeKind::Constructed(constructors) => constructors
                    .iter()
                    .flat_map(|&constructor| &program[constructor].fields)
                    .any(|field| shapes[field.ty.index()].endless),
                _ => false,
            };
            changed |= conditional && !shapes[index].conditional || endless && !shapes[index].endless;
            shapes[index].conditional |= conditional;
            shapes[index].endless |= endless;
        }
        if !changed {
            return;
        }
    }
}

/// What is known of a type while its representation is found.
#[derive(Clone)]
enum Shaped {
    Not,
    /// It is being looked at; whether it turned out to be a part of itself.
    Now {
        recursive: bool,
    },
    Done(Representation),
}

struct Shaper<'p> {
    program: &'p Program,
    shaping: Shaping,
    table: Vec<Shaped>,
}

/// A part of a value as far as the whole is concerned.
struct PartShape {
    leaves: Vec<u32>,
    ordered: bool,
    lexical: bool,
    span: u64,
}

impl Shaper<'_> {
    fn shape(&mut self, ty: TypeId, depth: usize) -> &Representation {
        if matches!(self.table[ty.index()], Shaped::Not) {
            self.table[ty.index()] = Shaped::Now { recursive: false };
            let mut shape = self.represent(ty, depth);
            if matches!(self.table[ty.index()], Shaped::Now { recursive: true }) {
                shape = row(shape.kind);
            }
            shape.name = self.program[ty].name.to_uppercase();
            self.table[ty.index()] = Shaped::Done(shape);
        }
        match &self.table[ty.index()] {
            Shaped::Done(shape) => shape,
            Shaped::Not | Shaped::Now { .. } => unreachable!("it was just done"),
        }
    }

    /// A part of another type; a type that is a part of itself is a row.
    fn part(&mut self, ty: TypeId, depth: usize) -> PartShape {
        if let Shaped::Now { recursive } = &mut self.table[ty.index()] {
            *recursive = true;
            return PartShape { leaves: vec![ROW_BITS], ordered: false, lexical: false, span: u64::MAX };
        }
        let shape = self.shape(ty, depth + 1);
        let span = match &shape.kind {
            Kind::Enumeration(constructors) => constructors.len() as u64,
            Kind::Number { upper, offset, .. } => (upper - offset).max(0) as u64 + 1,
            _ if shape.leaves.len() == 1 => 1u64 << shape.leaves[0],
            _ => u64::MAX,
        };
        PartShape { leaves: shape.leaves.clone(), ordered: shape.ordered, lexical: shape.lexical, span }
    }

    fn represent(&mut self, ty: TypeId, depth: usize) -> Representation {
        let program = self.program;
        match program[ty].kind {
            TypeKind::Bool => scalar(Kind::Bool, 1),
            TypeKind::Nat { lower, upper } => number(lower, upper, lower, false),
            TypeKind::Int { lower, upper } => number(lower, upper, lower, true),
            TypeKind::Real => row(Kind::Real),
            TypeKind::Char => scalar(Kind::Char { lower: 0, upper: 255 }, bits_for(char::MAX as u64)),
            TypeKind::String => row(Kind::String),
            TypeKind::Constructed(ref constructors) => {
                if constructors.iter().all(|&constructor| program[constructor].fields.is_empty()) {
                    let bits = bits_for(constructors.len().saturating_sub(1) as u64);
                    return scalar(Kind::Enumeration(constructors.clone()), bits);
                }
                self.constructed(constructors, depth)
            }
            TypeKind::List { element, sorted } => row(Kind::List { element, sorted, set: false }),
            TypeKind::Set { element, sorted } => self.set(element, sorted, depth),
            TypeKind::Array { lower, upper, element } => {
                let length = (i128::from(upper) - i128::from(lower) + 1).clamp(0, 1 << 40) as usize;
                self.array(lower, length, element, depth)
            }
            TypeKind::Range { lower, upper, base } => {
                let base = self.base(base, depth);
                match base.kind {
                    Kind::Char { .. } => {
                        let kind = Kind::Char { lower: lower as u32, upper: upper as u32 };
                        scalar(kind, bits_for(upper as u64))
                    }
                    Kind::Number { offset, signed, .. } => number(lower, upper, offset, signed),
                    // The checker allows ranges over numbers and characters only.
                    _ => base,
                }
            }
            TypeKind::Predicate { base, .. } => Representation { predicate: None, ..self.base(base, depth) },
        }
    }

    /// The representation of the type that a range or predicate type is based on.
    fn base(&mut self, base: TypeId, depth: usize) -> Representation {
        match self.table[base.index()] {
            // The checker refuses types that are based on themselves.
            Shaped::Now { .. } => row(Kind::String),
            _ => self.shape(base, depth + 1).clone(),
        }
    }

    fn constructed(&mut self, constructors: &[ConstructorId], depth: usize) -> Representation {
        let program = self.program;
        let whole = row(Kind::Constructed(constructors.to_vec()));
        if self.shaping == Shaping::Rows || depth > DEEPEST {
            return whole;
        }
        let parts: Vec<Vec<PartShape>> = constructors
            .iter()
            .map(|&constructor| {
                program[constructor].fields.iter().map(|field| self.part(field.ty, depth)).collect()
            })
            .collect();
        let several = constructors.len() > 1;
        let ordered = parts.iter().flatten().all(|part| part.ordered);
        let lexical = parts.iter().flatten().all(|part| part.lexical);
        let narrow = |part: &PartShape| part.leaves.len() == 1;
        let bits_of = |fields: &[PartShape]| fields.iter().map(|part| u64::from(part.leaves[0])).sum::<u64>();
        let tag_bits = bits_for(constructors.len() as u64 - 1);
        if parts.iter().flatten().all(narrow) {
            let widest = parts.iter().map(|fields| bits_of(fields)).max().unwrap_or(0);
            if widest + u64::from(tag_bits) <= 32 {
                let places = parts.iter().map(|fields| {
                    let mut at = widest as u32;
                    let place = |part: &PartShape| {
                        at -= part.leaves[0];
                        // A field of no bits may come above all 32.
                        FieldPlace { at: at.min(31), words: 1, mask: mask_of(part.leaves[0]) }
                    };
                    fields.iter().map(place).collect()
                });
                return Representation {
                    storage: Storage::Packed,
                    leaves: vec![widest as u32 + tag_bits],
                    ordered,
                    lexical: ordered,
                    fields: places.collect(),
                    tag_shift: if several { widest as u32 } else { 32 },
                    ..whole
                };
            }
        }
        let mut leaves = if several { vec![tag_bits] } else { Vec::new() };
        let first = leaves.len();
        let mut places: Vec<Vec<FieldPlace>> = Vec::new();
        for fields in &parts {
            let mut at = first;
            let mut own = Vec::new();
            for part in fields {
                own.push(FieldPlace { at: at as u32, words: part.leaves.len() as u32, mask: 0 });
                for &bits in &part.leaves {
                    match leaves.get_mut(at) {
                        Some(shared) => *shared = (*shared).max(bits),
                        None => leaves.push(bits),
                    }
                    at += 1;
                }
            }
            places.push(own);
        }
        if leaves.len() > MOST_WORDS || leaves.len() < 2 {
            return whole;
        }
        Representation { storage: Storage::Wide, leaves, fields: places, lexical, ..whole }
    }

    fn array(&mut self, lower: i64, length: usize, element: TypeId, depth: usize) -> Representation {
        let mut whole = row(Kind::Array { lower, length, element });
        whole.element.length = length.min(u32::MAX as usize) as u32;
        if self.shaping == Shaping::Rows || depth > DEEPEST || length == 0 || length > MOST_WORDS {
            return whole;
        }
        let part = self.part(element, depth);
        if part.leaves.len() == 1 && part.leaves[0] as usize * length <= 32 {
            whole.element.bits = part.leaves[0];
            let leaves = vec![part.leaves[0] * length as u32];
            let ordered = part.ordered;
            return Representation { storage: Storage::Packed, leaves, ordered, lexical: ordered, ..whole };
        }
        let words = part.leaves.len() * length;
        if !(2..=MOST_WORDS).contains(&words) {
            return whole;
        }
        let lexical = part.lexical;
        Representation { storage: Storage::Wide, leaves: part.leaves.repeat(length), lexical, ..whole }
    }

    fn set(&mut self, element: TypeId, sorted: bool, depth: usize) -> Representation {
        let mut whole = row(Kind::List { element, sorted, set: true });
        if self.shaping == Shaping::Rows || depth > DEEPEST {
            return whole;
        }
        let part = self.part(element, depth);
        // A mask is in the order of elements only where these are in the order of their numbers.
        if part.leaves.len() != 1 || part.span > 32 || !part.ordered {
            return whole;
        }
        let bits = match sorted {
            true => part.span,
            false => u64::from(bits_for(part.span)) + part.span * u64::from(part.leaves[0]),
        };
        if bits > 32 {
            return whole;
        }
        (whole.element.bits, whole.element.span) = (part.leaves[0], part.span as u32);
        Representation { storage: Storage::Packed, leaves: vec![bits as u32], ..whole }
    }
}

fn scalar(kind: Kind, bits: u32) -> Representation {
    Representation { storage: Storage::Scalar, leaves: vec![bits], ordered: true, lexical: true, ..row(kind) }
}

fn number(lower: i64, upper: i64, offset: i64, signed: bool) -> Representation {
    scalar(Kind::Number { lower, upper, offset, signed }, bits_for((upper - offset).max(0) as u64))
}

fn row(kind: Kind) -> Representation {
    Representation {
        name: String::new(),
        kind,
        storage: Storage::Row,
        leaves: vec![ROW_BITS],
        ordered: false,
        lexical: false,
        fields: Vec::new(),
        tag_shift: 32,
        element: ElementShape::default(),
        conditional: false,
        endless: false,
        predicate: None,
    }
}

/// This many low bits.
pub fn mask_of(bits: u32) -> u32 {
    ((1u64 << bits) - 1) as u32
}

/// How many bits the numbers from 0 to `greatest` need.
pub fn bits_for(greatest: u64) -> u32 {
    u64::BITS - greatest.leading_zeros()
}
