// What a picture needs to know of its transitions: in which order they are drawn, how they are bent, how far they are.
import type { Scene } from "./wire";

/** Numbers in an order without any system, the same each time: Fisher and Yates, drawn by Marsaglia's xorshift. */
export function shuffle(count: number): Uint32Array<ArrayBuffer> {
  const order = new Uint32Array(count);
  let chance = 2_463_534_242;
  for (let at = 0; at < count; at++) {
    chance ^= chance << 13;
    chance ^= chance >>> 17;
    chance ^= chance << 5;
    const other = (chance >>> 0) % (at + 1);
    order[at] = order[other]!;
    order[other] = at;
  }
  return order;
}

/** How strongly transitions join super-nodes, from 0.1 to 1; nothing where there are no super-nodes. */
export function strengths(scene: Scene): Float32Array | null {
  if (scene.counts.every((count) => count === 1)) return null;
  const most = new Uint32Array(scene.nodes.length);
  scene.counts.forEach((count, edge) => {
    for (const node of [scene.sources[edge]!, scene.targets[edge]!]) most[node] = Math.max(most[node]!, count);
  });
  return Float32Array.from(scene.counts, (count, edge) =>
    Math.max(0.1, count / Math.min(most[scene.sources[edge]!]!, most[scene.targets[edge]!]!)),
  );
}

/** How transitions are bent so that those between the same two states lie side by side. */
export function bends(scene: Scene, detailed: boolean): Float32Array {
  const result = new Float32Array(scene.edges.length);
  if (!detailed) return result;
  const between = new Map<string, number[]>();
  for (let edge = 0; edge < result.length; edge++) {
    const [a, b] = [scene.sources[edge]!, scene.targets[edge]!];
    const key = a < b ? `${a} ${b}` : `${b} ${a}`;
    between.set(key, [...(between.get(key) ?? []), edge]);
  }
  for (const edges of between.values()) {
    edges.forEach((edge, at) => {
      if (scene.sources[edge] === scene.targets[edge]) result[edge] = 2 + at;
      else if (edges.length > 1) {
        const side = scene.sources[edge]! < scene.targets[edge]! ? 1 : -1;
        result[edge] = side * 0.16 * (at - (edges.length - 1) / 2 || 0.01);
      }
    });
  }
  return result;
}

/** How far a point is from a line between two others. */
export function distance(x: number, y: number, ax: number, ay: number, bx: number, by: number): number {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const t = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / length));
  return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}
