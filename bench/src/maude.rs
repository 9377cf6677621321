//! Rewriting and searching, against Maude itself on the same files.

use std::fs;
use std::process::{Command, Stdio};

use crate::{Cost, RESULTS, WATERSHED, best, row};

/// Programs whose commands are carried out by both.
const PROGRAMS: [(&str, &str); 4] = [
    ("sieve of 3,000 numbers", "sieve"),
    ("merge sort of 30,000 numbers", "sorting"),
    ("Fibonacci of 25 in Peano numbers", "fibonacci"),
    ("a soup of 3,000 elements", "soup"),
];

pub fn section() {
    let installed = Command::new("maude").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !installed {
        println!("maude: skipped, because maude is not installed (apt-get install maude)\n");
        return;
    }
    println!("## Maude, against Maude 3.2\n");
    println!("Whole processes, the best of three runs. The ratio is Maude's time over ours.\n");
    println!("| work | ours | Maude | times as fast | our memory | Maude's | share |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (what, stem) in PROGRAMS {
        let file = format!("bench/models/maude/{stem}.maude");
        row(what, best(WATERSHED, &["maude", &file]), maude(&file, None));
    }
    let file = "bench/models/maude/philosophers.maude";
    for n in [8, 10, 12] {
        let root = format!("init({n})");
        let theirs = maude(file, Some(&format!("search {root} =>! S:State .")));
        for threads in ["1", "2"] {
            let ours = best(WATERSHED, &["explore", file, "--root", &root, "--threads", threads, "--quiet"]);
            let what = format!("{n} philosophers, {threads} thread{}", if threads == "1" { "" } else { "s" });
            row(&what, ours, theirs);
        }
    }
    println!();
}

/// What Maude takes for a file, and for a command after it.
fn maude(file: &str, command: Option<&str>) -> Cost {
    let text = fs::read_to_string(file).expect("the file is there");
    let path = format!("{RESULTS}/program.maude");
    // Without this it would wait for more commands.
    fs::write(&path, format!("{text}\n{}\nquit\n", command.unwrap_or_default()))
        .expect("results can be written");
    best("maude", &["-no-banner", "-no-advise", "-batch", &path])
}
