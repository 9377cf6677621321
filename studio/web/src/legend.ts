// The legend, which is the filter at the same time.
import { make, refill } from "./dom";
import { KIND_WORDS, SHORT_WORDS, TAG_WORDS, type Palette } from "./palette";
import { KINDS, TAGS, type Explanation, type Filter, type KindWord, type TagWord } from "./wire";

/** A line of the legend, for pictures that are saved. */
export interface Sign {
  /** A line of a tag, or a dot of a colour. */
  swatch: { line: TagWord | "after" } | { dot: string; box: boolean };
  text: string;
}

export class Legend {
  /** What is explained now. */
  signs: Sign[] = [];
  readonly element = make("section", { id: "legend" });
  filter: Filter = {
    tags: { correct: true, incorrect: true, neutral: true },
    kinds: { cn: true, in: true, ci: true, cin: true },
    after: true,
  };

  constructor(private changed: () => void) {}

  show(palette: Palette, explanation: Explanation | null): void {
    const rows: (HTMLElement | string)[] = [make("h2", { textContent: "Transitions" })];
    this.signs = [];
    const sign = (swatch: Sign["swatch"], text: string) => this.signs.push({ swatch, text });
    const row = (key: string, swatch: HTMLElement, name: string, amount: string, title: string, on: boolean, flip: () => void) =>
      make(
        "label",
        { title, className: "row" },
        make("input", { type: "checkbox", checked: on, id: `filter-${key}`, onchange: flip }),
        swatch,
        make("span", { className: "name", textContent: name }),
        name in SHORT_WORDS ? make("span", { className: "hint", textContent: SHORT_WORDS[name as TagWord | KindWord] }) : "",
        make("span", { className: "amount", textContent: amount }),
      );
    // Without a violation there is less to tell.
    const violated = explanation?.verdict === false;
    const tags = TAGS.filter((tag) => violated || tag === (explanation ? "correct" : "neutral"));
    TAGS.forEach((tag, at) => {
      if (!tags.includes(tag)) return;
      const swatch = make("i", { className: `line ${tag}` });
      const amount = explanation?.tags[tag].toLocaleString("en") ?? "";
      const flip = () => this.flipTag(tag);
      sign({ line: tag }, `${tag}: ${SHORT_WORDS[tag]}`);
      rows.push(row(tag, swatch, tag, amount, `${tag}: ${TAG_WORDS[tag]} (key ${at + 1})`, this.filter.tags[tag], flip));
    });
    const faint = make("i", { className: "line after" });
    const after = "what happens after the violation (key 8)";
    if (violated) {
      sign({ line: "after" }, "after the violation");
      rows.push(row("after", faint, "after the violation", "", after, this.filter.after, () => this.flipAfter()));
      rows.push(make("h2", { textContent: "Neighbourhoods", title: "states where it is decided how a run ends" }));
    }
    KINDS.forEach((kind, at) => {
      // Kinds that don't occur only take room.
      if (!violated || explanation.neighbourhoods[kind] === 0) return;
      const swatch = make("i", { className: "dot" });
      swatch.style.background = palette.kinds[kind];
      const amount = explanation?.neighbourhoods[kind].toLocaleString("en") ?? "";
      const title = `${kind}: ${KIND_WORDS[kind]} (key ${at + 4})`;
      sign({ dot: palette.kinds[kind], box: false }, `${kind}: ${SHORT_WORDS[kind]}`);
      rows.push(row(kind, swatch, kind, amount, title, this.filter.kinds[kind], () => this.flipKind(kind)));
    });
    const other = (colour: string, name: string, title: string, style = "") => {
      const swatch = make("i", { className: `dot ${style}` });
      swatch.style.background = colour;
      sign({ dot: colour, box: style === "box" }, name);
      return make("div", { className: "row", title }, swatch, make("span", { className: "name", textContent: name }));
    };
    rows.push(
      make("h2", { textContent: "States" }),
      other(palette.initial, "initial", "where every run starts"),
      violated ? other(palette.goal, "violation", "where the property is violated") : "",
      violated ? other(palette.sink, "sink", "everything that can no longer go wrong") : "",
      other(palette.region, "super-node", "several states drawn as one: double click or press O to open", "box"),
    );
    refill(this.element, ...rows);
  }

  /** Filters nothing away. */
  showAll(): void {
    for (const tag of TAGS) this.filter.tags[tag] = true;
    for (const kind of KINDS) this.filter.kinds[kind] = true;
    this.filter.after = true;
    for (const box of this.element.querySelectorAll("input")) box.checked = true;
    this.changed();
  }

  private flip(key: string, on: boolean): void {
    const box = document.getElementById(`filter-${key}`) as HTMLInputElement | null;
    if (box) box.checked = on;
    this.changed();
  }

  flipTag(tag: TagWord): void {
    this.filter.tags[tag] = !this.filter.tags[tag];
    this.flip(tag, this.filter.tags[tag]);
  }

  flipKind(kind: KindWord): void {
    this.filter.kinds[kind] = !this.filter.kinds[kind];
    this.flip(kind, this.filter.kinds[kind]);
  }

  flipAfter(): void {
    this.filter.after = !this.filter.after;
    this.flip("after", this.filter.after);
  }
}
