import TarnStore

/// The parts of the progress that belong to no list: syncs, failures, limits of servers.
package struct SyncNotes: Sendable {
    /// The first syncs over several endpoints.
    package internal(set) var syncs: [ListProgress] = []
    /// The failures of the last attempts to scan, by the name of the endpoint.
    package internal(set) var failures: [String: Checkpoint.LastFailure] = [:]
    /// The failures of the last requests outside of scans, by the name of the request.
    package internal(set) var requestFailures: [String: Checkpoint.LastFailure] = [:]
    /// Whether these are all of them: a question reads a limited number.
    package internal(set) var isWhole = true
    /// The number of entries in the table of scan members; nil if the store has none.
    package internal(set) var members: Int?
    /// The limits of servers, as the layer that sends requests has stored them; nil if there are
    /// none.
    package internal(set) var budgets: String?
    /// The unreadable checkpoints, settings and pages.
    package internal(set) var damages: [StoreInspector.Damage] = []
}
