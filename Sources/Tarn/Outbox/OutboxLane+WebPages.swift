// Web pages in place of answers to changes, such as the login page of a network (captive portal).

import TarnHTTP
import TarnStore

extension OutboxLane {
    /// The outcome of an operation that is answered with success and a web page; nil for any other
    /// answer, and for a page that the description expects.
    ///
    /// The page may be that of a network between, which answers every request: the server has seen
    /// none of them. The operations of the API wait as for a server that cannot be reached.
    ///
    /// - Parameter isWhole: whether the content was received; otherwise its declared type decides.
    func outcome(
        ofPage response: TransportResponse, _ request: TransportRequest, isWhole: Bool = true
    ) -> SentOperation.Outcome? {
        guard (200..<300).contains(response.status), response.redirectedTo == nil,
            isWhole ? response.isPageInPlaceOfAnswer : response.isDeclaredAsPage,
            // A network's page names no created record.
            response.status != 201 || response.headers["Location"] == nil,
            !(request.headers["Accept"]?.lowercased().contains("html") ?? false),
            rules.first(for: response)?.action != .ignore
        else { return nil }
        var failure = response.failure(of: request, at: client.now)
        failure.kind = "temporary"
        let text =
            "\(request.method) \(Redaction.shown(request.url)): the answer (\(response.status)) is a web page, such as "
            + "the login page of a network: the server may not have the change; if the server itself answers like "
            + "this, declare `headers: { Accept: text/html }` for the request"
        failure.message = text.printable(OutboxFailure.longestText)
        return .stopped(.unreachable(failure.message), failure)
    }
}

extension TransportResponse {
    fileprivate var isDeclaredAsPage: Bool { headers["Content-Type"]?.lowercased().contains("html") ?? false }

    /// Whether the content is a web page. Some servers declare each of their texts as one: JSON and
    /// a text without markup are none.
    fileprivate var isPageInPlaceOfAnswer: Bool {
        if isWebPage { return true }
        guard isDeclaredAsPage, body.contains(UInt8(ascii: "<")) else { return false }
        return firstCharacter.map { !"{[\"".utf8.contains($0) } ?? false
    }
}
