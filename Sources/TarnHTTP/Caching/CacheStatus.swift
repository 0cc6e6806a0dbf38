// The Cache-Status header field: the handling of a request by a cache (RFC 9211). Pure.

/// One member of a `Cache-Status` field.
package struct CacheStatus: Sendable, Hashable, CustomStringConvertible {
    /// The reason why a request was forwarded to the server (RFC 9211 §2.2).
    package enum Forward: String, Sendable, Hashable {
        case bypass, method, request, stale, partial, miss
        case uriMiss = "uri-miss"
        case varyMiss = "vary-miss"
    }

    /// The name of the cache.
    package var cache = "tarn"
    /// Whether the response came from the cache (§2.1).
    package var isHit: Bool
    /// The reason why the request was forwarded; nil if it was not (§2.2).
    package var forward: Forward?
    /// The status of the server's response, if it differs from that of the client's (§2.3).
    package var forwardStatus: Int?
    /// The remaining lifetime in seconds; negative for a stale response (§2.4).
    var timeToLive: Int?
    /// Whether the response was stored (§2.5).
    package var isStored: Bool
    /// Whether the request was collapsed with another one (§2.6).
    package var isCollapsed = false
    /// Details for people (§2.8).
    package var detail: String?

    /// Creates a member of the field: a hit or a forwarded request, never both.
    package init(
        isHit: Bool = false, forward: Forward? = nil, forwardStatus: Int? = nil, timeToLive: Int? = nil,
        isStored: Bool = false, detail: String? = nil
    ) {
        self.isHit = isHit
        self.forward = forward
        self.forwardStatus = forwardStatus
        self.timeToLive = timeToLive
        self.isStored = isStored
        self.detail = detail
    }

    /// The text of the member (RFC 8941). It never has both `hit` and `fwd` (§2.1).
    package var description: String {
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
        if let detail {
            text += "; detail=" + (HTTPSyntax.isToken(detail) ? detail : "\"\(CacheStatus.quoted(detail))\"")
        }
        return text
    }

    /// Returns the content of a structured field's string: printable ASCII, `"` and `\` escaped.
    ///
    /// Other bytes become `?`.
    private static func quoted(_ text: String) -> String {
        String(
            decoding: text.utf8.flatMap { byte -> [UInt8] in
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
                case 0x20...0x7E: [byte]
                default: [UInt8(ascii: "?")]
                }
            }, as: UTF8.self)
    }
}

extension CacheRule {
    /// The reason of forwarding if this rule has decided (RFC 9211 §2.2).
    package var forward: CacheStatus.Forward {
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
