// The editor in a real browser: long texts, colours, wrong places, and edits that are not lost.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { program, settled, type, typed } from "./browser.mjs";
import { start as open, tab, written } from "./stage.mjs";

const comb = ["models/bugs/comb.lnt", "models/bugs/comb.mcl"];
const words = (kind) => tab.evaluate((kind) => [...document.querySelectorAll(`#text .${kind}`)].map((one) => one.textContent), kind);

test("a text of 50,000 lines is edited where it is seen, and only that is part of the page", async () => {
  const filler = Array.from({ length: 50_000 }, (_, at) => `   -- line ${at} of a long text`).join("\n");
  await open(written("long.lnt", `module long is\n${filler}\nprocess MAIN [A, B : none] is\n   select A [] B end select\nend process\nend module\n`));
  await settled(tab);
  // The source as well: a line is there when it is needed.
  const listed = () => tab.locator("#listing .code-line").count();
  assert.ok((await listed()) < 3_000, `${await listed()} lines`);
  await tab.keyboard.press("ArrowRight");
  await tab.waitForFunction(() => window.studio.listing.litLines().length > 0);
  assert.deepEqual(await tab.evaluate(() => window.studio.listing.litLines()), [50_003]);
  await tab.waitForFunction(() => {
    const [line, panel] = [document.querySelector("#line-50003"), document.querySelector("#listing")].map((one) => one.getBoundingClientRect());
    return line.top >= panel.top && line.bottom <= panel.bottom;
  });
  assert.ok((await listed()) < 3_000, `${await listed()} lines`);
  await tab.keyboard.press("m");
  const drawn = () => tab.locator("#text .cm-line").count();
  assert.ok((await drawn()) < 500, `${await drawn()} lines`);
  await tab.keyboard.press("Control+End");
  await tab.waitForFunction(() => /end module/.test(document.querySelector("#text").textContent));
  await tab.keyboard.press("ArrowUp");
  await tab.keyboard.type("-- the end ");
  assert.match((await typed(tab)).slice(-40), /\n-- the end end module\n$/);
  assert.ok((await drawn()) < 500, `${await drawn()} lines`);
  // Not only what is written is quick to reach: also what is wrong.
  await tab.keyboard.press("Control+Enter");
  await tab.waitForSelector("#messages .error");
  assert.match(await tab.textContent("#messages"), /long\.lnt:50\d\d\d:/);
});

test("a system of five megabytes is opened from the page", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "studio-")), "large.aut");
  execFileSync(program(), ["random", "--shape", "layered", "--states", 60_000, "--transitions", 235_000, "--labels", 40, "-o", file].map(String));
  assert.ok(statSync(file).size > 5_000_000, `${statSync(file).size} bytes`);
  await open();
  await tab.waitForSelector("#gallery");
  await tab.setInputFiles("#files", [file]);
  await settled(tab);
  assert.equal(await tab.evaluate(() => window.studio.summary.nodes), 60_000);
  assert.match(await tab.textContent("#line-note"), /no source: this is a transition system/);
  // It can be edited and run again.
  await tab.keyboard.press("m");
  assert.equal((await typed(tab)).length, readFileSync(file, "utf8").length);
  await type(tab, 'des (0, 1, 2)\n(0, "A", 1)\n');
  await tab.keyboard.press("Control+Enter");
  await tab.waitForFunction(() => window.studio.summary.nodes === 2);
});

test("words have colours in LNT and in MCL", async () => {
  await open(...comb);
  await settled(tab);
  await tab.keyboard.press("m");
  await type(tab, 'PROCESS x -- a (* b\n(* c (* d *) is "e\\"f" (* g\nh *) end\n');
  await tab.waitForFunction(() => document.querySelectorAll("#text .comment").length === 4);
  assert.deepEqual(await words("comment"), ["-- a (* b", "(* c (* d *)", "(* g", "h *)"]);
  assert.deepEqual(await words("keyword"), ["PROCESS", "is", "end"]);
  assert.deepEqual(await words("quoted"), ['"e\\"f"']);
  await tab.click("#editor .tabs button:has-text('comb.mcl')");
  // Comments stand in comments here, and keywords are small.
  await type(tab, "(* a (* b *) c *) [ true* . 'A.*' ] mu X . NOT\n");
  await tab.waitForFunction(() => document.querySelectorAll("#text .comment").length > 0);
  assert.deepEqual(await words("comment"), ["(* a (* b *) c *)"]);
  assert.deepEqual(await words("keyword"), ["true", "mu"]);
  assert.deepEqual(await words("quoted"), ["'A.*'"]);
});

test("what is wrong is underlined from its first to its last character, and moves with the text", async () => {
  const lines = ['module m is (* 𝄞 *) process MAIN [A : none] is AA; A end process end module'];
  await open(written("m.lnt", lines.join("\n")));
  await tab.waitForSelector("#messages .error");
  await tab.waitForSelector(".cm-lintRange-error");
  assert.equal(await tab.textContent(".cm-lintRange-error"), "AA");
  await tab.focus("#text");
  await tab.keyboard.press("Control+Home");
  await tab.keyboard.type("-- before\n");
  assert.equal(await tab.textContent(".cm-lintRange-error"), "AA");
  // A click goes where it is by now.
  await tab.click("#messages [role=button]");
  assert.equal(await tab.evaluate(() => String(getSelection())), "AA");
  await tab.keyboard.type("A");
  await tab.keyboard.press("Control+Enter");
  await tab.waitForFunction(() => window.studio.scene !== null && !window.studio.status.running);
  assert.equal(await tab.locator(".cm-lintRange-error, #messages li").count(), 0);
});

test("each text has its own undo, and its own place", async () => {
  await open(...comb);
  await settled(tab);
  await tab.keyboard.press("m");
  const [model, other] = [await typed(tab), "[ true* ] true"];
  await tab.keyboard.insertText("-- one\n");
  await tab.click("#editor .tabs button:has-text('comb.mcl')");
  const property = await typed(tab);
  await type(tab, other);
  assert.equal(await tab.locator("#editor .tabs .edited").count(), 2);
  await tab.keyboard.press("Control+z");
  assert.equal(await typed(tab), property);
  await tab.keyboard.press("Control+z");
  assert.equal(await typed(tab), property);
  await tab.click("#editor .tabs button:has-text('comb.lnt')");
  assert.equal(await typed(tab), `-- one\n${model}`);
  await tab.focus("#text");
  await tab.keyboard.press("Control+z");
  assert.equal(await typed(tab), model);
  assert.equal(await tab.locator("#editor .tabs .edited").count(), 0);
  // A run does not take away what can be undone.
  await tab.keyboard.insertText("-- two\n");
  await tab.keyboard.press("Control+Enter");
  await tab.waitForFunction(() => /^-- two/.test(window.studio.summary.files[0].text));
  await tab.focus("#text");
  await tab.keyboard.press("Control+z");
  assert.equal(await typed(tab), model);
});
