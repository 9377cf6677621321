// The constructs of the source that most likely are what is wrong, best first, each with the reason why.
import { button, make, refill } from "./dom";
import { short } from "./listing";
import type { Suspect, Summary } from "./wire";

/** How many are listed before someone asks for more. */
const FIRST = 3;

export class Suspects {
  readonly element = make("section", { id: "suspect-list" });
  private list: Suspect[] = [];
  private chosen = -1;
  private all = false;

  constructor(private pick: (suspect: Suspect) => void) {}

  show(summary: Summary | null): void {
    this.list = summary?.explanation?.suspects ?? [];
    this.chosen = -1;
    this.all = false;
    this.render();
  }

  private select(number: number): void {
    this.chosen = number;
    this.render();
    this.pick(this.list[number]!);
  }

  private render(): void {
    this.element.hidden = this.list.length === 0;
    if (this.element.hidden) return this.element.replaceChildren();
    const shown = this.all ? this.list : this.list.slice(0, FIRST);
    const items = shown.map((one, at) => {
      const item = button("", "Open the source there", () => this.select(at), `suspect-${at + 1}`);
      item.className = `card${at === this.chosen ? " on" : ""}`;
      item.append(
        make("code", { textContent: one.construct }),
        make("div", { className: "hint", textContent: `${one.kind} in ${one.process}, ${short(one.file)}:${one.line}:${one.column}` }),
        make("div", { textContent: one.reason }),
      );
      return make("li", {}, item);
    });
    const more = this.list.length - shown.length;
    refill(
      this.element,
      make("h2", { textContent: "Suspects", title: "What in the source most likely is wrong, best first" }),
      make("ol", { id: "suspects" }, ...items),
      more > 0
        ? button(
            `${more} more`,
            "Show all suspects",
            () => {
              this.all = true;
              this.render();
            },
            "more-suspects",
          )
        : "",
    );
  }
}
