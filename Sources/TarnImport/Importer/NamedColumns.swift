/// A list whose records are no objects, but rows, or columns, and the place of their names.
package struct NamedColumns: Sendable, Hashable {
    /// The path of the list. With `@memberName`, of an object whose members are the columns.
    package var records: JSONPath
    /// The path of the names, or `@memberName`.
    package var names: JSONPath

    /// Creates a list.
    package init(_ records: JSONPath, names: JSONPath) {
        self.records = records
        self.names = names
    }

    /// Returns a document with an object for each record of lists that have rows or columns.
    ///
    /// See ``Importer/naming(_:in:)``.
    package static func named(_ lists: [NamedColumns], in body: [UInt8]) throws(ImportError) -> [UInt8] {
        try named(lists, in: body, JSONParser(), limit: Importer.Limits().documentSize)
    }

    fileprivate static func named(
        _ lists: [NamedColumns], in body: [UInt8], _ parser: JSONParser, limit: Int
    ) throws(ImportError) -> [UInt8] {
        guard !lists.isEmpty else { return body }
        guard body.count <= limit else { throw .tooLarge(.rows, limit: limit) }
        var writer = ColumnWriter(try parser.parse(keeping: body), limit: limit)
        for list in lists { try writer.find(list) }
        return try writer.named() ?? body
    }
}

extension Importer {
    /// Returns a document with an object for each record of lists that have rows or columns.
    ///
    /// - Returns: the document itself if it has neither.
    /// - Throws: `.invalidJSON`; `.invalidColumns` if rows have no names, or columns different
    ///   lengths; `.tooLarge` if the body, or the result, has more than ``Limits/documentSize``.
    package func naming(_ lists: [NamedColumns], in body: [UInt8]) throws(ImportError) -> [UInt8] {
        try NamedColumns.named(lists, in: body, parser, limit: limits.documentSize)
    }
}
