//! What-ifs against their definition: each cure is built, explored and checked by itself, and nothing that cures is missed.

use cover::{Example, Subject};
use explore::Limits;
use lts::Progress;
use model::{Mutant, Telling, Text};
use mutate::{Violated, what_ifs};

/// A pool of connections, in which a client that fails forgets to give its own back.
const POOL: &str = "module POOL is
!nat_sup 3
channel who is (nat) end channel
process POOL [TAKE, GIVE : who] is
   var free : nat in
      free := 2;
      loop select
         only if free > 0 then TAKE (?any nat); free := free - 1 end if
      [] GIVE (?any nat); free := free + 1
      end select end loop
   end var
end process
process CLIENT [TAKE, GIVE, USE, FAIL : who] (me : nat) is
   loop
      TAKE (me);
      select USE (me); GIVE (me) [] FAIL (me) end select
   end loop
end process
process MAIN [TAKE, GIVE, USE, FAIL : who] is
   par TAKE, GIVE in POOL [TAKE, GIVE] || par CLIENT [...] (1) || CLIENT [...] (2) end par end par
end process
end module
";

fn subject() -> Subject {
    Subject::of_texts(Text::new("pool.lnt", POOL), vec![], &[]).unwrap_or_else(|_| panic!("it opens"))
}

/// Whether a model is free of deadlocks, by its definition; nothing where it can't be explored within a limit.
fn is_alive(subject: &Subject) -> Option<bool> {
    let opened = subject.open_telling(&Example::default(), Telling::Nothing).ok()?;
    let limits = Limits { states: 5000, threads: 1, ..Limits::default() };
    let found = explore::explore(opened.model(), &limits, &Progress::new());
    let stuck = |state| found.lts.outgoing(state).is_empty();
    found.outcome.is_complete().then(|| !found.lts.states().any(stuck))
}

#[test]
fn cures_are_those_that_trying_everything_finds() {
    let subject = subject();
    let start = Example::default();
    let opened = subject.open_telling(&start, Telling::Marks).unwrap_or_else(|_| panic!("it opens"));
    let found = explore::explore(opened.model(), &Limits::default(), &Progress::new());
    let mut sources = source::Sources::new();
    let properties = [logic::deadlock(&mut sources)];
    let changes = opened.program.alternatives(&opened.sources);
    let run: Vec<String> = ["TAKE !1", "FAIL !1", "TAKE !1", "FAIL !1"].map(String::from).to_vec();
    let violated = Violated {
        subject: &subject,
        start: &start,
        sources: &opened.sources,
        properties: &properties,
        system: &found.lts,
        needed: &[],
        run: Some((&run, true)),
    };
    let answers = what_ifs(&violated, &changes, &Progress::new());
    assert_eq!(answers.tried, changes.len());
    let changed = |change: &Mutant| subject.changed("pool.lnt", change.apply(POOL));
    let naive: Vec<usize> =
        (0..changes.len()).filter(|&at| is_alive(&changed(&changes[at])) == Some(true)).collect();
    let cures: Vec<usize> = answers.cures.iter().map(|cure| cure.change).collect();
    assert_eq!(cures, naive);
    // The one that a person would make is among them, and costs nothing.
    let best = answers.cures.iter().find(|cure| {
        let change = &changes[cure.change];
        change.replacement == "; GIVE (me)" && change.apply(POOL).contains("FAIL (me); GIVE (me)")
    });
    let best = best.expect("what was forgotten is put in");
    assert!(best.kept == 1.0 && best.alive >= 1.0 && !best.stuck && best.silenced.is_none(), "{best:?}");
}

#[test]
fn threads_do_not_matter() {
    let subject = subject();
    let start = Example::default();
    let opened = subject.open_telling(&start, Telling::Marks).unwrap_or_else(|_| panic!("it opens"));
    let found = explore::explore(opened.model(), &Limits::default(), &Progress::new());
    let mut sources = source::Sources::new();
    let properties = [logic::deadlock(&mut sources)];
    let changes = opened.program.alternatives(&opened.sources);
    let ask = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let violated = Violated {
            subject: &subject,
            start: &start,
            sources: &opened.sources,
            properties: &properties,
            system: &found.lts,
            needed: &[],
            run: None,
        };
        pool.install(|| what_ifs(&violated, &changes, &Progress::new()).cures)
    };
    assert_eq!(ask(1), ask(3));
}

#[test]
fn every_mutant_is_an_alternative() {
    let subject = subject();
    let opened = subject.open(&Example::default()).unwrap_or_else(|_| panic!("it opens"));
    let alternatives = opened.program.alternatives(&opened.sources);
    for mutant in opened.program.mutants(&opened.sources) {
        let same = |one: &Mutant| one.span == mutant.span && one.replacement == mutant.replacement;
        assert!(alternatives.iter().any(same), "{}", mutant.description);
    }
}
