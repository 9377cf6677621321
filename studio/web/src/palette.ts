// Colours: Okabe and Ito's palette (2008), which readers with any kind of colour vision can tell apart, as dark or as
// light as text needs to be; dashes and widths say the same once more.
import type { KindWord, TagWord } from "./wire";

export interface Palette {
  background: string;
  ink: string;
  tags: Record<TagWord, string>;
  kinds: Record<KindWord, string>;
  node: string;
  lost: string;
  goal: string;
  sink: string;
  initial: string;
  region: string;
  path: string;
  found: string;
}

const kinds: Record<KindWord, string> = { cn: "#fff2a8", in: "#ffd84d", ci: "#f0a500", cin: "#c47a00" };

export const LIGHT: Palette = {
  background: "#fbfaf7",
  ink: "#22252a",
  tags: { correct: "#007d5b", incorrect: "#c93a00", neutral: "#23262b" },
  kinds,
  node: "#8b9097",
  lost: "#e8a58a",
  goal: "#b02a00",
  sink: "#ffffff",
  initial: "#006ba8",
  region: "#c9ccd1",
  path: "#006ba8",
  found: "#cc79a7",
};

export const DARK: Palette = {
  background: "#14171c",
  ink: "#e6e8eb",
  tags: { correct: "#2fd3a3", incorrect: "#ff7a47", neutral: "#a3a9b2" },
  kinds,
  node: "#7d838c",
  lost: "#a85c40",
  goal: "#ff8a5c",
  sink: "#ffffff",
  initial: "#56b4e9",
  region: "#4a505a",
  path: "#56b4e9",
  found: "#f0a0d0",
};

export const KIND_WORDS: Record<KindWord, string> = {
  cn: "here it can go right for good",
  in: "here it can go wrong for good",
  ci: "the choice between right and wrong",
  cin: "the choice between right, wrong and going on",
};

/** The same in two or three words, for the legend. */
export const SHORT_WORDS: Record<TagWord | KindWord, string> = {
  correct: "then safe",
  incorrect: "then lost",
  neutral: "still open",
  cn: "last chance",
  in: "can be lost",
  ci: "right or wrong",
  cin: "right, wrong or on",
};

export const TAG_WORDS: Record<TagWord, string> = {
  correct: "after it the property is safe",
  incorrect: "after it there is no way back",
  neutral: "both are still possible",
};
