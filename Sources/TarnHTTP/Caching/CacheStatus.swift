// Cache-Status: how a cache has handled a request, in the words of RFC 9211. Pure.

/// One member of a `Cache-Status` field.
public struct CacheStatus: Sendable, Hashable, CustomStringConvertible {
    /// Why a request went to the server (RFC 9211 §2.2).
    public enum Forward: String, Sendable, Hashable {
        case bypass, method, request, stale, partial, miss
        case uriMiss = "uri-miss"
        case varyMiss = "vary-miss"
    }

    /// Whose word it is.
    public var cache: String
    /// Whether the answer came from the cache (§2.1).
    public var isHit: Bool
    /// Why the request went to the server; nil if it did not (§2.2).
    public var forward: Forward?
    /// What the server answered, if that is not what the client gets (§2.3).
    public var forwardStatus: Int?
    /// For how many seconds it is still fresh; below 0, since when it is not (§2.4).
    public var timeToLive: Int?
    /// Whether the answer was stored (§2.5).
    public var isStored: Bool
    /// Whether it came with another request's (§2.6).
    public var isCollapsed: Bool
    /// A word for people (§2.8).
    public var detail: String?

    /// A member of the field; of a hit or of a request that went on, never of both.
    public init(
        cache: String = "tarn", isHit: Bool = false, forward: Forward? = nil, forwardStatus: Int? = nil, timeToLive: Int? = nil,
        isStored: Bool = false, isCollapsed: Bool = false, detail: String? = nil
    ) {
        self.cache = cache
        self.isHit = isHit
        self.forward = forward
        self.forwardStatus = forwardStatus
        self.timeToLive = timeToLive
        self.isStored = isStored
        self.isCollapsed = isCollapsed
        self.detail = detail
    }

    /// As it stands in the field (RFC 8941). Never a hit and forwarded at once (§2.1).
    public var description: String {
        var text = cache
        if isHit {
            text += "; hit"
        } else if let forward {
            text += "; fwd=\(forward.rawValue)"
        }
        if let forwardStatus, !isHit { text += "; fwd-status=\(forwardStatus)" }
        if let timeToLive { text += "; ttl=\(timeToLive)" }
        if isStored, !isHit { text += "; stored" }
        if isCollapsed, !isHit { text += "; collapsed" }
        if let detail { text += "; detail=" + (HTTPSyntax.isToken(detail) ? detail : "\"\(CacheStatus.quoted(detail))\"") }
        return text
    }

    /// What a string of structured fields may hold: printable ASCII, with `"` and `\` escaped.
    private static func quoted(_ text: String) -> String {
        String(decoding: text.utf8.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
            case 0x20...0x7E: [byte]
            default: [UInt8(ascii: "?")]
            }
        }, as: UTF8.self)
    }
}

extension CacheRule {
    /// Why a request is forwarded when this rule has decided so (RFC 9211 §2.2).
    public var forward: CacheStatus.Forward {
        switch self {
        case .nothingStored, .methodDiffers: .uriMiss
        case .varies, .variesByEverything: .varyMiss
        case .methodNotCacheable: .method
        case .requestNoCache, .pragmaNoCache, .requestMaxAge, .requestMinFresh, .preconditionIsTheServers: .request
        case .rangeNotStored, .partialContent: .partial
        case .policy, .credentials: .bypass
        default: .stale
        }
    }
}
