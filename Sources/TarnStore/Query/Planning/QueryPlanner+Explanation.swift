// Descriptions of query plans.

extension QueryPlanner {
    func explanation() throws -> QueryPlan {
        let chosen = try choose(), total = try access.records.count(query.entity)
        var lines: [String] = [], rows = 0
        switch chosen.form {
        case .nothing: lines = ["nothing: no record can meet the condition"]
        case .path(let path):
            lines = [describe(path)]
            rows = try path.isPoints ? path.spans.count : estimate(path)
            if chosen.isOrdered, path.isExact(query) { rows = min(rows, query.reach) }
        case .union(let paths):
            lines = paths.map(describe)
            for path in paths { rows += path.estimate }
        }
        let sort: QueryPlan.Sort =
            chosen.isOrdered ? (query.order.isEmpty ? .none : .byIndex) : query.order.isEmpty ? .none : .inMemory
        let filter: String? = if case .always = chosen.residual { nil } else { describe(chosen.residual) }
        return QueryPlan(
            access: lines, filter: filter, sort: sort, estimatedRows: rows, totalRows: total,
            advice: advice(chosen, rows: rows, sort: sort))
    }

    // MARK: Advice

    /// Suggests an index: first the values compared for equality, then the sort order or a range.
    private func advice(_ chosen: QueryAccess, rows: Int, sort: QueryPlan.Sort) -> String? {
        var hasFilter = false
        if case .always = chosen.residual {} else { hasFilter = true }
        guard rows > 100, sort == .inMemory || hasFilter else { return nil }
        var equal: [QueryPlace] = [], ranges: [QueryPlace] = []
        for case .test(let test, isNegated: false) in query.node.conjuncts {
            let place = query.places[test.place]
            guard isIndexable(place) else { continue }
            switch test.operation {
            case .compare(.equal, _), .isMissing: equal.append(place)
            case .compare, .isIn, .hasPrefix: ranges.append(place)
            default: break
            }
        }
        let parts = query.order.filter { part in !equal.contains { $0.name == query.places[part.place].name } }
        let order = parts.map { query.places[$0.place] }
        let isSortable = order.allSatisfy(isIndexable) && Set(parts.map(\.isDescending)).count <= 1
        let fields = equal + (isSortable && !order.isEmpty ? order : Array(ranges.prefix(1)))
        guard !fields.isEmpty else { return nil }
        let names = fields.map { $0.isFolded ? "nocase(\($0.name))" : $0.name }
        if case .path(let path) = chosen.form, case .index(let index) = path.source,
            index.pathComponents.map(\.field) == fields.map(\.field)
        {
            return nil
        }
        let list = names.count == 1 ? names[0] : "(" + names.joined(separator: ", ") + ")"
        let saved = query.limit < rows ? rows - query.reach : rows
        return "an index on \(list) would avoid reading up to \(max(saved, 0)) rows"
    }

    private func isIndexable(_ place: QueryPlace) -> Bool {
        guard place.origin == 0, place.field != nil else { return false }
        switch place.kind {
        case .attribute(let type): return type.isIndexable
        case .toOne: return true
        case .toMany: return false
        }
    }

    // MARK: Access

    private func describe(_ path: AccessPath) -> String {
        let entity = query.entity.name
        if path.isPoints {
            let keys = path.spans.prefix(4).map { span in span.lower.withUnsafeBytes { access.describe($0) } }
            return "\(entity) by key: " + keys.joined(separator: ", ")
                + (path.spans.count > 4 ? " and \(path.spans.count - 4) more" : "")
        }
        var text: String
        switch path.source {
        case .rows, .members: text = path.isEverything ? "all records of \(entity)" : "\(entity) by key"
        case .index(let index): text = "index \(index.name) of \(entity)"
        case .references(let index, _, _): text = "\(entity) by \(index.name)"
        }
        if !path.isEverything {
            text += ", " + path.spans.prefix(4).map(describe).joined(separator: " or ")
            if path.spans.count > 4 { text += " or \(path.spans.count - 4) more ranges" }
        }
        switch path.direction {
        case .forward: break
        case .backward, .backwardByValue: text += ", backwards"
        }
        return text
    }

    private func describe(_ span: KeySpan) -> String {
        if let upper = span.upper, upper.last == 0xFF, upper.dropLast().elementsEqual(span.lower) {
            return "= \(values(span.lower))"
        }
        var parts: [String] = []
        // This bound excludes only missing values.
        if span.lower == [TupleCode.null, 0xFF] {
            if span.upper == nil { return "present" }
        } else if !span.lower.isEmpty {
            parts.append((span.lower.last == 0xFF ? "> " : ">= ") + values(span.lower))
        }
        if let upper = span.upper { parts.append((upper.last == 0xFF ? "<= " : "< ") + values(upper)) }
        return parts.isEmpty ? "all" : parts.joined(separator: " and ")
    }

    /// Describes the tuple elements of a bound. An incomplete last element is the prefix of a text.
    private func values(_ bytes: [UInt8]) -> String {
        bytes.withUnsafeBytes { bytes in
            var reader = TupleReader(bytes), parts: [String] = []
            while !reader.isAtEnd, bytes[reader.offset] != 0xFF {
                guard let element = reader.next() else {
                    parts.append(
                        "\"\(String(decoding: bytes[(reader.offset + 1)...].filter { $0 != 0xFF }.prefix(40), as: UTF8.self))…\""
                    )
                    break
                }
                parts.append(text(element))
            }
            return parts.count == 1 ? parts[0] : "(" + parts.joined(separator: ", ") + ")"
        }
    }

    private func text(_ element: TupleElement) -> String {
        switch element {
        case .null: "missing"
        case .bool(let x): "\(x)"
        case .int(let x): "\(x)"
        case .uint(let x): "\(x)"
        case .double(let x): "\(x)"
        case .decimal(let x): "\(x)"
        case .string(let x): "\"\(x.prefix(40))\(x.count > 40 ? "…" : "")\""
        // A reference in a declared index is the target's storage key.
        case .bytes(let x): x.withUnsafeBytes { RecordKey(storageKey: $0)?.description } ?? "bytes"
        case .uuid(let x): Value.uuid(.init(bytes: x)).plainText
        }
    }

    // MARK: Conditions

    private func describe(_ node: QueryNode) -> String {
        switch node {
        case .always: "all"
        case .never: "nothing"
        case .all(let nodes): nodes.map(part).joined(separator: " and ")
        case .any(let nodes): nodes.map(part).joined(separator: " or ")
        case .test(let test, let isNegated): (isNegated ? "not " : "") + describe(test)
        }
    }

    private func part(_ node: QueryNode) -> String {
        switch node {
        case .all, .any: "(\(describe(node)))"
        default: describe(node)
        }
    }

    private func describe(_ test: QueryTest) -> String {
        let path = query.places.path(test.place).description
        func value(_ operand: Operand) -> String {
            operand.value.withUnsafeBytes { EncodedValue($0).decoded()?.jsonText } ?? "…"
        }
        func quoted(_ bytes: [UInt8]) -> String { Value.string(String(decoding: bytes, as: UTF8.self)).jsonText }
        switch test.operation {
        case .isMissing: return "\(path) is missing"
        case .compare(let relation, let operand):
            let sign =
                switch relation {
                case .equal: "="
                case .less: "<"
                case .lessOrEqual: "<="
                case .greater: ">"
                case .greaterOrEqual: ">="
                }
            return "\(path) \(sign) \(value(operand))"
        case .isIn(let operands):
            return
                "\(path) in (\(operands.prefix(4).map(value).joined(separator: ", "))\(operands.count > 4 ? ", …" : ""))"
        case .hasPrefix(let text): return "\(path) begins with \(quoted(text))"
        case .containsText(let text), .containsTextInElement(let text): return "\(path) contains \(quoted(text))"
        case .containsElement(let operand), .containsTarget(let operand): return "\(path) contains \(value(operand))"
        case .like: return "\(path) like a pattern"
        }
    }
}
