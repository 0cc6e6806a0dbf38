// Whether objects that share a key are one record: compared field by field.

import Tarn

/// Compares the objects that share a key.
///
/// A field that differs for most keys refutes the key. Fields that are the same everywhere, such as
/// a currency, confirm nothing.
struct KeyConsistency {
    /// The values of one field.
    private struct Field {
        /// The number of shared keys of which several objects have the field.
        var compared = 0
        /// The number of those whose objects have different values.
        var differing = 0
        /// The value of the first key.
        var first: JSONValue?
        /// Whether another key has another value.
        var isDistinctive = false
        /// Whether all values are numbers.
        var isNumber = true
    }

    private var fields: [String: Field] = [:]
    /// Whether counters, times of changes, links and lists of numbers are compared, too.
    private let comparesAll: Bool
    /// The number of keys.
    let keyCount: Int
    /// The number of keys that objects with different values share.
    private(set) var conflicts = 0

    /// Names of entered values: in a list of answers, the `id` is that of the question.
    private static let entered: Set = ["value", "values", "answer", "answers"]

    /// Compares objects.
    ///
    /// - Parameters:
    ///   - groups: the objects of each key.
    ///   - ignored: fields that are not compared.
    ///   - comparesAll: whether what changes in a record is a difference, too.
    init(_ groups: some Collection<[JSONValue]>, except ignored: Set<String>, comparesAll: Bool = false) {
        self.comparesAll = comparesAll
        keyCount = groups.count
        var volatile = VolatileNames()
        for group in groups where group.count > 1 { add(group, ignored, &volatile) }
        findDistinctive(groups)
    }

    private mutating func add(_ group: [JSONValue], _ ignored: Set<String>, _ volatile: inout VolatileNames) {
        var known: [String: JSONValue] = [:], compared: Set<String> = [], differing: Set<String> = []
        var others: Set<String> = []
        for object in group {
            guard case .object(let members) = object else { continue }
            for member in members where !ignored.contains(member.key) && member.value != .null {
                guard comparesAll || !volatile.contains(member) else { continue }
                if case .number = member.value {} else { others.insert(member.key) }
                guard let other = known[member.key] else {
                    known[member.key] = member.value
                    continue
                }
                compared.insert(member.key)
                if KeyConsistency.differ(other, member.value, comparesAll) { differing.insert(member.key) }
            }
        }
        for (name, value) in known {
            var field = fields[name] ?? Field()
            if let first = field.first { field.isDistinctive = field.isDistinctive || first != value }
            field.first = field.first ?? value
            if compared.contains(name) { field.compared += 1 }
            if differing.contains(name) { field.differing += 1 }
            if others.contains(name) { field.isNumber = false }
            fields[name] = field
        }
        if !differing.isEmpty { conflicts += 1 }
    }

    /// Compares the fields of shared keys with the objects that share their key with none.
    private mutating func findDistinctive(_ groups: some Collection<[JSONValue]>) {
        var open = fields.filter { $0.value.compared > 0 && !$0.value.isDistinctive }.map(\.key)
        for group in groups where group.count == 1 {
            if open.isEmpty { return }
            open.removeAll { name in
                guard let value = group[0][name], value != .null, value != fields[name]?.first else { return false }
                fields[name]?.isDistinctive = true
                return true
            }
        }
    }

    // MARK: Results

    /// The fields that differ for most of the shared keys.
    var contradicting: [String] {
        fields.filter { $0.value.differing * 2 > $0.value.compared }.map(\.key).sorted()
    }

    /// Whether the fields that differ for most of the shared keys have only numbers.
    var areNumbersOnly: Bool { contradicting.allSatisfy { fields[$0]?.isNumber ?? false } }

    /// Whether less than a tenth of the keys have objects with different values.
    var hasFewConflicts: Bool { conflicts * 10 < keyCount }

    /// The fields that differ for a shared key.
    var differing: [String] { fields.filter { $0.value.differing > 0 }.map(\.key).sorted() }

    /// The number of fields that tell the keys apart, and are equal for nearly all objects of a
    /// key.
    var confirming: Int {
        fields.values.count { field in
            guard field.compared > 0, field.differing * 10 <= field.compared else { return false }
            if case .bool? = field.first { return false }
            return field.isDistinctive || keyCount == 1
        }
    }

    /// Whether the fields that differ outweigh those that confirm the key.
    ///
    /// - Parameter weight: the number of confirming fields that one contradicting field outweighs.
    func isRefuted(weight: Int = 3) -> Bool {
        let against = contradicting.count
        return against > 0 && confirming < weight * against
    }

    /// Whether a field that differs for most keys has entered values.
    var isEntered: Bool {
        contradicting.contains { EnglishName.words(of: $0).last.map(KeyConsistency.entered.contains) ?? false }
    }

    // MARK: Values

    /// Whether two values contradict each other. An excerpt lacks members, which is no difference.
    private static func differ(_ a: JSONValue, _ b: JSONValue, _ comparesAll: Bool) -> Bool {
        switch (a, b) {
        case (.null, _), (_, .null): return false
        case (.object(let members), .object):
            return members.contains { member in b[member.key].map { differ(member.value, $0, comparesAll) } ?? false }
        case (.array(let x), .array(let y)):
            guard !x.isEmpty, !y.isEmpty, comparesAll || !isPosition(x) && !isPosition(y) else { return false }
            return x.count != y.count || zip(x, y).contains { differ($0, $1, comparesAll) }
        // An object in one place, and its bare key in another.
        case (.object, _), (_, .object): return false
        default: return a != b
        }
    }

    /// Whether a list has only numbers, such as the place of a word in a text.
    private static func isPosition(_ elements: [JSONValue]) -> Bool {
        elements.allSatisfy { if case .number = $0 { true } else { false } }
    }
}
