/// The style `parameters`: an object in the body has the parameters of the next request.
///
/// MediaWiki's `continue` is such an object: its members have names that no description knows.
struct ParametersPagination: LastingStyle {
    static let syntax = PaginationSyntax(
        "parameters", keys: [.path("path", required: true, example: "continue")],
        make: ParametersPagination.init(values:))

    /// The largest number of parameters: each of them is set in a URL of its own.
    private static let mostMembers = 100

    /// The path of the object in the body. The scan ends if it is missing, null or empty.
    var path: String

    var name: String { "parameters" }
    var isCounted: Bool { false }
    var wants: PageWants {
        var wants = PageWants(values: [path])
        (wants.scalars, wants.composites) = ([path], [path])
        return wants
    }
    var restartProblem: String? { "the server's parameters take the place of those of a restart: remove restart" }

    func next(after page: FetchedPage) throws(PaginationError) -> NextPage {
        let members = try members(page.facts)
        guard !members.isEmpty else { return .end }
        guard members.count <= ParametersPagination.mostMembers else {
            throw .refused(
                by: name, reason: "`\(path)` has \(members.count) members, more than a request has parameters (100)")
        }
        // Each object has all parameters: one that it leaves out is not sent again.
        var next = page.first ?? page.request
        for member in members { next.set(member.key, to: member.value) }
        return next.body.map { .nextBody($0) } ?? .next(next.url)
    }

    /// Returns the parameters of a page that have a value; none on the last page.
    private func members(_ facts: PageFacts) throws(PaginationError) -> [JSONBody.Member] {
        guard let value = facts.values[path] else { return ownMembers(facts) }
        if ["", "false"].contains(value) { return [] }
        guard case .object(let members)? = facts.composite(path) else {
            throw .refused(
                by: name,
                reason: "`\(path)` is no object with the parameters of the next request: if it is a cursor, write "
                    + "{ cursor: { path: \(path.quotedYAML), param: NAME } }")
        }
        return members.filter { $0.value != .null }
    }

    /// Returns the scalars that were read around the list, as `auto` does: it does not ask for the
    /// object.
    private func ownMembers(_ facts: PageFacts) -> [JSONBody.Member] {
        let prefix = path + "."
        return facts.values.keys.filter { $0.hasPrefix(prefix) }.sorted().compactMap { key in
            let name = key.dropFirst(prefix.count)
            guard name.utf8.allSatisfy({ $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "\\") }) else { return nil }
            return facts.values[key].map { .init(String(name), .string($0)) }
        }
    }
}

extension PageRequest {
    /// Sets a parameter where the request has its own: in the body, or in the query.
    ///
    /// An object or a list in a query or a form is its JSON.
    fileprivate mutating func set(_ name: String, to value: JSONBody) {
        let text = value.scalarText ?? value.text
        switch body {
        case nil: url = QueryParameters.set(name, to: text, in: url)
        case .form: body?.set([name], to: .string(text))
        case .json: body?.set([name], to: value)
        }
    }
}

extension ParametersPagination {
    init(values: PaginationValues) throws(PaginationProblem) { path = try values.required("path") }
}

extension Pagination {
    /// An object in the body has the parameters of the next request, as `continue` of MediaWiki.
    ///
    /// They replace those of the same names in the first request. A request with a body gets them
    /// there, other requests in the query.
    ///
    /// - Parameter path: the path of the object in the body. The scan ends if it is missing, null
    ///   or empty.
    package static func parameters(path: String) -> Pagination { Pagination(ParametersPagination(path: path)) }

    /// Whether pages list records again, with further parts of them.
    var repeatsRecords: Bool { style is ParametersPagination }
}
