//! Swim lanes of a run: one lane an instance of a process, as Mermaid and as SVG.

use serde::Serialize;

use super::{ExplainedStep, Explanation};
use crate::markup::escape;

/// Which steps of the counterexample are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of them.
    Whole,
    /// Those that matter.
    Abstracted,
}

/// The lanes of a run: one for each instance, and which of them each step touches.
#[derive(Clone, Debug, Serialize)]
pub struct Lanes {
    /// Who takes part, in the order in which they first do; steps of nobody in particular are those of the `system`.
    pub names: Vec<String>,
    /// For each step the lanes that it touches, ascending; at least one.
    pub touched: Vec<Vec<usize>>,
}

impl Lanes {
    /// The lanes of some steps.
    pub fn of<'a>(steps: impl IntoIterator<Item = &'a ExplainedStep> + Clone) -> Self {
        let mut names: Vec<String> = Vec::new();
        for action in steps.clone().into_iter().flat_map(|step| &step.actions) {
            if !names.iter().any(|lane| lane == action.who()) {
                names.push(action.who().to_owned());
            }
        }
        if names.is_empty() || steps.clone().into_iter().any(|step| step.actions.is_empty()) {
            names.push("system".into());
        }
        let touched = |step: &ExplainedStep| {
            let lanes = step.actions.iter().filter_map(|one| names.iter().position(|lane| lane == one.who()));
            let mut lanes: Vec<usize> = lanes.collect();
            if lanes.is_empty() {
                lanes.push(names.len() - 1);
            }
            lanes.sort_unstable();
            lanes.dedup();
            lanes
        };
        let touched = steps.into_iter().map(touched).collect();
        Self { names, touched }
    }
}

impl Explanation {
    /// The steps to draw, with their numbers from 1.
    fn drawn(&self, extent: Extent) -> Vec<(usize, &ExplainedStep)> {
        let all = self.steps.iter().enumerate().map(|(at, step)| (at + 1, step));
        all.filter(|(_, step)| extent == Extent::Whole || step.matters).collect()
    }

    /// The counterexample as a Mermaid sequence diagram.
    pub fn mermaid(&self, extent: Extent) -> String {
        let steps = self.drawn(extent);
        let lanes = Lanes::of(steps.iter().map(|(_, step)| *step));
        // Mermaid ends statements at semicolons and takes # for an entity.
        let safe = |text: &str| text.replace('#', "#35;").replace(';', "#59;").replace('\n', " ");
        let mut text = String::from("sequenceDiagram\n");
        for (number, lane) in lanes.names.iter().enumerate() {
            text += &format!("  participant p{number} as {}\n", safe(lane));
        }
        let mut looping = false;
        for ((number, step), touched) in steps.iter().zip(&lanes.touched) {
            if let Some(start) = self.lasso
                && !looping
                && *number > start
            {
                text += "  loop for ever\n";
                looping = true;
            }
            let label = format!("{number}. {} ({})", safe(&step.label), step.tag);
            text += &match touched[..] {
                [one] => format!("  p{one}->>p{one}: {label}\n"),
                [one, other] => format!("  p{one}->>p{other}: {label}\n"),
                _ => format!("  Note over p{},p{}: {label}\n", touched[0], touched[touched.len() - 1]),
            };
            if step.leaves.is_some() {
                text += &format!("  Note right of p{}: choice\n", touched[touched.len() - 1]);
            }
        }
        if looping {
            text += "  end\n";
        }
        text
    }

    /// The counterexample as a picture of its own.
    pub fn svg(&self, extent: Extent) -> String {
        const LANE: usize = 150;
        const ROW: usize = 26;
        const TOP: usize = 46;
        let steps = self.drawn(extent);
        let lanes = Lanes::of(steps.iter().map(|(_, step)| *step));
        let labels = steps.iter().map(|(_, step)| step.label.chars().count()).max().unwrap_or(0);
        let (right, height) = (LANE * lanes.names.len(), TOP + ROW * (steps.len() + 1));
        let width = right + 60 + 8 * labels.max(8) + 90;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"system-ui, sans-serif\" font-size=\"13\" role=\"img\" \
             aria-label=\"swim lanes of the counterexample\">\n"
        );
        let x = |lane: usize| LANE * lane + LANE / 2;
        for (number, lane) in lanes.names.iter().enumerate() {
            svg += &format!(
                "<text x=\"{0}\" y=\"18\" text-anchor=\"middle\" font-weight=\"600\" fill=\"currentColor\">{1}</text>\
                 <line x1=\"{0}\" y1=\"28\" x2=\"{0}\" y2=\"{height}\" stroke=\"#8884\"/>\n",
                x(number),
                escape(lane)
            );
        }
        if let Some(start) = self.lasso
            && let Some(row) = steps.iter().position(|(number, _)| *number > start)
        {
            let (y, tall) = (TOP + ROW * row - ROW / 2, ROW * (steps.len() - row));
            svg += &format!(
                "<rect x=\"6\" y=\"{y}\" width=\"{}\" height=\"{tall}\" fill=\"none\" stroke=\"#8888\" \
                 stroke-dasharray=\"4 3\" rx=\"6\"/><text x=\"12\" y=\"{}\" font-size=\"11\" \
                 fill=\"currentColor\">for ever</text>\n",
                right - 12,
                y + 12
            );
        }
        for (row, ((number, step), touched)) in steps.iter().zip(&lanes.touched).enumerate() {
            let y = TOP + ROW * row;
            let (first, last) = (x(touched[0]), x(touched[touched.len() - 1]));
            let colour = match step.tag {
                "correct" => "#1a7f37",
                "incorrect" => "#cf222e",
                _ => "#6e7781",
            };
            if first != last {
                svg += &format!(
                    "<line x1=\"{first}\" y1=\"{y}\" x2=\"{last}\" y2=\"{y}\" stroke=\"{colour}\" stroke-width=\"2\"/>"
                );
            }
            for &lane in touched {
                let (radius, ring) = if step.leaves.is_some() { (7, "#d4a72c") } else { (5, colour) };
                svg += &format!(
                    "<circle cx=\"{}\" cy=\"{y}\" r=\"{radius}\" fill=\"{colour}\" stroke=\"{ring}\" stroke-width=\"3\"/>",
                    x(lane)
                );
            }
            let weight = if step.matters { 600 } else { 400 };
            svg += &format!(
                "<text x=\"{}\" y=\"{}\" fill=\"{colour}\" font-weight=\"{weight}\">{number}. {}</text>\n",
                right + 10,
                y + 4,
                escape(&step.label)
            );
        }
        svg + "</svg>\n"
    }
}

/// Those who wait for each other, in a circle.
pub(super) fn circle(names: &[String]) -> String {
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let (radius, margin) = (50.0 + 14.0 * names.len() as f64, 30.0 + 8.0 * longest as f64);
    let (middle, below) = (radius + margin, radius + 30.0);
    let at = |place: usize| {
        let angle = std::f64::consts::TAU * place as f64 / names.len() as f64 - std::f64::consts::FRAC_PI_2;
        (middle + radius * angle.cos(), below + radius * angle.sin())
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0}\" height=\"{:.0}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"13\" role=\"img\" aria-label=\"a cycle of waiting\">\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#cf222e\"/></marker></defs>\n",
        2.0 * middle,
        2.0 * below
    );
    for (place, name) in names.iter().enumerate() {
        let ((x, y), (to_x, to_y)) = (at(place), at((place + 1) % names.len()));
        // Arrows keep away from the names.
        let (from, to) = (
            (x + 0.2 * (to_x - x), y + 0.2 * (to_y - y)),
            (to_x - 0.2 * (to_x - x), to_y - 0.2 * (to_y - y)),
        );
        svg += &format!(
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"#cf222e\" marker-end=\"url(#tip)\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"currentColor\">{}</text>\n",
            from.0,
            from.1,
            to.0,
            to.1,
            y + 4.0,
            escape(name)
        );
    }
    svg + "</svg>\n"
}
