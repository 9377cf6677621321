// Elements in one line each.

/** Many children come as an array: a call takes only so many arguments. */
type Child = Node | string | null | undefined | false | Child[];

/** A new element with properties and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]> & { data?: Record<string, string> } = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  const { data, ...rest } = properties;
  Object.assign(element, rest);
  Object.entries(data ?? {}).forEach(([key, value]) => (element.dataset[key] = value));
  fill(element, children);
  return element;
}

function fill(parent: Node, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) fill(parent, child);
    else if (child instanceof Node) parent.appendChild(child);
    else if (child !== null && child !== undefined && child !== false) parent.appendChild(document.createTextNode(child));
  }
}

/** A button with a tooltip that says what it does and which key does the same. */
export function button(text: string, title: string, click: () => void, id?: string): HTMLButtonElement {
  const element = make("button", { textContent: text, title, type: "button", onclick: click });
  if (id) element.id = id;
  // A sign is no name.
  if (text && !/[\p{L}\p{N}]/u.test(text)) element.ariaLabel = title;
  return element;
}

/** Makes an element do what a button does: a click, Enter and the space bar press it. */
export function pressable<E extends HTMLElement>(element: E, press: () => void): E {
  element.tabIndex = 0;
  element.setAttribute("role", "button");
  element.onclick = press;
  element.onkeydown = (event) => {
    if (event.target !== element || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    press();
  };
  return element;
}

/** Fills an element anew. What has the focus keeps it, if there is something with the same id again. */
export function refill(element: HTMLElement, ...children: Child[]): void {
  const before = element.contains(document.activeElement) ? document.activeElement : null;
  const content = document.createDocumentFragment();
  fill(content, children);
  element.replaceChildren(content);
  const after = before?.id ? document.getElementById(before.id) : null;
  after?.focus({ preventScroll: true });
}

/** `1 state`, `1,234 states`. */
export function count(amount: number, noun: string): string {
  return `${amount.toLocaleString("en")} ${noun}${amount === 1 ? "" : "s"}`;
}

/** Offers a file to save. */
export function save(name: string, content: Blob): void {
  const link = make("a", { href: URL.createObjectURL(content), download: name });
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Asks when typing pauses for so many milliseconds, or with Enter; Escape clears. Gives how to forget what is to be asked. */
export function whileTyping(input: HTMLInputElement, pause: number, ask: () => void, clear: () => void): () => void {
  let timer: number | undefined;
  input.oninput = () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(ask, pause);
  };
  input.onkeydown = (event) => {
    if (event.key === "Enter") ask();
    if (event.key === "Escape") clear();
  };
  return () => window.clearTimeout(timer);
}
