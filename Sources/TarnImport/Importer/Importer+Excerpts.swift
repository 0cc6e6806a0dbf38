// Lists of bare keys and of URLs: each element becomes an object with that member.

extension Importer {
    /// Returns the record of an element of a list.
    ///
    /// - Parameter rule: the rule by which the element is a message about a record; nil if it is a
    ///   record.
    /// - Returns: nil if the element is passed over. An element without a record is its own record,
    ///   so that it is reported.
    func message(
        _ tape: Tape, _ element: Int, _ target: Target, by rule: ElementRule?
    ) -> (tape: Tape, record: Int, kind: Drafter.Message)? {
        guard let rule else {
            let (tape, record) = excerpt(tape, element, target) ?? (tape, element)
            return (tape, record, .record)
        }
        guard rule.takes(tape, element) else { return nil }
        let isDeletion = rule.isDeletion(tape, element)
        guard let record = rule.record(tape, element) else { return (tape, element, .nothing) }
        let mayBeKey =
            (isDeletion || !rule.records.isEmpty) && !plan.mayBeRecord(tape.kind(record), of: target.plan)
        let key = excerpt(tape, record, target, isKey: mayBeKey)
        let kind: Drafter.Message = isDeletion ? .deletion : mayBeKey && key != nil ? .key : .record
        return (key?.tape ?? tape, key?.index ?? record, kind)
    }

    /// Returns an element of a list of excerpts as an object, if it is a bare key or a URL.
    ///
    /// - Parameter isKey: whether that may be so in a list of whole records, too.
    /// - Returns: nil if it is another value, or if the list is no list of excerpts.
    private func excerpt(
        _ tape: Tape, _ index: Int, _ target: Target, isKey: Bool = false
    ) -> (tape: Tape, index: Int)? {
        guard drafter.listsExcerpts || isKey else { return nil }
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
