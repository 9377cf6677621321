// The source beside the scene: lines coloured by what they lead to, linked both ways.
import { make, pressable, refill } from "./dom";
import { linesOf, painted } from "./words";
import type { Place, SourceConstruct, TagWord, TextFile } from "./wire";

export class Listing {
  readonly element = make("section", { id: "listing" });
  private tabs = make("div", { className: "tabs" });
  private body = make("div", { className: "code" });
  private note = make("p", { className: "hint", id: "line-note" });
  private files: TextFile[] = [];
  private constructs: SourceConstruct[] = [];
  private lit: Place[] = [];
  private current = 0;

  constructor(private clicked: (file: string, line: number) => void) {
    this.element.append(this.tabs, this.note, this.body);
  }

  show(files: TextFile[], constructs: SourceConstruct[]): void {
    this.files = files;
    this.constructs = constructs;
    this.lit = [];
    this.current = Math.min(this.current, Math.max(files.length - 1, 0));
    this.say(files.length ? "Click a line to see its transitions, or a transition to see its lines." : "There is no source: this is a transition system.");
    this.render();
  }

  say(text: string): void {
    this.note.textContent = text;
  }

  /** Lights up places and scrolls to the first. */
  light(places: Place[]): void {
    this.lit = places;
    const first = places[0];
    const file = first ? this.files.findIndex((one) => one.name === first.file) : -1;
    if (file >= 0) this.current = file;
    this.render();
    this.body.querySelector(".lit")?.scrollIntoView({ block: "center" });
  }

  litLines(): number[] {
    return [...this.body.querySelectorAll<HTMLElement>(".lit")].map((line) => Number(line.dataset["line"]));
  }

  private render(): void {
    this.tabs.replaceChildren(
      ...(this.files.length < 2 ? [] : this.files).map((file, at) => {
        const tab = make("button", { textContent: short(file.name), className: at === this.current ? "on" : "", type: "button" });
        tab.onclick = () => {
          this.current = at;
          this.render();
        };
        return tab;
      }),
    );
    const file = this.files[this.current];
    if (!file) return this.body.replaceChildren();
    const tags = new Map<number, Set<TagWord>>();
    const counts = new Map<number, [number, number, number]>();
    for (const one of this.constructs) {
      if (one.file !== file.name || one.kind !== "action") continue;
      tags.set(one.line, (tags.get(one.line) ?? new Set()).add(one.tag));
      const sum = counts.get(one.line) ?? [0, 0, 0];
      counts.set(one.line, [sum[0] + one.correct, sum[1] + one.incorrect, sum[2] + one.neutral]);
    }
    const lit = new Set<number>();
    for (const place of this.lit) {
      if (place.file !== file.name) continue;
      for (let line = place.line; line <= place.end_line; line++) lit.add(line);
    }
    refill(
      this.body,
      linesOf(file.name, file.text).map((words, at) => {
        const number = at + 1;
        const here = tags.get(number);
        const tag = here ? (here.size === 1 ? [...here][0]! : "neutral") : "";
        const line = make("div", { className: `code-line ${tag}${lit.has(number) ? " lit" : ""}`, id: `line-${number}`, data: { line: String(number) } });
        const [correct, incorrect, neutral] = counts.get(number) ?? [0, 0, 0];
        if (here) line.title = `${correct} correct, ${incorrect} incorrect, ${neutral} neutral transitions`;
        line.append(make("span", { className: "number", textContent: String(number) }), make("span", { className: "text" }, ...(words.length ? painted(words) : [" "])));
        return pressable(line, () => this.clicked(file.name, number));
      }),
    );
  }
}

/** The last part of a path. */
export function short(name: string): string {
  return name.split(/[\\/]/).pop() ?? name;
}
