// Takes the pictures of the typical bugs for the book: node tests/screenshots.mjs OUT_FOLDER
import { mkdirSync } from "node:fs";
import { browser, page, serve, settled } from "./browser.mjs";

const folder = process.argv[2] ?? "../../docs/src/images/bugs";
const names = (process.argv[3] ?? "comb,spider_web,flower,frontiers,unique_choice,isolated,all_wrong").split(",");
mkdirSync(folder, { recursive: true });
const chrome = await browser();
try {
  for (const name of names) {
    const studio = await serve(`models/bugs/${name}.lnt`, `models/bugs/${name}.mcl`);
    const tab = await page(chrome, studio.address);
    await settled(tab);
    if (name === (process.argv[4] ?? "")) await tab.screenshot({ path: `${folder}/page.png` });
    await tab.locator("#space").screenshot({ path: `${folder}/${name}.png` });
    await tab.context().close();
    await studio.stop();
  }
} finally {
  await chrome.close();
}
