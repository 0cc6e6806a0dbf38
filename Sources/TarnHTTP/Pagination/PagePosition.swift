/// The position of a scan: its next request and its progress since the last restart.
struct PagePosition {
    var request: PageRequest
    var pages = 0
    var records = 0
    var after: String?
    var last: String?

    init(request: PageRequest, pages: Int, records: Int, after: String?, last: String?) {
        self.request = request
        self.pages = pages
        self.records = records
        self.after = after
        self.last = last
    }

    /// The position as text: the URL, or a JSON object if the URL is not enough.
    var text: String {
        guard request.body != nil || last != nil else { return request.url }
        // Members are in the order of their keys.
        var members: [JSONBody.Member] = []
        if last != nil, let after { members.append(.init("after", .string(after))) }
        if case .form(let fields) = request.body {
            members.append(.init("form", .array(fields.map { .array([.string($0.name), .string($0.value)]) })))
        }
        if case .json(let value) = request.body { members.append(.init("json", .string(value.text))) }
        if let last {
            members += [
                .init("last", .string(last)), .init("pages", .number(String(pages))),
                .init("records", .number(String(records))),
            ]
        }
        return JSONBody.object(members + [.init("url", .string(request.url))]).text
    }

    /// Parses a position.
    ///
    /// - Parameter request: the first request of the scan, whose body has the same form.
    init(text: String, like request: PageRequest) {
        guard text.hasPrefix("{"), let stored = JSONBody(parsing: text), let url = stored.text(of: "url") else {
            self.init(request: PageRequest(url: text, body: request.body), pages: 0, records: 0, after: nil, last: nil)
            return
        }
        var body = request.body
        if let json = stored.text(of: "json") { body = JSONBody(parsing: json).map(TransportBody.json) ?? body }
        if case .array(let fields)? = stored[["form"]] {
            body = .form(
                fields.compactMap { field in
                    guard case .array(let parts) = field, parts.count == 2, case .string(let name) = parts[0],
                        case .string(let value) = parts[1]
                    else { return nil }
                    return .init(name, value)
                })
        }
        // A larger count comes from a damaged store. The limit keeps additions from overflowing.
        func count(_ key: String) -> Int {
            min(max(stored[[key]]?.scalarText.flatMap { Int($0) } ?? 0, 0), Int(Int32.max))
        }
        self.init(
            request: PageRequest(url: url, body: body), pages: count("pages"), records: count("records"),
            after: stored.text(of: "after"), last: stored.text(of: "last"))
    }
}
