// Pictures to take away: PNG, SVG and DOT hold what is shown, with labels and the legend.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { program, settled } from "./browser.mjs";
import { open, tab } from "./stage.mjs";

/** Saves in a format, from the list of what can be saved. */
async function saved(format) {
  await tab.click("#save");
  const [file] = await Promise.all([tab.waitForEvent("download"), tab.click(`#save-${format}`)]);
  assert.match(file.suggestedFilename(), new RegExp(`\\.${format}$`));
  return readFileSync(await file.path());
}

test("a picture has its labels, a heading and the legend", async () => {
  await open("models/bugs/comb.lnt", "models/bugs/comb.mcl");
  await tab.keyboard.press("l");
  await tab.waitForSelector(".labels span");
  const png = await saved("png");
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const shown = await tab.evaluate(() => [window.studio.space.canvas.width, window.studio.space.canvas.height]);
  assert.equal(width, shown[0]);
  assert.ok(height > shown[1] + 50, "there is room for a heading and a legend");
  // Every label has left something where it stands; below is the legend.
  const inked = await tab.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const colours = (x, y, w, h) => {
      const { data } = context.getImageData(x, y, w, h);
      return new Set(Array.from({ length: w * h }, (_, at) => data.slice(4 * at, 4 * at + 3).join())).size;
    };
    const top = 32;
    const sketch = window.studio.space.sketch();
    return {
      labels: sketch.texts.map(({ text, x, y }) => colours(Math.round(x - 3 * text.length), Math.round(y + top - 6), 6 * text.length, 12)),
      heading: colours(0, 0, image.width, 30),
      legend: colours(0, image.height - 30, image.width, 30),
    };
  }, png.toString("base64"));
  assert.ok(inked.labels.length >= 12 && inked.labels.every((colours) => colours > 5), `${inked.labels}`);
  assert.ok(inked.heading > 5 && inked.legend > 5, JSON.stringify(inked));
});

test("a drawing as SVG shows the same, and names that look like code are text", async () => {
  await open("models/bugs/comb.lnt", "models/bugs/comb.mcl");
  await tab.keyboard.press("l");
  const svg = (await saved("svg")).toString();
  const parsed = await tab.evaluate((text) => {
    const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    const count = (selector) => root.querySelectorAll(selector).length;
    return { name: root.localName, lines: count("svg svg polyline"), circles: count("svg svg circle"), texts: [...root.querySelectorAll("text")].map((one) => one.textContent) };
  }, svg);
  assert.equal(parsed.name, "svg");
  const { edges, nodes } = await tab.evaluate(() => ({ edges: window.studio.scene.edges.length, nodes: window.studio.scene.nodes.length }));
  assert.equal(parsed.lines, edges);
  assert.ok(parsed.circles >= nodes);
  for (const word of ["UNPLUG", "FETCH", "incorrect: then lost", "initial"]) assert.ok(parsed.texts.includes(word), word);
  assert.match(parsed.texts[0], /^comb, comb is violated: 14 states, 18 transitions$/);
  // What is filtered away is not saved.
  await tab.keyboard.press("2");
  const fewer = (await saved("svg")).toString();
  assert.equal(fewer.split("<polyline").length - 1, await tab.evaluate(() => window.studio.space.shownEdges()));
});

test("a graph as DOT has the transitions that are shown, and can be read again", async () => {
  await open("models/bugs/comb.lnt", "models/bugs/comb.mcl");
  const dot = (await saved("dot")).toString();
  const edges = [...dot.matchAll(/^ {2}n(\d+) -> n(\d+) \[label="((?:[^"\\]|\\.)*)"/gm)].map(([, from, to, label]) => `${from} ${label} ${to}`);
  const drawn = await tab.evaluate(() => {
    const { scene, summary } = window.studio;
    return [...scene.edges.keys()].map((edge) => `${scene.sources[edge]} ${summary.labels[scene.labels[edge]]} ${scene.targets[edge]}`);
  });
  assert.deepEqual(edges.sort(), drawn.sort());
  assert.equal((dot.match(/^ {2}n\d+(?: \[.*\])?;$/gm) ?? []).length, 14);
});

test("what is too much for an SVG is said", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "studio-")), "large.aut");
  execFileSync(program(), ["random", "--shape", "layered", "--states", 20_000, "--transitions", 60_000, "--labels", 9, "-o", file].map(String));
  await open(file);
  await tab.keyboard.press("d");
  await tab.waitForFunction(() => window.studio.scene.nodes.length === 20_000);
  await settled(tab);
  await tab.click("#save");
  await tab.click("#save-svg");
  await tab.waitForSelector("#note:not([hidden]):has-text('too much for an SVG')");
  // The picture and the graph are not.
  assert.equal((await saved("png")).subarray(1, 4).toString(), "PNG");
  assert.equal((await saved("dot")).toString().split(" -> ").length - 1, await tab.evaluate(() => window.studio.scene.edges.length));
});
