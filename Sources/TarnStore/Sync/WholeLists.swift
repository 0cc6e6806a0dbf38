import Locking

/// The lists of which a scan has reached all pages, found once for several transactions.
///
/// Finding them reads all checkpoints: for the orphans of each list of many, that is quadratic. A
/// list that is completed later counts as one of which no scan has reached all pages.
package final class WholeLists: Sendable {
    /// By identity, the keys of the checkpoints; nil if they are not found yet.
    private let keys = Guarded<[String: [UInt8]]?>(nil)

    package init() {}

    /// The checkpoint with the last whole scan of a list, by the identity in its responses; nil if
    /// there is none.
    package func checkpoint(of identity: String, _ access: StoreAccess) throws -> Checkpoint? {
        let keys = try self.keys.withLock { known in
            let keys = try known ?? access.checkpoints.wholeLists()
            known = keys
            return keys
        }
        guard let key = keys[identity], let checkpoint = try access.checkpoints.checkpoint(key: key),
            checkpoint.whole?.identity == identity
        else { return nil }
        return checkpoint
    }
}
