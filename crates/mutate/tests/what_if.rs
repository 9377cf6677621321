//! What-ifs against their definition: each cure is built, explored and checked by itself, and nothing that cures is missed.

use cover::{Example, Opened, Subject};
use explore::Limits;
use logic::Property;
use lts::{Lts, Progress};
use model::{Mutant, Telling, Text};
use mutate::{Violated, what_ifs};
use source::Sources;

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

/// The model, which gets stuck, and what it does.
struct Stage {
    subject: Subject,
    start: Example,
    opened: Opened,
    system: Lts,
    properties: [Property; 1],
}

impl Stage {
    fn new() -> Self {
        let texts = Subject::of_texts(Text::new("pool.lnt", POOL), vec![], &[]);
        let subject = texts.unwrap_or_else(|_| panic!("it opens"));
        let start = Example::default();
        let opened = subject.open_telling(&start, Telling::Marks).unwrap_or_else(|_| panic!("it opens"));
        let system = explore::explore(opened.model(), &Limits::default(), &Progress::new()).lts;
        let properties = [logic::deadlock(&mut Sources::new())];
        Self { subject, start, opened, system, properties }
    }

    fn violated<'a>(&'a self, run: Option<(&'a [String], bool)>) -> Violated<'a> {
        Violated {
            subject: &self.subject,
            start: &self.start,
            sources: &self.opened.sources,
            properties: &self.properties,
            system: &self.system,
            needed: &[],
            run,
        }
    }
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
    let stage = Stage::new();
    let changes = stage.opened.program.alternatives(&stage.opened.sources);
    let run: Vec<String> = ["TAKE !1", "FAIL !1", "TAKE !1", "FAIL !1"].map(String::from).to_vec();
    let violated = stage.violated(Some((&run, true)));
    let answers = what_ifs(&violated, &changes, &Progress::new());
    assert_eq!(answers.tried, changes.len());
    let changed = |change: &Mutant| stage.subject.changed("pool.lnt", change.apply(POOL));
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
    let stage = Stage::new();
    let changes = stage.opened.program.alternatives(&stage.opened.sources);
    let ask = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let violated = stage.violated(None);
        pool.install(|| what_ifs(&violated, &changes, &Progress::new()).cures)
    };
    assert_eq!(ask(1), ask(3));
}

#[test]
fn every_mutant_is_an_alternative() {
    let Stage { opened, .. } = Stage::new();
    let alternatives = opened.program.alternatives(&opened.sources);
    for mutant in opened.program.mutants(&opened.sources) {
        let same = |one: &Mutant| one.span == mutant.span && one.replacement == mutant.replacement;
        assert!(alternatives.iter().any(same), "{}", mutant.description);
    }
}

/// What a person may have forgotten, though nothing like it stands anywhere.
#[test]
fn what_is_missing_is_put_in() {
    let text = "module m is
        type flags is array [0 .. 2] of bool end type
        type numbers is set of nat with insert, remove, member, empty end type
        channel number is (nat) end channel
        process KEEPER [CALL, SERVE : number] is
           var waiting : flags, known : numbers, n, k : nat in
              waiting := flags (false); known := {}; n := 0; k := 0;
              loop select
                 CALL (?n) where n < 3; waiting[n] := true
              [] SERVE (?k) where (k < 3) and then waiting[k]; null
              [] CALL (?any nat); known := {}
              end select end loop
           end var
        end process
        process CLIENT [CALL : number] (me : nat) is CALL (me); stop end process
        process MAIN [CALL, SERVE : number] is
           par CALL in KEEPER [CALL, SERVE]
           || par CLIENT [CALL] (0) || CLIENT [CALL] (1) || stop end par end par
        end process
    end module";
    let subject =
        Subject::of_texts(Text::new("m.lnt", text), vec![], &[]).unwrap_or_else(|_| panic!("it opens"));
    let opened = subject.open(&Example::default()).unwrap_or_else(|_| panic!("it opens"));
    let changes = opened.program.alternatives(&opened.sources);
    for wanted in [
        "waiting[k]; waiting[k] := false",
        "known := insert (n, known)",
        "CALL (?n); known := {}",
        "|| CLIENT [CALL] (2) end par",
    ] {
        assert!(changes.iter().any(|change| change.apply(text).contains(wanted)), "{wanted}");
    }
}
