//! Where the nodes of a net are drawn.
//!
//! Arcs that close a circle are turned round, nodes get the layer of the longest way to them, arcs over several layers
//! pass through points in between. Nodes of a layer are ordered by the mean of their neighbours, up and down the layers;
//! of all orders, the one with the fewest crossings stays.

use rustc_hash::FxHashSet;

use super::{Diagram, DiagramArc, DiagramNode, DrawnArc, NodeKind, Sketch};

const PLACE: f64 = 36.0;
const BOX: f64 = 26.0;
const LAYER: f64 = 92.0;
const GAP: f64 = 26.0;
const MARGIN: f64 = 30.0;
const LETTER: f64 = 6.6;
/// Sweeps over the layers.
const SWEEPS: usize = 16;
/// Layers with more arcs between them than this are not counted: orders are then not compared.
const MOST_COUNTED: usize = 3000;
/// Nets whose long arcs have more points in between than this have straight arcs.
const MOST_POINTS: usize = 30_000;

struct Layers {
    /// The nodes of each layer in order; those behind the nodes of the net are points of arcs.
    order: Vec<Vec<usize>>,
    /// Neighbours in the layers above and below.
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    /// How much room each needs from left to right.
    room: Vec<f64>,
}

pub(super) fn layout(sketch: &Sketch) -> Diagram {
    let places = sketch.places.len();
    let mut nodes: Vec<DiagramNode> = Vec::with_capacity(places + sketch.transitions.len());
    let letters = |text: &str| text.chars().count() as f64 * LETTER;
    for (number, (name, tokens)) in sketch.places.iter().enumerate() {
        let node = |width, height| (NodeKind::Place, name.clone(), tokens.clone(), number, width, height);
        nodes.push(at_start(node(PLACE.max(letters(tokens) + 14.0), PLACE)));
    }
    for (number, (name, guard)) in sketch.transitions.iter().enumerate() {
        let width = (letters(name) + 16.0).max(BOX);
        nodes.push(at_start((NodeKind::Transition, name.clone(), guard.clone(), number, width, BOX)));
    }
    let ends: Vec<(usize, usize)> = sketch
        .arcs
        .iter()
        .map(|arc| match arc.kind {
            DrawnArc::Put => (places + arc.transition, arc.place),
            _ => (arc.place, places + arc.transition),
        })
        .collect();
    let layer = layers(nodes.len(), &forward(nodes.len(), &ends));
    let room: Vec<f64> = nodes.iter().map(|node| node.width.max(letters(&node.name))).collect();
    let (mut drawn, ways) = between(&layer, &ends, room);
    order(&mut drawn);
    let x = columns(&drawn);
    let mut highest = vec![0.0; drawn.room.len()];
    for (number, row) in drawn.order.iter().enumerate() {
        row.iter().for_each(|&node| highest[node] = MARGIN + PLACE / 2.0 + number as f64 * LAYER);
    }
    for (number, node) in nodes.iter_mut().enumerate() {
        (node.x, node.y) = (x[number], highest[number]);
    }
    let mut parallel: FxHashSet<(usize, usize, usize)> = FxHashSet::default();
    let arcs = ends.iter().zip(&sketch.arcs).zip(ways).map(|((&(from, to), arc), way)| {
        let mut middle: Vec<(f64, f64)> = way.iter().map(|&point| (x[point], highest[point])).collect();
        if layer[from] > layer[to] {
            middle.reverse();
        }
        // Arcs between the same nodes bend away from each other.
        let pair = (from.min(to), from.max(to));
        let mut copy = 0;
        while !parallel.insert((pair.0, pair.1, copy)) {
            copy += 1;
        }
        if copy > 0 && middle.is_empty() {
            let (one, other) = (&nodes[from], &nodes[to]);
            let side = copy.div_ceil(2) as f64 * if copy % 2 == 1 { 18.0 } else { -18.0 };
            middle.push(((one.x + other.x) / 2.0 + side, (one.y + other.y) / 2.0));
        }
        let first = *middle.first().unwrap_or(&(nodes[to].x, nodes[to].y));
        let last = *middle.last().unwrap_or(&(nodes[from].x, nodes[from].y));
        let mut points = vec![edge(&nodes[from], first)];
        points.extend(&middle);
        points.push(edge(&nodes[to], last));
        DiagramArc { from, to, points, label: arc.inscription.clone(), kind: arc.kind }
    });
    let arcs: Vec<DiagramArc> = arcs.collect();
    let right = x.iter().zip(&drawn.room).map(|(x, room)| x + room / 2.0).fold(0.0, f64::max);
    let height = 2.0 * MARGIN + PLACE + drawn.order.len().saturating_sub(1) as f64 * LAYER;
    Diagram { name: sketch.name.clone(), nodes, arcs, width: right + MARGIN, height }
}

fn at_start(parts: (NodeKind, String, String, usize, f64, f64)) -> DiagramNode {
    let (kind, name, inscription, number, width, height) = parts;
    DiagramNode { kind, name, inscription, number, x: 0.0, y: 0.0, width, height }
}

/// The arcs with those turned round that close a circle in a depth-first search.
fn forward(nodes: usize, ends: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut targets = vec![Vec::new(); nodes];
    let mut has_input = vec![false; nodes];
    for &(from, to) in ends {
        targets[from].push(to);
        has_input[to] = true;
    }
    let mut result = vec![Vec::new(); nodes];
    // 0 not seen, 1 on the way, 2 done.
    let mut state = vec![0u8; nodes];
    // Sources first: they belong at the top.
    let starts = (0..nodes).filter(|&node| !has_input[node]).chain(0..nodes);
    for start in starts.collect::<Vec<_>>() {
        if state[start] != 0 {
            continue;
        }
        let mut stack = vec![(start, 0)];
        state[start] = 1;
        while let Some((node, next)) = stack.pop() {
            let Some(&target) = targets[node].get(next) else {
                state[node] = 2;
                continue;
            };
            stack.push((node, next + 1));
            if state[target] == 1 {
                result[target].push(node);
            } else {
                result[node].push(target);
                if state[target] == 0 {
                    state[target] = 1;
                    stack.push((target, 0));
                }
            }
        }
    }
    result
}

/// The layer of each node: the length of the longest way to it.
fn layers(nodes: usize, targets: &[Vec<usize>]) -> Vec<usize> {
    let mut waits = vec![0usize; nodes];
    targets.iter().flatten().for_each(|&target| waits[target] += 1);
    let mut layer = vec![0; nodes];
    let mut ready: Vec<usize> = (0..nodes).rev().filter(|&node| waits[node] == 0).collect();
    while let Some(node) = ready.pop() {
        for &target in &targets[node] {
            layer[target] = layer[target].max(layer[node] + 1);
            waits[target] -= 1;
            if waits[target] == 0 {
                ready.push(target);
            }
        }
    }
    layer
}

/// The layers with points where arcs pass through them, and the points of each arc from the top.
fn between(layer: &[usize], ends: &[(usize, usize)], room: Vec<f64>) -> (Layers, Vec<Vec<usize>>) {
    let count = layer.iter().max().map_or(0, |last| last + 1);
    let nodes = layer.len();
    let mut drawn = Layers {
        order: vec![Vec::new(); count],
        above: vec![Vec::new(); nodes],
        below: vec![Vec::new(); nodes],
        room,
    };
    (0..nodes).for_each(|node| drawn.order[layer[node]].push(node));
    let points: usize =
        ends.iter().map(|&(from, to)| layer[from].abs_diff(layer[to]).saturating_sub(1)).sum();
    let ways = ends.iter().map(|&(from, to)| {
        let (top, bottom) = if layer[from] <= layer[to] { (from, to) } else { (to, from) };
        let mut way = Vec::new();
        let mut last = top;
        let inner = if points > MOST_POINTS { 0..0 } else { layer[top] + 1..layer[bottom] };
        for passed in inner {
            let point = drawn.room.len();
            drawn.room.push(8.0);
            drawn.above.push(vec![last]);
            drawn.below.push(Vec::new());
            drawn.below[last].push(point);
            drawn.order[passed].push(point);
            way.push(point);
            last = point;
        }
        if layer[top] < layer[bottom] {
            drawn.below[last].push(bottom);
            drawn.above[bottom].push(last);
        }
        way
    });
    let ways = ways.collect();
    (drawn, ways)
}

/// Orders the nodes of each layer.
fn order(drawn: &mut Layers) {
    let mut best = drawn.order.clone();
    let mut fewest = crossings(drawn);
    let mut position = vec![0.0; drawn.room.len()];
    let number = |row: &[usize], position: &mut [f64]| {
        row.iter().enumerate().for_each(|(at, &node)| position[node] = at as f64);
    };
    drawn.order.iter().for_each(|row| number(row, &mut position));
    for sweep in 0..SWEEPS {
        let downwards = sweep % 2 == 0;
        for step in 0..drawn.order.len() {
            let at = if downwards { step } else { drawn.order.len() - 1 - step };
            let neighbours = if downwards { &drawn.above } else { &drawn.below };
            let mut row = std::mem::take(&mut drawn.order[at]);
            let mean = |node: usize| {
                let near = &neighbours[node];
                match near.len() {
                    0 => position[node],
                    count => near.iter().map(|&other| position[other]).sum::<f64>() / count as f64,
                }
            };
            row.sort_by(|&one, &other| mean(one).total_cmp(&mean(other)));
            number(&row, &mut position);
            drawn.order[at] = row;
        }
        let now = crossings(drawn);
        if now.is_none() || now < fewest {
            (fewest, best) = (now, drawn.order.clone());
        }
    }
    drawn.order = best;
}

/// How many arcs cross; not known where there are too many to count.
fn crossings(drawn: &Layers) -> Option<usize> {
    let mut position = vec![0; drawn.room.len()];
    let mut count = 0;
    for row in &drawn.order {
        row.iter().enumerate().for_each(|(at, &node)| position[node] = at);
    }
    for row in &drawn.order {
        let mut arcs: Vec<(usize, usize)> = Vec::new();
        for &node in row {
            // Arcs without points in between would go past the next layer.
            arcs.extend(drawn.below[node].iter().map(|&other| (position[node], position[other])));
        }
        if arcs.len() > MOST_COUNTED {
            return None;
        }
        for (number, one) in arcs.iter().enumerate() {
            count += arcs[..number]
                .iter()
                .filter(|other| (one.0 < other.0 && one.1 > other.1) || (one.0 > other.0 && one.1 < other.1))
                .count();
        }
    }
    Some(count)
}

/// The middle of each node from the left: near its neighbours, but not over others of its layer.
fn columns(drawn: &Layers) -> Vec<f64> {
    let mut x = vec![0.0; drawn.room.len()];
    let apart = |one: usize, other: usize| (drawn.room[one] + drawn.room[other]) / 2.0 + GAP;
    for row in &drawn.order {
        for pair in row.windows(2) {
            x[pair[1]] = x[pair[0]] + apart(pair[0], pair[1]);
        }
    }
    for sweep in 0..SWEEPS {
        for step in 0..drawn.order.len() {
            let at = if sweep % 2 == 0 { step } else { drawn.order.len() - 1 - step };
            let row = &drawn.order[at];
            let wanted: Vec<f64> = row
                .iter()
                .map(|&node| {
                    let near = || drawn.above[node].iter().chain(&drawn.below[node]);
                    match near().count() {
                        0 => x[node],
                        count => near().map(|&other| x[other]).sum::<f64>() / count as f64,
                    }
                })
                .collect();
            let mut placed: Vec<f64> = Vec::with_capacity(row.len());
            for (number, &node) in row.iter().enumerate() {
                let least = match number {
                    0 => f64::MIN,
                    _ => placed[number - 1] + apart(row[number - 1], node),
                };
                placed.push(wanted[number].max(least));
            }
            // What was pushed to the right is shared by the whole layer.
            let pushed = placed.iter().zip(&wanted).map(|(placed, wanted)| placed - wanted).sum::<f64>();
            let shift = pushed / row.len().max(1) as f64;
            row.iter().zip(placed).for_each(|(&node, placed)| x[node] = placed - shift);
        }
    }
    let left = x.iter().zip(&drawn.room).map(|(x, room)| x - room / 2.0).fold(f64::MAX, f64::min);
    x.iter().map(|x| (x - left + MARGIN).round()).collect()
}

/// Where a line from the middle of a node towards a point leaves it.
fn edge(node: &DiagramNode, towards: (f64, f64)) -> (f64, f64) {
    let (dx, dy) = (towards.0 - node.x, towards.1 - node.y);
    if dx == 0.0 && dy == 0.0 {
        return (node.x, node.y + node.height / 2.0);
    }
    let (half_width, half_height) = (node.width / 2.0, node.height / 2.0);
    let share = match node.kind {
        NodeKind::Place => 1.0 / ((dx / half_width).powi(2) + (dy / half_height).powi(2)).sqrt(),
        NodeKind::Transition => (half_width / dx.abs()).min(half_height / dy.abs()),
    };
    let rounded = |value: f64| (value * 10.0).round() / 10.0;
    (rounded(node.x + dx * share), rounded(node.y + dy * share))
}
