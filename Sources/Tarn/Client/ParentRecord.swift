import TarnStore

/// A stored record that an endpoint with `for_each` is requested for.
struct ParentRecord: Sendable {
    var key: RecordKey
    /// Values of the record for the path and the body, by the names of their variables.
    var values: [String: String]
    /// The version of the record; 0 if it is unknown.
    var version: UInt64 = 0
    /// Whether the record is known from a partial object only.
    var isPartial = false
}

extension StoreReader {
    /// The text of an attribute, of a record or of a target of its to-one relationships.
    ///
    /// - Returns: nil if there is no value.
    func text(at path: ArraySlice<String>, of record: Record) throws -> String? {
        guard let name = path.first else { return nil }
        if path.count == 1 {
            guard let value = record[name], value != .null else { return nil }
            return value.plainText
        }
        var target: Record?
        try forEachRelated(record.entity, record.key, name) {
            target = $0.record
            return false
        }
        return try target.flatMap { try text(at: path.dropFirst(), of: $0) }
    }
}
