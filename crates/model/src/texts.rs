//! Texts by name: what a model includes, wherever that is kept.

use std::path::{Path, PathBuf};

/// A text with its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Text {
    /// The name that messages give it; for a file its path.
    pub name: String,
    /// What it says.
    pub text: String,
}

impl Text {
    /// A text of this name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// The name of the file without its folders and extensions: that of the module in it.
    pub fn stem(&self) -> &str {
        let file = self.name.rsplit(['/', '\\']).next().unwrap_or_default();
        file.split('.').next().unwrap_or_default()
    }
}

/// Where texts are found.
pub trait Texts: Sync {
    /// The text that a file of this name has, as seen from the text that names it. Letters may differ in case.
    fn find(&self, file: &str, from: &str) -> Result<Found, Missing>;
}

/// A text that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The text.
    pub text: Text,
    /// Whether it was given in the place of a file: then it stands for the file that was asked for, whatever it calls
    /// itself.
    pub stands_in: bool,
}

/// Why there is no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Nothing of this name: where it was looked for, and the names of files that are there.
    NotFound {
        /// The folders.
        searched: Vec<String>,
        /// The files in them.
        there: Vec<String>,
    },
    /// It can't be read: why.
    Unreadable(String),
}

/// No texts.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTexts;

impl Texts for NoTexts {
    fn find(&self, _file: &str, _from: &str) -> Result<Found, Missing> {
        Err(Missing::NotFound { searched: Vec::new(), there: Vec::new() })
    }
}

/// Texts that take the place of files, and other texts where there are none.
pub struct Overlay<'a> {
    given: Vec<Text>,
    under: &'a dyn Texts,
}

impl<'a> Overlay<'a> {
    /// Texts before others. Of two texts with the same file name, the later one counts.
    pub fn new(given: Vec<Text>, under: &'a dyn Texts) -> Self {
        Self { given, under }
    }
}

impl Texts for Overlay<'_> {
    fn find(&self, file: &str, from: &str) -> Result<Found, Missing> {
        fn plain(name: &str) -> &str {
            [".gz", ".zst"].into_iter().find_map(|packed| name.strip_suffix(packed)).unwrap_or(name)
        }
        fn last(name: &str) -> &str {
            name.rsplit(['/', '\\']).next().unwrap_or(name)
        }
        let whole = |text: &&Text| plain(&text.name).eq_ignore_ascii_case(plain(file));
        let alike = |text: &&Text| last(plain(&text.name)).eq_ignore_ascii_case(last(plain(file)));
        let known = self.given.iter().rev();
        match known.clone().find(whole).or_else(|| known.clone().find(alike)) {
            Some(text) => Ok(Found { text: text.clone(), stands_in: true }),
            None => self.under.find(file, from),
        }
    }
}

/// Files on disk, also packed ones (.gz, .zst).
#[derive(Clone, Debug, Default)]
pub struct Folders {
    /// Whether files are searched beside the file that names them, before anywhere else.
    pub beside: bool,
    /// Folders to search.
    pub include: Vec<PathBuf>,
}

impl Folders {
    /// Files beside the one that names them, then in these folders.
    pub fn beside(include: &[PathBuf]) -> Self {
        Self { beside: true, include: include.to_vec() }
    }
}

impl Texts for Folders {
    fn find(&self, file: &str, from: &str) -> Result<Found, Missing> {
        let own = self.beside.then(|| Path::new(from).parent().unwrap_or(Path::new("")));
        let searched: Vec<&Path> = own.into_iter().chain(self.include.iter().map(PathBuf::as_path)).collect();
        // The name may itself have folders in it.
        let inner = Path::new(file).parent().unwrap_or(Path::new(""));
        let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
        let wanted = ["", ".gz", ".zst"].map(|packed| format!("{name}{packed}"));
        let mut there = Vec::new();
        for folder in &searched {
            let folder = folder.join(inner);
            let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
            let Ok(entries) = std::fs::read_dir(listed) else { continue };
            let mut names: Vec<String> =
                entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
            names.sort();
            let exact = wanted.iter().find(|wanted| names.contains(wanted));
            let alike = |wanted: &String| names.iter().find(|name| name.eq_ignore_ascii_case(wanted));
            if let Some(name) = exact.or_else(|| wanted.iter().find_map(alike)) {
                let path = if folder == Path::new(".") { PathBuf::from(name) } else { folder.join(name) };
                return match read_text(&path) {
                    Ok(text) => Ok(Found { text, stands_in: false }),
                    Err(reason) => Err(Missing::Unreadable(reason.to_string())),
                };
            }
            there.extend(names);
        }
        let shown = |folder: &&Path| match folder.as_os_str().is_empty() {
            true => ".".to_owned(),
            false => folder.display().to_string(),
        };
        Err(Missing::NotFound { searched: searched.iter().map(shown).collect(), there })
    }
}

/// Reads a text from a file, which may be packed. Comments in other encodings than UTF-8 are common in old models, and
/// harmless.
pub fn read_text(path: &Path) -> Result<Text, std::io::Error> {
    let bytes = lts::read_bytes(path).map_err(|error| error.error)?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    Ok(Text { name: path.display().to_string(), text })
}
