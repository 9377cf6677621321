//! What the typed tree says about small programs.

use lnt::typed::*;
use source::Sources;

fn program(definitions: &str) -> Program {
    let mut sources = Sources::new();
    let text = format!("module m is {definitions} end module");
    match lnt::load_text("m.lnt", &text, &mut sources) {
        Ok(checked) => checked.program,
        Err(errors) => panic!("{}", sources.render_all(&errors, false)),
    }
}

fn returned(program: &Program, function: &str) -> Expression {
    let function = program.functions.iter().find(|one| one.name == function).unwrap();
    match &function.body.kind {
        StatementKind::Return(Some(value)) => value.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn literals_take_the_type_that_is_wanted() {
    let program = program(
        "function a : nat is return 1 end function
         function b : int is return 1 end function
         function c : real is return 1 end function
         function d (i : int) : bool is return 1 + 2 < i end function
         function e : bool is return 1 < 2 end function",
    );
    assert_eq!(returned(&program, "a").ty, TypeId::NAT);
    assert_eq!(returned(&program, "b").ty, TypeId::INT);
    assert!(matches!(returned(&program, "c").kind, ExpressionKind::Literal(Literal::Real(1.0))));
    let operands = |function| match returned(&program, function).kind {
        ExpressionKind::Builtin(Builtin::Less, operands) => operands,
        other => panic!("{other:?}"),
    };
    assert!(operands("d").iter().all(|operand| operand.ty == TypeId::INT));
    assert!(operands("e").iter().all(|operand| operand.ty == TypeId::NAT));
}

#[test]
fn bounds_come_from_pragmas() {
    let bounds = |program: &Program, ty: TypeId| match program[ty].kind {
        TypeKind::Nat { lower, upper } | TypeKind::Int { lower, upper } => (lower, upper),
        _ => panic!(),
    };
    let plain = program("");
    assert_eq!((bounds(&plain, TypeId::NAT), bounds(&plain, TypeId::INT)), ((0, 255), (-128, 127)));
    let set = program("!nat_sup 6 !int_bits 4");
    assert_eq!((bounds(&set, TypeId::NAT), bounds(&set, TypeId::INT)), ((0, 6), (-8, 7)));
}

#[test]
fn overloads_are_chosen_by_parameters_and_by_result() {
    let program = program(
        "type a is red, blue end type type b is red, green end type
         function f (x : a) : nat is use x; return 1 end function
         function f (x : b) : nat is use x; return 2 end function
         function g : nat is return f (blue) end function
         function h : nat is return f (green) end function
         function r : b is return red end function",
    );
    let called = |function| match returned(&program, function).kind {
        ExpressionKind::Call { function, .. } => function,
        other => panic!("{other:?}"),
    };
    assert_eq!((called("g"), called("h")), (FunctionId(0), FunctionId(1)));
    match returned(&program, "r").kind {
        ExpressionKind::Construct(id, _) => assert_eq!(program.types[program[id].ty.index()].name, "b"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn operators_group_as_people_read_them() {
    let program = program(
        "function f (a, b, c : nat) : nat is return a - b - c end function
         function g (a, b, c : nat) : nat is return a + b * c ** 2 end function
         function h (a, b : bool) : bool is return not a and b or a end function",
    );
    let show = |function| show(&returned(&program, function));
    assert_eq!(show("f"), "Subtract(Subtract(0,1),2)");
    assert_eq!(show("g"), "Add(0,Multiply(1,Power(2,#)))");
    assert_eq!(show("h"), "OrElse(AndThen(Not(0),1),0)");
}

fn show(expression: &Expression) -> String {
    match &expression.kind {
        ExpressionKind::Variable(id) => id.index().to_string(),
        ExpressionKind::Builtin(builtin, operands) => {
            let operands: Vec<String> = operands.iter().map(show).collect();
            format!("{builtin:?}({})", operands.join(","))
        }
        _ => "#".to_owned(),
    }
}

#[test]
fn named_parameters_and_gates_become_positional() {
    let program = program(
        "process P [A, B : none] (x : nat, y : bool) is A; B; use x, y end process
         process Q [C, B : none] is P [A -> C, ...] (y => true, x => 1) end process",
    );
    let process = program.process_named("q").unwrap();
    match &program[process].body.kind {
        StatementKind::Instantiate { gates, arguments, .. } => {
            assert_eq!(gates, &[GateRef::Local(GateId(0)), GateRef::Local(GateId(1))]);
            let types: Vec<TypeId> = arguments
                .iter()
                .map(|argument| match argument {
                    Argument::In(value) => value.ty,
                    _ => panic!(),
                })
                .collect();
            assert_eq!(types, [TypeId::NAT, TypeId::BOOL]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn hidden_names_are_different_variables() {
    let program = program(
        "process P [A : any] (x : nat) is
            var x : bool in x := true; A (x) end var; A (x);
            hide A : none in A end hide
         end process",
    );
    let process = &program[ProcessId(0)];
    assert_eq!(process.scope.variables.len(), 2);
    assert_eq!(process.scope.gates.len(), 2);
    let StatementKind::Sequence(parts) = &process.body.kind else { panic!() };
    match &parts[1].kind {
        StatementKind::Action(action) => assert_eq!(action.offers[0].ty, TypeId::NAT),
        other => panic!("{other:?}"),
    }
    match &parts[2].kind {
        StatementKind::Hide { gates, body } => match &body.kind {
            StatementKind::Action(action) => assert_eq!(action.gate, GateRef::Local(gates[0])),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn elements_of_elements_are_stored_through_the_outer_array() {
    let program = program(
        "type row is array [0 .. 1] of nat end type type grid is array [0 .. 1] of row end type
         function f (in var g : grid) : grid is g[0][1] := 2; return g end function",
    );
    let StatementKind::Sequence(parts) = &program.functions[0].body.kind else { panic!() };
    match &parts[0].kind {
        StatementKind::AssignElement { array, value, .. } => {
            assert_eq!(array.index(), 0);
            assert!(matches!(value.kind, ExpressionKind::Builtin(Builtin::Store, _)));
            assert_eq!(program[value.ty].name, "row");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn cases_know_whether_they_are_exhaustive() {
    let program = program(
        "function f (b : bool) : nat is case b in true -> return 1 | false -> return 2 end case end function
         function g (n : nat) : nat is case n in 0 -> return 1 end case end function",
    );
    let exhaustive = |at: usize| match &program.functions[at].body.kind {
        StatementKind::Case { exhaustive, .. } => *exhaustive,
        other => panic!("{other:?}"),
    };
    assert!(exhaustive(0));
    assert!(!exhaustive(1));
}

#[test]
fn blocking_and_passing_conditionals_differ() {
    let program =
        program("process P [A : none] (b : bool) is if b then A end if; only if b then A end if end process");
    let StatementKind::Sequence(parts) = &program.processes[0].body.kind else { panic!() };
    assert!(matches!(parts[0].kind, StatementKind::If { otherwise: None, .. }));
    assert!(matches!(parts[1].kind, StatementKind::OnlyIf { otherwise: None, .. }));
}

#[test]
fn modules_can_be_replaced_by_text() {
    let folder = tempfile::tempdir().unwrap();
    let data = "module data is function size : nat is return 1 end function end module";
    std::fs::write(folder.path().join("DATA.lnt"), data).unwrap();
    let root = folder.path().join("main.lnt");
    std::fs::write(&root, "module main (Data) is process MAIN [A : any] is A (size) end process end module")
        .unwrap();
    let value = |loader: lnt::Loader| {
        let mut sources = Sources::new();
        let program = loader.load(&root, &mut sources).unwrap().program;
        match returned(&program, "size").kind {
            ExpressionKind::Literal(Literal::Integer(value)) => value,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(value(lnt::Loader::new()), 1);
    assert_eq!(value(lnt::Loader::new().module("data", data.replace("return 1", "return 2"))), 2);
}

#[test]
fn the_user_says_where_to_start() {
    let text = "module m is
        channel c is (nat) end channel
        process P [A : c, B : none] (n : nat, b : bool) is if b then A (n) else B end if end process
        end module";
    let load = |root: &str| {
        let mut sources = Sources::new();
        lnt::Loader::new()
            .root(root)
            .load_text("m.lnt", text, &mut sources)
            .map_err(|errors| sources.render_all(&errors, false))
    };
    let program = load("p [X, Y] (2, true)").unwrap().program;
    let main = &program[program.main().unwrap()];
    let gates: Vec<&str> = main.scope.gates.iter().map(|gate| gate.name.as_str()).collect();
    assert_eq!(gates, ["X", "Y"]);
    assert!(load("Q (1)").unwrap_err().contains("unknown gate, process or function `Q`"));
    assert!(load("p (true, 1)").unwrap_err().contains("expected `nat`, found `bool`"));
    assert!(load("p [X] (1, true)").unwrap_err().contains("takes 2 gates, found 1"));
    assert!(load("x := 1").unwrap_err().contains("the root must be a process"));
    assert!(load("p (1, true) p").unwrap_err().contains("expected nothing more"));
    assert!(load("").unwrap_err().contains("expected a statement"));
}
