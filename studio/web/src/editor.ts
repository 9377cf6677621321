// Editing the model and the property: texts of any length, wrong places underlined, messages below.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { forEachDiagnostic, linter, lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, Text, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { button, make, pressable, save } from "./dom";
import { short } from "./listing";
import { modeOf } from "./modes";
import type { Message, Place, Summary, TextFile, Texts } from "./wire";

/** Words have the colours that they have in the listing. */
const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, class: "keyword" },
  { tag: tags.comment, class: "comment" },
  { tag: tags.string, class: "quoted" },
]);

/** A text that is edited. */
interface Draft {
  name: string;
  /** The text as it was last sent or shown: what differs was typed since. */
  known: string;
  /** The same, to compare with: the ends of lines are all alike there. */
  base: Text;
  state: EditorState;
  /** What was wrong at the last run, and where that is by now. */
  marks: Map<Message, Diagnostic>;
}

export class Editor {
  readonly element = make("section", { id: "editor" });
  private tabs = make("div", { className: "tabs" });
  private holder = make("div", { className: "edit" });
  private list = make("ul", { id: "messages" });
  private rootInput = make("input", { id: "root", title: "What to start with: a process with its arguments, such as MAIN (2, true), or a marking of a net" });
  private knownStarts = make("datalist", { id: "known-starts" });
  private view: EditorView;
  /** The model's files, and the property as the last. */
  private drafts: Draft[] = [];
  private current = 0;
  private chosen: string | null = null;
  private knownRoot = "";
  private messages: Message[] = [];
  private editable = true;
  /** Whether anything was edited since the model was opened. */
  private everEdited = false;

  constructor(private send: (texts: Texts) => void) {
    this.view = new EditorView({ parent: this.holder });
    this.rootInput.setAttribute("list", "known-starts");
    this.element.append(
      this.tabs,
      this.holder,
      this.list,
      make(
        "div",
        { className: "bar" },
        make("label", { title: this.rootInput.title }, "start ", this.rootInput, this.knownStarts),
        button("Run", "Open the edited texts (Ctrl+Enter)", () => this.run(), "run"),
        button("Save text", "Save the text that is shown as a file", () => this.saveText(), "save-text"),
      ),
      make("p", { className: "hint", textContent: "Edits stay in this page: your files are not changed." }),
    );
    this.forget();
  }

  /** Another model is opened. */
  forget(): void {
    this.drafts = [this.draft({ name: "property.mcl", text: "" }, true)];
    this.knownRoot = this.rootInput.value = "";
    this.messages = [];
    this.current = 0;
    this.chosen = null;
    this.editable = true;
    this.everEdited = false;
    this.open(0);
    this.render();
  }

  /** Shows texts; what was typed while they were opened stays. */
  show(summary: Summary): void {
    const { files, property, chosen, root } = summary.texts;
    this.keep();
    const typed = new Map(this.drafts.map((draft) => [draft.name, draft]));
    this.drafts = [...files, property].map((file, at) => {
      const before = typed.get(file.name);
      if (!before) return this.draft(file, at === files.length);
      // Also where the text is the same: what can be undone stays.
      const kept = !before.state.doc.eq(before.base) || before.known === file.text;
      const next = kept ? before : this.draft(file, at === files.length);
      return { ...next, known: file.text, base: textOf(file.text) };
    });
    if (this.rootInput.value === this.knownRoot) this.rootInput.value = root ?? "";
    this.knownRoot = root ?? "";
    this.chosen = chosen;
    this.editable = summary.editable;
    this.rootInput.placeholder = summary.starts[0]?.root ?? (/\.lnt\b/.test(files[0]?.name ?? "") ? "MAIN" : "");
    this.knownStarts.replaceChildren(...summary.starts.map(({ root, about }) => make("option", { value: root, textContent: about })));
    this.open(Math.min(this.current, files.length));
    this.render();
  }

  complain(messages: Message[]): void {
    this.messages = messages;
    this.keep();
    for (const draft of this.drafts) {
      const here = messages.filter((message) => message.place?.file === draft.name);
      draft.marks = new Map(here.map((message) => [message, diagnosticOf(message, draft.state.doc)]));
      draft.state = draft.state.update(setDiagnostics(draft.state, [...draft.marks.values()])).state;
    }
    const first = messages.find((message) => message.place)?.place;
    const file = this.drafts.findIndex((draft) => draft.name === first?.file);
    this.open(file >= 0 ? file : this.current);
    this.render();
    if (file >= 0) this.goTo(messages.find((message) => message.place)!, false);
  }

  /** Whether something was typed that was not run. */
  get edited(): boolean {
    this.keep();
    return this.rootInput.value !== this.knownRoot || this.drafts.some((draft) => !draft.state.doc.eq(draft.base));
  }

  /** Whether closing the model loses something that was typed. */
  get changed(): boolean {
    return this.everEdited || this.edited;
  }

  texts(): Texts {
    this.keep();
    // Where nothing was typed the text goes back as it came.
    const files = this.drafts.map(({ name, known, base, state }) => ({ name, text: state.doc.eq(base) ? known : state.doc.toString() }));
    const property = files.pop()!;
    return { files: this.editable ? files : [], property, chosen: this.chosen, root: this.rootInput.value.trim() || null };
  }

  private run(): void {
    const texts = this.texts();
    this.everEdited ||= this.edited;
    this.drafts.forEach((draft, at) => {
      draft.known = (texts.files[at] ?? (at + 1 === this.drafts.length ? texts.property : { text: draft.known })).text;
      draft.base = draft.state.doc;
    });
    this.knownRoot = this.rootInput.value;
    this.renderTabs();
    this.send(texts);
  }

  choose(property: string | null): void {
    this.chosen = property;
    this.run();
  }

  start(root: string): void {
    this.rootInput.value = root;
    this.run();
  }

  focus(): void {
    this.view.focus();
  }

  /** The text that is shown, for tests: only the lines that are seen are part of the page. */
  get text(): string {
    return this.view.state.doc.toString();
  }

  private saveText(): void {
    const name = short(this.drafts[this.current]!.name) || "property.mcl";
    save(name, new Blob([this.text], { type: "text/plain" }));
  }

  private draft(file: TextFile, property: boolean): Draft {
    const base = textOf(file.text);
    const state = EditorState.create({ doc: base, extensions: this.extensions(file.name, property) });
    return { name: file.name, known: file.text, base, state, marks: new Map() };
  }

  private extensions(name: string, property: boolean): Extension {
    return [
      lineNumbers(),
      lintGutter(),
      linter(null),
      history(),
      drawSelection(),
      highlightSpecialChars(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      highlightSelectionMatches(),
      bracketMatching(),
      search({ top: true }),
      syntaxHighlighting(COLOURS),
      modeOf(name || "property.mcl"),
      EditorState.tabSize.of(3),
      EditorView.contentAttributes.of({ id: "text", "aria-label": `Text of ${short(name)}`, spellcheck: "false", tabindex: "0" }),
      property ? placeholder('A property in MCL, such as [ true* . "ERROR" ] false') : [],
      keymap.of([{ key: "Mod-Enter", run: () => (this.run(), true) }, ...searchKeymap, ...historyKeymap, ...lintKeymap, ...defaultKeymap]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) this.markTab();
      }),
    ];
  }

  /** Notes what was typed in the text that is shown. */
  private keep(): void {
    const shown = this.drafts[this.current];
    if (shown) shown.state = this.view.state;
  }

  /** Shows one of the texts; those that are shown already keep their place. */
  private open(at: number): void {
    this.current = at;
    const { state } = this.drafts[at]!;
    if (state !== this.view.state) this.view.setState(state);
  }

  private render(): void {
    this.renderTabs();
    this.list.hidden = this.messages.length === 0;
    this.list.replaceChildren(...this.messages.map((message) => this.item(message)));
  }

  private renderTabs(): void {
    this.tabs.replaceChildren(
      ...this.drafts.map((draft, at) =>
        make("button", {
          textContent: short(draft.name) || "property.mcl",
          className: at === this.current ? "on" : "",
          type: "button",
          onclick: () => {
            this.keep();
            this.open(at);
            this.renderTabs();
          },
        }),
      ),
    );
    for (const [at, tab] of [...this.tabs.children].entries()) {
      tab.setAttribute("aria-pressed", String(at === this.current));
      this.markTab(at);
    }
  }

  /** Marks the tab of a text in which something was typed that was not run. */
  private markTab(at = this.current): void {
    const draft = this.drafts[at];
    const tab = this.tabs.children[at] as HTMLElement | undefined;
    if (!draft || !tab) return;
    const doc = at === this.current ? this.view.state.doc : draft.state.doc;
    const edited = !doc.eq(draft.base);
    tab.classList.toggle("edited", edited);
    tab.title = edited ? "Edited, and not yet run" : "";
  }

  private item(message: Message): HTMLElement {
    const place = message.place;
    const where = place ? `${short(place.file)}:${place.line}:${place.column}: ` : "";
    const body = make("div", {}, make("b", { textContent: where }), message.message);
    if (message.label) body.append(make("div", { textContent: message.label }));
    for (const text of message.notes) body.append(make("div", { className: "hint", textContent: text }));
    for (const text of message.helps) body.append(make("div", { className: "hint", textContent: `Hint: ${text}` }));
    if (place) pressable(body, () => this.goTo(message, true));
    return make("li", { className: message.severity }, body);
  }

  /** Shows the place of a message, wherever it is by now. */
  private goTo(message: Message, focus: boolean): void {
    const at = this.drafts.findIndex((draft) => draft.marks.has(message));
    if (at < 0) return;
    this.keep();
    this.open(at);
    this.renderTabs();
    const mark = this.drafts[at]!.marks.get(message);
    forEachDiagnostic(this.view.state, (one, from, to) => {
      if (one !== mark) return;
      const effects = EditorView.scrollIntoView(from, { y: "center" });
      this.view.dispatch(focus ? { selection: { anchor: from, head: to }, effects } : { effects });
    });
    if (focus) this.view.focus();
  }
}

function textOf(text: string): Text {
  return Text.of(text.split(/\r\n?|\n/));
}

/** Where a line and a column are; columns count characters, and some of them take two places. */
function offset(doc: Text, line: number, column: number): number {
  if (line > doc.lines) return doc.length;
  const { from, text } = doc.line(Math.max(1, line));
  let at = 0;
  for (let passed = 1; passed < column && at < text.length; passed++) at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  return from + at;
}

function diagnosticOf({ severity, message, place, label, notes, helps }: Message, doc: Text): Diagnostic {
  const { line, column, end_line, end_column } = place as Place;
  const from = offset(doc, line, column);
  const to = Math.max(from, offset(doc, end_line, end_column));
  const words = [message, label, ...notes, ...helps.map((text) => `Hint: ${text}`)];
  return { severity, from, to, message: words.filter((text) => text).join("\n") };
}
