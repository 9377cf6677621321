// Dragging nodes: they follow the pointer in the plane that faces the reader, and stay where they are put.
import type { Space } from "./space";

/** How far a pointer moves before that is no click any more, in pixels. */
const CLICK = 6;

/** Lets nodes be dragged; `put` is told where each was left, once. */
export function dragging(space: Space, put: (node: number, at: [number, number, number]) => void): void {
  const canvas = space.canvas;
  let held: number | null = null;
  let from = { x: 0, y: 0 };
  let far = false;
  // Before the camera hears of it.
  canvas.addEventListener(
    "pointerdown",
    (event) => {
      if (event.button !== 0 || event.shiftKey || event.ctrlKey || event.metaKey) return;
      const hit = space.pick(event.offsetX, event.offsetY);
      if (!hit || !("node" in hit)) return;
      held = hit.node;
      far = false;
      from = { x: event.offsetX, y: event.offsetY };
      space.steady(true);
      canvas.setPointerCapture(event.pointerId);
    },
    { capture: true },
  );
  canvas.addEventListener("pointermove", (event) => {
    if (held === null) return;
    far ||= Math.hypot(event.offsetX - from.x, event.offsetY - from.y) > CLICK;
    if (far) space.drag(held, event.offsetX, event.offsetY);
  });
  const drop = () => {
    if (held === null) return;
    const node = held;
    held = null;
    space.steady(false);
    if (far) put(node, space.placeOf(node));
  };
  canvas.addEventListener("pointerup", drop);
  canvas.addEventListener("pointercancel", drop);
}
