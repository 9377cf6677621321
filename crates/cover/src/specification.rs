//! What is covered: the blocks, decisions and actions of a specification, the same for all its examples.
//!
//! Every example is a program of its own, and has its own table of source files. Here they meet: an entry is known by
//! its file and its place in it. What stands in modules that examples bring along is input, not specification.

use model::{ActionInstance, Block, CoverageMap, Decision, Dependency, Join, MarkKind, Provenance, Way};
use rustc_hash::FxHashMap;
use source::{FileId, LineColumn, Sources, Span};

/// The blocks, decisions and actions of a specification, with their source.
#[derive(Default)]
pub struct Specification {
    /// Everything that is counted; spans are those of [`Specification::sources`].
    pub map: CoverageMap,
    /// The files of the specification.
    pub sources: Sources,
    files: FxHashMap<(String, String), FileId>,
    places: FxHashMap<(Kind, Span), usize>,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Process,
    Block,
    Decision,
    Action,
}

/// For each entry of an example's own map, the entry of the specification; none for input of the example.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// Processes.
    pub processes: Vec<Option<usize>>,
    /// Blocks.
    pub blocks: Vec<Option<usize>>,
    /// Decisions.
    pub decisions: Vec<Option<usize>>,
    /// Actions.
    pub actions: Vec<Option<usize>>,
}

impl Specification {
    /// An empty specification.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what an example has and is not known yet; files for which `is_input` holds are the example's own.
    pub(crate) fn add(
        &mut self,
        map: &CoverageMap,
        sources: &Sources,
        is_input: &dyn Fn(FileId) -> bool,
    ) -> Places {
        let mut adding = Adding { specification: self, sources, is_input };
        let processes: Vec<Option<usize>> = map.processes.iter().map(|entry| adding.process(entry)).collect();
        let decisions: Vec<Option<usize>> =
            map.decisions.iter().map(|entry| adding.decision(entry, &processes)).collect();
        let first_block = adding.specification.map.blocks.len();
        let blocks: Vec<Option<usize>> =
            map.blocks.iter().map(|entry| adding.block(entry, &processes, &decisions)).collect();
        let actions: Vec<Option<usize>> =
            map.actions.iter().map(|entry| adding.action(entry, &processes, &blocks)).collect();
        // Known blocks keep their joins.
        let first_join = self.map.joins.len();
        if self.map.blocks.len() > first_block {
            let own_span = |&call: &Span| self.own_span(sources, call);
            let way = |way: &Way| Way {
                depends: placed_dependencies(&way.depends, &decisions),
                after: way.after.iter().filter_map(|&before| blocks[before]).collect(),
                joins: way.joins.iter().map(|&passed| first_join + passed).collect(),
                raised_by: way.raised_by.iter().filter_map(own_span).collect(),
            };
            let joins: Vec<Join> =
                map.joins.iter().map(|join| Join { ways: join.ways.iter().map(way).collect() }).collect();
            self.map.joins.extend(joins);
        }
        for (block, place) in map.blocks.iter().zip(&blocks) {
            if let Some(place) = place.filter(|&place| place >= first_block) {
                let own = &mut self.map.blocks[place];
                own.joins = block.joins.iter().map(|&passed| first_join + passed).collect();
                own.actions = block.actions.iter().filter_map(|&action| actions[action]).collect();
                own.after = block.after.iter().filter_map(|&before| blocks[before]).collect();
                own.calls = block.calls.iter().filter_map(|&process| processes[process]).collect();
            }
        }
        Places { processes, blocks, decisions, actions }
    }

    /// Where the entries of an example lie that brings nothing new.
    pub(crate) fn find(&self, map: &CoverageMap, sources: &Sources) -> Places {
        let find = |kind: Kind, span: Span| self.places.get(&(kind, self.own_span(sources, span)?)).copied();
        Places {
            processes: map.processes.iter().map(|entry| find(Kind::Process, entry.span)).collect(),
            blocks: map.blocks.iter().map(|entry| find(Kind::Block, entry.span)).collect(),
            decisions: map.decisions.iter().map(|entry| find(Kind::Decision, entry.span)).collect(),
            actions: map.actions.iter().map(|entry| find(Kind::Action, entry.span)).collect(),
        }
    }

    /// A place of an example in the specification; none in files that are the example's own.
    pub fn own_span(&self, sources: &Sources, span: Span) -> Option<Span> {
        let key = (sources.name(span.file).to_owned(), sources.text(span.file).to_owned());
        Some(Span { file: *self.files.get(&key)?, ..span })
    }

    /// The line and column of a place.
    pub fn position(&self, span: Span) -> LineColumn {
        self.sources.position(span)
    }

    /// The name of the process that an entry belongs to.
    pub fn process(&self, process: usize) -> &str {
        &self.map.processes[process].name
    }
}

struct Adding<'a> {
    specification: &'a mut Specification,
    sources: &'a Sources,
    is_input: &'a dyn Fn(FileId) -> bool,
}

impl Adding<'_> {
    /// A place of the example in the specification's own table of files.
    fn span(&mut self, span: Span) -> Option<Span> {
        if (self.is_input)(span.file) {
            return None;
        }
        let key = (self.sources.name(span.file).to_owned(), self.sources.text(span.file).to_owned());
        let own = &mut *self.specification;
        let file = *own.files.entry(key).or_insert_with_key(|(name, text)| own.sources.add(name, text));
        Some(Span { file, ..span })
    }

    /// The entry of this kind at a place, made where it is new.
    fn entry(
        &mut self,
        kind: Kind,
        span: Span,
        make: impl FnOnce(&mut Self, Span) -> usize,
    ) -> Option<usize> {
        let span = self.span(span)?;
        if let Some(&known) = self.specification.places.get(&(kind, span)) {
            return Some(known);
        }
        let place = make(self, span);
        self.specification.places.insert((kind, span), place);
        Some(place)
    }

    fn process(&mut self, entry: &model::ProcessEntry) -> Option<usize> {
        self.entry(Kind::Process, entry.span, |adding, span| {
            let processes = &mut adding.specification.map.processes;
            processes.push(model::ProcessEntry { span, ..entry.clone() });
            processes.len() - 1
        })
    }

    fn decision(&mut self, entry: &Decision, processes: &[Option<usize>]) -> Option<usize> {
        let process = processes[entry.process]?;
        self.entry(Kind::Decision, entry.span, |adding, span| {
            let conditions = entry.conditions.iter().filter_map(|&one| adding.span(one)).collect();
            let operands = entry.operands.iter().filter_map(|&one| adding.span(one)).collect();
            let decisions = &mut adding.specification.map.decisions;
            decisions.push(Decision { span, process, conditions, operands, ..entry.clone() });
            decisions.len() - 1
        })
    }

    fn block(
        &mut self,
        entry: &Block,
        processes: &[Option<usize>],
        decisions: &[Option<usize>],
    ) -> Option<usize> {
        let process = processes[entry.process]?;
        self.entry(Kind::Block, entry.span, |adding, span| {
            let last = adding.span(entry.last).unwrap_or(span);
            let behind = entry.behind.and_then(|behind| adding.span(behind));
            let depends = placed_dependencies(&entry.depends, decisions);
            let mut placed =
                |&(choice, condition): &(Span, Span)| Some((adding.span(choice)?, adding.span(condition)?));
            let choices = entry.choices.iter().filter_map(&mut placed).collect();
            let raised_by = entry.raised_by.iter().filter_map(|&call| adding.span(call)).collect();
            let blocks = &mut adding.specification.map.blocks;
            blocks.push(Block { span, last, process, behind, depends, choices, raised_by, ..entry.clone() });
            blocks.len() - 1
        })
    }

    fn action(
        &mut self,
        entry: &ActionInstance,
        processes: &[Option<usize>],
        blocks: &[Option<usize>],
    ) -> Option<usize> {
        let process = processes[entry.process]?;
        let block = match entry.block {
            Some(block) => Some(blocks[block]?),
            None => None,
        };
        self.entry(Kind::Action, entry.span, |adding, span| {
            let actions = &mut adding.specification.map.actions;
            actions.push(ActionInstance { span, process, block, ..entry.clone() });
            actions.len() - 1
        })
    }
}

/// Dependencies on decisions of an example in terms of the specification.
fn placed_dependencies(depends: &[Dependency], decisions: &[Option<usize>]) -> Vec<Dependency> {
    let placed = depends.iter().filter_map(|dependency| {
        Some(Dependency { decision: decisions[dependency.decision]?, outcome: dependency.outcome })
    });
    placed.collect()
}

/// What each mark of a model stands for in its coverage map.
pub(crate) fn marked(map: &CoverageMap, provenance: &Provenance) -> Vec<Option<Marked>> {
    let places = |kind: Kind, spans: Vec<Span>| {
        spans.into_iter().enumerate().map(move |(index, span)| ((kind, span), index))
    };
    let known: FxHashMap<(Kind, Span), usize> =
        places(Kind::Block, map.blocks.iter().map(|entry| entry.span).collect())
            .chain(places(Kind::Decision, map.decisions.iter().map(|entry| entry.span).collect()))
            .chain(places(Kind::Action, map.actions.iter().map(|entry| entry.span).collect()))
            .collect();
    let marks = provenance.marks().iter().map(|mark| {
        let find = |kind: Kind| known.get(&(kind, mark.span)).copied();
        match mark.kind {
            MarkKind::Action => find(Kind::Action).map(Marked::Action),
            MarkKind::Decision(outcome) => {
                find(Kind::Decision).map(|decision| Marked::Outcome(decision, outcome))
            }
            MarkKind::Block => find(Kind::Block).map(Marked::Block),
        }
    });
    marks.collect()
}

/// What a mark stands for: positions in a coverage map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marked {
    Block(usize),
    Outcome(usize, bool),
    Action(usize),
}
