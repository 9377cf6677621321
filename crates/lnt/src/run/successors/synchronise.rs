//! Offers meet: those of a fork's children on the gates that it synchronises.

use super::{Concerned, LntWorker, OPEN, Offer};

impl LntWorker<'_> {
    /// Replaces the children's offers on synchronised gates by their combinations.
    pub(super) fn synchronise(&mut self, fork: u32, first: usize) {
        let rules = &self.machine.code.forks[fork as usize].rules;
        let rule_numbers = &self.model.rules[fork as usize];
        let mut concerned = std::mem::take(&mut self.concerned);
        concerned.resize_with(rules.len().max(concerned.len()), Vec::new);
        let start = self.bounds[first].0 as usize;
        let mut kept = start;
        for (child, rule_numbers) in (first..self.bounds.len() - 1).zip(rule_numbers) {
            for index in self.bounds[child].0 as usize..self.bounds[child + 1].0 as usize {
                let offer = self.offers[index];
                match rule_numbers[offer.gate as usize] {
                    0 => {
                        self.offers[kept] = offer;
                        kept += 1;
                    }
                    rule => {
                        concerned[rule as usize - 1].push(Concerned { child: (child - first) as u32, offer });
                    }
                }
            }
        }
        self.offers.truncate(kept);
        for (rule, group) in rules.iter().zip(&mut concerned) {
            if group.is_empty() {
                continue;
            }
            if rule.members.len() == 2 && rule.count == 2 {
                let end = group.partition_point(|candidate| candidate.child == rule.members[0]);
                self.join(&group[..end], &group[end..]);
            } else {
                self.combine(group, &rule.members, rule.count as usize, None);
            }
            group.clear();
        }
        self.concerned = concerned;
    }

    /// Adds the combinations of two members' offers. Where many offers meet many, those of the right side are found by
    /// a value that all of them know.
    fn join(&mut self, left: &[Concerned], right: &[Concerned]) {
        let known = right.iter().fold(u64::MAX, |known, candidate| known & candidate.offer.known);
        let shift = if known as u32 != 0 { 0 } else { 32 };
        if known == 0 || left.len() < 4 || right.len() < 4 || right.len() > 64 {
            for a in left {
                for b in right {
                    self.join_two(&a.offer, &b.offer);
                }
            }
            return;
        }
        // For each value modulo 64, which of the right side have it.
        let mut having = [0u64; 64];
        for (index, candidate) in right.iter().enumerate() {
            having[(candidate.offer.sketch >> shift) as usize % 64] |= 1 << index;
        }
        for a in left {
            let known = (a.offer.known >> shift) as u32 != 0;
            let mut candidates = if known {
                having[(a.offer.sketch >> shift) as usize % 64]
            } else {
                u64::MAX >> (64 - right.len())
            };
            while candidates != 0 {
                self.join_two(&a.offer, &right[candidates.trailing_zeros() as usize].offer);
                candidates &= candidates - 1;
            }
        }
    }

    #[inline]
    fn join_two(&mut self, a: &Offer, b: &Offer) {
        if a.may_fit(b)
            && let Some(merged) = self.merge(*a, *b)
        {
            self.offers.push(merged);
        }
    }

    /// Adds the combinations of `partial` with offers of `count` of the given members. Offers and members are sorted
    /// by child.
    fn combine(&mut self, group: &[Concerned], members: &[u32], count: usize, partial: Option<Offer>) {
        let Some((&member, others)) = members.split_first() else { return };
        let start = group.iter().position(|candidate| candidate.child >= member).unwrap_or(group.len());
        let group = &group[start..];
        let end = group.iter().position(|candidate| candidate.child > member).unwrap_or(group.len());
        let (own, rest) = group.split_at(end);
        for candidate in own {
            let merged = match &partial {
                None => Some(candidate.offer),
                Some(partial) if partial.may_fit(&candidate.offer) => self.merge(*partial, candidate.offer),
                Some(_) => None,
            };
            match merged {
                Some(merged) if count == 1 => self.offers.push(merged),
                Some(merged) => self.combine(rest, others, count - 1, Some(merged)),
                None => {}
            }
        }
        if others.len() >= count {
            self.combine(rest, others, count, partial);
        }
    }

    /// Two offers as one, if their values agree; as far as they are in the sketches, that was seen before.
    #[inline]
    fn merge(&mut self, a: Offer, b: Offer) -> Option<Offer> {
        let start = self.values.len();
        if !a.is_short() {
            for index in 0..a.values.1 {
                let left = self.values[(a.values.0 + index) as usize];
                let right = self.values[(b.values.0 + index) as usize];
                if left != right && left != OPEN && right != OPEN {
                    self.values.truncate(start);
                    return None;
                }
                // OPEN is the greatest number.
                self.values.push(left.min(right));
            }
        }
        let part = self.parts.len() as u32;
        for offer in [a, b] {
            for index in offer.parts.0 as usize..(offer.parts.0 + offer.parts.1) as usize {
                let part = self.parts[index];
                self.parts.push(part);
            }
        }
        Some(Offer {
            parts: (part, a.parts.1 + b.parts.1),
            values: (start as u32, a.values.1),
            sketch: a.sketch | b.sketch,
            known: a.known | b.known,
            ..a
        })
    }
}
