//! Network composition: transition systems put side by side, synchronised on gates, on n among m of them, or by
//! explicit vectors, with labels hidden, renamed and cut on the way.
//!
//! A network is flattened into *synchronisation vectors*, each saying which labels of which leaves happen
//! together and what that looks like from outside ([`NetworkModel`]): a state is a tuple of states of the leaves. The
//! internal action never synchronises; `exit`, the successful termination, always does.

mod language;
mod parse;
mod tuples;
mod vectors;

use std::sync::Arc;

pub use language::Exp;
pub use parse::parse_network;
pub use tuples::NetworkModel;

use lts::{Lts, Selector};
use source::Span;

/// A network of transition systems.
///
/// ```
/// use network::{Network, NetworkModel};
/// let sender = lts::parse_aut("des (0, 2, 2)\n(0, PUT, 1)\n(1, SEND, 0)\n", &Default::default())?;
/// let receiver = lts::parse_aut("des (0, 2, 2)\n(0, SEND, 1)\n(1, GET, 0)\n", &Default::default())?;
/// let network = Network::product(vec![sender.into(), receiver.into()]);
/// let whole = explore::explore(&NetworkModel::new(&network)?, &Default::default(), &lts::Progress::new()).lts;
/// assert_eq!((whole.state_count(), whole.transition_count()), (4, 5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub enum Network {
    /// One system.
    Leaf(Leaf),
    /// Several networks side by side.
    Par {
        /// Who moves together.
        synchronisation: Synchronisation,
        /// The networks.
        branches: Vec<Network>,
    },
    /// The selected labels become internal.
    Hide(Box<Network>, Vec<Selector>),
    /// All labels but the selected ones become internal.
    HideAllBut(Box<Network>, Vec<Selector>),
    /// The transitions with the selected labels can't happen.
    Cut(Box<Network>, Vec<Selector>),
    /// Labels are renamed by the first rule that matches.
    Rename(Box<Network>, Vec<(Selector, String)>),
}

/// A system of a network.
#[derive(Clone)]
pub struct Leaf {
    /// The system.
    pub lts: Arc<Lts>,
    /// Its name.
    pub name: String,
    /// Where the network names it.
    pub span: Option<Span>,
}

/// Who moves together in a parallel composition.
pub enum Synchronisation {
    /// A label obeys the first rule that selects it; one that no rule selects happens in one branch alone.
    Rules(Vec<SyncRule>),
    /// Visible labels happen only as the vectors say.
    Vectors(Vec<SyncVector>),
}

/// A label on which several branches must agree.
pub struct SyncRule {
    /// Which labels.
    pub labels: Selector,
    /// The branches concerned; the others do these labels alone.
    pub branches: Vec<usize>,
    /// How many of those branches take part each time.
    pub count: usize,
}

/// One explicit way to move together.
pub struct SyncVector {
    /// What each branch does; `None` for those that stand still.
    pub parts: Vec<Option<Part>>,
    /// What it looks like: a gate that takes over the common offers if a part is a gate, else a label.
    pub result: String,
}

/// What one branch contributes to a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A label with this gate; all parts that are gates must carry the same offers.
    Gate(String),
    /// This label.
    Label(String),
}

/// A selector of a network that chooses no label.
#[derive(Clone, Debug)]
pub struct Unmatched {
    /// Where it stands: `hide`, `par` …
    pub operator: &'static str,
    /// The selector.
    pub selector: Selector,
    /// The labels that it could choose from, sorted.
    pub labels: Vec<String>,
}

/// Why a network can't be composed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComposeError {
    /// The ways to synchronise are too many to list.
    #[error(
        "the network has more than {0} ways to synchronise labels; split it or synchronise on fewer gates"
    )]
    TooManyVectors(usize),
}

impl From<Lts> for Network {
    fn from(lts: Lts) -> Self {
        Network::Leaf(Leaf { lts: Arc::new(lts), name: String::new(), span: None })
    }
}

impl Network {
    /// All branches synchronise on every visible label that at least two of them know: those which know it.
    pub fn product(branches: Vec<Network>) -> Network {
        let synchronisation = Synchronisation::Rules(vectors::common_label_rules(&branches));
        Network::Par { synchronisation, branches }
    }
}

#[cfg(test)]
mod tests;
