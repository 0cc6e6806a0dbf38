import TarnHTTP
import TarnImport
import TarnStore

/// The progress of a sync, reported after every committed page and before every request.
public struct SyncProgress: Sendable {
    /// The name of the endpoint.
    public var endpoint: String
    /// Committed pages of this endpoint so far.
    public var pages: Int
    /// Committed pages of this endpoint that were answered with 304.
    public var notModified: Int
    /// Records that the committed pages of this endpoint list.
    public var listed: Int
    /// The URL that is being requested; nil after a page is committed.
    package var requesting: String?
}
