//! Basic regular expressions, as CADP's manual page `regexp` defines them, in the syntax of the regex crate.
//!
//! Special are `.`, `*`, `[` and `\`, a `^` that begins the expression and a `$` that ends it; a backslash makes
//! `\(`, `\)`, `\{`, `\}`, `\<` and `\>` special. Everything else stands for itself, `( ) { } + ? |` too. A dot and a
//! negated bracket match no line break. One pass over the text, linear in its length.

/// The expression in the regex crate's syntax, or what is wrong with it.
pub(crate) fn extended(text: &str) -> Result<String, String> {
    let mut reader =
        Reader { letters: text.chars().collect(), at: 0, out: String::new(), groups: 0, operand: false };
    reader.run()?;
    Ok(reader.out)
}

/// A text as a basic regular expression that matches just this text.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        if matches!(letter, '.' | '*' | '[' | '\\' | '^' | '$') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

struct Reader {
    letters: Vec<char>,
    at: usize,
    out: String,
    groups: usize,
    /// Whether there is something that a repetition could repeat.
    operand: bool,
}

impl Reader {
    fn next(&mut self) -> Option<char> {
        let letter = self.letters.get(self.at).copied();
        self.at += 1;
        letter
    }

    fn literal(&mut self, letter: char) {
        self.out += &regex::escape(letter.encode_utf8(&mut [0; 4]));
        self.operand = true;
    }

    fn run(&mut self) -> Result<(), String> {
        while let Some(letter) = self.next() {
            match letter {
                // Matches cover whole labels, so that an anchor adds nothing; but it is not a character.
                '^' if self.at == 1 => {}
                '$' if self.at == self.letters.len() => {}
                '.' => {
                    self.out.push('.');
                    self.operand = true;
                }
                '*' if self.operand => self.out.push('*'),
                '[' => self.bracket()?,
                '\\' => self.backslash()?,
                _ => self.literal(letter),
            }
        }
        match self.groups {
            0 => Ok(()),
            _ => Err("a `\\(` is not closed with `\\)`".to_owned()),
        }
    }

    fn backslash(&mut self) -> Result<(), String> {
        match self.next() {
            None => Err("a backslash needs a character after it".to_owned()),
            Some('(') => {
                self.out.push_str("(?:");
                self.groups += 1;
                self.operand = false;
                Ok(())
            }
            Some(')') if self.groups == 0 => Err("a `\\)` closes nothing".to_owned()),
            Some(')') => {
                self.out.push(')');
                self.groups -= 1;
                self.operand = true;
                Ok(())
            }
            Some('{') => self.interval(),
            Some('<') => {
                self.out.push_str("(?-u:\\b{start})");
                Ok(())
            }
            Some('>') => {
                self.out.push_str("(?-u:\\b{end})");
                Ok(())
            }
            Some(digit @ '1'..='9') => {
                Err(format!("the back-reference `\\{digit}` is not supported: list the cases with `or`"))
            }
            Some(letter) => {
                self.literal(letter);
                Ok(())
            }
        }
    }

    /// `\{m\}`, `\{m,\}`, `\{m,n\}`
    fn interval(&mut self) -> Result<(), String> {
        let rest: String = self.letters[self.at..].iter().collect();
        let Some(length) = rest.find("\\}") else {
            return Err("a `\\{` is not closed with `\\}`".to_owned());
        };
        let inside = &rest[..length];
        let (least, most) = inside.split_once(',').unwrap_or((inside, inside));
        let is_number =
            |text: &str| !text.is_empty() && text.len() < 6 && text.bytes().all(|one| one.is_ascii_digit());
        if !is_number(least) || !(most.is_empty() || is_number(most)) {
            return Err(format!(
                "`\\{{{inside}\\}}` is not a number of repetitions: write `\\{{2\\}}`, `\\{{2,\\}}` or `\\{{2,5\\}}`"
            ));
        }
        if !self.operand {
            return Err(format!("there is nothing before `\\{{{inside}\\}}` to repeat"));
        }
        self.at += rest[..length + 2].chars().count();
        self.out += &format!("{{{inside}}}");
        Ok(())
    }

    /// `[abc]`, `[^a-z]`, `[[:digit:]]`; a backslash means itself, and a `]` that comes first.
    fn bracket(&mut self) -> Result<(), String> {
        const OPEN: &str = "a `[` is not closed with `]`; write `\\[` for the character itself";
        let negated = self.letters.get(self.at) == Some(&'^');
        self.at += usize::from(negated);
        let mut inside = String::new();
        let first = self.at;
        loop {
            let letter = self.next().ok_or(OPEN)?;
            if letter == ']' && self.at - 1 > first {
                break;
            }
            if letter == '['
                && let Some(&kind @ (':' | '.' | '=')) = self.letters.get(self.at)
            {
                let name = self.named(kind)?;
                match kind {
                    ':' => {
                        const CLASSES: [&str; 12] = [
                            "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
                            "space", "upper", "xdigit",
                        ];
                        if !CLASSES.contains(&name.as_str()) {
                            return Err(format!("there is no class `[:{name}:]`"));
                        }
                        inside += &format!("[:{name}:]");
                        continue;
                    }
                    _ => {
                        let mut letters = name.chars();
                        let (Some(one), None) = (letters.next(), letters.next()) else {
                            return Err(format!("`[{kind}{name}{kind}]` does not name one character"));
                        };
                        self.range(one, &mut inside)?;
                        continue;
                    }
                }
            }
            self.range(letter, &mut inside)?;
        }
        self.out += &if negated { format!("[^\\n{inside}]") } else { format!("[{inside}]") };
        self.operand = true;
        Ok(())
    }

    /// A character of a bracket, or the range that begins with it.
    fn range(&mut self, from: char, inside: &mut String) -> Result<(), String> {
        let in_class = |letter: char| match letter {
            _ if letter.is_alphanumeric() => letter.to_string(),
            _ => format!("\\x{{{:x}}}", letter as u32),
        };
        *inside += &in_class(from);
        // A minus that comes last is one.
        if self.letters.get(self.at) == Some(&'-')
            && self.letters.get(self.at + 1).is_some_and(|&next| next != ']')
        {
            self.at += 1;
            let to = match self.next() {
                Some('[') if matches!(self.letters.get(self.at), Some('.' | '=')) => {
                    let name = self.named(self.letters[self.at])?;
                    name.chars().next().filter(|_| name.chars().count() == 1)
                }
                to => to,
            };
            let Some(to) = to else { return Err("a range of characters has no end".to_owned()) };
            if to < from {
                return Err(format!("the range `{from}-{to}` is the wrong way round"));
            }
            *inside += &format!("-{}", in_class(to));
        }
        Ok(())
    }

    /// The name in `:name:]`, the bracket before it already read.
    fn named(&mut self, kind: char) -> Result<String, String> {
        self.at += 1;
        let rest: String = self.letters[self.at..].iter().collect();
        let end =
            rest.find(&format!("{kind}]")).ok_or(format!("a `[{kind}` is not closed with `{kind}]`"))?;
        let name = rest[..end].to_owned();
        self.at += name.chars().count() + 2;
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, label: &str) -> bool {
        let text = extended(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        lts::whole_label_regex(&text)
            .unwrap_or_else(|error| panic!("{pattern}: {text}: {error}"))
            .is_match(label)
    }

    #[test]
    fn only_the_characters_of_the_manual_page_are_special() {
        assert!(matches("EX !0 .* !{0}", "EX !0 !1 !{0}"));
        assert!(matches("A (1) + x? {2,3} a|b", "A (1) + x? {2,3} a|b"));
        assert!(!matches("(A|B)", "A"));
        assert!(matches("A+", "A+") && !matches("A+", "AA"));
        assert!(matches("a^b$c", "a^b$c"));
        assert!(matches("^A$", "A") && matches("^A", "A") && matches("A$", "A"));
        assert!(matches("*A", "*A") && matches("^*A", "*A") && matches(r"\(*A\)", "*A"));
        assert!(matches(r"\.\*\[\\", r".*[\") && !matches(r"\.", "x"));
    }

    #[test]
    fn groups_intervals_and_words() {
        assert!(matches(r"\(AB\)*", "ABAB") && matches(r"\(AB\)*", ""));
        assert!(matches(r"A\{2\}", "AA") && !matches(r"A\{2\}", "A"));
        assert!(matches(r"A\{2,\}", "AAAA") && matches(r"[ab]\{1,2\}", "ab"));
        assert!(matches(r"A\{1,2\}*", "AAAAA"));
        assert!(matches(r".*\<GO\>.*", "LET GO !1") && !matches(r".*\<GO\>.*", "LET GOO !1"));
    }

    #[test]
    fn brackets_follow_posix() {
        assert!(matches("[]a]*", "]a]") && !matches("[^]a]", "]"));
        assert!(matches(r"[\n]*", r"\n\") && !matches(r"[\n]", "\n"));
        assert!(matches("[a-c-]*", "ab-c") && matches("[-a]*", "-a") && matches("[^-a]", "b"));
        assert!(matches("[[:alpha:]_][[:alnum:]_]*", "x_1") && matches("[[.-.]a]", "-"));
        assert!(matches("[&&a~~b^]*", "&&a~~b^") && matches("[a[]*", "[a"));
        assert!(!matches("[^x]", "\n") && !matches(".", "\n"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (pattern, reason) in [
            ("[abc", "`[` is not closed"),
            (r"\(A", r"`\(` is not closed"),
            (r"A\)", r"`\)` closes nothing"),
            (r"A\", "backslash needs"),
            (r"A\{x\}", "not a number of repetitions"),
            (r"\{2\}", "nothing before"),
            (r"\(.\)\1", "back-reference"),
            ("[z-a]", "wrong way round"),
            ("[[:letter:]]", "no class"),
        ] {
            let error = extended(pattern).unwrap_err();
            assert!(error.contains(reason), "{pattern}: {error}");
        }
    }

    /// A matcher by definition, which tries every way; patterns without classes and intervals.
    fn naive(pattern: &[char], label: &[char], start: bool) -> bool {
        let Some(&first) = pattern.first() else { return label.is_empty() };
        if start && first == '^' {
            return naive(&pattern[1..], label, false);
        }
        if first == '$' && pattern.len() == 1 {
            return label.is_empty();
        }
        // One item: its length in the pattern, and which characters it is.
        let (length, is): (usize, Box<dyn Fn(char) -> bool>) = match first {
            '.' => (1, Box::new(|letter| letter != '\n')),
            '\\' => {
                let of = pattern[1];
                (2, Box::new(move |letter| letter == of))
            }
            '[' => {
                let negated = pattern[1] == '^';
                let from = if negated { 2 } else { 1 };
                let end = (from + 1..).find(|&at| pattern[at] == ']').unwrap();
                let members: Vec<char> = pattern[from..end].to_vec();
                (end + 1, Box::new(move |letter| letter != '\n' && members.contains(&letter) != negated))
            }
            other => (1, Box::new(move |letter| letter == other)),
        };
        let rest = &pattern[length..];
        if rest.first() == Some(&'*') {
            let stars = rest.iter().take_while(|&&one| one == '*').count();
            let rest = &rest[stars..];
            return (0..=label.len())
                .take_while(|&taken| label[..taken].iter().all(|&letter| is(letter)))
                .any(|taken| naive(rest, &label[taken..], false));
        }
        label.first().is_some_and(|&letter| is(letter)) && naive(rest, &label[1..], false)
    }

    #[test]
    fn random_patterns_match_as_the_definition_says() {
        let mut seed = 7u64;
        let mut below = |bound: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((seed >> 33) as usize) % bound
        };
        let pieces = [
            "a", "b", ".", "*", "^", "$", "+", "(", ")", "{", "}", "|", "?", r"\.", r"\*", "[ab]", "[^a]",
            "[]*]",
        ];
        let letters = ['a', 'b', '.', '*', '^', '$', '+', '(', '{', '}', '|', '?', ']'];
        let (mut yes, mut no) = (0, 0);
        for _ in 0..20_000 {
            let pattern: String = (0..1 + below(5)).map(|_| pieces[below(pieces.len())]).collect();
            // Half of the labels are made of the pattern's own characters, so that some match.
            let own: Vec<char> = pattern.chars().collect();
            let label: String = match below(2) {
                0 => (0..below(5)).map(|_| letters[below(letters.len())]).collect(),
                _ => own.iter().filter(|_| below(5) > 0).collect(),
            };
            let expected = naive(&own, &label.chars().collect::<Vec<_>>(), true);
            assert_eq!(matches(&pattern, &label), expected, "{pattern} on {label}");
            if expected { yes += 1 } else { no += 1 }
        }
        assert!(yes > 1000 && no > 1000, "{yes} {no}");
    }
}
