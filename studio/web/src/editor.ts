// Editing the model and the property: plain text with line numbers, wrong places underlined, messages below.
import { button, make, pressable, refill } from "./dom";
import { short } from "./listing";
import { cut, linesOf, painted } from "./words";
import type { Message, Summary, TextFile, Texts } from "./wire";

export class Editor {
  readonly element = make("section", { id: "editor" });
  private files: TextFile[] = [];
  private property: TextFile = { name: "property.mcl", text: "" };
  private root = "";
  private chosen: string | null = null;
  private current = 0;
  private messages: Message[] = [];
  private editable = true;
  /** What there is to start with. */
  private starts: Summary["starts"] = [];

  /** The texts as they were last sent or shown, by name: what differs was typed since. */
  private known = new Map<string, string>();
  private knownRoot = "";

  constructor(private send: (texts: Texts) => void) {}

  /** Another model is opened. */
  forget(): void {
    this.known.clear();
    this.knownRoot = this.root = "";
    this.messages = [];
    this.current = 0;
  }

  /** Shows texts; what was typed while they were opened stays. */
  show(summary: Summary): void {
    const { files, property, chosen, root } = summary.texts;
    const typed = new Map(this.all().map((file) => [file.name, file.text]));
    const mine = (file: TextFile) => {
      const [known, text] = [this.known.get(file.name), typed.get(file.name)];
      return { ...file, text: known !== undefined && text !== undefined && text !== known ? text : file.text };
    };
    this.files = files.map(mine);
    this.property = mine(property);
    if (this.root === this.knownRoot) this.root = root ?? "";
    this.known = new Map([...files, property].map((file) => [file.name, file.text]));
    this.knownRoot = root ?? "";
    this.chosen = chosen;
    this.editable = summary.editable;
    this.starts = summary.starts;
    this.current = Math.min(this.current, this.files.length);
    this.render();
  }

  complain(messages: Message[]): void {
    this.messages = messages;
    const first = messages.find((message) => message.place)?.place;
    const file = this.all().findIndex((one) => one.name === first?.file);
    if (file >= 0) this.current = file;
    this.render();
  }

  private all(): TextFile[] {
    return [...this.files, this.property];
  }

  texts(): Texts {
    const files = this.editable ? this.files : [];
    return { files, property: this.property, chosen: this.chosen, root: this.root.trim() || null };
  }

  private run(): void {
    this.known = new Map(this.all().map((file) => [file.name, file.text]));
    this.knownRoot = this.root;
    this.send(this.texts());
  }

  choose(property: string | null): void {
    this.chosen = property;
    this.run();
  }

  start(root: string): void {
    this.root = root;
    this.render();
    this.run();
  }

  focus(): void {
    this.element.querySelector("textarea")?.focus();
  }

  private render(): void {
    const tabs = this.all().map((file, at) =>
      make("button", {
        textContent: short(file.name) || "property.mcl",
        className: at === this.current ? "on" : "",
        type: "button",
        onclick: () => {
          this.current = at;
          this.render();
        },
      }),
    );
    const file = this.all()[this.current]!;
    const here = this.messages.filter((message) => message.place?.file === file.name);
    const area = make("textarea", { id: "text", value: file.text, spellcheck: false, wrap: "off", rows: 10 });
    area.setAttribute("aria-label", `Text of ${short(file.name)}`);
    area.placeholder = this.current === this.files.length ? "A property in MCL, such as [ true* . \"ERROR\" ] false" : "";
    const back = make("pre", { className: "backdrop" });
    const gutter = make("pre", { className: "gutter" });
    const paint = () => {
      const lines = linesOf(file.name, file.text);
      gutter.replaceChildren(
        ...lines.map((_, at) => {
          const wrong = here.find((message) => message.place!.line === at + 1);
          return make("span", { className: wrong ? wrong.severity : "", title: wrong?.message ?? "", textContent: `${at + 1}\n` });
        }),
      );
      back.replaceChildren(
        ...lines.flatMap((words, at) => {
          const message = here.find((one) => one.place!.line === at + 1);
          if (!message) return [...painted(words), "\n"];
          const { column, end_line, end_column } = message.place!;
          const end = end_line > at + 1 ? Infinity : Math.max(end_column - 1, column);
          const wrong = painted(cut(words, column - 1, end));
          const mark = make("mark", { className: message.severity }, ...(wrong.length ? wrong : [" "]));
          return [...painted(cut(words, 0, column - 1)), mark, ...painted(cut(words, end, Infinity)), "\n"];
        }),
      );
    };
    paint();
    area.oninput = () => {
      file.text = area.value;
      here.length = 0;
      paint();
    };
    area.onscroll = () => {
      back.scrollTop = gutter.scrollTop = area.scrollTop;
      back.scrollLeft = area.scrollLeft;
    };
    area.onkeydown = (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.run();
    };
    const root = make("input", { id: "root", value: this.root, placeholder: this.starts[0]?.root ?? (/\.lnt\b/.test(this.files[0]?.name ?? "") ? "MAIN" : ""), title: "What to start with: a process with its arguments, such as MAIN (2, true), or a marking of a net" });
    root.setAttribute("list", "known-starts");
    const starts = make("datalist", { id: "known-starts" }, ...this.starts.map(({ root, about }) => make("option", { value: root, textContent: about })));
    root.oninput = () => (this.root = root.value);
    refill(
      this.element,
      make("div", { className: "tabs" }, ...tabs),
      make("div", { className: "edit" }, gutter, make("div", { className: "stack" }, back, area)),
      this.list(area),
      make(
        "div",
        { className: "bar" },
        make("label", { title: root.title }, "start ", root, starts),
        button("Run", "Open the edited texts (Ctrl+Enter)", () => this.run(), "run"),
      ),
      make("p", { className: "hint", textContent: "Edits stay in this page: your files are not changed." }),
    );
    const first = here[0]?.place;
    if (first) area.scrollTop = Math.max(0, (first.line - 4) * 18);
  }

  private list(area: HTMLTextAreaElement): HTMLElement {
    const list = make("ul", { id: "messages" });
    for (const message of this.messages) {
      const place = message.place;
      const where = place ? `${short(place.file)}:${place.line}:${place.column}: ` : "";
      const item = make("li", { className: message.severity }, make("b", { textContent: where }), message.message);
      if (message.label) item.append(make("div", { textContent: message.label }));
      for (const text of message.notes) item.append(make("div", { className: "hint", textContent: text }));
      for (const text of message.helps) item.append(make("div", { className: "hint", textContent: `Hint: ${text}` }));
      if (place) {
        pressable(item, () => {
          area.focus();
          area.scrollTop = Math.max(0, (place.line - 4) * 18);
        });
      }
      list.append(item);
    }
    return list;
  }
}
