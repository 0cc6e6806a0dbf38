// The views of the page, by the part of the address behind `#/`.

import { address, bytes, data, element, list, number, plain, request, shape, table } from "./page.js";

const views = { "": overview, records, record, responses, changes, schema, pages, verify };
let current = 0;

async function overview() {
  const store = await request("overview");
  const largest = Math.max(1, ...store.tables.map((one) => one.bytes));
  const used = store.lastPage + 1 - store.freePages;
  return [
    element("h1", {}, data(store.path)),
    list([
      ["Size", `${bytes(store.fileBytes)} (${number(store.lastPage + 1)} pages of ${number(store.pageSize)} bytes)`],
      ["In use", `${bytes(used * store.pageSize)}; ${number(store.freePages)} pages free`],
      ["Commit", `${store.sequence}, transaction ${store.lastTransaction}`],
      ["Incarnation", data(store.incarnation)],
      ["Responses", store.responses],
      ["Readers", store.readers],
      ["Read without locks", store.readWithoutLocks],
    ]),
    ...findings(store.findings),
    element("h2", {}, "Entities"),
    table(["Entity", "Records", "Parent"], store.entities.map((one) => [
      element("a", { href: address("records", { entity: one.name }) }, data(one.name)), one.records, data(one.parent ?? ""),
    ])),
    element("h2", {}, "Tables by size"),
    table(["Table", "Contents", "Entries", "Depth", "Size", ""], store.tables.toSorted((a, b) => b.bytes - a.bytes).map((one) => [
      element("span", { class: "field" }, data(one.name)), data(one.meaning), one.entries, one.depth,
      element("td", { class: "number" }, bytes(one.bytes)),
      element("td", { class: "bars" }, bar(one.bytes / largest)),
    ])),
  ];
}

function bar(share) {
  const node = element("span", { class: "bar" });
  node.style.width = (100 * share).toFixed(1) + "%";
  return node;
}

function findings(texts) {
  if (texts.length === 0) return [];
  return [element("h2", { class: "bad" }, "Findings"), element("ul", {}, texts.map((text) => element("li", {}, data(text))))];
}

async function records(parameters) {
  const entity = parameters.get("entity") ?? "", text = parameters.get("text") ?? "", reversed = parameters.get("reversed");
  const page = await request("records", { entity, text, reversed, after: parameters.get("after"), limit: 50 });
  const names = [];
  for (const one of page.records) {
    for (const field of one.fields) if (!names.includes(field.name)) names.push(field.name);
  }
  const input = element("input", { name: "text", type: "search", placeholder: "Text in any field", "aria-label": "Filter", value: text });
  const form = element("form", { role: "search" }, input, element("button", {}, "Filter"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    location.hash = address("records", { entity, reversed, text: input.value });
  });
  const rows = page.records.map((one) => [
    element("a", { href: address("record", { entity: one.entity, key: one.id }) }, data(one.key)),
    ...names.map((name) => {
      const field = one.fields.find((other) => other.name === name);
      return element("td", { class: field?.kind === "number" ? "number" : "value" }, field ? value(field, 3) : "");
    }),
  ]);
  const next = page.next && address("records", { entity, text, reversed, after: page.next });
  return [
    element("h1", {}, data(entity)),
    form,
    element("p", { class: "quiet" },
      `${number(page.records.length)} records of ${number(page.examined)} read. `,
      element("a", { href: address("records", { entity, text, reversed: reversed ? null : "yes" }) }, reversed ? "Lowest key first" : "Highest key first"),
      parameters.get("after") ? [" ", element("a", { href: address("records", { entity, text, reversed }) }, "First page")] : []),
    ...findings(page.damages),
    rows.length > 0 ? table(["Key", ...names], rows, { class: "records" }) : element("p", {}, "No record fits here."),
    next ? element("p", {}, element("a", { href: next, id: "next" }, "Next page")) : element("p", { class: "quiet" }, "These are the last records."),
  ];
}

/** The value of a field: a text, or links to the records that it refers to. */
function value(field, most) {
  if (field.targets) {
    const shown = field.targets.slice(0, most), count = field.more ?? field.targets.length;
    const links = shown.flatMap((target, index) => [index > 0 ? ", " : "", link(target)]);
    return element("span", {}, links, count > shown.length ? ` and ${number(count - shown.length)} more` : "");
  }
  if (field.kind === "null") return element("span", { class: "quiet" }, "null");
  const cut = field.cut ? element("span", { class: "quiet" }, ` … ${number(field.cut)} characters`) : null;
  return element("span", {}, data(field.text ?? ""), cut);
}

function link(target) {
  return element("a", { href: address("record", { entity: target.entity, key: target.id }) }, data(target.key));
}

async function record(parameters) {
  const entity = parameters.get("entity") ?? "";
  const found = await request("record", { entity, key: parameters.get("key") });
  const parts = [element("h1", {}, element("a", { href: address("records", { entity }) }, data(entity)), " ", data(found.key))];
  if (!found.isStored) parts.push(element("p", { class: "bad" }, "The store has no such record."));
  if (found.damage) parts.push(element("p", { class: "bad" }, data(found.damage)));
  if (found.isChangedLocally) parts.push(element("p", {}, "It has local changes that the server does not have."));
  parts.push(list(found.fields.map((field) => [element("span", { class: "field" }, data(field.name)), value(field, 200)])));
  if (found.missingIndexEntries.length > 0) {
    parts.push(...findings(found.missingIndexEntries.map((name) => `index ${name} lacks the record`)));
  }
  parts.push(element("h2", {}, "References"), graph(found));
  for (const one of found.referrers) {
    parts.push(element("h2", {}, data(one.relationship), ` (${number(one.count)})`));
    parts.push(element("p", {}, one.records.flatMap((target, index) => [index > 0 ? ", " : "", link(target)]),
      one.count > one.records.length ? ` and ${number(one.count - one.records.length)} more` : ""));
  }
  if (found.listings.length > 0) {
    parts.push(element("h2", {}, "Responses that list it"));
    parts.push(table(["Request", "Validated", "Position"], found.listings.map((one) => [data(one.request), one.validatedAt ?? "", one.index ?? ""])));
  }
  if (found.changes.length > 0) {
    parts.push(element("h2", {}, "Last changes"));
    parts.push(table(["Commit", "Operation", "Fields"], found.changes.map((one) => [one.sequence, one.operation, data(one.fields.join(", "))])));
  }
  if (found.row) {
    const row = found.row;
    parts.push(element("h2", {}, "Row"), list([
      ["Version", row.version], ["Stored", bytes(row.storedSize)], ["Without compression", row.wholeSize ? bytes(row.wholeSize) : null],
      ["Compression", row.compression], ["Checksum", row.checksum + (row.isChecksumRight ? ", right" : ", WRONG")],
      ["Partial", row.isPartial ? "yes" : "no"],
    ]));
  }
  return parts;
}

/** The record in the middle, what refers to it at the left, and what it refers to at the right. */
function graph(found) {
  const most = 12;
  const sides = [
    found.referrers.flatMap((one) => one.records.map((target) => ({ target, label: one.relationship }))),
    found.fields.flatMap((field) => (field.targets ?? []).map((target) => ({ target, label: field.name }))),
  ];
  const rows = Math.max(1, ...sides.map((side) => Math.min(side.length, most))), height = 34 * rows + 20, middle = height / 2;
  if (sides[0].length + sides[1].length === 0) return element("p", { class: "quiet" }, "It refers to no record, and none refers to it.");
  const drawing = shape("svg", { viewBox: `0 0 900 ${height}`, width: 900, height, role: "img", "aria-label": "References of the record" });
  sides.forEach((side, position) => {
    const shown = side.slice(0, most), gap = height / (shown.length + 1);
    shown.forEach(({ target, label }, index) => {
      const y = gap * (index + 1), x = position === 0 ? 240 : 660, from = position === 0 ? 345 : 555;
      drawing.append(shape("path", { class: "edge", d: `M${from} ${middle} C${(from + x) / 2} ${middle} ${(from + x) / 2} ${y} ${x} ${y}` }));
      const anchor = position === 0 ? "end" : "start", offset = position === 0 ? -6 : 6;
      const text = shape("text", { x: x + offset, y: y + 1, "text-anchor": anchor }, plain(`${target.entity} ${target.key}`, 30));
      drawing.append(shape("a", { href: address("record", { entity: target.entity, key: target.id }) }, text));
      drawing.append(shape("text", { class: "label", x: x + offset, y: y + 14, "text-anchor": anchor }, plain(label, 36)));
    });
    if (side.length > most) {
      drawing.append(shape("text", { class: "label", x: position === 0 ? 10 : 890, y: height - 4, "text-anchor": position === 0 ? "start" : "end" },
        `${number(side.length - most)} more below`));
    }
  });
  drawing.append(shape("rect", { class: "box", x: 345, y: middle - 16, width: 210, height: 32, rx: 5 }));
  drawing.append(shape("text", { x: 450, y: middle + 5, "text-anchor": "middle" }, plain(`${found.entity} ${found.key}`, 28)));
  return drawing;
}

async function schema() {
  const { entities } = await request("schema");
  const width = 230, line = 18, columns = Math.max(1, Math.min(4, Math.ceil(Math.sqrt(entities.length))));
  const bottoms = Array(columns).fill(10), boxes = new Map();
  for (const entity of entities) {
    const column = bottoms.indexOf(Math.min(...bottoms)), height = line * (Math.min(entity.fields.length, 30) + 2);
    boxes.set(entity.name, { entity, x: 10 + column * (width + 70), y: bottoms[column], height });
    bottoms[column] += height + 40;
  }
  const drawing = shape("svg", {
    viewBox: `0 0 ${columns * (width + 70)} ${Math.max(...bottoms)}`, width: columns * (width + 70), height: Math.max(...bottoms), role: "img",
    "aria-label": "Entities and relationships",
  });
  for (const { entity, x, y } of boxes.values()) {
    entity.fields.slice(0, 30).forEach((field, index) => {
      const other = boxes.get(field.target);
      if (!other) return;
      const startY = y + line * (index + 2) - 4, endY = other.y + 12;
      const right = other.x > x, startX = right ? x + width : x, endX = right ? other.x : other.x + (other.x === x ? 0 : width);
      const bend = right ? 35 : -35;
      drawing.append(shape("path", {
        class: "edge", d: `M${startX} ${startY} C${startX + bend} ${startY} ${endX - (other.x === x ? 35 : bend)} ${endY} ${endX} ${endY}`,
      }));
    });
  }
  for (const { entity, x, y, height } of boxes.values()) {
    drawing.append(shape("rect", { class: "box", x, y, width, height, rx: 5 }));
    drawing.append(shape("a", { href: address("records", { entity: entity.name }) },
      shape("text", { x: x + 10, y: y + 18 }, plain(entity.name + (entity.parent ? `: ${entity.parent}` : ""), 28))));
    entity.fields.slice(0, 30).forEach((field, index) => {
      const target = field.target ? (field.isToMany ? `[${field.target}]` : field.target) : field.type + (field.isOptional ? "?" : "");
      const mark = field.isKey ? "● " : field.isIndexed && !field.target ? "◦ " : "";
      drawing.append(shape("text", { class: "label", x: x + 10, y: y + line * (index + 2) }, mark + plain(`${field.name}: ${target}`, 34)));
    });
    if (entity.fields.length > 30) {
      drawing.append(shape("text", { class: "label", x: x + 10, y: y + height - 4 }, `and ${entity.fields.length - 30} more`));
    }
  }
  return [element("h1", {}, "Schema"), element("p", { class: "quiet" }, "● key ◦ index"), element("div", { class: "scroll" }, drawing)];
}

async function responses(parameters) {
  const page = await request("responses", { after: parameters.get("after") });
  const next = page.next && address("responses", { after: page.next });
  return [
    element("h1", {}, "Stored responses"),
    ...findings(page.damages),
    page.responses.length === 0 ? element("p", {}, "The store has no response here.") :
      table(["Request", "Status", "Freshness now", "Age", "Lifetime", "Validators", "Records", "Size", "Of"], page.responses.map((one) => [
        element("td", { class: "value" }, one.method + " ", data(one.url)), one.status,
        element("span", { class: one.isFresh ? "good" : "quiet" }, one.state), one.age, one.lifetime,
        element("td", { class: "value field" }, data(one.validators.join(", "))), one.records ?? "", bytes(one.bytes), one.isMirrors ? "mirror" : "cache",
      ])),
    next ? element("p", {}, element("a", { href: next, id: "next" }, "Next page")) : null,
  ];
}

async function changes(parameters, isCurrent) {
  const box = element("div");
  const wanted = parameters.get("since");
  let shown = "";
  async function show() {
    const log = await request("changes", { since: wanted });
    if (!isCurrent()) return;
    // A live view is drawn again only if a commit came.
    if (log.newest + log.trimmed !== shown) {
      shown = log.newest + log.trimmed;
      const since = BigInt(log.since), older = since > 20n ? since - 20n : 0n;
      const last = log.changes.at(-1)?.sequence;
      box.replaceChildren(
        element("p", { class: "quiet" }, `Commits after ${log.since}, the newest is ${log.newest}. `,
          since > 0n ? element("a", { href: address("changes", { since: older.toString() || "0" }) }, "Older") : "",
          wanted === null ? "" : [" ", element("a", { href: address("changes") }, "Newest, live")]),
        ...(BigInt(log.trimmed) > since ? [element("p", {}, `The log begins after commit ${log.trimmed}: older changes were trimmed.`)] : []),
        ...findings(log.damages),
        log.changes.length === 0 ? element("p", {}, "These commits changed no record.") :
          table(["Commit", "Operation", "Entity", "Record", "Fields"], log.changes.map((one) => [
            one.sequence, one.operation, data(one.entity), link(one), element("td", { class: "value" }, data((one.fields ?? []).join(", "))),
          ])),
        log.hasMore ? element("p", {}, "There are more. ", element("a", { id: "next", href: address("changes", { since: (BigInt(last) - 1n).toString() }) }, "From the last commit shown")) : "");
    }
    if (wanted === null) setTimeout(() => isCurrent() && show(), 1000);
  }
  await show();
  return [element("h1", {}, "Changes"), box];
}

async function pages(parameters, isCurrent) {
  const box = element("div");
  const button = element("button", {}, "Read all pages");
  async function show(start) {
    const state = await request("pages", { start: start ? "yes" : null });
    if (!isCurrent()) return;
    button.disabled = state.phase === "running";
    if (state.phase === "running") {
      box.replaceChildren(element("progress", { max: Math.max(1, state.total), value: Math.min(state.pages, state.total) }));
      setTimeout(() => isCurrent() && show(false), 250);
    } else if (state.phase === "failed") {
      box.replaceChildren(element("p", { class: "bad" }, data(state.failure)));
    } else if (state.phase === "done") {
      const colours = new Map(state.tables.slice(0, 8).map((one, index) => [one.name, index]));
      box.replaceChildren(
        element("p", {}, `${number(state.total)} pages of ${number(state.pageSize)} bytes; ${number(state.freePages)} free, ${number(state.reusablePages)} of them reusable now. `
          + `A square of the map is ${number(state.pagesPerCell)} ${state.pagesPerCell === 1 ? "page" : "pages"}.`),
        ...findings(state.findings),
        map(state, colours),
        table(["", "Table", "Contents", "Pages", "Fill", "Fragmentation"], state.tables.map((one) => [
          colours.has(one.name) ? element("span", { class: "key owner" + colours.get(one.name) }) : "",
          element("span", { class: "field" }, data(one.name)), data(one.meaning), one.pages,
          element("td", { class: "number" }, (100 * one.fill).toFixed(0) + " %"), element("td", { class: "number" }, (100 * one.fragmentation).toFixed(0) + " %"),
        ])));
    }
  }
  button.addEventListener("click", () => show(true));
  await show(parameters.get("start") !== null);
  return [element("h1", {}, "Pages"), element("p", {}, "Which table has which part of the file. This reads every page."), button, box];
}

function map(state, colours) {
  const columns = 80, side = 11, rows = Math.ceil(state.map.length / columns);
  const drawing = shape("svg", { viewBox: `0 0 ${columns * side} ${rows * side}`, width: columns * side, height: rows * side, role: "img", "aria-label": "Page map" });
  state.map.forEach((owner, index) => {
    const kind = owner === "(pages)" ? "free" : owner === null ? "nobody" : colours.has(owner) ? "owner" + colours.get(owner) : "other";
    const cell = shape("rect", { class: kind, x: (index % columns) * side, y: Math.floor(index / columns) * side, width: side - 1, height: side - 1 });
    cell.append(shape("title", {}, owner === "(pages)" ? "free" : owner === null ? "of nobody" : plain(owner)));
    drawing.append(cell);
  });
  return element("div", { class: "scroll" }, drawing,
    element("p", { class: "quiet" }, element("span", { class: "key free" }), " free ", element("span", { class: "key other" }), " smaller tables ",
      element("span", { class: "key nobody" }), " of nobody"));
}

async function verify(parameters, isCurrent) {
  const box = element("div");
  const button = element("button", {}, "Check the whole store");
  async function show(start) {
    const state = await request("verify", { start: start ? "yes" : null });
    if (!isCurrent()) return;
    button.disabled = state.phase === "running";
    const parts = [];
    if (state.phase === "running") {
      parts.push(element("progress", { max: Math.max(1, state.total), value: Math.min(state.pages, state.total) }));
      parts.push(element("p", {}, `${number(state.pages)} of ${number(state.total)} pages`));
      setTimeout(() => isCurrent() && show(false), 250);
    } else if (state.phase === "done") {
      parts.push(element("p", { class: state.isSound ? "good" : "bad", id: "result" },
        (state.isSound ? "The store is sound" : `${number(state.findingCount)} findings`) + `; ${state.seconds.toFixed(1)} s`));
      parts.push(...findings(state.findings));
      parts.push(table(["Entity", "Records"], Object.entries(state.records).map(([name, count]) => [data(name), count])));
    } else if (state.phase === "failed") {
      parts.push(element("p", { class: "bad" }, data(state.failure)));
    }
    box.replaceChildren(...parts);
  }
  button.addEventListener("click", () => show(true));
  await show(false);
  return [element("h1", {}, "Verify"), element("p", {}, "Reads every page, row, index entry and counter. It changes nothing."), button, box];
}

async function show() {
  const run = (current += 1);
  const [name, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const view = document.getElementById("view");
  for (const one of document.querySelectorAll("nav a")) {
    one.toggleAttribute("aria-current", one.getAttribute("href") === "#/" + name);
  }
  let parts;
  try {
    const function_ = Object.hasOwn(views, name) ? views[name] : overview;
    parts = await function_(new URLSearchParams(query ?? ""), () => run === current);
  } catch (failure) {
    parts = [element("h1", { class: "bad" }, "This view failed"), element("p", {}, data(failure.message))];
  }
  // Another view was opened meanwhile.
  if (run !== current) return;
  view.replaceChildren(...parts);
  view.dataset.view = name || "overview";
  view.focus({ preventScroll: true });
  scrollTo(0, 0);
}

function move(step) {
  const rows = [...document.querySelectorAll("main tbody tr")];
  const index = rows.findIndex((row) => row.classList.contains("current"));
  rows[index]?.classList.remove("current");
  const next = rows[Math.max(0, Math.min(rows.length - 1, index + step))];
  next?.classList.add("current");
  next?.scrollIntoView({ block: "nearest" });
}

const keys = {
  o: () => (location.hash = "#/"),
  s: () => (location.hash = "#/schema"),
  v: () => (location.hash = "#/verify"),
  r: () => (location.hash = "#/responses"),
  c: () => (location.hash = "#/changes"),
  p: () => (location.hash = "#/pages"),
  j: () => move(1),
  k: () => move(-1),
  n: () => document.getElementById("next")?.click(),
  Enter: () => document.querySelector("main tr.current a")?.click(),
  "/": () => document.querySelector("main input[type=search]")?.focus(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|BUTTON|A)$/.test(event.target.nodeName)) return;
  const action = Object.hasOwn(keys, event.key) ? keys[event.key] : null;
  if (!action) return;
  event.preventDefault();
  action();
});
addEventListener("hashchange", show);
show();
