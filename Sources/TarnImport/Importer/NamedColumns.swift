// Lists of rows or columns, and the names of their values.

internal import TarnStore

/// A list whose records are no objects, but rows, or columns, and the place of their names.
package struct NamedColumns: Sendable, Hashable {
    /// The path of the list. With `@memberName`, of an object whose members are the columns.
    package var records: JSONPath
    /// The path of the names, or `@memberName`.
    package var names: JSONPath
    /// The names themselves, of rows whose response has none, or only on its first page; empty if
    /// ``names`` leads to them.
    package var written: [String] = []

    /// Creates a list.
    package init(_ records: JSONPath, names: JSONPath) {
        self.records = records
        self.names = names
    }

    /// Creates a list whose names are not in the response.
    package init(_ records: JSONPath, written names: [String]) {
        self.records = records
        self.names = JSONPath(.record, steps: [])
        written = names
    }

    /// The paths, or the path and the names: for digests.
    package var text: String { "\(records) " + (written.isEmpty ? "\(names)" : "\(written)") }

    /// Returns a document with an object for each record of lists that have rows or columns.
    ///
    /// See ``Importer/naming(_:in:of:)``.
    package static func named(_ lists: [NamedColumns], in body: [UInt8]) throws(ImportError) -> [UInt8] {
        try named(lists, in: body, JSONParser(), limit: Importer.Limits().documentSize) { _ throws(ImportError) in }
    }

    /// - Parameter check: called with the names in the first rows of lists.
    fileprivate static func named(
        _ lists: [NamedColumns], in body: [UInt8], _ parser: JSONParser, limit: Int,
        _ check: ([HeaderRow]) throws(ImportError) -> Void
    ) throws(ImportError) -> [UInt8] {
        guard !lists.isEmpty else { return body }
        guard body.count <= limit else { throw .tooLarge(.rows, limit: limit) }
        var writer = ColumnWriter(try parser.parse(keeping: body), limit: limit)
        for list in lists { try writer.find(list) }
        try check(writer.headerRows)
        return try writer.named() ?? body
    }
}

/// The first row of a list, which has the names of the columns.
struct HeaderRow {
    var list: NamedColumns
    var names: [String]

    /// Returns names as errors show them.
    static func shown(_ names: [String]) -> String {
        names.prefix(8).map { "`\($0.count > 40 ? $0.prefix(40) + "…" : $0)`" }.joined(separator: ", ")
            + (names.count > 8 ? ", …" : "")
    }
}

extension Importer {
    /// Returns a document with an object for each record of lists that have rows or columns.
    ///
    /// - Parameter entities: the entities of lists. A first row that has none of the names of its
    ///   entity is no row of names: of a server that has them on its first page only, it is a
    ///   record.
    /// - Returns: the document itself if it has neither.
    /// - Throws: `.invalidJSON`; `.invalidColumns` if rows have no names, or columns different
    ///   lengths; `.tooLarge` if the body, or the result, has more than ``Limits/documentSize``.
    package func naming(
        _ lists: [NamedColumns], in body: [UInt8], of entities: [JSONPath: String] = [:]
    ) throws(ImportError) -> [UInt8] {
        try NamedColumns.named(lists, in: body, parser, limit: limits.documentSize) { rows throws(ImportError) in
            for row in rows {
                guard let entity = entities[row.list.records], !plan.takes(anyOf: row.names, entity, catalog) else {
                    continue
                }
                throw .invalidColumns(
                    path: row.list.names.description, reason: Importer.reason(row.names, entity, catalog))
            }
        }
    }

    /// Whether an entity, or a kind of it, may take a value from one of several keys.
    package func takes(anyOf names: [String], _ entity: String) -> Bool { plan.takes(anyOf: names, entity, catalog) }

    private static func reason(_ names: [String], _ entity: String, _ catalog: Catalog) -> String {
        let own = catalog.entities.first { $0.name == entity }?.fields.map(\.name) ?? []
        return
            "the first row has \(HeaderRow.shown(names)), and \(entity) takes none of these, but has \(HeaderRow.shown(own)). If only the first page has the names in its first row, write the names themselves in their order: columns: [name, …]"
    }
}

extension ImportPlan {
    /// Whether an entity, or a kind of it, may take a value from one of several keys.
    fileprivate func takes(anyOf names: [String], _ entity: String, _ catalog: Catalog) -> Bool {
        guard let position = catalog.entities.firstIndex(where: { $0.name == entity }) else { return true }
        return plans.indices.contains { index in
            kinds.isKind(index, of: position) && plans[index].takes(anyOf: names)
        }
    }
}

extension EntityPlan {
    /// Whether a record takes a value from one of several keys, or takes all of them.
    fileprivate func takes(anyOf names: [String]) -> Bool {
        takesItself || policies.rest != EntityPolicies.noField
            || names.contains { name in
                let bytes = Array(name.utf8)
                guard let found = bytes.withUnsafeBytes({ nodes[0].table.find($0) }) else { return false }
                let entry = nodes[0].entries[found]
                return entry.taker >= 0 || entry.child >= 0
            }
    }
}
