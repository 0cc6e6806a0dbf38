// The refresh tokens that servers have replaced, kept for later clients of the process.

import Locking

/// The rotations of refresh tokens, by what their clients declare.
///
/// A process may make clients of ever-changing accounts. A rotation that no client uses is removed
/// if it holds nothing: its token is the declared one, or the server has refused it. Any other has
/// the only copy of a valid token. Of these, the ones that were requested most recently stay, up to
/// a limit: a later client of a removed one begins with the token that it declares.
struct RefreshTokenRotations: Sendable {
    /// The declaration of a client.
    struct Declared: Hashable, Sendable {
        var tokenURL: String
        var client: Secret
        var token: Secret
    }

    private struct Entry: Sendable {
        var rotation: RefreshTokenRotation
        /// The ordinal of the last request for it.
        var lastUse: UInt64
    }

    /// The rotations of the process.
    static let ofProcess = Guarded(RefreshTokenRotations())

    private let limit: Int
    private var entries: [Declared: Entry] = [:]
    private var lastUse: UInt64 = 0
    /// The number of entries at which unused ones are removed.
    private var nextCleaning = 64

    /// - Parameter limit: the maximum number of rotations that are kept without a client.
    init(limit: Int = 10_000) { self.limit = limit }

    var count: Int { entries.count }

    /// Returns the rotation of a declared token: the known one, or a new one.
    mutating func rotation(of declared: Declared) -> RefreshTokenRotation {
        lastUse += 1
        if let index = entries.index(forKey: declared) {
            entries.values[index].lastUse = lastUse
            return entries.values[index].rotation
        }
        if entries.count >= nextCleaning {
            removeUnused()
            nextCleaning = entries.count + max(64, entries.count / 2)
        }
        let rotation = RefreshTokenRotation(declared.token)
        entries[declared] = Entry(rotation: rotation, lastUse: lastUse)
        return rotation
    }

    /// Removes rotations that no client uses: those that hold nothing, and others beyond the limit.
    private mutating func removeUnused() {
        var unused: [(declared: Declared, lastUse: UInt64)] = [], removed: [Declared] = []
        // The indices of a dictionary would retain it, and with it each rotation.
        var index = entries.startIndex
        while index != entries.endIndex {
            if isKnownUniquelyReferenced(&entries.values[index].rotation) {
                let (declared, entry) = entries[index]
                if entry.rotation.hasValidToken(besides: declared.token) {
                    unused.append((declared, entry.lastUse))
                } else {
                    removed.append(declared)
                }
            }
            entries.formIndex(after: &index)
        }
        if unused.count > limit {
            unused.sort { $0.lastUse < $1.lastUse }
            removed += unused.prefix(unused.count - limit).map(\.declared)
        }
        for declared in removed { entries[declared] = nil }
    }
}
