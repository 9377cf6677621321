// What must not slip: keys, walks, messages, dialogs and edits.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { settled, type, typed } from "./browser.mjs";
import { open, studio, tab, written } from "./stage.mjs";

const comb = ["models/bugs/comb.lnt", "models/bugs/comb.mcl"];
const note = (text) => tab.waitForSelector(`#note:not([hidden]):has-text("${text}")`);
const walk = () => tab.evaluate(() => ({ cursor: window.studio.walk.cursor, node: window.studio.walk.node, path: window.studio.walk.path.map((step) => step.label) }));
/** Presses keys in one go, before the page can answer. */
const quickly = (...keys) =>
  tab.evaluate((keys) => {
    for (const key of keys) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  }, keys);

describe("the walk", () => {
  test("takes the step that is highlighted", async () => {
    await open(...comb);
    await tab.click("#tab-walk");
    await tab.keyboard.press("n");
    await tab.waitForFunction(() => window.studio.walk.path.length === 2);
    // What the walk does next, wherever it stands in the list.
    for (let step = 0; step < 2; step++) {
      await tab.waitForFunction((step) => document.querySelector("#walk .step.chosen")?.textContent === window.studio.walk.path[step].label, step);
      const chosen = await tab.textContent("#walk .step.chosen");
      await tab.keyboard.press("ArrowRight");
      await tab.waitForFunction((cursor) => window.studio.walk.cursor === cursor && window.studio.walk.here.node === window.studio.walk.node, step + 1);
      assert.equal((await walk()).path[step], chosen);
    }
    // Another one, where the user chooses so.
    const atStart = () => tab.waitForFunction(() => window.studio.walk.path.length === 0 && document.querySelector("#here").textContent.startsWith("State 0"));
    await tab.keyboard.press("0");
    await atStart();
    const labels = await tab.locator("#walk .steps").first().locator(".step").allTextContents();
    for (let at = 0; at < labels.length; at++) {
      await tab.keyboard.press("0");
      await atStart();
      for (let down = 0; down < at; down++) await tab.keyboard.press("ArrowDown");
      await tab.waitForFunction((at) => document.querySelector(`#on-${at}`)?.classList.contains("chosen"), at);
      await tab.keyboard.press("ArrowRight");
      await tab.waitForFunction(() => window.studio.walk.cursor === 1);
      assert.equal((await walk()).path[0], labels[at]);
    }
  });

  test("loses no key, however quickly they are pressed", async () => {
    const line = written("line.lnt", `module line is process MAIN [A, B : none] is ${"A; ".repeat(30)} B end process end module`);
    await open(line);
    await quickly(...Array(20).fill("ArrowRight"));
    await tab.waitForFunction(() => window.studio.walk.cursor === 20);
    await quickly("ArrowLeft", "ArrowLeft", "ArrowRight", "ArrowLeft", "u", "u");
    // It comes through there on its way, so it has to stay; a busy machine takes its time.
    for (let calm = 0, tries = 0; calm < 4 && tries < 60; tries++) {
      await tab.waitForTimeout(250);
      calm = (await walk()).cursor === 18 ? calm + 1 : 0;
    }
    assert.equal((await walk()).cursor, 18);
    // Choosing waits for the step before as well.
    const fork = written("fork.lnt", "module fork is process MAIN [A, B, C, D : none] is A; select B [] C [] D end select end process end module");
    await tab.context().close();
    await studio.stop();
    await open(fork);
    await quickly("ArrowRight", "ArrowDown", "ArrowDown", "ArrowRight");
    await tab.waitForFunction(() => window.studio.walk.cursor === 2);
    const outgoing = await tab.evaluate(async () => (await window.studio.backend.state(window.studio.walk.path[1].source)).outgoing.map((one) => one.label));
    assert.equal((await walk()).path[1], outgoing[2]);
  });

  test("stays in the part that is repeated for ever", async () => {
    await open("models/peterson/peterson.lnt", "models/peterson/properties.mcl");
    assert.match(await tab.textContent("#verdict"), /no_livelock is violated/);
    await tab.keyboard.press("c");
    await tab.waitForFunction(() => window.studio.walk.moment.lasso !== null);
    const { length, lasso } = await tab.evaluate(() => ({ length: window.studio.walk.path.length, lasso: window.studio.walk.moment.lasso }));
    const seen = [];
    for (let step = 0; step < 2 * length + 3; step++) {
      await quickly("ArrowRight");
      const expected = step < length ? step + 1 : lasso + 1 + ((step - length) % (length - lasso));
      await tab.waitForFunction((cursor) => window.studio.walk.cursor === cursor, expected);
      seen.push((await walk()).node);
    }
    const loop = new Set(seen.slice(lasso, length));
    assert.ok(seen.slice(length).every((node) => loop.has(node)), `${seen}`);
    assert.equal(await tab.evaluate(() => window.studio.walk.path.length), length);
    assert.equal(await tab.evaluate(() => window.studio.walk.moment.lasso), lasso);
  });
});

describe("messages", () => {
  test("agree on whether a property is violated", async () => {
    // No single run shows that nothing can happen.
    await open(comb[0], written("p.mcl", '< "FETCH" > < "FETCH" > true'));
    assert.match(await tab.textContent("aside.left"), /p is violated/);
    await tab.keyboard.press("c");
    await note("p is violated");
    assert.doesNotMatch(await tab.textContent("body"), /no property is violated|no violated property/);
  });

  test("say that there is no property where there is none", async () => {
    await open(comb[0]);
    await tab.keyboard.press("c");
    await note("there is no property yet");
  });

  test("go away with what they were about", async () => {
    await open(...comb);
    const hidden = () => tab.waitForFunction(() => document.querySelector("#note").hidden && document.querySelector("#note").textContent === "");
    // The walk moves on.
    await tab.evaluate(() => window.studio.walk.startAt(window.studio.scene.nodes.length - 1));
    for (let step = 0; step < 8; step++) await tab.keyboard.press("ArrowRight");
    await note("Nothing can happen here");
    await tab.keyboard.press("ArrowLeft");
    await hidden();
    // A text is run again, and is right now.
    await tab.keyboard.press("m");
    const text = await typed(tab);
    await type(tab, "no model");
    await tab.keyboard.press("Control+Enter");
    await note("comb.lnt:1");
    await type(tab, text);
    const generation = await tab.evaluate(() => window.studio.generation);
    await tab.keyboard.press("Control+Enter");
    await tab.waitForFunction((before) => window.studio.generation > before, generation);
    await settled(tab);
    await hidden();
    // What was found in another version of the model.
    await tab.fill("#search", "FETCH");
    await tab.press("#search", "Enter");
    await tab.waitForSelector("#found:has-text('transition')");
    await tab.focus("#text");
    await tab.keyboard.type(" ");
    await tab.keyboard.press("Control+Enter");
    await tab.waitForFunction(() => document.querySelector("#found").textContent === "");
    await tab.keyboard.press("Escape");
    // Another model is opened.
    await tab.evaluate(() => window.studio.say("about the comb"));
    await tab.evaluate(() => document.activeElement.blur());
    await tab.keyboard.press("g");
    await tab.click('.card[data-name="bugs/flower"]');
    await tab.waitForFunction(() => window.studio.summary?.name === "flower");
    await hidden();
  });
});

describe("dialogs", () => {
  test("keys do not act behind them, and the focus stays inside", async () => {
    await open(...comb);
    for (const [key, id] of [["?", "help"], ["g", "gallery"]]) {
      await tab.focus("#tab-walk");
      await tab.keyboard.press(key);
      await tab.waitForSelector(`#${id}[role=dialog][aria-modal=true]`);
      const before = await tab.evaluate(() => JSON.stringify([window.studio.legend.filter, window.studio.walk.cursor, window.studio.labelsShown, document.documentElement.dataset.theme, document.querySelectorAll(".overlay").length]));
      for (const other of ["1", "2", "l", "t", "ArrowRight", "c", "g", "d", "Shift+Q", "m"]) await tab.keyboard.press(other);
      await tab.waitForTimeout(200);
      const after = await tab.evaluate(() => JSON.stringify([window.studio.legend.filter, window.studio.walk.cursor, window.studio.labelsShown, document.documentElement.dataset.theme, document.querySelectorAll(".overlay").length]));
      assert.equal(after, before);
      const stops = new Set();
      for (let press = 0; press < 40; press++) {
        await tab.keyboard.press(press < 30 ? "Tab" : "Shift+Tab");
        assert.ok(await tab.evaluate((id) => document.querySelector(`#${id}`).contains(document.activeElement), id), `press ${press}`);
        stops.add(await tab.evaluate(() => document.activeElement.textContent));
      }
      // What lies below can't be clicked.
      assert.equal(await tab.evaluate(() => document.querySelector("header").inert && document.querySelector(".columns").inert), true);
      await tab.keyboard.press("Escape");
      await tab.waitForSelector(`#${id}`, { state: "detached" });
      assert.equal(await tab.evaluate(() => document.activeElement.id), "tab-walk", "the focus comes back");
      assert.equal(await tab.evaluate(() => document.querySelector("header").inert), false);
    }
  });
});

describe("edits", () => {
  const edited = async () => {
    await tab.keyboard.press("m");
    await tab.keyboard.insertText("-- mine\n");
  };

  test("are not lost when another model is opened", async () => {
    await open(...comb);
    await edited();
    await tab.click("#models");
    await tab.click('.card[data-name="bugs/flower"]');
    await tab.waitForSelector("#question");
    await tab.keyboard.press("Escape");
    await tab.waitForSelector("#question", { state: "detached" });
    assert.match(await typed(tab), /^-- mine/);
    await tab.click('.card[data-name="bugs/flower"]');
    await tab.click("#answer-yes");
    await tab.waitForFunction(() => window.studio.summary?.name === "flower");
    // Where nothing was typed nothing is asked.
    await tab.selectOption("#projects", { label: "comb" });
    await tab.waitForFunction(() => window.studio.summary?.name === "comb");
    assert.doesNotMatch(await typed(tab), /mine/);
    await tab.focus("#fit");
    await edited();
    await tab.selectOption("#projects", { label: "flower" });
    await tab.click("#answer-no");
    assert.equal(await tab.evaluate(() => document.querySelector("#projects").selectedOptions[0].textContent), "comb");
    assert.match(await typed(tab), /^-- mine/);
  });

  test("are not lost when the page or the model is closed", async () => {
    await open(...comb);
    await edited();
    const asked = [];
    tab.on("dialog", (dialog) => {
      asked.push(dialog.type());
      void dialog.dismiss();
    });
    await tab.evaluate(() => location.reload()).catch(() => undefined);
    await tab.waitForTimeout(500);
    assert.deepEqual(asked, ["beforeunload"]);
    assert.match(await typed(tab), /^-- mine/);
    // Run, they live in the program: a page that is loaded again has them, but closing the model takes them away.
    await tab.focus("#text");
    await tab.keyboard.press("Control+Enter");
    await tab.waitForFunction(() => /^-- mine/.test(window.studio.summary.files[0].text));
    await tab.click("#close-model");
    await tab.click("#answer-no");
    assert.equal(await tab.evaluate(() => window.studio.summary.name), "comb");
    await tab.reload();
    await settled(tab);
    assert.deepEqual(asked, ["beforeunload"]);
    assert.match(await typed(tab), /^-- mine/);
  });
});
