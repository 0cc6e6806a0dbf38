// Maps of records: objects whose keys are data, and whose values are records.

import Tarn

/// A map of records in a response: `{"a1": {…}, "a2": {…}, …}`.
///
/// A description names lists of records, and no maps.
struct RecordMap: Equatable {
    /// The keys that lead to the map.
    var path: [String]
    /// The number of records.
    var count: Int
    /// Some keys of the map.
    var keys: [String]

    /// The map in words.
    var description: String {
        let place = path.isEmpty ? "the response" : "`\(YAMLText.comment(JSONPath(keys: path).description, limit: 60))`"
        let keys = keys.map { YAMLText.comment($0, limit: 40) }.joined(separator: ", ")
        return "\(place) is an object of \(count) records by their keys (\(keys), …)"
    }

    /// The maximum number of members that are compared.
    private static let comparisonLimit = 50
    private static let depthLimit = 3

    /// Returns the maps of records in a response, outside of lists and of other maps.
    static func maps(in json: JSONValue, at path: [String] = []) -> [RecordMap] {
        guard case .object(let members) = json, path.count < depthLimit else { return [] }
        if isMap(members) {
            return [RecordMap(path: path, count: members.count, keys: members.prefix(3).map(\.key))]
        }
        return members.prefix(100).filter { !ListFinder.companions.contains($0.key.lowercased()) && $0.key != "_links" }
            .flatMap { maps(in: $0.value, at: path + [$0.key]) }
    }

    /// Whether the members of an object are records of one form, and their keys are data.
    static func isMap(_ members: [JSONValue.Member]) -> Bool {
        guard members.count >= 3 else { return false }
        let sample = members.prefix(comparisonLimit).map { (key: $0.key, value: $0.value) }
        guard members.allSatisfy({ $0.value.isObject && !ListFinder.wrappers.contains($0.key.lowercased()) }),
            isOneForm(sample.map(\.value))
        else { return false }
        let isIdentified = ["id", "_id", "uuid", "guid"].contains { name in
            Set(sample.compactMap { $0.value[name]?.keyText }).count == sample.count
        }
        if isIdentified || isRepeated(sample) { return true }
        let odd = sample.count { !ObjectShape.isName($0.key) }
        return odd * 2 > sample.count || members.count >= 8
    }

    /// Returns a remark about an answer whose members are objects of one form by words, such as
    /// names of people, that no id or other key shows to be records; nil for other answers.
    static func remark(onWordsIn json: JSONValue) -> String? {
        guard case .object(let members) = json else { return nil }
        let objects = members.filter { $0.value.isObject && !ListFinder.isEnvelope($0.key) }
        let isEnvelope = members.allSatisfy { $0.value.isObject || ListFinder.isEnvelope($0.key) }
        guard objects.count > 1, isEnvelope, isOneForm(objects.prefix(comparisonLimit).map(\.value)) else { return nil }
        let names = objects.prefix(3).map { "`\(YAMLText.comment($0.key, limit: 40))`" }.joined(separator: ", ")
        return
            "\(names)\(objects.count > 3 ? ", …" : "") are objects of one form, but the answer looks like a single object: if they are records by their keys, they are not described as such, because `records` names lists only, and one with another key is not imported."
    }

    /// Whether objects share most of their keys.
    private static func isOneForm(_ objects: [JSONValue]) -> Bool {
        var counts: [String: Int] = [:]
        for object in objects { for key in keys(object) { counts[key, default: 0] += 1 } }
        let common = Set(counts.filter { $0.value * 3 >= objects.count * 2 }.keys)
        return common.count >= 2
            && objects.allSatisfy { object in
                let keys = keys(object)
                return keys.intersection(common).count * 2 >= max(keys.count, common.count)
            }
    }

    private static func keys(_ object: JSONValue) -> Set<String> {
        guard case .object(let members) = object else { return [] }
        return Set(members.map(\.key))
    }

    /// Whether a field of each record repeats its key.
    private static func isRepeated(_ sample: [(key: String, value: JSONValue)]) -> Bool {
        guard let first = sample.first, case .object(let members) = first.value else { return false }
        return members.contains { member in
            sample.allSatisfy { $0.value[member.key]?.scalarText == $0.key }
        }
    }
}
