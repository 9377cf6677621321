// The first thing a visitor sees without a model: bundled ones to look at, and how to bring one's own.
import { button, make } from "./dom";
import { literally } from "./pattern";
import type { Entry, Files, TextFile, Texts } from "./wire";

export function galleryOf(
  entries: Entry[],
  known: Files,
  open: (what: { gallery: string } | { texts: Texts }) => void,
  say: (text: string) => void,
  close: (() => void) | null,
): HTMLElement {
  const cards = (group: Entry["group"]) =>
    make(
      "div",
      { className: "cards" },
      ...entries
        .filter((entry) => entry.group === group)
        .map((entry) => {
          const card = button("", entry.about, () => open({ gallery: entry.name }));
          card.className = "card";
          card.dataset["name"] = entry.name;
          card.append(make("b", { textContent: entry.name.split("/").pop()!.replaceAll("_", " ") }), make("span", { textContent: entry.about }));
          return card;
        }),
    );
  const files = make("input", { type: "file", multiple: true, accept: [...known.models, ...known.systems, known.property].map((one) => `.${one}`).join(","), id: "files", title: known.hint });
  files.onchange = () =>
    void readFiles(files.files, known).then(
      (texts) => open({ texts }),
      (error: Error) => say(`These files can't be read: ${error.message}`),
    );
  return make(
    "div",
    { className: "sheet", id: "gallery" },
    make("h1", { textContent: "Watershed Studio" }),
    make("p", {
      textContent:
        "See where correct and incorrect behaviour part ways. Pick a model: its states appear in 3D. Transitions are green where the property is safe and red where it is lost; the yellow states are where that is decided.",
    }),
    make("p", { className: "own" }, make("label", {}, make("b", { textContent: "Your own files: " }), files), make("span", { className: "hint" }, " or start with ", make("code", { textContent: "watershed studio model.lnt property.mcl" }))),
    make("p", { className: "hint", id: "files-hint", textContent: `${known.hint}.` }),
    make("h2", { textContent: "Typical bugs, each with its own shape" }),
    cards("bugs"),
    make("h2", { textContent: "Models" }),
    cards("models"),
    make("h2", { textContent: "Models with suites of examples: press K to see what they exercise" }),
    cards("coverage"),
    close ? make("button", { textContent: "Close", onclick: close, type: "button" }) : "",
  );
}

/** Texts of files: the first model leads, other models are modules that it imports. */
export async function readFiles(list: FileList | null, known: Files): Promise<Texts> {
  const is = (file: TextFile, ...extensions: string[]) => extensions.some((extension) => file.name.toLowerCase().endsWith(`.${extension}`));
  const all: TextFile[] = await Promise.all([...(list ?? [])].map(async (file) => ({ name: file.name, text: await file.text() })));
  const models = all.filter((file) => !is(file, known.property));
  const property = all.find((file) => is(file, known.property)) ?? { name: "property.mcl", text: "" };
  // The module that no other imports leads.
  const stem = (file: TextFile) => file.name.replace(/\.\w+$/, "").toLowerCase();
  const imported = (file: TextFile) =>
    models.some((other) => other !== file && new RegExp(`module\\s+\\w+\\s*\\([^)]*\\b${literally(stem(file))}\\b`, "i").test(other.text));
  const part = (file: TextFile) => Number(imported(file)) + 2 * Number(is(file, ...known.systems));
  models.sort((a, b) => part(a) - part(b));
  return { files: models, property, chosen: null, root: null };
}
