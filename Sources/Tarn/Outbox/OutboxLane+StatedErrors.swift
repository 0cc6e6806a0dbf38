// Answers with success that state an error in place of the record.

import TarnHTTP
import TarnImport
import TarnStore

extension OutboxLane {
    /// The outcome of an operation whose answer states an error, as `{"ok": false, "error": "…"}`
    /// or the `errors` of GraphQL, and does not have the record; nil for any other answer.
    ///
    /// The server has not carried it out, although the status says so. A 201 with `Location` names
    /// what it has created (RFC 9110 §15.3.2).
    func refused(
        _ done: SentOperation, _ response: TransportResponse, _ declared: WriteMessage, _ request: TransportRequest
    ) -> SentOperation? {
        guard mayRefuse(response),
            let error = StatedError.find(inAnswer: response.body, to: declared.records)
                ?? (declared.isMutation ? StatedError.find(inMutation: response.body) : nil)
                ?? unchanged(done.operation, response, declared, request)
        else { return nil }
        var sent = SentOperation(operation: done.operation, outcome: .done(adopting: nil))
        // The member may be the record's own.
        if case .record = read(response, declared, into: &sent) {
            if let lent = sent.importer { outbox.importers.give(back: lent) }
            return nil
        }
        return refused(sent, error, done, response, request)
    }

    /// The outcome of an update whose answer states an error, and has the record all the same; nil
    /// for any other answer.
    ///
    /// A creation whose answer has a key has created the record.
    func refusedUpdate(
        _ done: SentOperation, _ response: TransportResponse, _ declared: WriteMessage, _ request: TransportRequest
    ) -> SentOperation? {
        guard done.operation.kind == .update, mayRefuse(response),
            let error = StatedError.find(inAnswer: response.body, beside: declared.records)
        else { return nil }
        let sent = SentOperation(operation: done.operation, outcome: .done(adopting: nil))
        return refused(sent, error, done, response, request)
    }

    /// The error of an update that has changed no record: the answer is an empty list, although the
    /// request prefers the record (RFC 7240 §4.2). So do servers that find records by a filter.
    private func unchanged(
        _ operation: OutboxOperation, _ response: TransportResponse, _ declared: WriteMessage,
        _ request: TransportRequest
    ) -> StatedError? {
        guard operation.kind == .update,
            request.headers["Prefer"]?.lowercased().contains("return=representation") ?? false,
            StatedError.isEmptyList(response.body, at: declared.records)
        else { return nil }
        return StatedError(
            path: declared.records.description,
            text: "the list of changed records is empty: the record is missing, or may not be changed")
    }

    /// Whether an answer with success may state that the server has not carried out the operation.
    private func mayRefuse(_ response: TransportResponse) -> Bool {
        (200..<300).contains(response.status) && !response.body.isEmpty
            && (response.status != 201 || response.headers["Location"] == nil)
            && rules.first(for: response)?.action != .ignore
    }

    private func refused(
        _ refused: SentOperation, _ error: StatedError, _ done: SentOperation, _ response: TransportResponse,
        _ request: TransportRequest
    ) -> SentOperation {
        var sent = refused
        var failure = response.failure(of: request, at: client.now)
        let text = response.secrets?.conceal(error.text) ?? error.text
        let message =
            "\(request.method) \(Redaction.shown(request.url)): the server returned \(response.status), and states an "
            + "error (`\(error.path)`)\(text.isEmpty ? "" : ": \(text)"); if the change was carried out, declare a rule "
            + "for such answers with `then: ignore`"
        failure.message = message.printable(OutboxFailure.longestText)
        sent.outcome = .refused(failure)
        // RFC 9111 §4.4: by its status, the answer is no error.
        sent.invalidated = done.invalidated
        return sent
    }
}
