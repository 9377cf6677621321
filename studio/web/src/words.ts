// The words of a text in colours: keywords, comments and quotations of LNT, of nets, which are written alike, and of MCL.
import { make } from "./dom";

export type WordKind = "keyword" | "comment" | "quoted";

/** A part of a line; nothing in particular without a kind. */
export interface Word {
  kind: WordKind | null;
  text: string;
}

const LNT =
  "alt any assert break by case channel disrupt else elsif end ensure eval for function hide if in inout is loop module null of only out par process raise require return select stop then trap type var where while with".split(" ");
const NET = [...LNT, ..."net place transition take put read inhibit reset marking state set all".split(" ")];
const MCL =
  "true false not and or implies equ xor tau any nil mu nu forall exists among if then elsif else end let in where macro end_macro library end_library property is expected div mod end_property end_if end_let case while for loop repeat until of".split(" ");

/** The keywords of the languages, by the extension of their files. */
export const KEYWORDS: Record<string, Set<string>> = { lnt: new Set(LNT), net: new Set(NET), mcl: new Set(MCL) };

/** The extension that tells the language of a file. */
export function languageOf(name: string): string {
  return /\.(\w+)(?:\.(?:gz|zst))?$/.exec(name.toLowerCase())?.[1] ?? "";
}

/** Longer texts stay plain. */
const LONGEST = 300_000;

/** What begins at some place: a comment, a quotation, a word. A comment may never end. */
const TOKEN = /--[^\n]*|\(\*[^]*?(?:\*\)|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*/g;

/** The lines of a file in words; those of other languages are plain text. */
export function linesOf(name: string, text: string): Word[][] {
  const keywords = KEYWORDS[languageOf(name)];
  if (!keywords || text.length > LONGEST) return text.split("\n").map((line) => [{ kind: null, text: line }]);
  const lines: Word[][] = [[]];
  const add = (kind: WordKind | null, part: string) =>
    part.split("\n").forEach((line, at) => {
      if (at > 0) lines.push([]);
      if (line) lines.at(-1)!.push({ kind, text: line });
    });
  let end = 0;
  for (const { 0: found, index } of text.matchAll(TOKEN)) {
    const comment = found.startsWith("--") || found.startsWith("(*");
    const kind = comment ? "comment" : /^["']/.test(found) ? "quoted" : keywords.has(found.toLowerCase()) ? "keyword" : null;
    if (kind === null) continue;
    add(null, text.slice(end, index));
    add(kind, found);
    end = index + found.length;
  }
  add(null, text.slice(end));
  return lines;
}

/** Words as elements. */
export function painted(words: Word[]): (HTMLElement | string)[] {
  return words.map(({ kind, text }) => (kind ? make("span", { className: kind, textContent: text }) : text));
}

/** The part of a line between two columns, from 0. */
export function cut(words: Word[], from: number, to: number): Word[] {
  const parts: Word[] = [];
  let at = 0;
  for (const { kind, text } of words) {
    const part = text.slice(Math.max(from - at, 0), Math.max(to - at, 0));
    if (part) parts.push({ kind, text: part });
    at += text.length;
  }
  return parts;
}
