//! The door for languages: texts go in, a program or diagnostics come out.
//!
//! Whatever an analysis wants to know of a language it asks here. A language that has no processes, no functions or no
//! variables leaves the methods about them as they are.

use std::any::Any;
use std::sync::Arc;

use source::{Diagnostic, Sources, Span};

use crate::Model;
use crate::construct::Construct;
use crate::coverage::{CoverageMap, DefUse};
use crate::criteria::{Inspector, ItemList};
use crate::drawing::Drawing;
use crate::mutant::Mutant;
use crate::probes::{Instrumented, Probes};
use crate::texts::{Text, Texts};

/// A language that models are written in.
pub trait Language: Sync {
    /// What people call it.
    fn name(&self) -> &'static str;

    /// The extensions of its files, without dots, the usual one first.
    fn extensions(&self) -> &'static [&'static str];

    /// The extensions of other files that its models name, beside those of its own.
    fn named_files(&self) -> &'static [&'static str] {
        &[]
    }

    /// Reads, checks and compiles a model.
    ///
    /// The error holds at least one error, and the warnings that came with it.
    fn load(&self, input: &Input<'_>, sources: &mut Sources) -> Result<Box<dyn Program>, Vec<Diagnostic>>;

    /// What to start with in order to start with a state that is written down, in a module or where the language says;
    /// none where states can't be written.
    fn root_of(&self, _module: Option<&str>, _state: &str) -> Option<String> {
        None
    }

    /// The sequences of states that a text has: those that a term denotes, the input's root; none where the language has
    /// no way to write them.
    fn sequences(
        &self,
        _input: &Input<'_>,
        _sources: &mut Sources,
    ) -> Option<Result<Vec<Vec<String>>, Vec<Diagnostic>>> {
        None
    }

    /// What can be exercised in a model, wherever it starts; nothing where that depends on what it starts with.
    fn map(&self, _input: &Input<'_>, _sources: &mut Sources) -> Option<CoverageMap> {
        None
    }
}

/// What a model is loaded from.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The text of the model itself.
    pub main: &'a Text,
    /// Where the files are that it names.
    pub texts: &'a dyn Texts,
    /// Where to start, such as `MAIN (2, true)`; where the language says, by default.
    pub root: Option<&'a str>,
    /// Constants that get other values: name and value.
    pub constants: &'a [(String, String)],
    /// What the steps have to tell.
    pub telling: Telling<'a>,
    /// Whether labels show the values that a step was taken with, where the language can leave them out.
    pub values: bool,
    /// How the user says where to start.
    pub starting: Starting,
    /// How transition systems are read that it names.
    pub reading: &'a lts::AutOptions,
    /// Whether few of its states will be looked at, so that what pays for many is not worth preparing, and something that runs
    /// for long counts as endless.
    pub few_states: bool,
}

impl<'a> Input<'a> {
    /// A text that names no other.
    pub fn new(main: &'a Text) -> Self {
        Self {
            main,
            texts: &crate::texts::NoTexts,
            root: None,
            constants: &[],
            telling: Telling::Marks,
            values: false,
            starting: Starting::Root,
            reading: &lts::AutOptions { tau: None, sparse: false },
            few_states: false,
        }
    }
}

/// What the origins of steps tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling<'a> {
    /// Nothing: only states and labels matter.
    Nothing,
    /// Which constructs of the source fired.
    Marks,
    /// That, the values on which these decisions were evaluated ([`Model::observations`]), and what is executed of
    /// functions ([`Model::fired_in_functions`]).
    Coverage(&'a [Span]),
    /// Which variables were defined and used ([`Model::flow`]), and nothing else.
    Flows,
}

/// How the user says where to start: for advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starting {
    /// With the option `--root`.
    Root,
    /// With the option `--example`, or in a suite.
    Example,
    /// In a field of a page.
    Field,
}

impl Starting {
    /// What to do in order to start with something.
    ///
    /// ```
    /// assert_eq!(model::Starting::Root.advice("MAIN (…)"), "start with `--root 'MAIN (…)'`");
    /// ```
    pub fn advice(self, root: &str) -> String {
        match self {
            Starting::Root => format!("start with `--root '{root}'`"),
            Starting::Example => format!("use `--example '{root}'`, or `root = \"{root}\"` in the suite"),
            Starting::Field => format!("enter `{root}` in the field `start`"),
        }
    }
}

/// A model that was loaded, with what its language knows of it.
pub trait Program: Send + Sync {
    /// What it does.
    fn model(&self) -> &dyn Model;

    /// What is suspicious in what it runs.
    fn warnings(&self) -> &[Diagnostic];

    /// What coverage counts in it.
    fn map(&self) -> &CoverageMap;

    /// The same for the functions that it can call, which are counted apart.
    fn functions(&self) -> &CoverageMap;

    /// What else is counted: lists of items by the names of their criteria.
    fn items(&self) -> &[ItemList] {
        &[]
    }

    /// The processes that it starts, positions in the map's processes.
    fn started(&self) -> Vec<usize> {
        Vec::new()
    }

    /// The other things that it could start with, such as named initial markings.
    fn roots(&self) -> Vec<Root> {
        Vec::new()
    }

    /// The modules that it consists of, the main one last: names and places.
    fn modules(&self) -> Vec<(String, Span)> {
        Vec::new()
    }

    /// The names of constants that can get other values.
    fn constants(&self) -> Vec<String> {
        Vec::new()
    }

    /// How many gates a process has.
    fn gates_of(&self, _process: &str) -> usize {
        0
    }

    /// Combinations of arguments to try for a process, or for the one that is started, at most so many. Where the values
    /// of a type can't be listed, those that are `known` of it (name of the type, text) have to do. The error says why
    /// there are none.
    fn arguments(
        &self,
        _process: Option<&str>,
        _known: &[(String, String)],
        _most: usize,
    ) -> Result<Arguments, String> {
        Err("it has no arguments".to_owned())
    }

    /// The arguments that it was started with: type and text of each.
    fn given_arguments(&self, _sources: &Sources) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Definitions of variables with uses of them.
    fn def_use_pairs(&self) -> Vec<DefUse> {
        Vec::new()
    }

    /// Its constructs and how they are related, in the order of the source.
    fn constructs(&self) -> Vec<Construct> {
        Construct::of_map(self.map())
    }

    /// The program with probes, where the language has them; `root` is what it starts with.
    fn instrument(&self, _sources: &Sources, _probes: &Probes, _root: Option<&str>) -> Option<Instrumented> {
        None
    }

    /// Small changes of its text, each as if somebody had made one mistake, in the order of the text; none where the
    /// language has no such changes. Those of what it can't reach are left out.
    fn mutants(&self, _sources: &Sources) -> Vec<Mutant> {
        Vec::new()
    }

    /// Everything that could stand in a place instead of what stands there, as far as small changes go: mutants, and changes
    /// that a person would rather make to put something right.
    fn alternatives(&self, sources: &Sources) -> Vec<Mutant> {
        self.mutants(sources)
    }

    /// Tells what steps exercise of [`items`](Self::items), and how decisions are evaluated; none where origins tell
    /// everything.
    fn inspector(&self) -> Option<Box<dyn Inspector + '_>> {
        None
    }

    /// A drawing of it, where there is one.
    fn drawing(&self) -> Option<Drawing> {
        None
    }

    /// A model whose steps are what happens at once, up to so many things, where the language has such steps. Their labels
    /// are joined by ` | `.
    fn concurrent(&self, _degree: usize) -> Option<Arc<dyn Model + Send>> {
        None
    }

    /// The language's own program, for commands that are made for it.
    fn as_any(&self) -> &dyn Any;
}

/// Something to start with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Its name, as the user would give it.
    pub name: String,
    /// Where it is written.
    pub span: Span,
}

/// Arguments to try.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// Combinations of values, as text.
    pub combinations: Vec<Vec<String>>,
    /// Whether these are all that there are.
    pub all: bool,
}
