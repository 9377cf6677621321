// Drawings from the program as elements of the page. Names in them come from the user's file: only known elements and
// attributes are copied, so nothing in a drawing can run, load or style anything.

const SVG = "http://www.w3.org/2000/svg";
const ELEMENTS = new Set(["svg", "g", "defs", "marker", "path", "circle", "ellipse", "rect", "text", "title"]);
const ATTRIBUTES = new Set(
  "class x y cx cy r rx ry width height viewBox d refX refY markerWidth markerHeight orient".split(" "),
);

/** A drawing whose ids begin with a prefix; nothing where the text is no drawing. */
export function drawingOf(text: string, prefix: string): SVGSVGElement | null {
  const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const copy = root.namespaceURI === SVG && root.localName === "svg" ? copied(root, prefix) : null;
  return copy as SVGSVGElement | null;
}

function copied(element: Element, prefix: string): Element | null {
  if (element.namespaceURI !== SVG || !ELEMENTS.has(element.localName)) return null;
  const copy = document.createElementNS(SVG, element.localName);
  for (const { name, value } of element.attributes) {
    if (name === "id") copy.id = prefix + value;
    else if (name === "marker-end") {
      const marker = /^url\(#([\w-]+)\)$/.exec(value)?.[1];
      if (marker) copy.setAttribute(name, `url(#${prefix}${marker})`);
    } else if (ATTRIBUTES.has(name)) copy.setAttribute(name, value);
  }
  for (const child of element.childNodes) {
    if (child instanceof Text) copy.append(child.data);
    else if (child instanceof Element) {
      const inside = copied(child, prefix);
      if (inside) copy.append(inside);
    }
  }
  return copy;
}
