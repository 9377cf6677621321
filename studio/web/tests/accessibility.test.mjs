// Everyone can use the page: axe finds nothing wrong with any of its views, light or dark.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { settled, type } from "./browser.mjs";
import { start as open, tab } from "./stage.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Asks axe about the page as it is, in both themes. */
async function check(view) {
  await tab.evaluate(axe);
  for (const theme of ["light", "dark"]) {
    await tab.evaluate((theme) => window.studio.theme(theme), theme);
    await tab.waitForTimeout(100);
    const violations = await tab.evaluate(async () => {
      const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
      return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 4).map((node) => `${node.target} ${node.any[0]?.message ?? node.failureSummary}`).join("; ")}`);
    });
    assert.deepEqual(violations, [], `${view}, ${theme}`);
  }
}

test("the gallery, and dialogs", async () => {
  await open();
  await tab.waitForSelector("#gallery");
  await check("gallery");
  await tab.click('.card[data-name="bugs/comb"]');
  await settled(tab);
  await tab.keyboard.press("?");
  await check("keys");
  await tab.keyboard.press("Escape");
  await tab.click("#save");
  await check("save");
  await tab.keyboard.press("Escape");
  await tab.keyboard.press("m");
  await tab.keyboard.type("-- mine");
  await tab.click("#close-model");
  await tab.waitForSelector("#question");
  await check("question");
});

test("source, walk and trace of a bug", async () => {
  await open("models/bugs/flower.lnt", "models/bugs/flower.mcl");
  await settled(tab);
  await check("source");
  await tab.keyboard.press("]");
  await tab.keyboard.press("l");
  await tab.waitForSelector(".labels span");
  await check("a choice, with labels");
  await tab.keyboard.press("c");
  await tab.click("#tab-walk");
  await tab.keyboard.press("ArrowRight");
  await tab.waitForFunction(() => window.studio.walk.cursor === 1);
  await check("walk");
  await tab.click("#tab-trace");
  await tab.waitForSelector("#trace-table");
  await check("trace");
  await tab.click("#beside");
  await check("beside");
});

test("all properties, searching, and what was found", async () => {
  await open("models/peterson/peterson.lnt", "models/peterson/properties.mcl");
  await settled(tab);
  await tab.fill("#search", "ENTER");
  await tab.press("#search", "Enter");
  await tab.waitForSelector("#found .hit");
  await check("properties and search");
  // Another model beside this one.
  await tab.keyboard.press("Escape");
  await tab.click("#models");
  await tab.click('.card[data-name="bugs/comb"]');
  await tab.waitForFunction(() => window.studio.summary?.name === "comb");
  await settled(tab);
  await tab.click("#tab-compare");
  await tab.waitForSelector("#compare-with option", { state: "attached" });
  await tab.click("#compare-run");
  await tab.waitForFunction(() => document.querySelector("#compared").textContent !== "");
  await check("compare");
});

test("the editor, with errors", async () => {
  await open("models/bugs/all_wrong.lnt", "models/bugs/all_wrong.mcl");
  await settled(tab);
  await check("advice");
  await tab.keyboard.press("m");
  await check("editor");
  await type(tab, 'module m is -- comment\nprocess MAIN is "text" end\n');
  await tab.keyboard.press("Control+Enter");
  await tab.waitForSelector("#messages .error");
  await check("errors");
  await tab.focus("#text");
  await tab.keyboard.press("Control+f");
  await tab.waitForSelector(".cm-search");
  await check("searching a text");
});

test("coverage", async () => {
  await open("models/coverage/synchro/synchro1.lnt", "--examples", "models/coverage/synchro/suite1.toml", "--root", "SYSTEM (1, false, false)");
  await settled(tab);
  await tab.keyboard.press("k");
  await tab.waitForSelector("#covered .code-line");
  await check("coverage");
});

test("the token game", async () => {
  await open("models/philosophers_net/philosophers_net.net");
  await settled(tab);
  await tab.keyboard.press("b");
  await tab.waitForSelector("#net .enabled");
  await check("net");
});

test("traces beside the model", async () => {
  const folder = mkdtempSync(join(tmpdir(), "studio-"));
  writeFileSync(join(folder, "traces.txt"), "FETCH\nVERIFY\nFETCH\n[]\nFETCH\n");
  await open("models/bugs/comb.lnt", "--traces", join(folder, "traces.txt"));
  await tab.waitForSelector("#conformance:not([hidden])");
  await check("conformance");
});

test("colours that carry a meaning stand out from what is behind them", async () => {
  await open("models/bugs/comb.lnt", "models/bugs/comb.mcl");
  await settled(tab);
  const worst = await tab.evaluate(() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgb = (colour) => {
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = (colour) => {
      const [r, g, b] = rgb(colour).map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (one, other) => {
      const [a, b] = [light(one), light(other)].sort((x, y) => y - x);
      return (a + 0.05) / (b + 0.05);
    };
    const found = [];
    for (const theme of ["light", "dark"]) {
      window.studio.theme(theme);
      const style = getComputedStyle(document.documentElement);
      const value = (name) => style.getPropertyValue(name).trim();
      for (const paper of ["--paper", "--panel"]) {
        for (const ink of ["--ink", "--faint", "--correct", "--incorrect", "--neutral", "--path", "--word", "--string", "--warning"]) {
          found.push([contrast(value(ink), value(paper)), `${ink} on ${paper}, ${theme}`]);
        }
      }
    }
    return found.sort((one, other) => one[0] - other[0])[0];
  });
  assert.ok(worst[0] >= 4.5, `${worst}`);
});
