/// The parts of an operation that only the sender understands.
package struct OutboxRequest: Sendable, Hashable {
    /// The largest size of ``options``, in bytes of UTF-8.
    static let longestOptions = 16 << 10

    /// The options of the request: text that the store keeps as it is.
    package var options: String?
    /// Records that the request refers to besides its fields and members, such as those of its URL.
    ///
    /// The operation waits for the creation of these records.
    package var related: [OutboxRecord]
    /// The entity tag of the record's version at the server on which the operation is based.
    package var etag: String?
    /// The date of that version.
    package var lastModified: String?
    /// The fields of a creation that no request sends.
    ///
    /// They stay local changes when the record was created at the server.
    package var unsent: Set<String> = []
    /// The fields of a creation that are left to the server, because the request did not send them
    /// when the creation was queued; nil if that is not known.
    package var serverFields: Set<String>?
    /// The fields whose changes have requests of their own: an update of one is folded only into an
    /// update of the same field alone.
    package var apart: Set<String> = []
    /// Whether the operation is not folded into the creation of its record.
    package var staysSeparate = false

    package init(options: String? = nil, related: [OutboxRecord] = []) {
        self.options = options
        self.related = related
    }
}
