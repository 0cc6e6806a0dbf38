// Lists of bare keys and of URLs: each element becomes an object with that member.

extension Importer {
    /// Returns an element of a list of excerpts as an object, if it is a bare key or a URL.
    ///
    /// - Returns: nil if it is another value, or if the list is no list of excerpts.
    func excerpt(_ tape: Tape, _ index: Int, _ target: Target) -> (tape: Tape, index: Int)? {
        guard drafter.listsExcerpts else { return nil }
        let plan = plan.plans[target.plan]
        let member: String?
        switch tape.kind(index) {
        case .string:
            member =
                if let url = plan.url, url.match(tape.string(index)) == .matched { plan.excerptURL } else {
                    plan.excerptKey
                }
        case .int, .uint: member = plan.excerptKey
        default: member = nil
        }
        guard let member, let parser = try? excerptParser ?? JSONParser() else { return nil }
        excerptParser = parser
        let object = JSONValue.object([JSONValue.Member(member, JSONValue(tape, index))])
        return ImportHooks.parsed(object, parser).map { ($0, Tape.root) }
    }
}
