// How long large systems take to open and settle, and how fast the page turns them: node tests/measure.mjs FOLDER
// Systems are made once, into the folder. Software rendering, 1280 by 720, default level of detail.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { browser, page, program, serve, settled } from "./browser.mjs";

const folder = resolve(process.argv[2] ?? "../../bench/results");
mkdirSync(folder, { recursive: true });
const property = `${folder}/studio.mcl`;
writeFileSync(property, '[ true* . "a5" . "a6" . "a7" ] false\n');
const systems = [
  ["layered", 100_000, 300_000, [property]],
  ["connected", 100_000, 300_000, [property]],
  ["layered", 100_000, 300_000, []],
  ["layered", 330_000, 1_000_000, [property]],
];
const chrome = await browser();
console.log("| system | picture | drawn | first sight | at rest | frames a second | all opened |");
console.log("|---|---|---|---|---|---|---|");
try {
  for (const [shape, states, transitions, more] of systems) {
    const file = `${folder}/studio-${shape}-${transitions}.aut`;
    if (!existsSync(file)) {
      execFileSync(program(), ["random", "--shape", shape, "--states", states, "--transitions", transitions, "--labels", 20, "-o", file].map(String));
    }
    const start = performance.now();
    const seconds = () => ((performance.now() - start) / 1000).toFixed(1);
    const studio = await serve(file, ...more);
    const tab = await page(chrome, studio.address);
    tab.setDefaultTimeout(120_000);
    await tab.waitForFunction(() => window.studio?.scene && window.studio.space.frames > 2);
    const seen = seconds();
    await settled(tab);
    const rest = seconds();
    const drawn = await tab.evaluate(() => ({
      states: window.studio.summary.nodes,
      transitions: window.studio.summary.transitions,
      nodes: window.studio.scene.nodes.length,
      edges: window.studio.scene.edges.length,
    }));
    const frames = await tab.evaluate(() => window.studio.space.measure(5000));
    // Every state one by one, where the page allows it.
    let opened = "more than it shows one by one";
    if (drawn.states <= 200_000) {
      const begin = performance.now();
      await tab.keyboard.press("d");
      await tab.waitForFunction((nodes) => window.studio.scene.nodes.length > nodes && window.studio.space.frames > 2, drawn.nodes);
      const first = ((performance.now() - begin) / 1000).toFixed(1);
      await settled(tab);
      opened = `${first} s, at rest ${((performance.now() - begin) / 1000).toFixed(1)} s, ${(await tab.evaluate(() => window.studio.space.measure(5000))).toFixed(1)} frames`;
    }
    const number = (value) => value.toLocaleString("en");
    console.log(
      `| ${shape}, ${number(states)} states, ${number(transitions)} transitions | ${number(drawn.states)} states, ${number(drawn.transitions)} transitions ` +
        `| ${number(drawn.nodes)} nodes, ${number(drawn.edges)} edges | ${seen} s | ${rest} s | ${frames.toFixed(1)} | ${opened} |`,
    );
    await tab.context().close();
    await studio.stop();
  }
} finally {
  await chrome.close();
}
