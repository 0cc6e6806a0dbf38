// The view of the stored responses, with their freshness now.

import { address, bytes, data, duration, element, findings, request, table } from "./elements.js";

export async function responses(parameters) {
  const page = await request("responses", { after: parameters.get("after") });
  const next = page.next && address("responses", { after: page.next });
  return [
    element("h1", {}, "Responses"),
    element("p", { class: "quiet" }, "Stored answers of the server, the newest first, with their freshness now."),
    ...findings(page.damages, page.moreDamages),
    page.responses.length === 0 ? element("p", {}, "The store has no response here.") :
      table(["Request", "Status", "Freshness", "Age", "Fresh for", "Validators", "Records", "Size", "Of"], page.responses.map((one) => [
        element("td", { class: "value" }, one.method + " ", data(one.url)), one.status,
        element("td", { class: "nowrap " + (one.isFresh ? "good" : "quiet") }, freshness(one)),
        element("td", { class: "number" }, duration(one.age)), element("td", { class: "number" }, duration(one.lifetime)),
        element("td", { class: "value field" }, data(one.validators.join(", "))), element("td", { class: "number" }, one.records ?? ""),
        element("td", { class: "number" }, bytes(one.bytes)), one.keeper,
      ])),
    next ? element("p", { class: "pager" }, element("a", { href: next, id: "next", class: "button" }, "Next page")) : null,
  ];
}

function freshness(response) {
  if (response.isInvalidated) return "invalidated";
  return response.isFresh ? `fresh for ${duration(response.remaining)}` : `stale for ${duration(-response.remaining)}`;
}
