//! Mutation: what would properties and examples notice if the model were slightly wrong?
//!
//! A [`Baseline`] is a model as it is: its behaviour, the verdicts of properties, what examples do. Each of its mutants is
//! built, explored and judged ([`Baseline::judge`]): it may be equivalent to the model (strongly bisimilar, so that nothing
//! can tell them apart), and otherwise a property *kills* it by another verdict, an example by behaving in another way.
//! [`study`] judges all of them on all cores.
//!
//! ```
//! let text = "module M is process MAIN [A, B : none] is loop A; B end loop end process end module";
//! let subject = cover::Subject::of_texts(model::Text::new("m.lnt", text), vec![], &[]).unwrap();
//! let mut sources = source::Sources::new();
//! let properties = [logic::deadlock(&mut sources)];
//! let question = mutate::Question::new(&subject, &properties);
//! let baseline = mutate::Baseline::new(&question, &lts::Progress::new()).ok().unwrap();
//! let at = baseline.mutants.iter().position(|mutant| mutant.replacement == "B; stop").unwrap();
//! let judgement = baseline.judge(at, &lts::Progress::new()).unwrap();
//! assert_eq!(judgement.properties, [Some(true)]);
//! ```

mod bad_runs;
mod baseline;
mod judge;
mod record;
mod repair;
mod study;
mod what_if;

pub use baseline::{Baseline, NoBaseline, Question};
pub use judge::{Fate, Judgement};
pub use record::Record;
pub use repair::{Attempt, Effect, INTERVENTIONS, Place, candidates, interventions};
pub use study::study;
pub use what_if::{Cure, Violated, WhatIfs, what_ifs};
