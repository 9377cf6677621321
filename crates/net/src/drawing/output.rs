//! Diagrams as SVG and DOT.

use std::fmt::Write;

use super::{Diagram, DrawnArc, NodeKind};

/// Texts have a white edge, so that arcs behind them don't disturb.
const STYLE: &str = "text{font:11px sans-serif;text-anchor:middle;fill:#222;paint-order:stroke;stroke:#fff;stroke-width:3px}\
.place ellipse{fill:#fff;stroke:#222;stroke-width:1.3}.transition rect{fill:#e8ecf2;stroke:#222;stroke-width:1.3}\
.arc{fill:none;stroke:#555;stroke-width:1.1}.read{stroke-dasharray:5 3}.label{fill:#555}.guard{font-style:italic}";

pub(super) fn svg(diagram: &Diagram) -> String {
    let mut out = String::new();
    let (width, height) = (diagram.width.ceil(), diagram.height.ceil());
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">"
    );
    let _ = writeln!(out, "<title>{}</title>\n<style>{STYLE}</style>\n<defs>", escaped(&diagram.name));
    let marker = |id: &str, end: f64, size: f64, shape: &str| {
        format!(
            "<marker id=\"{id}\" viewBox=\"0 0 16 10\" refX=\"{end}\" refY=\"5\" markerWidth=\"{size}\" markerHeight=\"8\" \
             orient=\"auto\">{shape}</marker>\n"
        )
    };
    let head = "<path d=\"M0 1L9 5L0 9z\" fill=\"#555\"/>";
    out.push_str(&marker("arrow", 9.0, 12.0, head));
    out.push_str(&marker("reset", 15.0, 12.0, &format!("{head}<path d=\"M6 1L15 5L6 9z\" fill=\"#555\"/>")));
    let circle = "<circle cx=\"5\" cy=\"5\" r=\"4\" fill=\"#fff\" stroke=\"#555\" stroke-width=\"1.4\"/>";
    out.push_str(&marker("inhibitor", 9.0, 12.0, circle));
    out.push_str("</defs>\n");
    for arc in &diagram.arcs {
        let mut path = String::new();
        for (number, (x, y)) in arc.points.iter().enumerate() {
            let _ = write!(path, "{}{x} {y}", if number == 0 { "M" } else { "L" });
        }
        let (class, marker) = match arc.kind {
            DrawnArc::Take | DrawnArc::Put => ("arc", " marker-end=\"url(#arrow)\""),
            DrawnArc::Read => ("arc read", ""),
            DrawnArc::Inhibit => ("arc", " marker-end=\"url(#inhibitor)\""),
            DrawnArc::Reset => ("arc", " marker-end=\"url(#reset)\""),
        };
        let _ = writeln!(out, "<path class=\"{class}\" d=\"{path}\"{marker}/>");
        if !arc.label.is_empty() {
            let (x, y) = middle(&arc.points);
            let _ = writeln!(
                out,
                "<text class=\"label\" x=\"{}\" y=\"{}\">{}</text>",
                x + 8.0,
                y - 3.0,
                escaped(&arc.label)
            );
        }
    }
    for node in &diagram.nodes {
        let (id, x, y) = (id(node.kind, node.number), node.x, node.y);
        let (name, inscription) = (escaped(&node.name), escaped(&node.inscription));
        match node.kind {
            NodeKind::Place => {
                let (rx, ry) = (node.width / 2.0, node.height / 2.0);
                let _ = writeln!(
                    out,
                    "<g id=\"{id}\" class=\"place\"><ellipse cx=\"{x}\" cy=\"{y}\" rx=\"{rx}\" ry=\"{ry}\"/>"
                );
                let _ = writeln!(
                    out,
                    "<text id=\"{id}-tokens\" class=\"tokens\" x=\"{x}\" y=\"{}\">{inscription}</text>",
                    y + 4.0
                );
                let _ =
                    writeln!(out, "<text class=\"name\" x=\"{x}\" y=\"{}\">{name}</text></g>", y + ry + 12.0);
            }
            NodeKind::Transition => {
                let (left, top) = (x - node.width / 2.0, y - node.height / 2.0);
                let _ = writeln!(
                    out,
                    "<g id=\"{id}\" class=\"transition\"><rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" rx=\"2\"/>",
                    node.width, node.height
                );
                let _ = writeln!(out, "<text class=\"name\" x=\"{x}\" y=\"{}\">{name}</text>", y + 4.0);
                if !inscription.is_empty() {
                    let below = y + node.height / 2.0 + 12.0;
                    let _ =
                        writeln!(out, "<text class=\"guard\" x=\"{x}\" y=\"{below}\">{inscription}</text>");
                }
                out.push_str("</g>\n");
            }
        }
    }
    out.push_str("</svg>\n");
    out
}

pub(super) fn dot(diagram: &Diagram) -> String {
    let mut out = format!("digraph {} {{\n  node [fontsize=11];\n", quoted(&diagram.name));
    for node in &diagram.nodes {
        let shape = match node.kind {
            NodeKind::Place => "ellipse",
            NodeKind::Transition => "box",
        };
        let mut label = node.name.clone();
        if !node.inscription.is_empty() {
            label = format!("{label}\n{}", node.inscription);
        }
        let _ = writeln!(out, "  {} [shape={shape}, label={}];", id(node.kind, node.number), quoted(&label));
    }
    for arc in &diagram.arcs {
        let end = |node: usize| id(diagram.nodes[node].kind, diagram.nodes[node].number);
        let style = match arc.kind {
            DrawnArc::Take | DrawnArc::Put => "",
            DrawnArc::Read => ", style=dashed, arrowhead=none",
            DrawnArc::Inhibit => ", arrowhead=odot",
            DrawnArc::Reset => ", arrowhead=normalnormal",
        };
        let _ =
            writeln!(out, "  {} -> {} [label={}{style}];", end(arc.from), end(arc.to), quoted(&arc.label));
    }
    out.push_str("}\n");
    out
}

fn id(kind: NodeKind, number: usize) -> String {
    match kind {
        NodeKind::Place => format!("p{number}"),
        NodeKind::Transition => format!("t{number}"),
    }
}

/// The middle of the middle part of a line.
fn middle(points: &[(f64, f64)]) -> (f64, f64) {
    let at = points.len() / 2;
    let (one, other) = (points[at.saturating_sub(1)], points[at]);
    ((one.0 + other.0) / 2.0, (one.1 + other.1) / 2.0)
}

fn escaped(text: &str) -> String {
    let text: String = text.chars().filter(|&c| c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}')).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{text}\"")
}
