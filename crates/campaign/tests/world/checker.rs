//! The checker of the tests: a rule on pairs of nodes.

use campaign::{CheckError, Checker, Rejection, Verdict};
use serde_json::Value;

use super::graph::is_wrong;

pub struct EdgeChecker;

impl Checker for EdgeChecker {
    fn check(&mut self, states: &[Value]) -> Result<Verdict, CheckError> {
        match states.windows(2).position(|pair| is_wrong(&pair[0], &pair[1])) {
            Some(index) => Ok(Verdict::Rejected(Rejection::between(states, index))),
            None => Ok(Verdict::Accepted),
        }
    }
}
