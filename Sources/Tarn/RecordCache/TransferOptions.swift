import Foundation
import Logging
import TarnHTTP
import TarnImport

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

    /// Whether the result differs from that of another caller, who cannot share the transfer.
    var isOwn: Bool { !isPersisted || !hooks.isEmpty || keepsBody }

    /// The key of the transfer among those under way.
    func flight(_ digest: [UInt8]) -> [UInt8] {
        isOwn ? digest + withUnsafeBytes(of: UUID().uuid) { Array($0) } : digest
    }
}
