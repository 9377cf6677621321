// The scene in 3D. A handful of draw calls whatever the size: one for all nodes, one for the transitions of each tag,
// one for arrows, and one for each highlight.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import { bends, distance, shuffle, strengths } from "./geometry";
import type { Palette } from "./palette";
import { Rings } from "./rings";
import { FLAG, KINDS, TAGS, type Eye, type Filter, type Scene } from "./wire";

/** Up to here transitions are wide, bent where several join the same states, and have arrows. */
const MOST_DETAILED = 1_500;
/** Up to here highlighted transitions are wide. */
const MOST_WIDE = 2_000;
/** The most labels shown at once. */
const MOST_LABELS = 160;

/** From here on transitions are drawn thin and without arrows while the picture is being turned. */
const MOST_WHILE_MOVING = 150;
/** A picture that takes longer than this to turn, in milliseconds a frame, is drawn with fewer pixels until it rests. */
const SLOW = 42;
/** A picture that takes less than this is drawn with more transitions and states again. */
const QUICK = 30;
/** How many transitions and states of a large picture are drawn at first while it is being turned, and at least. */
const FIRST_BUDGET = 20_000;
const LEAST_BUDGET = 1_500;
/** More transitions than this are drawn fainter, so that they don't hide each other. */
const FADING = 5_000;
/** How long after the last turn the details come back, in milliseconds. */
const REST = 200;

const LAYERS = ["correct", "incorrect", "neutral", "after"] as const;
type LayerName = (typeof LAYERS)[number];
const WIDTHS: Record<LayerName, number> = { correct: 2.2, incorrect: 3.2, neutral: 1.8, after: 1.2 };

export type Hit = { node: number } | { edge: number } | null;

/** Why transitions are drawn over all others. */
export type Highlight = "path" | "found" | "selected" | "choice";
/** What is on the screen, as shapes. */
export interface Sketch {
  width: number;
  height: number;
  background: string;
  lines: { points: [number, number][]; colour: string; width: number; dashed: boolean; faint: boolean; arrow: boolean }[];
  /** The farthest first. */
  nodes: { node: number; x: number; y: number; radius: number; box: boolean; fill: string; rim: string; marked: boolean }[];
  texts: { text: string; x: number; y: number; layer: string }[];
}

const VERTEX = `
attribute float size; attribute vec3 fill; attribute vec3 rim; attribute float box;
varying vec3 vFill; varying vec3 vRim; varying float vBox; varying float vPixels;
uniform float scale; uniform float least; uniform float most;
void main() {
  vec4 place = modelViewMatrix * vec4(position, 1.0);
  gl_Position = projectionMatrix * place;
  // The initial state is seen from any distance.
  gl_PointSize = clamp(size * scale / -place.z, size > 0.35 && box < 0.5 ? 4.0 * least : least, most);
  // A state hides the ends of its transitions.
  gl_Position.z -= 0.0004 * gl_Position.w;
  vFill = fill; vRim = rim; vBox = box; vPixels = gl_PointSize;
}`;
const FRAGMENT = `
varying vec3 vFill; varying vec3 vRim; varying float vBox; varying float vPixels;
void main() {
  vec2 at = gl_PointCoord * 2.0 - 1.0;
  float far = vBox > 0.5 ? max(abs(at.x), abs(at.y)) : length(at);
  if (far > 1.0) discard;
  float rim = vPixels > 6.0 ? max(0.7, 1.0 - 5.0 / vPixels) : 2.0;
  gl_FragColor = vec4(far > rim ? vRim : vFill, 1.0);
  #include <colorspace_fragment>
}`;

/** A line object of either width, with its own way to take positions. */
interface Lines {
  object: THREE.Object3D;
  set(values: Float32Array): void;
  dispose(): void;
}

/** Thin lines can be drawn in part, some of their segments, and fainter where there are many. */
interface ThinLines extends Lines {
  choose(from: number, to: number, fade: number): void;
}

export class Space {
  readonly canvas: HTMLCanvasElement;
  readonly labelLayer: HTMLDivElement;
  private renderer: THREE.WebGLRenderer;
  private world = new THREE.Scene();
  private camera = new THREE.PerspectiveCamera(40, 1, 0.01, 100_000);
  private controls: OrbitControls;
  private palette!: Palette;
  private scene: Scene | null = null;
  positions = new Float32Array();
  private points: THREE.Points<THREE.BufferGeometry, THREE.ShaderMaterial> | null = null;
  private lines = new Map<LayerName, Lines>();
  /** The same transitions, thin, for a picture that is being turned; of a large one, all that is ever drawn. */
  private thin = new Map<LayerName, ThinLines>();
  /** In which order transitions lie in the buffers of thin lines: any first few of them are a fair sample. */
  private shuffled = new Uint32Array();
  /** The segments of each layer that pass the filter. */
  private segments: Record<LayerName, number> = { correct: 0, incorrect: 0, neutral: 0, after: 0 };
  /** States that are drawn whatever the budget: those that mean something. */
  private important = 0;
  private moving: number | undefined;
  private pace = 0;
  private budget = FIRST_BUDGET;
  private lineCost = 1;
  /** The share of a large picture that is on the screen. */
  private upto = 1;
  private drew = false;
  private readonly density = Math.min(window.devicePixelRatio, 2);
  /** Transitions over all others; very many are thin, and drawn in part like all that is thin. */
  private highlights = new Map<string, { lines: Lines; thin?: ThinLines; edges: number[] }>();
  private arrows: THREE.InstancedMesh | null = null;
  private marker: THREE.Mesh;
  private marked: number | null = null;
  private rings: Rings;
  /** How much of each drawn node a condition holds for, from 0 to 1; nothing where there is no condition. */
  private painted: Map<number, number> | null = null;
  /** Where the camera is on its way to. */
  private travel: number | undefined;
  /** How strongly each drawn transition is bent: 0 for straight ones, 2 for loops. */
  private bends: Float32Array = new Float32Array();
  private hidden = new Uint8Array();
  /** How strongly each transition between super-nodes joins them, next to the strongest of either. */
  private strengths: Float32Array | null = null;
  /** The ends of thin lines of a large picture, filled in place. */
  private buffers: Record<LayerName, Float32Array> = { correct: new Float32Array(), incorrect: new Float32Array(), neutral: new Float32Array(), after: new Float32Array() };
  private filter: Filter = {
    tags: { correct: true, incorrect: true, neutral: true },
    kinds: { cn: true, in: true, ci: true, cin: true },
    after: true,
  };
  private dirty = true;
  private screen: Float32Array | null = null;
  private showLabels = false;
  private labelOf: (edge: number) => string = () => "";
  /** Whether the user has moved the view since everything was shown. */
  turned = false;
  /** Frames drawn since the page was opened. */
  frames = 0;

  constructor(private holder: HTMLElement) {
    // What is drawn stays: a large picture at rest is completed part by part.
    try {
      this.renderer = new THREE.WebGLRenderer({ antialias: true, powerPreference: "high-performance", preserveDrawingBuffer: true });
    } catch {
      throw new Error("This browser can't draw in 3D: the page needs WebGL 2. Switch on hardware acceleration, or try another browser.");
    }
    this.renderer.setPixelRatio(this.density);
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("aria-label", "The state space. Press ? for the keys that move through it.");
    this.labelLayer = document.createElement("div");
    this.labelLayer.className = "labels";
    holder.append(this.canvas, this.labelLayer);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.addEventListener("change", () => this.move());
    this.controls.addEventListener("start", () => (this.turned = true));
    this.marker = new THREE.Mesh(
      new THREE.RingGeometry(0.8, 1, 40),
      new THREE.MeshBasicMaterial({ depthTest: false, side: THREE.DoubleSide }),
    );
    this.marker.visible = false;
    this.marker.renderOrder = 10;
    this.world.add(this.marker);
    this.rings = new Rings(this.density);
    this.world.add(this.rings.object);
    new ResizeObserver(() => this.resize()).observe(holder);
    this.resize();
    let last = 0;
    const loop = (now: number) => {
      // First, so that one frame that fails is not the last.
      requestAnimationFrame(loop);
      // A browser that can't keep up calls later: how long frames take shows here, however slowly the pointer moves.
      if (this.drew && (this.moving !== undefined || this.upto < 1)) this.adapt(now - last);
      last = now;
      this.drew = false;
      if (this.dirty) this.render();
      else if (this.moving === undefined && this.upto < 1) this.refine();
    };
    loop(0);
  }

  /** Draws fewer pixels, then less, while frames take too long, and more where there is time. */
  private adapt(milliseconds: number): void {
    this.pace = this.pace === 0 ? milliseconds : 0.6 * this.pace + 0.4 * milliseconds;
    if (this.pace > SLOW) {
      const sharp = this.renderer.getPixelRatio() === this.density;
      if (sharp && this.moving !== undefined) this.renderer.setPixelRatio(0.6 * this.density);
      this.budget = Math.max(LEAST_BUDGET, Math.max(0.3, (0.8 * SLOW) / this.pace) * this.budget);
    } else if (this.pace < QUICK) this.budget = Math.min(1.2 * this.budget, Math.max(FIRST_BUDGET, this.everything));
  }

  /** The picture moves: draws less until it rests. */
  private move(): void {
    this.draw();
    if (this.moving === undefined) {
      this.pace = 0;
      this.moving = 0;
      this.showDetails(false);
    }
    window.clearTimeout(this.moving);
    this.moving = window.setTimeout(() => this.rest(), REST);
  }

  private rest(): void {
    window.clearTimeout(this.moving);
    this.moving = undefined;
    this.renderer.setPixelRatio(this.density);
    this.showDetails(true);
    this.draw();
  }

  private showDetails(shown: boolean): void {
    for (const name of LAYERS) {
      const wide = this.lines.get(name);
      const thin = this.thin.get(name);
      if (wide && thin) [wide.object.visible, thin.object.visible] = [shown, !shown];
    }
    if (this.arrows) this.arrows.visible = shown;
    this.limit();
  }

  /** What it takes to draw everything: a state is one, a transition more the longer it is on the screen. */
  private get everything(): number {
    const layers = LAYERS.reduce((sum, name) => sum + this.segments[name], 0);
    const lines = [...this.highlights.values()].reduce((sum, one) => sum + (one.thin ? one.edges.length : 0), layers);
    return (this.scene?.nodes.length ?? 0) + lines * this.lineCost;
  }

  /** The share of the picture that fits a frame. */
  private get share(): number {
    return this.detailed ? 1 : Math.min(1, this.budget / Math.max(1, this.everything));
  }

  /** Starts a frame with as much as fits: while the picture moves that is all, at rest the others follow. */
  private limit(): void {
    this.upto = this.share;
    this.choose(0, this.upto);
  }

  /** Draws another part of a large picture over what is there, until it is complete. */
  private refine(): void {
    const from = this.upto;
    this.upto = Math.min(1, from + this.share);
    this.choose(from, this.upto);
    this.renderer.autoClear = false;
    this.renderer.render(this.world, this.camera);
    this.renderer.autoClear = true;
    this.drew = true;
  }

  /** Chooses the part of the shuffled states and transitions that the next frame draws. */
  private choose(from: number, to: number): void {
    const many = (this.moving === undefined ? 1 : to) * LAYERS.reduce((sum, name) => sum + this.segments[name], 0);
    const fade = this.detailed ? 1 : Math.min(1, Math.max(0.2, (FADING / Math.max(1, many)) ** 0.4));
    for (const [name, lines] of this.thin) {
      lines.choose(Math.ceil(from * this.segments[name]), Math.ceil(to * this.segments[name]), fade);
    }
    for (const { thin, edges } of this.highlights.values()) thin?.choose(Math.ceil(from * edges.length), Math.ceil(to * edges.length), 1);
    const nodes = this.scene?.nodes.length ?? 0;
    const first = from === 0 ? 0 : Math.max(this.important, Math.ceil(from * nodes));
    const last = Math.min(nodes, Math.max(this.important, Math.ceil(to * nodes)));
    this.points?.geometry.setDrawRange(first, Math.max(0, last - first));
  }

  /** How many states and transitions are on the screen now. */
  drawn(): { nodes: number; edges: number } {
    const nodes = this.scene?.nodes.length ?? 0;
    if (this.detailed) return { nodes, edges: this.shownEdges() };
    const edges = LAYERS.reduce((sum, name) => sum + Math.ceil(this.upto * this.segments[name]), 0);
    return { nodes: Math.min(nodes, Math.max(this.important, Math.ceil(this.upto * nodes))), edges };
  }

  /** Asks for another frame. */
  draw(): void {
    this.dirty = true;
    this.screen = null;
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.holder;
    if (width === 0 || height === 0) return;
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (!this.turned) this.fit();
    this.draw();
  }

  private render(): void {
    this.dirty = false;
    this.drew = true;
    this.frames += 1;
    this.limit();
    const height = this.holder.clientHeight * this.renderer.getPixelRatio();
    if (this.points) {
      const uniforms = this.points.material.uniforms;
      uniforms["scale"]!.value = height / Math.tan((this.camera.fov * Math.PI) / 360);
    }
    this.rings.scale(height / Math.tan((this.camera.fov * Math.PI) / 360));
    if (this.marked !== null) {
      this.marker.position.copy(this.point(this.marked));
      this.marker.quaternion.copy(this.camera.quaternion);
      const far = this.camera.position.distanceTo(this.marker.position);
      this.marker.scale.setScalar(Math.max(this.size(this.marked) * 1.1, far * 0.014));
    }
    this.renderer.render(this.world, this.camera);
    this.placeLabels();
  }

  setPalette(palette: Palette): void {
    this.palette = palette;
    this.renderer.setClearColor(palette.background);
    (this.marker.material as THREE.MeshBasicMaterial).color.set(palette.path);
    this.rings.colour(palette.found);
    if (this.scene) this.setScene(this.scene, this.labelOf);
  }

  /** Takes what to draw; positions follow. */
  setScene(scene: Scene, labelOf: (edge: number) => string): void {
    this.scene = scene;
    this.labelOf = labelOf;
    this.clear();
    if (this.positions.length !== 3 * scene.nodes.length) this.positions = new Float32Array(3 * scene.nodes.length);
    this.bends = bends(scene, this.detailed);
    this.shuffled = this.detailed ? new Uint32Array() : shuffle(scene.edges.length);
    this.strengths = this.detailed ? null : strengths(scene);
    this.makePoints(scene);
    for (const name of LAYERS) {
      if (this.detailed) this.lines.set(name, this.wideLines(name, WIDTHS[name]));
      if (!this.detailed || scene.edges.length > MOST_WHILE_MOVING) this.thin.set(name, this.thinLines(name));
    }
    if (this.detailed) this.makeArrows();
    this.applyFilter();
  }

  /** Shows nothing, until there is another scene. */
  empty(): void {
    this.clear();
    this.scene = null;
    this.positions = new Float32Array();
    this.hidden = new Uint8Array();
    this.segments = { correct: 0, incorrect: 0, neutral: 0, after: 0 };
    this.draw();
  }

  private get detailed(): boolean {
    return (this.scene?.edges.length ?? 0) <= MOST_DETAILED;
  }

  private clear(): void {
    this.rest();
    for (const lines of [...this.lines.values(), ...this.thin.values(), ...[...this.highlights.values()].map((one) => one.lines)]) {
      this.world.remove(lines.object);
      lines.dispose();
    }
    this.lines.clear();
    this.thin.clear();
    this.highlights.clear();
    for (const object of [this.points, this.arrows]) {
      if (!object) continue;
      this.world.remove(object);
      object.geometry.dispose();
      (object.material as THREE.Material).dispose();
    }
    this.points = this.arrows = null;
    this.marked = null;
    this.marker.visible = false;
    this.painted = null;
    this.ring([]);
  }

  private colours(scene: Scene, node: number): [string, string] {
    const flags = scene.flags[node]!;
    const palette = this.palette;
    const kind = flags & 7;
    const rim = flags & FLAG.initial ? palette.initial : palette.ink;
    if (kind > 0) return [palette.kinds[KINDS[kind - 1]!], rim];
    if (flags & FLAG.initial) return [palette.initial, palette.ink];
    if (flags & FLAG.sink) return [palette.sink, palette.tags.correct];
    if (flags & FLAG.goal) return [palette.goal, flags & FLAG.region ? palette.ink : palette.goal];
    if (flags & FLAG.region) return [flags & FLAG.lost ? palette.lost : palette.region, palette.ink];
    return flags & FLAG.lost ? [palette.lost, palette.lost] : [palette.node, palette.node];
  }

  /** What a condition makes of a colour: it fades where it does not hold, and is another one where it does. */
  private mixed(colour: THREE.Color, node: number): THREE.Color {
    const faded = colour.clone().lerp(new THREE.Color(this.palette.background), 0.75);
    return faded.lerp(new THREE.Color(this.palette.found), this.painted!.get(node) ?? 0);
  }

  /** Colours nodes by how much of each a condition holds for; as they are without one. */
  paint(painted: Map<number, number> | null): void {
    this.painted = painted;
    const fill = this.points?.geometry.getAttribute("fill") as THREE.BufferAttribute | undefined;
    if (!this.scene || !fill) return;
    for (let node = 0; node < this.scene.nodes.length; node++) {
      const colour = new THREE.Color(this.colours(this.scene, node)[0]);
      (painted ? this.mixed(colour, node) : colour).toArray(fill.array, 3 * node);
    }
    fill.needsUpdate = true;
    // What it holds for is drawn larger.
    this.applyFilter();
  }

  /** How much of a drawn node the condition holds for, or nothing without one. */
  paintedShare(node: number): number | null {
    return this.painted ? (this.painted.get(node) ?? 0) : null;
  }

  /** Puts rings around nodes. */
  ring(nodes: number[]): void {
    this.rings.set(nodes, this.positions, (node) => this.size(node));
    this.draw();
  }

  ringed(): number[] {
    return this.rings.nodes;
  }

  /** How large a node is drawn, in units of space. */
  private size(node: number): number {
    const share = this.painted?.get(node) ?? 0;
    return share > 0 ? Math.max(0.3, this.plainSize(node)) : this.plainSize(node);
  }

  private plainSize(node: number): number {
    const flags = this.scene!.flags[node]!;
    if (flags & FLAG.region) return 0.3 + 0.09 * Math.log2(this.scene!.sizes[node]!);
    if (flags & FLAG.initial) return 0.36;
    if (flags & (7 | FLAG.sink)) return 0.34;
    return flags & FLAG.goal ? 0.2 : 0.16;
  }

  private makePoints(scene: Scene): void {
    const count = scene.nodes.length;
    const size = new Float32Array(count);
    const box = new Float32Array(count);
    const fill = new Float32Array(3 * count);
    const rim = new Float32Array(3 * count);
    const known = new Map<string, THREE.Color>();
    const colour = (text: string) => {
      if (!known.has(text)) known.set(text, new THREE.Color(text));
      return known.get(text)!;
    };
    for (let node = 0; node < count; node++) {
      size[node] = this.size(node);
      box[node] = scene.flags[node]! & FLAG.region ? 1 : 0;
      const [inside, outside] = this.colours(scene, node);
      colour(inside).toArray(fill, 3 * node);
      colour(outside).toArray(rim, 3 * node);
      if (this.painted) this.mixed(colour(inside), node).toArray(fill, 3 * node);
    }
    // Neighbourhoods, the initial state and the sink first: they are drawn in any case.
    const means = (node: number) => (scene.flags[node]! & (7 | FLAG.initial | FLAG.sink)) !== 0;
    const order = shuffle(count);
    const index = new Uint32Array(count);
    this.important = 0;
    for (const node of order) if (means(node)) index[this.important++] = node;
    let next = this.important;
    for (const node of order) if (!means(node)) index[next++] = node;
    this.important = Math.min(this.important, LEAST_BUDGET);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(this.positions, 3));
    geometry.setAttribute("size", new THREE.BufferAttribute(size, 1));
    geometry.setAttribute("box", new THREE.BufferAttribute(box, 1));
    geometry.setAttribute("fill", new THREE.BufferAttribute(fill, 3));
    geometry.setAttribute("rim", new THREE.BufferAttribute(rim, 3));
    geometry.setIndex(new THREE.BufferAttribute(index, 1));
    const material = new THREE.ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: { scale: { value: 1 }, least: { value: 2.5 * this.renderer.getPixelRatio() }, most: { value: 34 * this.renderer.getPixelRatio() } },
    });
    this.points = new THREE.Points(geometry, material);
    this.points.frustumCulled = false;
    this.points.renderOrder = 2;
    this.world.add(this.points);
  }

  /** Lines of any width; those of highlights have a colour of their own and lie above all others. */
  private wideLines(name: LayerName, width: number, colour?: string): Lines {
    const after = name === "after";
    const dashed = name === "correct" && !colour;
    const material = new LineMaterial({
      color: new THREE.Color(colour ?? this.palette.tags[after ? "incorrect" : name]).getHex(),
      linewidth: width * this.renderer.getPixelRatio(),
      dashed,
      dashSize: 0.16,
      gapSize: 0.09,
      transparent: after,
      opacity: after ? 0.28 : 1,
      depthTest: !colour,
    });
    const object = new LineSegments2(new LineSegmentsGeometry(), material);
    object.frustumCulled = false;
    object.renderOrder = colour ? 1 : 0;
    this.world.add(object);
    return {
      object,
      set: (values) => {
        // Its buffers have a fixed length: a new geometry for new values. One without any would not be drawn right.
        object.geometry.dispose();
        object.geometry = new LineSegmentsGeometry();
        object.geometry.setPositions(values.length > 0 ? values : new Float32Array(6));
        if (dashed) object.computeLineDistances();
      },
      dispose: () => {
        object.geometry.dispose();
        material.dispose();
      },
    };
  }

  /** Lines that can be drawn in part; those of highlights have a colour of their own and lie above all others. */
  private thinLines(name: LayerName, colour?: string): ThinLines {
    const after = name === "after";
    const opacity = colour ? 1 : after ? 0.15 : name === "neutral" ? 0.35 : 0.8;
    const shaded = this.strengths !== null && !colour;
    const material = new THREE.LineBasicMaterial({
      color: new THREE.Color(colour ?? this.palette.tags[after ? "incorrect" : name]),
      transparent: true,
      opacity,
      vertexColors: shaded,
      depthTest: !colour,
    });
    const object = new THREE.LineSegments(new THREE.BufferGeometry(), material);
    object.frustumCulled = false;
    object.renderOrder = colour ? 1 : 0;
    // Only seen while the picture moves, where there are wide ones as well.
    object.visible = !this.detailed;
    this.world.add(object);
    return {
      object,
      set: (values) => {
        const known = object.geometry.getAttribute("position") as THREE.BufferAttribute | undefined;
        if (known?.array === values) known.needsUpdate = true;
        else {
          object.geometry.dispose();
          object.geometry = new THREE.BufferGeometry();
          object.geometry.setAttribute("position", new THREE.BufferAttribute(values, 3));
          if (shaded) object.geometry.setAttribute("color", new THREE.BufferAttribute(this.shades(name), 4));
        }
      },
      choose: (from, to, fade) => {
        object.geometry.setDrawRange(2 * from, 2 * (to - from));
        material.opacity = opacity * fade;
      },
      dispose: () => {
        object.geometry.dispose();
        material.dispose();
      },
    };
  }

  private makeArrows(): void {
    const count = this.scene!.edges.length;
    const cone = new THREE.ConeGeometry(0.075, 0.22, 10);
    cone.rotateX(Math.PI / 2);
    this.arrows = new THREE.InstancedMesh(cone, new THREE.MeshBasicMaterial(), Math.max(count, 1));
    this.arrows.frustumCulled = false;
    this.world.add(this.arrows);
  }

  private layerOf(edge: number): LayerName {
    const tag = this.scene!.tags[edge]!;
    return tag & 4 ? "after" : TAGS[tag & 3]!;
  }

  /** Which transitions and neighbourhoods are shown. */
  setFilter(filter: Filter): void {
    this.filter = filter;
    this.applyFilter();
  }

  private applyFilter(): void {
    const scene = this.scene;
    if (!scene) return;
    this.hidden = new Uint8Array(scene.edges.length);
    this.segments = { correct: 0, incorrect: 0, neutral: 0, after: 0 };
    const kindShown = (node: number) => {
      const kind = scene.flags[node]! & 7;
      return kind === 0 || this.filter.kinds[KINDS[kind - 1]!];
    };
    for (let edge = 0; edge < scene.edges.length; edge++) {
      const tag = scene.tags[edge]!;
      const shown =
        this.filter.tags[TAGS[tag & 3]!] && (this.filter.after || !(tag & 4)) && kindShown(scene.sources[edge]!);
      this.hidden[edge] = shown ? 0 : 1;
      if (shown) this.segments[this.layerOf(edge)] += 1;
    }
    for (const name of LAYERS) this.buffers[name] = new Float32Array(this.detailed ? 0 : 6 * this.segments[name]);
    if (this.points) {
      const size = this.points.geometry.getAttribute("size") as THREE.BufferAttribute;
      for (let node = 0; node < scene.nodes.length; node++) size.setX(node, kindShown(node) ? this.size(node) : 0.05);
      size.needsUpdate = true;
    }
    this.place();
  }

  /** Drawn transitions that pass the filter. */
  shownEdges(): number {
    return this.hidden.length - this.hidden.reduce((sum, one) => sum + one, 0);
  }

  setPositions(values: Float32Array): void {
    if (!this.scene || values.length !== 3 * this.scene.nodes.length) return;
    this.positions.set(values);
    const attribute = this.points?.geometry.getAttribute("position") as THREE.BufferAttribute | undefined;
    if (attribute) attribute.needsUpdate = true;
    this.place();
    // A large picture that settles moves as well.
    if (!this.detailed) this.move();
  }

  /** Puts transitions where their states are. */
  private place(): void {
    const scene = this.scene;
    if (!scene) return;
    if (this.detailed) this.placeDetailed(scene);
    else this.placeMany(scene);
    for (const { lines, edges } of this.highlights.values()) lines.set(this.segmentsOf(edges));
    if (this.arrows) this.placeArrows();
    this.ring(this.rings.nodes);
  }

  private placeDetailed(scene: Scene): void {
    const segments: Record<LayerName, number[]> = { correct: [], incorrect: [], neutral: [], after: [] };
    for (let edge = 0; edge < scene.edges.length; edge++) {
      if (!this.hidden[edge]) this.addSegments(edge, segments[this.layerOf(edge)]);
    }
    for (const name of LAYERS) {
      const values = new Float32Array(segments[name]);
      this.segments[name] = values.length / 6;
      this.lines.get(name)?.set(values);
      this.thin.get(name)?.set(values);
    }
    this.limit();
  }

  /** Straight lines in a shuffled order, so that a part of them can be drawn. */
  private placeMany(scene: Scene): void {
    const { sources, targets } = scene;
    const at = this.positions;
    const ends: Record<LayerName, number> = { correct: 0, incorrect: 0, neutral: 0, after: 0 };
    for (const edge of this.shuffled) {
      if (this.hidden[edge]) continue;
      const name = this.layerOf(edge);
      const values = this.buffers[name];
      const [from, to, end] = [3 * sources[edge]!, 3 * targets[edge]!, ends[name]];
      values[end] = at[from]!;
      values[end + 1] = at[from + 1]!;
      values[end + 2] = at[from + 2]!;
      values[end + 3] = at[to]!;
      values[end + 4] = at[to + 1]!;
      values[end + 5] = at[to + 2]!;
      ends[name] = end + 6;
    }
    for (const [name, lines] of this.thin) lines.set(this.buffers[name]);
    this.lineCost = this.estimateCost(scene);
    this.limit();
  }

  /** What a transition takes to draw, next to a state: by its length on the screen when everything is seen. */
  private estimateCost(scene: Scene): number {
    const extent = new THREE.Box3().setFromArray(this.positions).getSize(new THREE.Vector3()).length() || 1;
    const sample = this.shuffled.subarray(0, 500);
    const total = sample.reduce((sum, edge) => sum + this.point(scene.sources[edge]!).distanceTo(this.point(scene.targets[edge]!)), 0);
    const pixels = (this.holder.clientHeight * total) / Math.max(1, sample.length) / extent;
    return 1 + pixels / 20;
  }

  /** How strongly the ends of thin lines are drawn, in the order of their buffer. */
  private shades(name: LayerName): Float32Array<ArrayBuffer> {
    const values = new Float32Array(8 * this.segments[name]).fill(1);
    let end = 0;
    for (const edge of this.shuffled) {
      if (this.hidden[edge] || this.layerOf(edge) !== name) continue;
      values[end + 3] = values[end + 7] = this.strengths![edge]!;
      end += 8;
    }
    return values;
  }

  private segmentsOf(edges: number[]): Float32Array {
    const values: number[] = [];
    edges.forEach((edge) => this.addSegments(edge, values));
    return new Float32Array(values);
  }

  private addSegments(edge: number, out: number[]): void {
    const source = 3 * this.scene!.sources[edge]!;
    const target = 3 * this.scene!.targets[edge]!;
    const at = this.positions;
    const bend = this.bends[edge]!;
    if (bend === 0) {
      out.push(at[source]!, at[source + 1]!, at[source + 2]!, at[target]!, at[target + 1]!, at[target + 2]!);
      return;
    }
    const points = this.curve(edge);
    for (let step = 0; step + 1 < points.length; step++) out.push(...points[step]!, ...points[step + 1]!);
  }

  /** A bent transition as points: an arc, or a ring beside its state. */
  private curve(edge: number): [number, number, number][] {
    const from = this.point(this.scene!.sources[edge]!);
    const to = this.point(this.scene!.targets[edge]!);
    const bend = this.bends[edge]!;
    const points: [number, number, number][] = [];
    if (from.equals(to)) {
      const radius = 0.22 + 0.08 * (bend - 2);
      for (let step = 0; step <= 14; step++) {
        const angle = (2 * Math.PI * step) / 14 - Math.PI / 2;
        points.push([from.x + radius * Math.cos(angle), from.y + radius * (1 + Math.sin(angle)), from.z]);
      }
      return points;
    }
    const along = to.clone().sub(from);
    const aside = new THREE.Vector3(-along.y, along.x, along.z * 0.3).normalize().multiplyScalar(along.length() * bend);
    for (let step = 0; step <= 8; step++) {
      const t = step / 8;
      const place = from.clone().addScaledVector(along, t).addScaledVector(aside, 2 * t * (1 - t));
      points.push([place.x, place.y, place.z]);
    }
    return points;
  }

  /** The middle of a transition. */
  private middle(edge: number): THREE.Vector3 {
    if (this.bends[edge] !== 0) {
      const points = this.curve(edge);
      return new THREE.Vector3(...points[Math.floor(points.length / 2)]!);
    }
    return this.point(this.scene!.sources[edge]!).lerp(this.point(this.scene!.targets[edge]!), 0.5);
  }

  private placeArrows(): void {
    const scene = this.scene!;
    const arrow = new THREE.Object3D();
    const colour = new THREE.Color();
    for (let edge = 0; edge < scene.edges.length; edge++) {
      const layer = this.layerOf(edge);
      const from = this.point(scene.sources[edge]!);
      const to = this.point(scene.targets[edge]!);
      const along = to.clone().sub(from).normalize();
      arrow.position.copy(this.middle(edge)).addScaledVector(along, from.distanceTo(to) * (this.bends[edge] ? 0 : 0.12));
      arrow.lookAt(arrow.position.clone().add(along));
      arrow.scale.setScalar(this.hidden[edge] ? 0 : layer === "after" ? 0.6 : 1);
      arrow.updateMatrix();
      this.arrows!.setMatrixAt(edge, arrow.matrix);
      colour.set(this.palette.tags[layer === "after" ? "incorrect" : layer]);
      if (layer === "after") colour.lerp(new THREE.Color(this.palette.background), 0.7);
      this.arrows!.setColorAt(edge, colour);
    }
    this.arrows!.instanceMatrix.needsUpdate = true;
    if (this.arrows!.instanceColor) this.arrows!.instanceColor.needsUpdate = true;
  }

  /** Draws transitions over all others, under a name that a later call replaces. Those of a choice keep their tags. */
  highlight(name: Highlight, edges: number[]): void {
    if (name === "choice") {
      for (const tag of TAGS) {
        const own = edges.filter((edge) => TAGS[this.scene!.tags[edge]! & 3] === tag);
        this.overlay(`choice ${tag}`, own, this.palette.tags[tag], tag === "neutral" ? 3 : 6);
      }
    } else this.overlay(name, edges, name === "found" ? this.palette.found : this.palette.path, name === "selected" ? 6 : 4.5);
    this.draw();
  }

  private overlay(name: string, edges: number[], colour: string, width: number): void {
    const before = this.highlights.get(name);
    if (before) {
      this.world.remove(before.lines.object);
      before.lines.dispose();
      this.highlights.delete(name);
    }
    if (edges.length === 0 || !this.scene) return;
    const thin = edges.length > MOST_WIDE ? this.thinLines("neutral", colour) : undefined;
    const lines = thin ?? this.wideLines("neutral", width, colour);
    // Any first few of them are a fair sample.
    const lit = thin ? Array.from(shuffle(edges.length), (at) => edges[at]!) : edges;
    lines.set(this.segmentsOf(lit));
    this.highlights.set(name, { lines, thin, edges: lit });
  }

  highlighted(name: Highlight): number[] {
    const names = name === "choice" ? TAGS.map((tag) => `choice ${tag}`) : [name];
    return names.flatMap((one) => this.highlights.get(one)?.edges ?? []);
  }

  /** Puts a ring around a node. */
  mark(node: number | null): void {
    this.marked = node;
    this.marker.visible = node !== null;
    this.draw();
  }

  setLabels(shown: boolean): void {
    this.showLabels = shown;
    this.labelLayer.replaceChildren();
    this.draw();
  }

  private placeLabels(): void {
    if (this.moving !== undefined) {
      // Text is slow to lay out: it comes back with the other details.
      if (this.labelLayer.childElementCount > 0) this.labelLayer.replaceChildren();
      return;
    }
    this.labelLayer.replaceChildren(
      ...this.texts().map(({ text, x, y, layer }) => {
        const label = document.createElement("span");
        label.textContent = text;
        label.className = layer;
        label.style.transform = `translate(-50%, -50%) translate(${x}px, ${y}px)`;
        return label;
      }),
    );
  }

  /** The labels that are shown, where there is room for them. */
  private texts(): Sketch["texts"] {
    const scene = this.scene;
    const wanted: [number, string, THREE.Vector3, string][] = [];
    if (scene && this.showLabels) {
      // What is walked or found comes first where there is no room for all.
      const lit = new Set([...this.highlights.values()].flatMap((one) => one.edges));
      const add = (edge: number) => wanted.push([edge, this.labelOf(edge), this.middle(edge), this.layerOf(edge)]);
      lit.forEach(add);
      for (let edge = 0; edge < scene.edges.length && wanted.length < 4 * MOST_LABELS; edge++) {
        if (!this.hidden[edge] && !lit.has(edge)) add(edge);
      }
    }
    if (scene && scene.nodes.length < 1_000) {
      const scale = this.holder.clientHeight / Math.tan((this.camera.fov * Math.PI) / 360);
      for (let node = 0; node < scene.nodes.length; node++) {
        if (!(scene.flags[node]! & FLAG.region)) continue;
        const [place, text] = [this.point(node), String(scene.sizes[node])];
        // Only where it fits into the square.
        const room = Math.min(34, (this.size(node) * scale) / this.camera.position.distanceTo(place));
        if (room > 6 * text.length) wanted.push([-1, text, place, "region"]);
      }
    }
    const { clientWidth: width, clientHeight: height } = this.holder;
    const texts: Sketch["texts"] = [];
    const taken: [number, number, number][] = [];
    for (const [, text, place, layer] of wanted) {
      const at = place.project(this.camera);
      if (Math.abs(at.x) > 1 || Math.abs(at.y) > 1 || at.z > 1 || texts.length >= MOST_LABELS) continue;
      const [x, y, half] = [((at.x + 1) / 2) * width, ((1 - at.y) / 2) * height, 3.5 * text.length + 3];
      if (taken.some(([left, top, other]) => Math.abs(left - x) < half + other && Math.abs(top - y) < 14)) continue;
      taken.push([x, y, half]);
      texts.push({ text, x, y, layer });
    }
    return texts;
  }

  private point(node: number): THREE.Vector3 {
    return new THREE.Vector3().fromArray(this.positions, 3 * node);
  }

  /** Where nodes are on the screen: x, y and depth of each. */
  private project(): Float32Array {
    if (this.screen) return this.screen;
    const { clientWidth: width, clientHeight: height } = this.holder;
    this.camera.updateMatrixWorld();
    const matrix = new THREE.Matrix4().multiplyMatrices(this.camera.projectionMatrix, this.camera.matrixWorldInverse);
    const m = matrix.elements;
    const count = this.positions.length / 3;
    const screen = new Float32Array(3 * count);
    for (let at = 0; at < 3 * count; at += 3) {
      const x = this.positions[at]!;
      const y = this.positions[at + 1]!;
      const z = this.positions[at + 2]!;
      const w = m[3]! * x + m[7]! * y + m[11]! * z + m[15]!;
      screen[at] = (((m[0]! * x + m[4]! * y + m[8]! * z + m[12]!) / w + 1) / 2) * width;
      screen[at + 1] = ((1 - (m[1]! * x + m[5]! * y + m[9]! * z + m[13]!) / w) / 2) * height;
      screen[at + 2] = w;
    }
    this.screen = screen;
    return screen;
  }

  /** Where a node is on the screen. */
  screenOf(node: number): { x: number; y: number } {
    const screen = this.project();
    return { x: screen[3 * node]!, y: screen[3 * node + 1]! };
  }

  /** Where the middle of a transition is on the screen. */
  screenOfEdge(edge: number): { x: number; y: number } {
    const at = this.middle(edge).project(this.camera);
    return { x: ((at.x + 1) / 2) * this.holder.clientWidth, y: ((1 - at.y) / 2) * this.holder.clientHeight };
  }

  /** Keeps the camera where it is, whatever the pointer does. */
  steady(steady: boolean): void {
    this.controls.enabled = !steady;
  }

  placeOf(node: number): [number, number, number] {
    return this.point(node).toArray();
  }

  /** Moves a node to a place on the screen, as far from the reader as it was. */
  drag(node: number, x: number, y: number): void {
    const depth = this.point(node).project(this.camera).z;
    const { clientWidth: width, clientHeight: height } = this.holder;
    const to = new THREE.Vector3((2 * x) / width - 1, 1 - (2 * y) / height, depth).unproject(this.camera);
    to.toArray(this.positions, 3 * node);
    const attribute = this.points?.geometry.getAttribute("position") as THREE.BufferAttribute | undefined;
    if (attribute) attribute.needsUpdate = true;
    this.place();
  }

  /** What is under the pointer: a node if one is near, a transition otherwise. */
  pick(x: number, y: number): Hit {
    const scene = this.scene;
    if (!scene) return null;
    const screen = this.project();
    const scale = this.holder.clientHeight / (2 * Math.tan((this.camera.fov * Math.PI) / 360));
    let best: Hit = null;
    let nearest = Infinity;
    for (let node = 0; node < scene.nodes.length; node++) {
      const depth = screen[3 * node + 2]!;
      if (depth <= 0) continue;
      const far = Math.hypot(screen[3 * node]! - x, screen[3 * node + 1]! - y);
      const radius = Math.max(5, (this.size(node) * scale) / depth);
      if (far <= radius && far + depth * 1e-3 < nearest) {
        nearest = far + depth * 1e-3;
        best = { node };
      }
    }
    if (best) return best;
    nearest = 6;
    for (let edge = 0; edge < scene.edges.length; edge++) {
      if (this.hidden[edge]) continue;
      if (this.bends[edge] !== 0) {
        const at = this.screenOfEdge(edge);
        const far = Math.hypot(at.x - x, at.y - y) * 0.6;
        if (far < nearest) [nearest, best] = [far, { edge }];
        continue;
      }
      const from = 3 * scene.sources[edge]!;
      const to = 3 * scene.targets[edge]!;
      if (screen[from + 2]! <= 0 || screen[to + 2]! <= 0) continue;
      const far = distance(x, y, screen[from]!, screen[from + 1]!, screen[to]!, screen[to + 1]!);
      if (far < nearest) [nearest, best] = [far, { edge }];
    }
    return best;
  }

  /** Shows everything, from the front. */
  fit(): void {
    if (this.positions.length === 0) return;
    const box = new THREE.Box3().setFromArray(this.positions);
    const centre = box.getCenter(new THREE.Vector3());
    const size = box.getSize(new THREE.Vector3());
    const half = Math.tan((this.camera.fov * Math.PI) / 360);
    const far = Math.max(size.y / 2 / half, size.x / 2 / half / this.camera.aspect, 1.2) * 1.12 + size.z / 2 + 0.6;
    this.turned = false;
    this.controls.target.copy(centre);
    this.camera.position.set(centre.x, centre.y, centre.z + far);
    this.camera.near = far / 1000;
    this.camera.far = far * 20;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.draw();
  }

  /** Where the camera is. */
  get eye(): Eye {
    return { position: this.camera.position.toArray(), target: this.controls.target.toArray() };
  }

  /** Puts the camera where it was. */
  set eye(eye: Eye) {
    this.turned = true;
    this.controls.target.fromArray(eye.target);
    this.camera.position.fromArray(eye.position);
    this.controls.update();
    this.draw();
  }

  /** Moves the camera to look at a node, without turning. */
  lookAt(node: number): void {
    this.shift(this.point(node).sub(this.controls.target));
  }

  private shift(by: THREE.Vector3): void {
    this.turned = true;
    this.controls.target.add(by);
    this.camera.position.add(by);
    this.controls.update();
    this.draw();
  }

  /** Moves the camera, as far as need be, until nodes are well inside the picture; the first of them if not all are. */
  follow(nodes: number[]): void {
    const outside = (node: number) => {
      const at = this.point(node).project(this.camera);
      return !(Math.abs(at.x) < 0.92 && Math.abs(at.y) < 0.92 && at.z < 1);
    };
    window.cancelAnimationFrame(this.travel ?? 0);
    if (this.positions.length === 0 || !nodes.some(outside)) return;
    const way = this.point(nodes[0]!).sub(this.controls.target);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const start = performance.now();
    let done = 0;
    const go = (now: number) => {
      const share = still ? 1 : Math.min(1, Math.max(0, (now - start) / 250));
      const eased = share * share * (3 - 2 * share);
      this.shift(way.clone().multiplyScalar(eased - done));
      done = eased;
      if (share < 1) this.travel = requestAnimationFrame(go);
    };
    this.travel = requestAnimationFrame(go);
  }

  orbit(across: number, up: number): void {
    this.turned = true;
    const from = this.camera.position.clone().sub(this.controls.target);
    const sphere = new THREE.Spherical().setFromVector3(from);
    sphere.theta += across;
    sphere.phi = Math.min(Math.PI - 0.01, Math.max(0.01, sphere.phi + up));
    this.camera.position.copy(this.controls.target).add(from.setFromSpherical(sphere));
    this.controls.update();
    this.move();
  }

  zoom(factor: number): void {
    this.turned = true;
    const from = this.camera.position.clone().sub(this.controls.target).multiplyScalar(factor);
    this.camera.position.copy(this.controls.target).add(from);
    this.controls.update();
    this.draw();
  }

  /** Turns the picture for a while and tells how many frames a second that took. */
  async measure(milliseconds: number): Promise<number> {
    const start = performance.now();
    let frames = 0;
    const gl = this.renderer.getContext();
    const pixel = new Uint8Array(4);
    while (performance.now() - start < milliseconds) {
      await new Promise((next) => requestAnimationFrame(next));
      this.orbit(0.02, 0);
      this.render();
      // Waits for the frame to be really drawn.
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
      frames += 1;
    }
    return (1000 * frames) / (performance.now() - start);
  }

  /** Everything in full detail: a canvas to take the picture from. */
  image(): HTMLCanvasElement {
    this.rest();
    this.render();
    while (this.upto < 1) this.refine();
    return this.canvas;
  }

  /** Whether a drawn transition passes the filter. */
  shows(edge: number): boolean {
    return !this.hidden[edge];
  }

  /** What is on the screen, as shapes. */
  sketch(): Sketch {
    const { clientWidth: width, clientHeight: height } = this.holder;
    const sketch: Sketch = { width, height, background: this.palette.background, lines: [], nodes: [], texts: this.texts() };
    const scene = this.scene;
    if (!scene) return sketch;
    const screen = this.project();
    const at = (place: THREE.Vector3): [number, number] => {
      place.project(this.camera);
      return [((place.x + 1) / 2) * width, ((1 - place.y) / 2) * height];
    };
    // What lies behind the camera can't be drawn.
    const seen = (edge: number) => screen[3 * scene.sources[edge]! + 2]! > 0 && screen[3 * scene.targets[edge]! + 2]! > 0;
    const ends = (edge: number): [number, number][] =>
      this.bends[edge] === 0
        ? [scene.sources[edge]!, scene.targets[edge]!].map((node) => [screen[3 * node]!, screen[3 * node + 1]!])
        : this.curve(edge).map((place) => at(new THREE.Vector3(...place)));
    for (const layer of LAYERS) {
      const faint = layer === "after";
      const colour = this.palette.tags[faint ? "incorrect" : layer];
      const width = this.detailed ? WIDTHS[layer] : 1;
      for (let edge = 0; edge < scene.edges.length; edge++) {
        if (this.hidden[edge] || this.layerOf(edge) !== layer || !seen(edge)) continue;
        sketch.lines.push({ points: ends(edge), colour, width, dashed: layer === "correct", faint, arrow: this.detailed });
      }
    }
    for (const { lines, edges } of this.highlights.values()) {
      const material = (lines.object as THREE.Mesh).material as LineMaterial | THREE.LineBasicMaterial;
      const colour = `#${material.color.getHexString()}`;
      const width = material instanceof LineMaterial ? material.linewidth / this.density : 1;
      for (const edge of edges) if (seen(edge)) sketch.lines.push({ points: ends(edge), colour, width, dashed: false, faint: false, arrow: false });
    }
    const scale = height / Math.tan((this.camera.fov * Math.PI) / 360);
    const colour = (name: string, node: number) => {
      const values = this.points!.geometry.getAttribute(name) as THREE.BufferAttribute;
      return `#${new THREE.Color().fromBufferAttribute(values, node).getHexString()}`;
    };
    const ringed = new Set([...this.rings.nodes, this.marked]);
    for (let node = 0; node < scene.nodes.length; node++) {
      const depth = screen[3 * node + 2]!;
      if (depth <= 0) continue;
      const [box, size] = [(scene.flags[node]! & FLAG.region) !== 0, this.size(node)];
      const least = size > 0.35 && !box ? 10 : 2.5;
      const radius = Math.min(34, Math.max(least, (size * scale) / depth)) / 2;
      sketch.nodes.push({ node, x: screen[3 * node]!, y: screen[3 * node + 1]!, radius, box, fill: colour("fill", node), rim: colour("rim", node), marked: ringed.has(node) });
    }
    sketch.nodes.sort((a, b) => screen[3 * b.node + 2]! - screen[3 * a.node + 2]!);
    return sketch;
  }
}
