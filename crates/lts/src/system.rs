//! Reading a transition system in whichever format it is written.

use std::path::Path;

use crate::aut::{AutError, AutOptions, ReadError, parse_aut, read_aut};
use crate::file::{format_extension, read_text};
use crate::import::{parse_dot, parse_json};
use crate::lts::Lts;
use crate::progress::Progress;

/// The extensions of files that transition systems are read from.
pub const SYSTEM_EXTENSIONS: [&str; 3] = ["aut", "dot", "json"];

/// Reads a system from text, in the format that the name of its file tells; AUT where it tells none.
///
/// ```
/// let lts = lts::parse_system("a.dot", "digraph { 0 -> 1 [label=\"A\"]; }", &Default::default())?;
/// assert_eq!(lts.transition_count(), 1);
/// # Ok::<(), lts::AutError>(())
/// ```
pub fn parse_system(name: &str, text: &str, options: &AutOptions) -> Result<Lts, AutError> {
    match format_extension(Path::new(name)).as_deref() {
        Some("dot") => parse_dot(text),
        Some("json") => parse_json(text),
        _ => parse_aut(text, options),
    }
}

/// Reads a system from a file, in the format that its name tells; AUT where it tells none.
pub fn read_system(path: &Path, options: &AutOptions, progress: &Progress) -> Result<Lts, ReadError> {
    match format_extension(path).as_deref() {
        Some("dot" | "json") => {
            let (name, text) = (path.display().to_string(), read_text(path)?);
            parse_system(&name, &text, options).map_err(|error| ReadError::Syntax { name, error })
        }
        _ => read_aut(path, options, progress),
    }
}
