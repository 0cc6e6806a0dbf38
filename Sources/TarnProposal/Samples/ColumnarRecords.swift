// Records as columns: `{"id": [1, 2, 3], "name": ["a", "b", "c"]}`.

import Tarn

/// An object whose members are columns: the n-th values of all of them are a record.
///
/// It looks like one record with lists.
struct ColumnarRecords {
    private static let depthLimit = 4
    private static let comparisonLimit = 1_000

    /// The keys that lead to the object.
    var keys: [String]

    /// Finds the columns among the members of an object.
    ///
    /// - Parameters:
    ///   - keys: those that lead to it.
    ///   - least: the least number of records.
    init?(_ members: [JSONValue.Member], _ keys: [String], least: Int = 2) {
        let lists = members.filter { ColumnarRecords.isColumn($0.value) }, others = members.count - lists.count
        guard lists.count > 1, let count = lists.first?.value.elements.count, count >= least,
            lists.allSatisfy({ $0.value.elements.count == count }),
            // Under names that are data, the lists are the rows.
            lists.count(where: { RecordMap.isData($0.key) }) * 2 <= lists.count
        else { return nil }
        // A record may have two lists of one length by chance, but has an id or other values, too.
        let isRecord = members.contains { ["id", "_id", "uuid", "guid"].contains($0.key) && $0.value.keyText != nil }
        let isEnvelope = members.allSatisfy { ColumnarRecords.isColumn($0.value) || ListFinder.isEnvelope($0.key) }
        guard !isRecord, others == 0 || isEnvelope || lists.count > 2 && others <= 2 && count > 2 else { return nil }
        self.keys = keys
    }

    /// Returns the objects of columns in an answer that looks like a single object.
    static func all(in json: JSONValue, _ keys: [String] = []) -> [ColumnarRecords] {
        guard case .object(let members) = json, keys.count < depthLimit else { return [] }
        if let found = ColumnarRecords(members, keys) { return [found] }
        return members.prefix(100).flatMap { all(in: $0.value, keys + [$0.key]) }
    }

    /// Whether a value is a list of scalars and nulls.
    private static func isColumn(_ value: JSONValue) -> Bool {
        !value.elements.isEmpty
            && value.elements.prefix(comparisonLimit).allSatisfy { $0 == .null || $0.scalarText != nil }
    }
}
