//! Sequences of random walks, some with leaps and foreign states, judged by Maude with the checker of the thesis
//! (`metaSearch` between neighbours), which is written anew here. Skipped with a note where Maude is not installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use conform::{Bound, Checker, Moment, Observed, Position, Relation, Settings, Step};
use explore::Walk;
use languages::{Opened, Opening};

const CHECKER: &str = "
mod JUDGE is
  including META-LEVEL .
  including MODEL .
  sorts Sequence Judgement .
  op end : -> Sequence [ctor] .
  op _;;_ : State Sequence -> Sequence [ctor gather (e E)] .
  op ok : -> Judgement [ctor] .
  op no : Nat -> Judgement [ctor] .
  op judge : Sequence Nat -> Judgement .
  op judge : Sequence Nat Nat -> Judgement .
  op reaches : State State Nat -> Bool .
  vars S T : State . var L : Sequence . vars N B : Nat .
  eq judge(L, B) = judge(L, 0, B) .
  eq judge(end, N, B) = ok .
  eq judge(S ;; end, N, B) = ok .
  eq judge(S ;; T ;; L, N, B) = if reaches(S, T, B) then judge(T ;; L, s N, B) else no(N) fi .
  eq reaches(S, T, B) = metaSearch(upModule('MODEL, false), upTerm(S), upTerm(T), nil, '*, B, 0) :: ResultTriple .
endm
";

fn models() -> Vec<(PathBuf, &'static str, &'static str)> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    vec![
        (models.join("alternating_bit_maude/alternating_bit_maude.maude"), "ALTERNATING-BIT", "init"),
        (models.join("simple_communication/simple_communication.maude"), "SIMPLE-COMMUNICATION", "init"),
        (models.join("test_and_set/test_and_set.maude"), "TEST-AND-SET", "init3"),
    ]
}

fn open(path: &Path, module: &str, start: &str) -> Opened {
    let root = format!("in {module} : {start}");
    let opening = Opening { root: Some(&root), ..Opening::default() };
    languages::registry()
        .open(path, &opening)
        .unwrap_or_else(|_| panic!("{} can't be opened", path.display()))
}

/// A small generator of random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Walks with leaps; every third one has a state of another walk in it.
fn sequences(opened: &Opened, count: u64) -> Vec<Vec<String>> {
    let model = opened.program.model();
    let mut reader = model.reader().expect("states are terms");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut all: Vec<Vec<String>> = Vec::new();
    for seed in 0..count {
        let mut walk = Walk::new(model, seed).expect("the model starts");
        let mut states = vec![reader.write(walk.state())];
        for _ in 0..random.below(14) + 2 {
            if walk.step().expect("no error").is_none() {
                break;
            }
            if random.below(4) > 0 {
                states.push(reader.write(walk.state()));
            }
        }
        if seed % 3 == 2 {
            let other = &all[random.below(all.len() as u64) as usize];
            let state = other[random.below(other.len() as u64) as usize].clone();
            let place = random.below(states.len() as u64) as usize;
            states[place] = state;
        }
        // The model itself looks at neighbours that differ only; Maude takes no step between equal ones.
        all.push(states);
    }
    all
}

fn judge(checker: &mut Checker<'_>, states: &[String]) -> Option<u64> {
    let mut position = Position::default();
    for state in states {
        let moment = Moment { event: None, state: Some(Observed::Whole(state.clone())), line: 1 };
        match checker.follow(&mut position, &moment).expect("states can be read") {
            Step::Accepted(_) => {}
            Step::Rejected => return Some(position.index - 1),
            other => panic!("{other:?}"),
        }
    }
    None
}

#[test]
fn sequences_are_judged_as_maude_does() {
    if Command::new("maude").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("skipped: maude is not installed");
        return;
    }
    for (path, module, start) in models() {
        let opened = open(&path, module, start);
        let sequences = sequences(&opened, 120);
        let relation = Relation::default();
        let mut rejected = 0;
        let mut text = format!("load {}\n{}", path.display(), CHECKER.replace("MODEL", module));
        for sequence in &sequences {
            for bound in 1..=3 {
                text += &format!("red in JUDGE : judge({} ;; end, {bound}) .\n", sequence.join(" ;; "));
            }
        }
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("judge.maude");
        std::fs::write(&file, text + "quit .\n").expect("a file");
        let output = Command::new("maude")
            .args(["-no-banner", "-no-ansi-color", "-no-advise", "-no-wrap"])
            .arg(&file)
            .current_dir(folder.path())
            .env("PWD", folder.path())
            .stdin(Stdio::null())
            .output()
            .expect("Maude runs");
        let said = String::from_utf8_lossy(&output.stdout);
        let mut results = said.lines().filter_map(|line| line.strip_prefix("result Judgement: "));
        for (number, sequence) in sequences.iter().enumerate() {
            for bound in 1..=3 {
                let settings = Settings { bound: Bound::Steps(bound), ..Settings::default() };
                let mut checker = Checker::new(opened.program.model(), &relation, settings);
                let ours = match judge(&mut checker, sequence) {
                    None => "ok".to_owned(),
                    Some(index) => format!("no({index})"),
                };
                rejected += u32::from(ours != "ok");
                let maude = results.next().unwrap_or_else(|| panic!("Maude says no more: {said}"));
                assert_eq!(
                    ours,
                    maude,
                    "{module}, sequence {number}, bound {bound}: {}",
                    sequence.join(" | ")
                );
            }
        }
        assert!(rejected > 20, "{module}: only {rejected} sequences were rejected");
    }
}
