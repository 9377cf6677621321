// Where answers come from: the program that serves the page, or the snapshot inside an exported page.
import {
  readPositions,
  readScene,
  type Counterexample,
  type EdgeAnswer,
  type Entry,
  type Found,
  type Positions,
  type Scene,
  type SceneChange,
  type StateAnswer,
  type Status,
  type Summary,
  type Texts,
  type Wanted,
} from "./wire";

export interface Backend {
  /** Whether there is a program to ask. */
  live: boolean;
  summary(): Promise<Summary>;
  scene(): Promise<Scene>;
  positions(): Promise<Positions>;
  state(node: number): Promise<StateAnswer>;
  edge(edge: number): Promise<EdgeAnswer>;
  line(file: string, line: number): Promise<Found>;
  search(among: "labels" | "states", pattern: string): Promise<Found>;
  counterexample(wanted: Wanted): Promise<Counterexample>;
  change(change: SceneChange): Promise<void>;
  /** Calls back with every status; returns how to stop. */
  watch(told: (status: Status) => void, lost: (lost: boolean) => void): () => void;
}

/** A refusal in the program's words. */
export class Refused extends Error {}

/** The program. */
export class Program {
  constructor(private token: string) {}

  async ask(path: string, options: RequestInit = {}): Promise<Response> {
    let response: Response;
    try {
      const headers = { "x-watershed-token": this.token, "content-type": "application/json" };
      response = await fetch(path, { ...options, headers });
    } catch {
      throw new Refused("The program does not answer. Is it still running? What is on the page stays usable.");
    }
    if (!response.ok) {
      const text = await response.text();
      let message = text;
      try {
        message = (JSON.parse(text) as { error: string }).error;
      } catch {
        // Not every refusal is JSON: those of the framework are plain text.
      }
      if (response.status === 413) message = "That is too large to send: 8 MB at most.";
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
  scene = async () => readScene(await (await this.program.ask(`${this.base}/scene`)).arrayBuffer());
  positions = async () => readPositions(await (await this.program.ask(`${this.base}/positions`)).arrayBuffer());
  state = (node: number) => this.program.json<StateAnswer>(`${this.base}/state/${node}`);
  edge = (edge: number) => this.program.json<EdgeAnswer>(`${this.base}/edge/${edge}`);
  line = (file: string, line: number) =>
    this.program.json<Found>(`${this.base}/line?file=${encodeURIComponent(file)}&line=${line}`);
  search = (among: string, pattern: string) =>
    this.program.json<Found>(`${this.base}/search?among=${among}&pattern=${encodeURIComponent(pattern)}`);

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

  async exported(): Promise<Blob> {
    return (await this.program.ask(`${this.base}/export`)).blob();
  }

  get<T>(path: string): Promise<T> {
    return this.program.json<T>(`${this.base}/${path}`);
  }

  async post<T>(path: string, body: unknown): Promise<T> {
    return (await (await this.program.post(`${this.base}/${path}`, body)).json()) as T;
  }

  watch(told: (status: Status) => void, lost: (lost: boolean) => void): () => void {
    const source = new EventSource(`${this.base}/events?token=${this.token}`);
    let retry: number | undefined;
    let stop = () => source.close();
    source.onmessage = (event: MessageEvent<string>) => {
      lost(false);
      told(JSON.parse(event.data) as Status);
    };
    source.onerror = () => {
      lost(true);
      // A refused stream is not tried again by the browser.
      if (source.readyState === EventSource.CLOSED) {
        retry = window.setTimeout(() => {
          stop = this.watch(told, lost);
        }, 2000);
      }
    };
    return () => {
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
  states: Record<string, StateAnswer>;
  edges: Record<string, EdgeAnswer>;
  counterexample: Counterexample | null;
}

/** A view that was exported. */
export class Snapshot implements Backend {
  live = false;

  constructor(private data: SnapshotData) {}

  static inPage(): Snapshot | null {
    const element = document.getElementById("snapshot");
    return element ? new Snapshot(JSON.parse(element.textContent ?? "") as SnapshotData) : null;
  }

  private static buffer(text: string): ArrayBuffer {
    return Uint8Array.from(atob(text), (one) => one.charCodeAt(0)).buffer;
  }

  private static found<T>(value: T | undefined | null, what: string): T {
    if (value === undefined || value === null) throw new Refused(`${what} is not part of this exported view.`);
    return value;
  }

  summary = async () => this.data.summary;
  scene = async () => readScene(Snapshot.buffer(this.data.scene));
  positions = async () => readPositions(Snapshot.buffer(this.data.positions));
  state = async (node: number) => Snapshot.found(this.data.states[node], "That state");
  edge = async (edge: number) => Snapshot.found(this.data.edges[edge], "That transition");
  counterexample = async (wanted: Wanted) => {
    const shortest = "nth" in wanted && wanted.nth <= 1;
    return Snapshot.found(shortest ? this.data.counterexample : null, "Another counterexample");
  };
  change = async () => {
    throw new Refused("An exported view is fixed: super-nodes open in the live page.");
  };

  private foundEdges(edges: EdgeAnswer[], texts: string[]): Found {
    const drawn = edges.flatMap((edge) => (edge.drawn === null ? [] : [edge.drawn]));
    return { total: edges.length, drawn, nodes: edges.map((edge) => edge.source), texts };
  }

  line = async (file: string, line: number) => {
    const touches = (edge: EdgeAnswer) =>
      edge.constructs.some((one) => one.kind !== "block" && one.file === file && one.line <= line && line <= one.end_line);
    return this.foundEdges(Object.values(this.data.edges).filter(touches), []);
  };

  search = async (among: "labels" | "states", pattern: string) => {
    let expression: RegExp;
    try {
      expression = new RegExp(pattern, "i");
    } catch (error) {
      throw new Refused(`This is no regular expression: ${(error as Error).message}`);
    }
    if (among === "labels") {
      const edges = Object.values(this.data.edges).filter((edge) => expression.test(edge.label));
      return this.foundEdges(edges, [...new Set(edges.map((edge) => edge.label))]);
    }
    const hits = Object.values(this.data.states).flatMap((state) => {
      const texts = state.values.map(([name, value]) => `${name} = ${value}`).concat(`state ${state.state}`);
      const text = texts.find((text) => expression.test(text));
      return text === undefined ? [] : [{ state, text }];
    });
    return {
      total: hits.length,
      drawn: hits.map((hit) => hit.state.place),
      nodes: hits.map((hit) => hit.state.node),
      texts: hits.map((hit) => hit.text),
    };
  };

  watch(told: (status: Status) => void): () => void {
    told(this.data.status);
    return () => undefined;
  }
}
