//! From modules and views to their meta-terms.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::level::Level;
use super::sketch::Sketch;
use crate::grammar::{Condition, Goal, unescaped};
use crate::modules::{Module, Statement, find_declared, resolve_type, type_text};
use crate::names::{Name, quoted_sort};
use crate::signature::{Signature, Symbol, Theory};
use crate::syntax::tree::*;
use crate::terms::{TermId, Terms};

/// A part of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// All of it.
    Module,
    /// Its imports.
    Imports,
    /// Its sorts.
    Sorts,
    /// Its subsorts.
    Subsorts,
    /// Its operators.
    Operators,
    /// Its statements of a kind.
    Statements(StatementKind),
}

/// Writes a module of a database, or a part of it, with all that it imports if it is to be flat.
pub struct Writer<'l, 'e> {
    /// Where the meta-term is made.
    pub level: &'l mut Level<'e>,
    /// The module.
    pub module: Arc<Module>,
    /// Its text, where it has one.
    pub text: Option<Arc<ModuleText>>,
    /// What it imports without being asked.
    pub automatic: Vec<Name>,
    /// Whether what it imports is taken for its own.
    pub flat: bool,
}

impl Writer<'_, '_> {
    /// The meta-term of a part.
    pub fn part(&mut self, part: Part) -> Option<TermId> {
        match part {
            Part::Module => self.whole(),
            Part::Imports => self.imports(),
            Part::Sorts => self.sorts(),
            Part::Subsorts => self.subsorts(),
            Part::Operators => self.operators(),
            Part::Statements(kind) => self.statements(kind),
        }
    }

    fn whole(&mut self) -> Option<TermId> {
        let kind = self.module.kind;
        let purpose = match (kind.system, kind.theory) {
            (false, false) => "fmodSymbol",
            (true, false) => "modSymbol",
            (false, true) => "fthSymbol",
            (true, true) => "thSymbol",
        };
        let mut parts = vec![
            self.header()?,
            self.imports()?,
            self.sorts()?,
            self.subsorts()?,
            self.operators()?,
            self.statements(StatementKind::Membership)?,
            self.statements(StatementKind::Equation)?,
        ];
        if kind.system {
            parts.push(self.statements(StatementKind::Rule)?);
        }
        self.level.make(purpose, &parts)
    }

    fn header(&mut self) -> Option<TermId> {
        let name = self.level.quoted(&quoted_sort(self.module.name.text()))?;
        match self.text.clone() {
            Some(text) if !text.parameters.is_empty() && !self.flat => {
                header(self.level, name, &text.parameters)
            }
            _ => Some(name),
        }
    }

    fn imports(&mut self) -> Option<TermId> {
        let mut imports = Vec::new();
        if !self.flat {
            for name in self.automatic.clone() {
                let name = self.level.quoted(&quoted_sort(name.text()))?;
                imports.push(self.level.make("includingSymbol", &[name])?);
            }
            for declaration in self.text.clone().iter().flat_map(|text| &text.declarations) {
                if let Declaration::Import(mode, expression) = declaration {
                    let purpose = match mode {
                        Mode::Protecting => "protectingSymbol",
                        Mode::Extending => "extendingSymbol",
                        Mode::Including => "includingSymbol",
                    };
                    let expression = write_expression(self.level, expression)?;
                    imports.push(self.level.make(purpose, &[expression])?);
                }
            }
        }
        self.level.join("importListSymbol", "nilImportListSymbol", &imports)
    }

    /// The modules whose declarations are meant.
    fn sources(&self) -> Vec<Arc<Module>> {
        let mut sources = if self.flat { self.module.closure() } else { Vec::new() };
        sources.push(self.module.clone());
        sources
    }

    fn sorts(&mut self) -> Option<TermId> {
        let mut sorts = Vec::new();
        for source in self.sources() {
            for (sort, _) in &source.own_sorts {
                sorts.push(self.level.quoted(&quoted_sort(sort.text()))?);
            }
        }
        self.set("sortSetSymbol", "emptySortSetSymbol", sorts)
    }

    fn subsorts(&mut self) -> Option<TermId> {
        let mut subsorts = Vec::new();
        for source in self.sources() {
            for (small, large, _) in &source.own_subsorts {
                let small = self.level.quoted(&quoted_sort(small.text()))?;
                let large = self.level.quoted(&quoted_sort(large.text()))?;
                subsorts.push(self.level.make("subsortSymbol", &[small, large])?);
            }
        }
        self.set("subsortDeclSetSymbol", "emptySubsortDeclSetSymbol", subsorts)
    }

    /// A set in which nothing is twice.
    fn set(&mut self, join: &str, empty: &str, elements: Vec<TermId>) -> Option<TermId> {
        let mut seen = FxHashSet::default();
        let elements: Vec<TermId> = elements.into_iter().filter(|&element| seen.insert(element)).collect();
        self.level.join(join, empty, &elements)
    }

    fn operators(&mut self) -> Option<TermId> {
        let module = self.module.clone();
        let signature = &module.signature;
        let mut declared = Vec::new();
        for source in self.sources() {
            for operators in &source.own_operators {
                for &(name, _) in &operators.names {
                    let symbol = signature.symbol(find_declared(signature, name, operators)?);
                    let polymorphic = !symbol.poly.is_empty();
                    let one = |writer: &mut Self, one: &Type| {
                        let text = match resolve_type(signature, one) {
                            _ if polymorphic && one.sorts[0].text() == "Universal" => "Universal".to_owned(),
                            Ok(sort) if one.kind || operators.partial => {
                                signature.kind_name(signature.kind_of(sort)).to_owned()
                            }
                            _ => type_text(one),
                        };
                        writer.level.quoted(&quoted_sort(&text))
                    };
                    let mut domain = Vec::new();
                    for sort in &operators.domain {
                        domain.push(one(self, sort)?);
                    }
                    let range = one(self, &operators.range)?;
                    let domain = self.level.join("qidListSymbol", "nilQidListSymbol", &domain)?;
                    let name = self.level.quoted(name.text())?;
                    let attributes = self.attributes(symbol, &operators.attributes)?;
                    declared.push(self.level.make("opDeclSymbol", &[name, domain, range, attributes])?);
                }
            }
        }
        self.set("opDeclSetSymbol", "emptyOpDeclSetSymbol", declared)
    }

    fn object(&mut self, terms: &Terms, term: TermId) -> Option<TermId> {
        Sketch::of_object(&self.module.signature, terms, term).write_last(self.level)
    }

    fn numbers(&mut self, numbers: &[u32]) -> Option<TermId> {
        let mut list = Vec::new();
        for &number in numbers {
            list.push(self.level.number(u64::from(number))?);
        }
        self.level.join("natListSymbol", "", &list)
    }

    fn words(&mut self, words: impl Iterator<Item = Name>) -> Option<TermId> {
        let mut list = Vec::new();
        for word in words {
            list.push(self.level.quoted(&quoted_sort(word.text()))?);
        }
        self.level.join("qidListSymbol", "nilQidListSymbol", &list)
    }

    fn attributes(&mut self, symbol: &Symbol, declared: &Attributes) -> Option<TermId> {
        let module = self.module.clone();
        let mut all = Vec::new();
        let plain = [
            (symbol.is_assoc(), "assocSymbol"),
            (symbol.comm, "commSymbol"),
            (symbol.idem, "idemSymbol"),
            (symbol.theory == Theory::Iter, "iterSymbol"),
            (declared.ctor, "ctorSymbol"),
            (symbol.memo, "memoSymbol"),
            (symbol.object == Some(ObjectRole::Configuration), "configSymbol"),
            (symbol.object == Some(ObjectRole::Object), "objectSymbol"),
            (symbol.object == Some(ObjectRole::Message), "msgSymbol"),
        ];
        for (_, purpose) in plain.iter().filter(|(has, _)| *has) {
            all.push(self.level.make(purpose, &[])?);
        }
        let identities = match (symbol.left_identity, symbol.right_identity) {
            (Some(left), Some(right)) if left == right => vec![("idSymbol", left)],
            (left, right) => [("leftIdSymbol", left), ("rightIdSymbol", right)]
                .into_iter()
                .filter_map(|(purpose, identity)| Some((purpose, identity?)))
                .collect(),
        };
        for (purpose, identity) in identities {
            let identity = self.object(&module.terms, identity)?;
            all.push(self.level.make(purpose, &[identity])?);
        }
        // An operator whose results are kept has a strategy at the meta-level, be it the usual one.
        let usual = || (1..=symbol.arity() as u32).chain(std::iter::once(0)).collect();
        let strategy = symbol.strategy.clone().or_else(|| symbol.memo.then(usual));
        if let Some(strategy) = strategy {
            let numbers = self.numbers(&strategy)?;
            all.push(self.level.make("stratSymbol", &[numbers])?);
        }
        if symbol.own_prec {
            let prec = self.level.number(u64::from(symbol.prec))?;
            all.push(self.level.make("precSymbol", &[prec])?);
        }
        if symbol.own_gather {
            let letter = |&limit: &u32| match limit {
                limit if limit == symbol.prec => Name::new("E"),
                limit if limit < symbol.prec => Name::new("e"),
                _ => Name::new("&"),
            };
            let letters = self.words(symbol.gather.iter().map(letter))?;
            all.push(self.level.make("gatherSymbol", &[letters])?);
        }
        if let Some(format) = &symbol.format {
            let words = self.words(format.iter().copied())?;
            all.push(self.level.make("formatSymbol", &[words])?);
        }
        if symbol.frozen.contains(&true) {
            let frozen: Vec<u32> =
                (0..symbol.arity()).filter(|&at| symbol.frozen[at]).map(|at| at as u32 + 1).collect();
            let numbers = self.numbers(&frozen)?;
            all.push(self.level.make("frozenSymbol", &[numbers])?);
        }
        if !symbol.poly.is_empty() {
            let numbers = self.numbers(&symbol.poly)?;
            all.push(self.level.make("polySymbol", &[numbers])?);
        }
        if let Some(special) = declared.special.as_ref().or(symbol.special.as_ref()) {
            let hooks = self.special(special)?;
            all.push(self.level.make("specialSymbol", &[hooks])?);
        }
        if let Some(metadata) = declared.metadata {
            all.push(self.metadata(metadata.name)?);
        }
        self.level.join("attrSetSymbol", "emptyAttrSetSymbol", &all)
    }

    fn metadata(&mut self, text: Name) -> Option<TermId> {
        let text = self.level.string(&unescaped(text.text().trim_matches('"')))?;
        self.level.make("metadataSymbol", &[text])
    }

    fn special(&mut self, special: &Special) -> Option<TermId> {
        let module = self.module.clone();
        let name = self.level.quoted(special.id.text())?;
        let details = self.words(special.details.iter().copied())?;
        let mut hooks = vec![self.level.make("idHookSymbol", &[name, details])?];
        for hook in &special.operators {
            let purpose = self.level.quoted(hook.purpose.text())?;
            let name = self.level.quoted(hook.name.text())?;
            let domain = self.words(hook.domain.iter().map(|one| Name::new(&type_text(one))))?;
            let range = self.level.quoted(&quoted_sort(&type_text(&hook.range)))?;
            hooks.push(self.level.make("opHookSymbol", &[purpose, name, domain, range])?);
        }
        for (purpose, tokens) in &special.terms {
            let mut terms = module.terms.clone();
            let none = Default::default();
            let grammar = module.grammar();
            let reading = grammar.read(&module.signature, &mut terms, &none, Goal::Term, tokens).ok()?;
            let term = self.object(&terms, reading.terms[0])?;
            let purpose = self.level.quoted(purpose.text())?;
            hooks.push(self.level.make("termHookSymbol", &[purpose, term])?);
        }
        self.level.join("hookListSymbol", "", &hooks)
    }

    fn statements(&mut self, kind: StatementKind) -> Option<TermId> {
        let module = self.module.clone();
        let first = if self.flat { 0 } else { module.own_statements };
        let mut all = Vec::new();
        for statement in module.statements[first..].iter().filter(|statement| statement.kind == kind) {
            all.push(write_statement(self.level, &module.signature, &module.terms, statement)?);
        }
        let (join, empty) = match kind {
            StatementKind::Membership => ("membAxSetSymbol", "emptyMembAxSetSymbol"),
            StatementKind::Equation => ("equationSetSymbol", "emptyEquationSetSymbol"),
            StatementKind::Rule => ("ruleSetSymbol", "emptyRuleSetSymbol"),
        };
        self.set(join, empty, all)
    }
}

fn header(level: &mut Level<'_>, name: TermId, parameters: &[Parameter]) -> Option<TermId> {
    let mut list = Vec::new();
    for parameter in parameters {
        let name = level.quoted(parameter.name.text())?;
        let theory = write_expression(level, &parameter.theory)?;
        list.push(level.make("parameterDeclSymbol", &[name, theory])?);
    }
    let list = level.join("parameterDeclListSymbol", "", &list)?;
    level.make("headerSymbol", &[name, list])
}

fn write_expression(level: &mut Level<'_>, expression: &ModuleExpression) -> Option<TermId> {
    match &expression.kind {
        ExpressionKind::Named(name) => level.quoted(&quoted_sort(name.text())),
        ExpressionKind::Sum(parts) => {
            let mut list = Vec::new();
            for part in parts {
                list.push(write_expression(level, part)?);
            }
            level.join("sumSymbol", "", &list)
        }
        ExpressionKind::Renaming(base, items) => {
            let base = write_expression(level, base)?;
            let mut list = Vec::new();
            for item in items {
                list.push(write_renaming(level, item)?);
            }
            let items = level.join("renamingSetSymbol", "", &list)?;
            level.make("renamingSymbol", &[base, items])
        }
        ExpressionKind::Instance(base, arguments) => {
            let base = write_expression(level, base)?;
            let arguments = write_views(level, arguments)?;
            level.make("instantiationSymbol", &[base, arguments])
        }
    }
}

fn write_views(level: &mut Level<'_>, arguments: &[Argument]) -> Option<TermId> {
    let mut list = Vec::new();
    for argument in arguments {
        let name = level.quoted(argument.name.text())?;
        list.push(match argument.arguments.is_empty() {
            true => name,
            false => {
                let inner = write_views(level, &argument.arguments)?;
                level.make("instantiationSymbol", &[name, inner])?
            }
        });
    }
    level.join("metaArgSymbol", "emptyTermListSymbol", &list)
}

fn write_types(level: &mut Level<'_>, types: &[Type]) -> Option<TermId> {
    let mut list = Vec::new();
    for one in types {
        list.push(level.quoted(&quoted_sort(&type_text(one)))?);
    }
    level.join("qidListSymbol", "nilQidListSymbol", &list)
}

fn write_renaming(level: &mut Level<'_>, item: &RenamingItem) -> Option<TermId> {
    match item {
        RenamingItem::Sort(from, to, _) => {
            let (from, to) =
                (level.quoted(&quoted_sort(from.text()))?, level.quoted(&quoted_sort(to.text()))?);
            level.make("sortRenamingSymbol", &[from, to])
        }
        RenamingItem::Label(from, to, _) => {
            let (from, to) = (level.quoted(from.text())?, level.quoted(to.text())?);
            level.make("labelRenamingSymbol", &[from, to])
        }
        RenamingItem::Operator { from, profile, to, attributes, .. } => {
            let (from, to) = (level.quoted(from.text())?, level.quoted(to.text())?);
            let mut changed = Vec::new();
            if let Some((prec, _)) = attributes.prec {
                let prec = level.number(u64::from(prec))?;
                changed.push(level.make("precSymbol", &[prec])?);
            }
            let lists = [(&attributes.gather, "gatherSymbol"), (&attributes.format, "formatSymbol")];
            for (tokens, purpose) in lists {
                if let Some((tokens, _)) = tokens {
                    let mut words = Vec::new();
                    for token in tokens {
                        words.push(level.quoted(token.text())?);
                    }
                    let words = level.join("qidListSymbol", "nilQidListSymbol", &words)?;
                    changed.push(level.make(purpose, &[words])?);
                }
            }
            let changed = level.join("attrSetSymbol", "emptyAttrSetSymbol", &changed)?;
            match profile {
                None => level.make("opRenamingSymbol", &[from, to, changed]),
                Some((domain, range)) => {
                    let domain = write_types(level, domain)?;
                    let range = level.quoted(&quoted_sort(&type_text(range)))?;
                    level.make("opRenamingSymbol2", &[from, domain, range, to, changed])
                }
            }
        }
    }
}

/// The meta-term of a statement.
pub fn write_statement(
    level: &mut Level<'_>,
    signature: &Signature,
    terms: &Terms,
    statement: &Statement,
) -> Option<TermId> {
    let object = |level: &mut Level<'_>, term| Sketch::of_object(signature, terms, term).write_last(level);
    let mut parts = vec![object(level, statement.left)?];
    parts.push(match statement.sort {
        Some(sort) => level.sort(signature, sort)?,
        None => object(level, statement.right)?,
    });
    let conditional = !statement.conditions.is_empty();
    if conditional {
        let mut fragments = Vec::new();
        for condition in &statement.conditions {
            fragments.push(match *condition {
                Condition::Equal(one, two) => {
                    let sides = [object(level, one)?, object(level, two)?];
                    level.make("equalityConditionSymbol", &sides)?
                }
                Condition::Assign(one, two) => {
                    let sides = [object(level, one)?, object(level, two)?];
                    level.make("matchConditionSymbol", &sides)?
                }
                Condition::Rewrite(one, two) => {
                    let sides = [object(level, one)?, object(level, two)?];
                    level.make("rewriteConditionSymbol", &sides)?
                }
                Condition::Sort(one, sort) => {
                    let sides = [object(level, one)?, level.sort(signature, sort)?];
                    level.make("sortTestConditionSymbol", &sides)?
                }
                Condition::Holds(one) => {
                    let sides = [object(level, one)?, level.quoted("true.Bool")?];
                    level.make("equalityConditionSymbol", &sides)?
                }
            });
        }
        parts.push(level.join("conjunctionSymbol", "noConditionSymbol", &fragments)?);
    }
    let mut attributes = Vec::new();
    if let Some(label) = statement.label {
        let label = level.quoted(label.text())?;
        attributes.push(level.make("labelSymbol", &[label])?);
    }
    if statement.otherwise {
        attributes.push(level.make("owiseSymbol", &[])?);
    }
    if statement.nonexec {
        attributes.push(level.make("nonexecSymbol", &[])?);
    }
    if let Some(metadata) = statement.metadata {
        let text = level.string(&unescaped(metadata.text().trim_matches('"')))?;
        attributes.push(level.make("metadataSymbol", &[text])?);
    }
    parts.push(level.join("attrSetSymbol", "emptyAttrSetSymbol", &attributes)?);
    let purpose = match (statement.kind, conditional) {
        (StatementKind::Equation, false) => "eqSymbol",
        (StatementKind::Equation, true) => "ceqSymbol",
        (StatementKind::Rule, false) => "rlSymbol",
        (StatementKind::Rule, true) => "crlSymbol",
        (StatementKind::Membership, false) => "mbSymbol",
        (StatementKind::Membership, true) => "cmbSymbol",
    };
    level.make(purpose, &parts)
}

/// The meta-term of a view that maps no operator to a term.
pub fn write_view(level: &mut Level<'_>, text: &ViewText) -> Option<TermId> {
    let mut own = level.quoted(text.name.text())?;
    if !text.parameters.is_empty() {
        own = header(level, own, &text.parameters)?;
    }
    let (from, to) = (write_expression(level, &text.from)?, write_expression(level, &text.to)?);
    let mut sorts = Vec::new();
    for (from, to, _) in &text.sorts {
        let (from, to) = (level.quoted(&quoted_sort(from.text()))?, level.quoted(&quoted_sort(to.text()))?);
        sorts.push(level.make("sortMappingSymbol", &[from, to])?);
    }
    let sorts = level.join("sortMappingSetSymbol", "emptySortMappingSetSymbol", &sorts)?;
    let mut operators = Vec::new();
    for operator in &text.operators {
        operators.push(match operator {
            ViewOperator::Renamed { from, profile, to, .. } => {
                let (from, to) = (level.quoted(from.text())?, level.quoted(to.text())?);
                match profile {
                    None => level.make("opMappingSymbol", &[from, to])?,
                    Some((domain, range)) => {
                        let domain = write_types(level, domain)?;
                        let range = level.quoted(&quoted_sort(&type_text(range)))?;
                        level.make("opSpecificMappingSymbol", &[from, domain, range, to])?
                    }
                }
            }
            ViewOperator::Term { .. } => return None,
        });
    }
    let operators = level.join("opMappingSetSymbol", "emptyOpMappingSetSymbol", &operators)?;
    let strategies = level.make("emptyStratMappingSetSymbol", &[])?;
    level.make("viewSymbol", &[own, from, to, sorts, operators, strategies])
}
