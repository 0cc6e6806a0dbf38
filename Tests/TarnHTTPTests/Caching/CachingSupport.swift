// Short forms for tables of cases: header fields in one text, and the decision as another.

@testable import TarnHTTP

/// Sun, 09 Sep 2001 01:46:40 GMT.
let t0 = 1_000_000_000

/// `A: b | C: d`.
func fields(_ text: String) -> TransportHeaders {
    TransportHeaders(text.split(separator: "|").compactMap { HTTPSyntax.field(ofLine: $0.trimmed) })
}

extension Substring {
    fileprivate var trimmed: String {
        var text = self
        while text.first == " " { text = text.dropFirst() }
        while text.last == " " { text = text.dropLast() }
        return String(text)
    }
}

func httpDate(_ seconds: Int) -> String { HTTPDate.text(.init(timeIntervalSince1970: Double(seconds))) }

/// A response that was made, sent and received at `t0`; without a `Date` if the text says `no
/// date`. `{-60}` in the text is the date a minute before.
func stored(_ text: String, status: Int = 200, method: String = "GET", selecting: String = "", delay: Int = 0)
    -> CachedResponse
{
    var headers = fields(dated(text))
    if headers["Date"] == nil, !text.contains("no date") { headers["Date"] = httpDate(t0) }
    return CachedResponse(
        method: method, status: status, headers: headers, selecting: fields(selecting), requestTime: t0 - delay,
        responseTime: t0)
}

func dated(_ text: String) -> String {
    var result = "", rest = text[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
        result += rest[..<open] + httpDate(t0 + (Int(rest[rest.index(after: open)..<close]) ?? 0))
        rest = rest[rest.index(after: close)...]
    }
    return result + rest
}

func request(_ text: String = "", method: String = "GET") -> TransportRequest {
    TransportRequest(method: method, url: "http://api.example/issues", headers: fields(dated(text)))
}

extension CacheDecision {
    /// `fresh maxAge`.
    var text: String {
        let outcome =
            switch outcome {
            case .fresh: "fresh"
            case .stale(let revalidates): revalidates ? "stale-and-revalidate" : "stale"
            case .revalidate: "revalidate"
            case .miss: "miss"
            case .unanswerable: "unanswerable"
            }
        return "\(outcome) \(rule.rawValue)"
    }
}

let privateRules = CacheRules()
let sharedRules = CacheRules(isShared: true)
