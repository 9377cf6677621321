// The page: puts the parts together and passes on what happens in one to the others.
import { Advice } from "./advice";
import { Closed, LiveProject, Program, Snapshot, type Backend } from "./backend";
import { Choices } from "./choices";
import { Columns, type Panel } from "./columns";
import { ComparePanel } from "./compare";
import { ConformancePanel } from "./conformance";
import { CoveragePanel } from "./coverage";
import { Dialogs } from "./dialogs";
import { button, count, make, save } from "./dom";
import { dragging } from "./dragging";
import { Editor } from "./editor";
import { Finder } from "./finder";
import { galleryOf } from "./gallery";
import { helpOf, listen, type Key } from "./keys";
import { Legend } from "./legend";
import { linkOf, read, written, type Link } from "./link";
import { Listing, short } from "./listing";
import { NetPanel } from "./net";
import { Note, type Topic } from "./note";
import { Painter } from "./painter";
import { DARK, LIGHT } from "./palette";
import { dotOf, MOST_LINES, pngOf, svgOf } from "./pictures";
import { PropertyTable } from "./properties";
import { savingSheet } from "./saving";
import { remember, remembered } from "./settings";
import { Space, type Hit } from "./space";
import "./style.css";
import { Suspects } from "./suspects";
import { Tooltip } from "./tooltip";
import { TracePanel } from "./trace";
import { Walk } from "./walk";
import { FLAG, KINDS, MERGING, REGION, SEVERAL, TAGS, type Choice, type Counterexample, type Drawing, type Look, type Place, type Scene, type SceneChange, type Status, type Summary, type Texts, type Transition } from "./wire";

class Page {
  private token = new URLSearchParams(location.search).get("token") ?? "";
  private program = new Program(this.token);
  private snapshot = Snapshot.inPage();
  backend: Backend | null = null;
  summary: Summary | null = null;
  scene: Scene | null = null;
  status: Status | null = null;
  private stopWatching: () => void = () => undefined;
  private generation = -1;
  /** The last attempt to open whose end was shown. */
  private attempt = -1;
  private sceneVersion = -1;
  /** What became of the traces when that was last fetched. */
  private checked = 0;
  /** What the camera follows until it is at rest: another one is shown as a whole. */
  private arranged = "";
  private following = false;
  /** Whether the scene has its last positions, for tests. */
  atRest = false;
  private fetching = false;
  private again = false;
  selected: Hit = null;
  private nth = 1;
  private seed = 0;
  private labelsShown = false;
  /** Where the address of the page leads, until that is shown. */
  private link: Link | null = null;

  private holder = make("div", { id: "space" });
  private tooltip = new Tooltip({
    backend: () => this.asked(),
    scene: () => this.scene,
    summary: () => this.summary,
    labelOf: (scene, edge) => this.labelOf(scene, edge),
  });
  private note = new Note();
  private dialogs = new Dialogs();
  private progress = make("div", { id: "progress", hidden: true });
  private lost = make("div", { id: "lost", hidden: true, textContent: "The program is not responding. Restart it and open the address it prints; what you see here stays." });
  private title = make("span", { id: "title" });
  private sizes = make("span", { id: "sizes", className: "hint" });
  private closing = button("✕", "Close this model (Shift+Q)", () => void this.closeModel(), "close-model");
  private property = make("select", { id: "properties", hidden: true, title: "Which property to look at", ariaLabel: "Property" });
  private starts = make("select", { id: "starts", hidden: true, title: "What to start with", ariaLabel: "Start" });
  private projects = make("select", { id: "projects", hidden: true, title: "Open models", ariaLabel: "Open models" });
  private columns: Columns;

  readonly space: Space;
  readonly legend = new Legend(() => {
    this.space.setFilter(this.legend.filter);
    this.advise();
  });
  private advice = new Advice({
    counterexample: () => void this.counterexample("shortest"),
    table: () => void this.counterexample("shortest").then(() => this.show("trace")),
    edit: () => this.edit(),
    unfilter: () => this.legend.showAll(),
  });
  readonly listing = new Listing((file, line, column) => void this.lightLine(file, line, column));
  readonly walk: Walk;
  readonly net: NetPanel;
  readonly editor = new Editor((texts) => void this.run(texts));
  readonly conformance = new ConformancePanel({
    part: (failure, from) => {
      const project = this.needed();
      return project ? project.part(failure, from) : Promise.reject(new Error("Open a model first."));
    },
    light: (places, word) => {
      if (word !== undefined) this.show("source");
      this.listing.light(places);
      if (word !== undefined) this.listing.say(word);
    },
    at: (node) => void this.markNode(node),
    cancel: () => this.cancel(),
    complain: (error) => this.complain(error),
  });
  readonly coverage = new CoveragePanel(
    () => this.needed(),
    (error) => this.complain(error),
  );
  readonly choices = new Choices((choice) => void this.showChoice(choice));
  readonly properties = new PropertyTable((name) => this.editor.choose(name));
  readonly suspects = new Suspects((suspect) => this.openSource([suspect], suspect.reason));
  readonly trace = new TracePanel({
    trace: (start, edges) => this.asked().trace(start, edges),
    jump: (cursor) => void this.walk.jump(cursor),
    open: (places, word) => this.openSource(places, word),
  });
  readonly compare = new ComparePanel(
    this.program,
    {
      project: () => this.needed(),
      name: () => this.summary?.name ?? "this model",
      draw: (edges, node) => void this.drawPath(edges, node),
      // Once the page is laid out.
      resized: () => void requestAnimationFrame(() => requestAnimationFrame(() => void (this.space.turned || this.space.fit()))),
      say: (text) => this.say(text),
      complain: (error) => this.complain(error),
    },
    () => this.palette,
  );
  readonly finder: Finder;
  readonly painter = new Painter(
    (condition) => this.asked().satisfying(condition),
    (found) => this.space.paint(found && new Map(found.drawn.map(([at, many]) => [at, many / (this.scene?.sizes[at] ?? 1)]))),
    (node) => void this.visit(node),
  );
  private reducing = make("select", { id: "reduce", title: "Draw equivalent states as one" }, make("option", { value: "", textContent: "not reduced" }), ...MERGING.map((name) => make("option", { value: name, textContent: `reduced: ${name}` })));
  private unpinning = button("Unpin", "Let all states that were dragged go where they like", () => void this.change({ unpin: true }), "unpin");
  private keys: Key[];

  constructor() {
    this.walk = new Walk({
      state: (node) => this.asked().state(node),
      walked: (path, cursor, node) => {
        this.note.settle("walk");
        this.writeLink();
        this.net.show(this.walk.here);
        void this.trace.show(this.walk.moment);
        void this.drawWalk(path, cursor, node);
      },
      look: (edge) => void this.lookAtEdge(edge),
      say: (text) => this.say(text, "walk"),
      complain: (error) => this.complain(error, "walk"),
      wantCounterexample: (which) => void this.counterexample(which),
      wantTraceFile: () => this.pickTrace(),
      wantWay: () => void this.wayHere(),
    });
    this.net = new NetPanel({
      take: (step) => void this.walk.forward(step),
      back: () => void this.walk.back(),
      forward: () => void this.walk.take(),
      undo: () => void this.walk.undo(),
      look: (edge) => void this.lookAtEdge(edge),
      say: (text) => this.say(text),
    });
    this.finder = new Finder(
      (among, pattern) => this.asked().search(among, pattern),
      (found, among) => {
        this.space.highlight("found", among === "labels" ? (found?.drawn ?? []) : []);
        this.space.ring(among === "states" ? (found?.drawn ?? []) : []);
      },
      (node) => void this.visit(node),
    );
    const panels = { source: this.listing.element, net: this.net.element, walk: this.walk.element, trace: this.trace.element, compare: this.compare.element, conformance: this.conformance.element, edit: this.editor.element, coverage: this.coverage.element };
    this.keys = this.makeKeys();
    this.columns = this.build(panels);
    this.space = new Space(this.holder);
    this.theme(this.snapshot?.look.theme ?? remembered("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
    this.listenToPointer();
    if (!this.snapshot) dragging(this.space, (node, at) => void this.change({ pin: { node: this.scene!.nodes[node]!, at } }));
    listen(this.keys, () => this.dialogs.top !== null);
    window.addEventListener("hashchange", () => void this.followLink());
    window.addEventListener("beforeunload", (event) => {
      if (this.editor.edited) event.preventDefault();
    });
    void this.start();
  }

  private build(panels: Record<Panel, HTMLElement>): Columns {
    const live = this.snapshot === null;
    this.closing.hidden = true;
    this.property.onchange = () => this.editor.choose(this.property.value || null);
    this.reducing.setAttribute("aria-label", "Draw equivalent states as one");
    this.reducing.onchange = () => {
      // Keys are for the page again.
      this.reducing.blur();
      void this.change(this.reducing.value ? { reduce: this.reducing.value } : { detail: (this.summary?.nodes ?? 0) > 5_000 ? "collapsed" : "all" });
    };
    this.unpinning.hidden = true;
    this.starts.onchange = () => this.editor.start(this.starts.value);
    this.projects.onchange = async () => {
      const wanted = Number(this.projects.value);
      if (await this.mayLeave()) this.open(wanted);
      else this.projects.value = String(this.project?.id ?? "");
    };
    const header = make(
      "header",
      {},
      make("h1", { textContent: "Watershed" }),
      live ? button("Models", "Examples and your own files (G)", () => void this.gallery(), "models") : "",
      live ? this.projects : "",
      this.title,
      live ? this.closing : "",
      live ? this.starts : "",
      live ? this.property : "",
      this.sizes,
      make("span", { className: "gap" }),
      button("Fit", "Show everything from the front (F)", () => this.space.fit(), "fit"),
      button("Labels", "Show labels (L)", () => this.flipLabels(), "labels"),
      live ? button("Layers", "Lay out by distance from the initial state, or freely (Y)", () => this.flipShape(), "shape-button") : "",
      live ? button("Collapse", "Draw regions without a choice as super-nodes, or every state (D)", () => this.flipDetail(), "detail") : "",
      live ? this.reducing : "",
      live ? this.unpinning : "",
      button("Save", "Save what is shown: PNG (S), SVG, DOT, or a page that works without the program (E)", () => this.saving(), "save"),
      button("◐", "Light or dark (T)", () => this.theme(document.documentElement.dataset["theme"] === "dark" ? "light" : "dark"), "theme"),
      button("?", "Keys (?)", () => this.help(), "help-button"),
    );
    const left = make("aside", { className: "left" }, this.finder.element, this.painter.element, this.properties.element, this.choices.verdict, this.suspects.element, this.choices.element, this.legend.element);
    left.setAttribute("aria-label", "Property and legend");
    this.holder.append(this.advice.element, this.tooltip.element, this.progress);
    const offered = (Object.keys(panels) as Panel[]).filter((panel) => live || !["edit", "coverage", "conformance", "compare"].includes(panel));
    const columns = new Columns(panels, offered, left, [this.holder, this.compare.holder], (panel) => {
      if (panel === "trace") void this.trace.show(this.walk.moment);
      if (panel === "compare") void this.compare.open();
      else if (this.compare.element.hidden) this.compare.close();
      if (this.generation >= 0) this.writeLink();
    });
    columns.offer("conformance", false);
    document.body.append(header, this.lost, columns.element, this.note.element);
    return columns;
  }

  /** Offers the conformance view where there are traces. */
  private showConformance(count: number): void {
    this.columns.offer("conformance", count > 0);
  }

  /** Shows the walk, unless it is followed in the net. */
  private showWalk(): void {
    const followed = this.columns.shows("trace") || (this.columns.shows("net") && !this.columns.isBeside);
    if (!followed) this.show("walk");
  }

  /** Shows the drawing of the model, if it has one. */
  private showDrawing(drawing: Drawing | null): void {
    this.net.open(drawing);
    this.columns.offer("net", drawing !== null);
  }

  show(panel: Panel): void {
    this.columns.show(panel);
  }

  private async start(): Promise<void> {
    if (this.snapshot) return this.use(this.snapshot);
    try {
      const projects = await this.program.projects();
      const link = read(location.hash);
      const wanted = projects.find((one) => one.id === link?.model);
      if (wanted) this.link = link;
      const last = wanted ?? projects.at(-1);
      if (last) this.open(last.id);
      else await this.gallery();
    } catch (error) {
      this.complain(error);
    }
  }

  /** The address of the page has changed: shows what it leads to. */
  private async followLink(): Promise<void> {
    const link = read(location.hash);
    if (this.snapshot || !link) return;
    if (link.model === this.project?.id) {
      this.link = link;
      return void (this.summary && this.arrive(this.summary));
    }
    if (!(await this.program.projects().catch(() => [])).some((one) => one.id === link.model)) return this.say("The model of this link is no longer open.");
    if (!(await this.mayLeave())) return;
    this.link = link;
    this.open(link.model);
  }

  /** Keeps in the address of the page what is shown. */
  private writeLink(): void {
    const { project, summary } = this;
    if (!project || !summary || this.link) return;
    const link = linkOf(project.id, this.generation, summary.texts.chosen, this.walk.moment, this.walk.node, this.columns.shown);
    history.replaceState(null, "", written(link));
  }

  /** Goes where the address leads, or starts at the beginning. */
  private arrive(summary: Summary): void {
    const link = this.link;
    if (!link || link.model !== this.project?.id) {
      this.link = null;
      return void (summary.nodes > 0 && this.walk.startAt(0));
    }
    link.panels.filter((panel) => this.columns.offers(panel)).forEach((panel) => this.show(panel));
    const known = link.property === null || summary.properties.some((one) => one.property === link.property);
    if (link.property !== summary.texts.chosen && known) {
      // Once: what comes of it is shown, whatever it is.
      this.link = { ...link, property: summary.texts.chosen };
      return this.editor.choose(link.property);
    }
    this.link = null;
    void this.restoreWalk(link);
  }

  private async restoreWalk(link: Link): Promise<void> {
    const backend = this.asked();
    try {
      if (link.version !== this.generation) throw new Error("The model has changed since this link was made: the walk starts anew.");
      const path = await Promise.all(link.steps.map((edge) => backend.edge(edge)));
      const follows = path.every((step, at) => step.source === (path[at - 1]?.target ?? link.start));
      const lasso = link.lasso !== null && path[link.lasso]?.source === path.at(-1)?.target ? link.lasso : null;
      if (!follows) throw new Error("The steps of this link do not follow each other: the walk starts anew.");
      if (backend === this.backend) await this.walk.restore({ start: link.start, path, cursor: link.cursor, lasso });
    } catch (error) {
      if (backend !== this.backend) return;
      this.complain(error);
      await this.walk.startAt(0);
    }
  }

  private asked(): Backend {
    if (!this.backend) throw new Error("Open a model first.");
    return this.backend;
  }

  private get project(): LiveProject | null {
    return this.backend instanceof LiveProject ? this.backend : null;
  }

  /** The open model, or a word on why there is none to ask. */
  private needed(): LiveProject | null {
    if (!this.project) this.say(this.snapshot ? "This is an exported view: that needs the live page." : "Open a model first.");
    return this.project;
  }

  open(id: number): void {
    this.use(this.program.project(id));
    void this.listProjects(id).catch((error: Error) => this.complain(error));
  }

  /** Closes the model for good; another one that is open takes its place. */
  async closeModel(): Promise<void> {
    const project = this.needed();
    if (!project) return;
    const about = "They are kept nowhere else. Save text under Edit saves them as files.";
    if (this.editor.changed && !(await this.dialogs.ask(`Close ${this.summary?.name ?? "the model"} with its edits?`, about, "Close, and lose the edits", "Keep it open"))) return;
    try {
      await this.program.close(project.id);
    } catch (error) {
      return this.complain(error);
    }
    if (project === this.project) await this.gone();
  }

  /** The model that is shown is no longer open. */
  private async gone(): Promise<void> {
    const name = this.summary?.name ?? "The model";
    const texts = this.editor.edited ? this.editor.texts() : null;
    this.leave();
    history.replaceState(null, "", location.pathname + location.search);
    await this.listProjects(-1).catch(() => undefined);
    await this.start();
    this.say(`${name} was closed.`, "program");
    if (texts && (await this.dialogs.ask(`${name} was closed. Save what you have edited?`, "It was closed elsewhere, before the edits were run.", "Save the texts", "Discard the edits"))) {
      for (const { name, text } of [...texts.files, texts.property]) save(short(name) || "property.mcl", new Blob([text], { type: "text/plain" }));
    }
  }

  /** Asks before edits are lost that were not run. */
  private async mayLeave(): Promise<boolean> {
    if (!this.editor.edited) return true;
    return this.dialogs.ask(`Leave ${this.summary?.name ?? "the model"} with its edits?`, "They were not run yet, and are kept nowhere else.", "Discard the edits", "Keep editing");
  }

  private async listProjects(current: number): Promise<void> {
    const projects = await this.program.projects();
    this.projects.replaceChildren(...projects.map((one) => make("option", { value: String(one.id), textContent: one.name, selected: one.id === current })));
    this.projects.hidden = projects.length < 2;
  }

  /** Shows no model. */
  private leave(): void {
    this.stopWatching();
    this.stopWatching = () => undefined;
    this.coverage.cancel();
    this.backend = this.scene = this.summary = this.status = this.selected = null;
    this.generation = this.sceneVersion = this.attempt = -1;
    this.checked = 0;
    this.conformance.show(null);
    this.showConformance(0);
    this.arranged = "";
    this.tooltip.hide();
    this.lost.hidden = this.progress.hidden = this.closing.hidden = true;
    this.property.hidden = this.starts.hidden = true;
    this.title.textContent = this.sizes.textContent = "";
    this.space.empty();
    this.walk.reset();
    this.finder.clear();
    this.editor.forget();
    this.coverage.show([]);
    this.choices.clear();
    this.properties.show(null);
    this.suspects.show(null);
    this.trace.clear();
    this.compare.forget();
    this.painter.clear();
    this.listing.show([], []);
    this.listing.say("");
    this.net.open(null);
    this.advice.forget();
    this.note.settle("model", "walk");
    this.dialogs.closeAll();
  }

  private use(backend: Backend): void {
    this.leave();
    this.backend = backend;
    this.closing.hidden = false;
    const current = () => backend === this.backend;
    this.stopWatching = backend.watch({
      told: (status) => void (current() && this.told(status)),
      lost: (lost) => void (current() && (this.lost.hidden = !lost)),
      gone: () => void (current() && this.gone()),
    });
  }

  /** Something has changed: fetches what is new, one thing after the other. */
  private async told(status: Status): Promise<void> {
    this.status = status;
    this.unpinning.hidden = status.pins === 0;
    this.showProgress(status);
    if (status.running) this.note.settle("model");
    if (this.fetching) {
      this.again = true;
      return;
    }
    this.fetching = true;
    const backend = this.backend!;
    try {
      do {
        this.again = false;
        await this.fetch(backend, this.status);
      } while (this.again && backend === this.backend);
    } catch (error) {
      if (backend === this.backend) this.complain(error);
    }
    this.fetching = false;
    // What another model told in the meantime.
    if (backend !== this.backend && this.status) void this.told(this.status);
  }

  private async fetch(backend: Backend, status: Status): Promise<void> {
    const fresh = status.generation !== this.generation;
    const ended = !status.running && status.attempt !== this.attempt;
    if (fresh || ended || !this.summary) {
      const summary = await backend.summary();
      const drawing = fresh && summary.drawing ? await backend.drawing() : null;
      if (backend !== this.backend) return;
      const kept = !fresh && this.summary !== null;
      this.summary = summary;
      if (ended) this.attempt = status.attempt;
      if (!kept) {
        this.generation = status.generation;
        this.walk.reset();
        this.finder.clear();
        this.showDrawing(drawing);
        this.nth = 1;
        this.showSummary(summary);
      }
      this.editor.complain(status.failure?.messages ?? []);
      if (ended && status.failure) this.tellFailure(status.failure);
      this.advise();
    }
    if (status.generation > 0 && status.scene !== this.sceneVersion) {
      const scene = await backend.scene();
      if (backend !== this.backend) return;
      this.scene = scene;
      this.sceneVersion = scene.version;
      this.selected = null;
      this.space.setScene(scene, (edge) => this.labelOf(scene, edge));
      this.space.setFilter(this.legend.filter);
      this.atRest = false;
      // A super-node that opens leaves the view where it is.
      const arranged = `${status.generation} ${status.detail} ${status.relation} ${status.shape}`;
      // A large system that is small when it is reduced.
      const large = status.relation !== null && !this.arranged.startsWith(`${status.generation} `);
      if (large) this.say(`This system is large, so ${status.relation}-equivalent states are drawn as one. The menu at the top says “${this.reducing.options[0]!.text}” for all of them.`);
      if (arranged !== this.arranged) this.follow(arranged);
      this.showSizes();
      this.advise();
      this.finder.again();
      this.painter.again();
      if (this.walk.path.length) void this.drawWalk(this.walk.path, this.walk.cursor, this.walk.node);
    }
    if (status.conformance !== this.checked && backend instanceof LiveProject) {
      const answer = await backend.conformance();
      if (backend !== this.backend) return;
      this.showConformance(status.conformance);
      if (this.checked === 0) this.show("conformance");
      this.checked = status.conformance;
      this.conformance.show(answer);
    }
    if (this.scene) {
      const positions = await backend.positions();
      if (backend !== this.backend) return;
      if (positions.version === this.sceneVersion) {
        this.space.setPositions(positions.values);
        if (this.following && !this.space.turned) this.space.fit();
        if (this.snapshot) this.space.eye = this.snapshot.look.eye;
        if (positions.settled) {
          this.atRest = true;
          this.following = false;
        }
      } else this.again = true;
    }
  }

  /** Keeps everything in view until it rests, or the user moves the view. */
  private follow(arranged: string): void {
    this.arranged = arranged;
    this.following = true;
    this.space.turned = false;
  }

  private tellFailure(failure: NonNullable<Status["failure"]>): void {
    if (failure.summary === "cancelled") return this.say("Cancelled.");
    // A model that is too large to be drawn can still be walked beside traces.
    if (this.checked === 0) this.show("edit");
    const first = failure.messages[0];
    this.say(first ? `${first.place ? `${short(first.place.file)}:${first.place.line}: ` : ""}${first.message}` : failure.summary);
  }

  private showSummary(summary: Summary): void {
    this.title.textContent = summary.name;
    document.title = `${summary.name} · Watershed Studio`;
    this.property.replaceChildren(
      make("option", { value: "", textContent: "first violated property" }),
      ...summary.properties.map(({ property: name }) => make("option", { value: name, textContent: name, selected: name === summary.texts.chosen })),
    );
    this.property.hidden = summary.properties.length < 2;
    // The first needs no name to start with.
    const known = summary.starts.map(({ root, about }, at) => ({ value: at === 0 ? "" : root, textContent: about ? `${root}: ${about}` : root }));
    const start = summary.texts.root ?? "";
    const value = start === summary.starts[0]?.root ? "" : start;
    this.starts.replaceChildren(...known.map((one) => make("option", { ...one, selected: one.value === value })));
    this.starts.hidden = !known.some((one) => one.value === value);
    this.choices.show(summary);
    this.properties.show(this.snapshot ? null : summary);
    this.suspects.show(summary);
    this.trace.clear();
    this.listing.show(summary.files, summary.explanation?.source ?? []);
    this.legend.show(this.palette, summary.explanation);
    this.editor.show(summary);
    this.coverage.show(summary.files);
    if (this.snapshot) this.restore(this.snapshot.look);
    else this.arrive(summary);
  }

  /** Says what to do next where the picture does not. */
  private advise(): void {
    this.advice.show(this.summary, this.status?.failure?.summary ?? null, this.scene?.edges.length ?? 0, this.space.shownEdges());
  }

  private edit(): void {
    if (!this.needed()) return;
    this.show("edit");
    this.editor.focus();
  }

  /** How the page looks at the model now. */
  private look(): Look {
    const theme = document.documentElement.dataset["theme"] ?? "light";
    return { theme, labels: this.labelsShown, filter: this.legend.filter, eye: this.space.eye, walk: this.walk.moment };
  }

  /** Looks at the model as whoever exported it did. */
  private restore(look: Look): void {
    this.legend.filter = look.filter;
    this.legend.show(this.palette, this.summary?.explanation ?? null);
    if (look.labels !== this.labelsShown) this.flipLabels();
    void this.walk.restore(look.walk);
  }

  private showSizes(): void {
    const scene = this.scene;
    const summary = this.summary;
    if (!scene || !summary) return;
    const relation = this.status?.relation;
    const why = relation ? ` (${relation}-equivalent states are one)` : "";
    const part = scene.nodes.length < summary.nodes ? `, drawn as ${count(scene.nodes.length, "node")}${why}` : "";
    this.reducing.value = relation ?? "";
    this.sizes.textContent = this.sizes.title = `${count(summary.nodes, "state")}, ${count(summary.transitions, "transition")}${part}`;
    const detail = document.getElementById("detail");
    if (detail) detail.textContent = this.status?.detail === "all" ? "Collapse" : "All states";
    const shape = document.getElementById("shape-button");
    if (shape) shape.textContent = this.status?.shape === "layers" ? "Free" : "Layers";
  }

  private showProgress(status: Status): void {
    this.progress.hidden = !status.running;
    if (!status.running) return;
    const done = status.total > 0 ? `${Math.floor((100 * status.done) / status.total)} %` : status.done > 0 ? status.done.toLocaleString("en") : "";
    this.progress.replaceChildren(
      make("span", { textContent: `${status.stage} ${done}` }),
      make("progress", status.total > 0 ? { max: status.total, value: status.done } : {}),
      button("Cancel", "Stop (Esc)", () => this.cancel(), "cancel"),
    );
  }

  private cancel(): void {
    void this.project?.cancel().catch((error: Error) => this.complain(error));
  }

  say(text: string, topic: Topic = "model"): void {
    this.note.say(text, topic);
  }

  /** Says what went wrong. That a model was closed is said once, whatever was asked of it meanwhile. */
  private complain(error: unknown, topic: Topic = "model"): void {
    if (!(error instanceof Closed)) this.say((error as Error).message, topic);
  }

  private labelOf(scene: Scene, edge: number): string {
    const label = scene.labels[edge]!;
    const many = scene.counts[edge]!;
    if (label === SEVERAL) return `${many} transitions`;
    return (this.summary?.labels[label] ?? "?") + (many > 1 ? ` × ${many}` : "");
  }

  private get palette() {
    return document.documentElement.dataset["theme"] === "dark" ? DARK : LIGHT;
  }

  private theme(name: string): void {
    document.documentElement.dataset["theme"] = name;
    remember("theme", name);
    const palette = this.palette;
    for (const [tag, colour] of Object.entries(palette.tags)) document.documentElement.style.setProperty(`--${tag}`, colour);
    document.documentElement.style.setProperty("--path", palette.path);
    document.documentElement.style.setProperty("--found", palette.found);
    this.space.setPalette(palette);
    this.compare.theme();
    this.legend.show(palette, this.summary?.explanation ?? null);
    if (this.walk.path.length) void this.drawWalk(this.walk.path, this.walk.cursor, this.walk.node);
  }

  // Picking and hovering.

  private listenToPointer(): void {
    const canvas = this.space.canvas;
    let moved = 0;
    let waiting = false;
    let last: Hit = null;
    canvas.addEventListener("pointerdown", () => (moved = 0));
    canvas.addEventListener("pointermove", (event) => {
      moved += Math.abs(event.movementX) + Math.abs(event.movementY);
      if (event.buttons !== 0 || waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        const hit = this.space.pick(event.offsetX, event.offsetY);
        if (JSON.stringify(hit) !== JSON.stringify(last)) {
          last = hit;
          void this.tooltip.show(hit, event.offsetX, event.offsetY);
        }
      });
    });
    canvas.addEventListener("pointerleave", () => {
      last = null;
      this.tooltip.hide();
    });
    canvas.addEventListener("click", (event) => {
      if (moved < 6) void this.select(this.space.pick(event.offsetX, event.offsetY));
    });
    canvas.addEventListener("dblclick", (event) => {
      const hit = this.space.pick(event.offsetX, event.offsetY);
      if (hit && "node" in hit && this.isRegion(hit.node)) void this.change({ open: this.scene!.nodes[hit.node]! - REGION });
    });
  }

  private isRegion(node: number): boolean {
    return ((this.scene?.flags[node] ?? 0) & FLAG.region) !== 0;
  }

  async select(hit: Hit): Promise<void> {
    this.selected = hit;
    this.space.highlight("selected", []);
    if (!hit || !this.scene) return;
    if ("edge" in hit) {
      this.space.highlight("selected", [hit.edge]);
      await this.lookAtEdge(this.scene.edges[hit.edge]!);
      this.show("source");
    } else if (this.isRegion(hit.node)) {
      this.space.mark(hit.node);
      this.say(`A super-node of ${count(this.scene.sizes[hit.node]!, "state")}: press O or double click to open it.`);
    } else {
      await this.walk.startAt(this.scene.nodes[hit.node]!);
      this.showWalk();
    }
  }

  private async lookAtEdge(edge: number): Promise<void> {
    try {
      const answer = await this.asked().edge(edge);
      if (answer.drawn !== null) this.space.highlight("selected", [answer.drawn]);
      const actions = answer.constructs.filter((one) => one.kind === "action");
      const places = actions.length ? actions : answer.constructs.filter((one) => one.kind !== "block");
      this.listing.light(places);
      this.listing.say(places.length ? `${answer.label}: ${answer.tag}` : `${answer.label} has no line of its own.`);
    } catch (error) {
      this.complain(error);
    }
  }

  /** Opens the source at some places. */
  private openSource(places: Place[], word: string): void {
    this.show("source");
    this.listing.light(places);
    this.listing.say(word);
  }

  /** The construct at a column, where there is one, or the whole line. */
  private async lightLine(file: string, line: number, column?: number): Promise<void> {
    try {
      const found = await this.asked().line(file, line, column);
      this.space.highlight("found", found.drawn);
      const at = (one: Place) => one.file === file && one.line === line && one.column === column;
      const construct = column === undefined ? undefined : this.summary?.explanation?.source.find((one) => one.kind === "action" && at(one));
      const text = this.summary?.files.find((one) => one.name === file)?.text.split("\n")[line - 1] ?? "";
      this.listing.light([construct ?? { file, line, column: 1, end_line: line, end_column: text.length + 1 }]);
      const hidden = found.total > 0 && found.drawn.length === 0 ? ", all inside super-nodes" : found.partial ? " outside super-nodes" : "";
      const what = construct ? `The action at ${line}:${column}` : `Line ${line}`;
      this.listing.say(found.total ? `${what} takes part in ${count(found.total, "transition")}${hidden}.` : `${what} takes part in no transition.`);
    } catch (error) {
      this.complain(error);
    }
  }

  private async showChoice(choice: Choice): Promise<void> {
    if (!this.scene) return;
    const drawn = new Set<number>();
    const wanted = new Set(choice.states);
    const nodes: number[] = [];
    this.scene.nodes.forEach((node, at) => {
      if (wanted.has(node)) nodes.push(at);
    });
    const members = new Set(nodes);
    this.scene.sources.forEach((source, edge) => {
      if (members.has(source)) drawn.add(edge);
    });
    this.space.highlight("choice", [...drawn]);
    this.space.ring(nodes);
    if (nodes.length > 0) this.space.follow(nodes);
    const places = [...choice.incorrect, ...choice.correct].flatMap((exit) => exit.actions);
    if (places.length > 0) this.openSource(places, "These actions compete there.");
    if (nodes.length === 0) this.say("These states are inside super-nodes.");
  }

  private async visit(node: number): Promise<void> {
    await this.walk.startAt(node);
    this.showWalk();
  }

  /** Draws the walk; what is hidden in super-nodes is opened. */
  private async drawWalk(path: Transition[], cursor: number, node: number): Promise<void> {
    const scene = this.scene;
    if (!scene) return;
    const place = await this.asked().state(node).catch(() => null);
    if (scene !== this.scene) return;
    this.space.mark(place?.place ?? null);
    await this.lightPath(path.map((step) => step.edge));
    if (scene !== this.scene) return;
    if (path.length > 0 && place) this.space.follow([place.place]);
    const step = path[cursor - 1];
    if (step) void this.lookAtEdge(step.edge);
  }

  /** Walks a shortest way to the present state. */
  private async wayHere(): Promise<void> {
    try {
      await this.load(this.asked().way(this.walk.node), true);
    } catch (error) {
      this.complain(error);
    }
  }

  /** Draws transitions as the walk, wherever they are drawn now. */
  private async lightPath(edges: number[]): Promise<void> {
    const scene = this.scene;
    if (!scene) return;
    const of = new Map<number, number>();
    scene.edges.forEach((edge, at) => of.set(edge, at));
    let drawn = edges.map((edge) => of.get(edge) ?? null);
    // Others are drawn as one with transitions that are alike, or lie inside super-nodes.
    if (drawn.includes(null)) drawn = await this.asked().drawn(edges).catch(() => drawn);
    if (scene === this.scene) this.space.highlight("path", drawn.filter((one): one is number => one !== null));
  }

  /** Draws a walk that is not the user's own. */
  private async drawPath(edges: number[], node: number): Promise<void> {
    await this.lightPath(edges);
    await this.markNode(node);
    const state = await this.asked().state(node).catch(() => null);
    if (state) this.space.follow([state.place]);
  }

  /** Marks a state of the model in the picture, or none. */
  private async markNode(node: number | null): Promise<void> {
    const state = node === null ? null : await this.asked().state(node).catch(() => null);
    this.space.mark(state?.place ?? null);
  }

  /** Goes on where the user walks: beside a trace, or through the states. */
  private stride(by: 1 | -1): void {
    if (!this.conformance.element.hidden && this.conformance.move(by)) return;
    if (!this.compare.element.hidden && this.compare.move(by)) return;
    void (by > 0 ? this.walk.take() : this.walk.back());
  }

  async counterexample(which: "shortest" | "next" | "random"): Promise<void> {
    try {
      if (which === "shortest") this.nth = 1;
      if (which === "next") this.nth += 1;
      const wanted = which === "random" ? { random: (this.seed += 1) } : { nth: this.nth };
      await this.load(this.asked().counterexample(wanted));
    } catch (error) {
      this.complain(error);
    }
  }

  private async load(run: Promise<Counterexample>, end = false): Promise<void> {
    const revealed = run.then(async (run) => {
      if (this.status?.detail === "collapsed" && this.backend?.live) await this.asked().change({ reveal: run.nodes.slice(0, 400) });
      return run;
    });
    if (await this.walk.load(revealed, end)) this.showWalk();
  }

  private pickTrace(): void {
    const input = make("input", { type: "file", accept: ".aut,.txt", id: "trace-file" });
    input.onchange = async () => {
      const file = input.files?.[0];
      if (!file) return;
      try {
        await this.load(this.asked().counterexample({ trace: { name: file.name, text: await file.text() } }));
      } catch (error) {
        this.complain(error);
      }
    };
    input.click();
  }

  // Changing what is shown.

  async change(change: SceneChange): Promise<void> {
    try {
      await this.asked().change(change);
    } catch (error) {
      this.complain(error);
    }
  }

  openSelected(): void {
    const hit = this.selected;
    if (hit && "node" in hit && this.isRegion(hit.node)) void this.change({ open: this.scene!.nodes[hit.node]! - REGION });
    else if (this.scene?.nodes.includes(this.walk.node)) this.say("The current state is not in a super-node: click a square to open that one.");
    else void this.change({ reveal: [this.walk.node] });
  }

  closeSelected(): void {
    const hit = this.selected;
    const node = hit && "node" in hit && !this.isRegion(hit.node) ? this.scene?.nodes[hit.node] : undefined;
    void this.change({ close_around: node ?? this.walk.node });
  }

  flipDetail(): void {
    void this.change({ detail: this.status?.detail === "all" ? "collapsed" : "all" });
  }

  flipShape(): void {
    void this.change({ shape: this.status?.shape === "layers" ? "force" : "layers" });
  }

  flipLabels(): void {
    this.labelsShown = !this.labelsShown;
    document.getElementById("labels")?.classList.toggle("on", this.labelsShown);
    this.space.setLabels(this.labelsShown);
    this.compare.labels(this.labelsShown);
  }

  private async run(texts: Texts): Promise<void> {
    try {
      await this.project?.run(texts);
    } catch (error) {
      this.complain(error);
    }
  }

  /** Saves what is shown, as a picture or as a graph. */
  async savePicture(format: "png" | "svg" | "dot"): Promise<void> {
    const { scene, summary, space, palette } = this;
    if (!scene || !summary) return this.say("There is nothing to save: open a model first.");
    const verdict = summary.explanation ? `, ${summary.explanation.property} ${summary.explanation.verdict ? "holds" : "is violated"}` : "";
    const frame = { heading: `${summary.name}${verdict}: ${this.sizes.textContent}`, signs: this.legend.signs, palette };
    const file = `${summary.name}.${format}`;
    try {
      if (format === "dot") return save(file, new Blob([dotOf(scene, (edge) => space.shows(edge), (edge) => this.labelOf(scene, edge), summary.name, palette)], { type: "text/vnd.graphviz" }));
      if (format === "png") return save(file, await pngOf(space.image(), space.sketch(), frame));
      if (space.shownEdges() > MOST_LINES) return this.say(`That is too much for an SVG: more than ${count(MOST_LINES, "transition")}. Collapse the picture (D), or save a PNG.`);
      save(file, new Blob([svgOf(space.sketch(), frame)], { type: "image/svg+xml" }));
    } catch (error) {
      this.complain(error);
    }
  }

  private saving(): void {
    if (this.dialogs.top) return;
    const close = () => this.dialogs.close();
    const page = this.snapshot ? null : () => void this.share();
    this.dialogs.open(savingSheet({ picture: (format) => void this.savePicture(format), page }, close), close);
  }

  async share(): Promise<void> {
    try {
      const page = await this.needed()?.exported(this.look());
      if (page) save(`${this.summary?.name ?? "watershed"}.html`, page);
    } catch (error) {
      this.complain(error);
    }
  }

  // Dialogs.

  help(): void {
    if (this.dialogs.top?.id === "help") this.dialogs.close();
    else if (!this.dialogs.top) this.dialogs.open(helpOf(this.keys, () => this.dialogs.close()), () => this.dialogs.close());
  }

  /** Looks at the present state of the walk. */
  private async lookHere(): Promise<void> {
    try {
      this.space.lookAt((await this.asked().state(this.walk.node)).place);
    } catch (error) {
      this.complain(error);
    }
  }

  async gallery(): Promise<void> {
    if (this.snapshot) return void this.needed();
    try {
      const [entries, files] = await Promise.all([this.program.gallery(), this.program.files()]);
      const open = async (what: Parameters<Program["open"]>[0]) => {
        if (!(await this.mayLeave())) return;
        this.program.open(what).then(
          (id) => this.open(id),
          (error: Error) => this.complain(error),
        );
      };
      // Opened before the answer came, by another press of the key.
      if (this.dialogs.top) return;
      const close = this.backend ? () => this.dialogs.close() : null;
      this.dialogs.open(galleryOf(entries, files, (what) => void open(what), (text) => this.say(text), close), close);
    } catch (error) {
      this.complain(error);
    }
  }

  private escape(): void {
    if (this.dialogs.dismiss() || this.net.dismiss()) return;
    this.note.settle("model", "walk", "program");
    if (this.status?.running) this.cancel();
    else if (this.coverage.cancel() || this.conformance.cancel()) return;
    else {
      this.finder.clear();
      this.space.highlight("found", []);
      this.space.highlight("selected", []);
      this.space.highlight("choice", []);
      this.space.ring([]);
      this.listing.light([]);
      this.listing.say("");
    }
  }

  private makeKeys(): Key[] {
    const key = (shown: string, keys: string[], says: string, does: () => void): Key => ({ shown, keys, says, does });
    const turn = (name: string, across: number, up: number) => key(`Shift+${name}`, [`Shift+${name}`], "turn", () => this.space.orbit(across, up));
    return [
      key("→ Enter", ["ArrowRight", "Enter"], "step forward: take the chosen step", () => this.stride(1)),
      key("←", ["ArrowLeft"], "step back", () => this.stride(-1)),
      key("↑", ["ArrowUp"], "choose the previous step", () => this.walk.choose(-1)),
      key("↓", ["ArrowDown"], "choose the next step", () => this.walk.choose(1)),
      key("U", ["u"], "undo", () => void this.walk.undo()),
      key("0", ["0", "Home"], "walk from the initial state", () => void this.visit(0)),
      key("C", ["c"], "the shortest counterexample", () => void this.counterexample("shortest")),
      key("N", ["n"], "the next longer counterexample", () => void this.counterexample("next")),
      key("R", ["r"], "a random counterexample", () => void this.counterexample("random")),
      key("I", ["i"], "a counterexample from a file", () => this.pickTrace()),
      key("H", ["h"], "a shortest way to the current state", () => void this.wayHere()),
      key("Z", ["z"], "the walk as a table, with lanes and values", () => this.show("trace")),
      key("P", ["p", " "], "play or pause", () => this.walk.play()),
      key("A", ["a"], "only the steps that matter", () => this.walk.flipAbstracted()),
      key("W", ["w"], "save the walk", () => this.walk.saveTrace("txt")),
      key("[", ["["], "the previous choice", () => this.choices.move(-1)),
      key("]", ["]"], "the next choice", () => this.choices.move(1)),
      key("/", ["/"], "search", () => this.finder.focus()),
      key("F", ["f"], "show everything from the front", () => this.space.fit()),
      key("+", ["+", "="], "nearer", () => this.space.zoom(0.8)),
      key("-", ["-"], "farther", () => this.space.zoom(1.25)),
      turn("ArrowLeft", -0.15, 0),
      turn("ArrowRight", 0.15, 0),
      turn("ArrowUp", 0, -0.15),
      turn("ArrowDown", 0, 0.15),
      key("\\", ["\\"], "the walk beside the text, or one at a time", () => this.columns.flipBeside()),
      key("V", ["v"], "look at the current state", () => void this.lookHere()),
      key("L", ["l"], "labels", () => this.flipLabels()),
      key("Y", ["y"], "layered or free layout", () => this.flipShape()),
      key("D", ["d"], "collapse, or all states", () => this.flipDetail()),
      key("O", ["o"], "open the selected super-node, or those around the current state", () => this.openSelected()),
      key("X", ["x"], "close the super-node around the current state", () => this.closeSelected()),
      ...TAGS.map((tag, at) => key(String(at + 1), [String(at + 1)], `${tag} transitions on or off`, () => this.legend.flipTag(tag))),
      ...KINDS.map((kind, at) => key(String(at + 4), [String(at + 4)], `neighbourhoods ${kind} on or off`, () => this.legend.flipKind(kind))),
      key("8", ["8"], "steps after the violation on or off", () => this.legend.flipAfter()),
      key("G", ["g"], "models", () => void this.gallery()),
      key("Shift+Q", ["Q"], "close this model", () => void this.closeModel()),
      key("M", ["m"], "edit the model or the property", () => this.edit()),
      key("B", ["b"], "the net, to play the token game", () => {
        if (!this.summary?.drawing) return this.say("There is no net to show: this model is not a Petri net.");
        this.show("net");
      }),
      key("J", ["j"], "conformance: traces beside the model", () => {
        if (!this.status?.conformance) return this.say("There are no traces: start the program with --traces FILE.");
        this.show("conformance");
      }),
      key("K", ["k"], "coverage: what examples exercise", () => {
        if (!this.needed()) return;
        this.show("coverage");
        if (this.coverage.enabled.length === 0) void this.coverage.run();
      }),
      key("Ctrl+Enter", [], "run the edited texts", () => undefined),
      key("S", ["s"], "save the picture", () => void this.savePicture("png")),
      key("E", ["e"], "save this view as a page", () => void this.share()),
      key("T", ["t"], "light or dark", () => this.theme(document.documentElement.dataset["theme"] === "dark" ? "light" : "dark")),
      { ...key("Esc", ["Escape"], "clear, close or cancel", () => this.escape()), always: true },
      { ...key("?", ["?"], "these keys", () => this.help()), always: true },
    ];
  }
}

declare global {
  interface Window {
    /** The page, for tests and measurements. */
    studio: Page;
  }
}

try {
  window.studio = new Page();
} catch (error) {
  document.body.replaceChildren(make("p", { id: "broken", textContent: (error as Error).message }));
}
