// Cache-Control, read as leniently as RFC 9111 asks for and as strictly as it must be. Pure.

/// The directives of a request or a response (RFC 9111 §5.2), with those of RFC 5861 and RFC 8246.
///
/// Names are compared without case; an argument may stand as a token or in quotes; unknown directives are ignored. Of a directive that stands
/// several times with different numbers, none counts, and it is as if its number were unusable (§4.2.1: the first one, or stale).
public struct CacheControl: Sendable, Hashable {
    /// A directive with a number.
    public enum Seconds: Sendable, Hashable {
        case seconds(Int)
        /// It stands there without a number that can be used.
        case invalid
    }

    /// Of a response, its lifetime (RFC 9111 §5.2.2.1); of a request, the greatest age it takes (§5.2.1.1).
    public var maxAge: Seconds?
    /// The lifetime in a shared cache (§5.2.2.10).
    public var sharedMaxAge: Seconds?
    /// Of a request: for how much longer the answer has to be fresh (§5.2.1.3).
    public var minFresh: Seconds?
    /// Of a request: ``DeltaSeconds/greatest`` without an argument.
    public var maxStale: Seconds?
    /// For how long it may answer stale while it is revalidated (RFC 5861 §3).
    public var staleWhileRevalidate: Seconds?
    /// For how long it may answer stale if the server fails (RFC 5861 §4).
    public var staleIfError: Seconds?
    /// Not without validation (§5.2.1.4, §5.2.2.4).
    public var noCache = false
    /// The fields that `no-cache` is limited to.
    public var noCacheFields: [String] = []
    /// Nothing of it may be stored (§5.2.1.5, §5.2.2.5).
    public var noStore = false
    /// Not to be stored by a shared cache (§5.2.2.7).
    public var isPrivate = false
    /// The fields that `private` is limited to.
    public var privateFields: [String] = []
    /// May be stored also where that would need leave (§5.2.2.9).
    public var isPublic = false
    /// Not stale, whoever allows it (§5.2.2.2).
    public var mustRevalidate = false
    /// The same for shared caches (§5.2.2.8).
    public var proxyRevalidate = false
    /// Stored only by who understands its status (§5.2.2.3).
    public var mustUnderstand = false
    /// Does not change while it is fresh (RFC 8246 §2).
    public var immutable = false
    /// Of a request: the server must not be asked (§5.2.1.7).
    public var onlyIfCached = false
    /// Its content must not be changed on the way (§5.2.1.6, §5.2.2.6).
    public var noTransform = false
    /// Whether there was any directive.
    public private(set) var isEmpty = true

    /// No directive.
    public init() {}

    /// Reads all `Cache-Control` fields as one list.
    public init(_ headers: HTTPHeaders) {
        for field in headers.fields where HTTPHeaders.same(field.name, "Cache-Control") { read(field.value) }
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
            // Without an argument: of any age (§5.2.1.2).
            if directive.argument == nil { maxStale = .seconds(DeltaSeconds.greatest) } else { CacheControl.set(&maxStale, directive) }
        case "stale-while-revalidate": CacheControl.set(&staleWhileRevalidate, directive)
        case "stale-if-error": CacheControl.set(&staleIfError, directive)
        case "no-cache": CacheControl.limit(&noCache, &noCacheFields, directive)
        case "private": CacheControl.limit(&isPrivate, &privateFields, directive)
        // §5.2: an argument that a directive does not have does not make it another one.
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

    private static func set(_ value: inout Seconds?, _ directive: DirectiveList.Directive) {
        let new = directive.argument.flatMap { DeltaSeconds.parse($0.utf8) }.map(Seconds.seconds) ?? .invalid
        if let known = value, known != new { value = .invalid } else { value = new }
    }

    /// With fields, it is about these alone. Both forms together are as strict as the stricter one.
    private static func limit(_ whole: inout Bool, _ fields: inout [String], _ directive: DirectiveList.Directive) {
        let names = directive.argument.map { argument in
            argument.split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init).filter(HTTPSyntax.isToken)
        } ?? []
        if names.isEmpty { whole = true } else { fields += names }
    }
}

extension CacheControl.Seconds {
    /// The number; what is unusable counts as 0, so that it is stale (§4.2.1).
    var orZero: Int { if case .seconds(let seconds) = self { seconds } else { 0 } }

    /// The number; what is unusable is not there.
    var orNil: Int? { if case .seconds(let seconds) = self { seconds } else { nil } }
}
