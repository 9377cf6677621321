//! Networks at the door for languages.

use std::sync::Arc;

use lts::Lts;
use model::{CoverageMap, Input, Language, Missing, Model, Program, Text};
use source::{Diagnostic, Sources, Span};

use crate::parse_network;
use crate::tuples::NetworkModel;

/// Networks of transition systems, in the spirit of CADP's EXP.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exp;

impl Language for Exp {
    fn name(&self) -> &'static str {
        "EXP"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["exp"]
    }

    fn named_files(&self) -> &'static [&'static str] {
        &lts::SYSTEM_EXTENSIONS
    }

    fn load(&self, input: &Input<'_>, sources: &mut Sources) -> Result<Box<dyn Program>, Vec<Diagnostic>> {
        if let Some(root) = input.root {
            let message = format!("{} is a network, which has no processes to start", input.main.name);
            return Err(vec![Diagnostic::error(message).note(format!("`{root}` was to be started"))]);
        }
        if let Some((name, _)) = input.constants.first() {
            let message = format!("{} is a network, which has no constant `{name}`", input.main.name);
            return Err(vec![Diagnostic::error(message)]);
        }
        let file = sources.add(input.main.name.clone(), input.main.text.clone());
        let network = parse_network(file, sources, &mut |name| read_leaf(name, input))?;
        let model = NetworkModel::new(&network)
            .map_err(|error| vec![Diagnostic::error(error.to_string()).label(sources.span(file), "")])?;
        let unmatched = model.unmatched().iter().filter_map(|one| {
            let labels: Vec<&str> = one.labels.iter().map(String::as_str).collect();
            one.selector.unmatched(&format!("`{}`", one.operator), &labels)
        });
        let warnings = unmatched.collect();
        Ok(Box::new(NetworkProgram { model, warnings, map: CoverageMap::default() }))
    }
}

/// Reads a system that a network names.
fn read_leaf(name: &str, input: &Input<'_>) -> Result<Arc<Lts>, String> {
    let found = input.texts.find(name, &input.main.name).map_err(|missing| match missing {
        Missing::NotFound { searched, .. } if searched.is_empty() => {
            format!("{name} is missing: open it together with the network")
        }
        Missing::NotFound { searched, there } => {
            let near = source::closest(name, there.iter().map(String::as_str));
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            format!("{name}: there is no such file in {}{near}", searched.join(", "))
        }
        Missing::Unreadable(reason) => format!("can't read {name}: {reason}"),
    })?;
    let Text { name: file, text } = found.text;
    let lts = lts::parse_system(&file, &text, input.reading).map_err(|error| {
        let (sources, diagnostic) = error.diagnostic(name);
        match diagnostic.span() {
            Some(span) => {
                let place = sources.position(span);
                format!("{name}:{}:{}: {}", place.line, place.column, diagnostic.message)
            }
            None => format!("{name}: {}", diagnostic.message),
        }
    })?;
    match lts.unexplored().len() {
        0 => Ok(Arc::new(lts)),
        missing => Err(format!("{name} is only part of a system: {missing} of its states were not explored")),
    }
}

struct NetworkProgram {
    model: NetworkModel,
    warnings: Vec<Diagnostic>,
    map: CoverageMap,
}

impl Program for NetworkProgram {
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn model(&self) -> &dyn Model {
        &self.model
    }

    fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    fn map(&self) -> &CoverageMap {
        &self.map
    }

    fn functions(&self) -> &CoverageMap {
        &self.map
    }

    fn modules(&self) -> Vec<(String, Span)> {
        self.model.leaves().filter_map(|(name, span)| Some((name.to_owned(), span?))).collect()
    }
}
