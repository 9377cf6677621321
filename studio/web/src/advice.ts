// What to do next where the picture alone does not say: it is empty, or all of one colour.
import { button, count, make } from "./dom";
import type { Summary } from "./wire";

export interface AdviceHost {
  counterexample(): void;
  table(): void;
  edit(): void;
  /** Shows everything again that was filtered away. */
  unfilter(): void;
}

export class Advice {
  readonly element = make("div", { id: "advice", hidden: true });
  /** What was read and put away. */
  private dismissed = "";

  constructor(private host: AdviceHost) {
    this.element.setAttribute("role", "note");
  }

  /** Looks at a model, at why it could not be opened, and at how many of its drawn transitions pass the filter. */
  show(summary: Summary | null, failure: string | null, drawn: number, shown: number): void {
    const found = summary ? this.of(summary, failure, drawn, shown) : null;
    const text = found?.[0] ?? "";
    this.element.hidden = text === "" || text === this.dismissed;
    if (!found || this.element.hidden) return;
    const close = button("✕", "Close this advice", () => {
      this.dismissed = text;
      this.element.hidden = true;
    });
    this.element.replaceChildren(make("p", {}, text), make("div", { className: "bar" }, ...found[1], close));
  }

  /** Another model: it has advice of its own. */
  forget(): void {
    this.dismissed = "";
    this.element.hidden = true;
  }

  private of(summary: Summary, failure: string | null, drawn: number, shown: number): [string, HTMLElement[]] | null {
    const explanation = summary.explanation;
    if (summary.nodes === 0) {
      const next = failure === "cancelled" ? "opening the model was cancelled. Run it again under Edit, with Ctrl+Enter." : "the model could not be opened. Mend what is listed under Edit, and run it again with Ctrl+Enter.";
      return failure !== null ? [`There is no picture, because ${next}`, [button("Edit", "Edit the model (M)", () => this.host.edit(), "advice-edit")]] : null;
    }
    if (summary.transitions === 0) {
      const text = `Nothing can happen: there is ${count(summary.nodes, "state")} without any step. Look at what the model starts with, and at actions that wait for each other from the beginning.`;
      return [text, [button("Edit", "Edit the model (M)", () => this.host.edit(), "advice-edit")]];
    }
    if (drawn > 0 && shown === 0) {
      return ["All transitions are filtered away.", [button("Show all", "Tick everything in the legend", () => this.host.unfilter(), "advice-all")]];
    }
    if (explanation?.verdict !== false || explanation.tags.correct > 0 || explanation.tags.neutral > 0) return null;
    const text = "Everything is red: every run violates the property, whatever is chosen. Walk the shortest counterexample and look at its end: what each part waits for there, and with which values. The suspects on the left say where to look in the text.";
    return [
      text,
      [
        button("Walk it", "Walk the shortest counterexample (C)", () => this.host.counterexample(), "advice-walk"),
        button("As a table", "The counterexample with the values of each step, and who waits at its end (Z)", () => this.host.table(), "advice-table"),
      ],
    ];
  }
}
