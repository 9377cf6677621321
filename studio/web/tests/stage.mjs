// What every file of tests has: one browser, and for each test a program with its page. Both end with the test.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before } from "node:test";
import { browser, page, serve, settled } from "./browser.mjs";

export let chrome;
/** The program of the test at hand, and its page. */
export let studio;
export let tab;

before(async () => {
  chrome = await browser();
});
after(async () => {
  await chrome?.close();
});
afterEach(async () => {
  await tab?.context().close();
  await studio?.stop();
  tab = studio = undefined;
});

/** Starts the program and opens a page that shows nothing yet. */
export async function prepare(...args) {
  studio = await serve(...args);
  tab = await page(chrome);
}

/** Starts the program and opens its page. */
export async function start(...args) {
  await prepare(...args);
  await tab.goto(studio.address);
}

/** The same, and waits until all is drawn. */
export async function open(...args) {
  await start(...args);
  await settled(tab);
}

/** Says that the program has ended by itself. */
export function gone() {
  studio = undefined;
}

/** A file of one's own. */
export function written(name, text) {
  const file = join(mkdtempSync(join(tmpdir(), "studio-")), name);
  writeFileSync(file, text);
  return file;
}
