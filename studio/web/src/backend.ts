// Where answers come from: the program that serves the page, or the snapshot inside an exported page.
import { flat } from "./values";
import {
  readPositions,
  readScene,
  type ConformanceAnswer,
  type Counterexample,
  type Compared,
  type Drawing,
  type EdgeAnswer,
  type Entry,
  type Files,
  type Found,
  type Look,
  type Place,
  type Positions,
  type Satisfying,
  type Scene,
  type SceneChange,
  type StateAnswer,
  type Status,
  type Summary,
  type Texts,
  type Trace,
  type WalkPart,
  type Wanted,
} from "./wire";

export interface Backend {
  /** Whether there is a program to ask. */
  live: boolean;
  summary(): Promise<Summary>;
  drawing(): Promise<Drawing | null>;
  scene(): Promise<Scene>;
  positions(): Promise<Positions>;
  state(node: number): Promise<StateAnswer>;
  edge(edge: number): Promise<EdgeAnswer>;
  line(file: string, line: number, column?: number): Promise<Found>;
  search(among: "labels" | "states", pattern: string): Promise<Found>;
  counterexample(wanted: Wanted): Promise<Counterexample>;
  /** A shortest way from the initial state. */
  way(node: number): Promise<Counterexample>;
  /** The table of a walk. */
  trace(start: number, edges: number[]): Promise<Trace>;
  /** The states for which a condition holds. */
  satisfying(condition: string): Promise<Satisfying>;
  /** Where transitions are drawn now. */
  drawn(edges: number[]): Promise<(number | null)[]>;
  change(change: SceneChange): Promise<void>;
  /** Calls back with every status; returns how to stop. */
  watch(watcher: Watcher): () => void;
}

/** Who watches a model. */
export interface Watcher {
  told(status: Status): void;
  /** The program does not answer, or does again. */
  lost(lost: boolean): void;
  /** The model was closed. */
  gone(): void;
}

/** A refusal in the program's words. */
export class Refused extends Error {}

/** What was asked for belongs to a model that was closed meanwhile. */
export class Closed extends Refused {}

/** The program. */
export class Program {
  constructor(private token: string) {}

  async ask(path: string, options: RequestInit = {}): Promise<Response> {
    let response: Response;
    try {
      const headers = { "x-watershed-token": this.token, "content-type": "application/json" };
      response = await fetch(path, { ...options, headers });
    } catch {
      throw new Refused("The program is not responding. Is it still running? What is on the page stays usable.");
    }
    if (!response.ok) {
      const text = await response.text();
      let message = text;
      try {
        message = (JSON.parse(text) as { error: string }).error;
      } catch {
        // Not every refusal is JSON: those of the framework are plain text.
      }
      if (response.status === 410) throw new Closed(message);
      if (response.status === 413) message = "That is too large to send: the limit is 8 MB.";
      throw new Refused(message || `The program refused (${response.status}).`);
    }
    return response;
  }

  async json<T>(path: string): Promise<T> {
    return (await (await this.ask(path)).json()) as T;
  }

  async post(path: string, body: unknown): Promise<Response> {
    return this.ask(path, { method: "POST", body: JSON.stringify(body) });
  }

  gallery = () => this.json<Entry[]>("/api/gallery");
  files = () => this.json<Files>("/api/languages");
  projects = () => this.json<{ id: number; name: string }[]>("/api/projects");
  close = (id: number) => this.ask(`/api/projects/${id}`, { method: "DELETE" });

  async open(what: { gallery: string } | { texts: Texts }): Promise<number> {
    const answer = (await (await this.post("/api/projects", what)).json()) as { id: number };
    return answer.id;
  }

  project(id: number): LiveProject {
    return new LiveProject(this, id, this.token);
  }
}

/** A model that the program has opened. */
export class LiveProject implements Backend {
  live = true;
  private base: string;

  constructor(
    private program: Program,
    readonly id: number,
    private token: string,
  ) {
    this.base = `/api/projects/${id}`;
  }

  summary = () => this.program.json<Summary>(this.base);
  drawing = () => this.program.json<Drawing | null>(`${this.base}/drawing`);
  scene = async () => readScene(await (await this.program.ask(`${this.base}/scene`)).arrayBuffer());
  positions = async () => readPositions(await (await this.program.ask(`${this.base}/positions`)).arrayBuffer());
  state = (node: number) => this.program.json<StateAnswer>(`${this.base}/state/${node}`);
  edge = (edge: number) => this.program.json<EdgeAnswer>(`${this.base}/edge/${edge}`);
  line = (file: string, line: number, column?: number) =>
    this.program.json<Found>(`${this.base}/line?file=${encodeURIComponent(file)}&line=${line}${column === undefined ? "" : `&column=${column}`}`);
  way = (node: number) => this.program.json<Counterexample>(`${this.base}/way/${node}`);
  trace = (start: number, edges: number[]) => this.post<Trace>("trace", { start, edges });
  search = (among: string, pattern: string) =>
    this.program.json<Found>(`${this.base}/search?among=${among}&pattern=${encodeURIComponent(pattern)}`);

  satisfying = (condition: string) => this.program.json<Satisfying>(`${this.base}/where?condition=${encodeURIComponent(condition)}`);
  drawn = (edges: number[]) => this.post<(number | null)[]>("drawn", edges);
  compare = (other: number, relation: string) => this.post<Compared>("compare", { with: other, relation });

  async counterexample(wanted: Wanted): Promise<Counterexample> {
    return (await (await this.program.post(`${this.base}/counterexample`, wanted)).json()) as Counterexample;
  }

  async change(change: SceneChange): Promise<void> {
    await this.program.post(`${this.base}/scene`, change);
  }

  async run(texts: Texts): Promise<void> {
    await this.program.post(`${this.base}/run`, texts);
  }

  async cancel(): Promise<void> {
    await this.program.post(`${this.base}/cancel`, {});
  }

  async exported(look: Look): Promise<Blob> {
    return (await this.program.post(`${this.base}/export`, look)).blob();
  }

  conformance = () => this.program.json<ConformanceAnswer>(`${this.base}/conformance`);
  part = (failure: number, from: number) => this.program.json<WalkPart>(`${this.base}/conformance/${failure}?from=${from}`);

  async post<T>(path: string, body: unknown): Promise<T> {
    return (await (await this.program.post(`${this.base}/${path}`, body)).json()) as T;
  }

  watch(watcher: Watcher): () => void {
    const source = new EventSource(`${this.base}/events?token=${this.token}`);
    let stopped = false;
    let retry: number | undefined;
    let stop = () => source.close();
    source.onmessage = (event: MessageEvent<string>) => {
      watcher.lost(false);
      watcher.told(JSON.parse(event.data) as Status);
    };
    source.onerror = async () => {
      const open = await this.program.projects().catch(() => null);
      if (stopped) return;
      watcher.lost(open === null);
      if (open && !open.some((one) => one.id === this.id)) {
        source.close();
        watcher.gone();
      } else if (source.readyState === EventSource.CLOSED) {
        // A refused stream is not tried again by the browser.
        window.clearTimeout(retry);
        retry = window.setTimeout(() => {
          stop = this.watch(watcher);
        }, 2000);
      }
    };
    return () => {
      stopped = true;
      window.clearTimeout(retry);
      stop();
    };
  }
}

interface SnapshotData {
  summary: Summary;
  status: Status;
  scene: string;
  positions: string;
  /** Whether all states are part of it. */
  complete: boolean;
  states: Record<string, StateAnswer>;
  edges: Record<string, EdgeAnswer>;
  drawing: Drawing | null;
  counterexample: Counterexample | null;
  /** The table of the counterexample. */
  trace: Trace | null;
  look: Look;
}

/** A view that was exported. */
export class Snapshot implements Backend {
  live = false;

  constructor(private data: SnapshotData) {}

  static inPage(): Snapshot | null {
    const element = document.getElementById("snapshot");
    return element ? new Snapshot(JSON.parse(element.textContent ?? "") as SnapshotData) : null;
  }

  get look(): Look {
    return this.data.look;
  }

  private static buffer(text: string): ArrayBuffer {
    return Uint8Array.from(atob(text), (one) => one.charCodeAt(0)).buffer;
  }

  private static found<T>(value: T | undefined | null, what: string): T {
    if (value === undefined || value === null) throw new Refused(`${what} is not part of this exported view.`);
    return value;
  }

  summary = async () => this.data.summary;
  drawing = async () => this.data.drawing;
  scene = async () => readScene(Snapshot.buffer(this.data.scene));
  positions = async () => readPositions(Snapshot.buffer(this.data.positions));
  state = async (node: number) => Snapshot.found(this.data.states[node], "That state");
  edge = async (edge: number) => Snapshot.found(this.data.edges[edge], "That transition");
  counterexample = async (wanted: Wanted) => {
    if (!this.data.counterexample) throw new Refused("There is no counterexample in this exported view.");
    const shortest = "nth" in wanted && wanted.nth <= 1;
    return Snapshot.found(shortest ? this.data.counterexample : null, "Another counterexample");
  };
  drawn = async (edges: number[]) => edges.map((edge) => this.data.edges[edge]?.drawn ?? null);
  satisfying = async () => {
    throw new Refused("States are coloured by a condition in the live page only.");
  };
  way = async () => {
    throw new Refused("A shortest way is found in the live page only.");
  };
  /** The table of the counterexample, or of its beginning. */
  trace = async (start: number, edges: number[]) => {
    const known = this.data.counterexample?.steps.map((step) => step.edge) ?? [];
    const part = start === 0 && edges.every((edge, at) => edge === known[at]);
    const all = Snapshot.found(part ? this.data.trace : null, "The table of this walk");
    const whole = edges.length === known.length;
    return {
      steps: all.steps.slice(0, edges.length),
      lanes: { names: all.lanes.names, touched: all.lanes.touched.slice(0, edges.length) },
      states: all.states.slice(0, edges.length + 1),
      waiting: whole ? all.waiting : [],
      waiting_cycle: whole ? all.waiting_cycle : null,
    };
  };
  change = async () => {
    throw new Refused("An exported view is fixed: super-nodes open in the live page.");
  };

  private foundEdges(edges: EdgeAnswer[], texts: string[]): Found {
    const drawn = edges.flatMap((edge) => (edge.drawn === null ? [] : [edge.drawn]));
    return { total: edges.length, drawn, nodes: edges.map((edge) => edge.source), texts, partial: !this.data.complete };
  }

  /** Nothing is found in a view that holds no states: that is no answer. */
  private searchable(): void {
    if (Object.keys(this.data.states).length === 0) throw new Refused("This exported view is too large to hold its states: search in the live page.");
  }

  line = async (file: string, line: number, column?: number) => {
    this.searchable();
    const inside = (one: Place) =>
      column === undefined || ((one.line < line || one.column <= column) && (line < one.end_line || column < one.end_column));
    const touches = (edge: EdgeAnswer) =>
      edge.constructs.some((one) => one.kind !== "block" && one.file === file && one.line <= line && line <= one.end_line && inside(one));
    return this.foundEdges(Object.values(this.data.edges).filter(touches), []);
  };

  search = async (among: "labels" | "states", pattern: string) => {
    this.searchable();
    let expression: RegExp;
    try {
      expression = new RegExp(pattern, "i");
    } catch (error) {
      throw new Refused(`This is not a regular expression: ${(error as Error).message}`);
    }
    if (among === "labels") {
      const edges = Object.values(this.data.edges).filter((edge) => expression.test(edge.label));
      return this.foundEdges(edges, [...new Set(edges.map((edge) => edge.label))]);
    }
    const hits = Object.values(this.data.states).flatMap((state) => {
      const number = `state ${state.state}`;
      const text = flat(state.instances).map(([name, value]) => `${name} = ${value}`).find((text) => expression.test(text));
      if (text !== undefined) return [{ state, text: `${number}: ${text}` }];
      return expression.test(number) ? [{ state, text: number }] : [];
    });
    return {
      total: hits.length,
      drawn: hits.map((hit) => hit.state.place),
      nodes: hits.map((hit) => hit.state.node),
      texts: hits.map((hit) => hit.text),
      partial: !this.data.complete,
    };
  };

  watch(watcher: Watcher): () => void {
    // What is open is whole, whatever was tried since.
    watcher.told({ ...this.data.status, running: false, failure: null });
    return () => undefined;
  }
}
