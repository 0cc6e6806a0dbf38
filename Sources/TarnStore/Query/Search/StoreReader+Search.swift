extension StoreReader {
    /// Calls a closure with each record of an entity that `any contains` finds, and with the first
    /// occurrence in each of its fields, until it returns false.
    ///
    /// Records of entities below the entity are left out. Only the key and the matching fields are
    /// decoded.
    ///
    /// - Parameters:
    ///   - text: The text to find; it must not be empty.
    ///   - context: The maximum number of Unicode scalars on each side of an occurrence.
    /// - Throws: the errors of the closure, and as ``forEach(_:_:)-(Query,_)``.
    package func forEachMatch(
        of text: String, ignoringCase: Bool, in entity: String, context: Int,
        _ body: (RecordKey, [TextMatch]) throws -> Bool
    ) throws {
        let query = Query(entity, where: .anyContains(text, ignoringCase: ignoringCase))
        let run = try QueryRun(access, CompiledQuery(query, access.state)), entity = run.query.entity
        let pattern = TextPattern(text, ignoresCase: ignoringCase)
        let names = entity.fields.map(\.name), ids = entity.fields.map(\.id)
        try run.forEach { key, row in
            guard row.entity == entity.id else { return true }
            guard let recordKey = access.key(entity, key, row) else {
                throw StoreError.damagedRow(entity: entity.name, key: access.describe(key))
            }
            var matches: [TextMatch] = []
            for (index, id) in ids.enumerated() {
                guard let (text, range) = row.body.value(of: id)?.firstMatch(pattern) else { continue }
                matches.append(TextMatch(names[index], text, range, context: context))
            }
            return try body(recordKey, matches)
        }
    }
}

extension EncodedValue {
    /// Returns the first text of the value that has a pattern: its own, or that of an element.
    fileprivate func firstMatch(_ pattern: TextPattern) -> (text: String, range: Range<Int>)? {
        switch tag {
        case ValueTag.string, ValueTag.url, ValueTag.json:
            guard pattern.occurs(inVerbatim: payload) != false else { return nil }
            let text = String(decoding: payload, as: UTF8.self)
            return pattern.firstRange(in: text).map { (text, $0) }
        case ValueTag.array:
            var found: (String, Range<Int>)?
            forEachElement { if found == nil { found = $0.firstMatch(pattern) } }
            return found
        default: return nil
        }
    }
}
