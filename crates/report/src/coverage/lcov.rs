//! LCOV tracefiles, as `genhtml` and editors' gutters read them.

use std::fmt::Write;

use super::Coverage;

impl Coverage {
    /// The coverage as an LCOV tracefile: processes are functions, outcomes of decisions are branches, and counts are
    /// numbers of examples.
    pub fn lcov(&self) -> String {
        let mut text = String::from("TN:watershed\n");
        for file in &self.files {
            let lines = file.coverage_lines();
            let _ = writeln!(text, "SF:{}", file.name);
            // Without the last line, which version 2 allows: version 1 takes it for a part of the name.
            for process in &file.processes {
                let _ = writeln!(text, "FN:{},{}", process.lines.0, process.name);
            }
            for process in &file.processes {
                let _ = writeln!(text, "FNDA:{},{}", process.hits, process.name);
            }
            let hit = file.processes.iter().filter(|process| process.hits > 0).count();
            let _ = writeln!(text, "FNF:{}\nFNH:{hit}", file.processes.len());
            let (mut found, mut hit) = (0, 0);
            for (number, line) in lines.iter().enumerate() {
                for (block, &(yes, no)) in line.decisions.iter().enumerate() {
                    let evaluated = yes + no.unwrap_or(0) > 0;
                    for (branch, taken) in [Some(yes), no].into_iter().flatten().enumerate() {
                        let shown = if evaluated { taken.to_string() } else { "-".to_owned() };
                        let _ = writeln!(text, "BRDA:{},{block},{branch},{shown}", number + 1);
                        found += 1;
                        hit += usize::from(taken > 0);
                    }
                }
            }
            let _ = writeln!(text, "BRF:{found}\nBRH:{hit}");
            let counted =
                lines.iter().enumerate().filter_map(|(number, line)| Some((number + 1, line.hits?)));
            let (mut found, mut hit) = (0, 0);
            for (number, hits) in counted {
                let _ = writeln!(text, "DA:{number},{hits}");
                found += 1;
                hit += usize::from(hits > 0);
            }
            let _ = writeln!(text, "LF:{found}\nLH:{hit}\nend_of_record");
        }
        text
    }
}
