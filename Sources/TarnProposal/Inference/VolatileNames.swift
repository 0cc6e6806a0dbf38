// Names of members that change although the record is the same.

import Tarn

/// Tells members that change although the record is the same: counters, times of changes, and
/// links, which differ by place.
///
/// The meaning of a name is kept: the objects of a list have the same names.
struct VolatileNames {
    private enum Kind { case always, ifNumber, never }

    private static let words: Set = [
        "updated", "modified", "changed", "pushed", "accessed", "seen", "synced", "refreshed", "fetched", "last",
        "count", "etag", "links",
    ]

    private var kinds: [String: Kind] = [:]

    /// Whether a member changes.
    mutating func contains(_ member: JSONValue.Member) -> Bool {
        let kind: Kind
        if let known = kinds[member.key] {
            kind = known
        } else {
            kind = VolatileNames.kind(of: member.key)
            kinds[member.key] = kind
        }
        switch kind {
        case .always: return true
        case .never: return false
        case .ifNumber: return if case .number = member.value { true } else { false }
        }
    }

    /// Returns the names of the members of an object that change.
    mutating func names(in object: JSONValue) -> Set<String> {
        guard case .object(let members) = object else { return [] }
        var names: Set<String> = []
        for member in members where contains(member) { names.insert(member.key) }
        return names
    }

    private static func kind(of name: String) -> Kind {
        let words = EnglishName.words(of: name)
        if words.contains(where: VolatileNames.words.contains) || words.count > 1 && words.last == "at" {
            return .always
        }
        // `comments: 12` counts them.
        guard let last = words.last, EnglishName.singular(last) != last else { return .never }
        return .ifNumber
    }
}
