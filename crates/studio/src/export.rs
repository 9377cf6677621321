//! A page that needs no server: the built page with everything it would ask for put inside.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::answers::{self, Wanted};
use crate::opening::Opened;
use crate::project::Project;
use crate::scene::{REGION, position_bytes};

/// A snapshot of larger scenes leaves out what is known of each state and transition.
const MOST_DETAILED: usize = 3_000;

/// The page with the snapshot of a project.
pub fn page(page: &str, project: &Project, opened: &Opened) -> String {
    // Inside a script element only `<` could end it.
    let snapshot = snapshot(project, opened).to_string().replace('<', "\\u003c");
    let element = format!("<script type=\"application/json\" id=\"snapshot\">{snapshot}</script></head>");
    page.replacen("</head>", &element, 1)
}

fn snapshot(project: &Project, opened: &Opened) -> Value {
    let (version, scene) = project.scene();
    let (_, _, positions) = project.positions();
    let mut states = Map::new();
    let mut edges = Map::new();
    if scene.nodes.len() <= MOST_DETAILED {
        for &node in scene.nodes.iter().filter(|&&node| node & REGION == 0) {
            states.insert(node.to_string(), json!(answers::state(opened, &scene, node)));
            for at in opened.picture.outgoing(node) {
                edges.insert(at.to_string(), json!(answers::edge(opened, &scene, at)));
            }
        }
    }
    json!({
        "summary": answers::summary(project, Some(opened)),
        "status": project.status(),
        "scene": STANDARD.encode(scene.bytes(version)),
        "positions": STANDARD.encode(position_bytes(version, true, &positions)),
        "states": states,
        "edges": edges,
        "counterexample": answers::counterexample(opened, &scene, &Wanted::Nth(1)).ok(),
    })
}
