// The token game: the drawing of a net with the tokens of the present state, played by firing its transitions.
import { button, count, make, refill } from "./dom";
import { drawingOf } from "./svg";
import { flat } from "./values";
import type { Drawing, StateAnswer, Transition } from "./wire";

export interface NetHost {
  /** Takes a step of the present state. */
  take(step: Transition): void;
  back(): void;
  forward(): void;
  undo(): void;
  /** Shows where a step is drawn and written. */
  look(edge: number): void;
  say(text: string): void;
}

/** How much wider a place can get on either side, in pixels of the drawing: there is room between any two. */
const MOST_GROWTH = 13;
/** The width of a letter. */
const LETTER = 7.2;
/** Between the tokens and the edge of a place. */
const EDGE = 5;
/** A net is drawn at most this much larger than it is, unless the user wants it. */
const LARGEST_FIT = 1.3;
/** Smaller, it could not be read: part of it is in view then. */
const SMALLEST_FIT = 0.45;

interface PlacePart {
  name: string;
  group: SVGElement;
  tokens: SVGElement | null;
  title: SVGElement;
  /** What is widened for more tokens, and how wide it is without. */
  ellipse: SVGElement | null;
  radius: number;
}

interface TransitionPart {
  name: string;
  group: SVGElement;
  title: SVGElement;
  steps: Transition[];
}

export class NetPanel {
  readonly element = make("section", { id: "net" });
  private here = make("h3", { id: "net-here" });
  private note = make("p", { className: "hint", id: "net-note" });
  private frame = make("div", { className: "drawing", id: "drawing" });
  private ways = make("div", { className: "steps", id: "ways", hidden: true });
  private values = make("dl", { className: "values", id: "net-values" });
  private wider = button("Wider", "Give the net more room, or less", () => this.flipWide(), "net-wider");
  private svg: SVGSVGElement | null = null;
  private places: PlacePart[] = [];
  private transitions = new Map<string, TransitionPart>();
  private size = { width: 1, height: 1 };
  private measured = false;
  /** What the net was last fitted into. */
  private room = "";
  private scale = 1;
  /** Whether the whole net is kept in view. */
  private fitted = true;
  /** The transition whose ways to fire are listed. */
  private asked: TransitionPart | null = null;

  constructor(private host: NetHost) {
    this.frame.setAttribute("role", "group");
    this.frame.setAttribute("aria-label", "The net");
    this.element.append(
      make(
        "div",
        { className: "bar" },
        button("◀", "One step back (←)", () => host.back(), "net-back"),
        button("▶", "One step forward (→)", () => host.forward(), "net-forward"),
        button("Undo", "Undo (U)", () => host.undo(), "net-undo"),
        make("span", { className: "gap" }),
        button("−", "Zoom out", () => this.zoom(1 / 1.25), "net-out"),
        button("+", "Zoom in", () => this.zoom(1.25), "net-in"),
        button("Fit", "Show the whole net, or as much as can be read", () => this.fit(), "net-fit"),
        this.wider,
      ),
      this.here,
      this.note,
      this.frame,
      this.ways,
      this.values,
    );
    // Before the page takes the focus away.
    this.ways.onkeydown = (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.dismiss();
    };
    // Also when the panel appears: what is hidden has no size.
    new ResizeObserver(() => {
      // Lists that come and go below must not move the net under the pointer.
      const room = `${this.frame.offsetWidth} ${window.innerHeight}`;
      if (this.fitted && room !== this.room) this.fit();
      this.room = room;
    }).observe(this.frame);
    this.listen();
  }

  /** Shows another net, or none. */
  open(drawing: Drawing | null): void {
    this.dismiss();
    this.places = [];
    this.transitions.clear();
    this.svg = drawing && drawingOf(drawing.svg, "net-");
    this.frame.replaceChildren(...(this.svg ? [this.svg] : []));
    this.values.replaceChildren();
    if (!drawing || !this.svg) return;
    const { width, height } = this.svg.viewBox.baseVal;
    this.size = { width: width || 1, height: height || 1 };
    this.measured = false;
    const find = (id: string) => this.svg!.querySelector<SVGElement>(`#${CSS.escape(`net-${id}`)}`);
    for (const { id, kind, name } of drawing.parts) {
      const group = find(id);
      if (!group) continue;
      const title = document.createElementNS(group.namespaceURI, "title") as SVGElement;
      group.prepend(title);
      if (kind === "place") {
        const ellipse = group.querySelector<SVGElement>("ellipse");
        const radius = Number(ellipse?.getAttribute("rx") ?? 0);
        this.places.push({ name, group, title, tokens: find(`${id}-tokens`), ellipse, radius });
      } else {
        const part: TransitionPart = { name, group, title, steps: [] };
        this.transitions.set(id, part);
        this.pressable(id, part);
      }
    }
    this.fit();
    this.show(null);
  }

  /** Shows the tokens of a state, and what can fire in it. */
  show(state: StateAnswer | null): void {
    if (!this.svg) return;
    this.dismiss();
    this.showTokens(state);
    for (const part of this.transitions.values()) part.steps = [];
    for (const step of state?.outgoing ?? []) for (const id of step.parts ?? []) this.transitions.get(id)?.steps.push(step);
    let enabled = 0;
    for (const { group, title, name, steps } of this.transitions.values()) {
      const can = steps.length > 0;
      const ways = steps.length > 1 ? `, ${count(steps.length, "way")}` : "";
      enabled += Number(can);
      group.classList.toggle("enabled", can);
      group.setAttribute("tabindex", can ? "0" : "-1");
      group.setAttribute("aria-disabled", String(!can));
      // What is read aloud begins with what is seen.
      const seen = [...group.querySelectorAll("text")].map((text) => text.textContent).join(" ") || name;
      group.setAttribute("aria-label", can ? `${seen}: fire${ways}` : `${seen} can't fire here`);
      title.textContent = can ? `Fire ${name}${ways}` : `${name} can't fire here`;
    }
    this.here.textContent = !state ? "No state" : state.sink ? "Sink: safe for good" : `State ${state.state}${state.initial ? ", initial" : ""}${state.goal ? ", violation" : ""}`;
    this.note.textContent = noteOf(state, enabled);
    this.reveal();
  }

  /** Closes the list of ways to fire, if it is open. */
  dismiss(): boolean {
    const asked = this.asked;
    if (!asked) return false;
    const focused = this.ways.contains(document.activeElement);
    this.asked = null;
    this.ways.hidden = true;
    this.ways.replaceChildren();
    if (focused) asked.group.focus({ preventScroll: true });
    return true;
  }

  /** Fires a transition; the user chooses among several ways. */
  private fire(part: TransitionPart): void {
    const [first, ...others] = part.steps;
    if (!first) return this.host.say(`${part.name} can't fire here.`);
    if (others.length === 0) return this.host.take(first);
    this.asked = part;
    this.ways.hidden = false;
    const items = part.steps.map((step, at) => {
      const item = button("", `${step.tag}: fire it this way`, () => this.host.take(step), `way-${at}`);
      item.className = `step ${step.tag}`;
      item.append(make("i", { className: `line ${step.tag}` }), step.label);
      item.onmouseenter = item.onfocus = () => this.host.look(step.edge);
      return item;
    });
    refill(this.ways, make("h3", { textContent: `${part.name} can fire in ${count(part.steps.length, "way")}` }), ...items);
    items[0]?.focus({ preventScroll: true });
    this.ways.scrollIntoView({ block: "nearest" });
  }

  private showTokens(state: StateAnswer | null): void {
    // Places of the same name come in the same order in the drawing and in a state.
    const values = new Map<string, string[]>();
    for (const [name, value] of flat(state?.instances ?? [])) values.set(name, [...(values.get(name) ?? []), value]);
    const shortened: HTMLElement[] = [];
    for (const { name, group, tokens, title, ellipse, radius } of this.places) {
      const value = values.get(name)?.shift();
      const text = value === undefined || value === "0" || value === "{}" ? "" : value;
      const letters = Math.floor((2 * (radius + MOST_GROWTH - EDGE)) / LETTER);
      const fits = text.length <= letters;
      const wanted = (Math.min(text.length, letters) * LETTER) / 2 + EDGE;
      ellipse?.setAttribute("rx", String(Math.max(radius, wanted)));
      group.classList.toggle("marked", text !== "");
      if (tokens) tokens.textContent = fits ? text : `${text.slice(0, letters - 1)}…`;
      title.textContent = value === undefined ? name : `${name}: ${text || "empty"}`;
      if (!fits) shortened.push(make("dt", { textContent: name }), make("dd", { textContent: text }));
    }
    this.values.replaceChildren(...shortened);
  }

  private pressable(id: string, part: TransitionPart): void {
    const { group } = part;
    group.dataset["part"] = id;
    group.setAttribute("role", "button");
    group.addEventListener("click", () => this.fire(part));
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.fire(part);
    });
    group.addEventListener("mouseenter", () => {
      if (part.steps.length === 1) this.host.look(part.steps[0]!.edge);
    });
  }

  private flipWide(): void {
    const wide = this.element.closest(".right")?.classList.toggle("wide") ?? false;
    this.wider.textContent = wide ? "Narrower" : "Wider";
  }

  // Looking around: scrolling zooms and dragging moves, as in the picture of the states.

  fit(): void {
    this.fitted = true;
    this.measure();
    // Without the border; what fits needs no scroll bars.
    const [width, height] = [this.frame.offsetWidth - 2, this.frame.offsetHeight - 2];
    if (width <= 0) return;
    const whole = Math.min(width / this.size.width, height / this.size.height, LARGEST_FIT);
    this.resize(Math.max(whole, SMALLEST_FIT));
    this.reveal();
  }

  /** Brings a transition that can fire into view, if there is none. */
  private reveal(): void {
    const frame = this.frame.getBoundingClientRect();
    const able = [...this.transitions.values()].filter((part) => part.steps.length > 0).map((part) => part.group.getBoundingClientRect());
    const seen = (box: DOMRect) => box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;
    const first = able[0];
    if (!first || frame.width === 0 || able.some(seen)) return;
    this.frame.scrollBy((first.left + first.right - frame.left - frame.right) / 2, (first.top + first.bottom - frame.top - frame.bottom) / 2);
  }

  /** Makes room for texts that are wider than the drawing thought; what is hidden can't be measured. */
  private measure(): void {
    if (!this.svg || this.measured || this.frame.offsetWidth === 0) return;
    this.measured = true;
    const [box, known] = [this.svg.getBBox(), this.svg.viewBox.baseVal];
    const [left, top] = [Math.min(known.x, box.x - 4), Math.min(known.y, box.y - 4)];
    const width = Math.max(known.x + known.width, box.x + box.width + 4) - left;
    const height = Math.max(known.y + known.height, box.y + box.height + 4) - top;
    this.size = { width, height };
    this.svg.setAttribute("viewBox", `${left} ${top} ${width} ${height}`);
  }

  zoom(factor: number, x = this.frame.clientWidth / 2, y = this.frame.clientHeight / 2): void {
    this.fitted = false;
    const { frame, scale } = this;
    const [left, top] = [(frame.scrollLeft + x) / scale, (frame.scrollTop + y) / scale];
    this.resize(Math.min(Math.max(scale * factor, 0.02), 8));
    frame.scrollLeft = left * this.scale - x;
    frame.scrollTop = top * this.scale - y;
  }

  private resize(scale: number): void {
    this.scale = scale;
    this.svg?.setAttribute("width", String(Math.floor(this.size.width * scale)));
    this.svg?.setAttribute("height", String(Math.floor(this.size.height * scale)));
  }

  private listen(): void {
    const { frame } = this;
    let moved = 0;
    frame.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const box = frame.getBoundingClientRect();
        this.zoom(Math.exp(-event.deltaY / 500), event.clientX - box.left, event.clientY - box.top);
      },
      { passive: false },
    );
    frame.addEventListener("pointerdown", () => (moved = 0));
    frame.addEventListener("pointermove", (event) => {
      if (event.buttons !== 1) return;
      moved += Math.abs(event.movementX) + Math.abs(event.movementY);
      frame.scrollLeft -= event.movementX;
      frame.scrollTop -= event.movementY;
    });
    // A drag is no click.
    frame.addEventListener("click", (event) => void (moved >= 6 && event.stopPropagation()), { capture: true });
  }
}

function noteOf(state: StateAnswer | null, enabled: number): string {
  if (!state) return "The tokens of this state are not known.";
  if (state.sink) return "The property can no longer be violated: the states from here on are drawn as one, so there are no tokens to show.";
  if (enabled === 0) return "No transition can fire.";
  const some = `${count(enabled, "transition")} can fire: click ${enabled === 1 ? "it" : "one"}, or press Tab and Enter.`;
  return state.steps > state.outgoing.length ? `${some} Only ${state.outgoing.length} of ${count(state.steps, "step")} are listed, so there may be more.` : some;
}
