// Takes the pictures of the book: node tests/screenshots.mjs FOLDER. The page itself, and each typical bug.
import { mkdirSync } from "node:fs";
import { browser, page, serve, settled } from "./browser.mjs";

const folder = process.argv[2] ?? "../../docs/src/images";
mkdirSync(`${folder}/bugs`, { recursive: true });
const chrome = await browser();

async function open(model, property, ...more) {
  const studio = await serve(model, ...(property ? [property] : []), ...more);
  const tab = await page(chrome, studio.address);
  await settled(tab);
  // One more frame, with all details.
  await tab.evaluate(() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next))));
  return { tab, close: () => tab.context().close().then(studio.stop) };
}

/** A deadlock as a table. */
async function traceTable() {
  const { tab, close } = await open("models/philosophers/philosophers.lnt", "models/philosophers/properties.mcl");
  await tab.keyboard.press("c");
  await tab.waitForFunction(() => window.studio.walk.path.length === 5);
  await tab.keyboard.press("z");
  await tab.waitForSelector("#waiting-cycle");
  for (let step = 1; step <= 2; step++) {
    await tab.keyboard.press("ArrowRight");
    await tab.waitForSelector(`tr.now[data-step="${step}"]`);
  }
  await tab.screenshot({ path: `${folder}/studio-trace.png` });
  await close();
}

/** The walk beside the text that it comes from. */
async function besides() {
  const { tab, close } = await open("models/bugs/comb.lnt", "models/bugs/comb.mcl");
  await tab.keyboard.press("\\");
  await tab.keyboard.press("l");
  await tab.keyboard.press("n");
  await tab.keyboard.press("ArrowRight");
  await tab.waitForFunction(() => window.studio.walk.cursor === 1 && window.studio.listing.litLines().length > 0);
  await tab.waitForTimeout(800);
  await tab.screenshot({ path: `${folder}/studio-beside.png` });
  await close();
}

/** Two machines, one of which gives change. */
async function comparison() {
  const machine = (more) => Buffer.from(`module machine is process MAIN [COIN, TEA, COFFEE, CHANGE : none] is loop COIN; select TEA [] COFFEE${more} end select end loop end process end module`);
  const { tab, close } = await open("models/bugs/comb.lnt", "models/bugs/comb.mcl");
  for (const [name, more] of [["generous", "; CHANGE"], ["plain", ""]]) {
    await tab.keyboard.press("g");
    await tab.setInputFiles("#files", [{ name: `${name}.lnt`, mimeType: "text/plain", buffer: machine(more) }]);
    await tab.waitForFunction((name) => window.studio.summary?.name === name, name);
    await settled(tab);
  }
  await tab.click("#tab-compare");
  await tab.waitForFunction(() => document.querySelector("#compare-with").value !== "");
  await tab.selectOption("#compare-with", { label: "generous" });
  await tab.selectOption("#compare-by", "branching");
  await tab.click("#compare-run");
  await tab.waitForFunction(() => window.studio.compare.space?.positions.length > 0);
  await tab.waitForTimeout(2000);
  await tab.locator("#space canvas").focus();
  await tab.keyboard.press("l");
  for (let step = 0; step < 3; step++) await tab.keyboard.press("ArrowRight");
  await tab.waitForTimeout(1000);
  await tab.screenshot({ path: `${folder}/studio-compare.png` });
  await close();
}

try {
  for (const name of ["comb", "spider_web", "flower", "frontiers", "unique_choice", "isolated", "all_wrong"]) {
    const { tab, close } = await open(`models/bugs/${name}.lnt`, `models/bugs/${name}.mcl`);
    await tab.evaluate(() => (document.querySelector("#advice").hidden = true));
    await tab.locator("#space").screenshot({ path: `${folder}/bugs/${name}.png` });
    if (name === "flower") {
      await tab.keyboard.press("]");
      await tab.keyboard.press("]");
      await tab.waitForFunction(() => window.studio.space.highlighted("choice").length > 0);
      await tab.screenshot({ path: `${folder}/studio.png` });
    }
    await close();
  }
  const { tab, close } = await open("models/coverage/synchro/synchro1.lnt", null, "--examples", "models/coverage/synchro/suite1.toml", "--root", "SYSTEM (1, false, false)");
  await tab.keyboard.press("k");
  await tab.waitForSelector("#covered .code-line");
  await tab.screenshot({ path: `${folder}/studio-coverage.png` });
  await close();
  await besides();
  await traceTable();
  await comparison();
} finally {
  await chrome.close();
}
