// The page in a real browser: what a user does, asserted through the page's own data and not through pixels.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, test } from "node:test";
import { page, program, settled, type, typed } from "./browser.mjs";
import { chrome, gone, start as open, prepare, studio, tab } from "./stage.mjs";

const bug = (name) => [`models/bugs/${name}.lnt`, `models/bugs/${name}.mcl`];

/** Clicks where something is drawn. */
async function click(place, options = {}) {
  const box = await tab.locator("#space canvas").boundingBox();
  await tab.mouse.move(box.x + place.x, box.y + place.y);
  await tab.mouse.click(box.x + place.x, box.y + place.y, options);
}

/** Numbers of drawn transitions with a label. */
const edgesWith = (label) =>
  tab.evaluate((label) => {
    const { scene, summary } = window.studio;
    return [...scene.edges.keys()].filter((edge) => summary.labels[scene.labels[edge]] === label);
  }, label);

describe("without a model", () => {
  beforeEach(() => open());

  test("a visitor sees what this is, and opens an example with one click", async () => {
    await tab.waitForSelector("#gallery");
    assert.match(await tab.textContent("#gallery"), /correct and incorrect behaviour part ways/);
    assert.ok((await tab.locator("#gallery .card").count()) > 15);
    await tab.click('.card[data-name="bugs/unique_choice"]');
    await settled(tab);
    assert.match(await tab.textContent("#shape"), /unique choice/);
    // A second model at once; the first stays open.
    await tab.keyboard.press("g");
    await tab.click('.card[data-name="peterson/peterson"]');
    await tab.waitForFunction(() => window.studio.summary?.name === "peterson");
    await settled(tab);
    assert.equal(await tab.locator("#projects option").count(), 2);
    // What is violated there is expected to be; its variant is broken.
    assert.match(await tab.textContent("#verdict"), /no_livelock is violated/);
    await tab.selectOption("#starts", "BROKEN");
    await tab.waitForFunction(() => /no_error is violated/.test(document.querySelector("#verdict")?.textContent ?? ""));
    assert.equal(await tab.inputValue("#starts"), "BROKEN");
    // A network of systems.
    await tab.keyboard.press("g");
    await tab.click('.card[data-name="network/network"]');
    await tab.waitForFunction(() => window.studio.summary?.name === "network" && window.studio.summary.nodes >= 14);
  });

  test("own files are opened from the page, wrong ones are explained", async () => {
    await tab.waitForSelector("#gallery");
    // What can't be read is told, in front of the gallery.
    await tab.evaluate(() => (File.prototype.text = () => Promise.reject(new Error("gone"))));
    await tab.setInputFiles("#files", [{ name: "a.lnt", mimeType: "text/plain", buffer: Buffer.from("") }]);
    await tab.waitForSelector("#note:not([hidden]):has-text('be read: gone')");
    const above = await tab.evaluate(() => {
      const { x, y, width, height } = document.querySelector("#note").getBoundingClientRect();
      return document.elementFromPoint(x + width / 2, y + height / 2).id;
    });
    assert.equal(above, "note");
    await tab.reload();
    await tab.waitForSelector("#gallery");
    const folder = mkdtempSync(join(tmpdir(), "studio-"));
    const model = join(folder, "door.lnt");
    writeFileSync(model, "module door is process MAIN [OPEN, RING : none] is select OPEN [] RING end select end process end module");
    writeFileSync(join(folder, "never.mcl"), '[ true* . "RING" ] false');
    await tab.setInputFiles("#files", [model, join(folder, "never.mcl")]);
    await settled(tab);
    assert.match(await tab.textContent("#verdict"), /never is violated/);
    await tab.keyboard.press("g");
    writeFileSync(model, "\u0000 this is no model");
    await tab.setInputFiles("#files", [model]);
    await tab.waitForSelector("#messages .error");
    await tab.waitForFunction(() => !document.querySelector("#editor").hidden);
  });
});

describe("with the keyboard", () => {
  /** Puts the focus on something, and presses keys. */
  const press = async (selector, ...keys) => {
    await tab.focus(selector);
    for (const key of keys) await tab.keyboard.press(key);
  };
  const walked = () => tab.evaluate(() => window.studio.walk.cursor);

  test("what has the focus is pressed, and nothing else happens", async () => {
    await open();
    await tab.waitForSelector("#gallery");
    await press('.card[data-name="bugs/comb"]', "Enter");
    await settled(tab);
    assert.equal(await tab.evaluate(() => window.studio.summary.name), "comb");
    await press("#tab-walk", "Enter");
    await tab.waitForSelector("#walk:not([hidden])");
    await press("#choice-1", "Enter");
    await tab.waitForSelector("#choice-1.on:focus");
    await press("#filter-incorrect", " ");
    assert.equal(await tab.isChecked("#filter-incorrect"), false);
    await press("#tab-source", " ");
    await press("#line-9", "Enter");
    await tab.waitForFunction(() => window.studio.space.highlighted("found").length === 6);
    assert.equal(await tab.evaluate(() => document.activeElement.id), "line-9", "the line is made anew, and has the focus again");
    assert.equal(await walked(), 0, "no step was taken");
    // Where nothing is pressed, Enter takes a step.
    await press("#space canvas", "Enter");
    await tab.waitForFunction(() => window.studio.walk.cursor === 1);
    await press("#tab-walk", "Enter");
    await press("#back", "Enter");
    await tab.waitForFunction(() => window.studio.walk.cursor === 0);
  });

  test("super-nodes around the walk open and close", async () => {
    await open("models/producer_consumer/producer_consumer.lnt", "models/producer_consumer/properties.mcl");
    await settled(tab);
    await tab.keyboard.press("d");
    await tab.waitForFunction(() => window.studio.status.detail === "collapsed");
    await settled(tab);
    const closed = await tab.evaluate(() => window.studio.scene.nodes.length);
    await tab.keyboard.press("x");
    await tab.waitForSelector("#note:not([hidden]):has-text('not in an open super-node')");
    const hidden = () => tab.evaluate(() => !window.studio.scene.nodes.includes(window.studio.walk.node));
    for (let step = 0; !(await hidden()); step++) {
      assert.ok(step < 50, "the walk never enters a super-node");
      await tab.keyboard.press("Enter");
      await tab.waitForFunction((steps) => window.studio.walk.cursor === steps, step + 1);
    }
    await tab.keyboard.press("o");
    await tab.waitForFunction((nodes) => window.studio.scene.nodes.length > nodes, closed);
    assert.equal(await hidden(), false);
    await tab.keyboard.press("x");
    await tab.waitForFunction((nodes) => window.studio.scene.nodes.length === nodes, closed);
  });
});

describe("several models", () => {
  const note = (text) => tab.waitForSelector(`#note:not([hidden]):has-text('${text}')`);

  test("a model that can't be opened leaves nothing of the one before", async () => {
    await open(...bug("comb"));
    await settled(tab);
    await tab.keyboard.press("l");
    await tab.waitForSelector(".labels span");
    await tab.keyboard.press("g");
    await tab.setInputFiles("#files", [{ name: "c++.lnt", mimeType: "text/plain", buffer: Buffer.from("this is no model") }]);
    await tab.waitForSelector("#messages .error");
    const seen = () =>
      tab.evaluate(() => {
        const { scene, space } = window.studio;
        return { scene, drawn: space.drawn(), title: document.querySelector("#title").textContent, sizes: document.querySelector("#sizes").textContent };
      });
    assert.deepEqual(await seen(), { scene: null, drawn: { nodes: 0, edges: 0 }, title: "c++", sizes: "" });
    // Labels follow with the next frame.
    await tab.waitForFunction(() => !document.querySelector(".labels span"));
    // The page goes on drawing, and the first model is as it was.
    await tab.selectOption("#projects", { label: "comb" });
    await settled(tab);
    assert.equal((await seen()).drawn.nodes, 14);
    await tab.waitForSelector(".labels span");
  });

  test("what is measured of one model is not shown for another", async () => {
    await open(...bug("comb"));
    await settled(tab);
    // An answer that comes too late.
    let answered;
    await tab.route("**/coverage", async (route) => {
      await tab.click('.card[data-name="bugs/flower"]');
      await tab.waitForFunction(() => window.studio.summary?.name === "flower");
      await route.continue();
      answered = true;
    });
    await tab.evaluate(() => {
      window.studio.coverage.roots.value = "MAIN";
      void window.studio.coverage.run();
      void window.studio.gallery();
    });
    await settled(tab);
    await tab.waitForFunction(() => window.studio.summary?.name === "flower");
    while (!answered) await tab.waitForTimeout(50);
    await tab.waitForTimeout(500);
    assert.deepEqual(await tab.evaluate(() => window.studio.coverage.enabled), []);
  });

  test("are closed by a key, by a button and from elsewhere", async () => {
    await open(...bug("comb"));
    await settled(tab);
    await tab.keyboard.press("g");
    await tab.click('.card[data-name="bugs/flower"]');
    await tab.waitForFunction(() => window.studio.summary?.name === "flower");
    await tab.keyboard.press("Shift+Q");
    await note("flower was closed");
    await tab.waitForFunction(() => window.studio.summary?.name === "comb");
    await tab.keyboard.press("g");
    await tab.click('.card[data-name="bugs/flower"]');
    await tab.waitForFunction(() => window.studio.summary?.name === "flower");
    await tab.evaluate(() => window.studio.program.close(window.studio.backend.id));
    await note("flower was closed");
    await tab.waitForFunction(() => window.studio.summary?.name === "comb");
    await tab.click("#close-model");
    await tab.waitForSelector("#gallery");
    assert.equal(await tab.evaluate(() => window.studio.space.drawn().nodes), 0);
  });

  test("what was asked of a model before it was closed is not heard of", async () => {
    await open(...bug("comb"));
    await settled(tab);
    // Answers about the next model wait until it is closed.
    let closed;
    const late = new Promise((resolve) => (closed = resolve));
    let held = 0;
    await tab.route("**/api/projects/*/state/*", async (route) => {
      held += 1;
      await late;
      await route.continue();
    });
    await tab.keyboard.press("g");
    await tab.click('.card[data-name="bugs/flower"]');
    await tab.waitForFunction(() => window.studio.summary?.name === "flower");
    while (held === 0) await tab.waitForTimeout(20);
    const refused = tab.waitForResponse((response) => response.status() === 410 && response.url().includes("/state/"));
    await tab.evaluate(() => window.studio.program.close(window.studio.backend.id));
    await note("flower was closed");
    closed();
    await refused;
    await tab.waitForFunction(() => window.studio.summary?.name === "comb" && window.studio.walk.here);
    assert.equal(await tab.textContent("#note"), "flower was closed.");
  });
});

describe("a typical bug", () => {
  beforeEach(async () => {
    await open(...bug("comb"));
    await settled(tab);
  });

  test("loads with tags, neighbourhoods, a legend and its source", async () => {
    const tags = await tab.evaluate(() => [...window.studio.scene.tags].map((tag) => tag & 3));
    assert.deepEqual([0, 1, 2].map((tag) => tags.filter((one) => one === tag).length), [1, 12, 5]);
    const kinds = await tab.evaluate(() => [...window.studio.scene.flags].map((flags) => flags & 7).filter((kind) => kind > 0).sort());
    assert.deepEqual(kinds, [2, 2, 2, 2, 2, 3]);
    assert.match(await tab.textContent("#legend"), /correct.*incorrect.*neutral/s);
    assert.match(await tab.textContent("#listing"), /UNPLUG/);
    assert.match(await tab.textContent("#shape"), /comb/);
  });

  test("a click on a transition lights up its lines, a click on a line its transitions", async () => {
    const [edge] = await edgesWith("VERIFY");
    await click(await tab.evaluate((edge) => window.studio.space.screenOfEdge(edge), edge));
    await tab.waitForFunction(() => window.studio.listing.litLines().length > 0);
    assert.deepEqual(await tab.evaluate(() => window.studio.listing.litLines()), [6]);
    const line = (await tab.evaluate(() => window.studio.summary.files[0].text.split("\n").findIndex((one) => one.includes("UNPLUG") && !one.includes("MAIN")))) + 1;
    await tab.click(`.code-line[data-line="${line}"]`);
    await tab.waitForFunction(() => window.studio.space.highlighted("found").length > 0);
    assert.deepEqual(await tab.evaluate(() => window.studio.space.highlighted("found")), await edgesWith("UNPLUG"));
    assert.match(await tab.textContent("#line-note"), /6 transitions/);
  });

  test("hovering tells label, tag, line and values", async () => {
    const [edge] = await edgesWith("UNPLUG");
    const box = await tab.locator("#space canvas").boundingBox();
    const over = async (place) => {
      await tab.mouse.move(box.x + 5, box.y + 5);
      await tab.mouse.move(box.x + place.x, box.y + place.y);
      await tab.waitForSelector("#tooltip:not([hidden])");
    };
    await over(await tab.evaluate((edge) => window.studio.space.screenOfEdge(edge), edge));
    assert.match(await tab.textContent("#tooltip"), /UNPLUG.*incorrect.*comb\.lnt:9/s);
    await over(await tab.evaluate(() => window.studio.space.screenOf(0)));
    assert.match(await tab.textContent("#tooltip"), /state 0.*initial.*neighbourhood in/s);
  });

  test("steps forward and back, undoes, and keeps the walk", async () => {
    await click(await tab.evaluate(() => window.studio.space.screenOf(0)));
    await tab.waitForFunction(() => !document.querySelector("#walk").hidden);
    assert.match(await tab.textContent("#here"), /State 0, initial/);
    await tab.click("#walk .step:has-text('FETCH')");
    await tab.waitForFunction(() => window.studio.walk.cursor === 1);
    await tab.keyboard.press("ArrowDown");
    await tab.keyboard.press("ArrowUp");
    await tab.keyboard.press("ArrowRight");
    await tab.waitForFunction(() => window.studio.walk.cursor === 2);
    assert.deepEqual((await tab.evaluate(() => window.studio.walk.path.map((step) => step.label)))[0], "FETCH");
    await tab.waitForFunction(() => window.studio.space.highlighted("path").length === 2);
    await tab.keyboard.press("ArrowLeft");
    await tab.waitForFunction(() => window.studio.walk.cursor === 1 && window.studio.walk.path.length === 2);
    await tab.keyboard.press("u");
    await tab.waitForFunction(() => window.studio.walk.cursor === 2);
    await tab.keyboard.press("u");
    await tab.keyboard.press("u");
    await tab.waitForFunction(() => window.studio.walk.path.length === 0);
    // What is undone comes back whole: a run that repeats itself still does.
    await tab.keyboard.press("n");
    await tab.waitForFunction(() => window.studio.walk.path.length === 2);
    await tab.evaluate(() => window.studio.walk.load({ steps: window.studio.walk.path, lasso: 0, nodes: [] }));
    await tab.evaluate(() => window.studio.walk.startAt(0));
    assert.equal(await tab.evaluate(() => window.studio.walk.moment.lasso), null);
    await tab.keyboard.press("u");
    await tab.waitForFunction(() => window.studio.walk.moment.lasso === 0);
    // Backward from a state in the middle, along what leads there.
    const last = await tab.evaluate(() => window.studio.scene.nodes.length - 2);
    await click(await tab.evaluate((node) => window.studio.space.screenOf(node), last));
    await tab.waitForFunction((node) => window.studio.walk.node === window.studio.scene.nodes[node], last);
    await tab.keyboard.press("ArrowLeft");
    await tab.waitForFunction(() => window.studio.walk.path.length === 1 && window.studio.walk.cursor === 0);
    assert.notEqual(await tab.evaluate(() => window.studio.walk.node), last);
  });

  test("plays a counterexample, and takes it away and back as a trace", async () => {
    await tab.keyboard.press("n");
    await tab.waitForFunction(() => window.studio.walk.path.length === 2);
    await tab.keyboard.press("p");
    await tab.waitForFunction(() => window.studio.walk.cursor === 2);
    const end = await tab.evaluate(() => window.studio.walk.node);
    assert.ok(await tab.evaluate((node) => window.studio.scene.flags[node] & 16, end), "it ends in a violation");
    const texts = {};
    for (const format of ["txt", "aut"]) {
      const [download] = await Promise.all([tab.waitForEvent("download"), tab.click(`#save-${format}`)]);
      texts[format] = readFileSync(await download.path(), "utf8");
    }
    assert.match(texts.txt, /^\w+\nUNPLUG\n$/);
    assert.match(texts.aut, /^des \(0, 2, 3\)\n/);
    for (const [format, text] of Object.entries(texts)) {
      await tab.keyboard.press("c");
      await tab.waitForFunction(() => window.studio.walk.path.length === 1);
      const [chooser] = await Promise.all([tab.waitForEvent("filechooser"), tab.click("#from-file")]);
      await chooser.setFiles({ name: `trace.${format}`, mimeType: "text/plain", buffer: Buffer.from(text) });
      await tab.waitForFunction(() => window.studio.walk.path.length === 2);
    }
    const [chooser] = await Promise.all([tab.waitForEvent("filechooser"), tab.click("#from-file")]);
    await chooser.setFiles({ name: "wrong.txt", mimeType: "text/plain", buffer: Buffer.from("NOTHING\n") });
    await tab.waitForSelector("#note:not([hidden]):has-text('not a counterexample')");
  });

  test("searches labels and states, and says what is wrong with a pattern", async () => {
    await tab.keyboard.press("/");
    await tab.fill("#search", "^(fetch|verify)$");
    await tab.keyboard.press("Enter");
    await tab.waitForFunction(() => document.querySelector("#found").textContent.includes("transitions"));
    const wanted = [...(await edgesWith("FETCH")), ...(await edgesWith("VERIFY"))].sort((a, b) => a - b);
    assert.deepEqual(await tab.evaluate(() => window.studio.space.highlighted("found")), wanted);
    await tab.selectOption("#among", "states");
    await tab.fill("#search", "state 3$");
    await tab.press("#search", "Enter");
    await tab.waitForFunction(() => document.querySelector("#found").textContent.startsWith("1 state"));
    await tab.click("#found .hit");
    await tab.waitForFunction(() => document.querySelector("#here").textContent.startsWith("State 3"));
    await tab.fill("#search", "(");
    await tab.press("#search", "Enter");
    await tab.waitForFunction(() => document.querySelector("#found").textContent.includes("not a regular expression"));
  });

  test("filters by tag and by kind of neighbourhood", async () => {
    const shown = () => tab.evaluate(() => window.studio.space.shownEdges());
    assert.equal(await shown(), 18);
    await tab.keyboard.press("2");
    assert.equal(await shown(), 6);
    assert.equal(await tab.isChecked("#filter-incorrect"), false);
    await tab.click("#filter-incorrect");
    await tab.keyboard.press("5");
    // What leaves the five neighbourhoods of kind in is gone: two transitions each.
    assert.equal(await shown(), 8);
    await tab.keyboard.press("5");
    await tab.keyboard.press("8");
    assert.equal(await shown(), 12);
  });

  test("an error in an edited text is shown where it is, and what was open stays", async () => {
    await tab.keyboard.press("m");
    const text = await typed(tab);
    await type(tab, text.replace("UNPLUG\n", "UNPLUGG\n"));
    await tab.keyboard.press("Control+Enter");
    await tab.waitForSelector("#messages .error");
    assert.match(await tab.textContent("#messages"), /comb\.lnt:9:\d+: .*UNPLUGG/);
    assert.equal(await tab.textContent("#editor .cm-lintRange-error"), "UNPLUGG");
    assert.equal(await tab.evaluate(() => window.studio.scene.nodes.length), 14);
    await type(tab, text.replace("; RESTART\n", "\n"));
    await tab.click("#run");
    await tab.waitForFunction(() => window.studio.scene.nodes.length === 12);
    assert.equal(await tab.locator("#messages .error").count(), 0);
    await tab.click("#editor .tabs button:has-text('comb.mcl')");
    await type(tab, "[ true* . UNPLUG ] false");
    await tab.keyboard.press("Control+Enter");
    await tab.waitForSelector("#messages .error");
    assert.match(await tab.textContent("#messages"), /comb\.mcl:1:/);
  });

  test("what is typed while a run goes on stays, and the same error is told again", async () => {
    await tab.keyboard.press("m");
    const text = await typed(tab);
    const [shorter, idea] = [text.replace("; RESTART\n", "\n"), `-- another idea\n${text}`];
    await tab.route("**/run", async (route) => {
      await type(tab, idea);
      await route.continue();
    });
    await type(tab, shorter);
    await tab.click("#run");
    await tab.waitForFunction(() => window.studio.scene.nodes.length === 12);
    assert.equal(await typed(tab), idea);
    assert.equal(await tab.evaluate(() => window.studio.summary.files[0].text), shorter);
    await tab.unroute("**/run");
    await type(tab, "no model");
    for (let round = 0; round < 2; round++) {
      await tab.evaluate(() => (document.querySelector("#note").hidden = true));
      await tab.click("#run");
      await tab.waitForSelector("#note:not([hidden]):has-text('comb.lnt:1')");
    }
  });

  test("saves a picture, and a page that works alone", async () => {
    const [image] = await Promise.all([tab.waitForEvent("download"), tab.keyboard.press("s")]);
    assert.equal(readFileSync(await image.path()).subarray(1, 4).toString(), "PNG");
    // As it is looked at now: dark, turned, with labels, filtered, in the middle of a walk.
    for (const key of ["t", "l", "8", "Shift+ArrowLeft", "n"]) await tab.keyboard.press(key);
    await tab.waitForFunction(() => window.studio.walk.path.length === 2);
    await tab.keyboard.press("ArrowRight");
    await tab.waitForFunction(() => window.studio.walk.cursor === 1);
    const look = () => JSON.parse(JSON.stringify(window.studio.look(), (_, value) => (Number.isInteger(value) || typeof value !== "number" ? value : value.toFixed(4))));
    const looked = await tab.evaluate(look);
    const [shared] = await Promise.all([tab.waitForEvent("download"), tab.keyboard.press("e")]);
    const file = join(mkdtempSync(join(tmpdir(), "studio-")), "comb.html");
    await shared.saveAs(file);
    const before = await tab.evaluate(() => [...window.studio.space.positions]);
    const requests = [];
    const alone = await page(chrome);
    alone.on("request", (request) => requests.push(request.url()));
    await alone.goto(`file://${file}`);
    await settled(alone);
    assert.deepEqual(await alone.evaluate(() => [...window.studio.space.positions]), before);
    assert.deepEqual(await alone.evaluate(look), looked);
    assert.equal(await alone.evaluate(() => window.studio.space.shownEdges()), 12);
    // What needs the program says so.
    await alone.keyboard.press("k");
    await alone.waitForSelector("#note:not([hidden]):has-text('exported view')");
    await alone.keyboard.press("c");
    await alone.waitForFunction(() => window.studio.walk.path.length === 1);
    await alone.click("#tab-source");
    await alone.click('.code-line[data-line="9"]');
    await alone.waitForFunction(() => window.studio.space.highlighted("found").length === 6);
    assert.deepEqual(requests.filter((url) => !/^(file|data|blob):/.test(url)), []);
    await alone.context().close();
  });

  test("all keys are told, themes change, and layers can be seen", async () => {
    await tab.keyboard.press("?");
    assert.ok((await tab.locator("#help .key").count()) > 30);
    await tab.keyboard.press("?");
    await tab.keyboard.press("t");
    assert.equal(await tab.evaluate(() => document.documentElement.dataset.theme), "dark");
    await tab.keyboard.press("l");
    await tab.waitForFunction(() => document.querySelectorAll(".labels span").length >= 12);
    await tab.keyboard.press("y");
    await tab.waitForFunction(() => window.studio.status.shape === "layers");
    await settled(tab);
    // On a layer all are equally far from the initial state, and layers stand side by side.
    const layers = await tab.evaluate(() => {
      const { scene, space } = window.studio;
      const distances = new Map([[0, 0]]);
      for (const node of distances.keys()) {
        for (const edge of scene.edges.keys()) {
          if (scene.sources[edge] === node && !distances.has(scene.targets[edge])) distances.set(scene.targets[edge], distances.get(node) + 1);
        }
      }
      return [...distances].map(([node, distance]) => ({ distance, x: space.positions[3 * node] }));
    });
    assert.equal(layers.length, 14);
    const start = layers.find((one) => one.distance === 0).x;
    const gap = layers.find((one) => one.distance === 1).x - start;
    assert.ok(gap > 0.5);
    layers.forEach((one) => assert.ok(Math.abs(one.x - start - gap * one.distance) < 1e-3, JSON.stringify(one)));
  });

  test("a lost program is told, and the page keeps working", async () => {
    await studio.stop();
    await tab.waitForSelector("#lost:not([hidden])");
    await tab.keyboard.press("c");
    await tab.waitForSelector("#note:not([hidden]):has-text('not responding')");
    await tab.keyboard.press("2");
    assert.equal(await tab.evaluate(() => window.studio.space.shownEdges()), 6);
    gone();
  });
});

describe("regions", () => {
  test("collapse into super-nodes, open on a double click and close again", async () => {
    await open("models/producer_consumer/producer_consumer.lnt", "models/producer_consumer/properties.mcl");
    await settled(tab);
    const all = await tab.evaluate(() => window.studio.scene.nodes.length);
    await tab.keyboard.press("d");
    await tab.waitForFunction((all) => window.studio.scene.nodes.length < all, all);
    await settled(tab);
    const drawn = await tab.evaluate(() => {
      const { scene } = window.studio;
      return { nodes: scene.nodes.length, states: scene.sizes.reduce((sum, one) => sum + one, 0), regions: [...scene.flags.keys()].filter((node) => scene.flags[node] & 64) };
    });
    assert.equal(drawn.states, all, "every state is drawn or stands in a super-node");
    assert.ok(drawn.regions.length > 0);
    const known = await tab.evaluate(() => [...window.studio.scene.nodes]);
    await tab.evaluate(() => window.studio.space.orbit(0.2, 0));
    const eye = await tab.evaluate(() => window.studio.space.eye);
    await click(await tab.evaluate((node) => window.studio.space.screenOf(node), drawn.regions[0]), { clickCount: 2 });
    await tab.waitForFunction((nodes) => window.studio.scene.nodes.length > nodes, drawn.nodes);
    await settled(tab);
    assert.deepEqual(await tab.evaluate(() => window.studio.space.eye), eye, "the view stays where it is");
    const inside = await tab.evaluate((known) => window.studio.scene.nodes.findIndex((node) => !known.includes(node)), known);
    await tab.evaluate((node) => window.studio.select({ node }), inside);
    await tab.keyboard.press("x");
    await tab.waitForFunction((nodes) => window.studio.scene.nodes.length === nodes, drawn.nodes);
    await tab.keyboard.press("d");
    await tab.waitForFunction((all) => window.studio.scene.nodes.length === all, all);
  });

  test("a walk through a collapsed picture opens what it passes", async () => {
    await open("models/producer_consumer/producer_consumer.lnt", "models/producer_consumer/properties.mcl");
    await settled(tab);
    await tab.keyboard.press("d");
    await tab.waitForFunction(() => window.studio.status.detail === "collapsed");
    await settled(tab);
    await tab.keyboard.press("c");
    await tab.waitForFunction(() => window.studio.walk.path.length > 0 && window.studio.space.highlighted("path").length === window.studio.walk.path.length);
  });
});

describe("a large system", () => {
  const [states, transitions] = [12_000, 36_000];
  beforeEach(async () => {
    const file = join(mkdtempSync(join(tmpdir(), "studio-")), "large.aut");
    execFileSync(program(), ["random", "--shape", "layered", "--states", states, "--transitions", transitions, "--labels", 9, "-o", file].map(String));
    await open(file);
    await settled(tab);
  });

  test("is drawn in pieces that open on a double click", async () => {
    const seen = () =>
      tab.evaluate(() => {
        const { scene } = window.studio;
        const regions = [...scene.nodes.keys()].filter((node) => scene.flags[node] & 64);
        return { nodes: scene.nodes.length, edges: scene.edges.length, states: scene.sizes.reduce((sum, one) => sum + one, 0), regions, sizes: regions.map((node) => scene.sizes[node]) };
      });
    const before = await seen();
    assert.ok(before.nodes > 300 && before.nodes < 1_500, `${before.nodes} nodes`);
    assert.equal(before.states, await tab.evaluate(() => window.studio.summary.nodes));
    const largest = before.sizes.indexOf(Math.max(...before.sizes));
    // From near, where nothing is in front of it.
    await tab.evaluate((node) => window.studio.space.lookAt(node), before.regions[largest]);
    await tab.evaluate(() => window.studio.space.zoom(0.1));
    await click(await tab.evaluate((node) => window.studio.space.screenOf(node), before.regions[largest]), { clickCount: 2 });
    await tab.waitForFunction((nodes) => window.studio.scene.nodes.length > nodes, before.nodes);
    const after = await seen();
    assert.equal(after.states, before.states);
    assert.ok(after.regions.length >= before.regions.length - 1, "the others stay closed");
  });

  test("an exported view says that it holds only part", async () => {
    const found = async (pattern) => {
      const [shared] = await Promise.all([tab.waitForEvent("download"), tab.keyboard.press("e")]);
      const file = join(mkdtempSync(join(tmpdir(), "studio-")), "large.html");
      await shared.saveAs(file);
      const alone = await page(chrome);
      await alone.goto(`file://${file}`);
      await settled(alone);
      await alone.fill("#search", ".");
      await alone.press("#search", "Enter");
      await alone.waitForFunction((pattern) => new RegExp(pattern).test(document.querySelector("#found").textContent), pattern);
      await alone.context().close();
    };
    await found("transitions? outside super-nodes");
    await tab.keyboard.press("d");
    await tab.waitForFunction((states) => window.studio.scene.nodes.length === states, states);
    await settled(tab);
    await found("too large to hold its states");
  });

  test("draws part of what is open while it turns, and all of it at rest", async () => {
    await tab.keyboard.press("d");
    await tab.waitForFunction((states) => window.studio.scene.nodes.length === states, states);
    await settled(tab);
    const all = () => {
      const { scene, space } = window.studio;
      const { nodes, edges } = space.drawn();
      return nodes === scene.nodes.length && edges === scene.edges.length;
    };
    await tab.waitForFunction(all);
    const moving = await tab.evaluate(() => {
      // As if the machine were slow: one that is fast draws all of it all the time.
      window.studio.space.budget = 5_000;
      window.studio.space.orbit(0.1, 0);
      return window.studio.space.drawn();
    });
    assert.ok(moving.nodes > 0 && moving.nodes < states / 2, `${moving.nodes} states`);
    assert.ok(moving.edges > 0 && moving.edges < transitions / 2, `${moving.edges} transitions`);
    await tab.waitForFunction(all);
    // What is found is drawn in part as well, if it is very much.
    await tab.keyboard.press("/");
    await tab.fill("#search", ".");
    await tab.keyboard.press("Enter");
    await tab.waitForFunction(() => window.studio.space.highlighted("found").length === window.studio.scene.edges.length);
    const lit = await tab.evaluate(() => {
      window.studio.space.budget = 5_000;
      window.studio.space.orbit(0.1, 0);
      return window.studio.space.highlights.get("found").lines.object.geometry.drawRange.count / 2;
    });
    assert.ok(lit > 0 && lit < transitions / 2, `${lit} found transitions`);
  });
});

describe("coverage", () => {
  test("shows what examples exercise, each to switch on and off", async () => {
    await open("models/coverage/synchro/synchro1.lnt", "--examples", "models/coverage/synchro/suite1.toml", "--root", "SYSTEM (1, false, false)");
    await settled(tab);
    await tab.keyboard.press("k");
    await tab.waitForSelector("#covered .code-line");
    const lines = (state) => tab.locator(`#covered .code-line.${state}`).count();
    const ratio = async () => Number(/(\d+) of/.exec(await tab.textContent('[data-ratio="actions"]'))[1]);
    const before = { actions: await ratio(), never: await lines("never") };
    assert.ok(before.actions > 0 && before.never > 0);
    await tab.fill("#roots", "SYSTEM (2, true, true)");
    await tab.click("#measure");
    await tab.waitForFunction(() => window.studio.coverage.enabled.length === 2);
    assert.equal(await tab.locator("#examples .example").count(), 2);
    assert.ok((await ratio()) > before.actions, "the new example exercises more");
    await tab.click('[data-example="SYSTEM (2, true, true)"]');
    assert.equal(await ratio(), before.actions);
    await tab.click('[data-example="SYSTEM (1, false, false)"]');
    assert.equal(await ratio(), 0);
    await tab.fill("#roots", "NOBODY (1)");
    await tab.click("#measure");
    await tab.waitForSelector("#coverage .error:has-text('NOBODY')");
  });
});

describe("bad input", () => {
  test("a browser that can't draw is told so", async () => {
    await prepare(...bug("comb"));
    await tab.addInitScript(() => {
      HTMLCanvasElement.prototype.getContext = () => null;
    });
    await tab.goto(studio.address);
    await tab.waitForSelector("#broken:has-text('WebGL')");
  });

  test("a model over its limit is told, and the page goes on", async () => {
    await open(...["models/philosophers/philosophers.lnt", "models/philosophers/properties.mcl", "--max-states", "50"]);
    await tab.waitForSelector("#messages .error:has-text('exceeds the limit')");
    await tab.keyboard.press("g");
    await tab.click('.card[data-name="bugs/flower"]');
    await tab.waitForFunction(() => window.studio.summary?.name === "flower" || window.studio.status?.failure);
    await tab.waitForFunction(() => window.studio.summary?.name === "flower");
  });
});

describe("pictures", () => {
  /** Positions and what the shapes are made of. */
  const shape = async (name) => {
    await open(...bug(name));
    await settled(tab);
    return tab.evaluate(() => {
      const { scene, space } = window.studio;
      const at = (node) => [...space.positions.slice(3 * node, 3 * node + 3)];
      const edges = [...scene.edges.keys()].map((edge) => ({ source: scene.sources[edge], target: scene.targets[edge], tag: scene.tags[edge] }));
      return { flags: [...scene.flags], positions: [...scene.nodes.keys()].map(at), edges };
    });
  };
  const far = (a, b) => Math.hypot(...a.map((value, axis) => value - b[axis]));

  test("a comb has a straight back and teeth on one side of it", async () => {
    const { positions, edges } = await shape("comb");
    const back = edges.filter((edge) => edge.tag === 2);
    assert.equal(back.length, 5);
    const xs = [back[0].source, ...back.map((edge) => edge.target)].map((node) => positions[node][0]);
    xs.slice(1).forEach((x, at) => assert.ok(x > xs[at], "the back goes on to the right"));
    const tooth = edges.filter((edge) => edge.tag === 1).map((edge) => positions[edge.target][1] - positions[edge.source][1]);
    const middle = tooth.slice(1, -1);
    assert.ok(middle.every((one) => one > 0.2) || middle.every((one) => one < -0.2), `teeth point the same way: ${tooth}`);
  });

  test("a flower has its choices around a centre and its petals outside", async () => {
    const { flags, positions } = await shape("flower");
    const sink = positions[flags.findIndex((flag) => flag & 32)];
    const choices = positions.filter((_, node) => (flags[node] & 7) > 0);
    const petals = positions.filter((_, node) => (flags[node] & ~128) === 0 && !(flags[node] & 128));
    assert.equal(choices.length, 8);
    const radius = choices.map((one) => far(one, sink));
    assert.ok(Math.max(...radius) < 2 * Math.min(...radius), `choices stand in a circle: ${radius}`);
    const outside = petals.filter((one) => far(one, sink) > Math.min(...radius)).length;
    assert.ok(outside > 0.9 * petals.length, `${outside} of ${petals.length} are outside`);
    // All around: no half without a choice.
    for (let turn = 0; turn < 8; turn++) {
      const [x, y] = [Math.cos((turn * Math.PI) / 4), Math.sin((turn * Math.PI) / 4)];
      assert.ok(choices.some((one) => x * (one[0] - sink[0]) + y * (one[1] - sink[1]) > 0), `turn ${turn}`);
    }
  });

  test("frontiers lie one behind the other", async () => {
    const { flags, positions } = await shape("frontiers");
    const mean = (wanted) => {
      const xs = positions.filter((_, node) => wanted(flags[node])).map((one) => one[0]);
      return xs.reduce((sum, x) => sum + x, 0) / xs.length;
    };
    const first = mean((flag) => (flag & 7) === 1);
    const second = mean((flag) => (flag & 7) > 1);
    const lost = mean((flag) => flag & 16);
    assert.ok(positions[0][0] < first && first < second && second < lost, `${positions[0][0]} ${first} ${second} ${lost}`);
  });

  test("a spider web has spokes that share rings", async () => {
    const { flags, positions, edges } = await shape("spider_web");
    const choices = [...flags.keys()].filter((node) => (flags[node] & 7) > 0);
    assert.equal(choices.length, 5);
    const sink = flags.findIndex((flag) => flag & 32);
    for (const choice of choices) {
      const spoke = edges.find((edge) => edge.source === choice && edge.tag === 1);
      assert.ok(far(positions[spoke.target], positions[sink]) > far(positions[choice], positions[sink]), "spokes lead away from the centre");
    }
  });
});
