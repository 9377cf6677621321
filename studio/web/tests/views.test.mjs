// What the page shows of a model: its properties, suspects, the table of a walk, values by instance, choices.
import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { open, tab, written } from "./stage.mjs";

/** Two counters that go round until they meet. */
const COUNTERS = `module counters is
process COUNTER [STEP : any, MEET : any] (self : Nat) is
   var n : Nat in
      n := 0;
      loop L in
         select only if n == 2 then break L end if [] n := (n + 1) mod 4; STEP (self, n) end select
      end loop;
      MEET (n)
   end var
end process
process MAIN [STEP : any, MEET : any] is
   par MEET in COUNTER [STEP, MEET] (1) || COUNTER [STEP, MEET] (2) end par
end process
end module`;
const PROPERTIES = `property far "nobody counts to three" is [ true* . "STEP !1 !3" ] false end property
property near "somebody counts to one" is < true* . "STEP !2 !1" > true end property
property odd "the first never counts" is [ true* . 'STEP !1 .*' ] false expected FALSE end property`;

const files = () => [written("counters.lnt", COUNTERS), written("properties.mcl", PROPERTIES)];

const text = (selector) => tab.textContent(selector);

describe("the table of a walk", () => {
  test("has a row a step, a lane an instance, and marks what changes", async () => {
    await open(...files());
    await tab.keyboard.press("c");
    await tab.waitForFunction(() => window.studio.walk.path.length === 3);
    await tab.keyboard.press("z");
    await tab.waitForSelector("#trace-table");
    const heads = await tab.locator("#trace-table thead th").allTextContents();
    assert.deepEqual(heads.slice(0, 3), ["#", "step", "COUNTER (1)"]);
    assert.equal(await tab.locator("#trace-table tbody tr").count(), 4, "the start and three steps");
    const changed = await tab.locator("#trace-table .changed").allTextContents();
    assert.deepEqual(changed, ["n 0 → 1", "n 1 → 2", "n 2 → 3"]);
    // Only the first takes part.
    assert.equal(await tab.locator("#trace-table .strip .dot").count(), 3);
    await tab.click("#trace-2");
    await tab.waitForFunction(() => window.studio.walk.cursor === 2);
    await tab.waitForSelector('tr.now[data-step="2"]');
    await tab.keyboard.press("ArrowRight");
    await tab.waitForSelector('tr.now[data-step="3"]');
    await tab.check("#all-values");
    assert.ok((await tab.locator("#trace-table .value").count()) > 4);
    assert.match((await tab.locator('tr[data-step="3"] .changed').textContent()) ?? "", /n = 3/);
  });

  test("tells who waits for whom at a deadlock, and draws a rendezvous across lanes", async () => {
    await open("models/philosophers/philosophers.lnt", "models/philosophers/properties.mcl");
    await tab.keyboard.press("c");
    await tab.waitForFunction(() => window.studio.walk.path.length === 5);
    await tab.keyboard.press("z");
    await tab.waitForSelector("#waiting-cycle");
    assert.match(await text("#waiting-cycle"), /waits for/);
    assert.equal(await tab.locator('tr[data-step="1"] .dot').count(), 2);
    assert.equal(await tab.locator('tr[data-step="1"] .from').count(), 1);
    await tab.locator("#waiting li").first().click();
    await tab.waitForSelector("#listing:not([hidden]) mark");
  });

  test("shows a long walk in parts", async () => {
    const folder = mkdtempSync(join(tmpdir(), "studio-"));
    const steps = Array.from({ length: 500 }, (_, at) => `(${at}, S${at}, ${at + 1})`).join("\n");
    writeFileSync(join(folder, "long.aut"), `des (0, 500, 501)\n${steps}\n`);
    writeFileSync(join(folder, "never.mcl"), '[ true* . "S499" ] false');
    await open(join(folder, "long.aut"), join(folder, "never.mcl"));
    await tab.keyboard.press("c");
    await tab.waitForFunction(() => window.studio.walk.path.length === 500);
    await tab.keyboard.press("z");
    await tab.waitForFunction(() => document.querySelectorAll("#trace-table tbody tr").length === 201);
    await tab.click("#later");
    await tab.waitForFunction(() => document.querySelector("#trace-table tr.now")?.dataset.step === "300");
    assert.match(await text("#trace .bar"), /steps 201 to 400 of 500/);
  });
});

describe("properties and suspects", () => {
  test("all properties are in a table; a click looks at one", async () => {
    await open(...files());
    const rows = () =>
      tab.evaluate(() => [...document.querySelectorAll("#property-table tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent).join(" ")));
    assert.deepEqual(await rows(), ["far ⚠ violated holds", "near holds holds", "odd violated violated"]);
    assert.match(await text("#surprises"), /1 of 3 is not as expected/);
    assert.equal(await text("#property-table tr.on button"), "far");
    await tab.click("#property-3");
    await tab.waitForFunction(() => document.querySelector("#verdict")?.textContent === "odd is violated");
    assert.equal((await rows()).length, 3);
    assert.equal(await text("#property-table tr.on button"), "odd");
    await tab.click("#property-2");
    await tab.waitForFunction(() => document.querySelector("#verdict")?.textContent === "near holds");
    // Something can be edited and run after that.
    await tab.click("#property-1");
    await tab.waitForFunction(() => document.querySelector("#verdict")?.textContent === "far is violated");
  });

  test("a suspect opens the source at its columns, and a click on a construct finds its own transitions", async () => {
    await open(...files());
    const suspects = await tab.evaluate(() => window.studio.summary.explanation.suspects);
    assert.ok(suspects.length > 0);
    await tab.click("#suspect-1");
    await tab.waitForSelector("#listing:not([hidden]) mark");
    const lit = await tab.evaluate(() => window.studio.listing.litTexts().join(" "));
    assert.equal(lit.split(/\s+/).join(" "), suspects[0].construct);
    assert.ok((await text("#line-note")).includes(suspects[0].reason));
    // Only what is written at that column.
    const line = COUNTERS.split("\n").findIndex((one) => one.includes("STEP (self, n)")) + 1;
    await tab.click(`#line-${line} .construct`);
    await tab.waitForFunction(() => window.studio.space.highlighted("found").length > 0);
    assert.deepEqual(await tab.evaluate(() => window.studio.listing.litTexts()), ["STEP (self, n)"]);
  });
});

describe("states and ways", () => {
  test("values stand by instance, and a shortest way leads to the state", async () => {
    await open(...files());
    const far = await tab.evaluate(async () => {
      const all = await Promise.all([...window.studio.scene.nodes].map((node) => window.studio.backend.state(node)));
      return all.filter((state) => state.instances.some((one) => one.values.length > 0)).sort((one, other) => other.distance - one.distance)[0];
    });
    assert.ok(far.distance > 1);
    await tab.evaluate((node) => window.studio.visit(node), far.node);
    await tab.waitForSelector("#values h4");
    const names = await tab.locator("#values h4").allTextContents();
    assert.ok(names.includes("COUNTER (1)") || names.includes("COUNTER (2)"), names.join());
    await tab.click("#way");
    await tab.waitForFunction((distance) => window.studio.walk.cursor === distance, far.distance);
    assert.equal(await tab.evaluate(() => window.studio.walk.path[0].source), 0);
    assert.equal(await tab.evaluate(() => window.studio.walk.node), far.node);
  });

  test("a choice keeps its red and green, and opens the source; the camera follows the walk", async () => {
    await open("models/bugs/unique_choice.lnt", "models/bugs/unique_choice.mcl");
    await tab.click("#choice-1");
    await tab.waitForFunction(() => window.studio.space.highlighted("choice").length > 0);
    const tags = await tab.evaluate(() => window.studio.space.highlighted("choice").map((edge) => window.studio.scene.tags[edge] & 3));
    assert.ok(tags.includes(0) && tags.includes(1), tags.join());
    const colours = await tab.evaluate(() => [...window.studio.space.highlights].filter(([name]) => name.startsWith("choice")).map(([name, one]) => [name, one.lines.object.material.color.getHexString()]));
    assert.deepEqual(Object.fromEntries(colours), { "choice correct": "007d5b", "choice incorrect": "c93a00" });
    assert.ok((await tab.evaluate(() => window.studio.space.ringed().length)) > 0);
    assert.ok((await tab.evaluate(() => window.studio.listing.litLines().length)) > 0);
    assert.equal(await tab.isVisible("#listing"), true);
    await tab.keyboard.press("Escape");
    assert.deepEqual(await tab.evaluate(() => [window.studio.space.ringed(), window.studio.space.highlighted("choice")]), [[], []]);
    // Near one state, others are outside: the walk brings them back.
    await tab.evaluate(() => {
      window.studio.space.lookAt(0);
      window.studio.space.zoom(0.15);
    });
    await tab.keyboard.press("c");
    await tab.waitForFunction(() => window.studio.walk.path.length > 1);
    const steps = await tab.evaluate(() => window.studio.walk.path.length);
    for (let step = 1; step <= steps; step++) {
      await tab.keyboard.press("ArrowRight");
      await tab.waitForFunction((step) => window.studio.walk.cursor === step, step);
      await tab.waitForFunction(() => {
        const { space, scene, walk, holder } = window.studio;
        const at = space.screenOf([...scene.nodes].indexOf(walk.node));
        return at.x > 0 && at.y > 0 && at.x < space.canvas.clientWidth && at.y < space.canvas.clientHeight;
      });
    }
  });
});
