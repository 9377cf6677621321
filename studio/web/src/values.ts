// The variables of a state, by instance.
import { make } from "./dom";
import type { InstanceValues } from "./wire";

/** Names with their instances, and values. */
export function flat(instances: InstanceValues[]): [string, string][] {
  return instances.flatMap(({ instance, values }) => values.map(({ name, value }): [string, string] => [instance ? `${instance}.${name}` : name, value]));
}

/** All variables, a heading for each instance; what a step has changed is marked. */
export function valuesOf(instances: InstanceValues[]): HTMLElement {
  const list = make("div", { id: "values", className: "instances" });
  for (const { instance, values } of instances) {
    if (values.length === 0) continue;
    if (instance) list.append(make("h4", { textContent: instance }));
    const terms = make("dl", { className: "values" });
    for (const { name, value, before, changed } of values) {
      const shown = make("dd", { textContent: value, className: changed ? "changed" : "" });
      if (changed && before !== undefined) shown.title = `before: ${before}`;
      terms.append(make("dt", { textContent: name }), shown);
    }
    list.append(terms);
  }
  return list;
}
