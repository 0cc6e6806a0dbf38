// The view of the schema: a diagram of the entities and their relationships.

import { address, data, element, request } from "./elements.js";
import { connect } from "./graph.js";

/** The most fields of an entity that the diagram shows at first. */
const most = 24;

export async function schema() {
  const { entities } = await request("schema");
  const heads = new Map(), lines = [];
  const cards = entities.map((entity) => {
    const head = element("h2", {}, element("a", { href: address("records", { entity: entity.name }) }, data(entity.name)),
      entity.parent ? element("span", { class: "quiet" }, " : ", data(entity.parent)) : "");
    heads.set(entity.name, head);
    return { entity, card: element("article", { class: "entity" }, head) };
  });
  for (const { entity, card } of cards) {
    const rows = entity.fields.map((field) => fieldRow(field));
    const rest = rows.splice(most);
    card.append(element("ul", {}, rows.map((one) => one)));
    if (rest.length > 0) card.append(element("details", {}, element("summary", {}, `${rest.length} more`), element("ul", {}, rest)));
    if (entity.indexes.length > 0) card.append(element("p", { class: "quiet" }, "Indexes: ", data(entity.indexes.join(", "))));
    entity.fields.forEach((field, index) => {
      const to = heads.get(field.target);
      if (to && rows[index] && field.target !== entity.name) lines.push({ from: rows[index], to, names: [entity.name, field.target] });
    });
    if (heads.has(entity.parent)) lines.push({ from: heads.get(entity.name), to: heads.get(entity.parent), names: [entity.name, entity.parent] });
  }
  const diagram = element("div", { class: "diagram", role: "group", "aria-label": "Entities and relationships" },
    element("div", { class: "entities" }, cards.map((one) => one.card)));
  const emphasize = connect(diagram, lines);
  for (const { entity, card } of cards) {
    for (const event of ["pointerenter", "focusin"]) card.addEventListener(event, () => emphasize(entity.name));
    for (const event of ["pointerleave", "focusout"]) card.addEventListener(event, () => emphasize(null));
  }
  return [
    element("h1", {}, "Schema"),
    element("p", { class: "quiet legend" }, mark("key"), "key", mark("index"), "index", mark("one"), "to-one", mark("many"), "to-many"),
    diagram,
  ];
}

function mark(kind) {
  return element("span", { class: "mark " + kind });
}

function fieldRow(field) {
  const kind = field.target ? (field.isToMany ? "many" : "one") : field.isKey ? "key" : field.isIndexed ? "index" : "none";
  const type = field.target
    ? element("a", { href: address("records", { entity: field.target }) }, data(field.isToMany ? `[${field.target}]` : field.target))
    : data(field.type + (field.isOptional ? "?" : ""));
  return element("li", { title: field.inverse ? `inverse: ${field.inverse}` : null },
    mark(kind), element("span", { class: "field" }, data(field.name)), element("span", { class: "type" }, type));
}
