//! From meta-terms of modules to modules.

use std::sync::Arc;

use source::{Sources, Span};

use super::level::Level;
use super::sketch::{Sketch, sort_of, unquoted_sort};
use crate::grammar::{Condition, Literals, split_sorts};
use crate::modules::{Database, Module, Statement, is_executable};
use crate::names::Name;
use crate::syntax::lexer::Token;
use crate::syntax::tree::*;
use crate::terms::{TermId, Terms};

/// A fragment of a condition, before its module is known.
enum Fragment {
    Equal(Sketch, Sketch),
    Assign(Sketch, Sketch),
    Rewrite(Sketch, Sketch),
    Sort(Sketch, Name),
}

/// A statement, before its module is known.
struct StatementDraft {
    kind: StatementKind,
    left: Sketch,
    right: Option<Sketch>,
    sort: Option<Name>,
    conditions: Vec<Fragment>,
    attributes: AttributeSet,
}

/// Attributes of operators and statements.
#[derive(Default)]
struct AttributeSet {
    operator: Attributes,
    label: Option<Name>,
    metadata: Option<Name>,
    otherwise: bool,
    nonexec: bool,
}

/// A condition before its module is known.
pub struct ConditionDraft(Vec<Fragment>);

impl ConditionDraft {
    /// Reads a condition.
    pub fn read(level: &Level<'_>, term: TermId) -> Option<Self> {
        Reader { level, span: level.code.signature.symbols[0].span }.conditions(term).map(Self)
    }

    /// The condition with the terms of a module.
    pub fn build(&self, module: &Module, terms: &mut Terms, literals: &Literals) -> Option<Vec<Condition>> {
        let signature = &module.signature;
        let mut conditions = Vec::new();
        for fragment in &self.0 {
            let mut term = |sketch: &Sketch| sketch.build(signature, terms, literals);
            conditions.push(match fragment {
                Fragment::Equal(one, two) => Condition::Equal(term(one)?, term(two)?),
                Fragment::Assign(one, two) => Condition::Assign(term(one)?, term(two)?),
                Fragment::Rewrite(one, two) => Condition::Rewrite(term(one)?, term(two)?),
                Fragment::Sort(one, sort) => Condition::Sort(term(one)?, sort_of(signature, sort.text())?),
            });
        }
        Some(conditions)
    }
}

/// The module that a meta-term stands for; none if it is not well-formed.
pub fn module(
    level: &Level<'_>,
    database: &mut Database,
    sources: &Sources,
    term: TermId,
) -> Option<Arc<Module>> {
    let reader = Reader { level, span: level.code.signature.symbols[0].span };
    let (text, statements) = reader.module(term)?;
    let mut module = database.declared(&text, sources)?;
    let literals = Literals::new(&module.signature, &mut module.terms);
    for draft in statements {
        let statement = reader.statement_of(&mut module, &literals, draft)?;
        module.statements.push(statement);
    }
    Some(Arc::new(module))
}

struct Reader<'l, 'e> {
    level: &'l Level<'e>,
    /// Nothing of this is written anywhere; spans have to be some place.
    span: Span,
}

impl Reader<'_, '_> {
    fn token(&self, text: &str) -> Token {
        Token { name: Name::new(text), span: self.span, ends_line: false }
    }

    fn all<T>(
        &self,
        term: TermId,
        join: &str,
        empty: &str,
        mut read: impl FnMut(TermId) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.level.elements(term, join, empty).into_iter().map(&mut read).collect()
    }

    fn module(&self, term: TermId) -> Option<(ModuleText, Vec<StatementDraft>)> {
        const FORMS: [(&str, bool, bool); 6] = [
            ("fmodSymbol", false, false),
            ("modSymbol", true, false),
            ("smodSymbol", true, false),
            ("fthSymbol", false, true),
            ("thSymbol", true, true),
            ("sthSymbol", true, true),
        ];
        let level = self.level;
        let &(_, system, theory) = FORMS.iter().find(|(purpose, ..)| level.is(term, purpose))?;
        let parts = level.arguments(term);
        let (name, parameters) = self.header(parts[0])?;
        let mut declarations = Vec::new();
        for import in level.elements(parts[1], "importListSymbol", "nilImportListSymbol") {
            let modes = [
                ("protectingSymbol", Mode::Protecting),
                ("extendingSymbol", Mode::Extending),
                ("includingSymbol", Mode::Including),
            ];
            let &(_, mode) = modes.iter().find(|(purpose, _)| level.is(import, purpose))?;
            let expression = self.expression(level.arguments(import)[0])?;
            declarations.push(Declaration::Import(mode, expression));
        }
        let sorts = self.all(parts[2], "sortSetSymbol", "emptySortSetSymbol", |sort| {
            Some((self.sort(sort)?, self.span))
        })?;
        declarations.push(Declaration::Sorts(sorts));
        for subsort in level.elements(parts[3], "subsortDeclSetSymbol", "emptySubsortDeclSetSymbol") {
            if !level.is(subsort, "subsortSymbol") {
                return None;
            }
            let chain = level.arguments(subsort);
            let chain = chain.iter().map(|&sort| Some(vec![(self.sort(sort)?, self.span)]));
            declarations.push(Declaration::Subsorts(chain.collect::<Option<_>>()?));
        }
        for operator in level.elements(parts[4], "opDeclSetSymbol", "emptyOpDeclSetSymbol") {
            declarations.push(Declaration::Operators(self.operator(operator)?));
        }
        let mut statements =
            self.all(parts[5], "membAxSetSymbol", "emptyMembAxSetSymbol", |term| self.statement(term))?;
        statements.extend(
            self.all(parts[6], "equationSetSymbol", "emptyEquationSetSymbol", |term| self.statement(term))?,
        );
        if system {
            let rules =
                self.all(parts[7], "ruleSetSymbol", "emptyRuleSetSymbol", |term| self.statement(term))?;
            statements.extend(rules);
        }
        let text = ModuleText {
            kind: ModuleKind { system, theory, object: false },
            name,
            name_span: self.span,
            parameters,
            declarations,
            span: self.span,
            broken: false,
        };
        Some((text, statements))
    }

    fn header(&self, term: TermId) -> Option<(Name, Vec<Parameter>)> {
        let level = self.level;
        if !level.is(term, "headerSymbol") {
            return Some((level.word(term)?, Vec::new()));
        }
        let parts = level.arguments(term);
        // A single parameter is no list; `nil` stands for none at all.
        let parameters = self.all(parts[1], "parameterDeclListSymbol", "", |term| {
            let parts = level.is(term, "parameterDeclSymbol").then(|| level.arguments(term))?;
            let name = self.token(level.word(parts[0])?.text());
            Some(Parameter { name, theory: self.expression(parts[1])? })
        })?;
        Some((level.word(parts[0])?, parameters))
    }

    fn expression(&self, term: TermId) -> Option<ModuleExpression> {
        let level = self.level;
        let parts = level.arguments(term);
        let kind = if let Some(name) = level.word(term) {
            ExpressionKind::Named(Name::new(&unquoted_sort(name.text())))
        } else if level.is(term, "sumSymbol") {
            let parts: Option<Vec<_>> = parts.iter().map(|&part| self.expression(part)).collect();
            ExpressionKind::Sum(parts?)
        } else if level.is(term, "renamingSymbol") {
            let items = self.all(parts[1], "renamingSetSymbol", "", |item| self.renaming(item))?;
            ExpressionKind::Renaming(Box::new(self.expression(parts[0])?), items)
        } else if level.is(term, "instantiationSymbol") {
            let arguments = self.views(parts[1])?;
            ExpressionKind::Instance(Box::new(self.expression(parts[0])?), arguments)
        } else {
            return None;
        };
        Some(ModuleExpression { kind, span: self.span })
    }

    fn views(&self, term: TermId) -> Option<Vec<Argument>> {
        let level = self.level;
        self.all(term, "metaArgSymbol", "emptyTermListSymbol", |view| {
            if let Some(name) = level.word(view) {
                let name = self.token(&unquoted_sort(name.text()));
                return Some(Argument { name, arguments: Vec::new() });
            }
            let parts = level.is(view, "instantiationSymbol").then(|| level.arguments(view))?;
            let name = self.token(level.word(parts[0])?.text());
            Some(Argument { name, arguments: self.views(parts[1])? })
        })
    }

    fn renaming(&self, term: TermId) -> Option<RenamingItem> {
        let level = self.level;
        let parts = level.arguments(term);
        let span = self.span;
        let forms = ["sortRenamingSymbol", "labelRenamingSymbol", "opRenamingSymbol", "opRenamingSymbol2"];
        Some(match level.purpose(term, &forms)? {
            "sortRenamingSymbol" => RenamingItem::Sort(self.sort(parts[0])?, self.sort(parts[1])?, span),
            "labelRenamingSymbol" => RenamingItem::Label(level.word(parts[0])?, level.word(parts[1])?, span),
            "opRenamingSymbol" => RenamingItem::Operator {
                from: level.word(parts[0])?,
                profile: None,
                to: level.word(parts[1])?,
                attributes: Box::new(self.attributes(parts[2])?.operator),
                span,
            },
            _ => RenamingItem::Operator {
                from: level.word(parts[0])?,
                profile: Some((self.types(parts[1])?, self.one_type(parts[2])?)),
                to: level.word(parts[3])?,
                attributes: Box::new(self.attributes(parts[4])?.operator),
                span,
            },
        })
    }

    fn sort(&self, term: TermId) -> Option<Name> {
        Some(Name::new(&unquoted_sort(self.level.word(term)?.text())))
    }

    fn one_type(&self, term: TermId) -> Option<Type> {
        let plain = unquoted_sort(self.level.word(term)?.text());
        let inner = plain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let sorts = split_sorts(inner.unwrap_or(&plain)).map(Name::new).collect();
        Some(Type { sorts, kind: inner.is_some(), span: self.span })
    }

    fn types(&self, term: TermId) -> Option<Vec<Type>> {
        self.all(term, "qidListSymbol", "nilQidListSymbol", |one| self.one_type(one))
    }

    fn operator(&self, term: TermId) -> Option<OperatorText> {
        let level = self.level;
        let parts = level.is(term, "opDeclSymbol").then(|| level.arguments(term))?;
        Some(OperatorText {
            names: vec![(level.word(parts[0])?, self.span)],
            domain: self.types(parts[1])?,
            range: self.one_type(parts[2])?,
            partial: false,
            attributes: self.attributes(parts[3])?.operator,
            span: self.span,
        })
    }

    fn attributes(&self, term: TermId) -> Option<AttributeSet> {
        let mut set = AttributeSet::default();
        for attribute in self.level.elements(term, "attrSetSymbol", "emptyAttrSetSymbol") {
            self.attribute(attribute, &mut set)?;
        }
        Some(set)
    }

    fn attribute(&self, term: TermId, set: &mut AttributeSet) -> Option<()> {
        const PURPOSES: [&str; 26] = [
            "assocSymbol",
            "commSymbol",
            "idemSymbol",
            "iterSymbol",
            "idSymbol",
            "leftIdSymbol",
            "rightIdSymbol",
            "stratSymbol",
            "memoSymbol",
            "precSymbol",
            "gatherSymbol",
            "formatSymbol",
            "ctorSymbol",
            "frozenSymbol",
            "polySymbol",
            "configSymbol",
            "objectSymbol",
            "msgSymbol",
            "specialSymbol",
            "labelSymbol",
            "metadataSymbol",
            "owiseSymbol",
            "nonexecSymbol",
            "variantAttrSymbol",
            "narrowingSymbol",
            "printSymbol",
        ];
        let (level, span) = (self.level, self.span);
        let parts = level.arguments(term);
        let operator = &mut set.operator;
        let identity = |term: TermId| Sketch::of_meta(level, term)?.tokens(span);
        let numbers = |term: TermId| -> Option<Vec<i64>> {
            self.all(term, "natListSymbol", "", |number| i64::try_from(level.natural(number)?).ok())
        };
        let words = |term: TermId| {
            self.all(term, "qidListSymbol", "nilQidListSymbol", |word| {
                Some(self.token(&unquoted_sort(level.word(word)?.text())))
            })
        };
        match level.purpose(term, &PURPOSES)? {
            "assocSymbol" => operator.assoc = Some(span),
            "commSymbol" => operator.comm = Some(span),
            "idemSymbol" => operator.idem = Some(span),
            "iterSymbol" => operator.iter = Some(span),
            "idSymbol" => operator.id = Some(identity(parts[0])?),
            "leftIdSymbol" => operator.left_id = Some(identity(parts[0])?),
            "rightIdSymbol" => operator.right_id = Some(identity(parts[0])?),
            "stratSymbol" => operator.strat = Some((numbers(parts[0])?, span)),
            "memoSymbol" => operator.memo = true,
            "precSymbol" => operator.prec = Some((u32::try_from(level.natural(parts[0])?).ok()?, span)),
            "gatherSymbol" => operator.gather = Some((words(parts[0])?, span)),
            "formatSymbol" => operator.format = Some((words(parts[0])?, span)),
            "ctorSymbol" => operator.ctor = true,
            "frozenSymbol" => operator.frozen = Some((numbers(parts[0])?, span)),
            "polySymbol" => operator.poly = Some((numbers(parts[0])?, span)),
            "configSymbol" => operator.object = Some(ObjectRole::Configuration),
            "objectSymbol" => operator.object = Some(ObjectRole::Object),
            "msgSymbol" => operator.object = Some(ObjectRole::Message),
            "specialSymbol" => operator.special = Some(self.special(parts[0])?),
            "labelSymbol" => set.label = Some(level.word(parts[0])?),
            "metadataSymbol" => {
                let text = Name::new(&crate::print::quoted(&level.text(parts[0])?));
                set.metadata = Some(text);
                operator.metadata = Some(Token { name: text, span, ends_line: false });
            }
            "owiseSymbol" => set.otherwise = true,
            "nonexecSymbol" => set.nonexec = true,
            _ => {}
        }
        Some(())
    }

    fn special(&self, term: TermId) -> Option<Special> {
        let level = self.level;
        let mut special = Special {
            id: Name::new(""),
            details: Vec::new(),
            operators: Vec::new(),
            terms: Vec::new(),
            span: self.span,
        };
        for hook in level.elements(term, "hookListSymbol", "") {
            let parts = level.arguments(hook);
            match level.purpose(hook, &["idHookSymbol", "opHookSymbol", "termHookSymbol"])? {
                "idHookSymbol" => {
                    special.id = level.word(parts[0])?;
                    special.details =
                        self.all(parts[1], "qidListSymbol", "nilQidListSymbol", |word| level.word(word))?;
                }
                "opHookSymbol" => special.operators.push(OperatorHook {
                    purpose: level.word(parts[0])?,
                    name: level.word(parts[1])?,
                    domain: self.types(parts[2])?,
                    range: self.one_type(parts[3])?,
                }),
                _ => {
                    let tokens = Sketch::of_meta(level, parts[1])?.tokens(self.span)?;
                    special.terms.push((level.word(parts[0])?, tokens));
                }
            }
        }
        Some(special)
    }

    fn conditions(&self, term: TermId) -> Option<Vec<Fragment>> {
        const FORMS: [&str; 4] = [
            "equalityConditionSymbol",
            "matchConditionSymbol",
            "rewriteConditionSymbol",
            "sortTestConditionSymbol",
        ];
        let level = self.level;
        self.all(term, "conjunctionSymbol", "noConditionSymbol", |fragment| {
            let form = level.purpose(fragment, &FORMS)?;
            let parts = level.arguments(fragment);
            let one = Sketch::of_meta(level, parts[0])?;
            Some(match form {
                "sortTestConditionSymbol" => Fragment::Sort(one, level.word(parts[1])?),
                "equalityConditionSymbol" => Fragment::Equal(one, Sketch::of_meta(level, parts[1])?),
                "matchConditionSymbol" => Fragment::Assign(one, Sketch::of_meta(level, parts[1])?),
                _ => Fragment::Rewrite(one, Sketch::of_meta(level, parts[1])?),
            })
        })
    }

    fn statement(&self, term: TermId) -> Option<StatementDraft> {
        const FORMS: [&str; 6] = ["eqSymbol", "ceqSymbol", "rlSymbol", "crlSymbol", "mbSymbol", "cmbSymbol"];
        let level = self.level;
        let form = level.purpose(term, &FORMS)?;
        let parts = level.arguments(term);
        let kind = match form {
            "eqSymbol" | "ceqSymbol" => StatementKind::Equation,
            "rlSymbol" | "crlSymbol" => StatementKind::Rule,
            _ => StatementKind::Membership,
        };
        let is_membership = kind == StatementKind::Membership;
        Some(StatementDraft {
            kind,
            left: Sketch::of_meta(level, parts[0])?,
            right: if is_membership { None } else { Some(Sketch::of_meta(level, parts[1])?) },
            sort: if is_membership { Some(level.word(parts[1])?) } else { None },
            conditions: if form.starts_with('c') { self.conditions(parts[2])? } else { Vec::new() },
            attributes: self.attributes(parts[parts.len() - 1])?,
        })
    }

    fn statement_of(
        &self,
        module: &mut Module,
        literals: &Literals,
        draft: StatementDraft,
    ) -> Option<Statement> {
        let signature = module.signature.clone();
        let mut terms = std::mem::take(&mut module.terms);
        let left = draft.left.build(&signature, &mut terms, literals);
        let right = draft.right.as_ref().map(|right| right.build(&signature, &mut terms, literals));
        let conditions = ConditionDraft(draft.conditions).build(module, &mut terms, literals);
        let (left, right) = (left?, right.unwrap_or(Some(TermId::NONE))?);
        let same_kind = right == TermId::NONE
            || signature.kind_of(terms.sort(left)) == signature.kind_of(terms.sort(right));
        module.terms = terms;
        let conditions = conditions.filter(|_| same_kind)?;
        let mut statement = Statement {
            kind: draft.kind,
            left,
            right,
            sort: match draft.sort {
                Some(sort) => Some(sort_of(&signature, sort.text())?),
                None => None,
            },
            condition_spans: vec![self.span; conditions.len()],
            conditions,
            label: draft.attributes.label,
            otherwise: draft.attributes.otherwise,
            nonexec: draft.attributes.nonexec,
            span: self.span,
            module: module.name,
            metadata: draft.attributes.metadata,
        };
        // What can't be executed is not; the rest of the module can.
        statement.nonexec |= !is_executable(module, &statement);
        Some(statement)
    }
}
