// Searching labels and states by a regular expression, as one types.
import { count, make, whileTyping } from "./dom";
import { literally } from "./pattern";
import type { Found } from "./wire";

/** How long to wait for another key, in milliseconds. */
const PAUSE = 200;

export class Finder {
  private forget: () => void;
  readonly element = make("section", { id: "finder" });
  private input = make("input", { type: "search", id: "search", placeholder: "Search", ariaLabel: "Search" });
  private among = make("select", { id: "among", title: "What to search", ariaLabel: "What to search" });
  private result = make("div", { id: "found", className: "hint" });

  constructor(
    private search: (among: "labels" | "states", pattern: string) => Promise<Found>,
    private found: (found: Found | null, among: "labels" | "states") => void,
    private visit: (node: number) => void,
  ) {
    this.among.append(
      make("option", { value: "labels", textContent: "labels" }),
      make("option", { value: "states", textContent: "states" }),
    );
    this.input.title = "Labels, or values of states such as round = 3; case is ignored (/)";
    this.input.setAttribute("aria-label", "Search labels or states");
    this.among.setAttribute("aria-label", "What to search");
    this.forget = whileTyping(this.input, PAUSE, () => void this.go(), () => this.clear());
    this.among.onchange = () => void this.go();
    this.element.append(make("div", { className: "bar" }, this.input, this.among), this.result);
  }

  focus(): void {
    this.input.focus();
    this.input.select();
  }

  /** Counts searches: the answer to an earlier one is not shown. */
  private asked = 0;

  clear(): void {
    this.asked += 1;
    this.input.value = "";
    this.result.replaceChildren();
    this.found(null, "labels");
    this.input.blur();
  }

  /** The picture is another one: what was found is elsewhere in it. */
  again(): void {
    if (this.input.value) void this.go();
  }

  private async go(): Promise<void> {
    const among = this.among.value as "labels" | "states";
    this.forget();
    const number = ++this.asked;
    if (this.input.value === "") {
      this.result.replaceChildren();
      return this.found(null, among);
    }
    try {
      const found = await this.search(among, this.input.value);
      if (number !== this.asked) return;
      const noun = among === "labels" ? "transition" : "state";
      this.result.replaceChildren(count(found.total, noun) + (found.partial ? " outside super-nodes" : ""));
      found.texts.slice(0, 40).forEach((text, at) => {
        const node = found.nodes[at];
        const visit = () => {
          if (node !== undefined) this.visit(node);
        };
        const item = make("button", { className: "hit", textContent: text, type: "button" });
        // Labels are listed once each, states one by one: only those can be visited.
        if (among === "states") item.onclick = visit;
        else
          item.onclick = () => {
            this.input.value = `^${literally(text)}$`;
            void this.go();
          };
        this.result.append(item);
      });
      this.found(found, among);
    } catch (error) {
      if (number === this.asked) this.result.textContent = (error as Error).message;
    }
  }
}
