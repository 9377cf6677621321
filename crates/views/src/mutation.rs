//! What became of mutants, counted and named.

use model::Operator;
use mutate::{Baseline, Fate, Judgement};
use report::{MatrixRow, Mutation, OperatorCount, Survivor, Worth};

/// What became of the mutants of a model; the time is for the caller to add.
pub fn mutation(baseline: &Baseline<'_>, judged: &[Option<Judgement>]) -> Mutation {
    let question = &baseline.question;
    let mut mutation = Mutation {
        states: baseline.states as u64,
        not_judged: judged.iter().filter(|judgement| judgement.is_none()).count() as u64,
        ..Mutation::default()
    };
    let properties = question.properties.iter().zip(&baseline.verdicts);
    mutation.properties =
        properties.map(|(property, &verdict)| worth(property.name.clone(), Some(verdict))).collect();
    mutation.examples = question.examples.iter().map(|example| worth(example.name.clone(), None)).collect();
    mutation.operators = Operator::ALL
        .iter()
        .map(|operator| OperatorCount { operator: operator.name().into(), ..OperatorCount::default() })
        .collect();
    for (at, judgement) in judged.iter().enumerate() {
        let Some(judgement) = judgement else { continue };
        if matches!(judgement.fate, Fate::Refused(_)) {
            mutation.refused += 1;
            continue;
        }
        add(&mut mutation, baseline, at, judgement);
    }
    mutation.operators.retain(|operator| operator.mutants > 0);
    mutation
}

fn worth(name: String, verdict: Option<bool>) -> Worth {
    Worth { name, verdict, ..Worth::default() }
}

fn add(mutation: &mut Mutation, baseline: &Baseline<'_>, at: usize, judgement: &Judgement) {
    let mutant = &baseline.mutants[at];
    let (equivalent, killed) = (judgement.fate == Fate::Equivalent, judgement.is_killed());
    let survives = judgement.is_survivor();
    mutation.mutants += 1;
    mutation.equivalent += u64::from(equivalent);
    mutation.violating += u64::from(judgement.is_violating());
    mutation.killed += u64::from(killed);
    mutation.errors += u64::from(matches!(judgement.fate, Fate::Error(_)));
    mutation.limited += u64::from(judgement.fate == Fate::Limit);
    mutation.undecided += u64::from(!equivalent && !killed && !survives);
    let name = mutant.operator.name();
    if let Some(count) = mutation.operators.iter_mut().find(|count| count.operator == name) {
        count.mutants += 1;
        count.equivalent += u64::from(equivalent);
        count.killed += u64::from(killed);
        count.survivors += u64::from(survives);
    }
    let noticing = judgement.properties.iter().chain(&judgement.examples);
    let by_error = usize::from(matches!(judgement.fate, Fate::Error(_)));
    let alone = noticing.filter(|kills| **kills == Some(true)).count() + by_error == 1;
    let worths = mutation.properties.iter_mut().zip(&judgement.properties);
    for (worth, kills) in worths.chain(mutation.examples.iter_mut().zip(&judgement.examples)) {
        worth.kills += u64::from(*kills == Some(true));
        worth.alone += u64::from(*kills == Some(true) && alone);
    }
    let sources = &baseline.sources;
    let (start, end) = (sources.position(mutant.span), sources.end_position(mutant.span));
    let row = MatrixRow {
        mutant: at as u64 + 1,
        operator: name.into(),
        description: mutant.description.clone(),
        within: mutant.within.clone(),
        file: sources.name(mutant.span.file).to_owned(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        fate: match &judgement.fate {
            Fate::Refused(_) => "refused",
            Fate::Equivalent => "equivalent",
            Fate::Different => "different",
            Fate::Error(_) => "error",
            Fate::Limit => "limit",
        }
        .into(),
        error: match &judgement.fate {
            Fate::Error(error) => Some(error.clone()),
            _ => None,
        },
        properties: judgement.properties.clone(),
        examples: judgement.examples.clone(),
    };
    if survives {
        mutation.survivors.push(Survivor { row: row.clone(), diff: mutant.diff(sources) });
    }
    mutation.matrix.push(row);
}
