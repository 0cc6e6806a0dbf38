// The policies and options of a cache: the sources of its answers, and its size.

public import TarnHTTP
public import TarnStore

/// The source of an answer.
public enum CachePolicy: Sendable, Hashable {
    /// The store if the rules of HTTP allow it, else the server.
    ///
    /// If the server fails, the store answers after all, unless a rule forbids it.
    case cacheFirst
    /// The server, with a conditional request; the store only if the server fails.
    ///
    /// The store does not answer if a rule forbids it.
    case networkFirst
    /// The store, with a response of any age, unless a rule forbids it. Nothing is sent.
    case cacheOnly
    /// The server, without a condition. The stored response is not read, and is replaced.
    case networkOnly
    /// First the store, if it has an answer, then the server.
    ///
    /// See ``RecordCache/answers(_:policy:)``.
    ///
    /// A single answer is that of ``networkFirst``.
    case cacheAndNetwork
    /// The behaviour of ``cacheFirst``, but the given age decides instead of freshness.
    ///
    /// A response that was confirmed at most so many seconds ago answers even if it is stale; an
    /// older one never does.
    case olderThan(seconds: Int)

    /// The equivalent request directives; nil if there are none.
    var directives: String? {
        switch self {
        case .cacheFirst, .networkOnly: nil
        case .networkFirst, .cacheAndNetwork: nil
        case .cacheOnly: "max-stale, only-if-cached"
        case .olderThan(let seconds): "max-age=\(max(0, seconds)), max-stale"
        }
    }

    /// Whether a stale response answers if the server fails.
    ///
    /// This is the permission by the client (RFC 9111 §4.2.4).
    var fallsBack: Bool {
        switch self {
        case .cacheFirst, .networkFirst, .cacheAndNetwork: true
        case .cacheOnly, .networkOnly, .olderThan: false
        }
    }

    /// Whether the store is read before the server is asked.
    var looksFirst: Bool {
        switch self {
        case .cacheFirst, .cacheOnly, .olderThan: true
        case .networkFirst, .networkOnly, .cacheAndNetwork: false
        }
    }
}

extension RecordCache {
    /// The options of a cache: its rules, its policy and its limits.
    public struct Options: Sendable {
        /// The rules of HTTP; by default those of a private cache.
        public var rules: CacheRules
        /// The policy of requests that have none of their own.
        public var policy: CachePolicy
        /// The limits of the cache: a million entries or a gibibyte, whichever is reached first.
        public var limits: CacheLimits
        /// The maximum number of entries that one commit evicts.
        ///
        /// ``RecordCache/trim()`` removes all entries beyond the limits.
        var evictionStep = 32
        /// Whether one transfer serves all processes that request the same resource concurrently.
        package var sharesTransfersBetweenProcesses = true
        /// The longest wait for another process's transfer of the same response. After that, this
        /// one sends the request, too.
        package var longestClaim = Duration.seconds(30)
        /// Returns the import hooks of an endpoint; called before each import.
        public var hooks: (@Sendable (Endpoint) -> ImportHooks)?

        /// Creates the options of a description.
        ///
        /// - Parameter description: policy, rules and limits, as a description file declares them.
        public init(_ description: CacheDescription = CacheDescription()) {
            (policy, rules, limits) = (description.policy, description.rules, description.limits)
        }
    }
}
