//! Embeds the built page and the example gallery. Without a built page the list is empty and the program says how to
//! build it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let here = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets it"));
    let page = here.join("assets/page");
    let models = here.join("../../models");
    // The folder above always exists, so that a page built later is noticed.
    println!("cargo:rerun-if-changed={}", here.join("assets").display());
    println!("cargo:rerun-if-changed={}", models.display());
    println!("cargo:rerun-if-changed=build.rs");
    let mut code = String::new();
    list("PAGE", &page, Some("html"), &mut code);
    // Whatever languages there are: all files of the gallery.
    list("MODELS", &models, None, &mut code);
    std::fs::write(out.join("embedded.rs"), code).expect("the output folder can be written");
}

fn list(name: &str, folder: &Path, extension: Option<&str>, code: &mut String) {
    let mut files = Vec::new();
    collect(folder, folder, extension, &mut files);
    files.sort();
    writeln!(code, "pub(crate) static {name}: &[(&str, &[u8])] = &[").expect("strings can be written");
    for (short, path) in files {
        writeln!(code, "    ({short:?}, include_bytes!({path:?})),").expect("strings can be written");
    }
    code.push_str("];\n");
}

fn collect(root: &Path, folder: &Path, extension: Option<&str>, files: &mut Vec<(String, String)>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, extension, files);
        } else if extension.is_none_or(|wanted| path.extension().is_some_and(|one| one == wanted)) {
            let short = path.strip_prefix(root).expect("it lies below").to_string_lossy().replace('\\', "/");
            files.push((short, path.display().to_string()));
        }
    }
}
