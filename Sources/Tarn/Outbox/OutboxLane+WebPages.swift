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
        guard response.redirectedTo == nil,
            // A network's page names no created record.
            response.status != 201 || response.headers["Location"] == nil,
            let failure = failure(
                ofPage: response, request, isWhole: isWhole,
                "the server may not have the change; if the server itself answers like this, declare "
                    + "`headers: { Accept: text/html }` for the request")
        else { return nil }
        return .stopped(.unreachable(failure.message), failure)
    }

    /// The failure of a request that is answered with success and a web page; nil for any other
    /// answer, and for a page that the description expects.
    ///
    /// - Parameter advice: the end of its message.
    func failure(
        ofPage response: TransportResponse, _ request: TransportRequest, isWhole: Bool = true, _ advice: String
    ) -> OutboxFailure? {
        guard (200..<300).contains(response.status),
            isWhole ? response.isPageInPlaceOfAnswer : response.isDeclaredAsPage,
            !(request.headers["Accept"]?.lowercased().contains("html") ?? false),
            rules.first(for: response)?.action != .ignore
        else { return nil }
        var failure = response.failure(of: request, at: client.now)
        failure.kind = "temporary"
        let text =
            "\(request.method) \(Redaction.shown(request.url)): the answer (\(response.status)) is a web page, such as "
            + "the login page of a network: \(advice)"
        failure.message = text.printable(OutboxFailure.longestText)
        return failure
    }

    /// The outcome of a deletion that is answered with 404 or 410 and a web page, although the
    /// record can be read at its URL; nil for any other answer.
    ///
    /// Some servers answer so each request whose path or method they do not know.
    func unknownDeletion(
        _ operation: OutboxOperation, _ message: WriteMessage, _ response: TransportResponse
    ) async -> SentOperation? {
        guard operation.kind == .delete, response.status == 404 || response.status == 410, response.isWebPage,
            response.redirectedTo == nil, rules.first(for: response) == nil, let url = message.recordURL
        else { return nil }
        let failure = response.failure(of: message.message, at: client.now)
        var sent = SentOperation(operation: operation, outcome: .refused(failure))
        guard let found = await read(url, for: &sent) else { return sent.afterSending }
        guard found.status == 200, case .record = read(found, message, into: &sent) else { return nil }
        let reason = "the server has the record: it may not know this request"
        sent.outcome = .refused(failure.adding(reason))
        return sent
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
