//! Strongly connected components of any graph given by its successors.

/// Tarjan's algorithm (1972) with an explicit stack. Returns the component of each node, numbered so that every
/// edge between two components goes from a higher number to a lower one, and how many there are.
pub(crate) fn components(
    nodes: usize,
    successor: impl Fn(usize, usize) -> Option<usize>,
) -> (Vec<u32>, usize) {
    const NONE: u32 = u32::MAX;
    let mut component = vec![NONE; nodes];
    let mut low = vec![NONE; nodes];
    let mut open: Vec<usize> = Vec::new();
    let mut path: Vec<(usize, usize, u32)> = Vec::new();
    let mut visited = 0;
    let mut count = 0;
    for root in 0..nodes {
        if low[root] != NONE {
            continue;
        }
        low[root] = visited;
        path.push((root, 0, visited));
        open.push(root);
        visited += 1;
        while let Some(&mut (node, ref mut at, index)) = path.last_mut() {
            if let Some(next) = successor(node, *at) {
                *at += 1;
                if low[next] == NONE {
                    low[next] = visited;
                    path.push((next, 0, visited));
                    open.push(next);
                    visited += 1;
                } else if component[next] == NONE {
                    low[node] = low[node].min(low[next]);
                }
                continue;
            }
            path.pop();
            if low[node] == index {
                while let Some(member) = open.pop() {
                    component[member] = count;
                    if member == node {
                        break;
                    }
                }
                count += 1;
            }
            if let Some(&(parent, _, _)) = path.last() {
                low[parent] = low[parent].min(low[node]);
            }
        }
    }
    (component, count as usize)
}
