/// The options of a call of a request, besides its endpoint.
struct RequestOptions: Sendable {
    /// The source of the answer; nil for that of the client.
    var policy: CachePolicy?
    /// Request directives for the cache only, such as `max-stale=60`.
    var directives: [String] = []
    /// How the request is sent, and how its response is taken.
    var transfer = TransferOptions()
    /// The treatment of records that the request no longer lists; nil if they stay.
    var orphans: OrphanOptions?
    /// Whether the predecessor of each page is found, too.
    var findsPrevious = false
    /// Whether the records are read as structs: a refresh only stores them.
    var needsRecords = true
    /// The domain of the call: ``RecordClient/cancel(domain:)`` ends all calls in it.
    var domain: String?
    /// The time that a call may take; nil for no limit.
    var timeLimit: Duration?

    /// The domain as a set.
    var domains: Set<String> { domain.map { [$0] } ?? [] }

    /// The deadline of a call that begins now.
    var deadline: RequestDeadline? { timeLimit.map { RequestDeadline($0) } }
}
