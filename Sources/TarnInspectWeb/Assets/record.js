// The view of one record: its fields, its relationships in both directions, and what concerns it.

import { address, bytes, data, element, findings, links, list, number, request, table, value } from "./elements.js";
import { recordGraph } from "./graph.js";
import { operationTable } from "./outbox.js";

export async function record(parameters) {
  const entity = parameters.get("entity") ?? "";
  const found = await request("record", { entity, key: parameters.get("key") });
  const notes = [];
  if (found.isUnreadable) notes.push(element("p", { class: "bad" }, "A damaged page is on the way to the record: the store may have it."));
  else if (!found.isStored) notes.push(element("p", { class: "bad" }, "The store has no such record."));
  if (found.damage) notes.push(element("p", { class: "bad" }, data(found.damage)));
  if (found.isChangedLocally) notes.push(element("p", {}, localNote(found.local)));
  if (found.isMarkUnreadable) notes.push(element("p", { class: "bad" }, "Whether it has local changes is unknown: a page is damaged."));
  if (found.row?.isPartial) notes.push(element("p", {}, "It is partial: no response had all of it."));
  const missing = found.missingIndexEntries.map((name) => `index ${name} lacks the record`)
    .concat(found.unreadableIndexEntries.map((name) => `index ${name} has a damaged page on the way to the record's entry`));
  return [
    element("h1", {}, element("a", { href: address("records", { entity }) }, data(entity)), " ", data(found.key)),
    ...notes, ...findings(missing),
    recordGraph(found),
    element("div", { class: "columns" },
      element("section", {}, element("h2", {}, "Fields"),
        list(found.fields.map((field) => fieldPair(field, found.local)))),
      element("div", {}, operations(found), referrers(found), responses(found), changes(found), row(found.row))),
  ];
}

/** The local change of the record as a whole. */
function localNote(local) {
  if (!local) return "It has local changes that the server does not have; which ones is unreadable.";
  const since = ` Since ${local.since}.`, gone = local.isGoneAtServer ? " A later response has reported that the server no longer has the record." : "";
  if (local.operation === "create") return "It was created locally: the server does not have it." + since + gone;
  if (local.operation === "delete") return "It was deleted locally: the server still has it." + since + gone;
  const fields = local.fields.length > 0 ? ["in the fields ", data(local.fields.join(", "))] : "in all fields";
  return ["It has local changes that the server does not have, ", fields, ".", since, gone];
}

/** The name and the value of a field; a local value is marked, with the server's value if it is known. */
function fieldPair(field, local) {
  const isLocal = local && (local.fields.length === 0 || local.fields.includes(field.name));
  const server = local?.server.find((other) => other.name === field.name);
  return [
    [element("span", { class: "field" }, data(field.name)), isLocal ? [" ", element("span", { class: "tag", title: "The server does not have this value." }, "local")] : null],
    [value(field, 200), server ? element("div", { class: "quiet" }, "at the server: ", value(server, 3)) : null],
  ];
}

function operations(found) {
  if (found.operations.length === 0 && !found.mayHaveMoreOperations) return null;
  return element("section", {}, element("h2", {}, "Unsent changes"),
    found.operations.length > 0 ? operationTable(found.operations, found) : null,
    found.mayHaveMoreOperations ? element("p", { class: "quiet" }, "There may be others: the outbox was not read to its end.") : null);
}

function referrers(found) {
  if (found.referrers.length === 0) return null;
  return element("section", {}, element("h2", {}, "Referred to by"), list(found.referrers.map((one) => [
    [element("span", { class: "field" }, data(one.relationship)), ` (${number(one.count)}${one.isCountWhole ? "" : " or more"})`],
    element("span", {}, links(one.records, 20, one.count, one.isCountWhole)),
  ])));
}

function responses(found) {
  if (found.listings.length === 0) return null;
  return element("section", {}, element("h2", {}, "Responses that list it"),
    table(["Request", "Validated", "Position"], found.listings.map((one) => [
      element("td", { class: "value" }, data(one.request)), one.validatedAt ?? "", one.index ?? "",
    ])),
    found.hasMoreListings ? element("p", { class: "quiet" }, `These are the oldest ${number(found.listings.length)}: others list it, too.`) : null);
}

function changes(found) {
  const note = found.isLogWhole ? null : element("p", { class: "quiet" }, "Only the newest part of the change log was searched.");
  if (found.changes.length === 0 && !note) return null;
  return element("section", {}, element("h2", {}, "Last changes"), note,
    found.changes.length === 0 ? null : table(["Commit", "Operation", "Fields"], found.changes.map((one) => [
      one.sequence, one.operation, element("td", { class: "value" }, data(one.fields.join(", "))),
    ])),
    found.hasMoreChanges ? element("p", { class: "quiet" }, "The log has older changes of it.") : null);
}

function row(row) {
  if (!row) return null;
  return element("section", {}, element("h2", {}, "Row"), list([
    ["Version", row.version], ["Stored", bytes(row.storedSize)], ["Without compression", row.wholeSize ? bytes(row.wholeSize) : null],
    ["Compression", row.compression],
    ["Checksum", [element("span", { class: "field" }, row.checksum), element("span", { class: row.isChecksumRight ? "good" : "bad" }, row.isChecksumRight ? " right" : " wrong")]],
  ]));
}
