// The server's message about a refusal.

import Foundation
import TarnHTTP

extension TransportResponse {
    /// The reason of a proxy that returns 407 (RFC 9110 §15.5.8), and the way out.
    ///
    /// A `proxy` of the description has precedence over the variable, and may have no password.
    static let proxyDemand =
        "the proxy demands a user and a password, or other ones (407): write SCHEME://USER:PASSWORD@HOST:PORT in "
        + "`http_proxy`, and remove `proxy` under `transport` if it is there"

    /// The server's message about a refusal, on one line.
    ///
    /// It is one of the usual members of a JSON body, else the beginning of the text.
    package var refusalMessage: String {
        // Tarn's transports cut the body at this length. A transport of the user may not.
        let whole = shownBody, body = whole.prefix(TransportRequest.ResponseLimits.records.refusal)
        let object = body.count == whole.count ? JSONBody(parsing: body) : nil
        let said = ["message", "error", "detail", "title", "error_description"].lazy.compactMap { object?.text(of: $0) }
            .first
        // Cut by scalars: a character may consist of any number of them.
        let text =
            said.map { String($0.unicodeScalars.prefix(400)) } ?? String(decoding: body.prefix(200), as: UTF8.self)
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let message = line.count > 160 ? line.prefix(160) + "…" : line
        guard let asked = RateLimit.wait(status: status, headers, now: Date()), asked > .zero else { return message }
        // A longer wait counts as this one.
        let wait = min(asked, Pace().longestLimit)
        let until = HTTPDate.text(Date().addingTimeInterval(Double(wait.components.seconds)))
        return message + (message.isEmpty ? "" : "; ") + "wait until \(until)"
    }
}
