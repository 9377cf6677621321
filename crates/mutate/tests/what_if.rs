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

/// What it violates: by getting stuck, by steps, and by going round for ever.
const PROPERTIES: [&str; 3] = [
    "[ true* ] < true > true",
    r#"[ true* . "FAIL !1" . (not "GIVE !1")* . "TAKE !1" ] false"#,
    r#"[ true* . "TAKE !1" ] mu X . (< true > true and [ not "GIVE !1" ] X)"#,
];

/// The model and what it does.
struct Stage {
    subject: Subject,
    start: Example,
    opened: Opened,
    system: Lts,
    properties: Vec<Property>,
}

impl Stage {
    fn new(property: &str) -> Self {
        let texts = Subject::of_texts(Text::new("pool.lnt", POOL), vec![], &[]);
        let subject = texts.unwrap_or_else(|_| panic!("it opens"));
        let start = Example::default();
        let opened = subject.open_telling(&start, Telling::Marks).unwrap_or_else(|_| panic!("it opens"));
        let system = explore::explore(opened.model(), &Limits::default(), &Progress::new()).lts;
        let properties = logic::load_text("p.mcl", property, &mut Sources::new()).unwrap().properties;
        Self { subject, start, opened, system, properties }
    }

    fn violated(&self) -> Violated<'_> {
        Violated {
            subject: &self.subject,
            start: &self.start,
            sources: &self.opened.sources,
            properties: &self.properties,
            system: &self.system,
            needed: &[],
        }
    }
}

/// Whether a model has a property, by its definition; nothing where it can't be explored within a limit.
fn holds(subject: &Subject, property: &Property) -> Option<bool> {
    let opened = subject.open_telling(&Example::default(), Telling::Nothing).ok()?;
    let limits = Limits { states: 5000, threads: 1, ..Limits::default() };
    let found = explore::explore(opened.model(), &limits, &Progress::new());
    let verdict = logic::check_lts(&found.lts, &property.formula, &Default::default(), &Progress::new());
    (found.outcome.is_complete() && found.lts.transition_count() > 0).then(|| verdict.unwrap().holds)
}

#[test]
fn cures_are_those_that_trying_everything_finds() {
    for property in PROPERTIES {
        let stage = Stage::new(property);
        assert_eq!(holds(&stage.subject, &stage.properties[0]), Some(false), "{property}");
        let changes = stage.opened.program.alternatives(&stage.opened.sources);
        let answers = what_ifs(&stage.violated(), &changes, usize::MAX, &Progress::new());
        assert_eq!(answers.tried, changes.len());
        let cures = |change: &Mutant| {
            let changed = stage.subject.changed("pool.lnt", change.apply(POOL));
            holds(&changed, &stage.properties[0]) == Some(true)
        };
        let naive: Vec<usize> = (0..changes.len()).filter(|&at| cures(&changes[at])).collect();
        let found: Vec<usize> = answers.cures.iter().map(|cure| cure.change).collect();
        assert_eq!(found, naive, "{property}");
    }
}

#[test]
fn what_was_forgotten_costs_nothing() {
    let stage = Stage::new(PROPERTIES[0]);
    let changes = stage.opened.program.alternatives(&stage.opened.sources);
    let answers = what_ifs(&stage.violated(), &changes, usize::MAX, &Progress::new());
    let whole = |wanted: &str| {
        let wanted =
            |cure: &&mutate::Cure| changes[cure.change].apply(POOL).replace("; null", "").contains(wanted);
        answers.cures.iter().find(wanted).expect("it is put in")
    };
    let best = whole("FAIL (me); GIVE (me) end select");
    // Two clients never find the pool empty: one outcome of 18 things that could happen.
    assert!(best.kept == 1.0 && best.alive == 17.0 / 18.0, "{best:?}");
    assert!(!best.stuck && best.silenced.is_none(), "{best:?}");
    // To give back before it fails is another behaviour.
    assert_ne!(best.system, whole("[] GIVE (me); FAIL (me)").system);
}

#[test]
fn threads_do_not_matter() {
    let stage = Stage::new(PROPERTIES[0]);
    let changes = stage.opened.program.alternatives(&stage.opened.sources);
    let ask = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| what_ifs(&stage.violated(), &changes, usize::MAX, &Progress::new()).cures)
    };
    assert_eq!(ask(1), ask(3));
}

#[test]
fn every_mutant_is_an_alternative() {
    let Stage { opened, .. } = Stage::new(PROPERTIES[0]);
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
        function next (n : nat) : nat is return n + 1 end function
        process TWICE [CALL, SERVE : number] is
           CLIENT [CALL] (0); CLIENT [CALL] (1);
           select CALL (1); SERVE (1) [] CALL (2); SERVE (2) end select
        end process
        process MAIN [CALL, SERVE : number] is
           par CALL in KEEPER [CALL, SERVE]
           || par CLIENT [CALL] (0) || CLIENT [CALL] (1) || stop || TWICE [CALL, SERVE] end par end par
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
        "|| CLIENT [CALL] (2) || TWICE",
        "n := k",
        "n := next (k)",
        "only if n == k then SERVE",
        "CALL (2); SERVE (2) [] CALL (0); SERVE (0)",
        "par CALL -> CLIENT [CALL] (0) || CALL -> CLIENT [CALL] (1) end par",
    ] {
        assert!(changes.iter().any(|change| change.apply(text).contains(wanted)), "{wanted}");
    }
}
