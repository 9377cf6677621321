// The explanation: verdict, typical bug, and the choices that decide, each a list of neighbourhoods.
import { button, count, make, pressable, refill } from "./dom";
import { short } from "./listing";
import { KIND_WORDS } from "./palette";
import { TAGS, type Choice, type Summary } from "./wire";

/** How many choices are listed before someone asks for more. */
const FIRST = 3;

export class Choices {
  /** The verdict, and what there is to say of it. */
  readonly verdict = make("section", { id: "verdicts" });
  readonly element = make("section", { id: "choices" });
  private summary: Summary | null = null;
  private chosen = -1;
  private all = false;

  constructor(private pick: (choice: Choice, number: number) => void) {}

  show(summary: Summary): void {
    this.summary = summary;
    this.chosen = -1;
    this.all = false;
    this.render();
  }

  clear(): void {
    this.summary = null;
    this.render();
  }

  move(change: number): void {
    const choices = this.summary?.explanation?.choices ?? [];
    if (choices.length === 0) return;
    this.select((this.chosen + change + choices.length) % choices.length);
  }

  select(number: number): void {
    this.chosen = number;
    if (number >= FIRST) this.all = true;
    this.render();
    document.getElementById(`choice-${number + 1}`)?.scrollIntoView({ block: "nearest" });
    const choice = this.summary?.explanation?.choices[number];
    if (choice) this.pick(choice, number);
  }

  private render(): void {
    const summary = this.summary;
    const explanation = summary?.explanation;
    const choices = explanation?.choices ?? [];
    this.element.hidden = choices.length === 0;
    if (!summary) return void (this.verdict.replaceChildren(), this.element.replaceChildren());
    const said: (HTMLElement | string)[] = [];
    if (!explanation) {
      const text = summary.remark ?? (summary.nodes === 0 ? "The model is not open." : "There is no property yet, so everything is neutral. Write one under Edit.");
      said.push(make("p", { className: "hint", textContent: text }));
    } else {
      const verdict = explanation.verdict ? "holds" : "is violated";
      said.push(
        make("p", { className: `verdict ${explanation.verdict ? "correct" : "incorrect"}`, id: "verdict", textContent: `${explanation.property} ${verdict}` }),
      );
      if (explanation.description) said.push(make("p", { className: "hint", textContent: explanation.description }));
      if (explanation.shape) {
        const { name, meaning } = explanation.shape;
        said.push(make("p", { id: "shape" }, make("b", { textContent: `${name}: ` }), meaning));
      }
      explanation.remarks.forEach((text) => said.push(make("p", { className: "hint", textContent: text })));
    }
    for (const { message, place } of summary.warnings) {
      const where = place ? `${short(place.file)}:${place.line}: ` : "";
      said.push(make("p", { className: "warning", textContent: where + message }));
    }
    refill(this.verdict, ...said);
    const shown = this.all ? choices : choices.slice(0, FIRST);
    const more = choices.length - shown.length;
    const unfold = () => {
      this.all = true;
      this.render();
    };
    refill(
      this.element,
      make("h2", { textContent: "Choices", title: "Neighbourhoods that are decided in the same way" }),
      ...shown.map((choice, at) => this.choice(choice, at)),
      more > 0 ? button(`${more} more`, "Show all choices", unfold, "more-choices") : "",
    );
  }

  private choice(choice: Choice, at: number): HTMLElement {
    const [first, last] = choice.from_start;
    const far = first === last ? count(first, "step") : `${first} to ${last} steps`;
    const card = make("div", { className: `card${at === this.chosen ? " on" : ""}`, id: `choice-${at + 1}`, title: "Click to see these states and the lines that compete there" });
    card.append(
      make("b", { textContent: `Choice ${at + 1}` }),
      ` · ${count(choice.neighbourhoods, "state")}, ${far} from the start`,
      ...choice.kinds.map((kind) => make("div", { className: "hint", textContent: `${kind}: ${KIND_WORDS[kind]}` })),
    );
    for (const tag of TAGS) {
      const labels = choice[tag].flatMap((exit) => exit.labels);
      if (labels.length === 0) continue;
      const text = labels.slice(0, 6).join(", ") + (labels.length > 6 ? ` and ${labels.length - 6} more` : "");
      card.append(make("div", { className: `exit ${tag}`, title: tag }, make("i", { className: `line ${tag}` }), text));
    }
    choice.separated?.forEach((text) => card.append(make("div", { className: "hint", textContent: text })));
    if (choice.after !== null) card.append(make("div", { className: "hint", textContent: `only after choice ${choice.after + 1}` }));
    return pressable(card, () => this.select(at));
  }
}
