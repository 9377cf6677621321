//! Nets that are wrong, with the messages they give. `UPDATE=1 cargo test -p net` rewrites them.

use std::path::Path;

use net::load_net;
use source::Sources;

#[test]
fn messages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut wrong = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "net")) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(file).unwrap();
        let mut sources = Sources::new();
        let found = match load_net(&name, &text, None, &[], &mut sources) {
            Ok(net) => format!("no error\n{}", sources.render_all(&net.warnings, false)),
            Err(errors) => sources.render_all(&errors, false),
        };
        let expected = file.with_extension("txt");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&expected, &found).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != found {
            wrong.push(format!("{name}:\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn markings_are_chosen_by_name() {
    let text = "net N is place A marking ONE is A end marking marking MAIN is 2 * A end marking end net";
    let mut sources = Sources::new();
    let start = |root| load_net("n.net", text, root, &[], &mut Sources::new()).unwrap().start;
    assert_eq!((start(None), start(Some("one")), start(Some("Main"))), (1, 0, 1));
    let errors = load_net("n.net", text, Some("mian"), &[], &mut sources).err().unwrap();
    assert!(sources.render_all(&errors, false).contains("did you mean `MAIN`?"));
}
