// The explanation: verdict, typical bug, and the choices that decide, each a list of neighbourhoods.
import { count, make, pressable, refill } from "./dom";
import { short } from "./listing";
import { KIND_WORDS } from "./palette";
import { TAGS, type Choice, type Summary } from "./wire";

export class Choices {
  readonly element = make("section", { id: "choices" });
  private summary: Summary | null = null;
  private chosen = -1;

  constructor(private pick: (choice: Choice, number: number) => void) {}

  show(summary: Summary): void {
    this.summary = summary;
    this.chosen = -1;
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
    this.render();
    const choice = this.summary?.explanation?.choices[number];
    if (choice) this.pick(choice, number);
  }

  private render(): void {
    const summary = this.summary;
    if (!summary) return this.element.replaceChildren();
    const explanation = summary.explanation;
    const parts: (HTMLElement | string)[] = [];
    if (!explanation) {
      const text = summary.remark ?? "There is no property yet, so everything is neutral. Write one under Edit.";
      parts.push(make("p", { className: "hint", textContent: text }));
    } else {
      const verdict = explanation.verdict ? "holds" : "is violated";
      parts.push(
        make("p", { className: `verdict ${explanation.verdict ? "correct" : "incorrect"}`, id: "verdict", textContent: `${explanation.property} ${verdict}` }),
      );
      if (explanation.description) parts.push(make("p", { className: "hint", textContent: explanation.description }));
      if (explanation.shape) {
        const { name, meaning } = explanation.shape;
        parts.push(make("p", { id: "shape" }, make("b", { textContent: `${name}: ` }), meaning));
      }
      explanation.remarks.forEach((text) => parts.push(make("p", { className: "hint", textContent: text })));
      explanation.choices.forEach((choice, at) => parts.push(this.choice(choice, at)));
    }
    for (const { message, place } of summary.warnings) {
      const where = place ? `${short(place.file)}:${place.line}: ` : "";
      parts.push(make("p", { className: "warning", textContent: where + message }));
    }
    refill(this.element, make("h2", { textContent: "Choices", title: "Neighbourhoods that are decided in the same way" }), ...parts);
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
    if (choice.after !== null) card.append(make("div", { className: "hint", textContent: `only after choice ${choice.after + 1}` }));
    return pressable(card, () => this.select(at));
  }
}
