//! Other people's models, read from beside the repository where they are; never copied into it.

use std::path::{Path, PathBuf};

use source::Sources;

fn models() -> Vec<PathBuf> {
    let root = Path::new("../../../shared/oracles/clear");
    let fallback = Path::new("../../../../shared/oracles/clear");
    let root = if root.is_dir() { root } else { fallback };
    let mut models = Vec::new();
    for folder in std::fs::read_dir(root).into_iter().flatten().flatten() {
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
    if models.is_empty() {
        println!("skipped: no models beside the repository");
        return;
    }
    for path in models {
        let mut sources = Sources::new();
        if let Err(errors) = lnt::load(&path, &[], &mut sources) {
            panic!("{}", sources.render_all(&errors, false));
        }
    }
}

/// The main module that the thesis prints (figure 8.18), with the channel that the figure leaves out.
#[test]
fn the_rendezvous_protocol_has_a_main_process() {
    let Some(folder) =
        models().into_iter().find(|path| path.ends_with("multiway_rendezvous_protocol/latest.lnt"))
    else {
        println!("skipped: no models beside the repository");
        return;
    };
    let text = "module implem (task_T1, task_T16, data, latest) is
        function gate_A_sync_vect : sync_vect_list is
           return {{ DLC_TASK_0_T1, DLC_TASK_1_T16 }}
        end function
        function global_sync_map : sync_map is
           return {sync_map_entry (dlc_gate_A, gate_A_sync_vect)}
        end function
        process MAIN [T1_SEND, T1_RECV, T16_SEND, T16_RECV, A_SEND, A_RECV : com, ACTION, HOOK_REFUSE : annonce] is
           par T1_SEND, T1_RECV, T16_SEND, T16_RECV, A_SEND, A_RECV in
              par
                 buffer [T1_SEND, T16_RECV] (DLC_TASK_0_T1, DLC_TASK_1_T16)
              || buffer [T16_SEND, T1_RECV] (DLC_TASK_1_T16, DLC_TASK_0_T1)
              || buffer [T1_SEND, A_RECV] (DLC_TASK_0_T1, DLC_GATE_A)
              || buffer [A_SEND, T1_RECV] (DLC_GATE_A, DLC_TASK_0_T1)
              || buffer [T16_SEND, A_RECV] (DLC_TASK_1_T16, DLC_GATE_A)
              || buffer [A_SEND, T16_RECV] (DLC_GATE_A, DLC_TASK_1_T16)
              end par
           ||
              par
                 MANAGER [T1_SEND, T1_RECV, ACTION] (DLC_TASK_0_T1, task_T1_state_space, global_sync_map)
              || MANAGER [T16_SEND, T16_RECV, ACTION] (DLC_TASK_1_T16, task_T16_state_space, global_sync_map)
              || GATE [A_SEND, A_RECV, ACTION, HOOK_REFUSE] (DLC_GATE_A, gate_A_sync_vect)
              end par
           end par
        end process
     end module";
    let mut sources = Sources::new();
    let directory = folder.parent().unwrap();
    match lnt::Loader::new().include(directory).load_text("implem.lnt", text, &mut sources) {
        Ok(checked) => {
            let main = checked.program.main().expect("a main process");
            assert_eq!(checked.program[main].gates.len(), 8);
            assert_eq!(checked.program.modules.last().unwrap().name, "implem");
        }
        Err(errors) => panic!("{}", sources.render_all(&errors, false)),
    }
}
