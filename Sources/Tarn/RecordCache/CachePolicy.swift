// What a caller wants of a cache: where answers come from, and how large it gets.

public import TarnHTTP
public import TarnStore

/// Where an answer comes from.
public enum CachePolicy: Sendable, Hashable {
    /// From the store if HTTP's rules allow it, else from the server; from the store again if the
    /// server fails, where nothing forbids it.
    case cacheFirst
    /// From the server, with a conditional request; from the store only if the server fails and
    /// nothing forbids it.
    case networkFirst
    /// From the store, however old it is, where nothing forbids it. Nothing is sent.
    case cacheOnly
    /// From the server, without a condition. What is stored is not looked at, and replaced.
    case networkOnly
    /// From the store first, if anything is there, and then from the server: see ``RecordCache/answers(_:policy:)``. A single answer is that of
    /// ``networkFirst``.
    case cacheAndNetwork
    /// As ``cacheFirst``, but what was confirmed so many seconds ago, or less, is used also where it is stale, and what is older never is.
    case olderThan(seconds: Int)

    /// The request directives that say the same.
    var directives: String? {
        switch self {
        case .cacheFirst, .networkOnly: nil
        case .networkFirst, .cacheAndNetwork: nil
        case .cacheOnly: "max-stale, only-if-cached"
        case .olderThan(let seconds): "max-age=\(max(0, seconds)), max-stale"
        }
    }

    /// Whether what is stale answers if the server fails: permission by the client (RFC 9111
    /// §4.2.4).
    var fallsBack: Bool {
        switch self {
        case .cacheFirst, .networkFirst, .cacheAndNetwork: true
        case .cacheOnly, .networkOnly, .olderThan: false
        }
    }

    /// Whether the store is looked at before the server is asked.
    var looksFirst: Bool {
        switch self {
        case .cacheFirst, .cacheOnly, .olderThan: true
        case .networkFirst, .networkOnly, .cacheAndNetwork: false
        }
    }
}

extension RecordCache {
    /// How a cache answers, and how much it keeps.
    public struct Options: Sendable {
        /// HTTP's rules, for a private cache if nothing is said.
        public var rules: CacheRules
        /// Where answers come from if a request does not say it.
        public var policy: CachePolicy
        /// How much a cache keeps: a million entries or a gibibyte, whichever is reached first.
        public var limits: CacheLimits
        /// Entries that a commit removes at most when there are too many; ``RecordCache/trim()`` removes all of them.
        public var evictionStep = 32
        /// Whether one transfer serves all processes that ask for the same at the same time.
        public var sharesTransfersBetweenProcesses = true
        /// How requests are sent: base, retries, logger, clock. What concerns walks has no meaning here.
        public var mirror: Mirror.Options

        /// - Parameter description: policy, rules and limits, such as a description file says them.
        public init(_ description: CacheDescription = CacheDescription(), mirror: Mirror.Options = Mirror.Options()) {
            (policy, rules, limits) = (description.policy, description.rules, description.limits)
            self.mirror = mirror
        }
    }
}
