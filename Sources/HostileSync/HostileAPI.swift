// The description of the synced API: an entity with all attribute types and relationship forms, and
// an endpoint for each pagination style.

enum HostileAPI {
    static let endpoints = [
        ("single", "single_page"), ("automatic", "auto"), ("links", "header_link"), ("body", "json_link"),
        ("cursor", "{ cursor: { path: next_cursor, param: cursor, has_more: has_more } }"),
        ("posted", "{ cursor: { path: next_cursor, body: page.after } }"),
        ("field", "{ header_cursor: { field: X-Next-Cursor, param: after } }"),
        ("offset", "{ offset: { param: offset, per_page: { limit: 3 }, total: total } }"),
        ("pages", "{ page_number: { param: page, total_pages: total_pages } }"),
        ("last", "{ page_number: { param: page, start: 9223372036854775806 } }"),
        ("since", "{ since_id: { param: since, includes_named: true } }"),
        ("until", "{ max_id: { param: until, includes_named: true } }"),
        ("deep", "{ page_number: { param: page, per_page: { limit: 2 } } }"),
    ]

    static func description(_ endpoint: String, base: String, isList: Bool) -> String {
        let paginate = endpoints.first { $0.0 == endpoint }?.1 ?? "single_page"
        var extra = ""
        if endpoint == "posted" { extra += "    method: POST\n    body: { query: items }\n" }
        if endpoint == "deep" { extra += "    restart: { param: since, field: at, status: 422, pages: 2 }\n" }
        if endpoint == "links" || endpoint == "cursor" { extra += "    orphans: after_one_scan\n" }
        return """
            api:
              base: \(base)
              retry: { attempts: 1 }
              headers: { Accept: application/json }
            entities:
              Item:
                key: id
                attributes:
                  id: int
                  name: { type: string?, index: true }
                  count: { type: int?, index: true }
                  size: uint?
                  price: { type: decimal?, index: true }
                  ratio: { type: double?, index: true }
                  flag: bool?
                  at: { type: date?, index: true }
                  stamp: { type: date?, epoch: milliseconds }
                  uid: uuid?
                  link: url?
                  kind: { type: enum?, values: [open, closed] }
                  raw: json?
                  blob: bytes?
                  list: [string]
                relationships:
                  owner: { to: User, from: [owner, owner_id], inverse: items }
                  parent: { to: Item, inverse: children }
                  tags: { to: [Tag], ordered: true, inverse: items }
              User:
                key: id
                attributes: { id: string, name: string? }
              Tag:
                key: id
                attributes: { id: int, name: string? }
            endpoints:
              \(endpoint):
                path: /items
                entity: Item
                records: \(isList ? "$" : "items")
                paginate: \(paginate)
            \(extra)
              owners:
                path: /owners/{user.id}
                entity: User
                records: \(isList ? "$" : "items")
                for_each: User
                limit: { pages: 5, then: stop }

            """
    }
}
