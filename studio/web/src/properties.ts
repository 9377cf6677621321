// All properties at once: which hold, which were expected to, and which is looked at.
import { button, make, refill } from "./dom";
import type { PropertyRow, Summary } from "./wire";

export class PropertyTable {
  readonly element = make("section", { id: "property-list" });

  constructor(private choose: (property: string) => void) {}

  show(summary: Summary | null): void {
    const rows = summary?.properties ?? [];
    this.element.hidden = rows.length < 2;
    if (rows.length < 2) return this.element.replaceChildren();
    const surprises = rows.filter((row) => row.surprise).length;
    const head = make("tr", {}, ...["property", "verdict", "expected"].map((text) => make("th", { textContent: text, scope: "col" })));
    refill(
      this.element,
      make("h2", { textContent: "Properties" }),
      make("p", { className: "hint", id: "surprises", textContent: surprises ? `${surprises} of ${rows.length} ${surprises === 1 ? "is" : "are"} not as expected.` : "All known verdicts are as expected." }),
      make("table", { id: "property-table" }, make("thead", {}, head), make("tbody", {}, ...rows.map((row, at) => this.row(row, at)))),
    );
  }

  private row(row: PropertyRow, at: number): HTMLElement {
    const word = (verdict: boolean | null) => (verdict === null ? "unknown" : verdict ? "holds" : "violated");
    const name = button(row.property, `Look at ${row.property}${row.note ? `; ${row.note}` : ""}`, () => this.choose(row.property), `property-${at + 1}`);
    if (row.explained) name.setAttribute("aria-current", "true");
    const element = make(
      "tr",
      { className: `${row.explained ? "on" : ""}${row.surprise ? " surprise" : ""}` },
      make("td", {}, name),
      make("td", { className: row.surprise ? "incorrect" : "", textContent: (row.surprise ? "⚠ " : "") + word(row.verdict) }),
      make("td", { textContent: word(row.expected) }),
    );
    if (row.note) element.title = row.note;
    return element;
  }
}
