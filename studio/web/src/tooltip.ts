// What is under the pointer, in a few lines beside it.
import type { Backend } from "./backend";
import { count, make } from "./dom";
import { short } from "./listing";
import type { Hit } from "./space";
import { flat } from "./values";
import { FLAG, KINDS, type Scene, type Summary } from "./wire";

export interface TooltipHost {
  backend(): Backend;
  scene(): Scene | null;
  summary(): Summary | null;
  labelOf(scene: Scene, edge: number): string;
}

export class Tooltip {
  readonly element = make("div", { id: "tooltip", hidden: true });
  /** Counts what was pointed at: the answer about an earlier one is not shown. */
  private asked = 0;

  constructor(private host: TooltipHost) {}

  hide(): void {
    this.asked += 1;
    this.element.hidden = true;
  }

  async show(hit: Hit, x: number, y: number): Promise<void> {
    const scene = this.host.scene();
    if (!hit || !scene) return this.hide();
    const number = ++this.asked;
    const lines = await this.lines(scene, hit).catch((error: Error) => [make("div", { textContent: error.message })]);
    if (number !== this.asked) return;
    this.element.replaceChildren(...lines);
    this.element.hidden = false;
    const holder = this.element.parentElement!;
    this.element.style.left = `${Math.max(0, Math.min(x + 14, holder.clientWidth - this.element.offsetWidth - 6))}px`;
    this.element.style.top = `${Math.max(0, Math.min(y + 14, holder.clientHeight - this.element.offsetHeight - 6))}px`;
  }

  private async lines(scene: Scene, hit: NonNullable<Hit>): Promise<HTMLElement[]> {
    const line = (textContent: string, className = "") => make("div", { textContent, className });
    const bold = (textContent: string) => make("b", { textContent });
    if ("edge" in hit) {
      const answer = await this.host.backend().edge(scene.edges[hit.edge]!);
      const actions = answer.constructs.filter((one) => one.kind === "action");
      return [
        bold(this.host.labelOf(scene, hit.edge)),
        line(answer.tag, answer.tag),
        ...actions.map((one) => line(`${short(one.file)}:${one.line} in ${one.process}: ${this.sourceLine(one.file, one.line)}`)),
      ];
    }
    const flags = scene.flags[hit.node]!;
    if (flags & FLAG.region) {
      const kind = flags & 7;
      const what = kind > 0 ? `, neighbourhoods ${KINDS[kind - 1]}` : this.host.summary()?.explanation?.verdict === false ? " without a choice" : "";
      return [bold(count(scene.sizes[hit.node]!, "state") + what), line("double click or press O to open")];
    }
    const state = await this.host.backend().state(scene.nodes[hit.node]!);
    const lines = [bold(state.sink ? "sink: safe for good" : `state ${state.state}`)];
    if (state.initial) lines.push(line("initial"));
    if (state.goal) lines.push(line("the property is violated here", "incorrect"));
    if (state.kind) lines.push(line(`neighbourhood ${state.kind}, choice ${(state.choice ?? 0) + 1}`));
    return [...lines, ...flat(state.instances).slice(0, 12).map(([name, value]) => line(`${name} = ${value}`))];
  }

  private sourceLine(file: string, line: number): string {
    return this.host.summary()?.files.find((one) => one.name === file)?.text.split("\n")[line - 1]?.trim() ?? "";
  }
}
