// Diagrams: elements in the layout of the page, and lines between them.

import { address, data, element, number, shape } from "./elements.js";

/**
 * Draws lines between elements of a box, and again when its size changes.
 *
 * A line has the elements `from` and `to`, and names; lines of a name can be emphasized.
 */
export function connect(box, lines) {
  const drawing = shape("svg", { class: "lines", "aria-hidden": "true" });
  box.prepend(drawing);
  const paths = lines.map((line) => {
    const path = shape("path", { class: "line" });
    drawing.append(path);
    return { ...line, path };
  });
  function draw() {
    const frame = box.getBoundingClientRect();
    drawing.setAttribute("width", frame.width);
    drawing.setAttribute("height", frame.height);
    for (const { from, to, path } of paths) path.setAttribute("d", curve(from, to, frame));
  }
  new ResizeObserver(draw).observe(box);
  return (name) => {
    for (const { names, path } of paths) {
      path.classList.toggle("strong", name !== null && names.includes(name));
      path.classList.toggle("weak", name !== null && !names.includes(name));
    }
  };
}

/** A curve between the sides of two elements that face each other; of two in one column, a bracket at their left. */
function curve(from, to, frame) {
  const a = from.getBoundingClientRect(), b = to.getBoundingClientRect();
  const startY = (a.top + a.bottom) / 2 - frame.top, endY = (b.top + b.bottom) / 2 - frame.top;
  let startX = a.left - frame.left, endX = b.left - frame.left;
  if (a.right <= b.left) startX = a.right - frame.left;
  else if (b.right <= a.left) endX = b.right - frame.left;
  else {
    const x = Math.min(startX, endX) - 12, turn = endY > startY ? 5 : -5;
    return path("M", startX, startY, "H", x + 5, "Q", x, startY, x, startY + turn, "V", endY - turn, "Q", x, endY, x + 5, endY, "H", endX);
  }
  const middle = (startX + endX) / 2;
  return path("M", startX, startY, "C", middle, startY, middle, endY, endX, endY);
}

function path(...parts) {
  return parts.map((part) => (typeof part === "number" ? part.toFixed(1) : part)).join(" ");
}

/** The most records of a relationship in a graph. */
const most = 5;

/** The record in the middle, the records that refer to it before it, and those it refers to after it. */
export function recordGraph(found) {
  const lines = [], middle = element("div", { class: "node self" }, element("small", {}, data(found.entity)), data(found.key));
  function group(label, targets, count, isWhole) {
    const nodes = targets.slice(0, most).map((target) => {
      const node = element("a", { class: "node", href: address("record", { entity: target.entity, key: target.id }) },
        element("small", {}, data(target.entity)), data(target.key),
        target.state ? [" ", element("small", { class: "bad" }, target.state)] : null);
      lines.push({ from: middle, to: node, names: [] });
      return node;
    });
    const more = count > nodes.length ? element("p", { class: "quiet" }, `${number(count - nodes.length)}${isWhole ? "" : " or"} more`) : null;
    return element("div", { class: "group" }, element("h3", {}, data(label)), nodes, more);
  }
  const before = found.referrers.map((one) => group(one.relationship, one.records, one.count, one.isCountWhole));
  const after = found.fields.filter((field) => (field.targets?.length ?? 0) > 0).map((field) =>
    group(field.name, field.targets, field.more ?? field.targets.length, true));
  // An unreadable row may refer to any records.
  const isUnknown = found.isUnreadable || (found.isStored && found.fields.length === 0);
  if (lines.length === 0) {
    return element("p", { class: "quiet" }, isUnknown ? "The records that it refers to are unreadable, and none is known to refer to it." : "It refers to no record, and none refers to it.");
  }
  const graph = element("div", { class: "graph", role: "group", "aria-label": "References of the record" },
    element("div", { class: "side" }, element("h2", {}, "Referred to by"), before.length > 0 ? before : element("p", { class: "quiet" }, "no record")),
    element("div", { class: "side self-side" }, middle),
    element("div", { class: "side" }, element("h2", {}, "Refers to"), after.length > 0 ? after : element("p", { class: "quiet" }, isUnknown ? "unreadable" : "no record")));
  connect(graph, lines);
  return graph;
}
