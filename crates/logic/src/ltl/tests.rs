//! The checker against an independent tableau, direct semantics of its lassos, and Maude.

use std::convert::Infallible;
use std::fmt::Write;

use super::*;

/// Explicit successors and the propositions of each state, as bits; counts questions.
struct Graph {
    successors: Vec<Vec<u32>>,
    propositions: Vec<u32>,
    asked: FxHashMap<(u32, u32), u32>,
}

impl Graph {
    fn new(successors: Vec<Vec<u32>>, propositions: Vec<u32>) -> Graph {
        Graph { successors, propositions, asked: FxHashMap::default() }
    }

    fn random(random: &mut Random, states: u32) -> Graph {
        let successors =
            (0..states).map(|_| (0..random.below(3)).map(|_| random.below(states)).collect()).collect();
        Graph::new(successors, (0..states).map(|_| random.below(8)).collect())
    }

    fn after(&self, state: u32) -> Vec<u32> {
        let successors = &self.successors[state as usize];
        if successors.is_empty() { vec![state] } else { successors.clone() }
    }
}

impl Kripke for Graph {
    type Error = Infallible;

    fn initial(&mut self) -> Result<u32, Infallible> {
        Ok(0)
    }

    fn successors(&mut self, state: u32, into: &mut Vec<u32>) -> Result<(), Infallible> {
        into.extend(&self.successors[state as usize]);
        Ok(())
    }

    fn holds(&mut self, state: u32, proposition: u32) -> Result<bool, Infallible> {
        let asked = self.asked.entry((state, proposition)).or_default();
        *asked += 1;
        assert_eq!(*asked, 1, "each proposition is asked for once");
        Ok(self.propositions[state as usize] >> proposition & 1 == 1)
    }
}

/// The generator of Marsaglia, "Xorshift RNGs" (2003).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) % u64::from(bound)) as u32
    }

    /// A formula over three propositions with at most the given numbers of operators and of temporal ones.
    fn formula(&mut self, formulas: &mut Formulas, operators: u32, temporal: &mut u32) -> FormulaId {
        if operators == 0 {
            return match self.below(8) {
                0 => formulas.add(Formula::True),
                1 => formulas.add(Formula::False),
                other => formulas.proposition(other % 3),
            };
        }
        let kind = self.below(if *temporal == 0 { 5 } else { 11 });
        *temporal -= u32::from(kind >= 5);
        let unary = matches!(kind, 0 | 5..=7);
        let share = if unary { operators - 1 } else { self.below(operators) };
        let left = self.formula(formulas, share, temporal);
        if unary {
            return match kind {
                0 => formulas.not(left),
                5 => formulas.next(left),
                6 => formulas.eventually(left),
                _ => formulas.always(left),
            };
        }
        let right = self.formula(formulas, operators - 1 - share, temporal);
        match kind {
            1 => formulas.and(left, right),
            2 => formulas.or(left, right),
            3 => formulas.implies(left, right),
            4 => formulas.iff(left, right),
            8 => formulas.until(left, right),
            9 => formulas.release(left, right),
            _ => formulas.weak_until(left, right),
        }
    }
}

/// Direct semantics: the truth of a formula in all positions of an ultimately periodic word, by fixed points.
fn holds_on(formulas: &Formulas, formula: FormulaId, word: &[u32], back: usize) -> bool {
    let next = |at: usize| if at + 1 < word.len() { at + 1 } else { back };
    let mut truth: Vec<Vec<bool>> = Vec::new();
    for index in 0..=formula.0 {
        let of = |argument: FormulaId, at: usize| truth[argument.0 as usize][at];
        let fixed_point = |start: bool, step: &dyn Fn(usize, bool) -> bool| {
            let mut values = vec![start; word.len()];
            for _ in 0..2 * word.len() {
                for at in (0..word.len()).rev() {
                    values[at] = step(at, values[next(at)]);
                }
            }
            values
        };
        let each = |step: &dyn Fn(usize) -> bool| (0..word.len()).map(step).collect();
        let values: Vec<bool> = match formulas.formulas[index as usize] {
            Formula::True => each(&|_| true),
            Formula::False => each(&|_| false),
            Formula::Prop(proposition) => each(&|at| word[at] >> proposition & 1 == 1),
            Formula::Not(a) => each(&|at| !of(a, at)),
            Formula::And(a, b) => each(&|at| of(a, at) && of(b, at)),
            Formula::Or(a, b) => each(&|at| of(a, at) || of(b, at)),
            Formula::Implies(a, b) => each(&|at| !of(a, at) || of(b, at)),
            Formula::Iff(a, b) => each(&|at| of(a, at) == of(b, at)),
            Formula::Next(a) => each(&|at| of(a, next(at))),
            Formula::Until(a, b) => fixed_point(false, &|at, later| of(b, at) || of(a, at) && later),
            Formula::Release(a, b) => fixed_point(true, &|at, later| of(b, at) && (of(a, at) || later)),
            Formula::Eventually(a) => fixed_point(false, &|at, later| of(a, at) || later),
            Formula::Always(a) => fixed_point(true, &|at, later| of(a, at) && later),
            Formula::WeakUntil(a, b) => fixed_point(true, &|at, later| of(b, at) || of(a, at) && later),
        };
        truth.push(values);
    }
    truth[formula.0 as usize][0]
}

/// Panics unless the lasso is a path of the graph that violates the formula.
fn validate(graph: &Graph, formulas: &Formulas, formula: FormulaId, lasso: &Lasso) {
    let states: Vec<u32> = lasso.prefix.iter().chain(&lasso.cycle).copied().collect();
    assert_eq!(states[0], 0);
    assert!(states.windows(2).all(|pair| graph.after(pair[0]).contains(&pair[1])));
    assert!(graph.after(states[states.len() - 1]).contains(&lasso.cycle[0]));
    let word: Vec<u32> = states.iter().map(|&state| graph.propositions[state as usize]).collect();
    assert!(!holds_on(formulas, formula, &word, lasso.prefix.len()), "the lasso satisfies the formula");
}

/// The naive twin: the tableau of Clarke, Grumberg and Hamaguchi (1994) over the formula as it is written. A node is
/// a state and a guess of which temporal formulas hold in the next state; the formula is violated if a node with the
/// initial state in which it is false reaches a component with a witness for each eventuality.
fn violated(graph: &Graph, formulas: &Formulas, formula: FormulaId) -> bool {
    let temporal: Vec<usize> = (0..=formula.0 as usize)
        .filter(|&index| {
            use Formula::*;
            matches!(
                formulas.formulas[index],
                Next(_) | Until(..) | Release(..) | Eventually(_) | Always(_) | WeakUntil(..)
            )
        })
        .collect();
    let guesses = 1usize << temporal.len();
    let count = graph.successors.len() * guesses;
    let truths: Vec<Vec<bool>> = (0..count)
        .map(|node| {
            let (letter, guess) = (graph.propositions[node / guesses], node % guesses);
            let mut truth: Vec<bool> = Vec::new();
            for index in 0..=formula.0 as usize {
                let of = |argument: FormulaId| truth[argument.0 as usize];
                let later =
                    temporal.iter().position(|&at| at == index).is_some_and(|bit| guess >> bit & 1 == 1);
                let value = match formulas.formulas[index] {
                    Formula::True => true,
                    Formula::False => false,
                    Formula::Prop(proposition) => letter >> proposition & 1 == 1,
                    Formula::Not(a) => !of(a),
                    Formula::And(a, b) => of(a) && of(b),
                    Formula::Or(a, b) => of(a) || of(b),
                    Formula::Implies(a, b) => !of(a) || of(b),
                    Formula::Iff(a, b) => of(a) == of(b),
                    Formula::Next(_) => later,
                    Formula::Until(a, b) | Formula::WeakUntil(a, b) => of(b) || of(a) && later,
                    Formula::Release(a, b) => of(b) && (of(a) || later),
                    Formula::Eventually(a) => of(a) || later,
                    Formula::Always(a) => of(a) && later,
                };
                truth.push(value);
            }
            truth
        })
        .collect();
    let successors: Vec<Vec<usize>> = (0..count)
        .map(|node| {
            graph
                .after((node / guesses) as u32)
                .into_iter()
                .flat_map(|state| (0..guesses).map(move |guess| state as usize * guesses + guess))
                .filter(|&next| {
                    temporal.iter().enumerate().all(|(bit, &index)| {
                        let said = match formulas.formulas[index] {
                            Formula::Next(argument) => argument.0 as usize,
                            _ => index,
                        };
                        truths[next][said] == ((node % guesses) >> bit & 1 == 1)
                    })
                })
                .collect()
        })
        .collect();
    let witnesses = |node: usize, index: usize| {
        let of = |argument: FormulaId| truths[node][argument.0 as usize];
        let value = truths[node][index];
        match formulas.formulas[index] {
            Formula::Until(_, b) | Formula::Eventually(b) => !value || of(b),
            Formula::Release(_, b) | Formula::Always(b) => value || !of(b),
            Formula::WeakUntil(a, b) => value || !of(a) && !of(b),
            _ => true,
        }
    };
    let reachable = |from: usize| {
        let mut seen = vec![false; count];
        let mut open: Vec<usize> = successors[from].clone();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                open.extend(&successors[node]);
            }
        }
        seen
    };
    let reach: Vec<Vec<bool>> = (0..count).map(reachable).collect();
    let fair: Vec<bool> = (0..count)
        .map(|node| {
            reach[node][node]
                && temporal.iter().all(|&index| {
                    (0..count)
                        .any(|other| reach[node][other] && reach[other][node] && witnesses(other, index))
                })
        })
        .collect();
    (0..guesses)
        .filter(|&node| !truths[node][formula.0 as usize])
        .any(|node| (0..count).any(|other| (node == other || reach[node][other]) && fair[other]))
}

#[test]
fn verdicts_agree_with_a_tableau_and_lassos_violate_the_formula() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let (mut violations, mut cases) = (0, 0);
    for case in 0..20_000 {
        let states = 1 + random.below(4);
        let mut graph = Graph::random(&mut random, states);
        let mut formulas = Formulas::new();
        let operators = 1 + case % 9;
        let formula = random.formula(&mut formulas, operators, &mut 4);
        let lasso = check(&mut graph, &formulas, formula).unwrap();
        let twin = violated(&graph, &formulas, formula);
        assert_eq!(lasso.is_some(), twin, "case {case}: {}", maude(&formulas, formula));
        if let Some(lasso) = lasso {
            validate(&graph, &formulas, formula, &lasso);
            violations += 1;
        }
        cases += 1;
    }
    assert!(violations > cases / 10 && violations < cases * 9 / 10, "{violations} of {cases}");
}

#[test]
fn partial_and_complete_automata_agree() {
    let mut random = Random(0xfeed_beef_0bad_cafe);
    for case in 0..4000 {
        let states = 1 + random.below(8);
        let mut graph = Graph::random(&mut random, states);
        let mut formulas = Formulas::new();
        let formula = random.formula(&mut formulas, 4 + case % 12, &mut 8);
        let complete = check(&mut graph, &formulas, formula).unwrap();
        graph.asked.clear();
        let (normal, root) = normal::normal_form(&formulas, formula);
        let automaton = automaton::Automaton::partial(normal, normal::negation(root));
        let partial = search::search(&mut graph, automaton).unwrap();
        assert_eq!(complete.is_some(), partial.is_some(), "case {case}: {}", maude(&formulas, formula));
        for lasso in complete.iter().chain(&partial) {
            validate(&graph, &formulas, formula, lasso);
        }
    }
}

/// One formula of each shape that people write, with the number of states of the automaton of its negation.
#[test]
fn automata_of_common_formulas_are_small() {
    let size = |build: &dyn Fn(&mut Formulas, FormulaId, FormulaId) -> FormulaId| {
        let mut formulas = Formulas::new();
        let (p, q) = (formulas.proposition(0), formulas.proposition(1));
        let formula = build(&mut formulas, p, q);
        let (normal, root) = normal::normal_form(&formulas, formula);
        automaton::Automaton::new(normal, normal::negation(root)).states()
    };
    assert_eq!(size(&|formulas, p, _| formulas.always(p)), 2);
    assert_eq!(size(&|formulas, p, _| formulas.eventually(p)), 1);
    let infinitely_often = |formulas: &mut Formulas, p| {
        let eventually = formulas.eventually(p);
        formulas.always(eventually)
    };
    assert_eq!(size(&|formulas, p, _| infinitely_often(formulas, p)), 2);
    let response = |formulas: &mut Formulas, p, q| {
        let eventually = formulas.eventually(q);
        let answered = formulas.implies(p, eventually);
        formulas.always(answered)
    };
    assert_eq!(size(&response), 2);
    // The negation of "not infinitely often p" is "infinitely often p": one state.
    assert_eq!(
        size(&|formulas, p, _| {
            let often = infinitely_often(formulas, p);
            formulas.not(often)
        }),
        1
    );
}

/// A step with fewer obligations but without a mark must not displace the step that has it.
#[test]
fn marks_decide_which_steps_are_superfluous() {
    let mut formulas = Formulas::new();
    let (p, q) = (formulas.proposition(0), formulas.proposition(1));
    let next = formulas.next(q);
    let pair = formulas.and(p, next);
    let once = formulas.eventually(pair);
    let later = formulas.next(once);
    let both = formulas.and(once, later);
    let always = formulas.always(both);
    let formula = formulas.not(always);
    let mut graph = Graph::new(vec![vec![1], vec![0]], vec![1, 2]);
    let lasso = check(&mut graph, &formulas, formula).unwrap().unwrap();
    validate(&graph, &formulas, formula, &lasso);
}

#[test]
fn fairness_of_many_processes_does_not_explode() {
    // Infinitely often each of 30 propositions, then something that does not follow: complete automata would have
    // 2^30 steps.
    let mut formulas = Formulas::new();
    let mut fair = formulas.add(Formula::True);
    for proposition in 0..30 {
        let p = formulas.proposition(proposition);
        let eventually = formulas.eventually(p);
        let often = formulas.always(eventually);
        fair = formulas.and(fair, often);
    }
    let goal = formulas.proposition(31);
    let reached = formulas.eventually(goal);
    let formula = formulas.implies(fair, reached);
    let (normal, root) = normal::normal_form(&formulas, formula);
    assert!(!automaton::Automaton::new(normal, normal::negation(root)).is_complete());
    // State i satisfies proposition i; a ring on which 31 is not satisfied.
    let mut ring =
        Graph::new((0..30).map(|at| vec![(at + 1) % 30, at]).collect(), (0..30).map(|at| 1 << at).collect());
    let lasso = check(&mut ring, &formulas, formula).unwrap().unwrap();
    assert_eq!(lasso, Lasso { prefix: vec![], cycle: (0..30).collect() });
    // Without state 29, no path is fair.
    let mut broken =
        Graph::new((0..29).map(|at| vec![(at + 1) % 29]).collect(), (0..29).map(|at| 1 << at).collect());
    assert_eq!(check(&mut broken, &formulas, formula).unwrap(), None);
}

#[test]
fn deep_and_wide_formulas_need_no_stack() {
    let mut formulas = Formulas::new();
    let (p, q) = (formulas.proposition(0), formulas.proposition(1));
    let mut deep = p;
    for step in 0..100_000 {
        deep = match step % 3 {
            0 => formulas.not(deep),
            1 => formulas.or(deep, q),
            _ => formulas.and(deep, p),
        };
    }
    let mut graph = Graph::new(vec![vec![0]], vec![3]);
    check(&mut graph, &formulas, deep).unwrap();
    let mut later = p;
    for _ in 0..500 {
        later = formulas.next(later);
    }
    let next_q = (0..500).fold(q, |inner, _| formulas.next(inner));
    let both = formulas.and(later, next_q);
    let mut chain = Graph::new((1..=501).map(|at| vec![at.min(500)]).collect(), vec![0; 501]);
    chain.propositions[500] = 3;
    assert_eq!(check(&mut chain, &formulas, both).unwrap(), None);
    // Conjunctions of 100 disjunctions: 2^100 ways to satisfy them.
    let mut clauses = formulas.add(Formula::True);
    for at in 0..100 {
        let (left, right) = (formulas.proposition(2 * at % 31), formulas.proposition((3 * at + 1) % 31));
        let right = formulas.next(right);
        let clause = formulas.or(left, right);
        clauses = formulas.and(clauses, clause);
    }
    let formula = formulas.not(clauses);
    let mut graph = Graph::new(vec![vec![0, 1], vec![]], vec![0x2aaa_aaaa, u32::MAX]);
    let lasso = check(&mut graph, &formulas, formula).unwrap().unwrap();
    validate(&graph, &formulas, formula, &lasso);
}

#[test]
fn deadlocks_repeat_and_lassos_are_short() {
    let mut formulas = Formulas::new();
    let p = formulas.proposition(0);
    let always = formulas.always(p);
    let eventually = formulas.eventually(always);
    let mut graph = Graph::new(vec![vec![1, 2], vec![0], vec![]], vec![1, 1, 0]);
    let lasso = check(&mut graph, &formulas, eventually).unwrap().unwrap();
    assert_eq!(lasso, Lasso { prefix: vec![0], cycle: vec![2] });
}

/// The formula in Maude's syntax.
fn maude(formulas: &Formulas, formula: FormulaId) -> String {
    let of = |argument| maude(formulas, argument);
    match formulas.get(formula) {
        Formula::True => "True".into(),
        Formula::False => "False".into(),
        Formula::Prop(proposition) => format!("p({proposition})"),
        Formula::Not(a) => format!("(~ {})", of(a)),
        Formula::And(a, b) => format!("({} /\\ {})", of(a), of(b)),
        Formula::Or(a, b) => format!("({} \\/ {})", of(a), of(b)),
        Formula::Implies(a, b) => format!("({} -> {})", of(a), of(b)),
        Formula::Iff(a, b) => format!("({} <-> {})", of(a), of(b)),
        Formula::Next(a) => format!("(O {})", of(a)),
        Formula::Until(a, b) => format!("({} U {})", of(a), of(b)),
        Formula::Release(a, b) => format!("({} R {})", of(a), of(b)),
        Formula::Eventually(a) => format!("(<> {})", of(a)),
        Formula::Always(a) => format!("([] {})", of(a)),
        Formula::WeakUntil(a, b) => format!("({} W {})", of(a), of(b)),
    }
}

#[test]
fn verdicts_agree_with_maude() {
    let mut random = Random(0x0dd0_c0de_5eed_0001);
    let mut program = String::from("load model-checker\n");
    let mut expected = Vec::new();
    for system in 0..10 {
        let mut graph = Graph::random(&mut random, 5);
        let _ = writeln!(program, "mod G{system} is including MODEL-CHECKER . protecting NAT .");
        let _ = writeln!(program, "op s : Nat -> State [ctor] . op p : Nat -> Prop [ctor] .");
        for (state, successors) in graph.successors.iter().enumerate() {
            for successor in successors {
                let _ = writeln!(program, "rl s({state}) => s({successor}) .");
            }
            for proposition in (0..3).filter(|bit| graph.propositions[state] >> bit & 1 == 1) {
                let _ = writeln!(program, "eq s({state}) |= p({proposition}) = true .");
            }
        }
        let _ = writeln!(program, "endm");
        for case in 0..20 {
            let mut formulas = Formulas::new();
            let formula = random.formula(&mut formulas, 2 + case % 8, &mut 5);
            let _ = writeln!(program, "red modelCheck(s(0), {}) .", maude(&formulas, formula));
            graph.asked.clear();
            expected.push(check(&mut graph, &formulas, formula).unwrap().is_none());
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("verdicts.maude");
    std::fs::write(&file, &program).unwrap();
    let run = std::process::Command::new("maude")
        .args(["-no-banner", "-no-advise", "-batch"])
        .arg(&file)
        .stdin(std::process::Stdio::null())
        .output();
    let Ok(output) = run else {
        eprintln!("skipped: maude is not installed");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let verdicts: Vec<bool> = text
        .lines()
        .filter(|line| line.starts_with("result "))
        .map(|line| line.starts_with("result Bool: true"))
        .collect();
    assert_eq!(verdicts, expected, "{}", String::from_utf8_lossy(&output.stderr));
}
