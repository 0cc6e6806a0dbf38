// The view of a whole store: sizes by entity, the map of its pages, and its tables.

import { address, bar, bytes, data, element, findings, number, request, table } from "./elements.js";
import { pageMap } from "./pages.js";

export async function overview(parameters, isCurrent) {
  const store = await request("overview");
  const used = store.lastPage + 1 - store.freePages;
  const records = store.entities.filter((one) => one.parent === undefined).reduce((sum, one) => sum + one.records, 0);
  const ofEntities = new Set(store.tables.filter((one) => /^[ri]\//.test(one.name)));
  const others = store.tables.filter((one) => !ofEntities.has(one) && one.entries > 0).toSorted((a, b) => b.bytes - a.bytes);
  return [
    element("h1", {}, data(name(store.path))),
    element("p", { class: "quiet path" }, data(store.path)),
    element("div", { class: "cards" },
      card("Records", number(records), `${number(store.entities.length)} ${store.entities.length === 1 ? "entity" : "entities"}`),
      card("Size", bytes(store.fileBytes), `${bytes(used * store.pageSize)} in use`),
      unsent(store),
      card("Responses", number(store.responses), "stored"),
      card("Commit", number(BigInt(store.sequence)), `transaction ${number(store.lastTransaction)}`),
      card("Readers", store.readers === undefined ? "–" : number(store.readers), store.readWithoutLocks ? "read without locks" : "this page included")),
    store.readWithoutLocks ? element("p", { class: "quiet" }, "Read without locks: ", data(store.readWithoutLocks)) : null,
    ...findings(store.findings),
    store.entities.length > 0 ? [element("h2", {}, "Size by entity"), entitySizes(store.entities)] : null,
    element("h2", {}, "Page map"),
    pageMap(store, isCurrent),
    element("h2", {}, store.entities.length > 0 ? "Other tables" : "Tables"),
    tableSizes(store.entities.length > 0 ? others : store.tables),
    element("p", { class: "quiet" }, "Incarnation ", data(store.incarnation || "unknown")),
  ];
}

/** The numbers of the outbox; nothing for a file without one. */
function unsent(store) {
  if (!store.hasOutbox) return null;
  const counts = store.outbox;
  const parts = counts ? [[counts.failed, "failed"], [counts.dead, "dead"]].filter(([count]) => count > 0) : [];
  const detail = !counts ? "the outbox is unreadable" : parts.map(([count, text]) => `${number(count)} ${text}`).join(", ") || "operations";
  return element("a", { class: "card", href: address("outbox") },
    element("span", { class: "label" }, "Unsent"), element("strong", {}, counts ? number(counts.total) : "unknown"), element("small", {}, detail));
}

export function name(path) {
  return path.replace(/\/(data\.mdb)?$/, "").split("/").at(-1) || path;
}

function card(label, text, detail) {
  return element("div", { class: "card" }, element("span", { class: "label" }, label), element("strong", {}, text), element("small", {}, detail));
}

function entitySizes(entities) {
  const size = (one) => (one.rows ?? 0) + one.indexes;
  const largest = Math.max(1, ...entities.map(size));
  return [
    element("p", { class: "legend" }, element("span", {}, element("span", { class: "key rows" }), "rows"),
      element("span", {}, element("span", { class: "key indexes" }), "indexes")),
    table(["Entity", "Records", "Size", ""], entities.toSorted((a, b) => size(b) - size(a)).map((one) => [
      [element("a", { href: address("records", { entity: one.name }) }, data(one.name)),
        one.parent === undefined ? "" : element("span", { class: "quiet" }, " of ", data(one.parent))],
      one.records, element("td", { class: "number" }, bytes(size(one))),
      element("td", { class: "bars" }, bar([(one.rows ?? 0) / largest, "rows"], [one.indexes / largest, "indexes"])),
    ])),
  ];
}

function tableSizes(tables) {
  const largest = Math.max(1, ...tables.map((one) => one.bytes));
  return table(["Table", "Entries", "Size", ""], tables.map((one) => [
    [element("span", { class: "field" }, data(one.name)), one.meaning === one.name ? "" : [" ", data(one.meaning)]],
    one.entries, element("td", { class: "number" }, bytes(one.bytes)),
    element("td", { class: "bars" }, bar([one.bytes / largest, "rows"])),
  ]));
}
