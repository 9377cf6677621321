// How the editor colours texts: LNT, nets, which are written alike, and MCL. A mode reads one line at a time and
// remembers only how deep it is inside comments, so that a text of any length is coloured where it is seen.
import { StreamLanguage, type StreamParser, type StringStream } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { KEYWORDS, languageOf } from "./words";

interface Inside {
  /** How many comments are open. */
  comments: number;
}

/** What differs between the languages. */
interface Alike {
  keywords: Set<string>;
  /** Whether keywords are known in any case. */
  anyCase: boolean;
  /** Whether comments stand in comments. */
  nested: boolean;
}

const LANGUAGES: Record<string, Alike> = {
  lnt: { keywords: KEYWORDS["lnt"]!, anyCase: true, nested: false },
  net: { keywords: KEYWORDS["net"]!, anyCase: true, nested: false },
  mcl: { keywords: KEYWORDS["mcl"]!, anyCase: false, nested: true },
};

/** Reads on to the end of the comments that are open, or of the line. */
function comment(stream: StringStream, inside: Inside, nested: boolean): string {
  while (!stream.eol() && inside.comments > 0) {
    if (stream.match("*)")) inside.comments -= 1;
    else if (nested && stream.match("(*")) inside.comments += 1;
    else stream.next();
  }
  return "comment";
}

function parser({ keywords, anyCase, nested }: Alike): StreamParser<Inside> {
  return {
    startState: () => ({ comments: 0 }),
    copyState: (inside) => ({ ...inside }),
    token(stream, inside) {
      if (inside.comments > 0) return comment(stream, inside, nested);
      if (stream.eatSpace()) return null;
      if (stream.match("(*")) {
        inside.comments = 1;
        return comment(stream, inside, nested);
      }
      if (stream.match("--")) {
        stream.skipToEnd();
        return "comment";
      }
      if (stream.match(/^"(?:\\.|[^"\\])*"?/) || stream.match(/^'(?:\\.|[^'\\])*'/)) return "string";
      if (stream.match(/^[A-Za-z_]\w*/)) {
        const word = stream.current();
        return keywords.has(anyCase ? word.toLowerCase() : word) ? "keyword" : null;
      }
      if (stream.match(/^\d[\d_.]*\d|^\d/)) return "number";
      stream.next();
      return null;
    },
    languageData: { commentTokens: { line: "--", block: { open: "(*", close: "*)" } } },
  };
}

const MODES = new Map(Object.entries(LANGUAGES).map(([name, alike]) => [name, StreamLanguage.define(parser(alike))]));

/** The mode for a file, by its name; other texts stay plain. */
export function modeOf(file: string): Extension {
  return MODES.get(languageOf(file)) ?? [];
}
