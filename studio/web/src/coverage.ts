// The coverage view: the source with what examples exercise, each of them to switch on and off.
import { button, count, make, pressable, refill } from "./dom";
import { short } from "./listing";
import type { Place, TextFile } from "./wire";
import { linesOf, painted } from "./words";

interface Item extends Place {
  kind: "block" | "true" | "false" | "action";
  covered_by: number[];
}

interface Finding extends Place {
  kind: string;
  message: string;
  why: string[];
  advice: string | null;
}

export interface CoverageAnswer {
  examples: { suite: string; name: string; states: number; transitions: number; stopped: string | null; seconds: number }[];
  items: Item[];
  findings: Finding[];
}

/** A model whose examples can be run. */
export interface Measured {
  post<T>(path: string, body: unknown): Promise<T>;
  cancel(): Promise<void>;
}

export class CoveragePanel {
  readonly element = make("section", { id: "coverage" });
  private roots = make("textarea", { id: "roots", rows: 2, placeholder: "MAIN", spellcheck: false, ariaLabel: "Examples to add" });
  private body = make("div");
  private files: TextFile[] = [];
  private answer: CoverageAnswer | null = null;
  private on: boolean[] = [];
  /** The model that is being measured, and which measurement it is: the answer to an earlier one is not shown. */
  private asking: { project: Measured } | null = null;

  constructor(
    private project: () => Measured | null,
    private complain: (error: unknown) => void,
  ) {
    this.roots.title = "Examples to add: processes to start, with their arguments, one per line";
    this.roots.onkeydown = (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void this.run();
    };
    this.element.append(
      make("p", { className: "hint", textContent: "What do the examples never exercise? Add processes to start, one per line, and switch them on and off." }),
      this.roots,
      make("div", { className: "bar" }, button("Measure", "Run the examples and measure what they exercise (Ctrl+Enter)", () => void this.run(), "measure")),
      this.body,
    );
  }

  show(files: TextFile[]): void {
    this.files = files;
    this.answer = null;
    this.asking = null;
    this.body.replaceChildren();
  }

  /** Which examples are on, for tests. */
  get enabled(): string[] {
    return (this.answer?.examples ?? []).filter((_, at) => this.on[at]).map((example) => example.name);
  }

  async run(): Promise<void> {
    const project = this.project();
    if (this.asking || !project) return;
    const asking = (this.asking = { project });
    this.body.replaceChildren(
      make("div", { className: "bar" }, make("span", { className: "hint", textContent: "Running the examples…" }), button("Cancel", "Stop (Esc)", () => this.cancel(), "cancel-coverage")),
    );
    try {
      const roots = this.roots.value.split("\n").filter((line) => line.trim() !== "");
      const answer = await project.post<CoverageAnswer>("coverage", { roots });
      if (asking !== this.asking) return;
      this.answer = answer;
      this.on = answer.examples.map(() => true);
      this.render();
    } catch (error) {
      if (asking !== this.asking) return;
      const message = (error as Error).message === "cancelled" ? "Cancelled." : (error as Error).message;
      this.body.replaceChildren(make("p", { className: message === "Cancelled." ? "hint" : "error", textContent: message }));
      this.complain(message === "Cancelled." ? new Error(message) : error);
    }
    this.asking = null;
  }

  /** Stops what runs; whether something did. */
  cancel(): boolean {
    void this.asking?.project.cancel().catch(this.complain);
    return this.asking !== null;
  }

  private covered(item: Item): boolean {
    return item.covered_by.some((example) => this.on[example]);
  }

  private flip(examples: number[], on: boolean): void {
    examples.forEach((at) => (this.on[at] = on));
    this.render();
  }

  private render(): void {
    const answer = this.answer!;
    const suites = [...new Set(answer.examples.map((example) => example.suite))];
    const list = make("div", { id: "examples" });
    for (const suite of suites) {
      const members = [...answer.examples.keys()].filter((at) => answer.examples[at]!.suite === suite);
      const all = members.every((at) => this.on[at]);
      const box = make("input", { type: "checkbox", checked: all, id: `suite-${suite}`, onchange: () => this.flip(members, !all) });
      list.append(make("label", { className: "row", title: "The whole suite on or off" }, box, make("b", { textContent: suite })));
      for (const at of members) {
        const example = answer.examples[at]!;
        const one = make("input", { type: "checkbox", checked: this.on[at]!, id: `example-${at}`, data: { example: example.name }, onchange: () => this.flip([at], !this.on[at]) });
        const states = count(example.states, "state");
        const title = example.stopped ? `partial: ${example.stopped}` : `${states}, ${count(example.transitions, "transition")}`;
        list.append(make("label", { className: "row example", title }, one, make("span", { className: "name", textContent: example.name }), make("span", { className: "amount", textContent: states + (example.stopped ? ", partial" : "") })));
      }
    }
    const ratio = (name: string, kinds: Item["kind"][]) => {
      const items = answer.items.filter((item) => kinds.includes(item.kind));
      const covered = items.filter((item) => this.covered(item)).length;
      const percent = items.length ? `${Math.round((1000 * covered) / items.length) / 10} %` : "none";
      return make("div", { className: "row", data: { ratio: name } }, make("span", { className: "name", textContent: name }), make("span", { className: "amount", textContent: `${percent} (${covered} of ${items.length})` }));
    };
    const listing = make("div", { className: "code", id: "covered", tabIndex: 0, role: "group", ariaLabel: "Source, with what is exercised" });
    const files = new Set(answer.items.map((item) => item.file));
    for (const file of this.files.filter((file) => files.has(file.name))) listing.append(make("div", {}, this.annotated(file)));
    const findings = answer.findings.map((finding) => {
      const card = make("div", { className: "card" }, make("b", { textContent: `${finding.kind}, ${short(finding.file)}:${finding.line}` }), make("div", { textContent: finding.message }));
      finding.why.forEach((text) => card.append(make("div", { className: "hint", textContent: text })));
      if (finding.advice) card.append(make("div", { className: "hint", textContent: `Hint: ${finding.advice}` }));
      const at = `[data-at="${CSS.escape(`${finding.file}:${finding.line}`)}"]`;
      return pressable(card, () => listing.querySelector(at)?.scrollIntoView({ block: "center" }));
    });
    const some = this.on.every((one) => one) ? "" : " (of all examples together)";
    refill(
      this.body,
      list,
      make("h2", { textContent: "Exercised" }),
      ratio("blocks", ["block"]),
      ratio("decision outcomes", ["true", "false"]),
      ratio("actions", ["action"]),
      findings.length
        ? make("details", { id: "findings" }, make("summary", { title: "Holes, and why nothing reaches them" }, make("h2", { textContent: `${count(findings.length, "finding")}${some}` })), ...findings)
        : make("p", { className: "hint", textContent: "No holes." }),
      make("h2", { textContent: "Source" }),
      make("p", { className: "hint", textContent: "Solid bar: exercised. Dashed: partly exercised. Red: never exercised." }),
      listing,
    );
  }

  /** The lines of a file with what is and is not exercised on them. */
  private annotated(file: TextFile): HTMLElement[] {
    const items = this.answer!.items.filter((item) => item.file === file.name);
    const title = this.files.length > 1 ? [make("h3", { textContent: short(file.name) })] : [];
    const lines = linesOf(file.name, file.text).map((shown, at) => {
      const line = at + 1;
      let here = items.filter((item) => item.kind !== "block" && item.line === line);
      if (here.length === 0) here = items.filter((item) => item.kind === "block" && item.line <= line && line <= item.end_line);
      const missing = here.filter((item) => !this.covered(item));
      const state = here.length === 0 ? "" : missing.length === 0 ? "full" : missing.length < here.length ? "part" : "never";
      const words = { block: "block", true: "being true", false: "being false", action: "action" };
      const element = make("div", { className: `code-line ${state}`, data: { at: `${file.name}:${line}`, line: String(line) } });
      if (missing.length) element.title = `never exercised: ${missing.map((item) => words[item.kind]).join(", ")}`;
      element.append(make("span", { className: "number", textContent: String(line) }), make("span", { className: "text" }, ...(shown.length ? painted(shown) : [" "])));
      return element;
    });
    return [...title, ...lines];
  }
}
