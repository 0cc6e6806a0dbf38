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

// Characters that a terminal or a browser would obey or hide: controls, marks of direction, spaces without width, soft
// hyphens, and marks of annotations.
const hidden = /\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

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

/** The same as a plain text, for titles of drawings. */
export function plain(text) {
  return text.replace(hidden, (character) => "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0"));
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

/** Creates a table. A head is a text or a node; a cell is a text, a node, a cell of its own, or a number. */
export function table(heads, rows, options = {}) {
  const cell = (value) =>
    value instanceof Node && value.nodeName === "TD"
      ? value
      : element("td", { class: typeof value === "number" ? "number" : null }, typeof value === "number" ? number(value) : value);
  const isRight = (index) => typeof rows[0]?.[index] === "number" || rows[0]?.[index]?.className === "number";
  const head = element("tr", {}, heads.map((one, index) =>
    element("th", { class: isRight(index) ? "number" : null, "aria-sort": sorted(one) }, one)));
  const body = rows.map((cells) => element("tr", { tabindex: "-1" }, cells.map(cell)));
  return element("div", { class: "scroll" },
    element("table", { class: options.class ?? null }, element("thead", {}, head), element("tbody", {}, body)));
}

/** The order that a head gives to its column; null for none. */
function sorted(head) {
  const order = head.dataset?.order;
  return order ? (order === "up" ? "ascending" : "descending") : null;
}

/** Creates a list of names and values; missing values are left out. */
export function list(pairs) {
  return element("dl", {}, pairs.filter((pair) => pair[1] !== null && pair[1] !== undefined && pair[1] !== "").map(([name, value]) =>
    [element("dt", {}, name), element("dd", {}, typeof value === "number" ? number(value) : value)]));
}

/** Creates a list of damages, with the number of those that are not listed; nothing if there are none. */
export function findings(texts, more = 0) {
  const count = texts.length + more;
  if (count === 0) return [];
  return [element("section", { class: "damage" }, element("h2", {}, `${number(count)} ${count === 1 ? "finding" : "findings"}`),
    element("ul", {}, texts.map((text) => element("li", {}, data(text))),
      more > 0 ? element("li", {}, `${number(more)} ${texts.length > 0 ? "more are" : count === 1 ? "is" : "are"} not listed.`) : null))];
}

/** Creates a bar of parts, each a share from 0 to 1 with a class. */
export function bar(...parts) {
  return element("span", { class: "bar" }, parts.map(([share, kind]) => {
    const part = element("span", { class: kind });
    part.style.width = (100 * share).toFixed(2) + "%";
    return part;
  }));
}

/** Creates a link to a record. */
export function link(target) {
  return element("a", { href: address("record", { entity: target.entity, key: target.id }) }, data(target.key));
}

/** A link to a record, with a text behind it if the store is not known to have the record. */
export function reference(target) {
  const text = target.state === "missing" ? "missing" : "unreadable";
  const title = target.state === "missing" ? "The store has no such record." : "A damaged page is on the way to the record: the store may have it.";
  return target.state ? [link(target), " ", element("span", { class: "tag bad", title }, text)] : link(target);
}

/** Whether a text reads like the mark of another value, or like a text in quotes. */
function isAmbiguous(text) {
  return text === "" || text === "null" || text === "absent" || (text.length > 1 && text.startsWith('"') && text.endsWith('"'));
}

/** The value of a field: a text, or links to the records that it refers to. */
export function value(field, most) {
  if (field.targets) {
    const count = field.more ?? field.targets.length;
    return element("span", {}, links(field.targets, most, count));
  }
  if (field.kind === "null") return element("span", { class: "quiet" }, "null");
  // An empty text is not a missing value, and the text `null` is not the value null.
  if (field.kind === "text" && !field.cut && isAmbiguous(field.text)) return element("span", {}, '"', data(field.text), '"');
  if (field.kind === "json" && field.text === "null") return element("span", { class: "quiet" }, "null (JSON)");
  const cut = field.cut ? element("span", { class: "quiet" }, ` … ${number(field.cut)} characters`) : null;
  return element("span", {}, data(field.text ?? ""), cut);
}

/** Links to the first records of a list, and the number of the others. */
export function links(targets, most, count, isWhole = true) {
  const shown = targets.slice(0, most);
  const more = count > shown.length ? ` and ${number(count - shown.length)}${isWhole ? "" : " or"} more` : "";
  return [shown.flatMap((target, index) => [index > 0 ? ", " : "", reference(target)]), more];
}

function search(parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, value);
  }
  return query.size > 0 ? "?" + query.toString().replaceAll("+", "%20") : "";
}

/** Asks the server for the data of a view. */
export async function request(view, parameters = {}) {
  const response = await fetch("api/" + view + search(parameters)).catch(() => {
    throw new Error("The program does not answer. If it has ended, start tarn inspect web again, and open the address that it prints.");
  });
  if (!response.ok) throw new Error((await response.text()).trim() || "status " + response.status);
  return response.json();
}

/** Whether a result is that of a store as it is now. Another store in its place may have as many transactions. */
export function isOf(store, result) {
  return result.transaction === store.lastTransaction && result.incarnation === store.incarnation;
}

/** The address of a view in this page. */
export function address(view, parameters = {}) {
  return "#/" + view + search(parameters);
}

/** A time in seconds as a text: `3 h`. */
export function duration(seconds) {
  const units = [[86400 * 365, "years"], [86400, "d"], [3600, "h"], [60, "min"]];
  const [size, name] = units.find(([size]) => Math.abs(seconds) >= 2 * size) ?? [1, "s"];
  // Without the sign of a negative zero.
  return number(Math.round(seconds / size) || 0) + " " + name;
}
