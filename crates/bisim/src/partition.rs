//! A partition of the states into blocks that can be split, where the largest part keeps its number.
//!
//! Keeping the number of the largest part is what makes refinement `O(m log n)`: whenever a state gets a new
//! block number, its block has at most half the size of the one before, so this happens to a state at most
//! `log n` times (Hopcroft 1971). 12 bytes a state and 8 a block.

/// Blocks are numbered from 0 and never disappear.
pub(crate) struct Partition {
    /// The states, block by block.
    elements: Vec<u32>,
    /// Where each state is in `elements`.
    position: Vec<u32>,
    block_of: Vec<u32>,
    /// The first element of each block and one past the last.
    ranges: Vec<(u32, u32)>,
}

impl Partition {
    /// Stands for the block of an empty part.
    pub(crate) const NO_BLOCK: u32 = u32::MAX;

    /// All states in block 0.
    pub(crate) fn new(states: usize) -> Self {
        let all: Vec<u32> = (0..states as u32).collect();
        Self {
            position: all.clone(),
            elements: all,
            block_of: vec![0; states],
            ranges: vec![(0, states as u32)],
        }
    }

    pub(crate) fn block_count(&self) -> usize {
        self.ranges.len()
    }

    /// The block of every state.
    pub(crate) fn blocks(&self) -> &[u32] {
        &self.block_of
    }

    #[inline]
    pub(crate) fn block(&self, state: u32) -> u32 {
        self.block_of[state as usize]
    }

    #[inline]
    pub(crate) fn size(&self, block: u32) -> usize {
        let (start, end) = self.ranges[block as usize];
        (end - start) as usize
    }

    pub(crate) fn members(&self, block: u32) -> &[u32] {
        let (start, end) = self.ranges[block as usize];
        &self.elements[start as usize..end as usize]
    }

    /// Whether the state shares its block with others: alone it can never be split off again.
    #[inline]
    pub(crate) fn has_company(&self, state: u32) -> bool {
        self.size(self.block(state)) > 1
    }

    /// Splits `block` into the given `groups` of its members (disjoint, none empty) and the rest, which may
    /// be empty. The largest part keeps the number. Reports the block of each group, and last that of the
    /// rest, and appends to `moved` all states with a new block number.
    pub(crate) fn split<'a>(
        &mut self,
        block: u32,
        groups: impl ExactSizeIterator<Item = &'a [u32]>,
        moved: &mut Vec<u32>,
    ) -> Vec<u32> {
        let (start, end) = self.ranges[block as usize];
        let mut parts = Vec::with_capacity(groups.len() + 1);
        let mut tail = end;
        for group in groups {
            let group_end = tail;
            for &state in group {
                tail -= 1;
                self.swap_to(state, tail);
            }
            parts.push((tail, group_end));
        }
        parts.push((start, tail));
        // The last of the largest parts: the rest wins a tie, and nothing about it has to be touched.
        let largest = (0..parts.len()).max_by_key(|&part| parts[part].1 - parts[part].0).unwrap_or(0);
        let mut numbers = Vec::with_capacity(parts.len());
        for (part, &range) in parts.iter().enumerate() {
            if part == largest {
                self.ranges[block as usize] = range;
                numbers.push(block);
            } else if range.0 == range.1 {
                numbers.push(Self::NO_BLOCK);
            } else {
                let number = self.ranges.len() as u32;
                self.ranges.push(range);
                numbers.push(number);
                for at in range.0..range.1 {
                    let state = self.elements[at as usize];
                    self.block_of[state as usize] = number;
                    moved.push(state);
                }
            }
        }
        numbers
    }

    #[inline]
    fn swap_to(&mut self, state: u32, place: u32) {
        let from = self.position[state as usize];
        let other = self.elements[place as usize];
        self.elements[from as usize] = other;
        self.position[other as usize] = from;
        self.elements[place as usize] = state;
        self.position[state as usize] = place;
    }

    /// The block of every state, giving up the rest.
    pub(crate) fn into_blocks(self) -> Vec<u32> {
        self.block_of
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_part_keeps_the_number() {
        let mut partition = Partition::new(6);
        let mut moved = Vec::new();
        let groups: [&[u32]; 2] = [&[0, 1, 2], &[5]];
        let numbers = partition.split(0, groups.into_iter(), &mut moved);
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(partition.blocks(), [0, 0, 0, 2, 2, 1]);
        moved.sort_unstable();
        assert_eq!(moved, [3, 4, 5]);
        assert!(!partition.has_company(5) && partition.has_company(3));
    }
}
