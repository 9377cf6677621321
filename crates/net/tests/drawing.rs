//! Diagrams: nothing lies over anything else, arcs go where they should, the picture is well-formed.

mod random;

use lts::Chance;
use net::{Arc, ArcKind, Diagram, DrawnArc, Flat, NodeKind, Sketch};
use random::Shape;

fn ring(places: usize) -> Flat {
    let step = |place: usize| {
        vec![
            Arc { place, kind: ArcKind::Take(1) },
            Arc { place: (place + 1) % places, kind: ArcKind::Put(2) },
        ]
    };
    let transitions: Vec<(&str, Vec<Arc>)> = (0..places).map(|place| ("ON", step(place))).collect();
    let mut initial = vec![0; places];
    initial[0] = 12;
    Flat::plain("a <ring> & \"more\"", &initial, &transitions)
}

#[test]
fn nodes_keep_apart_and_arcs_end_at_them() {
    let mut chance = Chance::new(10);
    for round in 0..400 {
        let shape =
            Shape { places: 12, transitions: 12, weight: 2, special: round % 2 == 0, conservative: false };
        let diagram = Diagram::new(&Sketch::of(&random::net(&mut chance, shape)));
        for (number, one) in diagram.nodes.iter().enumerate() {
            assert!(one.x - one.width / 2.0 >= 0.0 && one.x + one.width / 2.0 <= diagram.width);
            assert!(one.y - one.height / 2.0 >= 0.0 && one.y + one.height / 2.0 <= diagram.height);
            for other in &diagram.nodes[..number] {
                let apart = (one.x - other.x).abs() >= (one.width + other.width) / 2.0
                    || (one.y - other.y).abs() >= (one.height + other.height) / 2.0;
                assert!(apart, "round {round}: {one:?} {other:?}");
            }
        }
        for arc in &diagram.arcs {
            let (from, to) = (&diagram.nodes[arc.from], &diagram.nodes[arc.to]);
            assert_ne!(from.kind, to.kind);
            assert_eq!(arc.kind == DrawnArc::Put, to.kind == NodeKind::Place);
            for (node, point) in [(from, arc.points[0]), (to, arc.points[arc.points.len() - 1])] {
                assert!((node.x - point.0).abs() <= node.width / 2.0 + 0.1, "round {round}");
                assert!((node.y - point.1).abs() <= node.height / 2.0 + 0.1, "round {round}");
            }
        }
    }
}

/// Whether two lines cross.
fn cross(a: (f64, f64), b: (f64, f64), c: (f64, f64), d: (f64, f64)) -> bool {
    let side =
        |p: (f64, f64), q: (f64, f64), r: (f64, f64)| (q.0 - p.0) * (r.1 - p.1) - (q.1 - p.1) * (r.0 - p.0);
    side(a, b, c) * side(a, b, d) < 0.0 && side(c, d, a) * side(c, d, b) < 0.0
}

#[test]
fn simple_nets_are_drawn_without_crossings() {
    // A ring, and a tree whose branches are written in a bad order.
    let mut tree = Vec::new();
    for (from, to) in [(0, [3, 1]), (1, [4, 6]), (3, [5, 2])] {
        let mut arcs = vec![Arc { place: from, kind: ArcKind::Take(1) }];
        arcs.extend(to.map(|place| Arc { place, kind: ArcKind::Put(1) }));
        tree.push(("FORK", arcs));
    }
    for flat in [ring(7), Flat::plain("tree", &[1, 0, 0, 0, 0, 0, 0], &tree)] {
        let diagram = Diagram::new(&Sketch::of(&flat));
        let lines: Vec<((f64, f64), (f64, f64))> = diagram
            .arcs
            .iter()
            .flat_map(|arc| arc.points.windows(2).map(|pair| (pair[0], pair[1])))
            .collect();
        for (number, one) in lines.iter().enumerate() {
            for other in &lines[..number] {
                assert!(!cross(one.0, one.1, other.0, other.1), "{}", flat.name);
            }
        }
    }
}

#[test]
fn pictures_are_well_formed_and_have_ids() {
    let flat = ring(5);
    let diagram = Diagram::new(&Sketch::of(&flat));
    assert_eq!(diagram, Diagram::new(&Sketch::of(&flat)));
    let svg = diagram.to_svg();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let with_id = |id: &str| document.descendants().filter(|node| node.attribute("id") == Some(id)).count();
    for id in ["p0", "p4", "t0", "t4", "p0-tokens"] {
        assert_eq!(with_id(id), 1, "{id}");
    }
    let tokens = document.descendants().find(|node| node.attribute("id") == Some("p0-tokens")).unwrap();
    assert_eq!(tokens.text(), Some("12"));
    let dot = diagram.to_dot();
    assert!(dot.starts_with("digraph \"a <ring> & \\\"more\\\"\" {"), "{dot}");
    assert!(dot.contains("p0 -> t0 [label=\"\"];") && dot.contains("t0 -> p1 [label=\"2\"];"), "{dot}");
}

#[test]
fn long_and_dense_nets_are_drawn_in_time() {
    let mut chance = Chance::new(11);
    let shape = Shape { places: 1500, transitions: 1500, weight: 1, special: false, conservative: false };
    let diagram = Diagram::new(&Sketch::of(&random::net(&mut chance, shape)));
    assert!(diagram.width.is_finite() && diagram.height.is_finite());
    let diagram = Diagram::new(&Sketch::of(&ring(2000)));
    assert_eq!(diagram.nodes.len(), 4000);
    assert!(Diagram::new(&Sketch::default()).to_svg().ends_with("</svg>\n"));
}
