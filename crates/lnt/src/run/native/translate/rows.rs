//! Lists and sets that are rows: what machine code does with them itself, and what it has helpers do.
//!
//! Rows with small numbers and drafts are read where they lie. A draft loses its first words, or gets one in front, by an entry
//! of its own in the table of drafts ([`crate::run::drafts`]); where that does not do, a helper makes the row.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_module::FuncId;

use model::rows::{FIRST_BITS, UNIT};

use super::super::Context;
use super::{Building, number_of, trusted};
use crate::compile::code::Op;
use crate::compile::types::{Kind, Representation, Storage};
use crate::run::drafts::{
    ADDRESS_BITS, COUNT, FIRST_DRAFT, MADE, MADE_FROM, MOST_DRAFTS, NEWEST, PLACE, STRIDE, WORDS,
};
use crate::run::edits::{Change, MOST_TAILS};
use crate::typed::{Builtin, TypeId};

/// Whether a list or set is a row.
pub(super) fn is_row(shape: &Representation) -> bool {
    shape.storage == Storage::Row && matches!(shape.kind, Kind::List { .. })
}

/// Whether a list or set is a row whose elements have one word.
fn is_narrow_row(shape: &Representation) -> bool {
    is_row(shape) && shape.element.words == 1
}

/// A draft that is to be added.
struct Entry {
    table: Value,
    /// How many drafts there are.
    count: Value,
    place: Value,
    words: Value,
    made: Value,
    from: Value,
}

/// Where a part of an entry lies, in bytes.
fn part(of: usize) -> i32 {
    (8 * of) as i32
}

impl Building<'_> {
    /// A predefined operation on rows, or another one whose result has one word.
    pub(super) fn applies_to_rows(&mut self, at: usize, number: u32) -> Option<bool> {
        let application = &self.compiled.code.applications[number as usize];
        let shape = |ty: TypeId| &self.compiled.types[ty.index()];
        let (operand, second) = (shape(application.operand), shape(application.second));
        let plain = |shape: &Representation| {
            is_row(shape) && matches!(shape.kind, Kind::List { sorted: false, set: false, .. })
        };
        // What is in any order is so backwards, too.
        let unsorted =
            |shape: &Representation| is_row(shape) && matches!(shape.kind, Kind::List { sorted: false, .. });
        // Sets whose elements are ordered as their words are.
        let ascending = |element: &Representation, set: &Representation| {
            element.lexical
                && is_row(set)
                && set.element.words == element.words()
                && matches!(set.kind, Kind::List { sorted: true, set: true, .. })
        };
        match application.operation {
            Builtin::Head if is_row(operand) => {
                let row = self.pop_draft()?;
                self.require_elements(row);
                self.push_head(row, operand.element.words);
            }
            Builtin::Tail if is_row(operand) => {
                let row = self.pop_draft()?;
                self.require_elements(row);
                self.push_tail(at, row, operand.element.words);
            }
            Builtin::IsEmpty if is_row(operand) => {
                // No draft is empty.
                let row = self.pop_draft()?;
                let empty = self.word(self.compiled.values.intern(&[]));
                self.push_comparison(IntCC::Equal, row, empty);
            }
            Builtin::Length if is_row(operand) => {
                let row = self.pop_draft()?;
                let mut length = self.row_length(row);
                if operand.element.words > 1 {
                    length = self.builder.ins().udiv_imm(length, i64::from(operand.element.words));
                }
                let number = self.builder.ins().uextend(types::I64, length);
                let (lower, upper, offset) = number_of(shape(application.result))?;
                self.push_number(number, lower, upper, offset);
            }
            Builtin::Cons | Builtin::Insert if plain(second) && operand.words() == 1 => {
                let (row, word) = (self.pop_draft()?, self.pop()?);
                self.push_cons(at, word, row);
            }
            Builtin::Cons | Builtin::Insert if plain(second) && operand.words() > 1 => {
                let row = self.pop_draft()?;
                let words = self.spill_words(operand.words())?;
                let count = self.word(operand.words());
                self.push_row(at, self.helpers.row_cons_wide, &[words, count, row]);
            }
            Builtin::Append if plain(second) && operand.words() == 1 => {
                let (row, word) = (self.pop_draft()?, self.pop()?);
                self.push_row(at, self.helpers.row_append, &[word, row]);
            }
            Builtin::Concatenate if plain(operand) && plain(second) => {
                let (second, first) = (self.pop_draft()?, self.pop_draft()?);
                self.push_row(at, self.helpers.row_concatenate, &[first, second]);
            }
            Builtin::Reverse if unsorted(operand) => {
                let (row, words) = (self.pop_draft()?, self.word(operand.element.words));
                self.push_row(at, self.helpers.row_reverse, &[row, words]);
            }
            Builtin::Member if self.is_known_member(at) => {
                self.pop_drafts(application.words)?;
                let yes = self.constant(1);
                self.stack.push(yes);
            }
            Builtin::Insert | Builtin::Cons | Builtin::Append if ascending(operand, second) => {
                self.change_in_order(at, self.helpers.row_insert, operand.words())?;
            }
            Builtin::Remove if ascending(operand, second) => {
                self.change_in_order(at, self.helpers.row_remove, operand.words())?;
            }
            Builtin::Member if ascending(operand, second) && operand.words() > 1 => {
                let row = self.pop_draft()?;
                let element = self.spill_words(operand.words())?;
                let count = self.word(operand.words());
                self.push_call(self.helpers.row_member_wide, &[element, count, row]);
            }
            Builtin::Member if is_narrow_row(second) => {
                let (row, word) = (self.pop_draft()?, self.pop()?);
                self.push_call(self.helpers.row_member, &[word, row]);
            }
            Builtin::Member if is_row(second) && second.element.words == operand.words() => {
                let row = self.pop_draft()?;
                let element = self.spill_words(operand.words())?;
                let count = self.word(operand.words());
                self.push_call(self.helpers.row_member_anywhere, &[element, count, row]);
            }
            Builtin::Access if is_row(operand) => {
                let (index, row) = (self.pop()?, self.pop_draft()?);
                // Elements are counted from 1.
                let index = self.number(index, number_of(second)?.2);
                let length = self.row_length(row);
                let stride = operand.element.words.max(1);
                let count = self.builder.ins().udiv_imm(length, i64::from(stride));
                let count = self.builder.ins().uextend(types::I64, count);
                let position = self.builder.ins().iadd_imm(index, -1);
                let is_inside = self.builder.ins().icmp(IntCC::UnsignedLessThan, position, count);
                self.require(is_inside);
                let first = self.builder.ins().imul_imm(position, i64::from(stride));
                let first = self.builder.ins().ireduce(types::I32, first);
                for word in 0..stride {
                    let position = self.builder.ins().iadd_imm(first, i64::from(word));
                    let word = self.row_word(row, position);
                    self.stack.push(word);
                }
            }
            Builtin::Cons | Builtin::Insert | Builtin::Append | Builtin::Remove
                if is_row(second) && second.element.words == operand.words() =>
            {
                let row = self.pop_draft()?;
                let mut operands = self.pop_many(operand.words())?;
                operands.push(row);
                self.change_rows(at, number, operands)?;
            }
            Builtin::Union | Builtin::Concatenate | Builtin::Intersection | Builtin::Difference
                if is_row(operand) && application.operand == application.second =>
            {
                let operands = self.pop_drafts(2)?;
                self.change_rows(at, number, operands)?;
            }
            Builtin::Delete if is_row(operand) && number_of(second).is_some() => {
                let (index, row) = (self.pop()?, self.pop_draft()?);
                self.change_rows(at, number, vec![row, index])?;
            }
            _ if application.narrow => {
                let words = self.spill_words(application.words)?;
                let (number, count) = (self.word(number), self.word(application.words));
                let status = self.call_helper(self.helpers.apply, &[number, words, count]);
                let good = self.builder.ins().icmp_imm(IntCC::Equal, status, 0);
                self.require(good);
                let value = self.builder.ins().load(types::I32, trusted(), words, 0);
                self.stack.push(value);
            }
            _ => return Some(false),
        }
        Some(true)
    }

    /// Whether the row that an instruction makes should be a draft: not if it is stored in the state at once.
    fn makes_draft(&self, at: usize) -> bool {
        match self.compiled.code.ops.get(at + 1) {
            Some(&Op::StoreSlot(slot)) => self.defers(slot),
            Some(Op::Done) => false,
            _ => true,
        }
    }

    /// Pushes the row that a helper makes. It is told last whether that may be a draft.
    fn push_row(&mut self, at: usize, helper: FuncId, arguments: &[Value]) {
        let is_draft = self.makes_draft(at);
        let mut all = arguments.to_vec();
        all.push(self.word(u32::from(is_draft)));
        let row = self.call_helper(helper, &all);
        match is_draft {
            true => self.push_draft(row),
            false => self.stack.push(row),
        }
    }

    /// Pushes the row that an operation makes of others, which may be drafts.
    fn change_rows(&mut self, at: usize, number: u32, operands: Vec<Value>) -> Option<()> {
        let (number, count) = (self.word(number), self.word(operands.len() as u32));
        let words = self.spill_values(operands);
        let is_draft = self.tells_draft(at);
        let told = self.word(is_draft);
        let status = self.call_helper(self.helpers.change_rows, &[number, words, count, told]);
        let good = self.builder.ins().icmp_imm(IntCC::Equal, status, 0);
        self.require(good);
        let row = self.builder.ins().load(types::I32, trusted(), words, 0);
        match is_draft {
            0 => self.stack.push(row),
            _ => self.push_draft(row),
        }
        Some(())
    }

    /// Pushes the row of the elements on top of the stack.
    pub(super) fn collect_row(&mut self, at: usize, ty: TypeId, count: u32) -> Option<()> {
        let words = count * self.compiled.types[ty.index()].element.words;
        if words == 0 {
            let empty = self.word(self.compiled.values.intern(&[]));
            self.stack.push(empty);
            return Some(());
        }
        let elements = self.spill_words(words)?;
        let is_draft = self.tells_draft(at);
        let (ty, words, told) = (self.word(ty.0), self.word(words), self.word(is_draft));
        let row = self.call_helper(self.helpers.collect_row, &[ty, elements, words, told]);
        match is_draft {
            0 => self.stack.push(row),
            _ => self.push_draft(row),
        }
        Some(())
    }

    /// Whether the row that an instruction makes should be a draft, as [`crate::run::values::Values::may_be_draft`] is told.
    fn tells_draft(&self, at: usize) -> u32 {
        match self.compiled.code.ops.get(at + 1) {
            Some(Op::StoreSlot(_)) if self.makes_draft(at) => 2,
            _ => u32::from(self.makes_draft(at)),
        }
    }

    /// Pushes the row that a helper makes of an element of some words and a row in ascending order.
    fn change_in_order(&mut self, at: usize, helper: FuncId, words: u32) -> Option<()> {
        let row = self.pop_draft()?;
        let element = self.spill_words(words)?;
        let count = self.word(words);
        let is_draft = self.tells_draft(at);
        let told = self.word(is_draft);
        let row = self.call_helper(helper, &[element, count, row, told]);
        match is_draft {
            0 => self.stack.push(row),
            _ => self.push_draft(row),
        }
        Some(())
    }

    /// Pushes a row without its first element of some words.
    pub(super) fn push_tail(&mut self, at: usize, row: Value, words: u32) {
        let words = words.max(1);
        let count = self.word(words);
        // What is stored at once is found by what it was before.
        if !self.makes_draft(at) || matches!(self.compiled.code.ops.get(at + 1), Some(Op::StoreSlot(_))) {
            return self.push_row(at, self.helpers.row_tail, &[row, count]);
        }
        let (ask, behind) = (self.builder.create_block(), self.builder.create_block());
        let result = self.builder.append_block_param(behind, types::I32);
        let entry = self.entry_without(row, words, behind, ask);
        let draft = self.add_entry(&entry);
        self.builder.ins().jump(behind, &[draft.into()]);
        self.builder.switch_to_block(ask);
        self.builder.set_cold_block(ask);
        let is_draft = self.constant(1);
        let draft = self.call_helper(self.helpers.row_tail, &[row, count, is_draft]);
        self.builder.ins().jump(behind, &[draft.into()]);
        self.builder.switch_to_block(behind);
        self.push_draft(result);
    }

    /// What a row without its first words is as a draft. Goes elsewhere if it is a known row, or if there is no telling or no room.
    fn entry_without(&mut self, row: Value, words: u32, known: Block, otherwise: Block) -> Entry {
        let (found, drafted, stored) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        let [place, old, made, from] = [(); 4].map(|()| self.builder.append_block_param(found, types::I64));
        let (table, count) = self.draft_table(otherwise);
        let nothing = self.builder.ins().iconst(types::I64, 0);
        let is_draft = self.is_draft(row);
        self.builder.ins().brif(is_draft, drafted, &[], stored, &[]);
        self.builder.switch_to_block(drafted);
        let entry = self.entry_address(table, row);
        let there = self.builder.ins().load(types::I64, trusted(), entry, part(PLACE));
        let own = self.builder.ins().load(types::I64, trusted(), entry, part(WORDS));
        self.builder.ins().jump(found, &[there.into(), own.into(), nothing.into(), nothing.into()]);
        // The end of a stored row, or a row that is stored itself.
        self.builder.switch_to_block(stored);
        if words == 1 {
            let (short, unknown) = (self.builder.create_block(), self.builder.create_block());
            let is_small = self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, row, MOST_TAILS as i64);
            self.builder.ins().brif(is_small, short, &[], unknown, &[]);
            self.builder.switch_to_block(short);
            let at = std::mem::offset_of!(Context, tails) as i32;
            let tails = self.builder.ins().load(self.pointer, trusted(), self.context, at);
            let address = self.element_address(tails, row);
            let tail = self.builder.ins().load(types::I32, trusted(), address, 0);
            let number = self.builder.ins().iadd_imm(tail, -1);
            self.builder.ins().brif(tail, known, &[number.into()], unknown, &[]);
            self.builder.switch_to_block(unknown);
        }
        let there = self.near_stored_row(row, otherwise);
        let number = self.builder.ins().uextend(types::I64, row);
        let marked = self.builder.ins().bor_imm(number, i64::from(FIRST_DRAFT));
        let own = self.builder.ins().ishl_imm(marked, 32);
        let tail = self.builder.ins().iconst(types::I64, Change::Tail as i64 + 1);
        let from_row = self.builder.ins().bor_imm(number, i64::from(words) << 32);
        self.builder.ins().jump(found, &[there.into(), own.into(), tail.into(), from_row.into()]);
        self.builder.switch_to_block(found);
        // One without any words is no draft.
        let length = self.builder.ins().ushr_imm(place, i64::from(ADDRESS_BITS));
        let is_long = self.builder.ins().icmp_imm(IntCC::UnsignedGreaterThan, length, i64::from(words));
        self.go_on_if(is_long, otherwise);
        let less = 4 * i64::from(words) - (i64::from(words) << ADDRESS_BITS);
        let place = self.builder.ins().iadd_imm(place, less);
        let words = self.builder.ins().iadd_imm(old, i64::from(words));
        Entry { table, count, place, words, made, from }
    }

    /// Pushes a row with a word in front.
    fn push_cons(&mut self, at: usize, word: Value, row: Value) {
        if !self.makes_draft(at) || !self.drafts.contains(&row) {
            return self.push_row(at, self.helpers.row_cons, &[word, row]);
        }
        let (ask, behind) = (self.builder.create_block(), self.builder.create_block());
        let result = self.builder.append_block_param(behind, types::I32);
        let is_draft = self.is_draft(row);
        self.go_on_if(is_draft, ask);
        let (table, count) = self.draft_table(ask);
        let entry = self.entry_address(table, row);
        let place = self.builder.ins().load(types::I64, trusted(), entry, part(PLACE));
        let own = self.builder.ins().load(types::I64, trusted(), entry, part(WORDS));
        // Its words have to be its own, the newest ones, not the first there is room for, and not too many.
        let newest = self.builder.ins().load(types::I64, trusted(), table, part(NEWEST));
        let first = self.builder.ins().band_imm(own, i64::from(u32::MAX));
        let is_newest = self.builder.ins().icmp(IntCC::Equal, first, newest);
        self.go_on_if(is_newest, ask);
        let is_own = self.builder.ins().icmp_imm(IntCC::SignedGreaterThanOrEqual, own, 0);
        self.go_on_if(is_own, ask);
        self.go_on_if(newest, ask);
        let length = self.builder.ins().ushr_imm(place, i64::from(ADDRESS_BITS));
        let shorter = self.builder.ins().iadd_imm(length, -1);
        let most = (1 << (64 - ADDRESS_BITS)) - 2;
        let fits = self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, shorter, most);
        self.go_on_if(fits, ask);
        let address = self.address_in(place);
        self.builder.ins().store(trusted(), word, address, -4);
        let newest = self.builder.ins().iadd_imm(newest, -1);
        self.builder.ins().store(trusted(), newest, table, part(NEWEST));
        let place = self.builder.ins().iadd_imm(place, (1 << ADDRESS_BITS) - 4);
        let words = self.builder.ins().iadd_imm(own, -1);
        let nothing = self.builder.ins().iconst(types::I64, 0);
        let draft = self.add_entry(&Entry { table, count, place, words, made: nothing, from: nothing });
        self.builder.ins().jump(behind, &[draft.into()]);
        self.builder.switch_to_block(ask);
        self.builder.set_cold_block(ask);
        let is_draft = self.constant(1);
        let draft = self.call_helper(self.helpers.row_cons, &[word, row, is_draft]);
        self.builder.ins().jump(behind, &[draft.into()]);
        self.builder.switch_to_block(behind);
        self.push_draft(result);
    }

    /// The table of drafts, and how many there are. Goes elsewhere if there is no room for another.
    fn draft_table(&mut self, otherwise: Block) -> (Value, Value) {
        let at = std::mem::offset_of!(Context, drafts) as i32;
        let table = self.builder.ins().load(self.pointer, trusted(), self.context, at);
        let count = self.builder.ins().load(types::I64, trusted(), table, part(COUNT));
        let is_room = self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, count, MOST_DRAFTS as i64);
        self.go_on_if(is_room, otherwise);
        (table, count)
    }

    /// Where the entry of a draft lies.
    fn entry_address(&mut self, table: Value, draft: Value) -> Value {
        let wide = self.builder.ins().uextend(types::I64, draft);
        // Without the bit that makes it a draft.
        let index = self.builder.ins().band_imm(wide, i64::from(u32::MAX >> 1));
        let bytes = self.builder.ins().imul_imm(index, 8 * STRIDE as i64);
        let first = self.builder.ins().iadd_imm(table, 8 * STRIDE as i64);
        self.builder.ins().iadd(first, bytes)
    }

    /// Adds a draft behind all others; gives its number.
    fn add_entry(&mut self, new: &Entry) -> Value {
        let number = self.builder.ins().ireduce(types::I32, new.count);
        let draft = self.builder.ins().bor_imm(number, i64::from(FIRST_DRAFT));
        let entry = self.entry_address(new.table, draft);
        for (value, at) in [(new.place, PLACE), (new.words, WORDS), (new.made, MADE), (new.from, MADE_FROM)] {
            self.builder.ins().store(trusted(), value, entry, part(at));
        }
        let more = self.builder.ins().iadd_imm(new.count, 1);
        self.builder.ins().store(trusted(), more, new.table, part(COUNT));
        draft
    }

    /// Goes elsewhere unless a condition holds.
    pub(super) fn go_on_if(&mut self, condition: Value, otherwise: Block) {
        let good = self.builder.create_block();
        self.builder.ins().brif(condition, good, &[], otherwise, &[]);
        self.builder.switch_to_block(good);
    }

    /// The address in a place.
    fn address_in(&mut self, place: Value) -> Value {
        let shifted = self.builder.ins().ishl_imm(place, i64::from(64 - ADDRESS_BITS));
        self.builder.ins().ushr_imm(shifted, i64::from(64 - ADDRESS_BITS))
    }

    /// Where a row lies and how long it is; of a draft 0 if that is not known. Goes to a block if there is no telling.
    fn near_row(&mut self, row: Value, otherwise: Block) -> Value {
        let found = self.builder.create_block();
        let place = self.builder.append_block_param(found, types::I64);
        if self.drafts.contains(&row) {
            let (draft, stored) = (self.builder.create_block(), self.builder.create_block());
            let is_draft = self.is_draft(row);
            self.builder.ins().brif(is_draft, draft, &[], stored, &[]);
            self.builder.switch_to_block(draft);
            let at = std::mem::offset_of!(Context, drafts) as i32;
            let table = self.builder.ins().load(self.pointer, trusted(), self.context, at);
            let entry = self.entry_address(table, row);
            let there = self.builder.ins().load(types::I64, trusted(), entry, part(PLACE));
            self.builder.ins().jump(found, &[there.into()]);
            self.builder.switch_to_block(stored);
        }
        let there = self.near_stored_row(row, otherwise);
        self.builder.ins().jump(found, &[there.into()]);
        self.builder.switch_to_block(found);
        place
    }

    /// The same of a row that is no draft.
    fn near_stored_row(&mut self, row: Value, otherwise: Block) -> Value {
        // Numbers above those of rows are of drafts.
        let is_stored = self.builder.ins().icmp_imm(IntCC::SignedGreaterThanOrEqual, row, 0);
        self.go_on_if(is_stored, otherwise);
        let row = self.builder.ins().uextend(types::I64, row);
        let counted = self.builder.ins().iadd_imm(row, 1 << FIRST_BITS);
        let zeros = self.builder.ins().clz(counted);
        let chunk = self.builder.ins().irsub_imm(zeros, i64::from(63 - FIRST_BITS));
        let at = std::mem::offset_of!(Context, chunks) as i32;
        let chunks = self.builder.ins().load(self.pointer, trusted(), self.context, at);
        let of_chunk = self.builder.ins().ishl_imm(chunk, 3);
        let address = self.builder.ins().iadd(chunks, of_chunk);
        let chunk = self.builder.ins().load(self.pointer, trusted(), address, 0);
        let bytes = self.builder.ins().ishl_imm(row, i64::from((4 * UNIT).ilog2()));
        let unit = self.builder.ins().iadd(chunk, bytes);
        // The length and 1, then the words.
        let header = self.builder.ins().load(types::I32, trusted(), unit, 0);
        let length = self.builder.ins().iadd_imm(header, -1);
        let is_short = self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, length, 1 << (64 - ADDRESS_BITS));
        self.go_on_if(is_short, otherwise);
        let length = self.builder.ins().uextend(types::I64, length);
        let above = self.builder.ins().ishl_imm(length, i64::from(ADDRESS_BITS));
        let words = self.builder.ins().iadd_imm(unit, 4);
        self.builder.ins().bor(above, words)
    }

    /// A row with the elements of another one in ascending order, each once.
    pub(super) fn in_ascending_order(&mut self, row: Value, words: u32) -> Option<Value> {
        let words = self.word(words);
        let row = self.call_helper(self.helpers.row_ascending, &[row, words]);
        self.push_draft(row);
        self.pop_draft()
    }

    /// Pushes the first words of a row.
    pub(super) fn push_head(&mut self, row: Value, words: u32) {
        for word in 0..words {
            let position = self.word(word);
            let word = self.row_word(row, position);
            self.stack.push(word);
        }
    }

    /// A word of a row: read where it lies, if that is known.
    pub(super) fn row_word(&mut self, row: Value, position: Value) -> Value {
        let behind = self.builder.create_block();
        let result = self.builder.append_block_param(behind, types::I32);
        let (read, ask) = (self.builder.create_block(), self.builder.create_block());
        let near = self.near_row(row, ask);
        let length = self.builder.ins().ushr_imm(near, i64::from(ADDRESS_BITS));
        let position_in_row = self.builder.ins().uextend(types::I64, position);
        let is_inside = self.builder.ins().icmp(IntCC::UnsignedLessThan, position_in_row, length);
        self.builder.ins().brif(is_inside, read, &[], ask, &[]);
        self.builder.switch_to_block(read);
        let address = self.address_in(near);
        let bytes = self.builder.ins().ishl_imm(position_in_row, 2);
        let address = self.builder.ins().iadd(address, bytes);
        let word = self.builder.ins().load(types::I32, trusted(), address, 0);
        self.builder.ins().jump(behind, &[word.into()]);
        self.builder.switch_to_block(ask);
        self.builder.set_cold_block(ask);
        let word = self.call_helper(self.helpers.component, &[row, position]);
        self.builder.ins().jump(behind, &[word.into()]);
        self.builder.switch_to_block(behind);
        result
    }

    /// How many words a row has.
    pub(super) fn row_length(&mut self, row: Value) -> Value {
        let behind = self.builder.create_block();
        let result = self.builder.append_block_param(behind, types::I32);
        // A row without words lies nowhere.
        let (filled, nothing) = (self.builder.create_block(), self.constant(0));
        let empty = self.word(self.compiled.values.intern(&[]));
        let is_empty = self.builder.ins().icmp(IntCC::Equal, row, empty);
        self.builder.ins().brif(is_empty, behind, &[nothing.into()], filled, &[]);
        self.builder.switch_to_block(filled);
        let (read, ask) = (self.builder.create_block(), self.builder.create_block());
        let near = self.near_row(row, ask);
        let length = self.builder.ins().ushr_imm(near, i64::from(ADDRESS_BITS));
        self.builder.ins().brif(length, read, &[], ask, &[]);
        self.builder.switch_to_block(read);
        let length = self.builder.ins().ireduce(types::I32, length);
        self.builder.ins().jump(behind, &[length.into()]);
        self.builder.switch_to_block(ask);
        self.builder.set_cold_block(ask);
        let length = self.call_helper(self.helpers.row_length, &[row]);
        self.builder.ins().jump(behind, &[length.into()]);
        self.builder.switch_to_block(behind);
        result
    }

    /// Gives up on a row without elements.
    pub(super) fn require_elements(&mut self, row: Value) {
        let empty = self.word(self.compiled.values.intern(&[]));
        let good = self.builder.ins().icmp(IntCC::NotEqual, row, empty);
        self.require(good);
    }
}
