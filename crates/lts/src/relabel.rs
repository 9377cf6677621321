//! Operations on labels: hide, keep, rename, cut.

use crate::ids::LabelId;
use crate::label::Labels;
use crate::lts::Lts;
use crate::select::Selector;

impl Lts {
    /// Makes the selected labels internal.
    ///
    /// ```
    /// let lts = lts::parse_aut("des (0, 2, 2)\n(0, A !1, 1)\n(1, B, 0)\n", &Default::default())?;
    /// let hidden = lts.hide(&[lts::Selector::Gate("A".into())]);
    /// assert_eq!(hidden.label(hidden.outgoing(hidden.initial())[0].label), "i");
    /// # Ok::<(), lts::AutError>(())
    /// ```
    pub fn hide(&self, selectors: &[Selector]) -> Lts {
        self.map_labels(|text| match selectors.iter().any(|selector| selector.matches(text)) {
            true => None,
            false => Some(text.to_owned()),
        })
    }

    /// Makes every label internal except the selected ones.
    pub fn keep(&self, selectors: &[Selector]) -> Lts {
        self.map_labels(|text| match selectors.iter().any(|selector| selector.matches(text)) {
            true => Some(text.to_owned()),
            false => None,
        })
    }

    /// Renames labels by the first rule whose selector matches. The internal action has no name to change.
    pub fn rename(&self, rules: &[(Selector, String)]) -> Lts {
        self.map_labels(|text| {
            let renamed = rules.iter().find_map(|(selector, to)| selector.rename(text, to));
            Some(renamed.unwrap_or_else(|| text.to_owned()))
        })
    }

    /// Removes the transitions with the selected labels, and what can't be reached without them.
    pub fn cut(&self, selectors: &[Selector]) -> Lts {
        let gone: Vec<bool> = self
            .labels()
            .iter()
            .map(|(_, text)| selectors.iter().any(|selector| selector.matches(text)))
            .collect();
        self.reachable_through(|_, edge| !gone[edge.label.index()])
    }

    /// Gives every visible label a new text, `None` making it internal. Tables are rebuilt in label order.
    fn map_labels(&self, mut new_text: impl FnMut(&str) -> Option<String>) -> Lts {
        let used = self.used_labels();
        let mut labels = Labels::new();
        let map: Vec<LabelId> = self
            .labels()
            .iter()
            .map(|(label, text)| match used[label.index()] && !label.is_tau() {
                true => new_text(text).map_or(LabelId::TAU, |text| labels.intern(&text)),
                false => LabelId::TAU,
            })
            .collect();
        self.relabelled(labels, &map)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Lts, Selector, parse_aut};

    fn sample() -> Lts {
        let text = "des (0, 5, 4)\n(0, A !1, 1)\n(0, A !2, 1)\n(1, B, 2)\n(2, i, 0)\n(2, C, 3)\n";
        parse_aut(text, &Default::default()).unwrap()
    }

    fn select(text: &str) -> Vec<Selector> {
        vec![Selector::parse(text).unwrap()]
    }

    fn labels(lts: &Lts) -> Vec<&str> {
        lts.edges().iter().map(|edge| lts.label(edge.label)).collect()
    }

    #[test]
    fn hiding_merges_transitions_that_become_equal() {
        let hidden = sample().hide(&select("A"));
        assert_eq!(labels(&hidden), ["i", "B", "i", "C"]);
        assert_eq!(hidden.labels().len(), 3);
    }

    #[test]
    fn keeping_hides_the_rest() {
        assert_eq!(labels(&sample().keep(&select("\"A !2\""))), ["i", "A !2", "i", "i", "i"]);
    }

    #[test]
    fn cutting_drops_what_becomes_unreachable() {
        let cut = sample().cut(&select("C"));
        assert_eq!((cut.state_count(), cut.transition_count()), (3, 4));
    }

    #[test]
    fn renaming_uses_the_first_rule_and_leaves_the_internal_action() {
        let rules = [
            (Selector::parse("A").unwrap(), "X".to_owned()),
            (Selector::parse("'.*'").unwrap(), "Y".to_owned()),
        ];
        assert_eq!(labels(&sample().rename(&rules)), ["X !1", "X !2", "Y", "i", "Y"]);
    }
}
