//! What a verdict alone would hide: predicates that no label satisfies, and properties that hold for want of an
//! occasion.

use model::{Gate, OfferType};
use source::{Diagnostic, closest};

use crate::action::LabelText;
use crate::equations::pattern_code;
use crate::tree::*;

/// Warns of every label, pattern and value pattern in a formula that no label of a system satisfies.
///
/// What depends on variables bound elsewhere counts as satisfied: no warning is false.
///
/// ```
/// use model::OfferType;
/// let mut sources = source::Sources::new();
/// let loaded = logic::load_text("p.mcl", r#"[ true* . "SEDN !1" ] false"#, &mut sources).unwrap();
/// let warnings = logic::unmatched(&loaded.properties[0].formula, &["SEND !1", "RECEIVE !1"]);
/// assert!(sources.render_all(&warnings, false).contains("did you mean \"SEND !1\"?"));
/// ```
pub fn unmatched<T: AsRef<str>>(formula: &Formula, labels: &[T]) -> Vec<Diagnostic> {
    let labels: Vec<&str> = labels.iter().map(AsRef::as_ref).collect();
    let variables = variables(formula);
    let mut warnings = Vec::new();
    for_each_action(formula, &mut |action| {
        let has_gate = |gate: &Name| labels.iter().any(|label| lts::gate(label) == gate.text);
        let message = match &action.kind {
            ActionKind::Exact(text) if !labels.contains(&text.as_str()) => {
                format!("the label \"{text}\" never occurs in the system")
            }
            ActionKind::Regex(pattern) if !labels.iter().any(|label| pattern.regex.is_match(label)) => {
                format!("the pattern '{}' matches no label of the system", pattern.text)
            }
            ActionKind::Pattern(ActionPattern { gate: Some(gate), .. }) if !has_gate(gate) => {
                format!("no label of the system has the gate `{}`", gate.text)
            }
            ActionKind::Pattern(pattern) if !may_match(pattern, &labels, &variables) => {
                format!("no label of the system has the values of `{pattern}`")
            }
            _ => return,
        };
        let warning = Diagnostic::warning(message)
            .label(action.span, "matches nothing")
            .maybe_help(suggestion(action, &labels));
        // A macro's body gives the same warning for each of its calls' places only once.
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    });
    warnings
}

/// All variables that a formula binds anywhere.
fn variables(formula: &Formula) -> Vec<String> {
    let mut names = Vec::new();
    for_each_binder(formula, &mut |name| names.push(name.text.clone()));
    names
}

/// Whether some label could satisfy a value pattern, whatever the values of variables bound outside it.
fn may_match(pattern: &ActionPattern, labels: &[&str], variables: &[String]) -> bool {
    let mut own: Vec<&str> = Vec::new();
    let mut offers = Vec::new();
    let known = |expression: &Expression, own: &[&str]| {
        let mut known = true;
        for_each_name(expression, &mut |name| {
            known &= own.contains(&name) || !variables.iter().any(|variable| variable == name);
        });
        known
    };
    for offer in &pattern.offers {
        offers.push(match offer {
            Offer::Value(value) if !known(value, &own) => Offer::Any,
            Offer::Bind(name, type_of) => {
                own.push(&name.text);
                Offer::Bind(name.clone(), type_of.clone())
            }
            other => other.clone(),
        });
    }
    let condition = pattern.condition.clone().filter(|one| known(one, &own));
    let pattern = ActionPattern { gate: pattern.gate.clone(), offers, condition };
    let code = pattern_code(&pattern);
    labels.iter().any(|label| {
        // An error of the data is told when the formula is checked.
        code.matches(&LabelText::new(label), &|_| None).map_or(true, |ways| !ways.is_empty())
    })
}

/// A selector of the command line that chooses none of these labels, as a sentence that says so.
///
/// ```
/// let selector = lts::Selector::parse("SEDN")?;
/// let told = logic::unmatched_selector("--hide", &selector, &["SEND !1"]).unwrap();
/// assert_eq!(told.message, "--hide SEDN: no label has this gate");
/// assert!(logic::unmatched_selector("--hide", &lts::Selector::parse("SEND")?, &["SEND !1"]).is_none());
/// # Ok::<(), lts::SelectorError>(())
/// ```
pub fn unmatched_selector(option: &str, selector: &lts::Selector, labels: &[&str]) -> Option<Diagnostic> {
    let told = selector.unmatched(option, labels)?;
    let help = match selector {
        lts::Selector::Pattern(_) => in_other_syntax(&selector.to_string(), Syntax::Extended, labels),
        lts::Selector::Gate(_) | lts::Selector::Exact(_) => None,
    };
    Some(told.maybe_help(help))
}

/// Says so if an expression that matches nothing would match something in the other syntax.
fn in_other_syntax(text: &str, syntax: Syntax, labels: &[&str]) -> Option<String> {
    let other = match syntax {
        Syntax::Basic => Syntax::Extended,
        Syntax::Extended => Syntax::Basic,
    };
    let pattern = LabelPattern::new(text, other).ok()?;
    let label = labels.iter().find(|label| pattern.regex.is_match(label))?;
    Some(match syntax {
        Syntax::Basic => format!(
            "as an extended regular expression it would match \"{label}\", but patterns in MCL are basic: ( ) {{ }} + ? | stand for themselves; write AA* for A+, and join alternatives with `or`"
        ),
        Syntax::Extended => format!(
            "as a basic regular expression, as in MCL, it would match \"{label}\", but on the command line expressions are extended: write \\ before ( ) {{ }} + ? | to mean the character itself"
        ),
    })
}

fn gates<'l>(labels: &[&'l str]) -> Vec<&'l str> {
    let mut gates: Vec<&str> = labels.iter().map(|label| lts::gate(label)).collect();
    gates.sort_unstable();
    gates.dedup();
    gates
}

/// Warns of every label and value pattern in a formula whose gate a model does not have, or never with so many offers:
/// what can be said before any of its labels are known. Gates come with the numbers of offers that they have.
///
/// ```
/// use model::{Gate, OfferType};
/// let mut sources = source::Sources::new();
/// let loaded = logic::load_text("p.mcl", r#"[ true* . "SEDN !1" . { SEND } ] false"#, &mut sources).unwrap();
/// let gates = [Gate { name: "SEND".into(), profiles: vec![vec![OfferType::Other]] }];
/// let warnings = logic::unknown_gates(&loaded.properties[0].formula, &gates);
/// let told = sources.render_all(&warnings, false);
/// assert!(told.contains("there is a gate `SEND`"));
/// assert!(told.contains("the gate `SEND` never has 0 offers"));
/// ```
pub fn unknown_gates(formula: &Formula, gates: &[Gate]) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    for_each_action(formula, &mut |action| {
        let Some(named) = NamedOffers::of(action) else { return };
        let gate = named.gate;
        if [lts::TAU_TEXT, "exit"].contains(&gate) {
            return;
        }
        let same: Vec<&Vec<Vec<OfferType>>> =
            gates.iter().filter(|known| known.name == gate).map(|known| &known.profiles).collect();
        let profiles: Vec<&Vec<OfferType>> = same.iter().copied().flatten().collect();
        let offers = |count: usize| format!("{count} offer{}", if count == 1 { "" } else { "s" });
        let count = named.offers.len();
        let long_enough: Vec<&Vec<OfferType>> = profiles
            .iter()
            .copied()
            .filter(|profile| profile.len() == count || (named.more && profile.len() > count))
            .collect();
        let (message, help) = if same.is_empty() {
            let nearest = closest(gate, gates.iter().map(|known| known.name.as_str()));
            let help = nearest.map(|gate| format!("there is a gate `{gate}`"));
            (format!("the model has no visible gate `{gate}`"), help)
        } else if profiles.is_empty() {
            (format!("the model never uses the gate `{gate}`"), None)
        } else if long_enough.is_empty() {
            let mut counts: Vec<usize> = profiles.iter().map(|profile| profile.len()).collect();
            counts.sort_unstable();
            counts.dedup();
            let all: Vec<String> = counts.iter().map(|&count| offers(count)).collect();
            let least = if named.more { "at least " } else { "" };
            let message = format!("the gate `{gate}` never has {least}{}", offers(count));
            (message, Some(format!("it has {}; write `...` for any number of them", all.join(" or "))))
        } else if let Some((text, kind)) = named.impossible(&long_enough) {
            let message = format!("the gate `{gate}` never has the value {text} here");
            (message, Some(format!("the values are {kind}")))
        } else {
            return;
        };
        let warning = Diagnostic::warning(message).label(action.span, "matches nothing").maybe_help(help);
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    });
    warnings
}

/// Warns of types that a formula names and a model does not have. Labels do not say types, so such an offer matches all the
/// same.
pub fn unknown_types(formula: &Formula, types: &[&str]) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    for_each_action(formula, &mut |action| {
        let ActionKind::Pattern(ActionPattern { offers, .. }) = &action.kind else { return };
        for offer in offers {
            let Offer::Bind(name, Type::Term(ty)) = offer else { continue };
            if types.iter().any(|known| known.eq_ignore_ascii_case(ty)) {
                continue;
            }
            let near = closest(ty, types.iter().copied()).map(|near| format!("did you mean `{near}`?"));
            let warning = Diagnostic::warning(format!("the model has no type `{ty}`"))
                .label(name.span, "takes an offer of any type")
                .maybe_help(near);
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    });
    warnings
}

/// An action that names a gate and, for some of its offers, the value.
struct NamedOffers<'a> {
    gate: &'a str,
    offers: Vec<NamedOffer<'a>>,
    /// Whether more offers may follow those.
    more: bool,
}

enum NamedOffer<'a> {
    /// As labels print it.
    Text(&'a str),
    Number(i64),
    Any,
}

impl<'a> NamedOffers<'a> {
    fn of(action: &'a Action) -> Option<Self> {
        match &action.kind {
            ActionKind::Exact(text) => {
                let offers = lts::offers(text).into_iter().map(NamedOffer::Text).collect();
                Some(Self { gate: lts::gate(text), offers, more: false })
            }
            ActionKind::Pattern(ActionPattern { gate: Some(gate), offers, .. }) => {
                // What stands behind `...` may be at any place.
                let before = offers.iter().position(|offer| matches!(offer, Offer::Rest));
                let named = |(at, offer): (usize, &Offer)| match offer {
                    Offer::Value(value) if before.is_none_or(|rest| at < rest) => match value.kind {
                        ExpressionKind::Number(number) => NamedOffer::Number(number),
                        _ => NamedOffer::Any,
                    },
                    _ => NamedOffer::Any,
                };
                let known = offers.iter().enumerate().filter(|(_, offer)| !matches!(offer, Offer::Rest));
                let offers = known.map(named).collect();
                Some(Self { gate: &gate.text, offers, more: before.is_some() })
            }
            _ => None,
        }
    }

    /// A value that no list of offers has at its place, and what is there instead; nothing where all can be.
    fn impossible(&self, profiles: &[&Vec<OfferType>]) -> Option<(String, String)> {
        let fits = |offer: &NamedOffer<'_>, kind: &OfferType| match offer {
            NamedOffer::Text(text) => kind.prints(text),
            NamedOffer::Number(number) => kind.has(*number),
            NamedOffer::Any => true,
        };
        for (at, offer) in self.offers.iter().enumerate() {
            if profiles.iter().any(|profile| fits(offer, &profile[at])) {
                continue;
            }
            let mut kinds: Vec<String> = profiles.iter().map(|profile| profile[at].to_string()).collect();
            kinds.dedup();
            let text = match offer {
                NamedOffer::Text(text) => (*text).to_owned(),
                NamedOffer::Number(number) => number.to_string(),
                NamedOffer::Any => continue,
            };
            return Some((text, kinds.join(" or ")));
        }
        None
    }
}

fn suggestion(action: &Action, labels: &[&str]) -> Option<String> {
    let gates = gates(labels);
    let list = |all: Vec<&str>| {
        let shown: Vec<String> = all.iter().take(3).map(|label| format!("\"{label}\"")).collect();
        let more = if all.len() > 3 { ", …" } else { "" };
        format!("{}{more}", shown.join(", "))
    };
    match &action.kind {
        ActionKind::Exact(text) => {
            if let Some(label) = closest(text, labels.iter().copied()) {
                return Some(format!("did you mean \"{label}\"?"));
            }
            let gate = lts::gate(text);
            let same: Vec<&str> = labels.iter().copied().filter(|label| lts::gate(label) == gate).collect();
            if !same.is_empty() {
                return Some(format!(
                    "labels with the gate `{gate}` are {}; write {{ {gate} ... }} for all of them",
                    list(same)
                ));
            }
            closest(gate, gates).map(|gate| format!("there is a gate `{gate}`"))
        }
        ActionKind::Regex(LabelPattern { text, syntax, .. }) => {
            if let Some(help) = in_other_syntax(text, *syntax, labels) {
                return Some(help);
            }
            // The text without what only patterns have, as a person would read it.
            let plain: String = text.replace(".*", "").replace('\\', "");
            let near: Vec<&str> = labels
                .iter()
                .copied()
                .filter(|label| !plain.trim().is_empty() && label.contains(plain.trim()))
                .collect();
            if !near.is_empty() {
                return Some(format!("patterns match whole labels, such as {}", list(near)));
            }
            closest(plain.trim(), labels.iter().copied())
                .map(|label| format!("did you mean \"{label}\"?"))
                .or_else(|| {
                    closest(lts::gate(plain.trim()), gates).map(|gate| format!("there is a gate `{gate}`"))
                })
        }
        ActionKind::Pattern(pattern) => {
            let gate = &pattern.gate.as_ref()?.text;
            let same: Vec<&str> = labels.iter().copied().filter(|label| lts::gate(label) == gate).collect();
            if !same.is_empty() {
                return Some(format!("labels with the gate `{gate}` are {}", list(same)));
            }
            closest(gate, gates).map(|gate| format!("did you mean `{gate}`?"))
        }
        _ => None,
    }
}

/// Calls `visit` for a formula and every formula in it.
fn for_each_formula(formula: &Formula, visit: &mut dyn FnMut(&Formula)) {
    visit(formula);
    match &formula.kind {
        FormulaKind::Data(_)
        | FormulaKind::Name(..)
        | FormulaKind::Forever(_)
        | FormulaKind::Saturated(_) => {}
        FormulaKind::And(all) | FormulaKind::Or(all) => {
            all.iter().for_each(|one| for_each_formula(one, visit))
        }
        FormulaKind::Binary(_, left, right) => {
            for_each_formula(left, visit);
            for_each_formula(right, visit);
        }
        FormulaKind::Not(body)
        | FormulaKind::Possible(_, body)
        | FormulaKind::Necessary(_, body)
        | FormulaKind::Fixpoint { body, .. }
        | FormulaKind::Quantified { body, .. }
        | FormulaKind::Let(_, body) => for_each_formula(body, visit),
        FormulaKind::If(arms, otherwise) => {
            for (condition, branch) in arms {
                for_each_formula(condition, visit);
                for_each_formula(branch, visit);
            }
            for_each_formula(otherwise, visit);
        }
        FormulaKind::Case(_, branches) => {
            branches.iter().for_each(|branch| for_each_formula(&branch.body, visit));
        }
    }
}

/// Calls `visit` for every predicate on labels, inner ones included.
pub(crate) fn for_each_action(formula: &Formula, visit: &mut dyn FnMut(&Action)) {
    for_each_regular(formula, &mut |regular| {
        if let RegularKind::Action(action) = &regular.kind {
            in_action(action, visit);
        }
    });
}

/// Calls `visit` for every regular formula, inner ones included.
fn for_each_regular(formula: &Formula, visit: &mut dyn FnMut(&Regular)) {
    for_each_formula(formula, &mut |formula| match &formula.kind {
        FormulaKind::Possible(regular, _)
        | FormulaKind::Necessary(regular, _)
        | FormulaKind::Forever(regular)
        | FormulaKind::Saturated(regular) => in_regular(regular, visit),
        _ => {}
    });
}

fn in_regular(regular: &Regular, visit: &mut dyn FnMut(&Regular)) {
    visit(regular);
    match &regular.kind {
        RegularKind::Nil | RegularKind::Action(_) | RegularKind::Continue(_) | RegularKind::Exit(_) => {}
        RegularKind::Sequence(all) | RegularKind::Choice(all) => {
            all.iter().for_each(|one| in_regular(one, visit))
        }
        RegularKind::Repeat { body, .. }
        | RegularKind::Counted { body, .. }
        | RegularKind::Let(_, body)
        | RegularKind::For { body, .. }
        | RegularKind::While(_, body)
        | RegularKind::Until(body, _)
        | RegularKind::Loop { body, .. } => in_regular(body, visit),
        RegularKind::If(arms, otherwise) => {
            arms.iter().for_each(|(_, branch)| in_regular(branch, visit));
            otherwise.iter().for_each(|branch| in_regular(branch, visit));
        }
        RegularKind::Case(_, branches) => branches.iter().for_each(|branch| in_regular(&branch.body, visit)),
    }
}

fn in_action(action: &Action, visit: &mut dyn FnMut(&Action)) {
    visit(action);
    match &action.kind {
        ActionKind::Not(of) => in_action(of, visit),
        ActionKind::And(all) | ActionKind::Or(all) => all.iter().for_each(|one| in_action(one, visit)),
        ActionKind::Binary(_, left, right) => {
            in_action(left, visit);
            in_action(right, visit);
        }
        _ => {}
    }
}

/// Calls `visit` for every name in an expression.
fn for_each_name(expression: &Expression, visit: &mut dyn FnMut(&str)) {
    match &expression.kind {
        ExpressionKind::Name(name) => visit(name),
        ExpressionKind::Call(_, all) => all.iter().for_each(|one| for_each_name(one, visit)),
        ExpressionKind::Unary(_, of) | ExpressionKind::Of(of, _) => for_each_name(of, visit),
        ExpressionKind::Binary(_, left, right) => {
            for_each_name(left, visit);
            for_each_name(right, visit);
        }
        _ => {}
    }
}

/// Calls `visit` for every data variable where it is bound.
fn for_each_binder(formula: &Formula, visit: &mut dyn FnMut(&Name)) {
    for_each_formula(formula, &mut |formula| match &formula.kind {
        FormulaKind::Fixpoint { parameters: bindings, .. } | FormulaKind::Let(bindings, _) => {
            bindings.iter().for_each(|one| visit(&one.name));
        }
        FormulaKind::Quantified { variables, .. } => variables.iter().for_each(|one| visit(&one.name)),
        FormulaKind::Case(_, branches) => branches.iter().for_each(|one| in_pattern(&one.pattern, visit)),
        _ => {}
    });
    for_each_regular(formula, &mut |regular| match &regular.kind {
        RegularKind::Let(bindings, _) => bindings.iter().for_each(|one| visit(&one.name)),
        RegularKind::For { name, .. } => visit(name),
        RegularKind::Loop { parameters, results, .. } => {
            parameters.iter().for_each(|one| visit(&one.name));
            results.iter().for_each(|(name, _)| visit(name));
        }
        RegularKind::Case(_, branches) => branches.iter().for_each(|one| in_pattern(&one.pattern, visit)),
        _ => {}
    });
    for_each_action(formula, &mut |action| {
        if let ActionKind::Pattern(pattern) = &action.kind {
            for offer in &pattern.offers {
                if let Offer::Bind(name, _) = offer {
                    visit(name);
                }
            }
        }
    });
}

fn in_pattern(pattern: &CasePattern, visit: &mut dyn FnMut(&Name)) {
    if let CasePattern::Bind(name, _) = pattern {
        visit(name);
    }
}

/// An occasion without which a property holds for nothing.
pub(crate) struct Occasion {
    /// Holds if the occasion arises.
    pub formula: Formula,
    /// What to say if it never does.
    pub warning: Diagnostic,
}

/// The occasions of a formula: `[R] F` asks for nothing where R is never completed, `F implies G` where F never holds.
/// Only the outside of the formula is looked at, up to the first fixpoint or variable.
pub(crate) fn occasions(formula: &Formula) -> Vec<Occasion> {
    let mut found = Vec::new();
    collect(formula, &mut Vec::new(), &mut found);
    found
}

fn collect(formula: &Formula, before: &mut Vec<Regular>, found: &mut Vec<Occasion>) {
    let reaches = |before: &[Regular], goal: Formula| {
        before.iter().rev().fold(goal, |goal, regular| Formula {
            span: goal.span,
            kind: FormulaKind::Possible(regular.clone(), Box::new(goal)),
        })
    };
    let constant = |value: bool| Formula {
        kind: FormulaKind::Data(Expression { kind: ExpressionKind::Bool(value), span: formula.span }),
        span: formula.span,
    };
    match &formula.kind {
        FormulaKind::And(all) => all.iter().for_each(|one| collect(one, before, found)),
        FormulaKind::Necessary(regular, body) => {
            let asks = !matches!(
                &body.kind,
                FormulaKind::Data(Expression { kind: ExpressionKind::Bool(_), .. })
                    | FormulaKind::Necessary(..)
            );
            before.push(regular.clone());
            if asks && !crate::check::nullable(regular) {
                found.push(Occasion {
                    formula: reaches(before, constant(true)),
                    warning: Diagnostic::warning(
                        "the property holds only because what it describes never happens",
                    )
                    .label(regular.span, "no run of the system does this")
                    .label(body.span, "so this is never tested"),
                });
            }
            collect(body, before, found);
            before.pop();
        }
        FormulaKind::Binary(BinaryOperator::Implies, left, _) => found.push(Occasion {
            formula: reaches(before, (**left).clone()),
            warning: Diagnostic::warning("the property holds only because its condition never does")
                .label(left.span, "true in no state that matters here"),
        }),
        _ => {}
    }
}
