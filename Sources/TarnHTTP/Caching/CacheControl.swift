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

/// A list of `name`, `name=token` and `name="text"` (RFC 9111 §5.2, RFC 9110 §5.6).
struct DirectiveList {
    struct Directive {
        /// In lower case.
        var name: String
        var argument: String?
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    mutating func next() -> Directive? {
        while position < bytes.count {
            skipWhitespace()
            let start = position
            while position < bytes.count, HTTPSyntax.isTokenByte(bytes[position]) { position += 1 }
            guard position > start else {
                // An empty element (RFC 9110 §5.6.1.2), or what is no directive.
                skipElement()
                continue
            }
            let name = String(decoding: bytes[start..<position].lazy.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
            skipWhitespace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else {
                // What follows the name without a comma makes it no directive; at the end, or before a comma, it is one.
                let isWhole = position == bytes.count || bytes[position] == UInt8(ascii: ",")
                skipElement()
                if isWhole { return Directive(name: name) }
                continue
            }
            // What stands before a space and a sign of equality is bad syntax, but means one thing only.
            position += 1
            skipWhitespace()
            let argument = argument()
            skipElement()
            return Directive(name: name, argument: argument)
        }
        return nil
    }

    private mutating func argument() -> String {
        if position < bytes.count, bytes[position] == UInt8(ascii: "\""), let text = quoted() {
            return text
        }
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: ",") { position += 1 }
        var end = position
        while end > start, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// A quoted string (RFC 9110 §5.6.4). Nil, and nothing is taken, if it does not end.
    private mutating func quoted() -> String? {
        var text: [UInt8] = [], index = position + 1
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                position = index + 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\") where index + 1 < bytes.count:
                text.append(bytes[index + 1])
                index += 2
            default:
                text.append(bytes[index])
                index += 1
            }
        }
        return nil
    }

    private mutating func skipWhitespace() {
        while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x09 { position += 1 }
    }

    /// Up to the next comma that is not in quotes.
    private mutating func skipElement() {
        while position < bytes.count, bytes[position] != UInt8(ascii: ",") {
            if bytes[position] == UInt8(ascii: "\""), quoted() != nil { continue }
            position += 1
        }
        position += 1
    }
}
