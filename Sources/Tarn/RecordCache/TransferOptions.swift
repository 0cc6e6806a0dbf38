import Foundation
import Logging
import TarnStore

/// The options of one transfer: how it is sent, and how its response is taken.
struct TransferOptions: Sendable {
    /// Whether the response, its records included, is written to the store.
    var isPersisted = true
    /// The hooks of the import, besides those of the cache.
    var hooks = RequestHooks()
    /// Whether the answer has the body of the response.
    var keepsBody = false
    /// The place in the queue of requests that wait.
    var priority = TaskPriority.medium
    /// The end of the time that the answer may take; nil for no limit.
    var deadline: RequestDeadline?
    /// The logger of retries, besides those of the client; nil for none.
    var logger: Logger?
    /// The name of the scan that the response belongs to; nil for that of the stored response.
    var scan: String?
    /// Reads the listed records for the answer, from the snapshot that has the response.
    var reading: ResponseReading?
    /// Runs in the transaction that imports a response, with the records that it lists. A transfer
    /// of another caller does not call it.
    var onImport: (@Sendable (_ listed: [ListedRecord], _ writer: inout StoreWriter) throws -> Void)?

    /// Whether the result differs from that of another caller, who cannot share the transfer.
    var isOwn: Bool { !isPersisted || !hooks.isEmpty || keepsBody }

    /// The key of the transfer among those under way.
    ///
    /// Requests after an unsafe one do not join transfers that began before it.
    func flight(_ digest: [UInt8], _ state: ResourceState) -> [UInt8] {
        if isOwn { return digest + withUnsafeBytes(of: UUID().uuid) { Array($0) } }
        return state.number > 0 ? digest + withUnsafeBytes(of: state.number) { Array($0) } : digest
    }
}
