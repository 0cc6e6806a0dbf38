// The view of an entity's records: filter, order and pages.

import { address, data, element, findings, link, number, request, table, value } from "./elements.js";

/** The most records of a page, and the most damages that are listed. */
const most = 50, listed = 200;

export async function records(parameters, isCurrent) {
  const { entities } = await request("schema");
  const names = entities.map((one) => one.name);
  const entity = parameters.get("entity") ?? names[0] ?? "";
  const wanted = { entity };
  for (const name of ["text", "where", "order", "reversed"]) wanted[name] = parameters.get(name);
  const found = { records: [], damages: new Set(), moreDamages: 0, examined: 0, sortable: [], next: parameters.get("after") };
  const box = element("div");
  const isFiltered = Boolean(wanted.text || wanted.where);

  async function read() {
    const page = await request("records", { ...wanted, after: found.next, limit: most - found.records.length });
    found.records.push(...page.records);
    // Each answer names the faults of the file again.
    for (const damage of page.damages) found.damages.add(damage);
    found.moreDamages += page.moreDamages;
    found.examined += page.examined;
    Object.assign(found, { next: page.next, sortable: page.sortable, keyField: page.keyField });
  }
  const hasMore = () => found.next && found.records.length < most;
  const draw = () => box.replaceChildren(...list(found, wanted, parameters.get("after"), hasMore()));
  // An answer reads a limited number of rows: a filter that few records meet needs several, and so
  // do damaged rows, and an entity with few of the rows that its root has.
  async function readOn() {
    while (hasMore() && isCurrent()) {
      await read();
      if (isCurrent()) draw();
    }
  }
  try {
    await read();
    draw();
    setTimeout(() => readOn().catch((failure) => box.append(element("p", { class: "bad" }, data(failure.message)))));
  } catch (failure) {
    if (!isFiltered) throw failure;
    box.replaceChildren(element("p", { class: "bad", id: "refused" }, data(failure.message)));
  }
  return [element("h1", {}, data(entity)), form(names, wanted), box];
}

function form(names, wanted) {
  const choice = element("select", { name: "entity", "aria-label": "Entity", title: "By keyboard: Enter opens the entity" },
    names.map((name) => element("option", { value: name, selected: name === wanted.entity }, data(name).textContent)));
  const text = element("input", { name: "text", type: "search", placeholder: "Text in any field", "aria-label": "Text in any field", value: wanted.text ?? "" });
  const condition = element("input", {
    name: "where", type: "search", placeholder: "Condition: state = open and …", "aria-label": "Condition", value: wanted.where ?? "", spellcheck: "false",
  });
  const form = element("form", { role: "search" }, choice, text, condition, element("button", {}, "Filter"));
  // An arrow key changes the choice at once: with the keyboard, Enter ends it.
  let isKeyed = false;
  const open = () => (location.hash = address("records", { entity: choice.value }));
  choice.addEventListener("pointerdown", () => (isKeyed = false));
  choice.addEventListener("keydown", (event) => {
    isKeyed = event.key !== "Enter";
    if (event.key === "Enter" && choice.value !== wanted.entity) open();
  });
  choice.addEventListener("change", () => isKeyed || open());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const kept = choice.value === wanted.entity ? wanted : { entity: choice.value };
    location.hash = address("records", { ...kept, text: text.value, where: condition.value });
  });
  return form;
}

function list(found, wanted, after, isReading) {
  const names = [];
  for (const one of found.records) {
    // An attribute that is the whole key has no column of its own.
    for (const field of one.fields) {
      const isKey = field.name === found.keyField && field.text === one.key;
      if (!isKey && !names.includes(field.name)) names.push(field.name);
    }
  }
  // The column that gives the order is the first one.
  if (names.includes(wanted.order)) names.unshift(...names.splice(names.indexOf(wanted.order), 1));
  // Records without a value come first: the column stays, for the order to be seen and reversed.
  else if (found.sortable.includes(wanted.order) && wanted.order !== found.keyField) names.unshift(wanted.order);
  const rows = found.records.map((one) => [
    element("td", { class: "first" }, link({ entity: one.entity, key: one.key, id: one.id }),
      one.isPartial ? element("span", { class: "tag" }, "partial") : "",
      one.entity === wanted.entity ? "" : element("span", { class: "quiet" }, " ", data(one.entity))),
    ...names.map((name) => {
      const field = one.fields.find((other) => other.name === name);
      return element("td", { class: field?.kind === "number" ? "number" : "value" }, field ? value(field, 3) : "");
    }),
  ]);
  const count = `${number(found.records.length)} ${found.records.length === 1 ? "record" : "records"} of ${number(found.examined)} read`;
  const next = found.next && !isReading && address("records", { ...wanted, after: found.next });
  return [
    element("p", { class: "quiet" }, count, isReading ? ", reading on …" : ".",
      after ? [" ", element("a", { href: address("records", wanted) }, "First page")] : ""),
    ...findings([...found.damages].slice(0, listed), found.moreDamages + Math.max(0, found.damages.size - listed)),
    rows.length > 0 ? table([order("Key", null, wanted), ...names.map((name) => order(name, name, wanted, found.sortable))], rows, { class: "records" })
      : element("p", {}, isReading ? "" : "No record fits here."),
    next ? element("p", { class: "pager" }, element("a", { href: next, id: "next", class: "button" }, "Next page"))
      : isReading ? "" : element("p", { class: "quiet" }, "These are the last records."),
  ];
}

/** The head of a column: a link that sorts by it if an index does. A second click reverses the order. */
function order(label, name, wanted, sortable = null) {
  if (sortable && !sortable.includes(name)) return data(label);
  const isCurrent = (wanted.order ?? null) === name;
  const reversed = isCurrent && !wanted.reversed ? "yes" : null;
  return element("a", {
    href: address("records", { ...wanted, order: name, reversed }), class: "order",
    "aria-label": `Sort by ${label}`, "data-order": isCurrent ? (wanted.reversed ? "down" : "up") : null,
  }, data(label));
}
