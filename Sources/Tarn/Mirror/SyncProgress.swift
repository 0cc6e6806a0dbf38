import TarnHTTP
import TarnImport
import TarnStore

/// How far a sync is. Sent after every page that is committed, and before every request.
public struct SyncProgress: Sendable {
    public var endpoint: String
    /// Of this endpoint so far.
    public var pages: Int
    public var notModified: Int
    public var listed: Int
    /// What is being asked for now; nil after a page is committed.
    public var requesting: String?
}
