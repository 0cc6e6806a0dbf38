// The result of an operation to which its answer leads (303).

import TarnHTTP
import TarnStore

extension OutboxLane {
    /// Reads the result of a change that the server has carried out, and to which it leads (303).
    ///
    /// - Returns: the validators of the record; none if its URL is another one.
    func seen(
        _ response: TransportResponse, _ message: WriteMessage, _ request: TransportRequest,
        _ sent: inout SentOperation
    ) async -> Validators {
        let reason: String
        sent.moment = moment
        switch await seeOther(response, request) {
        case .read(let url, let found):
            guard case .unreadable(let text) = read(found, message, into: &sent) else {
                return url == message.recordURL ? Validators(found.headers) : Validators()
            }
            reason = text
        case .unread(let text): reason = text
        }
        sent.unread = unread("its result could not be read: \(reason)", response, request)
        return Validators()
    }

    /// The result to which an answer leads.
    enum SeeOther {
        case read(url: String, TransportResponse)
        case unread(String)
    }

    /// Returns the URL that a 303 names as that of a request's result, or the reason why it must
    /// not be read.
    func seeOtherURL(
        of response: TransportResponse, to message: TransportRequest
    ) -> Result<String, RemoteError> {
        guard let location = WriteAnswer.location(status: 303, response.headers),
            let url = target(location, of: response, to: message)
        else { return .failure(RemoteError("the answer (303) names no URL")) }
        guard mayRead(url, from: message.url) else {
            return .failure(RemoteError("its URL leads to another server: \(Redaction.shown(url))"))
        }
        return .success(url)
    }

    /// Reads the resource that a 303 names as the result of a request.
    func seeOther(
        _ response: TransportResponse, _ message: TransportRequest
    ) async -> SeeOther {
        let url: String
        switch seeOtherURL(of: response, to: message) {
        case .success(let found): url = found
        case .failure(let error): return .unread(error.description)
        }
        let request = client.request(url)
        do throws(TransportError) {
            let found = try await transport.sendDirectly(request)
            if (200..<300).contains(found.status) { return .read(url: url, found) }
            return .unread(found.failure(of: request, at: client.now).message)
        } catch { return .unread("\(error)") }
    }

    /// The failure of an operation whose result (303) is not seen.
    ///
    /// It is dead: nothing tells whether the server has carried it out as a whole, and sent again,
    /// it could have a second effect.
    func unseen(_ reason: String, _ operation: OutboxOperation, _ message: TransportRequest) -> OutboxFailure {
        let change = operation.kind == .create ? "has accepted the creation" : "may have carried out the change"
        let text =
            "\(message.method) \(Redaction.shown(message.url)): the server \(change), and its result could not be "
            + "read: \(reason); discard the operation, and fetch the record"
        return OutboxFailure(
            kind: OutboxFailure.partial, status: 303, message: text.printable(OutboxFailure.longestText),
            at: client.now)
    }
}
