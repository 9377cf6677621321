//! A page that needs no server: the built page with everything it would ask for put inside.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::answers::{self, Wanted};
use crate::project::Project;
use crate::scene::{REGION, position_bytes};
use crate::trace;

/// A snapshot of larger scenes leaves out what is known of each state and transition.
const MOST_DETAILED: usize = 3_000;

/// The page with a snapshot.
pub fn page(page: &str, snapshot: &Value) -> String {
    // Inside a script element only `<` could end it.
    let snapshot = snapshot.to_string().replace('<', "\\u003c");
    let element = format!("<script type=\"application/json\" id=\"snapshot\">{snapshot}</script></head>");
    page.replacen("</head>", &element, 1)
}

/// What a page would ask for, and how it looked at the model; nothing where none is open.
pub fn snapshot(project: &Project, look: &Value) -> Option<Value> {
    let view = project.view();
    let (opened, scene) = (view.opened.as_deref()?, &view.scene);
    let mut states = Map::new();
    let mut edges = Map::new();
    let plain = || scene.nodes.iter().copied().filter(|node| node & REGION == 0);
    if scene.nodes.len() <= MOST_DETAILED {
        for node in plain() {
            states.insert(node.to_string(), json!(answers::state(opened, scene, node)));
            for at in opened.picture.outgoing(node) {
                edges.insert(at.to_string(), json!(answers::edge(opened, scene, at)));
            }
        }
    }
    let counterexample = answers::counterexample(opened, scene, &Wanted::Nth(1)).ok();
    Some(json!({
        "summary": answers::summary(project.id, &project.name, &view),
        "status": view.status,
        "scene": STANDARD.encode(scene.bytes(view.status.scene)),
        "positions": STANDARD.encode(position_bytes(view.status.scene, true, &view.positions)),
        // Otherwise what is not found may still be there, in a super-node or in a scene that is too large.
        "complete": states.len() == opened.picture.len(),
        "states": states,
        "edges": edges,
        "drawing": opened.subject.board(),
        "trace": counterexample.as_ref().and_then(|run| trace::trace(opened, &run.walked()).ok()),
        "counterexample": counterexample,
        "look": look,
    }))
}
