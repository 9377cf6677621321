//! Other people's models, read from beside the repository where they are; never copied into it.

use std::path::{Path, PathBuf};

use bisim::Relation;
use explore::{Limits, explore};
use lnt::{LntModel, Loader, Options};
use lts::{Lts, Progress};
use source::{Diagnostic, Sources};

fn models() -> Vec<PathBuf> {
    let mut models = Vec::new();
    for folder in clear().into_iter().flat_map(std::fs::read_dir).flatten().flatten() {
        for file in std::fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            if file.path().extension().is_some_and(|extension| extension == "lnt") {
                models.push(file.path());
            }
        }
    }
    models.sort();
    models
}

#[test]
fn models_of_the_clear_set_check_unchanged() {
    let models = models();
    for path in models {
        let mut sources = Sources::new();
        if let Err(errors) = lnt::load(&path, &[], &mut sources) {
            panic!("{}", sources.render_all(&errors, false));
        }
    }
}

/// Where the examples of the CLEAR set are, if they are.
fn clear() -> Option<PathBuf> {
    let found = beside("oracles/clear");
    if found.is_none() {
        println!("skipped: no models beside the repository");
    }
    found
}

/// A folder of what lies beside the repository, from a checkout or from a worktree of it.
fn beside(name: &str) -> Option<PathBuf> {
    let places = ["../../../shared", "../../../../shared"];
    places.iter().map(|place| Path::new(place).join(name)).find(|path| path.exists())
}

/// The transition system of a process without value parameters.
fn explored(checked: Result<lnt::Checked, Vec<Diagnostic>>, sources: &Sources) -> Lts {
    let render = |errors: Vec<Diagnostic>| -> ! { panic!("{}", sources.render_all(&errors, false)) };
    let checked = checked.unwrap_or_else(|errors| render(errors));
    let main = checked.program.main().expect("a main process");
    let model =
        LntModel::new(checked.program, main, &Options::default()).unwrap_or_else(|errors| render(errors));
    let found = explore(&model, &Limits::default(), &Progress::new());
    assert!(found.outcome.is_complete(), "{:?}", found.outcome);
    found.lts
}

fn read(path: &Path) -> Lts {
    lts::read_aut(path, &Default::default(), &Progress::new()).unwrap()
}

fn assert_equivalent(left: &Lts, right: &Lts, relation: Relation, name: &str) {
    assert!(bisim::compare(left, right, relation).unwrap().is_equivalent(), "{name} modulo {relation}");
}

#[test]
fn small_examples_have_the_transition_systems_of_cadp() {
    let Some(clear) = clear() else { return };
    for (folder, name) in
        [("interleaving_bug", "INTERLEAVING"), ("iteration_bug", "ITERATION"), ("causality_bug", "COMMPROC")]
    {
        let path = clear.join(folder).join(name).with_extension("lnt");
        let mut sources = Sources::new();
        let found = explored(Loader::new().load(&path, &mut sources), &sources);
        assert_equivalent(&found, &read(&path.with_extension("aut")), Relation::TauStarA, name);
    }
}

/// The repository composed its three players outside LNT; here they are composed in LNT.
#[test]
fn three_players_are_strongly_equivalent_to_the_game_of_cadp() {
    let Some(clear) = clear() else { return };
    let text = "module game (shifumi) is
        !nat_sup 3
        process MAIN [GETWEAPON : getweapon, GAME : game, LOOSER : nat] is
           par GAME #2 in
              player [GETWEAPON, GAME, LOOSER] (1, false)
           || player [GETWEAPON, GAME, LOOSER] (2, true)
           || player [GETWEAPON, GAME, LOOSER] (3, true)
           end par
        end process
        end module";
    let folder = clear.join("shifumi_3");
    let mut sources = Sources::new();
    let found = explored(Loader::new().include(&folder).load_text("game.lnt", text, &mut sources), &sources);
    assert_equivalent(&found, &read(&folder.join("game_3.aut")), Relation::Strong, "game");
}

/// The main module is printed in the thesis (figure 8.18) without the channel of the six gates that carry messages;
/// the first task of the system that CADP explored has one state, other than the one that was published.
#[test]
fn the_rendezvous_protocol_is_strongly_equivalent_to_that_of_cadp() {
    let (Some(clear), Some(thesis)) = (clear(), beside("papers/clear-counterexample-analysis.txt")) else {
        return;
    };
    let thesis = std::fs::read_to_string(thesis).unwrap();
    let start = thesis.find("module implem (").expect("the figure");
    let length = thesis[start..].find("end module").unwrap() + "end module".len();
    let text = thesis[start..start + length].replacen(
        "GATE_A_SEND, GATE_A_RECV,",
        "GATE_A_SEND, GATE_A_RECV : com,",
        1,
    );
    let task = "module task_T1 (data, generic_data) is
        function task_T1_state_space : state_list is
           return { state (0, { transition (action (DLC_GATE_i), {0}), transition (action (DLC_GATE_A), {0}) }) }
        end function
        end module";
    let folder = clear.join("multiway_rendezvous_protocol");
    let mut sources = Sources::new();
    let loader = Loader::new().include(&folder).module("task_T1", task);
    let found = explored(loader.load_text("implem.lnt", &text, &mut sources), &sources);
    let reduced = bisim::reduce(&found, Relation::Strong).unwrap();
    assert_eq!((reduced.state_count(), reduced.transition_count()), (1318, 3217));
    assert_equivalent(&reduced, &read(&folder.join("implem.aut")), Relation::Strong, "implem");
}
