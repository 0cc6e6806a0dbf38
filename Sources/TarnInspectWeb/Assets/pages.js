// The map of a file's pages, and the use of pages by table.

import { bytes, data, element, findings, isOf, number, plain, request, shape, table } from "./elements.js";

/** The largest file, in bytes, whose pages the overview reads without being asked. */
const unasked = 512 * 1024 * 1024;
/** The number of tables that have a color of their own. */
const colors = 8;

export async function pages(parameters, isCurrent) {
  const store = await request("overview");
  return [
    element("h1", {}, "Pages"),
    element("p", { class: "quiet" }, "The part of the file that each table has. Reads every page."),
    pageMap(store, isCurrent, true),
  ];
}

/** The map of a store, which is read in the background; with the tables if `isWhole`. */
export function pageMap(store, isCurrent, isWhole = false) {
  const box = element("div", { class: "page-map" });
  const button = element("button", {}, "Read all pages");
  // A view reads the pages on its own once: each commit makes the map old again.
  let mayStart = store.fileBytes <= unasked;
  button.addEventListener("click", () => show(true).catch(failed));
  const later = () => setTimeout(() => isCurrent() && show(false).catch(failed), 200);
  function failed(failure) {
    box.replaceChildren(element("p", { class: "bad" }, data(failure.message)));
  }
  async function show(start) {
    const state = await request("pages", { start: start ? "yes" : null });
    const isOld = state.phase === "done" && !isOf(await request("overview"), state);
    if (!isCurrent()) return;
    const starts = !start && mayStart && (state.phase === "idle" || isOld);
    if (start || starts || state.phase === "running") mayStart = false;
    if (starts) return show(true);
    if (state.phase === "running") {
      box.replaceChildren(element("progress", { max: Math.max(1, state.total), value: Math.min(state.pages, state.total), "aria-label": "Pages read" }));
      later();
    } else if (state.phase === "failed") {
      box.replaceChildren(element("p", { class: "bad" }, data(state.failure)), button);
    } else if (state.phase === "done") {
      box.replaceChildren(...(isOld ? [element("p", {}, "The store has changed since. ", button)] : []), ...mapParts(state, isWhole));
    } else {
      box.replaceChildren(element("p", {}, `The file has ${bytes(store.fileBytes)}. `, button));
    }
  }
  setTimeout(() => isCurrent() && show(false).catch(failed));
  return box;
}

function mapParts(state, isWhole) {
  const owners = new Map(state.tables.slice(0, colors).map((one, index) => [one.name, "owner" + index]));
  const pieces = state.pagesPerCell === 1 ? "A square is a page" : `A square is ${number(state.pagesPerCell)} pages, in the color of most`;
  return [
    ...findings(state.findings, state.findingCount - state.findings.length),
    drawing(state, owners),
    element("p", { class: "quiet" }, `${number(state.total)} pages of ${number(state.pageSize)} bytes; ${number(state.freePages)} free. ${pieces}.`),
    ...(isWhole ? uses(state, owners) : [legend(state, owners)]),
  ];
}

function drawing(state, owners) {
  const columns = innerWidth < 700 ? 50 : 100, side = 10, rows = Math.ceil(state.map.length / columns);
  const map = shape("svg", {
    class: "map", viewBox: `0 0 ${columns * side} ${rows * side}`, role: "img", "aria-label": "Page map",
  });
  state.map.forEach((owner, index) => {
    const kind = owner === "(pages)" ? "free" : owner === undefined || owner === null ? "nobody" : owners.get(owner) ?? "other";
    const cell = shape("rect", { class: kind, x: (index % columns) * side, y: Math.floor(index / columns) * side, width: side - 1.5, height: side - 1.5, rx: 1.5 });
    cell.append(shape("title", {}, kind === "free" ? "free" : kind === "nobody" ? "of no table" : plain(owner)));
    map.append(cell);
  });
  return map;
}

function legend(state, owners) {
  const named = state.tables.filter((one) => owners.has(one.name)).map((one) =>
    element("span", {}, element("span", { class: "key " + owners.get(one.name) }), data(one.meaning)));
  return element("p", { class: "legend" }, named, element("span", {}, element("span", { class: "key other" }), "smaller tables"),
    element("span", {}, element("span", { class: "key free" }), "free"));
}

function uses(state, owners) {
  return [
    legend({ tables: [] }, owners),
    table(["Table", "Contents", "Pages", "Fill", "Fragmentation"], state.tables.map((one) => [
      element("td", { class: "nowrap" }, element("span", { class: "key " + (owners.get(one.name) ?? "other") }), element("span", { class: "field" }, data(one.name))),
      data(one.meaning === one.name ? "" : one.meaning), one.pages,
      element("td", { class: "number" }, (100 * one.fill).toFixed(0) + " %"),
      element("td", { class: "number" }, (100 * one.fragmentation).toFixed(0) + " %"),
    ])),
  ];
}
