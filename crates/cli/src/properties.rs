//! Which properties: files of them, and the usual ones without a file.

use std::path::PathBuf;

use clap::Args;
use logic::Property;
use source::{Diagnostic, Sources};

use crate::failure::Failure;
use crate::terminal::Terminal;

/// Where properties come from.
#[derive(Args)]
pub struct PropertySource {
    /// Property files (.mcl)
    #[arg(value_name = "PROPERTIES")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    usual: PropertyOptions,
}

/// The usual properties, without a file.
#[derive(Args)]
pub struct PropertyOptions {
    /// Check that no state is a deadlock
    #[arg(long, help_heading = "Properties without a file")]
    deadlock: bool,
    /// Check that there is no endless sequence of internal steps
    #[arg(long, help_heading = "Properties without a file")]
    livelock: bool,
    /// Check that no such label ever happens: GATE, '"exact label"', or an extended regular expression that matches
    /// whole labels (patterns in property files are basic regular expressions)
    #[arg(long, value_name = "LABELS", help_heading = "Properties without a file")]
    never: Vec<String>,
    /// Check that such a label can happen
    #[arg(long, value_name = "LABELS", help_heading = "Properties without a file")]
    reachable: Vec<String>,
    /// Check that these labels, separated by commas, happen one after the other on every run
    #[arg(long, value_name = "LABELS", help_heading = "Properties without a file")]
    inevitable: Vec<String>,
}

impl PropertySource {
    /// Whether no property is named at all.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.usual.is_empty()
    }

    /// The properties of all files and options, each with the file it comes from.
    pub fn load(
        &self,
        sources: &mut Sources,
        terminal: &Terminal,
    ) -> Result<Vec<(Property, Option<String>)>, Failure> {
        load(&self.files, &self.usual, sources, terminal)
    }
}

impl PropertyOptions {
    /// Whether none is asked for.
    pub fn is_empty(&self) -> bool {
        let options = [&self.never, &self.reachable, &self.inevitable];
        !self.deadlock && !self.livelock && options.iter().all(|one| one.is_empty())
    }
}

/// The properties of files and options, each with the file it comes from.
pub fn load(
    files: &[PathBuf],
    usual: &PropertyOptions,
    sources: &mut Sources,
    terminal: &Terminal,
) -> Result<Vec<(Property, Option<String>)>, Failure> {
    let mut properties = Vec::new();
    let mut errors: Vec<Diagnostic> = Vec::new();
    for path in files {
        match logic::load_properties(path, sources) {
            Ok(loaded) => {
                terminal.warn(sources, &loaded.warnings);
                let file = path.display().to_string();
                properties.extend(loaded.properties.into_iter().map(|one| (one, Some(file.clone()))));
            }
            Err(diagnostics) => errors.extend(diagnostics),
        }
    }
    let mut made = Vec::new();
    made.extend(usual.deadlock.then(|| Ok(logic::deadlock(sources))));
    made.extend(usual.livelock.then(|| Ok(logic::livelock(sources))));
    made.extend(usual.never.iter().map(|labels| logic::never(labels, sources)));
    made.extend(usual.reachable.iter().map(|labels| logic::reachable(labels, sources)));
    for labels in &usual.inevitable {
        let labels: Vec<&str> = labels.split(',').map(str::trim).collect();
        made.push(logic::inevitable(&labels, sources));
    }
    for property in made {
        match property {
            Ok(property) => properties.push((property, None)),
            Err(diagnostics) => errors.extend(diagnostics),
        }
    }
    if !errors.is_empty() {
        return Err(Failure { code: 2, diagnostics: errors, sources: std::mem::take(sources) });
    }
    if properties.is_empty() {
        return Err(Failure::wrong("no property is given").help(
            "name a property file, or use --deadlock, --livelock, --never, --reachable or --inevitable",
        ));
    }
    Ok(properties)
}

/// The properties with these names, or all where no name is given.
pub fn select(
    properties: Vec<(Property, Option<String>)>,
    names: &[String],
) -> Result<Vec<(Property, Option<String>)>, Failure> {
    let known: Vec<&str> = properties.iter().map(|(property, _)| property.name.as_str()).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        let failure = Failure::wrong(format!("there is no property named {unknown}"));
        return Err(match source::closest(unknown, known.iter().copied()) {
            Some(close) => failure.help(format!("did you mean {close}?")),
            None => failure.help(format!("the properties are: {}", known.join(", "))),
        });
    }
    let wanted = |property: &Property| names.is_empty() || names.contains(&property.name);
    Ok(properties.into_iter().filter(|(property, _)| wanted(property)).collect())
}
