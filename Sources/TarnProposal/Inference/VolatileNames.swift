// Names of members that change although the record is the same.

import Tarn

/// Tells members that change although the record is the same: counters, times of changes, and
/// links, which differ by place.
///
/// The meaning of a name is kept: the objects of a list have the same names.
struct VolatileNames {
    private enum Kind { case always, ifNumber, never }

    /// Words for changes, accesses, counters and links.
    private static let words: Set = [
        "updated", "modified", "changed", "edited", "pushed", "bumped", "touched", "accessed", "activity", "seen",
        "synced", "refreshed", "fetched", "crawled", "scraped", "indexed", "retrieved", "generated", "cached",
        "count", "etag", "links",
    ]
    /// The words of things that happen again and again, if one follows `last`: `last_login_at`, and
    /// no `last_name`.
    private static let events: Set = [
        "access", "active", "at", "build", "change", "check", "comment", "commit", "contact", "date", "edit", "event",
        "login", "message", "online", "ping", "post", "poster", "read", "refresh", "reply", "run", "scan", "sync",
        "time", "update", "use", "visit",
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

    /// Whether a name is that of a member that changes, whatever its value is.
    static func isVolatile(_ name: String) -> Bool { kind(of: name) == .always }

    private static func kind(of name: String) -> Kind {
        let words = EnglishName.words(of: name)
        let isOfLastEvent = zip(words, words.dropFirst()).contains { word, next in
            word == "last" && (events.contains(next) || next.hasSuffix("ed"))
        }
        if isOfLastEvent || words.contains(where: VolatileNames.words.contains) { return .always }
        // `comments: 12` counts them.
        guard let last = words.last, EnglishName.singular(last) != last else { return .never }
        return .ifNumber
    }
}
