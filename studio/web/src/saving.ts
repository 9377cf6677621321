// The list of what can be saved.
import { button, make } from "./dom";

export interface SavingHost {
  picture(format: "png" | "svg" | "dot"): void;
  /** Nothing where there is no program to ask for a page. */
  page: (() => void) | null;
}

export function savingSheet(host: SavingHost, close: () => void): HTMLElement {
  const row = (id: string, text: string, about: string, does: () => void) => {
    const one = button("", about, () => (close(), does()), id);
    one.className = "card";
    one.append(make("b", { textContent: text }), make("span", { textContent: about }));
    return one;
  };
  return make(
    "div",
    { className: "sheet", id: "saving" },
    make("h1", { textContent: "Save" }),
    row("save-png", "PNG (S)", "The picture, with its labels and the legend", () => host.picture("png")),
    row("save-svg", "SVG", "The same as shapes, for papers and slides", () => host.picture("svg")),
    row("save-dot", "DOT", "What is shown as a graph, for Graphviz and other programs", () => host.picture("dot")),
    host.page && row("save-page", "Page (E)", "This view as a page that works without the program", host.page),
    button("Close", "Close (Esc)", close),
  );
}
