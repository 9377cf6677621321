// What is drawn: what is found, coloured, dragged, reduced and compared.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { page, settled } from "./browser.mjs";
import { chrome, open, studio, tab, written } from "./stage.mjs";

const text = (selector) => tab.textContent(selector);
const philosophers = ["models/philosophers/philosophers.lnt", "models/philosophers/properties.mcl"];

describe("what is found and coloured", () => {
  test("a search begins as one types, and rings all states", async () => {
    await open(...philosophers);
    await tab.selectOption("#among", "states");
    await tab.click("#search");
    await tab.keyboard.type("FORK (0).holder = 4".replace(/[().]/g, "."));
    await tab.waitForFunction(() => window.studio.space.ringed().length > 1);
    const ringed = await tab.evaluate(() => window.studio.space.ringed());
    assert.equal(await text("#found").then((found) => Number(found.split(" ")[0])), ringed.length);
    // Only such states, and all of them.
    const right = await tab.evaluate(async () => {
      const has = [];
      for (const node of window.studio.scene.nodes) {
        const { instances, place } = await window.studio.backend.state(node);
        if (instances.some((one) => one.instance === "FORK (0)" && one.values.some(({ name, value }) => name === "holder" && value.startsWith("4")))) has.push(place);
      }
      return has.sort((one, other) => one - other);
    });
    assert.deepEqual([...ringed].sort((one, other) => one - other), right);
    await tab.fill("#search", "");
    await tab.waitForFunction(() => window.studio.space.ringed().length === 0);
  });

  test("a condition colours states, says what is wrong with it, and is cleared", async () => {
    await open(...philosophers);
    await tab.fill("#condition", "FORK (0).holder = 0 and not can PUT");
    await tab.waitForFunction(() => /holds in/.test(document.querySelector("#painted").textContent));
    const [all, shares] = await tab.evaluate(() => [document.querySelector("#painted").textContent, [...window.studio.scene.nodes.keys()].map((node) => window.studio.space.paintedShare(node))]);
    assert.equal(shares.filter((share) => share === 1).length, Number(/in (\d+) states/.exec(all)[1]));
    assert.ok(shares.includes(0));
    await tab.click("#first-painted");
    await tab.waitForFunction(() => window.studio.walk.here && window.studio.space.paintedShare(window.studio.walk.here.place) === 1);
    await tab.fill("#condition", "holdre = 0");
    await tab.waitForFunction(() => /did you mean `holder`/.test(document.querySelector("#painted").textContent));
    assert.equal(await tab.evaluate(() => window.studio.space.paintedShare(0)), null);
    await tab.fill("#condition", "can EAT");
    await tab.waitForFunction(() => /no label has this gate/.test(document.querySelector("#painted").textContent));
    await tab.press("#condition", "Escape");
    await tab.waitForFunction(() => document.querySelector("#painted").textContent === "");
  });
});

describe("dragging", () => {
  test("a state stays where it is put, also when the scene is drawn anew, until it is let go", async () => {
    await open("models/bugs/comb.lnt", "models/bugs/comb.mcl");
    const box = await tab.locator("#space canvas").boundingBox();
    const before = await tab.evaluate(() => [window.studio.space.placeOf(3), window.studio.space.eye]);
    const from = await tab.evaluate(() => window.studio.space.screenOf(3));
    await tab.mouse.move(box.x + from.x, box.y + from.y);
    await tab.mouse.down();
    await tab.mouse.move(box.x + from.x + 40, box.y + from.y - 60, { steps: 4 });
    await tab.mouse.up();
    await tab.waitForFunction(() => window.studio.status.pins === 1);
    const [place, eye] = await tab.evaluate(() => [window.studio.space.placeOf(3), window.studio.space.eye]);
    assert.notDeepEqual(place, before[0]);
    assert.deepEqual(eye, before[1], "the camera stays");
    const to = await tab.evaluate(() => window.studio.space.screenOf(3));
    assert.ok(Math.hypot(to.x - from.x - 40, to.y - from.y + 60) < 2);
    // The program knows: another page sees the same.
    const again = await page(chrome, studio.address);
    await settled(again);
    assert.deepEqual(await again.evaluate(() => window.studio.space.placeOf(3).map(Math.fround)), place.map(Math.fround));
    await again.context().close();
    await tab.click("#unpin");
    await tab.waitForFunction(() => window.studio.status.pins === 0);
    await tab.waitForFunction(() => document.querySelector("#unpin").hidden);
  });
});

describe("reduction", () => {
  test("equivalent states are drawn as one, walked through and opened", async () => {
    // Two ways that do the same, then an internal step.
    const aut = written("twins.aut", "des (0, 7, 7)\n(0, A, 1)\n(0, A, 2)\n(1, B, 3)\n(2, B, 4)\n(3, i, 5)\n(4, i, 5)\n(5, C, 6)\n");
    await open(aut);
    assert.equal(await tab.evaluate(() => window.studio.scene.nodes.length), 7);
    const reduce = async (relation, nodes) => {
      await tab.selectOption("#reduce", relation);
      await tab.waitForFunction((nodes) => window.studio.scene.nodes.length === nodes, nodes);
      await settled(tab);
    };
    await reduce("strong", 5);
    assert.match(await text("#sizes"), /7 states, 7 transitions, drawn as 5 nodes \(strong-equivalent states are one\)/);
    await reduce("branching", 4);
    assert.equal(await tab.evaluate(() => window.studio.scene.edges.length), 3, "A, B and C");
    await reduce("strong", 5);
    for (let step = 1; step <= 4; step++) {
      await tab.keyboard.press("ArrowRight");
      await tab.waitForFunction((step) => window.studio.walk.cursor === step && window.studio.space.highlighted("path").length === step, step);
    }
    const merged = await tab.evaluate(() => [...window.studio.scene.sizes.keys()].find((node) => window.studio.scene.sizes[node] > 1));
    await tab.evaluate((node) => window.studio.change({ open: window.studio.scene.nodes[node] - 0x80000000 }), merged);
    await tab.waitForFunction(() => window.studio.scene.nodes.length === 6);
    await reduce("", 7);
    assert.equal(await tab.evaluate(() => window.studio.status.detail), "all");
  });

  test("a large system is first shown reduced, where that is small", async () => {
    // A cycle of four actions, in 8,000 copies of its states.
    const many = 8_000;
    const steps = Array.from({ length: many }, (_, at) => `(${at}, S${at % 4}, ${(at + 1) % many})`);
    await open(written("large.aut", `des (0, ${many}, ${many})\n${steps.join("\n")}\n`));
    assert.equal(await tab.evaluate(() => window.studio.scene.nodes.length), 4);
    assert.match(await text("#sizes"), /8,000 states, 8,000 transitions, drawn as 4 nodes \(strong-equivalent/);
    assert.equal(await tab.inputValue("#reduce"), "strong");
    await tab.waitForSelector("#note:not([hidden]):has-text('drawn as one')");
    await tab.keyboard.press("d");
    await tab.waitForFunction(() => window.studio.scene.nodes.length === 8_000);
  });
});

describe("comparison", () => {
  test("both models are drawn, and what only one can do is walked in both", async () => {
    const one = written("one.aut", "des (0, 3, 4)\n(0, COIN, 1)\n(1, TEA, 2)\n(2, TIP, 3)\n");
    const two = { name: "two.aut", mimeType: "text/plain", buffer: Buffer.from("des (0, 4, 4)\n(0, COIN, 1)\n(1, i, 2)\n(2, TEA, 3)\n(3, COFFEE, 0)\n") };
    await open(one);
    await tab.click("#tab-compare");
    await tab.waitForFunction(() => /no other open model/.test(document.querySelector("#compared").textContent));
    await tab.keyboard.press("g");
    await tab.setInputFiles("#files", [two]);
    await tab.waitForFunction(() => window.studio.summary?.name === "two");
    await settled(tab);
    await tab.click("#tab-compare");
    await tab.waitForFunction(() => document.querySelector("#compare-with").value !== "");
    await tab.selectOption("#compare-by", "weak-trace");
    await tab.click("#compare-run");
    await tab.waitForSelector("#distinguishing");
    assert.match(await text("#compare-verdict"), /two and one are not equivalent \(weak-trace\)/);
    const labels = await tab.locator("#distinguishing button").allTextContents();
    assert.deepEqual(labels.slice(0, 2), ["COIN", "TEA"]);
    assert.equal(labels.length, 3);
    await tab.waitForFunction(() => window.studio.compare.space?.positions.length > 0);
    // Forward in both: an internal step more on the left.
    await tab.locator("#space canvas").focus();
    await tab.keyboard.press("ArrowRight");
    await tab.keyboard.press("ArrowRight");
    await tab.waitForFunction(() => window.studio.space.highlighted("path").length === 3 && window.studio.compare.space.highlighted("path").length === 2);
    await tab.keyboard.press("ArrowRight");
    await tab.keyboard.press("ArrowRight");
    const lengths = () => tab.evaluate(() => [window.studio.space.highlighted("path").length, window.studio.compare.space.highlighted("path").length]);
    const only = (await text("#compared")).includes("Only two can");
    await tab.waitForFunction((left) => window.studio.space.highlighted("path").length === left, only ? 4 : 3);
    assert.deepEqual(await lengths(), only ? [4, 2] : [3, 3]);
    // The other picture is gone with the panel.
    await tab.click("#tab-source");
    assert.equal(await tab.isVisible("#other"), false);
  });

  test("systems that differ only in when they choose are told apart by a formula", async () => {
    await open(written("late.aut", "des (0, 3, 4)\n(0, A, 1)\n(1, B, 2)\n(1, C, 3)\n"));
    await tab.keyboard.press("g");
    await tab.setInputFiles("#files", [{ name: "early.aut", mimeType: "text/plain", buffer: Buffer.from("des (0, 4, 5)\n(0, A, 1)\n(0, A, 2)\n(1, B, 3)\n(2, C, 4)\n") }]);
    await tab.waitForFunction(() => window.studio.summary?.name === "early");
    await settled(tab);
    await tab.click("#tab-compare");
    await tab.waitForFunction(() => document.querySelector("#compare-with").value !== "");
    await tab.click("#compare-run");
    await tab.waitForSelector("#compare-formula");
    assert.match(await text("#compared"), /differ in when they choose/);
    // Early has chosen already when late chooses.
    assert.match(await text("#distinguishing"), /A chosen by \w+(B|C) chosen by late, not possible here in early/);
    await tab.selectOption("#compare-by", "trace");
    await tab.click("#compare-run");
    await tab.waitForFunction(() => /are equivalent \(trace\)/.test(document.querySelector("#compared").textContent));
  });
});
