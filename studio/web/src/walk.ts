// Walking: a run with a cursor in it. Steps forward and backward, undo, playing, and traces to take away.
import { button, count, make, save } from "./dom";
import type { Counterexample, RunStep, StateAnswer, Transition } from "./wire";

export interface WalkHost {
  state(node: number): Promise<StateAnswer>;
  /** The walk has changed: draw it. */
  walked(path: Transition[], cursor: number, node: number): void;
  /** Shows a transition's source. */
  look(edge: number): void;
  say(text: string): void;
  wantCounterexample(which: "shortest" | "next" | "random"): void;
  wantTraceFile(): void;
}

interface Moment {
  start: number;
  path: (Transition | RunStep)[];
  cursor: number;
}

export class Walk {
  readonly element = make("section", { id: "walk" });
  private now: Moment = { start: 0, path: [], cursor: 0 };
  private history: Moment[] = [];
  private state: StateAnswer | null = null;
  private chosen = 0;
  private playing: number | undefined;
  private abstracted = false;
  private lasso: number | null = null;

  constructor(private host: WalkHost) {
    this.render();
  }

  get path(): (Transition | RunStep)[] {
    return this.now.path;
  }

  get cursor(): number {
    return this.now.cursor;
  }

  get node(): number {
    const last = this.now.path[this.now.cursor - 1];
    return last ? last.target : (this.now.path[0]?.source ?? this.now.start);
  }

  /** Forgets everything: another model was opened. */
  reset(): void {
    this.pause();
    this.history = [];
    this.lasso = null;
    this.now = { start: 0, path: [], cursor: 0 };
    this.state = null;
    this.render();
  }

  /** The step that is being taken: the next one starts where it ends. */
  private pending: Promise<void> = Promise.resolve();

  private go(next: Moment, keep = true): Promise<void> {
    this.pending = this.arrive(next, keep);
    return this.pending;
  }

  private async arrive(next: Moment, keep: boolean): Promise<void> {
    if (keep) this.history.push(this.now);
    this.now = next;
    this.chosen = 0;
    const node = this.node;
    try {
      const state = await this.host.state(node);
      if (node !== this.node) return;
      this.state = state;
    } catch (error) {
      this.host.say((error as Error).message);
    }
    this.render();
    this.host.walked(this.now.path, this.now.cursor, node);
  }

  /** Starts at a state. */
  startAt(node: number): Promise<void> {
    this.lasso = null;
    return this.go({ start: node, path: [], cursor: 0 });
  }

  /** Takes a transition out of the present state. */
  forward(step: Transition): Promise<void> {
    const { path, cursor } = this.now;
    if (path[cursor]?.edge === step.edge) return this.go({ ...this.now, cursor: cursor + 1 });
    this.lasso = null;
    return this.go({ ...this.now, path: [...path.slice(0, cursor), step], cursor: cursor + 1 });
  }

  /** Goes back along the walk, or along a transition into its first state. */
  async back(step?: Transition): Promise<void> {
    await this.pending;
    const { path, cursor } = this.now;
    if (!step && cursor > 0) return this.go({ ...this.now, cursor: cursor - 1 });
    const into = step ?? this.state?.incoming[0];
    if (!into) return this.host.say("Nothing leads to this state.");
    if (cursor > 0) return this.go({ start: into.source, path: [into], cursor: 0 });
    return this.go({ start: into.source, path: [into, ...path], cursor: 0 });
  }

  async undo(): Promise<void> {
    await this.pending;
    const before = this.history.pop();
    if (!before) return this.host.say("There is nothing to undo.");
    return this.go(before, false);
  }

  jump(cursor: number): Promise<void> {
    return this.go({ ...this.now, cursor });
  }

  choose(change: number): void {
    const count = this.state?.outgoing.length ?? 0;
    if (count === 0) return;
    this.chosen = (this.chosen + change + count) % count;
    this.render();
    this.host.look(this.state!.outgoing[this.chosen]!.edge);
  }

  async take(): Promise<void> {
    await this.pending;
    const following = this.now.path[this.now.cursor];
    const step = this.chosen === 0 && following ? following : this.state?.outgoing[this.chosen];
    if (step) return this.forward(step);
    this.host.say("Nothing can happen here.");
  }

  load(run: Counterexample): Promise<void> {
    this.pause();
    this.lasso = run.lasso;
    return this.go({ start: 0, path: run.steps, cursor: 0 });
  }

  flipAbstracted(): void {
    this.abstracted = !this.abstracted;
    this.render();
  }

  play(): void {
    if (this.playing !== undefined) return this.pause();
    if (this.now.path.length === 0) return this.host.say("There is nothing to play: walk, or load a counterexample.");
    if (this.now.cursor >= this.now.path.length) this.now = { ...this.now, cursor: 0 };
    const advance = () => {
      let next = this.now.cursor + 1;
      const skip = (at: number) => this.abstracted && (this.now.path[at - 1] as RunStep | undefined)?.matters === false;
      while (next < this.now.path.length && skip(next)) next += 1;
      void this.go({ ...this.now, cursor: Math.min(next, this.now.path.length) }, false);
      if (next >= this.now.path.length) this.pause();
    };
    this.playing = window.setInterval(advance, 700);
    this.render();
  }

  private pause(): void {
    window.clearInterval(this.playing);
    this.playing = undefined;
    this.render();
  }

  saveTrace(format: "txt" | "aut"): void {
    const labels = this.now.path.map((step) => step.label);
    if (labels.length === 0) return this.host.say("The walk is empty: there is no trace to save.");
    // A label with quotation marks of its own stands without.
    const quoted = (label: string) => (label.includes('"') ? label : `"${label}"`);
    const end = (at: number) => (at + 1 === labels.length && this.lasso !== null ? this.lasso : at + 1);
    const states = this.lasso === null ? labels.length + 1 : labels.length;
    const text =
      format === "txt"
        ? labels.join("\n") + "\n"
        : `des (0, ${labels.length}, ${states})\n` +
          labels.map((label, at) => `(${at}, ${quoted(label)}, ${end(at)})\n`).join("");
    save(`trace.${format}`, new Blob([text], { type: "text/plain" }));
  }

  private list(title: string, hint: string, steps: Transition[], chosen: number, click: (step: Transition) => void): HTMLElement {
    const items = steps.map((step, at) => {
      const item = button("", `${step.tag}: from state ${step.source} to ${step.target}`, () => click(step));
      item.className = `step ${step.tag}${at === chosen ? " chosen" : ""}`;
      item.append(make("i", { className: `line ${step.tag}` }), step.label);
      item.onmouseenter = () => this.host.look(step.edge);
      return item;
    });
    return make("div", { className: "steps" }, make("h3", { textContent: title, title: hint }), ...items);
  }

  private render(): void {
    const state = this.state;
    const walked = make("ol", { id: "path" });
    this.now.path.forEach((step, at) => {
      const matters = !("matters" in step) || step.matters;
      if (this.abstracted && !matters) return;
      const item = make("li", { className: `${step.tag}${at < this.now.cursor ? " done" : ""}${matters ? "" : " noise"}`, value: at + 1 });
      const link = button(step.label, `${step.tag}; go to the state after this step`, () => void this.jump(at + 1));
      item.append(link);
      if (this.lasso === at) item.append(make("span", { className: "hint", textContent: " repeated for ever from here" }));
      walked.append(item);
    });
    const title = !state
      ? "No state"
      : state.sink
        ? "Sink: safe for good"
        : `State ${state.state}${state.initial ? ", initial" : ""}${state.goal ? ", violation" : ""}${state.kind ? `, neighbourhood ${state.kind}` : ""}`;
    const values = make("dl", { className: "values" });
    state?.values.forEach(([name, value]) => values.append(make("dt", { textContent: name }), make("dd", { textContent: value })));
    const play = button(this.playing === undefined ? "▶ Play" : "⏸ Pause", "Play the walk step by step (P)", () => this.play(), "play");
    const box = make("input", { type: "checkbox", checked: this.abstracted, id: "abstracted", onchange: () => this.flipAbstracted() });
    this.element.replaceChildren(
      make(
        "div",
        { className: "bar" },
        button("Shortest", "Load the shortest counterexample (C)", () => this.host.wantCounterexample("shortest"), "shortest"),
        button("Next", "Load the next longer counterexample (N)", () => this.host.wantCounterexample("next"), "next"),
        button("Random", "Load a counterexample drawn at random (R)", () => this.host.wantCounterexample("random"), "random"),
        button("From file…", "Load a counterexample: .aut, or a label a line (I)", () => this.host.wantTraceFile(), "from-file"),
      ),
      make(
        "div",
        { className: "bar" },
        play,
        button("◀", "One step back (←)", () => void this.back(), "back"),
        button("▶", "One step forward (→)", () => void this.take(), "forward"),
        button("Undo", "Undo (U)", () => void this.undo(), "undo"),
        make("label", { title: "Only the steps that belong to neighbourhoods (A)" }, box, " abstracted"),
      ),
      make("h3", { id: "here", textContent: title }),
      values,
      state ? this.list(`${count(state.outgoing.length, "way")} on`, "click one to take it; ↑ ↓ choose, → takes", state.outgoing, this.chosen, (step) => void this.forward(step)) : "",
      state && state.incoming.length > 0
        ? make(
            "details",
            {},
            make("summary", { textContent: `${count(state.incoming.length, "way")} here`, title: "click one to go back along it" }),
            this.list("", "", state.incoming, -1, (step) => void this.back(step)),
          )
        : "",
      state && state.left_out > 0 ? make("p", { className: "hint", textContent: `${state.left_out} more are not listed.` }) : "",
      make("h3", { textContent: this.now.path.length ? `The walk: ${this.now.cursor} of ${count(this.now.path.length, "step")}` : "The walk" }),
      this.now.path.length
        ? walked
        : make("p", { className: "hint", textContent: "Click a state to start there, or load a counterexample." }),
      this.now.path.length
        ? make(
            "div",
            { className: "bar" },
            button("Save .txt", "Save the walk as labels, one a line (W)", () => this.saveTrace("txt"), "save-txt"),
            button("Save .aut", "Save the walk as a transition system", () => this.saveTrace("aut"), "save-aut"),
          )
        : "",
    );
  }
}
