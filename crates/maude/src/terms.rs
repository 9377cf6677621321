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
}

const VARIABLE: u32 = 1 << 31;
const SORT: u32 = (1 << 24) - 1;
const REDUCED: u32 = 1 << 24;
const OPEN: u32 = 1 << 25;
const MARKED: u32 = 1 << 26;
const FREE: u32 = 1 << 27;
/// What the rows of floating-point numbers and quoted identifiers begin with; those of strings begin with a length.
const FLOAT: u32 = u32::MAX;
const QUOTED: u32 = u32::MAX - 1;

#[derive(Clone, Copy, Debug)]
struct Node {
    symbol: u32,
    start: u32,
    len: u32,
    /// The sort, and flags.
    sort: u32,
    hash: u32,
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
    /// Hashes and numbers of nodes plus one, by their hashes; zero where there is none.
    table: Vec<(u32, u32)>,
    used: usize,
    free: Vec<u32>,
    /// Rows that nothing uses any more.
    garbage: usize,
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
            + (self.rows.capacity() + self.table.capacity() * 2 + self.free.capacity()) * 4
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
        let node = self.nodes[term.0 as usize];
        &self.rows[node.start as usize..(node.start + node.len) as usize]
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
        let hash = hash_of(symbol.0, row);
        if let Some(known) = self.find(symbol.0, row, hash) {
            return known;
        }
        let (sort, open) = self.sort_of_row(signature, symbol, row);
        self.add(symbol.0, row, sort.0 | if open { OPEN } else { 0 }, hash)
    }

    /// The sort that the declarations give to a row, and whether it has variables.
    pub fn sort_of_row(&self, signature: &Signature, symbol: SymbolId, row: &[u32]) -> (SortId, bool) {
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
            // The sort of data depends on the data, and was found when it was made.
            Theory::Data => match self.find(symbol.0, row, hash_of(symbol.0, row)) {
                Some(known) => self.sort(known),
                None => signature.least_sort(symbol, std::iter::empty()),
            },
        };
        (sort, open != 0)
    }

    #[inline]
    fn find(&self, symbol: u32, row: &[u32], hash: u32) -> Option<TermId> {
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
                let start = node.start as usize;
                if node.symbol == symbol
                    && node.len as usize == row.len()
                    && self.rows[start..start + row.len()] == *row
                {
                    return Some(TermId(entry - 1));
                }
            }
            at = (at + 1) & mask;
        }
    }

    fn add(&mut self, symbol: u32, row: &[u32], sort: u32, hash: u32) -> TermId {
        if (self.used + 1) * 4 > self.table.len() * 3 {
            self.rehash((self.table.len() * 2).max(1024));
        }
        let start = self.rows.len() as u32;
        self.rows.extend_from_slice(row);
        let node = Node { symbol, start, len: row.len() as u32, sort, hash };
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
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        while self.table[at].1 != 0 {
            at = (at + 1) & mask;
        }
        self.table[at] = (hash, number + 1);
        TermId(number)
    }

    fn intern(&mut self, symbol: u32, row: &[u32], sort: u32) -> TermId {
        let hash = hash_of(symbol, row);
        match self.find(symbol, row, hash) {
            Some(known) => known,
            None => self.add(symbol, row, sort, hash),
        }
    }

    fn rehash(&mut self, size: usize) {
        self.table.clear();
        self.table.resize(size, (0, 0));
        let mask = size - 1;
        for (number, node) in self.nodes.iter().enumerate() {
            if node.sort & FREE == 0 {
                let mut at = node.hash as usize & mask;
                while self.table[at].1 != 0 {
                    at = (at + 1) & mask;
                }
                self.table[at] = (node.hash, number as u32 + 1);
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
                            let mut others = Vec::new();
                            self.spread(symbol, argument, 1, &mut others);
                            for (term, times) in others {
                                if Some(term) == identity {
                                    continue;
                                }
                                let at = parts
                                    .partition_point(|part| self.compare(part.0, term) == Ordering::Less);
                                match parts.get_mut(at) {
                                    Some(part) if part.0 == term => part.1 += times,
                                    _ => parts.insert(at, (term, times)),
                                }
                            }
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
        if one == two {
            return Ordering::Equal;
        }
        let (a, b) = (self.nodes[one.0 as usize], self.nodes[two.0 as usize]);
        if a.symbol != b.symbol {
            return self.rank(a.symbol, a.len).cmp(&self.rank(b.symbol, b.len));
        }
        let (row_a, row_b) = (self.row(one), self.row(two));
        if a.symbol & VARIABLE != 0 {
            return Name::from_number(row_a[0]).text().cmp(Name::from_number(row_b[0]).text());
        }
        match self.layouts[a.symbol as usize] {
            Theory::Free | Theory::Pair => self.compare_rows(row_a, row_b),
            Theory::List => row_a.len().cmp(&row_b.len()).then_with(|| self.compare_rows(row_a, row_b)),
            Theory::Bag => row_a.len().cmp(&row_b.len()).then_with(|| {
                let pairs = row_a.as_chunks::<2>().0.iter().zip(row_b.as_chunks::<2>().0);
                for (a, b) in pairs {
                    let order = a[1].cmp(&b[1]).then_with(|| self.compare(TermId(a[0]), TermId(b[0])));
                    if order != Ordering::Equal {
                        return order;
                    }
                }
                Ordering::Equal
            }),
            Theory::Iter => {
                let order = row_a.len().cmp(&row_b.len());
                let order = order.then_with(|| row_a[1..].iter().rev().cmp(row_b[1..].iter().rev()));
                order.then_with(|| self.compare(TermId(row_a[0]), TermId(row_b[0])))
            }
            Theory::Data => self.compare_data(one, two),
        }
    }

    fn compare_rows(&self, a: &[u32], b: &[u32]) -> Ordering {
        for (&a, &b) in a.iter().zip(b) {
            if a != b {
                // Only this can go deep.
                let order = stacker::maybe_grow(32 << 10, 1 << 20, || self.compare(TermId(a), TermId(b)));
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

    fn rank(&self, symbol: u32, len: u32) -> (u32, u32) {
        if symbol & VARIABLE != 0 {
            return (0, symbol);
        }
        let arity = match self.layouts[symbol as usize] {
            Theory::Free => len,
            Theory::Pair | Theory::List | Theory::Bag => 2,
            Theory::Iter => 1,
            Theory::Data => 0,
        };
        (arity, symbol)
    }

    /// Forgets all terms but those below `kept` and those that can be reached from `roots`.
    pub fn collect(&mut self, kept: usize, roots: impl Iterator<Item = TermId>) {
        let mut todo: Vec<TermId> = Vec::new();
        let mark = |nodes: &mut [Node], term: TermId, todo: &mut Vec<TermId>| {
            if term != TermId::NONE {
                let node = &mut nodes[term.0 as usize];
                if node.sort & MARKED == 0 {
                    node.sort |= MARKED;
                    todo.push(term);
                }
            }
        };
        for number in 0..kept {
            mark(&mut self.nodes, TermId(number as u32), &mut todo);
        }
        for root in roots {
            mark(&mut self.nodes, root, &mut todo);
        }
        while let Some(term) = todo.pop() {
            let node = self.nodes[term.0 as usize];
            if node.symbol & VARIABLE != 0 {
                continue;
            }
            let row = &self.rows[node.start as usize..(node.start + node.len) as usize];
            let step = match self.layouts[node.symbol as usize] {
                Theory::Free | Theory::Pair | Theory::List => 1,
                Theory::Bag => 2,
                Theory::Iter => {
                    mark(&mut self.nodes, TermId(row[0]), &mut todo);
                    continue;
                }
                Theory::Data => continue,
            };
            for &argument in row.iter().step_by(step) {
                mark(&mut self.nodes, TermId(argument), &mut todo);
            }
        }
        let mut rows = Vec::with_capacity(self.rows.len() / 2);
        self.free.clear();
        self.used = 0;
        for number in (0..self.nodes.len()).rev() {
            let node = &mut self.nodes[number];
            if node.sort & MARKED == 0 {
                node.sort = FREE;
                (node.start, node.len) = (0, 0);
                self.free.push(number as u32);
            }
        }
        for node in &mut self.nodes {
            if node.sort & MARKED != 0 {
                node.sort &= !MARKED;
                let start = rows.len() as u32;
                rows.extend_from_slice(&self.rows[node.start as usize..(node.start + node.len) as usize]);
                node.start = start;
                self.used += 1;
            }
        }
        self.rows = rows;
        self.garbage = 0;
        self.rehash(((self.used * 2).max(1024)).next_power_of_two());
    }
}
