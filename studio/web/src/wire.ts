// What the program and the page say to each other: types of the answers, and the arrays of the scene.

export type TagWord = "correct" | "incorrect" | "neutral";
export type KindWord = "cn" | "in" | "ci" | "cin";
export type Detail = "all" | "collapsed" | "reduced";
/** Relations that states are merged by, and those that whole systems are compared by, finer ones first. */
export const MERGING = ["strong", "divbranching", "branching", "weak", "tau-star-a"];
export const RELATIONS = [...MERGING, "trace", "weak-trace"];
export type LayoutShape = "force" | "layers";

export interface TextFile {
  name: string;
  text: string;
}

export interface Place {
  file: string;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
}

export interface Message {
  severity: "error" | "warning";
  message: string;
  place?: Place;
  label: string;
  notes: string[];
  helps: string[];
}

export interface Status {
  running: boolean;
  stage: string;
  done: number;
  total: number;
  failure: { summary: string; messages: Message[] } | null;
  attempt: number;
  generation: number;
  scene: number;
  settled: boolean;
  detail: Detail;
  /** Which states are drawn as one, if equivalent ones are. */
  relation: string | null;
  /** How many nodes someone put where they are. */
  pins: number;
  shape: LayoutShape;
  /** Counts what became of the traces; 0 where there are none. */
  conformance: number;
}

/** A sequence that the model rejects. */
export interface NonConformance {
  number: number;
  seq: number;
  name?: string;
  file: string;
  line: number;
  index: number;
  from: string;
  to: string;
  closest: string | null;
  steps: string[];
  differs: { component: string; model: string; program: string }[];
  blocked: { file: string; line: number; column: number; why: string; source: string }[];
  needed: number | null;
  searched: string;
  possible?: string[];
  cause: number;
}

export interface ConformanceAnswer {
  running: boolean;
  /** Why there is no verdict. */
  messages: Message[];
  verdict: {
    sequences: number;
    accepted: number;
    rejected: number;
    unknown: number;
    unspecified: number;
    bound: number;
    causes: { cause: string; failures: number; first: number }[];
    failures: NonConformance[];
  } | null;
}

/** The program and the model at a moment of a sequence. */
export interface Station {
  /** Nothing before the first moment. */
  index: number | null;
  line: number | null;
  event: string | null;
  /** What the program shows; a whole state has no name. */
  program: [string, string][];
  model: { name: string; value: string; changed: boolean }[];
  states: number;
  steps: { label: string; places: Place[] }[];
  node: number | null;
  rejected: boolean;
}

export interface WalkPart {
  total: number;
  from: number;
  skipped: number;
  stations: Station[];
}

/** An action in the source, with the instance of the process that does it, where that is known. */
export interface ActionPlace extends Place {
  process: string;
  instance?: string;
}

export interface ChoiceExit {
  labels: string[];
  transitions: number;
  actions: ActionPlace[];
}

export interface Choice {
  neighbourhoods: number;
  kinds: KindWord[];
  states: number[];
  from_start: [number, number];
  to_violation: [number, number] | null;
  probability: number | null;
  after: number | null;
  before: string[];
  /** Conditions on values that tell states apart in which an exit loses for good, in sentences. */
  separated?: string[];
  correct: ChoiceExit[];
  incorrect: ChoiceExit[];
  neutral: ChoiceExit[];
}

/** A construct that may be what is wrong. */
export interface Suspect extends Place {
  kind: string;
  construct: string;
  process: string;
  reason: string;
  score: number;
}

export interface PropertyRow {
  property: string;
  /** Nothing where there is no verdict. */
  verdict: boolean | null;
  expected: boolean;
  surprise: boolean;
  explained: boolean;
  note?: string;
}

/** An instance of a process with its variables; one without a name is the whole state. */
export interface InstanceValues {
  instance: string;
  values: { name: string; value: string; before?: string; changed: boolean }[];
}

export interface TraceStep {
  label: string;
  tag: TagWord;
  matters: boolean;
  /** The kind of the neighbourhood it leaves. */
  leaves: KindWord | null;
  actions: ActionPlace[];
}

/** A process that waits for ever. */
export interface Waiting {
  action: ActionPlace;
  offer: string;
  why: string;
  partners: string[];
}

/** A walk as a table. */
export interface Trace {
  steps: TraceStep[];
  /** Who takes part, and for each step which of them do. */
  lanes: { names: string[]; touched: number[][] };
  /** The variables at the start and after each step; empty for a system without a model. */
  states: InstanceValues[][];
  waiting: Waiting[];
  waiting_cycle: string[] | null;
}

export interface SourceConstruct extends Place {
  process: string;
  kind: string;
  tag: TagWord;
  correct: number;
  incorrect: number;
  neutral: number;
}

export interface Explanation {
  property: string;
  description?: string;
  verdict: boolean;
  method: string;
  full: { states: number; transitions: number; labels: number };
  counterexample_lts: { states: number; transitions: number; labels: number };
  tags: Record<TagWord, number>;
  neighbourhoods: Record<KindWord | "total", number>;
  shape: { name: string; meaning: string } | null;
  remarks: string[];
  suspects: Suspect[];
  choices: Choice[];
  counterexample: string[] | null;
  abstracted: string[];
  source: SourceConstruct[];
}

export interface Summary {
  id: number;
  name: string;
  nodes: number;
  transitions: number;
  labels: string[];
  explanation: Explanation | null;
  properties: PropertyRow[];
  warnings: Message[];
  remark: string | null;
  /** The files of what is open. */
  files: TextFile[];
  /** What was asked for last, to edit. */
  texts: Texts;
  /** What it could start with, what it starts with by itself first. */
  starts: { root: string; about: string }[];
  values: boolean;
  /** Whether there is a drawing to play the token game on. */
  drawing: boolean;
  editable: boolean;
}

export interface Transition {
  edge: number;
  source: number;
  target: number;
  label: string;
  tag: TagWord;
  drawn: number | null;
  /** The transitions of the drawing that fire. */
  parts?: string[];
}

/** A net as SVG. The element of a part has its id; what a place holds is the text of the element `ID-tokens`. */
export interface Drawing {
  svg: string;
  parts: { id: string; kind: "place" | "transition"; name: string }[];
}

export interface StateAnswer {
  node: number;
  state: number | null;
  instances: InstanceValues[];
  kind: KindWord | null;
  choice: number | null;
  initial: boolean;
  goal: boolean;
  sink: boolean;
  distance: number;
  /** How many transitions leave it; of very many, only the first are listed. */
  steps: number;
  outgoing: Transition[];
  incoming: Transition[];
  left_out: number;
  place: number;
}

export interface EdgeAnswer extends Transition {
  constructs: (Place & { process: string; kind: string })[];
}

export interface Found {
  total: number;
  drawn: number[];
  nodes: number[];
  texts: string[];
  /** Whether there may be more in super-nodes that nobody can look into: an exported view has only what is drawn. */
  partial?: boolean;
}

export interface RunStep extends Transition {
  matters: boolean;
}

export interface Counterexample {
  steps: RunStep[];
  lasso: number | null;
  nodes: number[];
}

/** A walk: where it starts, its steps, how far it has gone, and where the part starts that it repeats. */
export interface Moment {
  start: number;
  path: (Transition | RunStep)[];
  cursor: number;
  lasso: number | null;
}

/** Which transitions and neighbourhoods are shown. */
export interface Filter {
  tags: Record<TagWord, boolean>;
  kinds: Record<KindWord, boolean>;
  after: boolean;
}

/** Where the camera is, and what it looks at. */
export interface Eye {
  position: [number, number, number];
  target: [number, number, number];
}

/** How a page looks at a model. */
export interface Look {
  theme: string;
  labels: boolean;
  filter: Filter;
  eye: Eye;
  walk: Moment;
}

export type Wanted = { nth: number } | { random: number } | { trace: TextFile };

export interface SceneChange {
  open?: number;
  close?: number;
  close_around?: number;
  reveal?: number[];
  detail?: Detail;
  shape?: LayoutShape;
  /** Draw equivalent states as one. */
  reduce?: string;
  /** Put a node, or a super-node, somewhere for good. */
  pin?: { node: number; at: [number, number, number] };
  /** Let all nodes go where they like. */
  unpin?: boolean;
}

/** The states for which a condition holds. */
export interface Satisfying {
  total: number;
  /** Where they are drawn, and how many at each place. */
  drawn: [number, number][];
  nodes: number[];
  notes: string[];
}

/** The walk along a trace in one of two systems. */
export interface ComparedSide {
  steps: Transition[];
  /** How many steps are taken after each number of labels. */
  after: number[];
  cut: boolean;
}

export interface Compared {
  equivalent: boolean;
  relation: string;
  formula: string | null;
  trace: string[] | null;
  /** Who chooses each step, where that matters; the other one answers. */
  moves: ("left" | "right")[] | null;
  only: "left" | "right" | null;
  remark: string | null;
  left: ComparedSide;
  right: ComparedSide;
}

export interface Entry {
  name: string;
  group: "bugs" | "models" | "coverage";
  about: string;
}

/** Which files can be opened: extensions without dots, and what to choose in words. */
export interface Files {
  models: string[];
  systems: string[];
  property: string;
  hint: string;
}

export interface Texts {
  files: TextFile[];
  property: TextFile;
  chosen: string | null;
  root: string | null;
}

/** Marks the numbers of super-nodes among those of nodes. */
export const REGION = 0x80000000;
/** No label in particular: several transitions drawn as one. */
export const SEVERAL = 0xffffffff;

export const FLAG = { initial: 8, goal: 16, sink: 32, region: 64, lost: 128 };
export const TAGS: TagWord[] = ["correct", "incorrect", "neutral"];
export const KINDS: KindWord[] = ["cn", "in", "ci", "cin"];

/** What is drawn, as arrays. */
export interface Scene {
  version: number;
  nodes: Uint32Array;
  sizes: Uint32Array;
  flags: Uint8Array;
  sources: Uint32Array;
  targets: Uint32Array;
  labels: Uint32Array;
  edges: Uint32Array;
  counts: Uint32Array;
  tags: Uint8Array;
}

function header(buffer: ArrayBuffer, magic: string): Uint32Array {
  const start = new Uint8Array(buffer, 0, 4);
  if (String.fromCharCode(...start) !== magic) throw new Error("the program sent an unexpected response");
  return new Uint32Array(buffer, 4, 3);
}

export function readScene(buffer: ArrayBuffer): Scene {
  const [version = 0, nodes = 0, edges = 0] = header(buffer, "WSG1");
  let at = 16;
  const words = (count: number) => {
    const array = new Uint32Array(buffer, at, count);
    at += 4 * count;
    return array;
  };
  const bytes = (count: number) => {
    const array = new Uint8Array(buffer, at, count);
    at += Math.ceil(count / 4) * 4;
    return array;
  };
  return {
    version,
    nodes: words(nodes),
    sizes: words(nodes),
    sources: words(edges),
    targets: words(edges),
    labels: words(edges),
    edges: words(edges),
    counts: words(edges),
    flags: bytes(nodes),
    tags: bytes(edges),
  };
}

export interface Positions {
  version: number;
  settled: boolean;
  values: Float32Array;
}

export function readPositions(buffer: ArrayBuffer): Positions {
  const [version = 0, settled = 0, count = 0] = header(buffer, "WSP1");
  return { version, settled: settled === 1, values: new Float32Array(buffer, 16, 3 * count) };
}
