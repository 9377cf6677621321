// The source beside the scene: constructs coloured by what they lead to, linked both ways.
import { make, pressable, refill } from "./dom";
import { cut, linesOf, painted, type Word } from "./words";
import type { Place, SourceConstruct, TagWord, TextFile } from "./wire";

/** A part of a line, in columns from 0; up to the end without an end. */
interface Range {
  from: number;
  to: number;
}

/** How many lines are put into the page at once: those of a long text when they are about to be seen. */
const PIECE = 500;

export class Listing {
  readonly element = make("section", { id: "listing" });
  private tabs = make("div", { className: "tabs" });
  private body = make("div", { className: "code" });
  private note = make("p", { className: "hint", id: "line-note" });
  private files: TextFile[] = [];
  private constructs: SourceConstruct[] = [];
  private lit: Place[] = [];
  private current = 0;
  /** What is shown of the current file: its words, its actions by line, and elements for the lines that were seen. */
  private words: Word[][] = [];
  private actions = new Map<number, SourceConstruct[]>();
  private lines: HTMLElement[] = [];
  private pieces: HTMLElement[] = [];
  private coming = new IntersectionObserver((seen) => seen.forEach(({ isIntersecting, target }) => isIntersecting && this.open(this.pieces.indexOf(target as HTMLElement))), {
    root: this.element,
    rootMargin: "1000px 0px",
  });

  /** `clicked` is told the column of a construct where one was clicked. */
  constructor(private clicked: (file: string, line: number, column?: number) => void) {
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
    const before = this.litLines();
    this.lit = places;
    const first = places[0];
    const file = first ? this.files.findIndex((one) => one.name === first.file) : -1;
    if (file >= 0 && file !== this.current) {
      this.current = file;
      this.render();
    } else new Set([...before, ...this.lit.flatMap((place) => this.linesIn(place))]).forEach((line) => this.fill(line));
    const bright = this.body.querySelector("mark") ?? this.body.querySelector(".lit");
    // The start of the line is seen, unless what is lit lies far to the right.
    this.body.scrollLeft = 0;
    bright?.scrollIntoView({ block: "center", inline: "nearest" });
  }

  litLines(): number[] {
    return [...this.body.querySelectorAll<HTMLElement>(".code-line.lit")].map((line) => Number(line.dataset["line"]));
  }

  /** The texts that are lit, for tests. */
  litTexts(): string[] {
    return [...this.body.querySelectorAll<HTMLElement>("mark")].map((mark) => mark.textContent ?? "");
  }

  private linesIn(place: Place): number[] {
    if (place.file !== this.files[this.current]?.name) return [];
    const last = Math.min(place.end_line, this.words.length);
    return Array.from({ length: Math.max(0, last - place.line + 1) }, (_, at) => place.line + at);
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
    this.actions.clear();
    this.words = file ? linesOf(file.name, file.text) : [];
    for (const one of this.constructs) {
      if (one.file !== file?.name || one.kind !== "action") continue;
      for (let line = one.line; line <= one.end_line; line++) this.actions.set(line, [...(this.actions.get(line) ?? []), one]);
    }
    this.lines = [];
    this.coming.disconnect();
    this.pieces = Array.from({ length: Math.ceil(this.words.length / PIECE) }, (_, at) => {
      const piece = make("div", { className: "piece" });
      piece.style.setProperty("--lines", String(Math.min(PIECE, this.words.length - at * PIECE)));
      return piece;
    });
    if (this.pieces.length === 1) this.open(0);
    else this.pieces.forEach((piece) => this.coming.observe(piece));
    refill(this.body, this.pieces);
    for (const place of this.lit) this.linesIn(place).forEach((line) => this.fill(line));
  }

  /** Puts the lines of a piece into the page. */
  private open(at: number): void {
    const piece = this.pieces[at];
    const file = this.files[this.current]?.name;
    if (!piece || !file || piece.hasChildNodes()) return;
    this.coming.unobserve(piece);
    for (let number = at * PIECE + 1; number <= Math.min(this.words.length, (at + 1) * PIECE); number++) {
      const line = make("div", { id: `line-${number}`, data: { line: String(number) } });
      pressable(line, () => this.clicked(file, number)).onclick = (event) => {
        const construct = (event.target as HTMLElement).closest<HTMLElement>("[data-column]");
        this.clicked(file, number, construct ? Number(construct.dataset["column"]) : undefined);
      };
      this.lines[number - 1] = line;
      piece.append(line);
      this.fill(number);
    }
  }

  /** Fills a line: its words, cut where constructs and what is lit start and end. */
  private fill(number: number): void {
    const line = this.lines[number - 1];
    if (!line) return this.open(Math.floor((number - 1) / PIECE));
    const file = this.files[this.current]!.name;
    const here = this.actions.get(number) ?? [];
    const starting = here.filter((one) => one.line === number);
    const tags = new Set<TagWord>(starting.map((one) => one.tag));
    const tag = starting.length ? (tags.size === 1 ? [...tags][0]! : "neutral") : "";
    const lit = this.lit.filter((place) => place.file === file && place.line <= number && number <= place.end_line);
    line.className = `code-line ${tag}${lit.length ? " lit" : ""}`;
    line.title = starting.length ? sums(starting) : "";
    const words = this.words[number - 1]!;
    const length = words.reduce((sum, word) => sum + word.text.length, 0);
    const range = (place: Place): Range => ({ from: place.line === number ? place.column - 1 : 0, to: place.end_line === number ? place.end_column - 1 : length });
    const bright = lit.map(range);
    const parts = here.map((one) => ({ one, ...range(one) }));
    const ends = [...new Set([0, length, ...[...bright, ...parts].flatMap(({ from, to }) => [from, to])])].filter((end) => end >= 0 && end <= length).sort((one, other) => one - other);
    const text = make("span", { className: "text" });
    for (let at = 0; at + 1 < ends.length; at++) {
      const [from, to] = [ends[at]!, ends[at + 1]!];
      const covers = (one: Range) => one.from <= from && to <= one.to;
      const pieces = painted(cut(words, from, to));
      const construct = parts.filter(covers).sort((one, other) => one.to - one.from - (other.to - other.from))[0]?.one;
      const inner = bright.some(covers) ? [make("mark", {}, ...pieces)] : pieces;
      if (!construct) {
        text.append(...inner);
        continue;
      }
      const column = construct.line === number ? construct.column : 1;
      const element = make("span", { className: tags.size > 1 ? `construct ${construct.tag}` : "construct", data: { column: String(column) } }, ...inner);
      if (starting.length > 1) element.title = sums([construct]);
      text.append(element);
    }
    if (length === 0) text.append(" ");
    line.replaceChildren(make("span", { className: "number", textContent: String(number) }), text);
  }
}

/** How many transitions of each tag constructs take part in. */
function sums(constructs: SourceConstruct[]): string {
  const sum = (tag: TagWord) => constructs.reduce((total, one) => total + one[tag], 0);
  return `${sum("correct")} correct, ${sum("incorrect")} incorrect, ${sum("neutral")} neutral transitions`;
}

/** The last part of a path. */
export function short(name: string): string {
  return name.split(/[\\/]/).pop() ?? name;
}
