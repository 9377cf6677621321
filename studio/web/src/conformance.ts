// The conformance view: whether the model accepts what a program has shown, and the walk of a sequence beside the model.
import { button, count, make, pressable, refill } from "./dom";
import { short } from "./listing";
import type { ConformanceAnswer, NonConformance, Place, Station, WalkPart } from "./wire";

export interface ConformanceHost {
  /** A part of the walk of a failure. */
  part(failure: number, from: number): Promise<WalkPart>;
  /** Lights up places of the source; a word on them brings it to the front. */
  light(places: Place[], word?: string): void;
  /** The model is in the state at this node, if it is drawn. */
  at(node: number | null): void;
  /** Stops the check. */
  cancel(): void;
  complain(error: unknown): void;
}

/** How many failures of a cause are listed. */
const MOST_LISTED = 50;

/** A walk: which stations are known, and where it is. */
interface Open {
  failure: NonConformance;
  total: number;
  skipped: number;
  stations: Map<number, Station>;
  at: number;
}

export class ConformancePanel {
  readonly element = make("section", { id: "conformance" });
  private answer: ConformanceAnswer | null = null;
  private walk: Open | null = null;
  /** Where the walk goes, while that is fetched. */
  private wanted = 0;

  constructor(private host: ConformanceHost) {}

  show(answer: ConformanceAnswer | null): void {
    this.answer = answer;
    this.walk = null;
    this.render();
  }

  /** Where the walk is, and how far it goes, for tests. */
  get place(): { at: number; total: number } | null {
    return this.walk && { at: this.walk.at, total: this.walk.total };
  }

  /** Opens the walk of a failure. */
  async open(failure: NonConformance): Promise<void> {
    try {
      const part = await this.host.part(failure.number, 0);
      const walk = { failure, total: part.total, skipped: part.skipped, stations: new Map<number, Station>(), at: 0 };
      this.take(walk, part);
      this.walk = walk;
      await this.go(0);
    } catch (error) {
      this.host.complain(error);
    }
  }

  /** Goes on by some moments; whether there is a walk. */
  move(by: number): boolean {
    if (this.walk) void this.go(this.wanted + by);
    return this.walk !== null;
  }

  /** Stops what runs; whether something did. */
  cancel(): boolean {
    const running = this.answer?.running === true;
    if (running) this.host.cancel();
    return running;
  }

  private take(walk: Open, part: WalkPart): void {
    part.stations.forEach((station, at) => walk.stations.set(part.from + at, station));
  }

  private async go(at: number): Promise<void> {
    const walk = this.walk;
    if (!walk) return;
    const goal = (this.wanted = Math.max(0, Math.min(at, walk.total - 1)));
    try {
      // The one before is shown where the model can't follow.
      for (const station of [goal, Math.max(goal - 1, 0)]) {
        if (!walk.stations.has(station)) this.take(walk, await this.host.part(walk.failure.number, Math.max(station - 100, 0)));
      }
    } catch (error) {
      return this.host.complain(error);
    }
    if (walk !== this.walk || goal !== this.wanted) return;
    walk.at = goal;
    this.render();
    const station = walk.stations.get(goal);
    if (!station) return;
    const shown = station.rejected ? walk.stations.get(goal - 1) : station;
    this.host.at(shown?.node ?? null);
    this.host.light(station.rejected ? walk.failure.blocked.map(placeOf) : station.steps.flatMap((step) => step.places));
  }

  private render(): void {
    const answer = this.answer;
    if (!answer) return this.element.replaceChildren();
    if (answer.running) {
      const wait = make("span", { className: "hint", textContent: "Checking the traces…" });
      return refill(this.element, make("div", { className: "bar" }, wait, button("Cancel", "Stop (Esc)", () => this.cancel(), "cancel-check")));
    }
    const verdict = answer.verdict;
    if (!verdict) {
      const told = answer.messages.flatMap(({ message, place, notes, helps }) => [
        make("p", { className: "error", textContent: (place ? `${short(place.file)}:${place.line}: ` : "") + message }),
        ...[...notes, ...helps].map((text) => make("p", { className: "hint", textContent: text })),
      ]);
      return refill(this.element, ...told);
    }
    const { sequences, rejected, accepted, unknown, unspecified } = verdict;
    const all = count(sequences, "sequence");
    const word = rejected > 0 ? `rejected: ${rejected.toLocaleString("en")} of ${all}` : unknown > 0 ? `undecided: ${unknown.toLocaleString("en")} of ${all}` : `accepted: ${all}`;
    const rest = [
      rejected > 0 || unknown > 0 ? `${accepted.toLocaleString("en")} accepted` : "",
      rejected > 0 && unknown > 0 ? `${unknown.toLocaleString("en")} undecided: a limit was reached` : "",
      unspecified > 0 ? `${unspecified.toLocaleString("en")} left what the model specifies` : "",
    ].filter((text) => text !== "");
    const causes = verdict.causes.map(({ cause, failures, first }, at) => {
      const on = this.walk?.failure.cause === at;
      const card = make("div", { className: `card${on ? " on" : ""}`, id: `cause-${at + 1}`, title: "Walk the first of these sequences beside the model" }, make("b", { textContent: cause }), ` · ${count(failures, "sequence")}`);
      return pressable(card, () => {
        const failure = verdict.failures.find((one) => one.number === first);
        if (failure) void this.open(failure);
      });
    });
    refill(
      this.element,
      make("p", { className: `verdict ${rejected > 0 ? "incorrect" : unknown > 0 ? "" : "correct"}`, id: "conforms", textContent: word }),
      rest.length > 0 && make("p", { className: "hint", textContent: rest.join(", ") }),
      ...causes,
      ...(this.walk ? this.walked(this.walk, verdict.failures) : []),
    );
  }

  private walked(walk: Open, failures: NonConformance[]): HTMLElement[] {
    const { failure, at, total } = walk;
    const station = walk.stations.get(at);
    const alike = failures.filter((one) => one.cause === failure.cause);
    const shown = alike.slice(0, MOST_LISTED);
    if (!shown.includes(failure)) shown.push(failure);
    const choose = make("select", { id: "failures", title: "Which sequence to walk", onchange: () => void this.open(shown[choose.selectedIndex]!) });
    choose.append(...shown.map((one) => make("option", { textContent: `${short(one.file)}:${one.line}, sequence ${one.name ?? one.seq}`, selected: one === failure })));
    const where = !station ? "" : station.index === null ? "before the first moment" : `moment ${station.index}, line ${station.line}`;
    const parts: HTMLElement[] = [
      make("h3", { textContent: "The walk" }),
      make("div", { className: "bar" }, choose),
      make(
        "div",
        { className: "bar" },
        button("◀", "The moment before (←)", () => this.move(-1), "moment-back"),
        button("▶", "The next moment (→)", () => this.move(1), "moment-forward"),
        button("Start", "Go to the beginning", () => void this.go(0), "to-start"),
        button("Failure", "Go to the moment that the model can't follow", () => void this.go(total - 1), "to-failure"),
        make("span", { className: "hint", id: "moment", textContent: `${at + 1} of ${total}: ${where}` }),
      ),
    ];
    if (walk.skipped > 0 && at === 0) parts.push(make("p", { className: "hint", textContent: `${count(walk.skipped, "moment")} before these are left out.` }));
    if (!station) return parts;
    const model = station.rejected ? walk.stations.get(at - 1) : station;
    const program = make("div", { id: "program-side" }, make("h2", { textContent: "Program" }));
    if (station.event !== null) program.append(make("p", { className: "taken", textContent: station.event }));
    program.append(valuesOf(station.program.map(([name, value]) => ({ name, value, changed: false }))));
    if (station.event === null && station.program.length === 0) program.append(make("p", { className: "hint", textContent: "nothing yet" }));
    const side = make("div", { id: "model-side" }, make("h2", { textContent: station.rejected ? "Model, before" : "Model" }));
    for (const step of station.steps) {
      const places = step.places;
      side.append(places.length ? button(step.label, "Show where this is written", () => this.host.light(places, step.label)) : make("p", { textContent: step.label }));
      side.lastElementChild!.className = "taken hit";
    }
    if (station.steps.length === 0 && !station.rejected && station.index !== null) side.append(make("p", { className: "hint", textContent: "no step" }));
    side.append(valuesOf((model?.model ?? []).map((value) => ({ ...value, changed: value.changed && !station.rejected }))));
    if ((model?.states ?? 1) > 1) side.append(make("p", { className: "hint", textContent: `one of ${count(model!.states, "state")} that agree with the trace` }));
    parts.push(make("div", { className: "beside" }, program, side));
    if (station.rejected) parts.push(this.reason(failure));
    return parts;
  }

  /** Why the model can't follow. */
  private reason(failure: NonConformance): HTMLElement {
    const rows = [
      ["from", failure.from],
      ["to", failure.to],
      ["closest", failure.closest ?? ""],
      ["after", failure.steps.join(", ")],
      ["possible", (failure.possible ?? []).join(", ")],
    ].filter(([, text]) => text !== "");
    const list = make("dl", { className: "values" });
    for (const [name, text] of rows) list.append(make("dt", { textContent: name! }), make("dd", { textContent: text! }));
    const differs = failure.differs.map(({ component, model, program }) =>
      make("tr", {}, make("td", { textContent: component }), make("td", { className: "changed", textContent: program }), make("td", { className: "changed", textContent: model })),
    );
    const head = make("tr", {}, make("th", { textContent: "differs" }), make("th", { textContent: "program" }), make("th", { textContent: "model, closest" }));
    const blocked = failure.blocked.map((one, at) => {
      const link = button(`${short(one.file)}:${one.line}: ${one.why}`, "Show this line in the source", () => this.host.light([placeOf(one)], one.why), `blocked-${at + 1}`);
      link.className = "hit";
      return make("div", {}, link, make("code", { textContent: one.source }));
    });
    return make(
      "div",
      { id: "reason" },
      make("h3", { className: "incorrect", textContent: "The model can't follow" }),
      differs.length > 0 && make("table", { id: "differs" }, head, ...differs),
      ...blocked,
      failure.searched !== "" && make("p", { className: "hint", textContent: failure.searched }),
      list,
    );
  }
}

function placeOf({ file, line, column }: { file: string; line: number; column: number }): Place {
  return { file, line, column, end_line: line, end_column: column };
}

/** Names and values; a whole state has no name. */
function valuesOf(values: { name: string; value: string; changed: boolean }[]): HTMLElement {
  const list = make("dl", { className: "values" });
  for (const { name, value, changed } of values) {
    if (name === "") list.append(make("dd", { className: `whole${changed ? " changed" : ""}`, textContent: value }));
    else list.append(make("dt", { textContent: name }), make("dd", { className: changed ? "changed" : "", textContent: value }));
  }
  return list;
}
