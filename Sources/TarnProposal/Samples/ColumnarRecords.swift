// Records as columns: `{"id": [1, 2, 3], "name": ["a", "b", "c"]}`.

import Tarn

/// An object whose members are columns: the n-th values of all of them are a record.
///
/// A description has no form for it. The object looks like one record with lists.
struct ColumnarRecords {
    private static let depthLimit = 4
    private static let comparisonLimit = 1_000

    var keys: [String]
    var names: [String]
    /// The number of values in each column.
    var count: Int

    /// The remark for the endpoint.
    var remark: String {
        let shown = names.prefix(3).map { "`\(YAMLText.comment($0, limit: 40))`" }.joined(separator: ", ")
        let more = names.count > 3 ? ", …" : ""
        let place = keys.isEmpty ? "the answer" : "`\(YAMLText.comment(JSONPath(keys: keys).description, limit: 60))`"
        return
            "\(place) seems to have \(count) records as columns (\(shown)\(more)), which is not supported: it is stored as one record with lists. If the server has a format with one object for each record, request that one (with a parameter, or `--header 'Accept: …'`); otherwise convert the answer to lines of JSON, and store them with `tarn store import`."
    }

    /// Returns the columns in an answer that looks like a single object; nil without any.
    static func find(in json: JSONValue, _ keys: [String] = []) -> ColumnarRecords? {
        guard case .object(let members) = json, keys.count < depthLimit else { return nil }
        if let found = columns(members, keys) { return found }
        return members.prefix(100).lazy.compactMap { find(in: $0.value, keys + [$0.key]) }.first
    }

    private static func columns(_ members: [JSONValue.Member], _ keys: [String]) -> ColumnarRecords? {
        let lists = members.filter { isColumn($0.value) }, others = members.count - lists.count
        guard lists.count > 1, let count = lists.first?.value.elements.count, count > 1,
            lists.allSatisfy({ $0.value.elements.count == count })
        else { return nil }
        // A record may have two lists of one length by chance, but has an id or other values, too.
        let isRecord = members.contains { ["id", "_id", "uuid", "guid"].contains($0.key) && $0.value.keyText != nil }
        let isEnvelope = members.allSatisfy { isColumn($0.value) || ListFinder.isEnvelope($0.key) }
        guard !isRecord, others == 0 || isEnvelope || lists.count > 2 && others <= 2 && count > 2 else { return nil }
        return ColumnarRecords(keys: keys, names: lists.map(\.key), count: count)
    }

    /// Whether a value is a list of scalars and nulls.
    private static func isColumn(_ value: JSONValue) -> Bool {
        !value.elements.isEmpty
            && value.elements.prefix(comparisonLimit).allSatisfy { $0 == .null || $0.scalarText != nil }
    }
}
