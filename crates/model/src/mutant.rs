//! Mutants: small changes of a model's text that a person could have made by mistake, without its language.

use source::{FileId, Sources, Span};

/// A change of one place of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// What kind of change it is.
    pub operator: Operator,
    /// What is replaced; never a whole file.
    pub span: Span,
    /// What stands there instead; nothing where something is taken out.
    pub replacement: String,
    /// What is done to which construct, in a few words.
    pub description: String,
    /// The process or function it belongs to.
    pub within: String,
    /// Where the change leaves nothing to point at: the constructs that come before and after it, or that are left of
    /// what it took a part from. They don't overlap `span`.
    pub neighbours: Vec<Span>,
}

impl Mutant {
    /// The text of its file after the change.
    pub fn apply(&self, text: &str) -> String {
        let range = self.span.range();
        format!("{}{}{}", &text[..range.start], self.replacement, &text[range.end..])
    }

    /// What was written in the place of the construct, in the changed text, as offsets.
    pub fn place(&self) -> std::ops::Range<usize> {
        self.span.range().start..self.span.range().start + self.replacement.len()
    }

    /// Where a span of the unchanged text lies in the changed one; it does not overlap what is replaced.
    pub fn moved(&self, span: Span) -> std::ops::Range<usize> {
        let range = span.range();
        if range.start < self.span.range().end {
            return range;
        }
        let shift = |at: usize| at - self.span.range().len() + self.replacement.len();
        shift(range.start)..shift(range.end)
    }

    /// The change as a unified diff with three lines of context, which `patch` accepts.
    ///
    /// ```
    /// use model::{Mutant, Operator};
    /// let mut sources = source::Sources::new();
    /// let file = sources.add("light.lnt", "if x < 3 then\n   ON\nend if\n");
    /// let mutant = Mutant {
    ///     operator: Operator::Comparison,
    ///     span: sources.span_of(file, "<").unwrap(),
    ///     replacement: "<=".into(),
    ///     description: "`<` becomes `<=`".into(),
    ///     within: "MAIN".into(),
    ///     neighbours: Vec::new(),
    /// };
    /// assert_eq!(
    ///     mutant.diff(&sources),
    ///     "--- light.lnt\n+++ light.lnt\n@@ -1,3 +1,3 @@\n-if x < 3 then\n+if x <= 3 then\n    ON\n end if\n"
    /// );
    /// ```
    pub fn diff(&self, sources: &Sources) -> String {
        diff(sources, self.span.file, &self.apply(sources.text(self.span.file)))
    }
}

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// The difference between a file and another text for it, as one hunk: everything between what both begin and end with.
fn diff(sources: &Sources, file: FileId, changed: &str) -> String {
    let name = sources.name(file);
    let before: Vec<&str> = sources.text(file).split_inclusive('\n').collect();
    let after: Vec<&str> = changed.split_inclusive('\n').collect();
    let same = before.iter().zip(&after).take_while(|(left, right)| left == right).count();
    let shorter = before.len().min(after.len());
    let ending = before.iter().rev().zip(after.iter().rev());
    let ending = ending.take(shorter - same).take_while(|(left, right)| left == right).count();
    let first = same.saturating_sub(CONTEXT);
    let tail = ending.min(CONTEXT);
    let (old_end, new_end) = (before.len() - ending, after.len() - ending);
    let position = |count: usize| match count {
        0 => format!("{first},0"),
        1 => format!("{}", first + 1),
        _ => format!("{},{count}", first + 1),
    };
    let (old, new) = (position(old_end + tail - first), position(new_end + tail - first));
    let mut text = format!("--- {name}\n+++ {name}\n@@ -{old} +{new} @@\n");
    let mut push = |sign: char, lines: &[&str]| {
        for line in lines {
            text.push(sign);
            text.push_str(line);
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    };
    push(' ', &before[first..same]);
    push('-', &before[same..old_end]);
    push('+', &after[same..new_end]);
    push(' ', &before[old_end..old_end + tail]);
    text
}

macro_rules! operators {
    ($($(#[$doc:meta])* $variant:ident => $name:literal,)* ; $($(#[$more:meta])* $other:ident => $called:literal,)*) => {
        /// The kinds of changes, known by what they do to a construct.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Operator { $($(#[$doc])* $variant,)* $($(#[$more])* $other,)* }

        impl Operator {
            /// The kinds that mutants are made with.
            pub const ALL: &'static [Operator] = &[$(Operator::$variant,)*];

            /// The name that reports and options use.
            pub fn name(self) -> &'static str {
                match self {
                    $(Operator::$variant => $name,)*
                    $(Operator::$other => $called,)*
                }
            }
        }
    };
}

operators! {
    /// An action does not happen.
    ActionRemoved => "action-removed",
    /// An action happens twice.
    ActionDuplicated => "action-duplicated",
    /// An action changes places with what comes next.
    ActionSwapped => "action-swapped",
    /// An action comes two steps later.
    ActionMoved => "action-moved",
    /// A condition is the opposite of what it was.
    GuardNegated => "guard-negated",
    /// A condition asks for less.
    GuardWeakened => "guard-weakened",
    /// A condition asks for more.
    GuardStrengthened => "guard-strengthened",
    /// A comparison is another one.
    Comparison => "comparison",
    /// A constant is another one: the next number or value of its type.
    Constant => "constant",
    /// An action offers or accepts other values.
    Offer => "offer",
    /// An assignment is left out.
    AssignmentRemoved => "assignment-removed",
    /// A branch of a choice or of a conditional is left out.
    BranchRemoved => "branch-removed",
    /// A gate is taken out of a synchronisation.
    Synchronisation => "synchronisation",
    /// What came one after the other happens in parallel, or the other way round.
    Parallel => "parallel",
    /// What would go on or end stops.
    Stop => "stop",
    ;
    /// Something that its process does elsewhere, or could do, comes in between.
    Inserted => "inserted",
    /// Another variable, constant or operation of the same type.
    Value => "value",
    /// Another gate of the same channel.
    Gate => "gate",
    /// A choice or a conditional has one branch more.
    BranchAdded => "branch-added",
    /// Something asks for a condition first.
    GuardAdded => "guard-added",
    /// Statements that are no actions change places.
    Order => "order",
    /// What stops or leaves goes on.
    Continued => "continued",
    /// A gate is put into a synchronisation.
    SynchronisationAdded => "synchronisation-added",
}

impl std::fmt::Display for Operator {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name())
    }
}

impl std::str::FromStr for Operator {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Operator::ALL.iter().copied().find(|operator| operator.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Operator::ALL.iter().map(|operator| operator.name()).collect();
            format!("there is no operator {text}; there are: {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(sources: &Sources, file: FileId, needle: &str, replacement: &str) -> Mutant {
        Mutant {
            operator: Operator::Comparison,
            span: sources.span_of(file, needle).unwrap(),
            replacement: replacement.into(),
            description: String::new(),
            within: String::new(),
            neighbours: Vec::new(),
        }
    }

    #[test]
    fn diffs_count_lines_as_patch_does() {
        let mut sources = Sources::new();
        let file = sources.add("x", "a\nb\nc\nd\ne\nf\ng\nh");
        let removed = mutant(&sources, file, "f\n", "");
        assert_eq!(
            removed.diff(&sources),
            "--- x\n+++ x\n@@ -3,6 +3,5 @@\n c\n d\n e\n-f\n g\n h\n\\ No newline at end of file\n"
        );
        let last = mutant(&sources, file, "h", "i\nj");
        assert!(
            last.diff(&sources)
                .ends_with("-h\n\\ No newline at end of file\n+i\n+j\n\\ No newline at end of file\n")
        );
        let twice = mutant(&sources, file, "b\n", "b\nb\n");
        assert_eq!(twice.diff(&sources), "--- x\n+++ x\n@@ -1,5 +1,6 @@\n a\n b\n+b\n c\n d\n e\n");
    }

    #[test]
    fn spans_move_with_the_text() {
        let mut sources = Sources::new();
        let file = sources.add("x", "one two three");
        let change = mutant(&sources, file, "two", "2");
        let changed = change.apply(sources.text(file));
        assert_eq!(&changed[change.place()], "2");
        for word in ["one", "three"] {
            assert_eq!(&changed[change.moved(sources.span_of(file, word).unwrap())], word);
        }
    }

    #[test]
    fn operators_have_names() {
        for &operator in Operator::ALL {
            assert_eq!(operator.name().parse(), Ok(operator));
        }
        assert!("nothing".parse::<Operator>().unwrap_err().contains("guard-negated"));
    }
}
