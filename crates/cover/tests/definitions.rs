//! A worked example for every definition and every finding of Salaün and Ye 2015, its numbers derived by hand.

use cover::{Example, FindingKind, Outcome, Settings, Subject};

/// Runs examples on a module whose text is given without its frame.
fn cover(text: &str, roots: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lnt");
    std::fs::write(&path, format!("module m is\n{text}\nend module\n")).unwrap();
    let examples: Vec<Example> = roots.iter().map(|root| Example::of_root(root)).collect();
    let outcome =
        cover::run(&Subject::new(&path).unwrap(), &examples, &Settings::default(), &lts::Progress::new());
    outcome.unwrap_or_else(|wrong| {
        let errors: Vec<String> =
            wrong.iter().map(|one| one.error.sources.render_all(&one.error.diagnostics, false)).collect();
        panic!("{}", errors.join("\n"))
    })
}

/// The text of each block.
fn blocks(outcome: &Outcome) -> Vec<String> {
    let specification = &outcome.specification;
    let text = |block: &model::Block| {
        let words: Vec<&str> = specification.sources.slice(block.span).split_whitespace().collect();
        words.join(" ")
    };
    specification.map.blocks.iter().map(text).collect()
}

/// Kind, source and message of each finding.
fn found(outcome: &Outcome) -> Vec<(FindingKind, String)> {
    let text = |finding: &cover::Finding| {
        let text = outcome.specification.sources.slice(finding.span);
        (finding.kind, text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    outcome.findings.iter().map(text).collect()
}

/// Definitions 1 and 2. Control instructions (if, case, while, par, select, stop) end blocks and are in none.
///
/// By hand: `x := 0; A` up to the if; `B` in it; `C` up to the while; `A; x := x + 1` in it; `null` and `B` in the
/// branches of the select; `C` and `A` in those of the par; nothing for stop. That makes 8 blocks, of which `null` is
/// silent. The actions are A, B, C, A, B, C, A: 7 instances of 3 actions.
#[test]
fn definition_1_and_2_blocks_end_at_control_instructions() {
    let outcome = cover(
        "process MAIN [A, B, C : none] is
            var x : nat in
               x := 0; A;
               if x == 0 then B end if;
               C;
               while x < 2 loop A; x := x + 1 end loop;
               select null [] B end select;
               par C || A end par;
               stop
            end var
         end process",
        &["MAIN"],
    );
    let expected =
        ["x := 0; A", "B", "C", "A; x := x + 1", "null", "B", "C", "A"].map(str::to_owned).to_vec();
    assert_eq!(blocks(&outcome), expected);
    let map = &outcome.specification.map;
    let silent: Vec<bool> = map.blocks.iter().map(model::Block::is_silent).collect();
    assert_eq!(silent, [false, false, false, false, true, false, false, false]);
    assert_eq!(map.actions.len(), 7);
    assert_eq!(outcome.coverage.block_ratio(), cover::Ratio { total: 8, covered: 8 });
    assert_eq!(outcome.coverage.action_ratio(), cover::Ratio { total: 7, covered: 7 });
}

/// Definition 2, "largest": var and hide are no control instructions, so that a block extends across them. By hand:
/// one block `A; … B; … C` although there are three levels of declarations.
#[test]
fn definition_2_blocks_are_largest_sequences() {
    let outcome = cover(
        "process MAIN [A, B, C : any] is
            A; var x : nat in x := 1; B (x) end var; hide D : none in C; D end hide
         end process",
        &["MAIN"],
    );
    assert_eq!(blocks(&outcome), ["A; var x : nat in x := 1; B (x) end var; hide D : none in C; D"]);
    assert_eq!(outcome.coverage.block_ratio(), cover::Ratio { total: 1, covered: 1 });
    assert_eq!(outcome.coverage.action_ratio(), cover::Ratio { total: 4, covered: 4 });
}

/// A block is covered when all of it is executed, not when it is entered: B has no partner, so that of `A; B` only A
/// happens. By hand: blocks are `A; B`, `A` and nothing else; 1 of 2 is covered, and 2 of 3 actions.
#[test]
fn definition_3_a_block_is_covered_by_its_end() {
    let outcome =
        cover("process MAIN [A, B : none] is par A, B in A; B || A; stop end par end process", &["MAIN"]);
    assert_eq!(outcome.coverage.blocks, [false, true]);
    assert_eq!(outcome.coverage.actions, [true, false, true]);
}

/// Definition 3, the paper's example: each branch of a case is a decision, `x == 0`, `x == 1`, `x == 2`.
///
/// By hand: MAIN (1) evaluates the first to false and the second to true; the third is not evaluated. MAIN (0)
/// evaluates the first to true. Together the first is covered, the second only true, the third not at all.
#[test]
fn definition_3_every_branch_of_a_case_is_a_decision() {
    let text = "type three is range 0..2 of nat with \"==\" end type
         process MAIN [A, B, C : none] (x : three) is
            case x in 0 -> A | 1 -> B | 2 -> C end case
         end process";
    let outcomes = |roots: &[&str]| -> Vec<(bool, bool)> {
        let outcome = cover(text, roots);
        assert_eq!(outcome.specification.map.decisions.len(), 3);
        outcome.coverage.decisions.iter().map(|one| (one.yes, one.no)).collect()
    };
    assert_eq!(outcomes(&["MAIN (1)"]), [(false, true), (true, false), (false, false)]);
    assert_eq!(outcomes(&["MAIN (1)", "MAIN (0)"]), [(true, true), (true, false), (false, false)]);
    // The last branch is taken whenever it is tried: it has no false outcome that could be missing.
    let all = cover(text, &["MAIN (0)", "MAIN (1)", "MAIN (2)"]);
    assert_eq!(all.coverage.decision_ratio(&all.specification.map), cover::Ratio { total: 3, covered: 3 });
    assert_eq!(found(&all), []);
}

/// Definition 3: the outcomes of a decision may come from different examples.
#[test]
fn definition_3_two_examples_cover_a_decision_together() {
    let text = "process MAIN [A : none] (x : bool) is if x then A end if end process";
    let ratio = |roots: &[&str]| {
        let outcome = cover(text, roots);
        outcome.coverage.decision_ratio(&outcome.specification.map).covered
    };
    assert_eq!(ratio(&["MAIN (true)"]), 0);
    assert_eq!(ratio(&["MAIN (false)"]), 0);
    assert_eq!(ratio(&["MAIN (true)", "MAIN (false)"]), 1);
}

/// Definition 4. By hand, with x = true: of the blocks A, B, C the first two are executed (2/3); of the decisions `x`
/// and `not (x)` none has both outcomes (0/2); of the actions A, B, C two happen (2/3).
#[test]
fn definition_4_percentages() {
    let outcome = cover(
        "process MAIN [A, B, C : none] (x : bool) is
            A; if x then B end if; if not (x) then C end if
         end process",
        &["MAIN (true)"],
    );
    let map = &outcome.specification.map;
    assert_eq!(outcome.coverage.block_ratio().percent(), Some(200.0 / 3.0));
    assert_eq!(outcome.coverage.decision_ratio(map).percent(), Some(0.0));
    assert_eq!(outcome.coverage.action_ratio().percent(), Some(200.0 / 3.0));
}

/// Definition 8. By hand: A needs x; B needs not x, and y; C needs neither x nor y; D is behind all of them, E in a
/// loop needs its condition, F behind the loop needs it to become false; G is only reached if z does not lead to stop.
#[test]
fn definition_8_blocks_depend_on_outcomes() {
    let outcome = cover(
        "process MAIN [A, B, C, D, E, F, G : none] (x, y, z : bool) is
            var n : nat in
               if x then A elsif y then B else C end if;
               D; n := 0;
               while n < 1 loop E; n := n + 1 end loop;
               F;
               if z then stop end if;
               G
            end var
         end process",
        &["MAIN (true, true, true)"],
    );
    let depends: Vec<Vec<(usize, bool)>> = outcome
        .specification
        .map
        .blocks
        .iter()
        .map(|block| block.depends.iter().map(|one| (one.decision, one.outcome)).collect())
        .collect();
    let expected: [&[(usize, bool)]; 7] = [
        &[(0, true)],
        &[(0, false), (1, true)],
        &[(0, false), (1, false)],
        &[],
        &[(2, true)],
        &[(2, false)],
        &[(2, false), (3, false)],
    ];
    assert_eq!(depends, expected);
}

/// Definitions 9 and 10. By hand, with x = true: A's block has no decision, so it is executable, and it is covered.
/// The block `B; C` needs x: executable; C has no partner, so that it is not covered: partially covered. D needs x to
/// be false: not executable, hence not partially covered either.
#[test]
fn definition_9_and_10_executable_and_partially_covered() {
    let outcome = cover(
        "process MAIN [A, B, C, D : none] (x : bool) is
            par C in
               A; if x then B; C else D end if
            ||
               stop
            end par
         end process",
        &["MAIN (true)"],
    );
    let (map, coverage) = (&outcome.specification.map, &outcome.coverage);
    let executable: Vec<bool> = (0..3).map(|block| coverage.is_executable(map, block)).collect();
    let partial: Vec<bool> = (0..3).map(|block| coverage.is_partially_covered(map, block)).collect();
    assert_eq!(coverage.blocks, [true, false, false]);
    assert_eq!(executable, [true, true, false]);
    assert_eq!(partial, [false, true, false]);
}

/// Ill-formed decision: `x > 5` is always false (x is 0 or 1), and the block B needs it to be true.
#[test]
fn finding_ill_formed_decision() {
    let outcome = cover(
        "process MAIN [A, B : any] (x : nat) is A (x); if x > 5 then B end if end process",
        &["MAIN (0)", "MAIN (1)"],
    );
    assert_eq!(found(&outcome), [(FindingKind::IllFormedDecision, "x > 5".to_owned())]);
    assert_eq!(outcome.findings[0].why, ["x was 0, 1"]);
}

/// Unnecessary decision: `x < 5` is always true, and no block needs it to be false.
#[test]
fn finding_unnecessary_decision() {
    let outcome = cover(
        "process MAIN [A, B : any] (x : nat) is A (x); if x < 5 then B end if end process",
        &["MAIN (0)", "MAIN (1)"],
    );
    assert_eq!(found(&outcome), [(FindingKind::UnnecessaryDecision, "x < 5".to_owned())]);
}

/// The same decision with an else is ill-formed: its false outcome controls C.
#[test]
fn an_uncovered_else_makes_a_decision_ill_formed() {
    let outcome = cover(
        "process MAIN [A, B, C : any] (x : nat) is A (x); if x < 5 then B else C end if end process",
        &["MAIN (0)"],
    );
    assert_eq!(found(&outcome), [(FindingKind::IllFormedDecision, "x < 5".to_owned())]);
}

/// Non-synchronisable actions, one for each thing that can keep partners apart.
#[test]
fn finding_non_synchronisable_action() {
    let sync = FindingKind::NonSynchronisableAction;
    // The partner has no such action at all.
    let outcome = cover("process MAIN [A, B : none] is par A in A; B || B end par end process", &["MAIN"]);
    assert_eq!(found(&outcome), [(sync, "A".to_owned())]);
    assert_eq!(outcome.findings[0].why, ["it must synchronise with MAIN, which has no action on A"]);
    assert!(outcome.findings[0].message.ends_with(", and neither does the action after it"));
    // The partner is never ready at the same time: each waits for the other.
    let outcome =
        cover("process MAIN [A, B : none] is par A, B in A; B || B; A end par end process", &["MAIN"]);
    assert_eq!(found(&outcome), [(sync, "A".to_owned()), (sync, "B".to_owned())]);
    assert!(outcome.findings[0].why[0].contains("never ready for A"));
    // The decision is evaluated on a silent way, and holds: the action is what never happens.
    let outcome = cover(
        "process MAIN [A, B : none] (x : bool) is
            par A in select if x then null; A end if [] B end select || stop end par
         end process",
        &["MAIN (true)"],
    );
    let unnecessary = (FindingKind::UnnecessaryDecision, "x".to_owned());
    assert_eq!(found(&outcome), [unnecessary, (sync, "A".to_owned())]);
    // The values never match.
    let outcome = cover(
        "process MAIN [A : any] is par A in A (1 of nat) || A (2 of nat) end par end process",
        &["MAIN"],
    );
    assert_eq!(outcome.findings.len(), 2);
    assert_eq!(outcome.findings[0].why[1], "here A !1, there MAIN A !2");
    // The types never match.
    let outcome =
        cover("process MAIN [A : any] is par A in A (1 of nat) || A (true) end par end process", &["MAIN"]);
    assert!(outcome.findings[0].why[0].contains("values of other types"));
    assert_eq!(outcome.findings[0].why[1], "here A !1, there MAIN A !TRUE");
    // A guard never holds.
    let outcome = cover(
        "process MAIN [A : any] is
            var x : nat in par A in A (1 of nat) || A (?x) where x > 3 end par end var
         end process",
        &["MAIN"],
    );
    assert!(outcome.findings[0].why[0].contains("a guard never holds"));
    assert_eq!(outcome.findings[0].why[1], "together they offer A !1");
}

/// Dead code: what stands behind stop, behind a loop without an end, and in a process that nothing starts. C behind
/// the stop is reported once, at the first block; `B` behind it belongs to the same piece.
#[test]
fn finding_dead_code() {
    let dead = FindingKind::DeadCode;
    let outcome =
        cover("process MAIN [A, B, C : none] is A; stop; C; select B [] C end select end process", &["MAIN"]);
    assert_eq!(found(&outcome), [(dead, "C".to_owned())]);
    let outcome = cover("process MAIN [A, B : none] is loop A end loop; B end process", &["MAIN"]);
    assert_eq!(found(&outcome), [(dead, "B".to_owned())]);
    let outcome = cover(
        "process MAIN [A : none] is A end process
         process HELPER [A : none] is A end process
         process OTHER [A : none] is HELPER [A] end process",
        &["MAIN"],
    );
    assert_eq!(found(&outcome).len(), 1);
    assert!(outcome.findings[0].message.contains("OTHER is never started"));
    // Behind a call that never comes back, in the same block: nothing but the call keeps B from happening.
    let outcome = cover(
        "process P [A : none] is loop A end loop end process
         process MAIN [A, B : none] is P [A]; B end process",
        &["MAIN"],
    );
    assert_eq!(found(&outcome), [(dead, "P [A]; B".to_owned())]);
    assert_eq!(outcome.findings[0].message, "dead code: the end of this block is never reached");
    assert_eq!(outcome.findings[0].why, ["the code before it never ends"]);
}

/// Definition 8, where control jumps. By hand: what follows a loop needs what the one `break` needs (x), and so does
/// what follows a trap whose body never ends need what its `raise` needs (y). Two ways lead to D, z false, and z and x
/// true: they have nothing in common that C does not need already. The blocks are A, break, B, A, raise, null, C, A,
/// break and D; all are covered.
#[test]
fn definition_8_what_follows_a_jump_depends_on_what_leads_to_it() {
    let outcome = cover(
        "process MAIN [A, B, C, D : none] (x, y, z : bool) is
            loop L in A; if x then break L end if end loop;
            B;
            trap exception E is null in loop A; if y then raise E end if end loop end trap;
            C;
            while z loop A; if x then break end if end loop;
            D
         end process",
        &["MAIN (true, true, true)"],
    );
    let of = |text: &str| -> Vec<(usize, bool)> {
        let block = blocks(&outcome).iter().position(|block| block == text).unwrap();
        let depends = &outcome.specification.map.blocks[block].depends;
        depends.iter().map(|one| (one.decision, one.outcome)).collect()
    };
    assert_eq!(of("B"), [(0, true)]);
    assert_eq!(of("C"), [(0, true), (1, true)]);
    assert_eq!(of("D"), [(0, true), (1, true)]);
    assert_eq!(outcome.coverage.blocks, [true; 10]);
}

/// One defect is one finding, also where control would jump: with x = false, `break`, `raise` and the guards are never
/// reached or passed, and what follows them is due to x alone. By hand: the decisions `x` are always false, and nothing
/// else is wrong.
#[test]
fn what_a_jump_leads_to_is_due_to_what_keeps_it_from_happening() {
    let ill = |count: usize| vec![(FindingKind::IllFormedDecision, "x".to_owned()); count];
    let found = |body: &str| {
        let text = format!("process MAIN [A, C, D : none] (x : bool) is {body} end process");
        found(&cover(&text, &["MAIN (false)"]))
    };
    assert_eq!(found("loop L in A; if x then break L end if end loop; C"), ill(1));
    assert_eq!(
        found("trap exception E is C; D in loop A; if x then raise E end if end loop end trap; D"),
        ill(1)
    );
    assert_eq!(found("disrupt loop A end loop by only if x then C end if end disrupt; D"), ill(1));
    assert_eq!(found("A; select only if x then C end if [] only if x then D end if end select; A"), ill(2));
    // Two ways out of a loop, and two loops one behind the other.
    assert_eq!(
        found(
            "loop L in A; if x then break L end if; select A [] only if x then break L end if end select end loop;
             loop K in C; if x then break K end if end loop; D"
        ),
        // The decision of the second loop is never evaluated: it has no finding.
        ill(2)
    );
}

/// An outcome is needed where it is one of several ways that are all blocked. By hand, with x = true and y = false: the
/// while goes on for ever, C is reached neither by x becoming false nor by the break. Both decisions are ill-formed.
/// With y = true, the break leads to C: everything is covered, and neither decision is needed.
#[test]
fn an_outcome_among_several_ways_is_needed_where_all_are_blocked() {
    let text = "process MAIN [A, C : none] (x, y : bool) is
            while x loop A; if y then break end if end loop; C
         end process";
    let ill = FindingKind::IllFormedDecision;
    let outcome = cover(text, &["MAIN (true, false)"]);
    assert_eq!(found(&outcome), [(ill, "x".to_owned()), (ill, "y".to_owned())]);
    assert_eq!(
        outcome.findings[0].message,
        "this decision is always true; if it were false, 1 more block would be reached"
    );
    let unnecessary = FindingKind::UnnecessaryDecision;
    let outcome = cover(text, &["MAIN (true, true)"]);
    assert_eq!(found(&outcome), [(unnecessary, "x".to_owned()), (unnecessary, "y".to_owned())]);
    // One way is blocked by an action that has no partner, the other one by x: B is due to both.
    let outcome = cover(
        "process MAIN [A, B : none] (x : bool) is
            par A in if x then A end if; B || stop end par
         end process",
        &["MAIN (true)"],
    );
    let sync = FindingKind::NonSynchronisableAction;
    assert_eq!(found(&outcome), [(ill, "x".to_owned()), (sync, "A".to_owned())]);
    // B is reached and has no partner itself: x would not help.
    let outcome = cover(
        "process MAIN [A, B : none] (x : bool) is
            par B in if x then A end if; B || stop end par
         end process",
        &["MAIN (true)"],
    );
    assert_eq!(found(&outcome), [(unnecessary, "x".to_owned()), (sync, "B".to_owned())]);
}

/// The same across calls. By hand: P does not come back because x is true, so that B does not happen, whether it
/// stands in the block of the call or behind another decision, which is not evaluated; and C, the handler of what P would raise, needs x as well.
#[test]
fn what_follows_a_call_is_due_to_what_keeps_the_process_from_ending() {
    let ill = [(FindingKind::IllFormedDecision, "x".to_owned())];
    for rest in ["B", "if x then B end if", "select B [] A end select"] {
        let outcome = cover(
            &format!(
                "process P [A : none] (x : bool) is A; if x then stop end if end process
                 process MAIN [A, B : none] (x : bool) is P [A] (x); {rest} end process"
            ),
            &["MAIN (true)"],
        );
        assert_eq!(found(&outcome), ill, "{rest}");
    }
    let outcome = cover(
        "process P [A, E : none] (x : bool) is loop A; if x then raise E end if end loop end process
         process MAIN [A, C, D : none] is
            trap exception E is C in P [A, E] (false) end trap; D
         end process",
        &["MAIN"],
    );
    assert_eq!(found(&outcome), ill);
}

/// A handler of an exception that nothing raises is dead code, and says so; D behind it is due to that.
#[test]
fn a_handler_of_what_nothing_raises_is_dead_code() {
    let outcome = cover(
        "process MAIN [A, C, D : none] is trap exception E is C in loop A end loop end trap; D end process",
        &["MAIN"],
    );
    assert_eq!(found(&outcome), [(FindingKind::DeadCode, "C".to_owned())]);
    assert_eq!(outcome.findings[0].why, ["nothing raises the exception that leads to it"]);
}

/// Handlers of what a function would raise. By hand: `even` raises ODD for odd numbers, and is called with 2; `same` has an
/// exception that its text never raises.
#[test]
fn a_handler_of_what_a_function_would_raise_has_its_reason() {
    let functions = "function even [ODD : none] (n : nat) : nat is
            if (n mod 2) == 1 then raise ODD end if; return n
         end function
         function same [ODD : none] (n : nat) : nat is return n end function
         function twice [ODD : none] (n : nat) : nat is return even [ODD] (n) + even [ODD] (n) end function ";
    let why = |call: &str| {
        let outcome = cover(
            &format!(
                "{functions} process MAIN [A, B : any, C : none] is
                    var x : nat in
                       A; x := 2; trap exception ODD is C; x := 1 in x := {call} end trap; B (x)
                    end var
                 end process"
            ),
            &["MAIN"],
        );
        assert_eq!(found(&outcome), [(FindingKind::DeadCode, "C; x := 1".to_owned())]);
        let finding = &outcome.findings[0];
        let related: Vec<String> = (finding.related.iter())
            .map(|(span, _)| outcome.specification.sources.slice(*span).to_owned())
            .collect();
        (finding.why.join("; "), related)
    };
    let never = "no function call raises the exception that leads to it".to_owned();
    assert_eq!(why("even [ODD] (2)"), (never.clone(), vec!["even [ODD] (2)".to_owned()]));
    assert_eq!(why("twice [ODD] (2)"), (never, vec!["twice [ODD] (2)".to_owned()]));
    assert_eq!(why("same [ODD] (2)"), ("nothing raises the exception that leads to it".to_owned(), vec![]));
}

/// A choice that no value satisfies, in a process that is entered and stuck there. By hand: x is at most 255; B behind the
/// call, and D behind the choice, are due to that.
#[test]
fn a_choice_that_no_value_satisfies_is_the_reason() {
    let stuck = "x := any nat where x + limit > 255";
    let text = |rest: &str| {
        format!(
            "process P [C : any, D : none] (limit : nat) is
                var x : nat in {stuck}; C (x); D end var
             end process
             process MAIN [A, B : none, C : any, D : none] is A; P [C, D] (0){rest} end process"
        )
    };
    for rest in ["", "; B", "; select B [] A end select"] {
        let outcome = cover(&text(rest), &["MAIN"]);
        assert_eq!(found(&outcome), [(FindingKind::DeadCode, stuck.to_owned())], "{rest}");
        assert_eq!(outcome.findings[0].why, ["it is reached, but no value satisfies its condition"]);
    }
    // Some value satisfies it: C is offered, and finds no partner.
    let outcome = cover(
        "process MAIN [A : none, C : any] is
            par C in A; var x : nat in x := any nat where x < 2; C (x) end var || stop end par
         end process",
        &["MAIN"],
    );
    assert_eq!(found(&outcome), [(FindingKind::NonSynchronisableAction, "C (x)".to_owned())]);
}

/// The one liberty, minimal: the decision at the start of the branch is critical (definition 6), and the branch stops
/// after A. Its probe stands behind the select, which never ends: probes do not see the outcome. The step A has
/// evaluated it and is taken: measured directly, it is seen.
#[test]
fn the_liberty_an_outcome_counts_when_its_step_is_taken() {
    let outcome = cover(
        "process MAIN [A, B : none] (x : bool) is
            select only if x then A; stop end if [] B; stop end select
         end process",
        &["MAIN (true)"],
    );
    assert!(outcome.coverage.decisions[0].yes);
}

/// An outcome that was evaluated in a state that was reached counts, whether or not the action behind it happens: x is
/// true there. The action is what is missing.
#[test]
fn an_outcome_counts_where_its_action_finds_no_partner() {
    let outcome = cover(
        "process MAIN [A, B : none] (x : bool) is
            par A in
               select if x then A end if [] B end select
            ||
               stop
            end par
         end process",
        &["MAIN (true)"],
    );
    assert_eq!(outcome.coverage.decisions[0], cover::Outcomes { yes: true, no: false });
    let unnecessary = (FindingKind::UnnecessaryDecision, "x".to_owned());
    assert_eq!(found(&outcome), [unnecessary, (FindingKind::NonSynchronisableAction, "A".to_owned())]);
}

/// Refusing is what `only if` does: its false outcome counts although no step shows it.
#[test]
fn a_refusal_is_an_outcome() {
    let text = "process MAIN [A, B : none] (x : bool) is
            loop select only if x then A end if [] B end select end loop
         end process";
    assert_eq!(
        cover(text, &["MAIN (false)"]).coverage.decisions[0],
        cover::Outcomes { yes: false, no: true }
    );
    assert_eq!(cover(text, &["MAIN (true)"]).coverage.decisions[0], cover::Outcomes { yes: true, no: false });
}

/// Reasons are sought in all states. By hand: T happens 60 · 60 · 60 = 216,000 times, and in the state behind it G is
/// offered for the first and only time, to a partner that has stopped.
#[test]
fn an_action_that_is_offered_late_is_non_synchronisable() {
    let outcome = cover(
        "process COUNT [T, G, E : none] is
            var a, b, c : nat in
               for a := 0 while a < 60 by a := a + 1 loop
                  for b := 0 while b < 60 by b := b + 1 loop
                     for c := 0 while c < 60 by c := c + 1 loop T end loop
                  end loop
               end loop;
               par G in G; E || stop end par
            end var
         end process",
        &["COUNT"],
    );
    assert!(outcome.examples[0].states > 216_000);
    assert_eq!(found(&outcome), [(FindingKind::NonSynchronisableAction, "G".to_owned())]);
    assert_eq!(outcome.findings[0].why, ["it must synchronise with COUNT, which has no action on G"]);
}

/// Values are counted, however many there are, and whatever the threads do. By hand: a nat is one of 0 to 255; there are
/// 128 · 128 pairs of an even and an odd offer, all as unlike as the others, so that those are shown that come first
/// as text.
#[test]
fn many_values_are_counted() {
    let text = "process MAIN [A, B : any] is
            var x : nat in x := any nat; if x >= 0 then A (x) else B end if end var
         end process";
    let outcome = cover(text, &["MAIN"]);
    assert_eq!(outcome.findings[0].why, ["x was 0, 1, 2, 3, 4, 5, 6, 7 and 248 more up to 255"]);
    let outcome = cover(
        "process MAIN [A : any] is
            var x, y : nat in
               x := any nat where x mod 2 == 0; y := any nat where y mod 2 == 1; i;
               par A in A (x) || A (y) end par
            end var
         end process",
        &["MAIN"],
    );
    let why = &outcome.findings[0].why;
    assert_eq!(why[0], "it must synchronise with MAIN, but the values never match");
    assert_eq!(why[1], "here A !0, there MAIN A !1");
    assert_eq!(why[2], "here A !0, there MAIN A !101");
    assert_eq!(why[5], "and more than 60 other pairs like these");
}

/// A limit does not let threads tell more than belongs to the result. By hand: v has a value of its own in every state,
/// and behind n actions there are n + 1 states. 20,000 states are those behind up to 198 actions (19,900 of them) and 100
/// of the 200 behind 199. All but the first were reached by a step that evaluated v: 19,999 values, 8 of which are shown.
#[test]
fn a_limit_limits_the_values_that_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lnt");
    let text = "module m is
         type pair is pair (x, y : nat) with \"==\" end type
         process MAIN [A, B, C : none] is
            var v : pair in
               v := pair (0, 0);
               loop
                  select A; v := v.{x => v.x + 1} [] B; v := v.{y => v.y + 1} end select;
                  if v == pair (0, 0) then C end if
               end loop
            end var
         end process end module";
    std::fs::write(&path, text).unwrap();
    let why = [1, 2, 4].map(|threads| {
        let limits = explore::Limits { states: 20_000, threads, ..explore::Limits::default() };
        let settings = Settings { limits, ..Settings::default() };
        let outcome = cover::run(
            &Subject::new(&path).unwrap(),
            &[Example::of_root("MAIN")],
            &settings,
            &lts::Progress::new(),
        );
        outcome.unwrap_or_else(|_| panic!("the example type-checks")).findings[0].why.clone()
    });
    assert!(why.iter().all(|why| why[0].ends_with(" and 19991 more")), "{why:?}");
}

/// A model without decisions, and one without anything.
#[test]
fn models_without_decisions() {
    let outcome = cover("process MAIN [A : none] is A end process", &["MAIN"]);
    assert_eq!(outcome.coverage.decision_ratio(&outcome.specification.map).percent(), None);
    assert_eq!(outcome.coverage.block_ratio().percent(), Some(100.0));
    let outcome = cover("process MAIN is stop end process", &["MAIN"]);
    assert_eq!(outcome.coverage.block_ratio().percent(), None);
    assert_eq!(found(&outcome), []);
}

/// The coverage of an example that hits a limit is that of the states that were explored, whatever the threads do.
#[test]
fn a_limit_gives_partial_coverage() {
    let text = "process MAIN [A, B : any] is
            var n : nat in
               n := 0;
               while n < 200 loop A (n); n := n + 1 end loop; B (n)
            end var
         end process";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lnt");
    std::fs::write(&path, format!("module m is\n{text}\nend module\n")).unwrap();
    for threads in [1, 2] {
        let limits = explore::Limits { states: 20, threads, ..explore::Limits::default() };
        let settings = Settings { limits, ..Settings::default() };
        let outcome = cover::run(
            &Subject::new(&path).unwrap(),
            &[Example::of_root("MAIN")],
            &settings,
            &lts::Progress::new(),
        );
        let outcome = outcome.unwrap_or_else(|_| panic!("the example type-checks"));
        assert_eq!(outcome.examples[0].stopped, Some(cover::Stopped::StateLimit));
        assert_eq!(outcome.coverage.blocks, [true, true, false]);
    }
}
