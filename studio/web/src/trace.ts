// The walk as a table: a row for each step and a lane for each instance, with the values that the step gave it.
import { button, count, make, pressable, refill } from "./dom";
import { short } from "./listing";
import type { ActionPlace, InstanceValues, Moment, Place, Trace } from "./wire";

export interface TraceHost {
  trace(start: number, edges: number[]): Promise<Trace>;
  /** Goes to the state after so many steps. */
  jump(cursor: number): void;
  /** Opens the source at some places. */
  open(places: Place[], word: string): void;
}

/** Longer walks are shown in parts. */
const MOST_ROWS = 200;

export class TracePanel {
  readonly element = make("section", { id: "trace" });
  private moment: Moment = { start: 0, path: [], cursor: 0, lasso: null };
  private table: Trace | null = null;
  /** What the table is of: the first step that it shows, and the transitions of all. */
  private from = 0;
  private known = "";
  private failure = "";
  private all = false;

  constructor(private host: TraceHost) {
    this.render();
  }

  /** Another model is opened. */
  clear(): void {
    this.moment = { start: 0, path: [], cursor: 0, lasso: null };
    this.table = null;
    this.known = this.failure = "";
    this.render();
  }

  /** The walk is another one, or has gone on. What nobody looks at is not asked for. */
  async show(moment: Moment): Promise<void> {
    this.moment = moment;
    if (this.element.hidden) return;
    const { path, cursor } = moment;
    const inside = cursor >= this.from && cursor <= this.from + MOST_ROWS;
    const from = path.length <= MOST_ROWS ? 0 : inside ? this.from : Math.max(0, Math.min(cursor - MOST_ROWS / 2, path.length - MOST_ROWS));
    const part = path.slice(from, from + MOST_ROWS);
    const start = part[0]?.source ?? moment.start;
    const key = `${start}: ${part.map((step) => step.edge).join(" ")}`;
    if (key === this.known) return this.render();
    this.known = key;
    let table: Trace | null = null;
    let failure = "";
    try {
      table = await this.host.trace(
        start,
        part.map((step) => step.edge),
      );
    } catch (error) {
      failure = (error as Error).message;
    }
    // Another walk was shown before the answer came.
    if (key !== this.known) return;
    [this.table, this.failure, this.from] = [table, failure, from];
    this.render();
  }

  private render(): void {
    const table = this.table;
    const steps = this.moment.path.length;
    const box = make("input", { type: "checkbox", id: "all-values", checked: this.all });
    box.onchange = () => {
      this.all = box.checked;
      this.render();
    };
    const shown = table?.steps.length ?? 0;
    const part = shown < steps ? `steps ${this.from + 1} to ${this.from + shown} of ${count(steps, "step")}` : count(steps, "step");
    refill(
      this.element,
      make(
        "div",
        { className: "bar" },
        make("b", { textContent: steps ? `The walk: ${part}` : "The walk has no steps yet" }),
        make("label", { title: "The values of all variables after every step, not only those that change" }, box, " all values"),
        this.from > 0 ? button("Earlier", "Show earlier steps", () => this.host.jump(Math.max(0, this.from - MOST_ROWS / 2)), "earlier") : "",
        this.from + shown < steps ? button("Later", "Show later steps", () => this.host.jump(Math.min(steps, this.from + shown + MOST_ROWS / 2)), "later") : "",
      ),
      steps ? "" : make("p", { className: "hint", textContent: "Press C for the shortest counterexample, or click a state and walk from there." }),
      this.failure ? make("p", { className: "hint", textContent: this.failure }) : "",
      table ? make("div", { className: "lanes" }, this.rows(table)) : "",
      table ? this.waiting(table) : "",
    );
    this.element.querySelector("tr.now")?.scrollIntoView({ block: "nearest" });
  }

  private rows(table: Trace): HTMLElement {
    // Who takes part, then who only has values.
    const names = table.states.length > 0 && table.steps.length === 0 ? [] : [...table.lanes.names];
    for (const { instance, values } of table.states.flat()) {
      if (values.length > 0 && !names.includes(instance)) names.push(instance);
    }
    const head = make("tr", {}, make("th", { textContent: "#", scope: "col" }), make("th", { textContent: "step", scope: "col" }));
    names.forEach((name) => head.append(make("th", { textContent: name || "values", scope: "col", className: name ? "lane" : "lane whole" })));
    const body = make("tbody");
    if (this.from === 0 || table.states.length > 0) {
      const word = this.from === 0 ? "start" : `after step ${this.from}`;
      const row = this.row(this.from, make("td", { textContent: word }), table.states[0] ?? [], names, [], true);
      body.append(row);
    }
    table.steps.forEach((step, at) => {
      const number = this.from + at + 1;
      const title = `${step.tag}${step.leaves ? ", leaves a choice" : ""}; go to the state after this step`;
      const label = make("td", { className: step.tag }, button(step.label, title, () => this.host.jump(number), `trace-${number}`));
      if (this.moment.lasso === number - 1) label.append(make("span", { className: "hint", textContent: " repeated for ever from here" }));
      const row = this.row(number, label, table.states[at + 1] ?? [], names, table.lanes.touched[at] ?? [], false);
      row.classList.add(`tag-${step.tag}`);
      if (step.leaves) row.classList.add("choice");
      if (!step.matters) row.classList.add("noise");
      row.ondblclick = () => this.host.open(step.actions, step.label);
      body.append(row);
    });
    return make("table", { id: "trace-table" }, make("thead", {}, head), body);
  }

  private row(number: number, label: HTMLElement, state: InstanceValues[], names: string[], touched: number[], start: boolean): HTMLTableRowElement {
    const row = make("tr", { className: number === this.moment.cursor ? "now" : number < this.moment.cursor ? "done" : "", data: { step: String(number) } });
    if (number === this.moment.cursor) row.setAttribute("aria-current", "step");
    row.append(make("td", { className: "number", textContent: start ? "" : String(number) }), label);
    const [first, last] = [touched[0] ?? -1, touched.at(-1) ?? -1];
    names.forEach((name, lane) => {
      const strip = make("div", { className: "strip" });
      if (lane > first && lane <= last) strip.append(make("i", { className: "to" }));
      if (lane >= first && lane < last) strip.append(make("i", { className: "from" }));
      if (touched.includes(lane)) strip.append(make("i", { className: "dot", title: `${name || "it"} takes part` }));
      // What belongs to nobody in particular is no lane.
      const cell = make("td", { className: name ? "lane" : "lane whole" }, name ? strip : "");
      const values = state.find((one) => one.instance === name)?.values ?? [];
      for (const { name: variable, value, before, changed } of values) {
        if (!changed && !start && !this.all) continue;
        const text = changed && before !== undefined && !this.all ? `${variable} ${before} → ${value}` : `${variable} = ${value}`;
        cell.append(make("div", { className: changed ? "value changed" : "value", textContent: text }));
      }
      row.append(cell);
    });
    return row;
  }

  /** Who waits for whom, where nothing can happen any more. */
  private waiting(table: Trace): HTMLElement | string {
    const end = this.from + table.steps.length === this.moment.path.length;
    if (table.waiting.length === 0 || !end) return "";
    const who = (action: ActionPlace) => action.instance ?? action.process;
    const list = make("ul", { id: "waiting" });
    for (const { action, offer, why } of table.waiting) {
      const where = `${short(action.file)}:${action.line}:${action.column}`;
      const item = make("li", { title: "Click to see where it stands" }, make("b", { textContent: who(action) }), ` stands at ${where} and offers `, make("code", { textContent: offer }), `: ${why}`);
      list.append(make("div", {}, pressable(item, () => this.host.open([action], `${who(action)} waits here.`))));
    }
    const cycle = table.waiting_cycle;
    return make(
      "div",
      {},
      make("h3", { textContent: "At the end nothing can happen any more" }),
      cycle ? make("p", { id: "waiting-cycle", textContent: cycle.map((name, at) => `${name} waits for ${cycle[(at + 1) % cycle.length]}`).join(", ") + "." }) : "",
      list,
    );
  }
}
