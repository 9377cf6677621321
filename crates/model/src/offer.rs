//! What the offers of a gate can be, as labels print them: known before anything is explored.

/// A gate of labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Its name.
    pub name: String,
    /// The lists of offers that its actions have.
    pub profiles: Vec<Vec<OfferType>>,
}

/// An action whose partners all leave a value open, and how values were found for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenOffer {
    /// Where it is written.
    pub span: source::Span,
    /// The gate, and the types of what it takes.
    pub text: String,
    /// The most values that patterns and guards have named at once; none if they never did.
    pub named: Option<usize>,
    /// The most values that were tried one by one; none if that was never necessary.
    pub tried: Option<usize>,
}

/// A place where a value is chosen silently, and what is known there of the values that will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SilentChoice {
    /// Where it is written.
    pub span: source::Span,
    /// What is chosen.
    pub text: String,
    /// What is known of the values that will do.
    pub from: ChosenFrom,
}

/// What a condition behind a choice says of the values that will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenFrom {
    /// They are elements of a list or set.
    Elements,
    /// At most so many are left.
    Words {
        /// How many.
        most: u32,
        /// Whether the state may bound them further.
        fewer: bool,
    },
    /// Nothing: any value of the type may do.
    Type,
}

/// The values of an offer, by its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfferType {
    /// Whole numbers between two bounds, both included.
    Number {
        /// Least value.
        lower: i64,
        /// Greatest value.
        upper: i64,
        /// Whether labels print a sign before each.
        signed: bool,
    },
    /// One of these names.
    Names(Vec<String>),
    /// Anything else.
    Other,
}

impl OfferType {
    /// Whether a label can show this text.
    ///
    /// ```
    /// use model::OfferType;
    /// let small = OfferType::Number { lower: 0, upper: 3, signed: false };
    /// assert!(small.prints("3") && !small.prints("4") && !small.prints("+3"));
    /// ```
    pub fn prints(&self, text: &str) -> bool {
        match self {
            OfferType::Number { signed, .. } => {
                let has_sign = text.starts_with(['+', '-']);
                has_sign == *signed && text.parse().is_ok_and(|number| self.has(number))
            }
            OfferType::Names(names) => names.iter().any(|name| name == text),
            OfferType::Other => true,
        }
    }

    /// Whether a number is one of the values.
    pub fn has(&self, number: i64) -> bool {
        match self {
            OfferType::Number { lower, upper, .. } => (*lower..=*upper).contains(&number),
            OfferType::Names(_) => false,
            OfferType::Other => true,
        }
    }
}

impl std::fmt::Display for OfferType {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OfferType::Number { lower, upper, signed: false } => write!(out, "{lower} to {upper}"),
            OfferType::Number { lower, upper, signed: true } => {
                write!(out, "{lower:+} to {upper:+}, each with its sign")
            }
            OfferType::Names(names) if names.len() > 6 => write!(out, "{}, …", names[..6].join(", ")),
            OfferType::Names(names) => write!(out, "{}", names.join(", ")),
            OfferType::Other => write!(out, "any value"),
        }
    }
}
