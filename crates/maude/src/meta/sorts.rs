//! The functions of the meta-level about sorts and kinds.

use super::level::Level;
use super::sketch::sort_of;
use crate::signature::{Signature, SortId, SymbolId};
use crate::terms::TermId;

/// Functions about sorts; none if it is another one.
pub fn answer(
    level: &mut Level<'_>,
    signature: &Signature,
    name: &str,
    arguments: &[TermId],
) -> Option<Option<TermId>> {
    let sort = |level: &Level<'_>, at: usize| -> Option<SortId> {
        sort_of(signature, level.word(*arguments.get(at)?)?.text())
    };
    let members = |sort: SortId| signature.kinds[signature.kind_of(sort).0 as usize].sorts.clone();
    let answer = match name {
        "metaSortLeq" => (|| {
            let leq = signature.leq(sort(level, 0)?, sort(level, 1)?);
            level.engine.truth(level.code, leq)
        })(),
        "metaSameKind" => (|| {
            let same = signature.kind_of(sort(level, 0)?) == signature.kind_of(sort(level, 1)?);
            level.engine.truth(level.code, same)
        })(),
        "metaLesserSorts" => (|| {
            let of = sort(level, 0)?;
            let lesser: Vec<SortId> =
                members(of).into_iter().filter(|&own| own != of && signature.leq(own, of)).collect();
            level.sorts(signature, &lesser)
        })(),
        "metaGlbSorts" => (|| {
            let (one, two) = (sort(level, 0)?, sort(level, 1)?);
            let below: Vec<SortId> = members(one)
                .into_iter()
                .filter(|&own| signature.leq(own, one) && signature.leq(own, two))
                .collect();
            let largest: Vec<SortId> = below
                .iter()
                .copied()
                .filter(|&own| !below.iter().any(|&other| other != own && signature.leq(own, other)))
                .collect();
            level.sorts(signature, &largest)
        })(),
        "metaMaximalSorts" | "metaMinimalSorts" => (|| {
            let kind = sort(level, 0).filter(|&sort| signature.is_kind(sort))?;
            let members = &members(kind)[1..];
            let beyond = |own: SortId, other: SortId| match name {
                "metaMaximalSorts" => signature.leq(own, other),
                _ => signature.leq(other, own),
            };
            let extreme: Vec<SortId> = members
                .iter()
                .copied()
                .filter(|&own| !members.iter().any(|&other| other != own && beyond(own, other)))
                .collect();
            level.sorts(signature, &extreme)
        })(),
        "metaCompleteName" => sort(level, 0).and_then(|sort| level.sort(signature, sort)),
        "metaGetKind" => (|| {
            let top = signature.top(signature.kind_of(sort(level, 0)?));
            level.sort(signature, top)
        })(),
        "metaGetKinds" => {
            let tops: Vec<SortId> = signature.kinds.iter().map(|kind| kind.sorts[0]).collect();
            level.sorts(signature, &tops)
        }
        "metaMaximalAritySet" => (|| {
            let name = level.word(arguments[0])?;
            let mut domain = Vec::new();
            for one in level.elements(arguments[1], "qidListSymbol", "nilQidListSymbol") {
                domain.push(signature.kind_of(sort_of(signature, level.word(one)?.text())?));
            }
            let range = sort(level, 2).filter(|&sort| !signature.is_kind(sort))?;
            let symbol = signature.find(name, &domain, signature.kind_of(range))?;
            arities(level, signature, symbol, range)
        })(),
        _ => return None,
    };
    Some(answer)
}

/// The largest arguments for which the result has a sort.
fn arities(level: &mut Level<'_>, signature: &Signature, symbol: SymbolId, range: SortId) -> Option<TermId> {
    let data = signature.symbol(symbol);
    let mut domains: Vec<Vec<SortId>> = Vec::new();
    for profile in data.profiles.iter().filter(|profile| signature.leq(profile.range, range)) {
        domains.push(profile.domain.clone());
        if data.comm {
            domains.push(profile.domain.iter().rev().copied().collect());
        }
    }
    let below =
        |one: &[SortId], two: &[SortId]| one.iter().zip(two).all(|(&one, &two)| signature.leq(one, two));
    let largest: Vec<&Vec<SortId>> = domains
        .iter()
        .filter(|own| !domains.iter().any(|other| other != *own && below(own, other)))
        .collect();
    let mut lists = Vec::new();
    for domain in largest {
        let mut words = Vec::new();
        for &sort in domain {
            words.push(level.sort(signature, sort)?);
        }
        let list = level.join("qidListSymbol", "nilQidListSymbol", &words)?;
        if !lists.contains(&list) {
            lists.push(list);
        }
    }
    level.join("qidSetSymbol", "emptyQidSetSymbol", &lists)
}
