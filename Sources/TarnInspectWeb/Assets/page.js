// Elements, texts and requests of the page. Everything from the store becomes a text node, never markup.

/** Creates an element with attributes and children; texts of the store are children. */
export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

/** Creates an element of a drawing. */
export function shape(name, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children.flat(Infinity));
  return node;
}

// Characters that a terminal or a browser would obey or hide: controls, marks of direction, and spaces without width.
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Creates a text of the store, isolated from the direction of others, with hidden characters visible. */
export function data(text) {
  const node = element("bdi");
  let end = 0;
  for (const match of text.matchAll(hidden)) {
    node.append(text.slice(end, match.index));
    node.append(element("span", { class: "escape" }, "\\u" + match[0].charCodeAt(0).toString(16).padStart(4, "0")));
    end = match.index + 1;
  }
  node.append(text.slice(end));
  return node;
}

/** The same as a plain text, for drawings. */
export function plain(text, longest = 40) {
  const shown = text.replace(hidden, (character) => "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0"));
  return shown.length > longest ? shown.slice(0, longest - 1) + "…" : shown;
}

export function number(value) {
  return value.toLocaleString("en");
}

export function bytes(value) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return (unit === 0 ? number(value) : value.toFixed(value < 10 ? 1 : 0)) + " " + units[unit];
}

/** Creates a table. A row is a list of cells: texts, nodes, or numbers. */
export function table(heads, rows, options = {}) {
  const cell = (name, value) =>
    value instanceof Node && value.nodeName === "TD"
      ? value
      : element(name, { class: typeof value === "number" ? "number" : null }, typeof value === "number" ? number(value) : value);
  const head = element("tr", {}, heads.map((text, index) =>
    element("th", { class: typeof rows[0]?.[index] === "number" ? "number" : null }, text)));
  const body = rows.map((cells) => element("tr", { tabindex: "-1" }, cells.map((value) => cell("td", value))));
  return element("div", { class: "scroll" },
    element("table", { class: options.class ?? null }, element("thead", {}, head), element("tbody", {}, body)));
}

export function list(pairs) {
  return element("dl", {}, pairs.filter((pair) => pair[1] !== null && pair[1] !== undefined && pair[1] !== "").map(([name, value]) =>
    [element("dt", {}, name), element("dd", {}, typeof value === "number" ? number(value) : value)]));
}

/** Asks the server for the data of a view. */
export async function request(view, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, value);
  }
  const response = await fetch("api/" + view + (query.size > 0 ? "?" + query.toString().replaceAll("+", "%20") : ""));
  if (!response.ok) throw new Error((await response.text()).trim() || "status " + response.status);
  return response.json();
}

/** The address of a view in this page. */
export function address(view, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, value);
  }
  return "#/" + view + (query.size > 0 ? "?" + query : "");
}
