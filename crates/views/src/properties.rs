//! Several properties at once: which hold, which were expected to, and which is explained.

use explain::Prospect;
use report::PropertyRow;

/// A row for each property; one of them may be explained.
pub fn property_rows(
    prospects: &[(&logic::Property, Prospect)],
    explained: Option<&str>,
) -> Vec<PropertyRow> {
    let row = |(property, prospect): &(&logic::Property, Prospect)| {
        let verdict = match prospect {
            Prospect::Holds => Some(true),
            Prospect::Violated(_) | Prospect::Unexplained(_) => Some(false),
            Prospect::Unknown(_) => None,
        };
        PropertyRow {
            property: property.name.clone(),
            verdict,
            expected: property.expected,
            surprise: verdict == Some(!property.expected),
            explained: Some(property.name.as_str()) == explained,
            note: match prospect {
                Prospect::Unexplained(why) => Some(format!("it can't be explained by runs: {why}")),
                Prospect::Unknown(why) => Some(format!("there is no verdict: {why}")),
                Prospect::Holds | Prospect::Violated(_) => None,
            },
        }
    };
    prospects.iter().map(row).collect()
}
