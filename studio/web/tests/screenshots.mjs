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

try {
  for (const name of ["comb", "spider_web", "flower", "frontiers", "unique_choice", "isolated", "all_wrong"]) {
    const { tab, close } = await open(`models/bugs/${name}.lnt`, `models/bugs/${name}.mcl`);
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
} finally {
  await chrome.close();
}
