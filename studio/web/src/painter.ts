// Colours states by a condition: on their values, or on the labels of the steps out of them.
import { button, count, make, whileTyping } from "./dom";
import type { Satisfying } from "./wire";

/** How long to wait for another key, in milliseconds. */
const PAUSE = 350;

export class Painter {
  readonly element = make("section", { id: "painter" });
  private input = make("input", { id: "condition", placeholder: "Colour where…", title: "A condition on states: term = 3, NODE (2).voted ≠ 0 and can VOTE. Alternatives are joined by or." });
  private result = make("div", { id: "painted", className: "hint" });
  private forget: () => void;
  /** Counts questions: the answer to an earlier one is not shown. */
  private asked = 0;

  constructor(
    private ask: (condition: string) => Promise<Satisfying>,
    private paint: (found: Satisfying | null) => void,
    private visit: (node: number) => void,
  ) {
    this.input.setAttribute("aria-label", "Colour the states where a condition holds");
    this.forget = whileTyping(this.input, PAUSE, () => void this.go(), () => this.clear());
    this.element.append(make("div", { className: "bar" }, this.input), this.result);
  }

  /** Colours by another condition, or by none. */
  set(condition: string): void {
    this.input.value = condition;
    void this.go();
  }

  focus(): void {
    this.input.focus();
    this.input.select();
  }

  clear(): void {
    this.input.value = "";
    void this.go();
  }

  /** The picture is another one: colours it in the same way. */
  again(): void {
    if (this.input.value.trim()) void this.go();
  }

  private async go(): Promise<void> {
    this.forget();
    const number = ++this.asked;
    const condition = this.input.value.trim();
    if (!condition) {
      this.result.replaceChildren();
      return this.paint(null);
    }
    try {
      const found = await this.ask(condition);
      if (number !== this.asked) return;
      const first = found.nodes[0];
      this.result.replaceChildren(
        make("i", { className: "dot painted" }),
        ` It holds in ${count(found.total, "state")}. `,
        ...(first === undefined ? [] : [button("First", "Go to the first of them", () => this.visit(first), "first-painted")]),
        ...found.notes.map((note) => make("div", { className: "warning", textContent: note })),
      );
      this.paint(found);
    } catch (error) {
      if (number !== this.asked) return;
      this.result.textContent = (error as Error).message;
      this.paint(null);
    }
  }
}
