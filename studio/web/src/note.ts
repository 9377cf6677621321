// What the page has to say for a moment. A message goes away by itself, or as soon as what it is about has changed.
import { make } from "./dom";

/** What a message is about: the model that is shown, the walk through it, or the program. */
export type Topic = "model" | "walk" | "program";

/** How long a message stays, in milliseconds. */
const STAYS = 8_000;

export class Note {
  private text = make("div", { id: "note", hidden: true });
  /** Always part of the page, so that what is said in it is read out. */
  readonly element = make("div", { id: "live" }, this.text);
  private topic: Topic = "program";
  private timer: number | undefined;

  constructor() {
    this.element.setAttribute("role", "status");
  }

  say(text: string, topic: Topic): void {
    this.topic = topic;
    this.text.textContent = text;
    this.text.hidden = false;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.hide(), STAYS);
  }

  /** Takes a message away that is no longer true of what is shown. */
  settle(...topics: Topic[]): void {
    if (topics.includes(this.topic)) this.hide();
  }

  private hide(): void {
    this.text.hidden = true;
    this.text.textContent = "";
  }
}
