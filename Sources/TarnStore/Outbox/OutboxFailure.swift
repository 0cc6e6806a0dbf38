/// The failure of an attempt to send an operation.
public struct OutboxFailure: Sendable, Hashable {
    /// The largest kept size of ``message`` and of ``excerpt``, in bytes of UTF-8.
    package static let longestText = 4096

    /// The kind of an accepted creation whose answer names no key.
    package static let unidentified = "unidentified"
    /// The kind of an answer that cannot be read or stored, to an operation that the server has
    /// carried out.
    package static let answer = "answer"
    /// The kind of a change that the server has carried out in part: some of its requests, or one
    /// whose result is not seen.
    package static let partial = "partial"

    /// The kind of the failure, such as `refused`, `conflict` or `connection`.
    public var kind: String
    /// The status of the response; nil if there was none.
    public var status: Int?
    /// The description of the failure.
    public var message: String
    /// The beginning of the response's body.
    public var excerpt: String?
    /// The time of the failure.
    public var at: Timestamp

    /// Creates a failure. Texts are cut to ``longestText`` when the failure is stored; `…` marks
    /// the cut.
    package init(kind: String, status: Int? = nil, message: String, excerpt: String? = nil, at: Timestamp = .now) {
        self.kind = kind
        self.status = status
        self.message = message
        self.excerpt = excerpt
        self.at = at
    }

    /// Whether the server has carried out the operation, or a part of it.
    var isOfAccepted: Bool {
        [OutboxFailure.unidentified, OutboxFailure.answer, OutboxFailure.partial].contains(kind)
    }
}
