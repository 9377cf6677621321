// A program and a browser for the tests: starts both, and hands out pages.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const root = new URL("../../../", import.meta.url).pathname;

/** The program to test: the one named by WATERSHED, or what was built last for release or debugging. */
export function program() {
  const named = process.env.WATERSHED;
  const known = [named, `${root}target/release/watershed`, `${root}target/debug/watershed`];
  const found = known.find((path) => path && existsSync(path));
  if (!found) throw new Error("build the program first: make");
  return found;
}

/** Starts `watershed studio` and waits for its address. */
export async function serve(...args) {
  const child = spawn(program(), ["studio", "--no-open", ...args], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((done, fail) => {
    child.stdout.once("data", (data) => done(String(data).trim()));
    child.once("exit", (code) => fail(new Error(`the program ended with ${code}`)));
  });
  return { address, stop: () => new Promise((done) => (child.once("exit", done), child.kill("SIGINT"))), child };
}

export async function browser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--use-gl=angle",
      "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader",
      "--ignore-gpu-blocklist",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

export async function page(browser, address) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, acceptDownloads: true, colorScheme: "light" });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on("pageerror", (error) => console.error("page error:", error.message));
  if (address) await page.goto(address);
  return page;
}

/** Waits until the scene is drawn and at rest. */
export async function settled(page) {
  await page.waitForFunction(() => window.studio?.scene && window.studio.scene.version === window.studio.status.scene && window.studio.status.settled && window.studio.atRest && window.studio.space.frames > 2 && window.studio.space.moving === undefined);
}

/** The text in the editor: only the lines that are seen are part of the page. */
export const typed = (page) => page.evaluate(() => window.studio.editor.text);

/** Replaces the text in the editor, as a person does. */
export async function type(page, text) {
  await page.focus("#text");
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(text);
}
