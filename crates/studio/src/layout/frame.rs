//! Turns a picture so that its longest extent lies along the first axis and its shortest looks at the reader.

use super::Point;

/// Moves the centre to the origin.
pub fn centre(positions: &mut [Point]) {
    let centre = mean(positions);
    for place in positions.iter_mut() {
        (0..3).for_each(|axis| place[axis] -= centre[axis] as f32);
    }
}

fn mean(positions: &[Point]) -> [f64; 3] {
    let count = positions.len().max(1) as f64;
    let mut mean = [0.0f64; 3];
    for place in positions {
        (0..3).for_each(|axis| mean[axis] += f64::from(place[axis]) / count);
    }
    mean
}

/// Moves the centre to the origin and rotates; the first node is on the left, and the picture is not mirrored.
pub fn align(positions: &mut [Point]) {
    let count = positions.len().max(1) as f64;
    let centre = mean(positions);
    let mut spread = [[0.0f64; 3]; 3];
    for place in positions.iter() {
        let from = [0, 1, 2].map(|axis| f64::from(place[axis]) - centre[axis]);
        for row in 0..3 {
            (0..3).for_each(|column| spread[row][column] += from[row] * from[column] / count);
        }
    }
    let mut axes = eigenvectors(spread);
    let along = |axis: [f64; 3], place: Point| -> f64 {
        (0..3).map(|at| axis[at] * (f64::from(place[at]) - centre[at])).sum()
    };
    if positions.first().is_some_and(|&first| along(axes[0], first) > 0.0) {
        axes[0] = axes[0].map(|value| -value);
    }
    axes[2] = cross(axes[0], axes[1]);
    for place in positions.iter_mut() {
        *place = axes.map(|axis| along(axis, *place) as f32);
    }
}

/// Eigenvectors of a symmetric matrix by Jacobi's rotations, the greatest eigenvalue first.
fn eigenvectors(mut matrix: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let mut vectors = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for round in 0..60 {
        let (p, q) = [(0, 1), (0, 2), (1, 2)][round % 3];
        if matrix[p][q].abs() < 1e-12 {
            continue;
        }
        let angle = 0.5 * (2.0 * matrix[p][q]).atan2(matrix[q][q] - matrix[p][p]);
        let (sine, cosine) = angle.sin_cos();
        for row in &mut matrix {
            (row[p], row[q]) = (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
        }
        let (first, second) = (matrix[p], matrix[q]);
        for column in 0..3 {
            matrix[p][column] = cosine * first[column] - sine * second[column];
            matrix[q][column] = sine * first[column] + cosine * second[column];
        }
        for vector in &mut vectors {
            (vector[p], vector[q]) =
                (cosine * vector[p] - sine * vector[q], sine * vector[p] + cosine * vector[q]);
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| matrix[b][b].total_cmp(&matrix[a][a]));
    order.map(|at| [vectors[0][at], vectors[1][at], vectors[2][at]])
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_extent_lies_along_the_first_axis() {
        // A flat strip along a slanted line.
        let mut strip: Vec<Point> = (0..40)
            .map(|at| {
                let (long, short) = ((at / 2) as f32, (at % 2) as f32 * 3.0);
                [long + 5.0, long - short, 2.0 * long + 0.5 * short]
            })
            .collect();
        let before: Vec<f32> = strip.windows(2).map(|pair| distance(pair[0], pair[1])).collect();
        align(&mut strip);
        let after: Vec<f32> = strip.windows(2).map(|pair| distance(pair[0], pair[1])).collect();
        assert!(before.iter().zip(&after).all(|(before, after)| (before - after).abs() < 1e-3));
        let extent = |axis: usize| {
            let values = strip.iter().map(|place| place[axis]);
            values.clone().fold(f32::MIN, f32::max) - values.fold(f32::MAX, f32::min)
        };
        assert!(extent(0) > extent(1) && extent(1) > 1.0 && extent(2) < 1e-3);
        assert!(strip[0][0] < 0.0);
    }

    fn distance(a: Point, b: Point) -> f32 {
        (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f32>().sqrt()
    }
}
