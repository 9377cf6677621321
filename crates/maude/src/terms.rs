//! Terms, each stored once.
//!
//! A term is an operator and a row of numbers: its arguments, for bags arguments with multiplicities, for iterated
//! operators the argument and the digits of the count, for data their bits. Rows are flattened and sorted as the laws of
//! the operator say, so that terms that are equal modulo the laws have the same number. The order of arguments in a bag
//! follows the structure of terms, never their numbers.

use std::cmp::Ordering;

use num_bigint::BigUint;

use crate::names::{Form, Name};
use crate::signature::{Signature, SortId, SymbolId, Theory};

/// A term of a [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct TermId(pub u32);

impl TermId {
    /// No term.
    pub const NONE: TermId = TermId(u32::MAX);
    /// A term that is made only if it is asked for.
    pub const LATER: TermId = TermId(u32::MAX - 1);
}

const VARIABLE: u32 = 1 << 31;
const SORT: u32 = (1 << 24) - 1;
const REDUCED: u32 = 1 << 24;
const OPEN: u32 = 1 << 25;
const MARKED: u32 = 1 << 26;
const FREE: u32 = 1 << 27;
/// Every element of a list or bag has a sort below the plateau of the operator ([`Symbol::plateau`]).
///
/// [`Symbol::plateau`]: crate::signature::Symbol::plateau
const EVEN: u32 = 1 << 28;
/// Where the row is: up to two numbers are in the node, more in the table of rows or, for lists, in stretches.
const STORAGE: u32 = 29;
const APART: u32 = 3;
const STRETCH: u32 = 4;
/// What the rows of floating-point numbers and quoted identifiers begin with; those of strings begin with a length.
const FLOAT: u32 = u32::MAX;
const QUOTED: u32 = u32::MAX - 1;

/// A place for elements that nobody has taken yet.
const SLACK: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    symbol: u32,
    /// The sort, flags, and where the row is.
    sort: u32,
    /// The row; else where it begins (for lists: the number of the stretch), and its length.
    data: [u32; 2],
    /// A term whose newest argument this is ([`Terms::newest`]).
    user: u32,
    /// Another term with the same newest argument.
    next_user: u32,
}

/// The elements of a list: a part of the table of elements, which other lists may share.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    start: u32,
    /// A hash that can be cut and joined.
    sum: u64,
}

/// What the top of a term is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Top {
    /// An operator.
    Symbol(SymbolId),
    /// A variable of a sort.
    Variable(SortId),
}

/// A table of terms.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    nodes: Vec<Node>,
    rows: Vec<u32>,
    /// Elements of lists, and room around them.
    elements: Vec<u32>,
    stretches: Vec<Stretch>,
    /// Hashes and numbers of nodes plus one, by their hashes; zero where there is none. Most terms are not here, but found
    /// from their newest arguments.
    table: Vec<(u32, u32)>,
    tabled: usize,
    /// What was added to the volume since garbage was collected.
    added: usize,
    used: usize,
    free: Vec<u32>,
    /// Which numbers of a row are terms, for each operator.
    layouts: Vec<Theory>,
    /// Whether terms stay as they are written: nothing is flattened, sorted or left out. For reading and printing alone.
    pub as_written: bool,
    scratch: Vec<u32>,
    work: Vec<(TermId, u32)>,
}

/// Multiplies and folds two words at a time; neighbouring numbers must not lie in neighbouring places.
#[inline]
fn hash_of(symbol: u32, row: &[u32]) -> u32 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let fold = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word) * u128::from(FACTOR);
        (product as u64) ^ (product >> 64) as u64
    };
    let mut hash = fold(u64::from(symbol) ^ 0x2545_F491_4F6C_DD1D, row.len() as u64);
    let (pairs, rest) = row.as_chunks::<2>();
    for pair in pairs {
        hash = fold(hash, u64::from(pair[0]) | u64::from(pair[1]) << 32);
    }
    if let [last] = rest {
        hash = fold(hash, u64::from(*last));
    }
    (hash ^ hash >> 32) as u32
}

/// No term.
const NOBODY: u32 = u32::MAX;

/// How many terms are found from one argument; if there are more, the table has them.
const MOST_USERS: usize = 16;

/// How a term is found.
#[derive(Clone, Copy)]
enum Key {
    /// From its newest argument.
    Newest(u32),
    /// In the table.
    Hash(u32),
}

/// Some elements of a list: themselves, or where they are and how many.
#[derive(Clone, Copy)]
enum Piece {
    Here([u32; 2], usize),
    There(usize, usize),
}

impl Piece {
    fn len(self) -> usize {
        match self {
            Self::Here(_, length) | Self::There(_, length) => length,
        }
    }
}

/// What the hash of a list is made of: the sum of its elements, each scrambled and multiplied by a power of this.
const BASE: u64 = 0xD6E8_FEB8_6659_FD93;
const INVERSE: u64 = inverse(BASE);

/// The inverse of an odd number, by Newton's method: every round doubles the number of right bits.
const fn inverse(number: u64) -> u64 {
    let mut inverse = number;
    let mut round = 0;
    while round < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(number.wrapping_mul(inverse)));
        round += 1;
    }
    inverse
}

#[inline]
fn scramble(element: u32) -> u64 {
    let product = (u64::from(element) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    product ^ product >> 29
}

fn power(mut exponent: usize) -> u64 {
    let (mut square, mut result) = (BASE, 1u64);
    while exponent > 0 {
        if exponent & 1 != 0 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        exponent >>= 1;
    }
    result
}

fn sum_of(row: &[u32]) -> u64 {
    row.iter().rev().fold(0, |sum: u64, &element| sum.wrapping_mul(BASE).wrapping_add(scramble(element)))
}

/// The hash of a list that is longer than two elements.
#[inline]
fn hash_of_list(symbol: u32, length: usize, sum: u64) -> u32 {
    let word = sum ^ (u64::from(symbol) << 40) ^ length as u64;
    let product = u128::from(word ^ 0x2545_F491_4F6C_DD1D) * u128::from(0x9E37_79B9_7F4A_7C15u64);
    let hash = (product as u64) ^ (product >> 64) as u64;
    (hash ^ hash >> 32) as u32
}

impl Terms {
    /// An empty table for the operators of a signature.
    pub fn new(signature: &Signature) -> Self {
        let mut terms = Self::default();
        terms.learn(signature);
        terms
    }

    /// Learns of operators that were added to the signature.
    pub fn learn(&mut self, signature: &Signature) {
        self.layouts = signature.symbols.iter().map(|symbol| symbol.theory).collect();
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.used
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// How many numbers of terms were handed out.
    pub fn numbers(&self) -> usize {
        self.nodes.len()
    }

    /// The memory it takes.
    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.stretches.capacity() * size_of::<Stretch>()
            + (self.rows.capacity() + self.elements.capacity()) * 4
            + (self.table.capacity() * 2 + self.free.capacity()) * 4
    }

    /// What was added to the volume since garbage was collected.
    #[inline]
    pub fn added(&self) -> usize {
        self.added
    }

    /// A measure of the memory that terms take.
    pub fn volume(&self) -> usize {
        self.used * 4 + self.rows.len() + self.elements.len() + self.stretches.len() * 4
    }

    /// The top of a term.
    #[inline]
    pub fn top(&self, term: TermId) -> Top {
        let symbol = self.nodes[term.0 as usize].symbol;
        match symbol & VARIABLE {
            0 => Top::Symbol(SymbolId(symbol)),
            _ => Top::Variable(SortId(symbol & !VARIABLE)),
        }
    }

    /// Whether the top is this operator.
    #[inline]
    pub fn has_top(&self, term: TermId, symbol: SymbolId) -> bool {
        self.nodes[term.0 as usize].symbol == symbol.0
    }

    /// The operator at the top; none for variables.
    #[inline]
    pub fn symbol(&self, term: TermId) -> Option<SymbolId> {
        match self.top(term) {
            Top::Symbol(symbol) => Some(symbol),
            Top::Variable(_) => None,
        }
    }

    /// The row of a term.
    #[inline]
    pub fn row(&self, term: TermId) -> &[u32] {
        self.row_of(&self.nodes[term.0 as usize])
    }

    #[inline]
    fn row_of<'a>(&'a self, node: &'a Node) -> &'a [u32] {
        match node.sort >> STORAGE {
            APART => &self.rows[node.data[0] as usize..][..node.data[1] as usize],
            STRETCH => {
                let start = self.stretches[node.data[0] as usize].start;
                &self.elements[start as usize..][..node.data[1] as usize]
            }
            length => &node.data[..length as usize],
        }
    }

    /// The least sort of a term.
    #[inline]
    pub fn sort(&self, term: TermId) -> SortId {
        SortId(self.nodes[term.0 as usize].sort & SORT)
    }

    /// Gives a term another sort, which memberships say.
    pub fn set_sort(&mut self, term: TermId, sort: SortId) {
        let flags = self.nodes[term.0 as usize].sort & !SORT;
        self.nodes[term.0 as usize].sort = flags | sort.0;
    }

    /// Whether a term is a normal form.
    #[inline]
    pub fn is_reduced(&self, term: TermId) -> bool {
        self.nodes[term.0 as usize].sort & REDUCED != 0
    }

    /// Notes that a term is a normal form.
    #[inline]
    pub fn set_reduced(&mut self, term: TermId) {
        self.nodes[term.0 as usize].sort |= REDUCED;
    }

    /// Forgets that a term is a normal form.
    pub fn set_unreduced(&mut self, term: TermId) {
        self.nodes[term.0 as usize].sort &= !REDUCED;
    }

    /// Whether a term has variables.
    #[inline]
    pub fn is_open(&self, term: TermId) -> bool {
        self.nodes[term.0 as usize].sort & OPEN != 0
    }

    /// Calls `visit` for the arguments of a term, in bags once for each element.
    pub fn for_arguments(&self, term: TermId, mut visit: impl FnMut(TermId)) {
        let Some(symbol) = self.symbol(term) else { return };
        let row = self.row(term);
        match self.layouts[symbol.0 as usize] {
            Theory::Free | Theory::Pair | Theory::List => {
                row.iter().for_each(|&argument| visit(TermId(argument)))
            }
            Theory::Bag => row.as_chunks::<2>().0.iter().for_each(|pair| visit(TermId(pair[0]))),
            Theory::Iter => visit(TermId(row[0])),
            Theory::Data => {}
        }
    }

    /// The arguments of a term, in bags repeated as often as they occur.
    pub fn arguments(&self, term: TermId) -> Vec<TermId> {
        let Some(symbol) = self.symbol(term) else { return Vec::new() };
        let row = self.row(term);
        match self.layouts[symbol.0 as usize] {
            Theory::Free | Theory::Pair | Theory::List => {
                row.iter().map(|&argument| TermId(argument)).collect()
            }
            Theory::Bag => {
                let pairs = row.as_chunks::<2>().0;
                pairs.iter().flat_map(|pair| std::iter::repeat_n(TermId(pair[0]), pair[1] as usize)).collect()
            }
            Theory::Iter => vec![TermId(row[0])],
            Theory::Data => Vec::new(),
        }
    }

    /// A variable.
    pub fn variable(&mut self, name: Name, sort: SortId) -> TermId {
        self.intern(VARIABLE | sort.0, &[name.number()], sort.0 | OPEN)
    }

    /// The name of a variable.
    pub fn variable_name(&self, term: TermId) -> Name {
        Name::from_number(self.row(term)[0])
    }

    /// A constant with data of its own.
    pub fn data(&mut self, signature: &Signature, symbol: SymbolId, row: &[u32]) -> TermId {
        let sort = signature.least_sort(symbol, std::iter::empty());
        self.intern(symbol.0, row, sort.0)
    }

    /// A string.
    pub fn string(&mut self, signature: &Signature, symbol: SymbolId, text: &str) -> TermId {
        let mut row = vec![text.len() as u32];
        for chunk in text.as_bytes().chunks(4) {
            let mut bytes = [0; 4];
            bytes[..chunk.len()].copy_from_slice(chunk);
            row.push(u32::from_le_bytes(bytes));
        }
        // Strings of one character have a sort of their own: the second declaration.
        let symbol_sorts = &signature.symbol(symbol).profiles;
        let mut sort = signature.least_sort(symbol, std::iter::empty());
        if symbol_sorts.len() > 1 && text.chars().count() != 1 {
            let larger = symbol_sorts.iter().map(|profile| profile.range).find(|&range| range != sort);
            sort = larger.unwrap_or(sort);
        }
        self.intern(symbol.0, &row, sort.0)
    }

    /// The text of a string.
    pub fn string_text(&self, term: TermId) -> String {
        let row = self.row(term);
        let mut bytes: Vec<u8> = row[1..].iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(row[0] as usize);
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// A floating-point number.
    pub fn float(&mut self, signature: &Signature, symbol: SymbolId, value: f64) -> TermId {
        // There is one zero.
        let value = if value == 0.0 { 0.0 } else { value };
        let bits = value.to_bits();
        // The first declaration is for finite numbers, the second one for all.
        let profiles = &signature.symbol(symbol).profiles;
        let least = signature.least_sort(symbol, std::iter::empty());
        let sort = match value.is_finite() {
            true => least,
            false => {
                profiles.iter().map(|profile| profile.range).find(|&range| range != least).unwrap_or(least)
            }
        };
        self.intern(symbol.0, &[FLOAT, bits as u32, (bits >> 32) as u32], sort.0)
    }

    /// The value of a floating-point number.
    pub fn float_value(&self, term: TermId) -> f64 {
        let row = self.row(term);
        f64::from_bits(u64::from(row[1]) | u64::from(row[2]) << 32)
    }

    /// A constant with the data of one in another table.
    pub fn data_with_sort(
        &mut self,
        signature: &Signature,
        symbol: SymbolId,
        from: &Terms,
        term: TermId,
    ) -> TermId {
        let row = from.row(term);
        match row[0] {
            FLOAT => self.float(signature, symbol, from.float_value(term)),
            QUOTED => self.quoted(signature, symbol, from.quoted_name(term)),
            _ => self.string(signature, symbol, &from.string_text(term)),
        }
    }

    /// A term whose row comes from another table for the same operators.
    pub fn made_again(&mut self, signature: &Signature, symbol: SymbolId, row: &[u32]) -> TermId {
        match (self.layouts[symbol.0 as usize], row) {
            // The sort of data depends on the data.
            (Theory::Data, &[FLOAT, low, high]) => {
                self.float(signature, symbol, f64::from_bits(u64::from(low) | u64::from(high) << 32))
            }
            (Theory::Data, [QUOTED, ..]) => self.data(signature, symbol, row),
            (Theory::Data, _) => {
                let mut bytes: Vec<u8> = row[1..].iter().flat_map(|word| word.to_le_bytes()).collect();
                bytes.truncate(row[0] as usize);
                self.string(signature, symbol, &String::from_utf8_lossy(&bytes))
            }
            _ => self.made(signature, symbol, row),
        }
    }

    /// A quoted identifier; the name is without the quote.
    pub fn quoted(&mut self, signature: &Signature, symbol: SymbolId, name: Name) -> TermId {
        let row = [QUOTED, name.number()];
        let data = signature.symbol(symbol);
        if data.forms.is_empty() {
            return self.data(signature, symbol, &row);
        }
        // Constants, variables, sorts and kinds of the meta-level have sorts of their own; others have the one that is
        // declared without a form.
        let form = match Form::of(name.text()) {
            Form::Sort => "sortQid",
            Form::Kind => "kindQid",
            Form::Constant => "constantQid",
            Form::Variable => "variableQid",
            Form::Other => "",
        };
        let own = data.forms.iter().find(|(own, _)| own.text() == form).map(|&(_, sort)| sort);
        let general = |sort: &SortId| data.forms.iter().all(|(_, own)| own != sort);
        let sort = own.or_else(|| data.profiles.iter().map(|profile| profile.range).find(general));
        self.intern(symbol.0, &row, sort.unwrap_or(signature.top(data.range)).0)
    }

    /// The name of a quoted identifier, without the quote.
    pub fn quoted_name(&self, term: TermId) -> Name {
        Name::from_number(self.row(term)[1])
    }

    /// A term whose row is made already; it is in the form that the laws ask for.
    #[inline]
    pub fn made(&mut self, signature: &Signature, symbol: SymbolId, row: &[u32]) -> TermId {
        if row.len() > 2 && self.layouts[symbol.0 as usize] == Theory::List {
            return self.made_list(signature, symbol, row);
        }
        match self.look_up(symbol.0, row, self.newest(symbol.0, row)) {
            Ok(known) => known,
            Err(key) => {
                let sort = self.sort_and_flags(signature, symbol, row);
                self.add(symbol.0, row, sort, key)
            }
        }
    }

    /// The term of a row that is no list, or how it will be found.
    #[inline]
    fn look_up(&self, symbol: u32, row: &[u32], newest: u32) -> Result<TermId, Key> {
        if newest != NOBODY {
            match self.find_user(symbol, row, newest) {
                Ok(known) => return Ok(known),
                Err(count) if count < MOST_USERS => return Err(Key::Newest(newest)),
                Err(_) => {}
            }
        }
        let hash = hash_of(symbol, row);
        self.find(symbol, hash, |known| known == row).ok_or(Key::Hash(hash))
    }

    /// The normal form of an operator without laws and equations, applied to normal forms; memberships aside.
    #[inline]
    pub fn made_inert(&mut self, signature: &Signature, symbol: SymbolId, row: &[u32]) -> TermId {
        let key = match self.look_up(symbol.0, row, newest_of(row)) {
            Ok(known) => {
                self.set_reduced(known);
                return known;
            }
            Err(key) => key,
        };
        let mut open = 0;
        let sorts = row.iter().map(|&term| {
            let sort = self.nodes[term as usize].sort;
            open |= sort & OPEN;
            SortId(sort & SORT)
        });
        let sort = signature.least_sort(symbol, sorts);
        self.add(symbol.0, row, sort.0 | open | REDUCED, key)
    }

    /// The term of a row, if there is one. The operator has no laws.
    pub fn known(&self, symbol: SymbolId, row: &[u32]) -> Option<TermId> {
        self.look_up(symbol.0, row, newest_of(row)).ok()
    }

    /// Finds the sort of a term again, after those of its arguments have become known.
    pub fn renew_sort(&mut self, signature: &Signature, term: TermId) -> SortId {
        let node = &self.nodes[term.0 as usize];
        let symbol = SymbolId(node.symbol);
        // The sort of data depends on the data, and was found when it was made.
        if self.layouts[node.symbol as usize] == Theory::Data {
            return self.sort(term);
        }
        if node.sort & EVEN != 0
            && let Some(plateau) = signature.symbol(symbol).plateau
        {
            self.set_sort(term, plateau);
            return plateau;
        }
        let sort = self.sort_and_flags(signature, symbol, self.row_of(node));
        let kept = node.sort & !(SORT | EVEN | OPEN);
        self.nodes[term.0 as usize].sort = kept | sort;
        SortId(sort & SORT)
    }

    /// The sort that the declarations give to a row, with the flags that follow from its arguments.
    fn sort_and_flags(&self, signature: &Signature, symbol: SymbolId, row: &[u32]) -> u32 {
        let step = match self.layouts[symbol.0 as usize] {
            Theory::List => 1,
            Theory::Bag => 2,
            _ => {
                let (sort, open) = self.sort_of_row(signature, symbol, row);
                return sort.0 | if open { OPEN } else { 0 };
            }
        };
        if let Some(plateau) = signature.symbol(symbol).plateau {
            let mut flags = 0;
            let mut even = row.len() > 1;
            for &term in row.iter().step_by(step) {
                let sort = self.nodes[term as usize].sort;
                flags |= sort & OPEN;
                even &= signature.leq(SortId(sort & SORT), plateau);
            }
            if even {
                return plateau.0 | flags | EVEN;
            }
        }
        let (sort, open) = self.sort_of_row(signature, symbol, row);
        sort.0 | if open { OPEN } else { 0 }
    }

    /// The sort that the declarations give to a row, and whether it has variables.
    fn sort_of_row(&self, signature: &Signature, symbol: SymbolId, row: &[u32]) -> (SortId, bool) {
        let mut open = 0;
        let mut sort_of = |term: u32| {
            let sort = self.nodes[term as usize].sort;
            open |= sort & OPEN;
            SortId(sort & SORT)
        };
        let sort = match self.layouts[symbol.0 as usize] {
            Theory::Free | Theory::Pair => {
                signature.least_sort(symbol, row.iter().map(|&term| sort_of(term)))
            }
            Theory::List => {
                let mut sort = sort_of(row[0]);
                for &term in &row[1..] {
                    sort = signature.least_sort(symbol, [sort, sort_of(term)].into_iter());
                }
                sort
            }
            Theory::Bag => {
                let pairs = row.as_chunks::<2>().0;
                let mut sort = sort_of(pairs[0][0]);
                for (at, &[term, times]) in pairs.iter().enumerate() {
                    let own = sort_of(term);
                    for _ in 0..times - u32::from(at == 0) {
                        let next = signature.least_sort(symbol, [sort, own].into_iter());
                        if next == sort {
                            break;
                        }
                        sort = next;
                    }
                }
                sort
            }
            Theory::Iter => {
                let mut sort = sort_of(row[0]);
                let mut left = if row.len() > 2 { u64::MAX } else { u64::from(row[1]) };
                while left > 0 {
                    let next = signature.least_sort(symbol, std::iter::once(sort));
                    left -= 1;
                    if next == sort {
                        break;
                    }
                    sort = next;
                    // Sorts can only alternate for as many steps as there are sorts.
                    if left > 4096 && left != u64::MAX {
                        continue;
                    }
                    if left == u64::MAX - 4096 {
                        break;
                    }
                }
                sort
            }
            Theory::Data => signature.least_sort(symbol, std::iter::empty()),
        };
        (sort, open != 0)
    }

    /// A list of more than two elements.
    fn made_list(&mut self, signature: &Signature, symbol: SymbolId, row: &[u32]) -> TermId {
        let sum = sum_of(row);
        let hash = hash_of_list(symbol.0, row.len(), sum);
        if let Some(known) = self.find(symbol.0, hash, |known| known == row) {
            return known;
        }
        let sort = self.sort_and_flags(signature, symbol, row);
        let start = self.elements.len() as u32;
        self.added += row.len();
        self.elements.extend_from_slice(row);
        self.add_list(symbol.0, Stretch { start, sum }, row.len(), sort, hash)
    }

    /// How many elements a term has as a list.
    #[inline]
    pub fn count(&self, signature: &Signature, symbol: SymbolId, list: TermId) -> usize {
        let node = &self.nodes[list.0 as usize];
        if node.symbol == symbol.0 {
            return self.row_of(node).len();
        }
        usize::from(signature.symbol(symbol).identity() != Some(list))
    }

    /// An element of a term as a list.
    #[inline]
    pub fn element(&self, symbol: SymbolId, list: TermId, at: usize) -> TermId {
        let node = &self.nodes[list.0 as usize];
        if node.symbol == symbol.0 { TermId(self.row_of(node)[at]) } else { list }
    }

    /// Some neighbouring elements of a list, as a term: the list may be any term, which then is its only element. It takes
    /// time for what is left out or for what is taken, whichever is less.
    pub fn part(
        &mut self,
        signature: &Signature,
        symbol: SymbolId,
        list: TermId,
        from: usize,
        to: usize,
    ) -> TermId {
        let node = self.nodes[list.0 as usize];
        if node.symbol != symbol.0 {
            return if to > from { list } else { self.no_elements(signature, symbol) };
        }
        let row = self.row_of(&node);
        match to - from {
            0 => return self.no_elements(signature, symbol),
            1 => return TermId(row[from]),
            2 => {
                let pair = [row[from], row[from + 1]];
                return self.made(signature, symbol, &pair);
            }
            all if all == row.len() => return list,
            _ => {}
        }
        let whole = self.stretches[node.data[0] as usize];
        let part = &row[from..to];
        let sum = if part.len() < row.len() / 2 {
            sum_of(part)
        } else {
            let last = sum_of(&row[to..]).wrapping_mul(power(to));
            row[..from].iter().fold(whole.sum.wrapping_sub(last), |sum, &element| {
                sum.wrapping_sub(scramble(element)).wrapping_mul(INVERSE)
            })
        };
        let start = whole.start + from as u32;
        let hash = hash_of_list(symbol.0, part.len(), sum);
        let same = |known: &[u32]| std::ptr::eq(known, part) || known == part;
        if let Some(known) = self.find(symbol.0, hash, same) {
            return known;
        }
        let plateau = signature.symbol(symbol).plateau;
        let sort = match (node.sort & (EVEN | OPEN), plateau) {
            (EVEN, Some(plateau)) => plateau.0 | EVEN,
            _ => self.sort_and_flags(signature, symbol, part),
        };
        let length = part.len();
        self.add_list(symbol.0, Stretch { start, sum }, length, sort, hash)
    }

    /// What is left where no element is.
    fn no_elements(&self, signature: &Signature, symbol: SymbolId) -> TermId {
        signature.symbol(symbol).identity().expect("only identities disappear")
    }

    /// A list of the elements of one term and then those of another; neither is an identity. Where there is room beside
    /// the longer one, its elements are not copied.
    fn join(&mut self, signature: &Signature, symbol: SymbolId, one: TermId, two: TermId) -> TermId {
        let (a, b) = (self.nodes[one.0 as usize], self.nodes[two.0 as usize]);
        let only = [[one.0], [two.0]];
        let row_a = if a.symbol == symbol.0 { self.row_of(&a) } else { &only[0] };
        let row_b = if b.symbol == symbol.0 { self.row_of(&b) } else { &only[1] };
        let (count_a, count_b) = (row_a.len(), row_b.len());
        if count_a + count_b == 2 {
            return self.made(signature, symbol, &[one.0, two.0]);
        }
        let sum = |node: &Node, row: &[u32]| match node.sort >> STORAGE {
            STRETCH if row.len() > 2 => self.stretches[node.data[0] as usize].sum,
            _ => sum_of(row),
        };
        let sum = sum(&a, row_a).wrapping_add(sum(&b, row_b).wrapping_mul(power(count_a)));
        let hash = hash_of_list(symbol.0, count_a + count_b, sum);
        let same = |known: &[u32]| {
            let (first, second) = known.split_at(count_a.min(known.len()));
            let beside = |one: &[u32], two: &[u32]| std::ptr::eq(one, two) || one == two;
            beside(first, row_a) && beside(second, row_b)
        };
        if let Some(known) = self.find(symbol.0, hash, same) {
            return known;
        }
        let plateau = signature.symbol(symbol).plateau;
        let is_even = |node: &Node| {
            let own = SortId(node.sort & SORT);
            match node.symbol == symbol.0 {
                true => node.sort & EVEN != 0,
                false => plateau.is_some_and(|plateau| signature.leq(own, plateau)),
            }
        };
        let known_sort = match plateau {
            Some(plateau) if is_even(&a) && is_even(&b) => Some(plateau.0 | EVEN | (a.sort | b.sort) & OPEN),
            _ => None,
        };
        let piece = |node: &Node, row: &[u32]| match *row {
            [one] => Piece::Here([one, 0], 1),
            [one, two] => Piece::Here([one, two], 2),
            _ => Piece::There(self.stretches[node.data[0] as usize].start as usize, row.len()),
        };
        let (piece_a, piece_b) = (piece(&a, row_a), piece(&b, row_b));
        let start = self.place(piece_a, piece_b);
        let length = count_a + count_b;
        let sort = known_sort.unwrap_or_else(|| {
            self.sort_and_flags(signature, symbol, &self.elements[start as usize..][..length])
        });
        self.add_list(symbol.0, Stretch { start, sum }, length, sort, hash)
    }

    /// Puts elements beside each other, where one of them is if there is room; gives the place.
    fn place(&mut self, a: Piece, b: Piece) -> u32 {
        let (count_a, count_b) = (a.len(), b.len());
        let is_free = |place: &[u32]| place.iter().all(|&element| element == SLACK);
        if let Piece::There(start, _) = b
            && count_a <= count_b
            && start >= count_a
            && is_free(&self.elements[start - count_a..start])
        {
            self.write(a, start - count_a);
            return (start - count_a) as u32;
        }
        if let Piece::There(start, length) = a
            && count_b <= count_a
        {
            let end = start + length;
            let room = &self.elements[end..(end + count_b).min(self.elements.len())];
            if is_free(room) {
                let lacking = count_b - room.len();
                self.added += lacking;
                self.elements.resize(self.elements.len() + lacking, SLACK);
                self.write(b, end);
                return start as u32;
            }
        }
        // Room on the side where it has grown: the next ones are likely to come there.
        let (before, after) = match count_a.cmp(&count_b) {
            Ordering::Less => (count_b, 0),
            Ordering::Equal => (0, 0),
            Ordering::Greater => (0, count_a),
        };
        let start = self.elements.len() + before;
        self.added += count_a + count_b + before + after;
        self.elements.resize(start + count_a + count_b + after, SLACK);
        self.write(a, start);
        self.write(b, start + count_a);
        start as u32
    }

    fn write(&mut self, piece: Piece, at: usize) {
        match piece {
            Piece::Here(row, length) => self.elements[at..at + length].copy_from_slice(&row[..length]),
            Piece::There(start, length) => self.elements.copy_within(start..start + length, at),
        }
    }

    #[inline]
    fn find(&self, symbol: u32, hash: u32, same: impl Fn(&[u32]) -> bool) -> Option<TermId> {
        if self.table.is_empty() {
            return None;
        }
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let (known, entry) = self.table[at];
            if entry == 0 {
                return None;
            }
            if known == hash {
                let node = &self.nodes[entry as usize - 1];
                if node.symbol == symbol && same(self.row_of(node)) {
                    return Some(TermId(entry - 1));
                }
            }
            at = (at + 1) & mask;
        }
    }

    fn add(&mut self, symbol: u32, row: &[u32], sort: u32, key: Key) -> TermId {
        let (storage, data) = match *row {
            [] => (0, [0, 0]),
            [one] => (1, [one, 0]),
            [one, two] => (2, [one, two]),
            _ => {
                let start = self.rows.len() as u32;
                self.rows.extend_from_slice(row);
                self.added += row.len();
                (APART, [start, row.len() as u32])
            }
        };
        self.add_node(symbol, sort | storage << STORAGE, data, key)
    }

    fn add_list(&mut self, symbol: u32, stretch: Stretch, length: usize, sort: u32, hash: u32) -> TermId {
        let number = self.stretches.len() as u32;
        self.added += 4;
        self.stretches.push(stretch);
        self.add_node(symbol, sort | STRETCH << STORAGE, [number, length as u32], Key::Hash(hash))
    }

    fn add_node(&mut self, symbol: u32, sort: u32, data: [u32; 2], key: Key) -> TermId {
        let next_user = match key {
            Key::Newest(newest) => self.nodes[newest as usize].user,
            Key::Hash(_) => NOBODY,
        };
        let node = Node { symbol, sort, data, user: NOBODY, next_user };
        let number = match self.free.pop() {
            Some(number) => {
                self.nodes[number as usize] = node;
                number
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        };
        self.used += 1;
        self.added += 4;
        match key {
            Key::Newest(newest) => self.nodes[newest as usize].user = number,
            Key::Hash(hash) => self.add_to_table(hash, number),
        }
        TermId(number)
    }

    fn add_to_table(&mut self, hash: u32, number: u32) {
        if (self.tabled + 1) * 4 > self.table.len() * 3 {
            self.rehash((self.table.len() * 2).max(1024), |_| true);
        }
        self.tabled += 1;
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        while self.table[at].1 != 0 {
            at = (at + 1) & mask;
        }
        self.table[at] = (hash, number + 1);
    }

    /// The newest argument of a term that is not a list, bag or the like: few others have the same one, and it is likely
    /// to be in the cache.
    #[inline]
    fn newest(&self, symbol: u32, row: &[u32]) -> u32 {
        let plain =
            symbol & VARIABLE == 0 && matches!(self.layouts[symbol as usize], Theory::Free | Theory::Pair);
        if plain { newest_of(row) } else { NOBODY }
    }

    /// Looks for a term among those that have the same newest argument; if it is not there, how many there are.
    #[inline]
    fn find_user(&self, symbol: u32, row: &[u32], newest: u32) -> Result<TermId, usize> {
        let mut at = self.nodes[newest as usize].user;
        let mut count = 0;
        while at != NOBODY {
            let node = &self.nodes[at as usize];
            if node.symbol == symbol {
                let same = match (node.sort >> STORAGE, row) {
                    (1, &[one]) => node.data[0] == one,
                    (2, &[one, two]) => node.data == [one, two],
                    _ => self.row_of(node) == row,
                };
                if same {
                    return Ok(TermId(at));
                }
            }
            at = node.next_user;
            count += 1;
        }
        Err(count)
    }

    fn intern(&mut self, symbol: u32, row: &[u32], sort: u32) -> TermId {
        let hash = hash_of(symbol, row);
        match self.find(symbol, hash, |known| known == row) {
            Some(known) => known,
            None => self.add(symbol, row, sort, Key::Hash(hash)),
        }
    }

    /// Makes the table anew with the terms that are to stay.
    fn rehash(&mut self, size: usize, stays: impl Fn(&Node) -> bool) {
        let old = std::mem::replace(&mut self.table, vec![(0, 0); size]);
        self.tabled = 0;
        let mask = size - 1;
        for (hash, entry) in old {
            if entry == 0 {
                continue;
            }
            let node = &self.nodes[entry as usize - 1];
            if stays(node) {
                self.tabled += 1;
                let mut at = hash as usize & mask;
                while self.table[at].1 != 0 {
                    at = (at + 1) & mask;
                }
                self.table[at] = (hash, entry);
            }
        }
    }

    /// An application, in the form that the laws of the operator ask for.
    pub fn make(&mut self, signature: &Signature, symbol: SymbolId, arguments: &[TermId]) -> TermId {
        let data = signature.symbol(symbol);
        match data.theory {
            Theory::Free | Theory::Data => {
                let mut row = std::mem::take(&mut self.scratch);
                row.clear();
                row.extend(arguments.iter().map(|argument| argument.0));
                let made = self.made(signature, symbol, &row);
                self.scratch = row;
                made
            }
            Theory::Pair | Theory::List if self.as_written => {
                let row: Vec<u32> = arguments.iter().map(|argument| argument.0).collect();
                self.made(signature, symbol, &row)
            }
            Theory::Bag if self.as_written => {
                let row: Vec<u32> = arguments.iter().flat_map(|argument| [argument.0, 1]).collect();
                self.made(signature, symbol, &row)
            }
            Theory::Pair => {
                let &[mut one, mut two] = arguments else { unreachable!("two arguments") };
                if data.left_identity == Some(one) {
                    return two;
                }
                if data.right_identity == Some(two) {
                    return one;
                }
                if data.idem && one == two {
                    return one;
                }
                if data.comm && self.compare(one, two) == Ordering::Greater {
                    (one, two) = (two, one);
                }
                self.made(signature, symbol, &[one.0, two.0])
            }
            Theory::List => {
                // The usual laws: both sides have the same identity, or none.
                if data.left_identity == data.right_identity {
                    let is_identity = |term: TermId| data.left_identity == Some(term);
                    let mut whole = None;
                    for &argument in arguments.iter().rev() {
                        whole = match whole {
                            None => Some(argument),
                            Some(rest) if is_identity(argument) => Some(rest),
                            Some(rest) if is_identity(rest) => Some(argument),
                            Some(rest) => Some(self.join(signature, symbol, argument, rest)),
                        };
                    }
                    return whole.unwrap_or_else(|| self.no_elements(signature, symbol));
                }
                let mut row = std::mem::take(&mut self.scratch);
                row.clear();
                for &argument in arguments {
                    self.append(symbol, argument, &mut row);
                }
                let made = self.make_list(signature, symbol, &mut row);
                self.scratch = row;
                made
            }
            Theory::Bag => {
                let mut parts = std::mem::take(&mut self.work);
                parts.clear();
                // Most bags are made from one that is sorted and a few elements, which find their places in it.
                let largest = arguments
                    .iter()
                    .copied()
                    .max_by_key(
                        |&argument| if self.has_top(argument, symbol) { self.row(argument).len() } else { 0 },
                    )
                    .filter(|&argument| self.has_top(argument, symbol));
                let identity = data.identity();
                let made = match largest {
                    None => {
                        for &argument in arguments {
                            self.spread(symbol, argument, 1, &mut parts);
                        }
                        self.make_bag(signature, symbol, &mut parts)
                    }
                    Some(largest) => {
                        self.spread(symbol, largest, 1, &mut parts);
                        let mut skipped = false;
                        for &argument in arguments {
                            if argument == largest && !skipped {
                                skipped = true;
                                continue;
                            }
                            self.insert_into(symbol, identity, argument, &mut parts);
                        }
                        self.made_bag(signature, symbol, &parts)
                    }
                };
                self.work = parts;
                made
            }
            Theory::Iter => self.make_iter(signature, symbol, &BigUint::from(1u32), arguments[0]),
        }
    }

    /// Appends the elements of a term to those of a list.
    pub fn append(&self, symbol: SymbolId, term: TermId, row: &mut Vec<u32>) {
        match self.has_top(term, symbol) {
            true => row.extend_from_slice(self.row(term)),
            false => row.push(term.0),
        }
    }

    /// A list of elements, which may be identities.
    pub fn make_list(&mut self, signature: &Signature, symbol: SymbolId, row: &mut Vec<u32>) -> TermId {
        let data = signature.symbol(symbol);
        if let (Some(left), Some(right)) = (data.left_identity, data.right_identity) {
            if left == right && row.contains(&left.0) {
                row.retain(|&term| term != left.0);
            }
        } else if let Some(left) = data.left_identity {
            // Only what has something on its right disappears.
            let last = row.pop();
            row.retain(|&term| term != left.0);
            row.extend(last);
        } else if let Some(right) = data.right_identity {
            let first = row.first().copied();
            let mut at = 0;
            row.retain(|&term| {
                at += 1;
                at == 1 || term != right.0
            });
            debug_assert_eq!(first, row.first().copied());
        }
        match row[..] {
            [] => data.identity().expect("only identities disappear"),
            [only] => TermId(only),
            _ => self.made(signature, symbol, row),
        }
    }

    /// Adds the elements of a term to those of a bag.
    pub fn spread(&self, symbol: SymbolId, term: TermId, times: u32, parts: &mut Vec<(TermId, u32)>) {
        match self.has_top(term, symbol) {
            true => {
                let pairs = self.row(term).as_chunks::<2>().0;
                parts.extend(pairs.iter().map(|pair| (TermId(pair[0]), pair[1] * times)));
            }
            false => parts.push((term, times)),
        }
    }

    /// The bag of sorted elements and of those of some more terms.
    pub fn made_bag_with(
        &mut self,
        signature: &Signature,
        symbol: SymbolId,
        parts: &mut Vec<(TermId, u32)>,
        others: &[TermId],
    ) -> TermId {
        let identity = signature.symbol(symbol).identity();
        for &other in others {
            self.insert_into(symbol, identity, other, parts);
        }
        self.made_bag(signature, symbol, parts)
    }

    /// Adds the elements of a term to those of a bag, which are sorted and stay so.
    fn insert_into(
        &self,
        symbol: SymbolId,
        identity: Option<TermId>,
        term: TermId,
        parts: &mut Vec<(TermId, u32)>,
    ) {
        let mut insert = |term: TermId, times: u32| {
            let at = parts.partition_point(|part| self.compare(part.0, term) == Ordering::Less);
            match parts.get_mut(at) {
                Some(part) if part.0 == term => part.1 += times,
                _ => parts.insert(at, (term, times)),
            }
        };
        if self.has_top(term, symbol) {
            self.row(term).as_chunks::<2>().0.iter().for_each(|pair| insert(TermId(pair[0]), pair[1]));
        } else if Some(term) != identity {
            insert(term, 1);
        }
    }

    /// A bag of elements, which may be identities, in any order.
    pub fn make_bag(
        &mut self,
        signature: &Signature,
        symbol: SymbolId,
        parts: &mut Vec<(TermId, u32)>,
    ) -> TermId {
        let identity = signature.symbol(symbol).identity();
        if let Some(identity) = identity {
            parts.retain(|&(term, _)| term != identity);
        }
        // Most bags are made from one that is sorted and a few elements: insertion is best for those.
        if parts.len() > 1 && !parts.is_sorted_by(|a, b| self.compare(a.0, b.0) == Ordering::Less) {
            parts.sort_by(|a, b| self.compare(a.0, b.0));
            let mut kept = 0;
            for at in 1..parts.len() {
                if parts[at].0 == parts[kept].0 {
                    parts[kept].1 += parts[at].1;
                } else {
                    kept += 1;
                    parts[kept] = parts[at];
                }
            }
            parts.truncate(kept + 1);
        }
        self.made_bag(signature, symbol, parts)
    }

    /// A bag of elements that are sorted, each different from the others, and none of them an identity.
    pub fn made_bag(&mut self, signature: &Signature, symbol: SymbolId, parts: &[(TermId, u32)]) -> TermId {
        match parts[..] {
            [] => signature.symbol(symbol).identity().expect("only identities disappear"),
            [(only, 1)] => only,
            _ => {
                let mut row = std::mem::take(&mut self.scratch);
                row.clear();
                row.extend(parts.iter().flat_map(|&(term, times)| [term.0, times]));
                let made = self.made(signature, symbol, &row);
                self.scratch = row;
                made
            }
        }
    }

    /// An operator repeated so many times.
    pub fn make_iter(
        &mut self,
        signature: &Signature,
        symbol: SymbolId,
        times: &BigUint,
        term: TermId,
    ) -> TermId {
        let (mut base, mut count) = (term, times.clone());
        if self.has_top(term, symbol) && !self.as_written {
            base = TermId(self.row(term)[0]);
            count += BigUint::from_slice(&self.row(term)[1..]);
        }
        let digits = count.to_u32_digits();
        if digits.is_empty() {
            return base;
        }
        if let [digit] = digits[..] {
            return self.made(signature, symbol, &[base.0, digit]);
        }
        let row: Vec<u32> = std::iter::once(base.0).chain(digits).collect();
        self.made(signature, symbol, &row)
    }

    /// How often an iterated operator stands at the top, and what is below.
    pub fn iterations(&self, term: TermId) -> (BigUint, TermId) {
        let row = self.row(term);
        (BigUint::from_slice(&row[1..]), TermId(row[0]))
    }

    /// The order of terms: operators with fewer arguments first, then those declared first, then arguments.
    pub fn compare(&self, one: TermId, two: TermId) -> Ordering {
        self.compare_at(one, two, 0)
    }

    /// The same, so deep inside of terms.
    fn compare_at(&self, one: TermId, two: TermId, depth: u32) -> Ordering {
        if one == two {
            return Ordering::Equal;
        }
        if depth & 63 == 63 {
            return stacker::maybe_grow(64 << 10, 1 << 20, || self.compare_at(one, two, depth + 1));
        }
        let (a, b) = (self.nodes[one.0 as usize], self.nodes[two.0 as usize]);
        if a.symbol != b.symbol {
            return self.rank(&a).cmp(&self.rank(&b));
        }
        let (row_a, row_b) = (self.row(one), self.row(two));
        if a.symbol & VARIABLE != 0 {
            return Name::from_number(row_a[0]).text().cmp(Name::from_number(row_b[0]).text());
        }
        match self.layouts[a.symbol as usize] {
            Theory::Free | Theory::Pair => self.compare_rows(row_a, row_b, depth),
            Theory::List => {
                row_a.len().cmp(&row_b.len()).then_with(|| self.compare_rows(row_a, row_b, depth))
            }
            Theory::Bag => row_a.len().cmp(&row_b.len()).then_with(|| {
                let pairs = row_a.as_chunks::<2>().0.iter().zip(row_b.as_chunks::<2>().0);
                for (a, b) in pairs {
                    let order = a[1].cmp(&b[1]);
                    let order = order.then_with(|| self.compare_at(TermId(a[0]), TermId(b[0]), depth + 1));
                    if order != Ordering::Equal {
                        return order;
                    }
                }
                Ordering::Equal
            }),
            Theory::Iter => {
                let order = row_a.len().cmp(&row_b.len());
                let order = order.then_with(|| row_a[1..].iter().rev().cmp(row_b[1..].iter().rev()));
                order.then_with(|| self.compare_at(TermId(row_a[0]), TermId(row_b[0]), depth + 1))
            }
            Theory::Data => self.compare_data(one, two),
        }
    }

    fn compare_rows(&self, a: &[u32], b: &[u32], depth: u32) -> Ordering {
        for (&a, &b) in a.iter().zip(b) {
            if a != b {
                let order = self.compare_at(TermId(a), TermId(b), depth + 1);
                if order != Ordering::Equal {
                    return order;
                }
            }
        }
        a.len().cmp(&b.len())
    }

    /// Data of one operator: numbers by value, texts by their characters.
    fn compare_data(&self, one: TermId, two: TermId) -> Ordering {
        match self.row(one)[0] {
            FLOAT => self.float_value(one).total_cmp(&self.float_value(two)),
            QUOTED => self.quoted_name(one).text().cmp(self.quoted_name(two).text()),
            _ => self.string_text(one).cmp(&self.string_text(two)),
        }
    }

    fn rank(&self, node: &Node) -> (usize, u32) {
        if node.symbol & VARIABLE != 0 {
            return (0, node.symbol);
        }
        let arity = match self.layouts[node.symbol as usize] {
            Theory::Free => self.row_of(node).len(),
            Theory::Pair | Theory::List | Theory::Bag => 2,
            Theory::Iter => 1,
            Theory::Data => 0,
        };
        (arity, node.symbol)
    }

    /// Forgets all terms but those below `kept` and those that can be reached from `roots`.
    pub fn collect(&mut self, kept: usize, roots: impl Iterator<Item = TermId>) {
        let mut todo: Vec<TermId> = Vec::new();
        // Up to where the elements from one on have been visited: lists share them.
        let mut visited: Vec<u32> = vec![0; self.elements.len()];
        for number in 0..kept {
            mark(&mut self.nodes, number as u32, &mut todo);
        }
        for root in roots.filter(|&root| root < TermId::LATER) {
            mark(&mut self.nodes, root.0, &mut todo);
        }
        while let Some(term) = todo.pop() {
            let node = self.nodes[term.0 as usize];
            if node.symbol & VARIABLE != 0 {
                continue;
            }
            if node.sort >> STORAGE == STRETCH {
                let mut at = self.stretches[node.data[0] as usize].start;
                let end = at + node.data[1];
                while at < end {
                    let seen = &mut visited[at as usize];
                    if *seen == 0 {
                        *seen = end;
                        mark(&mut self.nodes, self.elements[at as usize], &mut todo);
                        at += 1;
                    } else {
                        at = (*seen).min(end);
                    }
                }
                continue;
            }
            let row = match node.sort >> STORAGE {
                APART => &self.rows[node.data[0] as usize..][..node.data[1] as usize],
                length => &node.data[..length as usize],
            };
            let step = match self.layouts[node.symbol as usize] {
                Theory::Free | Theory::Pair | Theory::List => 1,
                Theory::Bag => 2,
                Theory::Iter => {
                    mark(&mut self.nodes, row[0], &mut todo);
                    continue;
                }
                Theory::Data => continue,
            };
            for &argument in row.iter().step_by(step) {
                mark(&mut self.nodes, argument, &mut todo);
            }
        }
        self.sweep(visited);
    }

    /// Frees what is not marked, and moves rows together. `visited` says which elements of lists are in use.
    fn sweep(&mut self, visited: Vec<u32>) {
        let places = self.move_elements(visited);
        let mut rows = Vec::with_capacity(self.rows.len() / 2);
        let mut stretches = Vec::with_capacity(self.stretches.len() / 2);
        self.free.clear();
        self.used = 0;
        for (number, node) in self.nodes.iter_mut().enumerate() {
            if node.sort & MARKED == 0 {
                (node.sort, node.data, node.user) = (FREE, [0, 0], NOBODY);
                self.free.push(number as u32);
                continue;
            }
            self.used += 1;
            match node.sort >> STORAGE {
                APART => {
                    let start = rows.len() as u32;
                    rows.extend_from_slice(&self.rows[node.data[0] as usize..][..node.data[1] as usize]);
                    node.data[0] = start;
                }
                STRETCH => {
                    let Stretch { start, sum } = self.stretches[node.data[0] as usize];
                    node.data[0] = stretches.len() as u32;
                    stretches.push(Stretch { start: places[start as usize], sum });
                }
                _ => {}
            }
        }
        self.forget_users();
        // Small numbers are given out first.
        self.free.reverse();
        (self.rows, self.stretches) = (rows, stretches);
        let stay = self
            .table
            .iter()
            .filter(|(_, entry)| *entry != 0 && self.nodes[*entry as usize - 1].sort & MARKED != 0);
        let size = (stay.count() * 2).max(1024).next_power_of_two();
        self.rehash(size, |node| node.sort & MARKED != 0);
        self.nodes.iter_mut().for_each(|node| node.sort &= !MARKED);
        self.added = 0;
    }

    /// Leaves out those that are not marked from the users of arguments.
    fn forget_users(&mut self) {
        for number in 0..self.nodes.len() {
            let mut user = self.nodes[number].user;
            let mut last = NOBODY;
            self.nodes[number].user = NOBODY;
            while user != NOBODY {
                let next = self.nodes[user as usize].next_user;
                if self.nodes[user as usize].sort & MARKED != 0 {
                    self.nodes[user as usize].next_user = NOBODY;
                    match last {
                        NOBODY => self.nodes[number].user = user,
                        last => self.nodes[last as usize].next_user = user,
                    }
                    last = user;
                }
                user = next;
            }
        }
    }

    /// Moves elements of lists together, with some room where there was some; where each of them is now.
    fn move_elements(&mut self, mut places: Vec<u32>) -> Vec<u32> {
        let mut moved: Vec<u32> = Vec::with_capacity(self.elements.len() / 2);
        let mut at = 0;
        while at < places.len() {
            let from = at;
            while at < places.len() && self.elements[at] == SLACK {
                at += 1;
            }
            let room = at - from;
            let start = at;
            while at < places.len() && places[at] != 0 {
                at += 1;
            }
            let length = at - start;
            if length == 0 {
                at = at.max(from + 1);
                continue;
            }
            moved.resize(moved.len() + room.min(length), SLACK);
            for (place, &element) in places[start..at].iter_mut().zip(&self.elements[start..at]) {
                *place = moved.len() as u32;
                moved.push(element);
            }
            let behind = self.elements[at..].iter().take(length).take_while(|&&element| element == SLACK);
            let behind = behind.count();
            moved.resize(moved.len() + behind, SLACK);
        }
        self.elements = moved;
        places
    }
}

/// The newest of a few arguments.
#[inline]
fn newest_of(row: &[u32]) -> u32 {
    if row.len() > 4 { NOBODY } else { row.iter().copied().max().unwrap_or(NOBODY) }
}

fn mark(nodes: &mut [Node], term: u32, todo: &mut Vec<TermId>) {
    let node = &mut nodes[term as usize];
    if node.sort & MARKED == 0 {
        node.sort |= MARKED;
        todo.push(TermId(term));
    }
}
