// Traces beside the model, in a real browser: the verdict, the walk to the moment that fails, and the guard's line.
import assert from "node:assert/strict";
import { test } from "node:test";
import { settled } from "./browser.mjs";
import { start, tab, written } from "./stage.mjs";

/** A lock that counts how often it was taken, modulo 3. */
const LOCK = `module lock is
process MAIN [TAKE, GIVE : none] is
   var n : nat, taken : bool in
      n := 0; taken := false;
      loop
         select
            only if not (taken) then TAKE; taken := true; n := (n + 1) mod 3 end if
         [] only if taken then GIVE; taken := false end if
         end select
      end loop
   end var
end process
end module
`;

const COUNTER = `mod COUNTER is protecting NAT . sort State . op {_} : Nat -> State . var N : Nat .
  crl [up] : {N} => {N + 1}
    if N < 3 .
  op init : -> State . eq init = {0} .
endm
`;

/** Opens a model with traces. */
async function open(model, text, traces, ...more) {
  await start(written(model, text), "--traces", written("traces.txt", traces), ...more);
  await tab.waitForSelector("#conforms");
}

const text = (selector) => tab.textContent(selector);
const place = () => tab.evaluate(() => window.studio.conformance.place);
const arrive = (at) => tab.waitForFunction((at) => window.studio.conformance.place?.at === at, at);
const lit = () => tab.evaluate(() => window.studio.listing.litLines());

test("a failing trace is walked to the guard that says no", async () => {
  await open("lock.lnt", LOCK, "TAKE\nGIVE\nTAKE\nGIVE\nGIVE\n[]\nTAKE\n[]\nGIVE\n");
  await settled(tab);
  assert.match(await text("#conforms"), /rejected: 2 of 3 sequences/);
  assert.match(await text("#cause-1"), /GIVE too early, by 1 step · 2 sequences/);
  await tab.click("#cause-1");
  await arrive(0);
  assert.deepEqual(await place(), { at: 0, total: 6 });
  assert.match(await text("#moment"), /before the first moment/);
  // The model takes the step, values that change are marked, and the picture follows.
  await tab.keyboard.press("ArrowRight");
  await arrive(1);
  assert.match(await text("#program-side"), /TAKE/);
  assert.match(await text("#model-side"), /TAKE.*MAIN\.n1.*MAIN\.takenTRUE/);
  assert.equal(await tab.locator("#model-side .changed").count(), 2);
  assert.deepEqual(await lit(), [7]);
  await tab.click("#moment-forward");
  await arrive(2);
  assert.equal(await tab.locator("#model-side .changed").count(), 1);
  await tab.keyboard.press("ArrowLeft");
  await arrive(1);
  assert.equal(await tab.evaluate(() => window.studio.walk.cursor), 0, "the walk through the states stays where it is");
  // The moment that fails.
  for (let at = 2; at < 6; at++) {
    await tab.keyboard.press("ArrowRight");
    await arrive(at);
  }
  await tab.keyboard.press("ArrowRight");
  await tab.waitForSelector("#reason");
  assert.equal((await place()).at, 5, "there is nothing behind the failure");
  assert.match(await text("#reason"), /can't follow.*lock\.lnt:8: this condition does not hold.*taken/);
  assert.match(await text("#program-side"), /GIVE/);
  await tab.click("#blocked-1");
  await tab.waitForSelector("#listing:not([hidden]) #line-8.lit");
  assert.deepEqual(await lit(), [8]);
  // Back to the panel, and another sequence with the same cause.
  await tab.keyboard.press("j");
  await tab.waitForSelector("#conformance:not([hidden])");
  await tab.selectOption("#failures", { index: 1 });
  await tab.waitForFunction(() => window.studio.conformance.place?.total === 2);
  await tab.click("#to-failure");
  await arrive(1);
  assert.match(await text("#reason"), /possible.*TAKE/);
});

test("terms are walked, and an edited model is checked again", async () => {
  await open("counter.maude", COUNTER, "({1} | {2} | {3} | {4} | nil)\n");
  assert.match(await text("#conforms"), /rejected: 1 of 1 sequence/);
  await tab.click("#cause-1");
  await arrive(0);
  await tab.click("#to-failure");
  await arrive(3);
  assert.match(await text("#program-side"), /\{4\}/);
  await tab.click("#blocked-1");
  await tab.waitForSelector("#listing:not([hidden]) #line-3.lit");
  const edited = COUNTER.replace("N < 3", "N < 4");
  await tab.evaluate((text) => {
    const { summary, backend } = window.studio;
    return backend.run({ ...summary.texts, files: [{ ...summary.texts.files[0], text }] });
  }, edited);
  await tab.waitForFunction(() => /accepted: 1 sequence/.test(document.querySelector("#conforms")?.textContent ?? ""));
});

test("what is wrong with traces is told", async () => {
  await start(written("lock.lnt", LOCK), "--traces", written("broken.jsonl", '{"n": 1}\n{"n": \n'));
  await tab.waitForSelector("#conformance .error");
  assert.match(await text("#conformance"), /not JSON/);
  // A model without traces has no such panel.
  await tab.evaluate(() => window.studio.gallery());
  await tab.click('.card[data-name="bugs/comb"]');
  await tab.waitForFunction(() => window.studio.summary?.name === "comb");
  await settled(tab);
  await tab.waitForSelector("#tab-conformance", { state: "hidden" });
  await tab.keyboard.press("j");
  await tab.waitForSelector("#note:not([hidden]):has-text('There are no traces')");
});

test("a long sequence is fetched in parts", async () => {
  await open("lock.lnt", LOCK, "TAKE\nGIVE\n".repeat(2000) + "GIVE\n");
  await tab.click("#cause-1");
  await arrive(0);
  assert.deepEqual(await place(), { at: 0, total: 2000 }, "the last moments, and the state before them");
  assert.match(await text("#conformance"), /moments before these are left out/);
  await tab.click("#to-failure");
  await arrive(1999);
  await tab.waitForSelector("#blocked-1");
  await tab.keyboard.press("ArrowLeft");
  await arrive(1998);
  assert.match(await text("#model-side"), /GIVE/);
});

test("a model without an end is not drawn, and walked all the same", async () => {
  await open("counter.maude", COUNTER.replace("crl", "rl").replace(/\n *if N < 3/, ""), "({1} | {2} | {4} | nil)\n", "--max-states", "1000");
  await tab.waitForFunction(() => window.studio.status.failure && !window.studio.conformance.element.hidden);
  await tab.click("#cause-1");
  await arrive(0);
  await tab.click("#to-failure");
  await arrive(2);
  assert.match(await text("#reason"), /a bound of 2 would do instead of 1/);
  await tab.click("#moment-back");
  await arrive(1);
  await tab.click("#model-side button:has-text('up')");
  await tab.waitForSelector("#listing:not([hidden]) #line-2.lit");
});
