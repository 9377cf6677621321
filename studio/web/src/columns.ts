// Columns and panes that their user makes wider or narrower, and panels in two of them: texts, and what is walked. Both
// are seen at once, or one of all.
import { button, make } from "./dom";
import { remember, remembered } from "./settings";

export type Panel = "source" | "net" | "walk" | "trace" | "compare" | "conformance" | "edit" | "coverage";

const NAMES: Record<Panel, string> = { source: "Source", net: "Net", walk: "Walk", trace: "Trace", compare: "Compare", conformance: "Conformance", edit: "Edit", coverage: "Coverage" };
/** The panels that show where a walk is; all others are texts, or stand beside them. */
const WALKED: Panel[] = ["walk", "trace"];

/** How far a key moves a separator, in pixels. */
const STEP = 24;

export class Columns {
  readonly element: HTMLElement;
  private tabs = make("nav", { className: "tabs" });
  private texts = make("div", { className: "pane" });
  private walked = make("div", { className: "pane" });
  private panes: HTMLElement;
  private beside: HTMLButtonElement;
  private split = false;
  private buttons = new Map<Panel, HTMLButtonElement>();

  /** `opened` is told which panel is shown. */
  constructor(
    private panels: Record<Panel, HTMLElement>,
    offered: Panel[],
    left: HTMLElement,
    pictures: HTMLElement[],
    private opened: (panel: Panel) => void,
  ) {
    this.tabs.setAttribute("aria-label", "Panels");
    for (const [name, panel] of Object.entries(panels) as [Panel, HTMLElement][]) {
      panel.setAttribute("aria-label", NAMES[name]);
      (WALKED.includes(name) ? this.walked : this.texts).append(panel);
    }
    for (const name of offered) this.buttons.set(name, button(NAMES[name], `Show ${NAMES[name].toLowerCase()}`, () => this.show(name), `tab-${name}`));
    this.beside = button("Beside", "Show the walk beside the text, or one of them at a time (\\)", () => this.flipBeside(), "beside");
    this.tabs.append(...this.buttons.values(), make("span", { className: "gap" }), this.beside);
    this.panes = make("div", { className: "panes" }, this.texts, this.separator("--pane", "the walk", 1, () => this.walked, -1), this.walked);
    const right = make("aside", { className: "right" }, this.tabs, this.panes);
    right.setAttribute("aria-label", "Texts and walk");
    this.element = make(
      "div",
      { className: "columns" },
      left,
      make("main", {}, this.separator("--left", "the left column", 0, () => left, 1), ...pictures, this.separator("--right", "the right column", 0, () => right, -1)),
      right,
    );
    for (const name of ["--left", "--right", "--pane"]) {
      const known = remembered(name);
      if (known) this.element.style.setProperty(name, known);
    }
    this.flipBeside(remembered("beside") === "true");
  }

  /** Shows a panel in its pane. */
  show(panel: Panel): void {
    const pane = this.panels[panel].parentElement;
    for (const element of Object.values(this.panels)) {
      if (!this.split || element.parentElement === pane) element.hidden = element !== this.panels[panel];
    }
    this.render();
    this.opened(panel);
  }

  shows(panel: Panel): boolean {
    return !this.panels[panel].hidden;
  }

  /** The panels that are seen, to come back to them. */
  get shown(): Panel[] {
    return (Object.keys(this.panels) as Panel[]).filter((panel) => this.shows(panel));
  }

  /** Whether a panel can be shown. */
  offers(panel: Panel): boolean {
    return this.buttons.get(panel)?.hidden === false;
  }

  /** Offers a panel, or does not: what it shows is not there. */
  offer(panel: Panel, offered: boolean): void {
    const tab = this.buttons.get(panel);
    if (tab) tab.hidden = !offered;
    if (!offered && this.shows(panel)) this.show(this.split && WALKED.includes(panel) ? "walk" : "source");
  }

  get isBeside(): boolean {
    return this.split;
  }

  /** Shows the walk beside the text, or one panel of all. */
  flipBeside(split = !this.split): void {
    this.split = split;
    remember("beside", String(split));
    this.panes.classList.toggle("split", split);
    const [text, walk] = [this.shown.find((panel) => !WALKED.includes(panel)), this.shown.find((panel) => WALKED.includes(panel))];
    if (split) {
      this.show(text ?? "source");
      this.show(walk ?? "walk");
    } else this.show(walk && walk !== "walk" ? walk : (text ?? "source"));
  }

  private render(): void {
    for (const [panel, tab] of this.buttons) {
      tab.classList.toggle("on", this.shows(panel));
      tab.setAttribute("aria-pressed", String(this.shows(panel)));
    }
    this.beside.classList.toggle("on", this.split);
    this.beside.setAttribute("aria-pressed", String(this.split));
    for (const pane of [this.texts, this.walked]) pane.hidden = [...pane.children].every((panel) => (panel as HTMLElement).hidden);
  }

  /**
   * A bar that is dragged, or moved with the arrow keys; a double click takes the change back. `sign` says on which side of
   * it the part lies whose size it sets; `turns` whether the parts may lie one above the other.
   */
  private separator(property: string, what: string, turns: number, part: () => HTMLElement, sign: number): HTMLElement {
    const bar = make("div", { className: "separator", tabIndex: 0, title: "Drag, or press the arrow keys; a double click takes it back" });
    bar.setAttribute("role", "separator");
    bar.setAttribute("aria-label", `Size of ${what}`);
    const stacked = () => turns === 1 && bar.offsetWidth > bar.offsetHeight;
    const size = () => (stacked() ? part().offsetHeight : part().offsetWidth);
    const tell = () => {
      const room = (stacked() ? bar.parentElement?.offsetHeight : this.element.offsetWidth) || 1;
      bar.setAttribute("aria-orientation", stacked() ? "horizontal" : "vertical");
      bar.setAttribute("aria-valuenow", String(Math.round((100 * size()) / room)));
    };
    const set = (pixels: number) => {
      const value = `${Math.max(120, Math.round(pixels))}px`;
      this.element.style.setProperty(property, value);
      remember(property, value);
      tell();
    };
    bar.setAttribute("aria-valuenow", "0");
    bar.onfocus = tell;
    bar.onpointerdown = (event) => {
      event.preventDefault();
      bar.focus();
      bar.setPointerCapture(event.pointerId);
      const [start, from] = [stacked() ? event.clientY : event.clientX, size()];
      bar.onpointermove = (moved) => set(from + sign * ((stacked() ? moved.clientY : moved.clientX) - start));
    };
    bar.onpointerup = bar.onpointercancel = () => (bar.onpointermove = null);
    bar.ondblclick = () => {
      this.element.style.removeProperty(property);
      remember(property, "");
      tell();
    };
    bar.onkeydown = (event) => {
      const by = { ArrowLeft: -STEP, ArrowUp: -STEP, ArrowRight: STEP, ArrowDown: STEP }[event.key];
      if (by === undefined || event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      set(size() + sign * by);
    };
    return bar;
  }
}
