// Parsing of Cache-Control, as leniently as RFC 9111 requests and as strictly as it requires. Pure.

/// The directives of a request or a response (RFC 9111 §5.2), with those of RFC 5861 and RFC 8246.
///
/// Names are compared without case. An argument may be a token or a quoted string. Unknown
/// directives are ignored. If a directive occurs several times with different numbers, it is
/// invalid (§4.2.1: use the first one, or treat the response as stale).
package struct CacheControl: Sendable, Hashable {
    /// The argument of a directive with a number of seconds.
    package enum Seconds: Sendable, Hashable {
        /// A valid number.
        case seconds(Int)
        /// The directive is present without a usable number.
        case invalid
    }

    /// `max-age`: the lifetime of a response, or the maximum age that a request accepts.
    ///
    /// RFC 9111 §5.2.2.1 and §5.2.1.1.
    package var maxAge: Seconds?
    /// The lifetime in a shared cache (§5.2.2.10).
    var sharedMaxAge: Seconds?
    /// The minimum remaining lifetime that a request requires (§5.2.1.3).
    var minFresh: Seconds?
    /// The maximum staleness that a request accepts; ``DeltaSeconds/greatest`` without an argument.
    package var maxStale: Seconds?
    /// The time for which a stale response may be used during its revalidation (RFC 5861 §3).
    var staleWhileRevalidate: Seconds?
    /// The time for which a stale response may be used if the server fails (RFC 5861 §4).
    package var staleIfError: Seconds?
    /// Whether a response may be used only after validation (§5.2.1.4, §5.2.2.4).
    package var noCache = false
    /// The fields to which `no-cache` is limited.
    package var noCacheFields: [String] = []
    /// Whether nothing may be stored (§5.2.1.5, §5.2.2.5).
    package var noStore = false
    /// Whether a shared cache must not store the response (§5.2.2.7).
    package var isPrivate = false
    /// The fields to which `private` is limited.
    var privateFields: [String] = []
    /// Whether the response may be stored even where storing needs permission (§5.2.2.9).
    package var isPublic = false
    /// Whether the response must not be used stale, even with permission (§5.2.2.2).
    package var mustRevalidate = false
    /// Whether a shared cache must not use the response stale (§5.2.2.8).
    package var proxyRevalidate = false
    /// Whether only a cache that understands the status may store the response (§5.2.2.3).
    package var mustUnderstand = false
    /// Whether the response does not change while it is fresh (RFC 8246 §2).
    package var immutable = false
    /// Whether a request must not be forwarded to the server (§5.2.1.7).
    package var onlyIfCached = false
    /// Whether intermediaries must not transform the content (§5.2.1.6, §5.2.2.6).
    package var noTransform = false
    /// Whether there is no directive.
    package private(set) var isEmpty = true

    /// Creates a value without directives.
    init() {}

    /// Parses all `Cache-Control` fields as one list.
    package init(_ headers: TransportHeaders) {
        for field in headers.fields where TransportHeaders.same(field.name, "Cache-Control") { read(field.value) }
    }

    private mutating func read(_ value: String) {
        var value = value
        value.withUTF8 { bytes in
            var list = DirectiveList(bytes)
            while let directive = list.next() {
                isEmpty = false
                take(directive)
            }
        }
    }

    private mutating func take(_ directive: DirectiveList.Directive) {
        switch directive.name {
        case "max-age": CacheControl.set(&maxAge, directive)
        case "s-maxage": CacheControl.set(&sharedMaxAge, directive)
        case "min-fresh": CacheControl.set(&minFresh, directive)
        case "max-stale":
            // Without an argument, any age is accepted (§5.2.1.2).
            if directive.argument == nil {
                maxStale = .seconds(DeltaSeconds.greatest)
            } else {
                CacheControl.set(&maxStale, directive)
            }
        case "stale-while-revalidate": CacheControl.set(&staleWhileRevalidate, directive)
        case "stale-if-error": CacheControl.set(&staleIfError, directive)
        case "no-cache": CacheControl.limit(&noCache, &noCacheFields, directive)
        case "private": CacheControl.limit(&isPrivate, &privateFields, directive)
        // §5.2: an argument of a directive that defines none is ignored.
        case "no-store": noStore = true
        case "public": isPublic = true
        case "must-revalidate": mustRevalidate = true
        case "proxy-revalidate": proxyRevalidate = true
        case "must-understand": mustUnderstand = true
        case "immutable": immutable = true
        case "only-if-cached": onlyIfCached = true
        case "no-transform": noTransform = true
        default: break
        }
    }

    /// Sets a number; different numbers of the same directive make it invalid.
    private static func set(_ value: inout Seconds?, _ directive: DirectiveList.Directive) {
        let new = directive.argument.flatMap { DeltaSeconds.parse($0.utf8) }.map(Seconds.seconds) ?? .invalid
        if let known = value, known != new { value = .invalid } else { value = new }
    }

    /// Sets a directive for the fields of its argument, or without an argument for all.
    ///
    /// If both forms are present, both are kept: the stricter one decides.
    private static func limit(_ whole: inout Bool, _ fields: inout [String], _ directive: DirectiveList.Directive) {
        let names =
            directive.argument.map { argument in
                argument.split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init).filter(HTTPSyntax.isToken)
            } ?? []
        if names.isEmpty { whole = true } else { fields += names }
    }
}

extension CacheControl.Seconds {
    /// The number; 0 if it is invalid, so that the response is stale (§4.2.1).
    var orZero: Int { if case .seconds(let seconds) = self { seconds } else { 0 } }

    /// The number; nil if it is invalid.
    var orNil: Int? { if case .seconds(let seconds) = self { seconds } else { nil } }
}
