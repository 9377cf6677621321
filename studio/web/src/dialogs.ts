// Dialogs: sheets over the page that hold the focus until they are closed. What is below can neither be clicked nor
// reached with keys.
import { make } from "./dom";

interface Open {
  overlay: HTMLElement;
  /** Nothing where it can't be closed before something was chosen. */
  close: (() => void) | null;
  /** What had the focus before. */
  before: Element | null;
}

const FOCUSABLE = "a[href], button:not([disabled]), input:not([disabled]), select:not([disabled]), textarea, [tabindex='0']";

export class Dialogs {
  private stack: Open[] = [];

  /** Opens a sheet, named by its heading; `close` says what happens when it is dismissed. */
  open(sheet: HTMLElement, close: (() => void) | null): void {
    sheet.setAttribute("role", "dialog");
    sheet.setAttribute("aria-modal", "true");
    const heading = sheet.querySelector("h1");
    if (heading) {
      heading.id ||= `${sheet.id || "dialog"}-heading`;
      sheet.setAttribute("aria-labelledby", heading.id);
    }
    // What does not fit is scrolled with keys as well.
    sheet.tabIndex = -1;
    const overlay = make("div", { className: "overlay" }, sheet);
    overlay.onclick = (event) => {
      if (event.target === overlay) this.dismiss();
    };
    overlay.onkeydown = (event) => {
      if (event.key === "Tab") this.turn(sheet, event);
    };
    this.stack.push({ overlay, close, before: document.activeElement });
    document.body.append(overlay);
    this.shield();
    (sheet.querySelector<HTMLElement>(FOCUSABLE) ?? sheet).focus();
  }

  /** The sheet on top. */
  get top(): HTMLElement | null {
    return (this.stack.at(-1)?.overlay.firstElementChild as HTMLElement | null) ?? null;
  }

  /** Closes the sheet on top as its user does, if that is possible; tells whether there was one. */
  dismiss(): boolean {
    const top = this.stack.at(-1);
    top?.close?.();
    return top !== undefined;
  }

  /** Takes the sheet on top away. */
  close(): void {
    const top = this.stack.pop();
    if (!top) return;
    top.overlay.remove();
    this.shield();
    if (top.before instanceof HTMLElement && top.before.isConnected) top.before.focus({ preventScroll: true });
  }

  closeAll(): void {
    while (this.stack.length > 0) this.close();
  }

  /** Asks a question; whoever dismisses it says no. */
  ask(question: string, about: string, yes: string, no: string): Promise<boolean> {
    return new Promise((done) => {
      const answer = (given: boolean) => {
        this.close();
        done(given);
      };
      const say = (text: string, given: boolean, id: string) => make("button", { textContent: text, type: "button", id, onclick: () => answer(given) });
      const sheet = make(
        "div",
        { className: "sheet question", id: "question" },
        make("h1", { textContent: question }),
        make("p", { textContent: about }),
        make("div", { className: "bar" }, say(no, false, "answer-no"), say(yes, true, "answer-yes")),
      );
      this.open(sheet, () => answer(false));
    });
  }

  /** Only the sheet on top can be reached; messages stay readable. */
  private shield(): void {
    const top = this.stack.at(-1)?.overlay;
    for (const child of document.body.children) {
      if (child instanceof HTMLElement && child.getAttribute("role") !== "status") child.inert = top !== undefined && child !== top;
    }
  }

  /** The focus goes round inside the sheet. */
  private turn(sheet: HTMLElement, event: KeyboardEvent): void {
    const stops = [...sheet.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((one) => one.offsetParent !== null);
    const [first, last] = [stops[0], stops.at(-1)];
    const at = document.activeElement;
    const leaves = event.shiftKey ? at === first || at === sheet : at === last;
    if (!first || !last) return event.preventDefault();
    if (!leaves) return;
    event.preventDefault();
    (event.shiftKey ? last : first).focus();
  }
}
