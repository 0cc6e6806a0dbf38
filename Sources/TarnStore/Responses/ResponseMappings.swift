// The mappings of the stored responses: without them, a sync would read every response.

internal import LMDB

/// The mappings by which the responses up to an id were imported.
///
/// A program that does not know the note stores responses behind that id: the note stays true.
/// The response of an id keeps its request, and so its mapping, until it is removed.
package struct ResponseMappings: Sendable, Hashable {
    /// The highest id among the examined responses.
    package var last: UInt64 = 0
    /// For each mapping, an id below which there is no response of it: that of its first one, when
    /// it was examined.
    package var first: [String: UInt64] = [:]

    package init() {}

    /// Decodes a stored text; nil if it is not one of ``text``.
    init?(_ text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        guard let last = lines.popFirst().flatMap({ UInt64($0) }) else { return nil }
        self.last = last
        for line in lines {
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let id = UInt64(parts[0]) else { return nil }
            first[String(parts[1])] = id
        }
    }

    var text: String {
        ([String(last)] + first.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }).joined(separator: "\n")
    }
}

extension ResponseTable {
    /// The noted mappings; an empty note if there is none, or if it is of other responses.
    package var mappings: ResponseMappings {
        get throws {
            guard let text = try raw.get(state.meta, key: MetaKey.responseMappings),
                let mappings = ResponseMappings(String(decoding: text, as: UTF8.self)), mappings.last <= (try lastID)
            else { return ResponseMappings() }
            return mappings
        }
    }

    /// Notes the mappings of the responses. Observers are not notified.
    package func note(_ mappings: ResponseMappings) throws {
        try raw.put(state.meta, key: MetaKey.responseMappings, text: mappings.text)
    }
}
