// Walking: a run with a cursor in it. Steps forward and backward, undo, playing, and traces to take away.
import { button, count, make, refill, save } from "./dom";
import { valuesOf } from "./values";
import type { Counterexample, Moment, RunStep, StateAnswer, Transition } from "./wire";

export interface WalkHost {
  state(node: number): Promise<StateAnswer>;
  /** The walk has changed: draw it. */
  walked(path: Transition[], cursor: number, node: number): void;
  /** Shows a transition's source. */
  look(edge: number): void;
  say(text: string): void;
  complain(error: unknown): void;
  wantCounterexample(which: "shortest" | "next" | "random"): void;
  wantTraceFile(): void;
  wantWay(): void;
}

const NOWHERE: Moment = { start: 0, path: [], cursor: 0, lasso: null };

export class Walk {
  readonly element = make("section", { id: "walk" });
  private now = NOWHERE;
  private history: Moment[] = [];
  private state: StateAnswer | null = null;
  private chosen = 0;
  private playing: number | undefined;
  private abstracted = false;

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

  /** What is known of the present state. */
  get here(): StateAnswer | null {
    return this.state;
  }

  /** All of the walk, to come back to it. */
  get moment(): Moment {
    return this.now;
  }

  restore(moment: Moment): Promise<void> {
    return this.next(() => this.go(moment, false));
  }

  /** Forgets everything: another model was opened. */
  reset(): void {
    this.epoch += 1;
    this.pause();
    this.history = [];
    this.now = NOWHERE;
    this.state = null;
    this.render();
  }

  /** Moves wait for those before them: however quickly keys are pressed, each starts where the last one ended. */
  private queue: Promise<void> = Promise.resolve();
  /** Counts models: moves through an earlier one are not made. */
  private epoch = 0;

  private next(move: () => Promise<void> | void): Promise<void> {
    const epoch = this.epoch;
    const made = this.queue.then(() => (epoch === this.epoch ? move() : undefined));
    this.queue = made.catch((error: unknown) => this.host.complain(error));
    return this.queue;
  }

  private async go(next: Moment, keep = true): Promise<void> {
    if (keep) this.history.push(this.now);
    this.now = next;
    const node = this.node;
    let state: StateAnswer | null = null;
    try {
      state = await this.host.state(node);
    } catch (error) {
      if (next === this.now) this.host.complain(error);
    }
    // Another model was opened before the answer came.
    if (next !== this.now) return;
    this.state = state;
    // The way on is the walk's own, where it has one.
    const following = this.following?.edge;
    this.chosen = following === undefined ? 0 : (state?.outgoing.findIndex((step) => step.edge === following) ?? -1);
    this.render();
    this.host.walked(this.now.path, this.now.cursor, node);
  }

  /** The step of the walk that comes next; what repeats itself goes on at its start. */
  private get following(): Transition | undefined {
    const { path, cursor, lasso } = this.now;
    return path[cursor] ?? (lasso === null ? undefined : path[lasso]);
  }

  /** Starts at a state. */
  startAt(node: number): Promise<void> {
    return this.next(() => this.go({ ...NOWHERE, start: node }));
  }

  /** Takes a transition out of the present state. */
  forward(step: Transition): Promise<void> {
    return this.next(() => this.pass(step));
  }

  private pass(step: Transition): Promise<void> | void {
    const { path, cursor, lasso } = this.now;
    if (step.source !== this.node) return;
    if (this.following?.edge === step.edge) return this.go({ ...this.now, cursor: (cursor < path.length ? cursor : lasso!) + 1 });
    return this.go({ ...this.now, path: [...path.slice(0, cursor), step], cursor: cursor + 1, lasso: null });
  }

  /** Goes back along the walk, or along a transition into its first state. */
  back(step?: Transition): Promise<void> {
    return this.next(() => {
      const { path, cursor, lasso } = this.now;
      if (!step && cursor > 0) return this.go({ ...this.now, cursor: cursor - 1 });
      const into = step ?? this.state?.incoming[0];
      if (!into) return this.host.say("Nothing leads to this state.");
      if (cursor > 0) return this.go({ start: into.source, path: [into], cursor: 0, lasso: null });
      return this.go({ start: into.source, path: [into, ...path], cursor: 0, lasso: lasso === null ? null : lasso + 1 });
    });
  }

  undo(): Promise<void> {
    return this.next(() => {
      const before = this.history.pop();
      if (!before) return this.host.say("There is nothing to undo.");
      return this.go(before, false);
    });
  }

  jump(cursor: number): Promise<void> {
    return this.next(() => this.go({ ...this.now, cursor }));
  }

  choose(change: number): void {
    void this.next(() => {
      const count = this.state?.outgoing.length ?? 0;
      if (count === 0) return;
      // The walk's own way is not listed where there are very many.
      const from = this.chosen < 0 && change < 0 ? 0 : this.chosen;
      this.chosen = (from + change + count) % count;
      this.render();
      this.host.look(this.state!.outgoing[this.chosen]!.edge);
    });
  }

  /** Takes the step that is chosen. */
  take(): Promise<void> {
    return this.next(() => {
      const step = this.chosen < 0 ? this.following : this.state?.outgoing[this.chosen];
      if (step) return this.pass(step);
      this.host.say("Nothing can happen here.");
    });
  }

  /** Takes a run as the walk, at its start or at its end; tells whether there is one. Keys that are pressed meanwhile wait for it. */
  async load(asked: Counterexample | Promise<Counterexample>, end = false): Promise<boolean> {
    this.pause();
    const run = Promise.resolve(asked);
    // Whoever waits for it hears of it.
    run.catch(() => undefined);
    let loaded = false;
    await this.next(async () => {
      const { steps, lasso } = await run;
      loaded = true;
      await this.go({ start: 0, path: steps, cursor: end ? steps.length : 0, lasso });
    });
    return loaded;
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
      void this.next(() => this.go({ ...this.now, cursor: Math.min(next, this.now.path.length) }, false));
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
    const { path, lasso } = this.now;
    const labels = path.map((step) => step.label);
    if (labels.length === 0) return this.host.say("The walk is empty: there is no trace to save.");
    // A label with quotation marks of its own stands without.
    const quoted = (label: string) => (label.includes('"') ? label : `"${label}"`);
    const end = (at: number) => (at + 1 === labels.length && lasso !== null ? lasso : at + 1);
    const states = lasso === null ? labels.length + 1 : labels.length;
    const text =
      format === "txt"
        ? labels.join("\n") + "\n"
        : `des (0, ${labels.length}, ${states})\n` +
          labels.map((label, at) => `(${at}, ${quoted(label)}, ${end(at)})\n`).join("");
    save(`trace.${format}`, new Blob([text], { type: "text/plain" }));
  }

  private list(title: string, hint: string, steps: Transition[], chosen: number, click: (step: Transition) => void): HTMLElement {
    const items = steps.map((step, at) => {
      const item = button("", `${step.tag}: ${hint}`, () => click(step), `${chosen < 0 ? "here" : "on"}-${at}`);
      item.className = `step ${step.tag}${at === chosen ? " chosen" : ""}`;
      item.append(make("i", { className: `line ${step.tag}` }), step.label);
      item.onmouseenter = () => this.host.look(step.edge);
      return item;
    });
    return make("div", { className: "steps" }, make("h3", { textContent: title }), ...items);
  }

  private render(): void {
    const state = this.state;
    const walked = make("ol", { id: "path" });
    this.now.path.forEach((step, at) => {
      const matters = !("matters" in step) || step.matters;
      if (this.abstracted && !matters) return;
      const item = make("li", { className: `${step.tag}${at < this.now.cursor ? " done" : ""}${matters ? "" : " noise"}`, value: at + 1 });
      const link = button(step.label, `${step.tag}; go to the state after this step`, () => void this.jump(at + 1), `step-${at + 1}`);
      item.append(link);
      if (this.now.lasso === at) item.append(make("span", { className: "hint", textContent: " repeated for ever from here" }));
      walked.append(item);
    });
    const title = !state
      ? "No state"
      : state.sink
        ? "Sink: safe for good"
        : `State ${state.state}${state.initial ? ", initial" : ""}${state.goal ? ", violation" : ""}${state.kind ? `, neighbourhood ${state.kind}` : ""}`;
    const play = button(this.playing === undefined ? "▶ Play" : "⏸ Pause", "Play the walk step by step (P)", () => this.play(), "play");
    const box = make("input", { type: "checkbox", checked: this.abstracted, id: "abstracted", onchange: () => this.flipAbstracted() });
    refill(
      this.element,
      make(
        "div",
        { className: "bar" },
        button("Shortest", "Load the shortest counterexample (C)", () => this.host.wantCounterexample("shortest"), "shortest"),
        button("Next", "Load the next longer counterexample (N)", () => this.host.wantCounterexample("next"), "next"),
        button("Random", "Load a random counterexample (R)", () => this.host.wantCounterexample("random"), "random"),
        button("From file…", "Load a counterexample: .aut, or one label per line (I)", () => this.host.wantTraceFile(), "from-file"),
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
      state ? valuesOf(state.instances) : "",
      state && !state.initial ? make("div", { className: "bar" }, button("Shortest way here", "Walk a shortest way from the initial state to this one (H)", () => this.host.wantWay(), "way")) : "",
      state ? this.list(`${count(state.steps, "step")} from here`, "click to take it; ↑ and ↓ choose, → takes", state.outgoing, this.chosen, (step) => void this.forward(step)) : "",
      state && state.incoming.length > 0
        ? make(
            "details",
            {},
            make("summary", { textContent: `${count(state.incoming.length, "step")} to here`, id: "ways-here" }),
            this.list("", "click to go back along it", state.incoming, -1, (step) => void this.back(step)),
          )
        : "",
      state && state.left_out > 0 ? make("p", { className: "hint", textContent: `${state.left_out} more not listed.` }) : "",
      make("h3", { textContent: this.now.path.length ? `The walk: ${this.now.cursor} of ${count(this.now.path.length, "step")}` : "The walk" }),
      this.now.path.length
        ? walked
        : make("p", { className: "hint", textContent: "Click a state to start there, or load a counterexample." }),
      this.now.path.length
        ? make(
            "div",
            { className: "bar" },
            button("Save .txt", "Save the walk as labels, one per line (W)", () => this.saveTrace("txt"), "save-txt"),
            button("Save .aut", "Save the walk as a transition system", () => this.saveTrace("aut"), "save-aut"),
          )
        : "",
    );
  }
}
