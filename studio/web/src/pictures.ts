// Pictures to take away: what is shown as PNG and as SVG, both with labels, a heading and the legend, and as a graph in DOT.
import type { Sign } from "./legend";
import type { Palette } from "./palette";
import type { Sketch } from "./space";
import { FLAG, KINDS, TAGS, type Scene } from "./wire";

/** What stands around a picture. */
export interface Frame {
  heading: string;
  signs: Sign[];
  palette: Palette;
}

const FONT = 'system-ui, "DejaVu Sans", sans-serif';
const MONO = 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
const SIZE = 12;
const MARGIN = 12;
const LINE = 20;
const SWATCH = 28;
/** The most lines of an SVG: larger ones are slow to open anywhere. */
export const MOST_LINES = 50_000;

interface Placed {
  sign: Sign;
  x: number;
  y: number;
}

/** The legend below a picture, in as many rows as it needs. */
function placed(frame: Frame, width: number): { signs: Placed[]; height: number } {
  const context = document.createElement("canvas").getContext("2d")!;
  context.font = `${SIZE}px ${FONT}`;
  let [x, y] = [MARGIN, MARGIN + LINE / 2];
  const signs = frame.signs.map((sign) => {
    const wide = SWATCH + context.measureText(sign.text).width + 2 * MARGIN;
    if (x > MARGIN && x + wide > width) [x, y] = [MARGIN, y + LINE];
    const here = { sign, x, y };
    x += wide;
    return here;
  });
  return { signs, height: frame.signs.length > 0 ? y + LINE / 2 + MARGIN : 0 };
}

const HEAD = LINE + MARGIN;

/** The picture as it is drawn, with labels, a heading and the legend. */
export function pngOf(image: HTMLCanvasElement, sketch: Sketch, frame: Frame): Promise<Blob> {
  const { width, height } = sketch;
  const density = image.width / Math.max(1, width);
  const { signs, height: below } = placed(frame, width);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.round(width * density), Math.round((HEAD + height + below) * density)];
  const context = canvas.getContext("2d")!;
  context.scale(density, density);
  context.fillStyle = sketch.background;
  context.fillRect(0, 0, width, HEAD + height + below);
  context.drawImage(image, 0, HEAD, width, height);
  context.textBaseline = "middle";
  context.textAlign = "center";
  for (const { text, x, y, layer } of sketch.texts) {
    context.font = `${layer === "region" ? "bold " : ""}11px ${MONO}`;
    const wide = context.measureText(text).width + 4;
    context.globalAlpha = layer === "region" ? 0 : 0.75;
    context.fillStyle = sketch.background;
    context.fillRect(x - wide / 2, HEAD + y - 7, wide, 14);
    context.globalAlpha = 1;
    context.fillStyle = inkOf(layer, frame.palette);
    context.fillText(text, x, HEAD + y);
  }
  context.textAlign = "left";
  context.fillStyle = frame.palette.ink;
  context.font = `600 ${SIZE + 1}px ${FONT}`;
  context.fillText(frame.heading, MARGIN, HEAD / 2);
  context.font = `${SIZE}px ${FONT}`;
  context.translate(0, HEAD + height);
  for (const { sign, x, y } of signs) {
    if ("line" in sign.swatch) {
      const { colour, width, dashed, faint } = strokeOf(sign.swatch.line, frame.palette);
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.globalAlpha = faint ? 0.35 : 1;
      context.setLineDash(dashed ? [5, 3] : []);
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x + SWATCH - 6, y);
      context.stroke();
      context.globalAlpha = 1;
      context.setLineDash([]);
    } else {
      context.beginPath();
      if (sign.swatch.box) context.rect(x + 6, y - 6, 12, 12);
      else context.arc(x + 12, y, 6, 0, 2 * Math.PI);
      context.fillStyle = sign.swatch.dot;
      context.fill();
      context.strokeStyle = frame.palette.ink;
      context.lineWidth = 1.5;
      context.stroke();
    }
    context.fillStyle = frame.palette.ink;
    context.fillText(sign.text, x + SWATCH, y);
  }
  return new Promise((done, fail) =>
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("The browser could not produce an image."))), "image/png"),
  );
}

/** The picture as shapes that stay sharp at any size. */
export function svgOf(sketch: Sketch, frame: Frame): string {
  const { width, height } = sketch;
  const { signs, height: below } = placed(frame, width);
  const number = (value: number) => String(Math.round(value * 10) / 10);
  const dash = (dashed: boolean) => (dashed ? ' stroke-dasharray="6 3.5"' : "");
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${number(HEAD + height + below)}" width="${width}" height="${number(HEAD + height + below)}" font-family="${escaped(FONT)}" font-size="${SIZE}">`,
    `<title>${escaped(frame.heading)}</title>`,
    `<rect width="100%" height="100%" fill="${sketch.background}"/>`,
    `<text x="${MARGIN}" y="${number(HEAD / 2 + 4)}" font-weight="600" font-size="${SIZE + 1}" fill="${frame.palette.ink}">${escaped(frame.heading)}</text>`,
    `<svg y="${HEAD}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><g fill="none" stroke-linejoin="round">`,
  ];
  const arrows: string[] = [];
  for (const line of sketch.lines) {
    const points = line.points.map(([x, y]) => `${number(x)},${number(y)}`).join(" ");
    parts.push(`<polyline points="${points}" stroke="${line.colour}" stroke-width="${number(line.width)}"${dash(line.dashed)}${line.faint ? ' opacity="0.28"' : ""}/>`);
    if (line.arrow) arrows.push(arrowOf(line, number));
  }
  parts.push("</g>", arrows.join(""));
  for (const { x, y, radius, box, fill, rim, marked } of sketch.nodes) {
    const edge = radius > 3 ? ` stroke="${rim}" stroke-width="1.5"` : "";
    const [cx, cy, r] = [number(x), number(y), number(radius)];
    parts.push(
      box
        ? `<rect x="${number(x - radius)}" y="${number(y - radius)}" width="${number(2 * radius)}" height="${number(2 * radius)}" fill="${fill}"${edge}/>`
        : `<circle cx="${cx}" cy="${cy}" r="${r}" fill="${fill}"${edge}/>`,
    );
    if (marked) parts.push(`<circle cx="${cx}" cy="${cy}" r="${number(radius + 5)}" fill="none" stroke="${frame.palette.path}" stroke-width="3"/>`);
  }
  for (const { text, x, y, layer } of sketch.texts) {
    const weight = layer === "region" ? ' font-weight="700"' : ` stroke="${sketch.background}" stroke-width="3" paint-order="stroke"`;
    parts.push(`<text x="${number(x)}" y="${number(y + 4)}" text-anchor="middle" font-size="11" font-family="${escaped(MONO)}" fill="${inkOf(layer, frame.palette)}"${weight}>${escaped(text)}</text>`);
  }
  parts.push("</svg>", `<g transform="translate(0 ${number(HEAD + height)})">`);
  for (const { sign, x, y } of signs) {
    if ("line" in sign.swatch) {
      const stroke = strokeOf(sign.swatch.line, frame.palette);
      parts.push(`<path d="M${number(x)} ${y}h${SWATCH - 6}" stroke="${stroke.colour}" stroke-width="${stroke.width}"${dash(stroke.dashed)}${stroke.faint ? ' opacity="0.35"' : ""}/>`);
    } else if (sign.swatch.box) parts.push(`<rect x="${number(x + 6)}" y="${y - 6}" width="12" height="12" fill="${sign.swatch.dot}" stroke="${frame.palette.ink}" stroke-width="1.5"/>`);
    else parts.push(`<circle cx="${number(x + 12)}" cy="${y}" r="6" fill="${sign.swatch.dot}" stroke="${frame.palette.ink}" stroke-width="1.5"/>`);
    parts.push(`<text x="${number(x + SWATCH)}" y="${y + 4}" fill="${frame.palette.ink}">${escaped(sign.text)}</text>`);
  }
  parts.push("</g></svg>\n");
  return parts.join("\n");
}

/** What is shown as a graph for other programs: its transitions with their labels, coloured by their tags. */
export function dotOf(scene: Scene, shows: (edge: number) => boolean, labelOf: (edge: number) => string, name: string, palette: Palette): string {
  const quoted = (text: string) => `"${text.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\r?\n/g, "\\n")}"`;
  const lines = [`digraph ${quoted(name)} {`, `  node [shape=circle, style=filled, label="", width=0.2, fillcolor="${palette.node}"];`];
  scene.nodes.forEach((_, node) => {
    const flags = scene.flags[node]!;
    const kind = flags & 7;
    const means: string[] = [];
    if (kind > 0) means.push(`fillcolor="${palette.kinds[KINDS[kind - 1]!]}"`, `tooltip=${quoted(`neighbourhood ${KINDS[kind - 1]!}`)}`);
    else if (flags & FLAG.goal) means.push(`fillcolor="${palette.goal}"`, 'tooltip="violation"');
    else if (flags & FLAG.sink) means.push(`fillcolor="${palette.sink}"`, 'tooltip="safe for good"');
    else if (flags & FLAG.lost) means.push(`fillcolor="${palette.lost}"`);
    if (flags & FLAG.region) means.push("shape=box", `label=${quoted(String(scene.sizes[node]))}`, `tooltip=${quoted(`${scene.sizes[node]} states`)}`);
    if (flags & FLAG.initial) means.push(`color="${palette.initial}"`, "peripheries=2");
    lines.push(`  n${node}${means.length ? ` [${means.join(", ")}]` : ""};`);
  });
  scene.edges.forEach((_, edge) => {
    if (!shows(edge)) return;
    const tag = scene.tags[edge]!;
    const word = TAGS[tag & 3]!;
    const style = word === "correct" ? ", style=dashed" : word === "incorrect" && !(tag & 4) ? ", penwidth=2" : "";
    lines.push(`  n${scene.sources[edge]} -> n${scene.targets[edge]} [label=${quoted(labelOf(edge))}, color="${palette.tags[word]}", fontcolor="${palette.tags[word]}"${style}];`);
  });
  return lines.join("\n") + "\n}\n";
}

function strokeOf(line: string, palette: Palette): { colour: string; width: number; dashed: boolean; faint: boolean } {
  const faint = line === "after";
  const colour = palette.tags[faint || line === "incorrect" ? "incorrect" : line === "correct" ? "correct" : "neutral"];
  return { colour, width: line === "incorrect" ? 4 : 2, dashed: line === "correct", faint };
}

function inkOf(layer: string, palette: Palette): string {
  if (layer === "correct") return palette.tags.correct;
  return layer === "incorrect" || layer === "after" ? palette.tags.incorrect : palette.ink;
}

/** The head of an arrow behind the middle of a line. */
function arrowOf(line: Sketch["lines"][number], number: (value: number) => string): string {
  const { points } = line;
  const half = Math.floor((points.length - 1) / 2);
  const [[ax, ay], [bx, by]] = [points[half]!, points[half + 1]!];
  const length = Math.hypot(bx - ax, by - ay);
  if (length === 0) return "";
  const share = points.length === 2 ? 0.62 : 0.5;
  const [ux, uy, size] = [(bx - ax) / length, (by - ay) / length, 3 + line.width];
  const [x, y] = [ax + (bx - ax) * share + ux * size, ay + (by - ay) * share + uy * size];
  const corner = (side: number) => `${number(x - 2 * size * ux - side * size * 0.7 * uy)},${number(y - 2 * size * uy + side * size * 0.7 * ux)}`;
  return `<polygon points="${number(x)},${number(y)} ${corner(1)} ${corner(-1)}" fill="${line.colour}"${line.faint ? ' opacity="0.28"' : ""}/>`;
}

function escaped(text: string): string {
  // Characters that no XML may hold are left out.
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "").replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}
