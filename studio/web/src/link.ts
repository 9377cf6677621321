// Links into a model: which one, which property, where the walk is, what is seen. They stand in the address of the page,
// so that it looks the same when it is loaded again.
import type { Panel } from "./columns";
import type { Moment } from "./wire";

export interface Link {
  /** The number of the model in the program, and which version of it: numbers of steps mean nothing in another. */
  model: number;
  version: number;
  property: string | null;
  /** Where the walk starts, its steps, how far it has gone, and where the part starts that it repeats. */
  start: number;
  steps: number[];
  cursor: number;
  lasso: number | null;
  panels: Panel[];
}

/** A longer walk is not kept step by step: its state is. */
const MOST_STEPS = 500;

export function linkOf(model: number, version: number, property: string | null, walk: Moment, node: number, panels: Panel[]): Link {
  const where = { model, version, property, panels };
  if (walk.path.length > MOST_STEPS) return { ...where, start: node, steps: [], cursor: 0, lasso: null };
  const start = walk.path[0]?.source ?? walk.start;
  return { ...where, start, steps: walk.path.map((step) => step.edge), cursor: walk.cursor, lasso: walk.lasso };
}

/** A link as the last part of an address. */
export function written(link: Link): string {
  const parts = new URLSearchParams({ model: String(link.model), version: String(link.version) });
  if (link.property !== null) parts.set("property", link.property);
  parts.set("state", String(link.start));
  if (link.steps.length > 0) {
    parts.set("steps", link.steps.join("."));
    parts.set("at", String(link.cursor));
  }
  if (link.lasso !== null) parts.set("repeat", String(link.lasso));
  if (link.panels.length > 0) parts.set("panels", link.panels.join("."));
  return `#${parts.toString()}`;
}

/** The link in an address; nothing where there is none, or none that makes sense. */
export function read(hash: string): Link | null {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const number = (text: string | null) => (text !== null && /^\d{1,10}$/.test(text) ? Number(text) : null);
  const model = number(parts.get("model"));
  if (model === null) return null;
  const steps = (parts.get("steps") ?? "").split(".").filter((text) => text);
  const numbers = steps.map(number).filter((step): step is number => step !== null);
  const whole = numbers.length === steps.length && steps.length <= MOST_STEPS;
  return {
    model,
    version: number(parts.get("version")) ?? -1,
    property: parts.get("property"),
    start: number(parts.get("state")) ?? 0,
    steps: whole ? numbers : [],
    cursor: whole ? Math.min(number(parts.get("at")) ?? 0, numbers.length) : 0,
    lasso: whole ? number(parts.get("repeat")) : null,
    panels: (parts.get("panels") ?? "").split(".").filter((text) => text) as Panel[],
  };
}
