// The keys, in one list that the page obeys and shows.
import { make } from "./dom";

export interface Key {
  keys: string[];
  shown: string;
  says: string;
  does: () => void;
  /** Whether it also acts while a dialog is open. */
  always?: boolean;
}

/** What has a use of its own for Enter and the space bar. */
const PRESSABLE = "button, a, summary, input, select, [tabindex]:not(canvas)";

/** Obeys the keys wherever the user is not writing or pressing a button; behind a dialog only those that are always obeyed. */
export function listen(keys: Key[], inDialog: () => boolean): void {
  window.addEventListener("keydown", (event) => {
    // An editor has keys of its own.
    if (event.defaultPrevented) return;
    const target = event.target as HTMLElement;
    const writing = target.isContentEditable || target.matches("input:not([type=checkbox]), textarea, select");
    if (event.key === "Escape") target.blur();
    if ((writing && event.key !== "Escape") || event.ctrlKey || event.metaKey || event.altKey) return;
    if ((event.key === "Enter" || event.key === " ") && target.closest(PRESSABLE)) return;
    const name = event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key;
    const key = keys.find((one) => one.keys.includes(name));
    if (!key || (inDialog() && !key.always)) return;
    event.preventDefault();
    key.does();
  });
}

/** The list as a sheet. */
export function helpOf(keys: Key[], close: () => void): HTMLElement {
  const rows = keys.map((key) => make("div", { className: "key" }, make("kbd", { textContent: key.shown }), make("span", { textContent: key.says })));
  return make(
    "div",
    { className: "sheet", id: "help" },
    make("h1", { textContent: "Keys" }),
    make("p", { textContent: "Drag to rotate, scroll to zoom, drag with the right button to move. Click a state or a transition to see where it comes from; double click a super-node to open it." }),
    make("div", { className: "keys" }, ...rows),
    make("button", { textContent: "Close", onclick: close, type: "button" }),
  );
}
