// The requests whose responses are not stored.

import Locking

/// The digests of requests whose last response could not be stored.
///
/// Equal requests do not wait for each other: they would have to be sent all the same.
final class UnstoredRequests: Sendable {
    /// The maximum number of digests. Beyond it, the collection begins anew.
    private static let limit = 1024

    private let keys = Guarded<Set<[UInt8]>>([])

    func contains(_ key: [UInt8]) -> Bool { keys.withLock { $0.contains(key) } }

    /// Notes the end of a transfer.
    func note(_ key: [UInt8], isStored: Bool) {
        keys.withLock { keys in
            if isStored {
                keys.remove(key)
            } else {
                if keys.count >= UnstoredRequests.limit { keys.removeAll() }
                keys.insert(key)
            }
        }
    }
}
