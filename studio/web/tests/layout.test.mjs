// The page itself: columns that can be resized, panels beside each other, small windows, links, and advice.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { page, settled } from "./browser.mjs";
import { chrome, open, start, studio, tab, written } from "./stage.mjs";

const peterson = ["models/peterson/peterson.lnt", "models/peterson/properties.mcl"];
const comb = ["models/bugs/comb.lnt", "models/bugs/comb.mcl"];
const box = (selector) => tab.evaluate((selector) => document.querySelector(selector).getBoundingClientRect().toJSON(), selector);
const seen = () => tab.evaluate(() => [...document.querySelectorAll(".pane > section:not([hidden])")].map((one) => one.id));

describe("columns", () => {
  test("are dragged, moved with keys, kept, and put back by a double click", async () => {
    await open(...comb);
    for (const [part, separator, sign] of [[".left", "Size of the left column", 1], [".right", "Size of the right column", -1]]) {
      const before = await box(part);
      const bar = await box(`[aria-label="${separator}"]`);
      const [x, y] = [bar.x + bar.width / 2, bar.y + 200];
      await tab.mouse.move(x, y);
      await tab.mouse.down();
      await tab.mouse.move(x + sign * 60, y, { steps: 4 });
      await tab.mouse.up();
      assert.ok(Math.abs((await box(part)).width - before.width - 60) < 3, part);
      // The picture takes what is left.
      assert.equal(await tab.evaluate(() => window.studio.space.canvas.clientWidth), await tab.evaluate(() => document.querySelector("#space").clientWidth));
      await tab.focus(`[aria-label="${separator}"]`);
      const cursor = await tab.evaluate(() => window.studio.walk.cursor);
      await tab.keyboard.press(sign > 0 ? "ArrowLeft" : "ArrowRight");
      assert.ok((await box(part)).width < before.width + 50, "a key moves it as well");
      assert.equal(await tab.evaluate(() => window.studio.walk.cursor), cursor, "and nothing else");
    }
    const kept = (await box(".left")).width;
    await tab.reload();
    await settled(tab);
    assert.ok(Math.abs((await box(".left")).width - kept) < 1);
    await tab.dblclick('[aria-label="Size of the left column"]');
    assert.equal((await box(".left")).width, 250);
  });

  test("show the walk beside the text", async () => {
    await open(...comb);
    assert.deepEqual(await seen(), ["listing"]);
    await tab.keyboard.press("\\");
    assert.deepEqual(await seen(), ["listing", "walk"]);
    const [source, walk] = [await box("#listing"), await box("#walk")];
    assert.ok(source.right <= walk.left && source.width > 200 && walk.width > 200, "side by side");
    // A step lights its line, and both stay.
    await tab.keyboard.press("c");
    await tab.keyboard.press("ArrowRight");
    await tab.waitForFunction(() => window.studio.walk.cursor === 1 && window.studio.listing.litLines().length > 0);
    assert.deepEqual(await seen(), ["listing", "walk"]);
    // A panel takes the place of the one that it stands for.
    await tab.click("#tab-trace");
    assert.deepEqual((await seen()).sort(), ["listing", "trace"]);
    await tab.click("#tab-edit");
    assert.deepEqual((await seen()).sort(), ["editor", "trace"]);
    await tab.click("#beside");
    assert.equal((await seen()).length, 1);
  });

  test("a window of 800 by 600 has everything, and nothing is cut off", async () => {
    await open(...peterson);
    await tab.setViewportSize({ width: 800, height: 600 });
    await tab.keyboard.press("c");
    for (const panel of ["source", "walk", "trace", "edit"]) {
      await tab.click(`#tab-${panel}`);
      const [left, space, right] = [await box(".left"), await box("#space"), await box(".right")];
      assert.ok(left.left >= 0 && left.right <= space.left && space.right <= right.left && right.right <= 800, panel);
      assert.ok(left.width >= 150 && space.width >= 150 && right.width >= 230, `${panel}: ${left.width} ${space.width} ${right.width}`);
      assert.ok(right.bottom <= 600 && (await box("header")).right <= 800);
    }
    const outside = await tab.evaluate(() => [...document.querySelectorAll("header button, header select, .tabs button")].filter((one) => one.offsetParent && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.id));
    assert.deepEqual(outside, []);
    // Beside is one above the other here.
    await tab.click("#tab-source");
    await tab.click("#beside");
    const [source, walk] = [await box("#listing"), await box(".pane:last-child")];
    assert.ok(source.bottom <= walk.top && walk.height > 100 && source.height > 80, JSON.stringify([source, walk]));
    // Dialogs are scrolled, not cut.
    await tab.click("#models");
    await tab.waitForSelector("#gallery");
    const gallery = await box("#gallery");
    assert.ok(gallery.left >= 0 && gallery.right <= 800 && gallery.top >= 0 && gallery.bottom <= 600);
  });
});

describe("links", () => {
  test("lead to the same model, property, step and state after a reload", async () => {
    await open(...peterson);
    await tab.keyboard.press("g");
    await tab.click('.card[data-name="bugs/comb"]');
    await tab.waitForFunction(() => window.studio.summary?.name === "comb");
    await tab.selectOption("#projects", { label: "peterson" });
    await tab.waitForFunction(() => window.studio.summary?.name === "peterson");
    await settled(tab);
    await tab.selectOption("#properties", "no_livelock");
    await tab.waitForFunction(() => window.studio.summary.texts.chosen === "no_livelock" && !window.studio.status.running);
    await settled(tab);
    await tab.keyboard.press("c");
    await tab.waitForFunction(() => window.studio.walk.moment.lasso !== null);
    await tab.keyboard.press("ArrowRight");
    await tab.keyboard.press("ArrowRight");
    await tab.waitForFunction(() => window.studio.walk.cursor === 2 && /&at=2/.test(location.hash));
    const look = () =>
      tab.evaluate(() => {
        const { summary, walk } = window.studio;
        return { name: summary.name, chosen: summary.texts.chosen, path: walk.path.map((step) => step.edge), cursor: walk.cursor, node: walk.node, lasso: walk.moment.lasso };
      });
    const before = await look();
    const address = await tab.evaluate(() => location.href);
    await tab.reload();
    await tab.waitForFunction(() => window.studio?.walk?.cursor === 2);
    await settled(tab);
    assert.deepEqual(await look(), before);
    // And in another page.
    const other = await page(chrome, address);
    await other.waitForFunction(() => window.studio?.walk?.cursor === 2);
    assert.equal(await other.evaluate(() => window.studio.summary.name), "peterson");
    await other.context().close();
    // A selected state.
    await tab.evaluate(() => window.studio.select({ node: 5 }));
    await tab.waitForFunction(() => window.studio.walk.path.length === 0);
    const node = (await look()).node;
    await tab.reload();
    await tab.waitForFunction((node) => window.studio?.walk?.node === node && window.studio.walk.here, node);
  });

  test("that make no sense are told, and do no harm", async () => {
    await open(...comb);
    const first = await tab.evaluate(() => window.studio.generation);
    for (const hash of [`#model=1&version=${first}&state=0&steps=999999&at=1`, `#model=1&version=${first}&state=3&steps=0.0.0&at=2`, "#model=1&version=77&state=2"]) {
      await tab.evaluate((hash) => (location.hash = hash), hash);
      await tab.waitForSelector("#note:not([hidden])");
      await tab.waitForFunction(() => window.studio.walk.path.length === 0 && window.studio.walk.node === 0);
      await tab.keyboard.press("Escape");
    }
    for (const hash of ["#", "#model=x", "#model=1&steps=1..2.-3&at=-1&panels=nothing.source", "#model=99"]) {
      await tab.evaluate((hash) => (location.hash = hash), hash);
      await tab.waitForTimeout(100);
    }
    assert.equal(await tab.evaluate(() => window.studio.summary.name), "comb");
    assert.deepEqual(await seen(), ["listing"]);
  });
});

describe("advice", () => {
  const advice = () => tab.evaluate(() => (document.querySelector("#advice").hidden ? null : document.querySelector("#advice p").textContent));

  test("is given where everything is red", async () => {
    await open("models/bugs/all_wrong.lnt", "models/bugs/all_wrong.mcl");
    assert.match(await advice(), /Everything is red/);
    await tab.click("#advice-walk");
    await tab.waitForFunction(() => window.studio.walk.path.length > 0);
    await tab.click("#advice button[title='Close this advice']");
    assert.equal(await advice(), null);
    await tab.keyboard.press("8");
    assert.equal(await advice(), null, "what was put away stays away");
  });

  test("is given where a model could not be opened", async () => {
    await start(written("wrong.lnt", "module wrong is nothing end module"), written("p.mcl", "[ true* ] true"));
    await tab.waitForSelector("#messages .error");
    assert.match(await advice(), /could not be opened/);
    assert.doesNotMatch(await tab.textContent(".left"), /no property yet/);
  });

  test("is given where nothing can happen, and where everything is filtered away", async () => {
    const stuck = written("stuck.lnt", "module stuck is process MAIN [A, B : none] is par A, B in A; B || B; A end par end process end module");
    await open(stuck);
    assert.match(await advice(), /Nothing can happen/);
    await tab.click("#advice-edit");
    await tab.waitForSelector("#editor:not([hidden])");
    await tab.context().close();
    await studio.stop();
    await open(...comb);
    assert.equal(await advice(), null);
    for (const key of ["1", "2", "3"]) await tab.keyboard.press(key);
    assert.match(await advice(), /filtered away/);
    await tab.click("#advice-all");
    assert.equal(await advice(), null);
    assert.equal(await tab.evaluate(() => window.studio.space.shownEdges()), 18);
  });
});
