// The token game in a real browser: what a user does with the drawing of a net, asserted through the page's own data.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { settled, type } from "./browser.mjs";
import { open, tab, written } from "./stage.mjs";

const tokens = (id) => tab.textContent(`#net-${id}-tokens`);
const full = (id) => tab.evaluate((id) => document.querySelector(`#net-${id} > title`).textContent, id);
const enabled = () => tab.evaluate(() => [...document.querySelectorAll("#drawing .enabled")].map((one) => one.dataset.part));
const walked = (steps) => tab.waitForFunction((steps) => window.studio.walk.cursor === steps && window.studio.walk.here?.node === window.studio.walk.node, steps);

describe("the token game", () => {
  const philosophers = "models/philosophers_net/philosophers_net.net";

  test("transitions fire by a click, tokens move, and a step is undone", async () => {
    await open(philosophers);
    await tab.click("#tab-net");
    await tab.waitForSelector("#drawing svg");
    assert.deepEqual(await enabled(), ["t0"]);
    assert.equal(await tokens("p0"), "{1, 2, 3, 4, 5}");
    assert.equal(await tokens("p2"), "");
    // Five philosophers can pick up: the user chooses.
    await tab.click("#net-t0");
    assert.match(await tab.textContent("#ways"), /PICKUP can fire in 5 ways/);
    await tab.click("#ways button:has-text('PICKUP !3 !3 !4')");
    await walked(1);
    assert.equal(await full("p0"), "Thinking: {1, 2, 4, 5}");
    assert.match(await full("p2"), /^Eating: .*3, 3, 4/);
    assert.equal(await tab.locator("#net-p2.marked").count(), 1);
    assert.equal(await tab.isVisible("#ways"), false);
    assert.deepEqual((await enabled()).sort(), ["t0", "t1"]);
    // Only one can put down: that fires at once, and the state space follows.
    await tab.click("#net-t1");
    await walked(2);
    assert.equal(await full("p2"), "Eating: empty");
    await tab.waitForFunction(() => window.studio.space.highlighted("path").length === 2);
    assert.deepEqual(await tab.evaluate(() => window.studio.walk.path.map((step) => step.label)), ["PICKUP !3 !3 !4", "PUTDOWN !3 !3 !4"]);
    await tab.click("#net-undo");
    await walked(1);
    assert.match(await full("p2"), /3, 3, 4/);
    await tab.keyboard.press("u");
    await walked(0);
    assert.equal(await tokens("p0"), "{1, 2, 3, 4, 5}");
    assert.deepEqual(await enabled(), ["t0"]);
    // What can't fire says so.
    await tab.click("#net-t1", { force: true });
    await tab.waitForSelector("#note:not([hidden]):has-text(\"PUTDOWN can't fire here\")");
  });

  test("is played with the keyboard, and shows whatever state is walked to", async () => {
    await open(philosophers);
    await tab.keyboard.press("b");
    await tab.waitForSelector("#net:not([hidden])");
    assert.match(await tab.getAttribute("#net-t0", "aria-label"), /^Pickup .*: fire, 5 ways$/);
    assert.equal(await tab.getAttribute("#net-t1", "aria-disabled"), "true");
    await tab.focus("#net-t0");
    await tab.keyboard.press("Enter");
    await tab.waitForSelector("#way-0:focus");
    await tab.keyboard.press("Escape");
    assert.equal(await tab.isVisible("#ways"), false);
    assert.equal(await tab.evaluate(() => document.activeElement.id), "net-t0");
    await tab.keyboard.press(" ");
    await tab.keyboard.press("Enter");
    await walked(1);
    assert.equal(await tab.evaluate(() => document.activeElement.id), "net-t0");
    // A state that is selected in the picture keeps the net in view.
    await tab.evaluate(() => window.studio.select({ node: 0 }));
    await walked(0);
    assert.equal(await tab.isVisible("#net"), true);
    assert.equal(await tokens("p0"), "{1, 2, 3, 4, 5}");
    const size = () => tab.evaluate(() => document.querySelector("#drawing svg").getBoundingClientRect().width);
    await tab.click("#net-fit");
    const fit = await size();
    await tab.click("#net-in");
    assert.ok((await size()) > fit);
    await tab.click("#net-fit");
    assert.equal(await size(), fit);
  });

  test("works in an exported view, for which no program is needed", async () => {
    await open(philosophers);
    const [download] = await Promise.all([tab.waitForEvent("download"), tab.keyboard.press("e")]);
    const file = join(mkdtempSync(join(tmpdir(), "studio-")), "view.html");
    await download.saveAs(file);
    await tab.goto(`file://${file}`);
    await settled(tab);
    await tab.keyboard.press("b");
    await tab.click("#net-t0");
    await tab.click("#way-0");
    await walked(1);
    assert.notEqual(await full("p2"), "Eating: empty");
  });

  test("is offered for nets only, and names can't bring scripts", async () => {
    const name = "&lt;script&gt;window.hacked=1&lt;/script&gt;&lt;img src=x onerror='window.hacked=1'&gt;";
    const pnml = `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
      <place id="a"><name><text>${name}</text></name><initialMarking><text>2</text></initialMarking></place>
      <transition id="go"/><arc id="x" source="a" target="go"/></page></net></pnml>`;
    await open(written("evil.pnml", pnml));
    await tab.keyboard.press("b");
    await tab.click("#net-t0");
    await walked(1);
    assert.equal(await tokens("p0"), "1");
    assert.match(await tab.textContent("#drawing"), /<script>/);
    assert.equal(await tab.evaluate(() => window.hacked), undefined);
    assert.equal(await tab.locator("#drawing script, #drawing img, #drawing style").count(), 0);
    // Not even a drawing that has them.
    const kept = await tab.evaluate(() => {
      const svg =
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="window.hacked=1"><script>window.hacked=1</script><style>*{display:none}</style>' +
        '<a href="javascript:window.hacked=1"><text>link</text></a><g id="p0" onclick="window.hacked=1" style="fill:red"><path d="M0 0" marker-end="url(http://elsewhere/#x)"/></g></svg>';
      window.studio.net.open({ svg, parts: [{ id: "p0", kind: "place", name: "P" }] });
      document.querySelector("#net-p0").dispatchEvent(new MouseEvent("click", { bubbles: true }));
      const all = [...document.querySelectorAll("#drawing svg, #drawing svg *")];
      return all.map((one) => [one.localName, ...one.getAttributeNames()].join(" "));
    });
    assert.deepEqual(kept, ["svg viewBox width height", "g id", "title", "path d"]);
    assert.equal(await tab.evaluate(() => window.hacked), undefined);
    // Another model has no net.
    await tab.keyboard.press("g");
    assert.match(await tab.getAttribute("#files", "accept"), /\.net,\.pnml,/);
    await tab.click('.card[data-name="bugs/comb"]');
    await tab.waitForFunction(() => window.studio.summary?.name === "comb");
    await settled(tab);
    assert.equal(await tab.isVisible("#tab-net"), false);
    assert.equal(await tab.isVisible("#listing"), true);
    await tab.keyboard.press("b");
    await tab.waitForSelector("#note:not([hidden]):has-text('not a Petri net')");
  });

  test("shows what can fire of a net that is too large to be seen as a whole", async () => {
    const links = Array.from({ length: 200 }, (_, at) => `transition S${at} take P${at} put P${at + 1} end transition`);
    const places = Array.from({ length: 201 }, (_, at) => `place P${at}`);
    await open(written("long.net", `net LONG is ${places.join("\n")}\n${links.join("\n")}\nmarking MAIN is P0 end marking end net`));
    await tab.keyboard.press("b");
    for (let step = 0; step < 30; step++) {
      await walked(step);
      const seen = await tab.evaluate(() => {
        const [frame, part] = ["#drawing", "#drawing .enabled"].map((one) => document.querySelector(one).getBoundingClientRect());
        return part.top >= frame.top && part.bottom <= frame.bottom && part.height > 4;
      });
      assert.ok(seen, `step ${step}`);
      await tab.click(`#net-t${step}`);
    }
  });

  test("says so where there are no tokens to show", async () => {
    const net = "net CHOICE is place P transition Good take P end transition transition Bad take P end transition marking MAIN is P end marking end net";
    await open(written("choice.net", net), written("p.mcl", '[ true* . "BAD" ] false'));
    await tab.keyboard.press("b");
    await tab.click("#net-t0");
    await walked(1);
    assert.match(await tab.textContent("#net-note"), /can no longer be violated/);
    assert.equal(await tab.locator("#drawing .marked, #drawing .enabled").count(), 0);
    await tab.keyboard.press("ArrowLeft");
    await walked(0);
    assert.deepEqual((await enabled()).sort(), ["t0", "t1"]);
  });

  test("its words are coloured, in the source and in the editor", async () => {
    await open(philosophers);
    const words = (where, kind) => tab.evaluate(([where, kind]) => [...new Set([...document.querySelectorAll(`${where} .${kind}`)].map((one) => one.textContent))], [where, kind]);
    const keywords = await words("#listing", "keyword");
    for (const word of ["net", "place", "set", "transition", "take", "where", "put", "marking", "state", "function", "end"]) assert.ok(keywords.includes(word), word);
    assert.ok(!keywords.includes("Thinking"));
    assert.match((await words("#listing", "comment"))[0], /^-- The dining philosophers/);
    await tab.keyboard.press("m");
    // What is seen of it: a long text is painted where it is looked at.
    const painted = await words("#editor", "keyword");
    assert.ok(painted.length > 5 && painted.every((word) => keywords.includes(word)), painted.join());
    await type(tab, "net N is (* a\ncomment *) place P end net\n");
    await tab.waitForFunction(() => document.querySelectorAll("#editor .comment").length === 2);
    assert.deepEqual(await words("#editor", "comment"), ["(* a", "comment *)"]);
  });

  test("starts with the marking that is chosen", async () => {
    await open(
      written("lamp.net", "net LAMP is place On place Off\n transition Switch take Off put On end transition\n marking DARK is Off end marking\n marking BRIGHT is On end marking\nend net\n"),
      written("p.mcl", '[ true* . "SWITCH" ] false'),
    );
    assert.deepEqual(await tab.locator("#starts option").allTextContents(), ["DARK", "BRIGHT"]);
    assert.deepEqual(await tab.evaluate(() => [...document.querySelectorAll("#known-starts option")].map((one) => one.value)), ["DARK", "BRIGHT"]);
    await tab.keyboard.press("b");
    assert.deepEqual(await enabled(), ["t0"]);
    await tab.selectOption("#starts", "BRIGHT");
    await tab.waitForSelector("#net-note:has-text('No transition can fire')");
    assert.equal(await tokens("p0"), "1");
    assert.equal(await tab.inputValue("#starts"), "BRIGHT");
  });
});
