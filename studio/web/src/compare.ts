// Two models compared: both are drawn, and what only one of them can do is walked in both.
import type { LiveProject, Program } from "./backend";
import { button, count, make, refill } from "./dom";
import type { Palette } from "./palette";
import { Space } from "./space";
import { RELATIONS, SEVERAL, type Compared, type ComparedSide, type Scene } from "./wire";

export interface CompareHost {
  /** The model that is shown, or nothing where none can be compared. */
  project(): LiveProject | null;
  name(): string;
  /** Draws a walk in the picture of that model. */
  draw(edges: number[], node: number): void;
  /** There is less room for that picture, or more again. */
  resized(): void;
  say(text: string): void;
  complain(error: unknown): void;
}

export class ComparePanel {
  readonly element = make("section", { id: "compare" });
  /** Where the other model is drawn. */
  readonly holder = make("div", { id: "other", hidden: true });
  private caption = make("div", { id: "other-name", className: "hint" });
  private other = make("select", { id: "compare-with" });
  private relation = make("select", { id: "compare-by" }, ...RELATIONS.map((name) => make("option", { value: name, textContent: name })));
  private body = make("div", { id: "compared" });
  private space: Space | null = null;
  private scene: Scene | null = null;
  private shown: LiveProject | null = null;
  private found: Compared | null = null;
  private cursor = 0;
  private labelled = false;
  /** Counts questions: the answer to an earlier one is not shown. */
  private asked = 0;

  constructor(
    private program: Program,
    private host: CompareHost,
    private palette: () => Palette,
  ) {
    this.other.setAttribute("aria-label", "The model to compare with");
    this.relation.setAttribute("aria-label", "When they count as the same");
    this.holder.append(this.caption);
    this.element.append(
      make("p", { className: "hint", textContent: "Draws another open model beside this one, and shows what only one of them can do." }),
      make("div", { className: "bar" }, "with ", this.other, " by ", this.relation, button("Compare", "Compare both models", () => void this.run(), "compare-run")),
      this.body,
    );
    this.other.onchange = this.relation.onchange = () => this.forget();
  }

  /** The panel is opened: lists the other models. */
  async open(): Promise<void> {
    const own = this.host.project()?.id;
    const before = this.other.value;
    const all = (await this.program.projects().catch(() => [])).filter((one) => one.id !== own);
    this.other.replaceChildren(...all.map((one) => make("option", { value: String(one.id), textContent: one.name, selected: String(one.id) === before })));
    if (all.length === 0) this.body.replaceChildren(make("p", { className: "hint", textContent: "There is no other open model: open a second one with Models (G), and come back to this one." }));
    else if (!this.found) this.body.replaceChildren();
    if (!this.found || !this.holder.hidden) return;
    this.holder.hidden = false;
    this.host.resized();
  }

  /** The panel is closed: the other model is not drawn any more. */
  close(): void {
    if (this.holder.hidden) return;
    this.holder.hidden = true;
    this.host.resized();
  }

  /** Another model is shown. */
  forget(): void {
    this.asked += 1;
    this.found = null;
    this.close();
    this.body.replaceChildren();
  }

  theme(): void {
    this.space?.setPalette(this.palette());
    if (this.found) this.walk();
  }

  /** Labels are shown in both pictures, or in none. */
  labels(shown: boolean): void {
    this.labelled = shown;
    this.space?.setLabels(shown);
  }

  private async run(): Promise<void> {
    const project = this.host.project();
    const other = Number(this.other.value);
    if (!project || !other) return this.host.say("Open a second model first (G), and come back to this one.");
    this.forget();
    const number = this.asked;
    this.body.replaceChildren(make("p", { className: "hint", textContent: "Comparing…" }));
    try {
      const found = await project.compare(other, this.relation.value);
      if (number !== this.asked) return;
      this.found = found;
      this.cursor = 0;
      this.render();
      await this.draw(this.program.project(other), number);
    } catch (error) {
      if (number === this.asked) this.body.replaceChildren(make("p", { className: "error", textContent: (error as Error).message }));
    }
  }

  /** Draws the other model, until it is at rest. */
  private async draw(other: LiveProject, number: number): Promise<void> {
    this.holder.hidden = false;
    this.host.resized();
    this.space ??= new Space(this.holder);
    this.shown = other;
    const space = this.space;
    space.setPalette(this.palette());
    space.setLabels(this.labelled);
    const summary = await other.summary();
    const scene = await other.scene();
    if (number !== this.asked) return;
    this.caption.textContent = `${summary.name}: ${count(summary.nodes, "state")}`;
    this.scene = scene;
    space.setScene(scene, (edge) => (scene.labels[edge] === SEVERAL ? `${scene.counts[edge]} transitions` : (summary.labels[scene.labels[edge]!] ?? "?")));
    for (let settled = false; !settled; ) {
      const positions = await other.positions();
      if (number !== this.asked || positions.version !== scene.version) return;
      space.setPositions(positions.values);
      if (!space.turned) space.fit();
      settled = positions.settled;
      if (!settled) await new Promise((next) => window.setTimeout(next, 150));
    }
    this.walk();
  }

  /** Goes on along what only one of them can do; whether there is such a walk. */
  move(by: 1 | -1): boolean {
    const last = this.found?.trace?.length ?? 0;
    if (last === 0) return false;
    this.go(Math.min(last, Math.max(0, this.cursor + by)));
    return true;
  }

  private go(cursor: number): void {
    this.cursor = cursor;
    this.render();
    this.walk();
  }

  private static upTo(side: ComparedSide, cursor: number): { edges: number[]; node: number } {
    const steps = side.steps.slice(0, side.after[Math.min(cursor, side.after.length - 1)] ?? side.steps.length);
    return { edges: steps.map((step) => step.edge), node: steps.at(-1)?.target ?? 0 };
  }

  /** Draws the walk in both. */
  private walk(): void {
    const { found, space, scene, shown } = this;
    if (!found || !space || !scene || !shown || !found.trace) return;
    const left = ComparePanel.upTo(found.left, this.cursor);
    this.host.draw(left.edges, left.node);
    const right = ComparePanel.upTo(found.right, this.cursor);
    void Promise.all([shown.drawn(right.edges), shown.state(right.node)]).then(([drawn, state]) => {
      if (scene !== this.scene) return;
      space.highlight("path", drawn.filter((one): one is number => one !== null));
      space.mark(state.place);
      space.follow([state.place]);
    }, (error: unknown) => this.host.complain(error));
  }

  private render(): void {
    const found = this.found!;
    const names = { left: this.host.name(), right: this.other.selectedOptions[0]?.textContent ?? "the other model" };
    const verdict = found.equivalent ? "are equivalent" : "are not equivalent";
    const parts: (HTMLElement | string)[] = [
      make("p", { id: "compare-verdict", className: `verdict ${found.equivalent ? "correct" : "incorrect"}`, textContent: `${names.left} and ${names.right} ${verdict} (${found.relation}).` }),
    ];
    if (found.remark) parts.push(make("p", { textContent: found.remark }));
    if (found.trace && found.only) {
      const last = found.trace.length;
      const [who, not] = found.only === "left" ? [names.left, names.right] : [names.right, names.left];
      parts.push(
        make("h3", { textContent: found.moves ? `A walk to where only ${who} can go on` : `Only ${who} can do this to the end` }),
        found.moves ? make("p", { className: "hint", textContent: "One of them chooses each step, and the other answers with the same label; other answers don't help it." }) : "",
        make("div", { className: "bar" }, button("◀", "One step back in both (←)", () => void this.move(-1), "compare-back"), button("▶", "One step on in both (→)", () => void this.move(1), "compare-on"), make("span", { className: "hint", id: "compare-at", textContent: `${this.cursor} of ${count(last, "step")}` })),
      );
      const list = make("ol", { id: "distinguishing" });
      found.trace.forEach((label, at) => {
        const item = make("li", { className: at < this.cursor ? "done" : "" }, button(label, "Go there in both models", () => this.go(at + 1), `compare-${at + 1}`));
        const moves = found.moves?.[at];
        if (moves) item.append(make("span", { className: "hint", textContent: ` chosen by ${names[moves]}` }));
        if (at + 1 === last) item.append(make("span", { className: "hint", textContent: `${moves ? "," : ""} not possible here in ${not}` }));
        list.append(item);
      });
      parts.push(list);
      const cut = (["left", "right"] as const).filter((side) => found[side].cut).map((side) => names[side]);
      if (cut.length > 0) parts.push(make("p", { className: "hint", textContent: `In ${cut.join(" and ")} the rest of this walk is not drawn: the property is safe for good there. Choose a property that holds, or none, to see all of it.` }));
    }
    if (found.formula) {
      parts.push(make("h3", { textContent: `This formula holds in ${names.left} only` }), make("pre", { id: "compare-formula", textContent: found.formula }));
    }
    refill(this.body, ...parts);
  }
}
