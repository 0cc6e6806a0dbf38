// Maps of records: objects whose keys are data, and whose values are records.

import Tarn

/// A map of records in a response: `{"a1": {…}, "a2": {…}, …}`.
///
/// A description names its records by a path that ends with `*`.
struct RecordMap: Equatable {
    /// The keys that lead to the map.
    var path: [String]
    /// The number of records.
    var count: Int
    /// Some names in the map.
    var keys: [String]

    /// A remark about a map in an answer that is described as a single object.
    var remark: String {
        let place = YAMLText.comment(JSONPath(keys: path).description, limit: 60)
        let names = keys.map { YAMLText.comment($0, limit: 40) }.joined(separator: ", ")
        let records = YAMLText.comment(
            YAMLText.scalar(JSONPath(.record, steps: path.map(JSONPath.Step.key) + [.each]).description), limit: 60)
        return
            "`\(place)` is an object of \(count) objects by their names (\(names), …): if these are the records, write `records: \(records)`, and `from: '\(RecordMap.nameField)'` in the key."
    }

    /// The maximum number of members that are compared.
    private static let comparisonLimit = 50
    private static let depthLimit = 3

    /// Returns the maps in a single object that may be its records, outside of lists and of other
    /// maps: not those by words in an object with an id, which are parts of that.
    static func maps(in json: JSONValue, at path: [String] = [], isRecord: Bool = false) -> [RecordMap] {
        guard case .object(let members) = json, path.count < depthLimit else { return [] }
        let isRecord = isRecord || ListFinder.hasOwnKey(members)
        if isMap(members) {
            guard !isRecord || members.count(where: { isData($0.key) }) * 2 > members.count else { return [] }
            return [RecordMap(path: path, count: members.count, keys: members.prefix(3).map(\.key))]
        }
        return members.prefix(100).filter { member in
            !ListFinder.companions.contains(member.key.lowercased()) && !["_links", "_embedded"].contains(member.key)
        }.flatMap { maps(in: $0.value, at: path + [$0.key], isRecord: isRecord) }
    }

    /// The member that records of a map get in samples: the name by which the map has them.
    ///
    /// It is also the source of that value in a description.
    static let nameField = "@memberName"

    /// Returns the records of a map, or those of its lists, with their names.
    static func records(in map: JSONValue) -> [JSONValue] {
        guard case .object(let members) = map else { return [] }
        let areNumbers = members.allSatisfy { member in
            isScalar(member.value) || Int64(member.key).map { "\($0)" == member.key } ?? false
        }
        return members.flatMap { member -> [JSONValue] in
            let name: JSONValue = areNumbers ? .number(member.key) : .string(member.key)
            return (member.value.isObject ? [member.value] : member.value.elements).compactMap { record -> JSONValue? in
                guard case .object(let own) = record else { return nil }
                return .object(own + [JSONValue.Member(nameField, name)])
            }
        }
    }

    /// Returns whether a field of each record of a map has the name by which the map has it.
    static func repeatsName(_ field: String, _ samples: [JSONValue]) -> Bool {
        !samples.isEmpty
            && samples.allSatisfy { $0[field]?.keyText != nil && $0[field]?.keyText == $0[nameField]?.scalarText }
    }

    /// Returns remarks about maps of rows in an answer that looks like a single object:
    /// `{"2025-01-01": [4, 7], "2025-01-02": [5, 8]}`.
    static func rowRemarks(in json: JSONValue, at path: [String] = []) -> [String] {
        guard case .object(let members) = json, path.count < depthLimit else { return [] }
        let rows = members.filter {
            !$0.value.elements.isEmpty && $0.value.elements.allSatisfy { $0.scalarText != nil }
        }
        guard rows.count == members.count, rows.count > 1, rows.count(where: { isData($0.key) }) * 2 > rows.count
        else { return members.prefix(100).flatMap { rowRemarks(in: $0.value, at: path + [$0.key]) } }
        let place = path.isEmpty ? "the answer" : "`\(YAMLText.comment(JSONPath(keys: path).description, limit: 60))`"
        let records = JSONPath(.record, steps: path.map(JSONPath.Step.key) + [.each]).description
        return [
            "\(place) has \(rows.count) rows by names: if these are the records, write `records: \(YAMLText.comment(YAMLText.scalar(records), limit: 60))`, `from: '\(nameField)'` in the key, and `from: '[0]'` and so on for their values."
        ]
    }

    /// Whether the members of an object are lists of records of one form, and their names are data.
    static func isMapOfLists(_ members: [JSONValue.Member]) -> Bool {
        guard members.count >= 3 else { return false }
        let lists = members.filter { !$0.value.elements.isEmpty }
        let isListed = members.allSatisfy { if case .array = $0.value { true } else { false } }
        guard isListed, lists.count >= 2, lists.allSatisfy({ $0.value.elements.allSatisfy(\.isObject) }),
            isOneForm(lists.prefix(comparisonLimit).flatMap { $0.value.elements.prefix(3) })
        else { return false }
        return members.count { isData($0.key) } * 2 > members.count
    }

    /// Whether a name is data: it begins with a digit, or is as long as an id.
    static func isData(_ name: String) -> Bool {
        guard ObjectShape.isName(name) else { return true }
        let digits = name.utf8.count { (0x30...0x39).contains($0) }
        // `ISBN:978000`, `/works/OL1W`.
        if digits > 0, name.utf8.contains(where: { ":/".utf8.contains($0) }) { return true }
        // An id that a server has made: a UUID, or a push id of Firebase.
        return digits > 1 && name.utf8.count >= 12 || name.hasPrefix("-") && name.utf8.count >= 12
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
        return sample.count { isData($0.key) } * 2 > sample.count || members.count >= 8
    }

    /// Words of members beside records that tell about the answer, and of those that do so beside
    /// records whose names are data.
    private static let aboutWords: Set = ["updated", "generated", "expires", "license", "copyright", "disclaimer"]
    private static let sharedWords: Set = ["date", "base", "source", "provider", "currency", "unit", "units"]

    /// Returns the names of the members beside the records of a map, such as `updated`; empty if
    /// the object is no map, or has none.
    static func exceptions(in members: [JSONValue.Member]) -> [String] {
        let others = knownExceptions(in: members), records = members.filter { $0.value.isObject }
        guard (1...3).contains(others.count), others.count + records.count == members.count, isMap(records),
            // By words, they may be the parts of one object.
            records.count(where: { isData($0.key) }) * 2 > records.count
                || isRepeated(records.prefix(comparisonLimit).map { (key: $0.key, value: $0.value) })
        else { return [] }
        return others
    }

    /// Returns the names of the members beside the records of a map on a further page, whose
    /// records may be few; empty if the object is no map, or has none.
    static func knownExceptions(in members: [JSONValue.Member]) -> [String] {
        let others = members.filter { isScalar($0.value) }
        let isMap =
            members.contains(where: \.value.isObject)
            && members.allSatisfy { $0.value.isObject || $0.value == .null || isScalar($0.value) }
        let areAbout = others.allSatisfy { member in
            ListFinder.isEnvelope(member.key)
                || !aboutWords.union(sharedWords).isDisjoint(with: EnglishName.words(of: member.key))
        }
        return isMap && areAbout ? others.map(\.key) : []
    }

    private static func isScalar(_ value: JSONValue) -> Bool {
        switch value {
        case .number, .string, .bool: true
        case .null, .array, .object: false
        }
    }

    /// Returns a remark about an answer whose members are objects of one form by words, such as
    /// names of people, that no id or other key shows to be records; nil for other answers.
    static func remark(onWordsIn json: JSONValue) -> String? {
        guard case .object(let members) = json else { return nil }
        let objects = members.filter { $0.value.isObject && !ListFinder.isEnvelope($0.key) }
        let others = members.filter { !$0.value.isObject || ListFinder.isEnvelope($0.key) }
        let isEnvelope = others.allSatisfy {
            ListFinder.isEnvelope($0.key) || !aboutWords.isDisjoint(with: EnglishName.words(of: $0.key))
        }
        guard objects.count > 1, isEnvelope, isOneForm(objects.prefix(comparisonLimit).map(\.value)) else { return nil }
        let names = objects.prefix(3).map { "`\(YAMLText.comment($0.key, limit: 40))`" }.joined(separator: ", ")
        // Each member is a record, unless it is excepted.
        let except = others.filter { $0.value != .null }.map(\.key)
        let records =
            except.isEmpty
            ? "`records: '*'`"
            : "`records: { '*': { entity: …, except: \(YAMLText.comment(YAMLText.list(except), limit: 100)) } }`"
        return
            "\(names)\(objects.count > 3 ? ", …" : "") are objects of one form, but the answer looks like a single object: if they are records by their names, write \(records), and `from: '@memberName'` in the key."
    }

    /// Whether objects share most of their keys.
    static func isOneForm(_ objects: [JSONValue]) -> Bool {
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
