//! Puts concurrent Rust programs under test.
//!
//! A program uses the threads and primitives of this crate in place of the standard library's, and says what is to be seen of
//! it. It is then run under a controlled scheduler, which explores its schedules systematically or at random, and gives the
//! sequences of observed states. `watershed conform` checks them against a model.
//!
//! ```
//! use watershed_observe::sync::{Arc, atomic::{AtomicBool, Ordering::SeqCst}};
//! use watershed_observe::{Job, Program, observe, observe_all, thread};
//!
//! let program = Program::new("test_and_set", || {
//!     #[derive(serde::Serialize)]
//!     struct State { lock: bool, pc1: &'static str, pc2: &'static str }
//!     observe_all!(&State { lock: false, pc1: "rs", pc2: "rs" });
//!     let lock = Arc::new(AtomicBool::new(false));
//!     let processes = ["pc1", "pc2"].map(|pc| {
//!         let lock = lock.clone();
//!         thread::spawn(move || {
//!             while lock.swap(true, SeqCst) {
//!                 thread::yield_now();
//!             }
//!             observe!("lock", &true);
//!             observe!(pc, "cs");
//!             lock.store(false, SeqCst);
//!             observe!("lock", &false);
//!             observe!(pc, "rs");
//!         })
//!     });
//!     for process in processes {
//!         process.join().unwrap();
//!     }
//! });
//! let found = program.explore(&Job { depth: Some(20), ..Job::systematic() });
//! // Never both in the critical section.
//! for sequence in &found.sequences {
//!     assert!(!sequence.states.iter().any(|state| state.contains(r#""pc1":"cs","pc2":"cs""#)));
//! }
//! ```
//!
//! What changes together must be observed together: a state is taken at every scheduling point, which is where a task uses a
//! primitive. Everything between two uses is one step.

mod command;
mod driver;
mod fields;
mod footprint;
pub mod future;
mod minimise;
mod program;
mod recorder;
mod sampling;
mod schedule;
mod serve;
pub mod sync;
mod systematic;
pub mod thread;
#[cfg(feature = "loom")]
pub mod under_loom;

pub use command::arguments;
pub use program::{
    End, Event, Exploration, Frontier, Job, Program, Reduction, Sequence, Start, Strategy, Summary,
};
pub use recorder::{observe, observe_all, place};
pub use schedule::{InvalidSchedule, Schedule};
pub use shuttle::hint;

/// Sets a component of the observed state: `observe!("buffer", &buffer)`.
///
/// The value is anything that serde can write. Outside of an exploration this does nothing.
///
/// ```
/// use watershed_observe::{Job, Program, observe};
///
/// let program = Program::new("two", || observe!("buffer", &[1, 2]));
/// assert_eq!(&*program.explore(&Job::systematic()).sequences[0].states[0], r#"{"buffer":[1,2]}"#);
/// ```
#[macro_export]
macro_rules! observe {
    ($name:expr, $value:expr) => {
        $crate::observe($name, $value)
    };
}

/// Sets a component for each field of a structure: `observe_all!(&configuration)`.
///
/// ```
/// use watershed_observe::{Job, Program, observe_all};
///
/// #[derive(serde::Serialize)]
/// struct State {
///     lock: bool,
///     waiting: Vec<u32>,
/// }
/// let program = Program::new("state", || observe_all!(&State { lock: true, waiting: vec![3] }));
/// assert_eq!(&*program.explore(&Job::systematic()).sequences[0].states[0], r#"{"lock":true,"waiting":[3]}"#);
/// ```
#[macro_export]
macro_rules! observe_all {
    ($value:expr) => {
        $crate::observe_all($value)
    };
}

/// Says where the running thread is, with all that it keeps to itself: `place!(("sending", &copy))`.
///
/// Only a hash of it is kept, to recognise states; see [`Program::complete`].
///
/// ```
/// use watershed_observe::{Job, Program, observe, place, thread};
///
/// let program = Program::new("ring", || {
///     observe!("turn", &0);
///     loop {
///         for turn in 0..3 {
///             place!(&turn);
///             thread::yield_now();
///             observe!("turn", &turn);
///         }
///     }
/// });
/// // Without a bound: the states are recognised when they come again.
/// let found = program.complete().explore(&Job::systematic());
/// assert_eq!((found.summary.states, found.summary.complete), (3, true));
/// ```
#[macro_export]
macro_rules! place {
    ($value:expr) => {
        $crate::place(&$value)
    };
}
