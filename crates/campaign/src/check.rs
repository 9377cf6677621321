//! The door for checkers: whoever runs a campaign brings what judges its sequences.

use serde_json::Value;

/// Judges sequences of observed states. Each thread of a campaign has its own.
///
/// A checker must be a function of the sequence: what was accepted once is not asked again.
///
/// ```
/// use campaign::{Checker, CheckError, Rejection, Verdict};
/// use serde_json::Value;
///
/// /// Accepts what only grows.
/// struct Grows;
/// impl Checker for Grows {
///     fn check(&mut self, states: &[Value]) -> Result<Verdict, CheckError> {
///         let number = |state: &Value| state["count"].as_i64();
///         match states.windows(2).position(|pair| number(&pair[0]) > number(&pair[1])) {
///             None => Ok(Verdict::Accepted),
///             Some(index) => Ok(Verdict::Rejected(Rejection::between(states, index))),
///         }
///     }
/// }
/// let states = [serde_json::json!({"count": 2}), serde_json::json!({"count": 1})];
/// let Verdict::Rejected(rejection) = Grows.check(&states)? else { unreachable!() };
/// assert_eq!((rejection.index, rejection.to["count"].as_i64()), (0, Some(1)));
/// # Ok::<(), CheckError>(())
/// ```
pub trait Checker {
    /// Judges a sequence. An error ends the work: it means that no sequence can be judged.
    fn check(&mut self, states: &[Value]) -> Result<Verdict, CheckError>;
}

/// Makes a checker for a thread.
///
/// ```
/// use campaign::{CheckError, Checker, MakeChecker, Verdict};
///
/// struct Everything;
/// impl Checker for Everything {
///     fn check(&mut self, _: &[serde_json::Value]) -> Result<Verdict, CheckError> { Ok(Verdict::Accepted) }
/// }
/// let make: &MakeChecker = &|| Ok(Box::new(Everything));
/// assert!(make().is_ok());
/// ```
pub type MakeChecker<'a> = dyn Fn() -> Result<Box<dyn Checker + 'a>, CheckError> + Sync + 'a;

/// What a checker says of a sequence.
///
/// ```
/// let verdict = campaign::Verdict::Undecided("the bound of 1000 states was reached".into());
/// assert_ne!(verdict, campaign::Verdict::Accepted);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The model can do that.
    Accepted,
    /// The model can't do that.
    Rejected(Rejection),
    /// A limit of the checker was reached; the text says which. The result of the campaign is then partial.
    Undecided(String),
}

/// Where a sequence leaves the model. Two rejections with the same `from` and `to` are one failure.
///
/// ```
/// let states = [serde_json::json!({"a": 1}), serde_json::json!({"a": 5})];
/// let rejection = campaign::Rejection::between(&states, 0);
/// assert_eq!(rejection.from, states[0]);
/// assert_eq!(rejection.to, states[1]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    /// The position of `from` in the sequence, from 0.
    pub index: usize,
    /// The last state that the model has; null where the model doesn't have the first one.
    pub from: Value,
    /// The state that the model can't go to.
    pub to: Value,
    /// Whatever else the checker knows, for reports.
    pub details: Value,
}

impl Rejection {
    /// A rejection of the step after `states[index]`, without details.
    ///
    /// ```
    /// let rejection = campaign::Rejection::between(&[1.into(), 2.into(), 9.into()], 1);
    /// assert_eq!((rejection.from, rejection.to), (2.into(), 9.into()));
    /// ```
    pub fn between(states: &[Value], index: usize) -> Self {
        let state = |index: usize| states.get(index).cloned().unwrap_or(Value::Null);
        Self { index, from: state(index), to: state(index + 1), details: Value::Null }
    }
}

/// Why sequences can't be judged at all: a relation that does not fit the program, a model that fails.
///
/// ```
/// let error = campaign::CheckError::new("the relation has no variable `lock`");
/// assert_eq!(error.to_string(), "the relation has no variable `lock`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CheckError {
    message: String,
}

impl CheckError {
    /// An error with a message for the user.
    ///
    /// ```
    /// assert_eq!(campaign::CheckError::new("no model").to_string(), "no model");
    /// ```
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}
