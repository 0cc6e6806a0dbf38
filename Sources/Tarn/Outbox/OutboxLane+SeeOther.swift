// The result of an operation to which its answer leads (303), and answers behind redirects.

import TarnHTTP
import TarnStore

extension OutboxLane {
    /// The outcome of a change of a record to whose result its answer leads (303).
    ///
    /// If what is there cannot be a result, such as a login page, nothing tells whether the server
    /// has carried out the change. A rule with `then: ignore` declares that it has.
    func seen(
        _ response: TransportResponse, _ message: WriteMessage, _ request: TransportRequest, _ done: SentOperation
    ) async -> SentOperation {
        var sent = done, validators = Validators()
        let isDeletion = sent.operation.kind == .delete, isIgnored = rules.first(for: response)?.action == .ignore
        if !isDeletion { sent.moment = moment }
        let result = isDeletion && isIgnored ? nil : await seeOther(response, request)
        if case .elsewhere(let reason)? = result, !isIgnored { return unseen(reason, sent, response, request) }
        if sent.isReplayed { return await reread(message, sent) }
        switch result {
        case _ where isDeletion, nil: break
        case .read(let url, let found)?:
            switch read(found, message, into: &sent) {
            case .record: if url == message.recordURL { validators = Validators(found.headers) }
            case .unreadable(let reason): sent.unread = unread(unseen: reason, response, request)
            }
        case .unread(let reason)?, .elsewhere(let reason)?: sent.unread = unread(unseen: reason, response, request)
        }
        note(validators, of: message, &sent)
        return sent
    }

    private func unread(unseen reason: String, _ response: TransportResponse, _ request: TransportRequest)
        -> OutboxFailure
    { unread("its result could not be read: \(reason)", response, request) }

    /// The result to which an answer leads.
    enum SeeOther {
        case read(url: String, TransportResponse)
        case unread(String)
        /// A response that cannot be a result, such as a login page.
        case elsewhere(String)
    }

    /// Returns the URL that a 303 names as that of a request's result, or the reason why it must
    /// not be read.
    private func seeOtherURL(
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
    ///
    /// - Parameter isBridged: whether a bridge reads it, which may understand XML.
    func seeOther(
        _ response: TransportResponse, _ message: TransportRequest, isBridged: Bool = false
    ) async -> SeeOther {
        let url: String
        switch seeOtherURL(of: response, to: message) {
        case .success(let found): url = found
        case .failure(let error): return .elsewhere(error.description)
        }
        let request = client.request(url)
        do throws(TransportError) {
            let found = try await transport.sendDirectly(request)
            if let reason = notResult(found, of: request, isBridged: isBridged) {
                // A record may have a page for readers at its own URL.
                let isOwn =
                    found.status != 401 && found.status != 407
                    && isSameResource(message.url, found.redirectedTo ?? url)
                return isOwn ? .unread(reason) : .elsewhere(reason)
            }
            if (200..<300).contains(found.status) { return .read(url: url, found) }
            return .unread(found.failure(of: request, at: client.now).message)
        } catch { return error.isRefusedRedirect ? .elsewhere("\(error)") : .unread("\(error)") }
    }

    /// The reason why an answer cannot be the result of a request; nil if it may be.
    func notResult(_ found: TransportResponse, of request: TransportRequest, isBridged: Bool = false) -> String? {
        switch found.status {
        case 200..<300 where isBridged ? found.isWebPage : found.isMarkup:
            "\(Redaction.shown(found.redirectedTo ?? request.url)) is \(found.markupText)"
        case 401 where getsCredentials(request), 407 where getsCredentials(request):
            found.failure(of: request, at: client.now).message
        default: nil
        }
    }

    /// The reason why an answer behind redirects tells nothing about the request; nil if it does.
    ///
    /// A server may redirect a request without valid credentials to its login page. What is missing
    /// there is not the record.
    ///
    /// - Parameter isBridged: whether a bridge reads the answer, which may understand XML.
    func misled(
        _ response: TransportResponse, _ request: TransportRequest, _ kind: OutboxOperation.Kind,
        isBridged: Bool = false
    ) -> String? {
        guard let target = response.redirectedTo, request.method != "GET", request.method != "HEAD",
            rules.first(for: response)?.action != .ignore
        else { return nil }
        // The same resource: with a slash at the end, in another encoding, below another base.
        guard !isSameResource(request.url, target) else { return nil }
        let shown = Redaction.shown(target)
        switch response.status {
        case 200..<300 where isBridged ? response.isWebPage : response.isMarkup:
            return "it was redirected to \(shown), \(response.markupText)"
        case 404 where kind == .delete || kind == .remove, 410 where kind == .delete || kind == .remove:
            return "it was redirected to \(shown), which is missing (\(response.status))"
        default: return nil
        }
    }

    /// Whether a redirect from one URL to the other stays at the record.
    func isSameResource(_ url: String, _ other: String) -> Bool {
        guard let url = try? HTTPURL(url), let other = try? HTTPURL(other) else { return false }
        return url.hasSameName(as: other)
    }

    /// The outcome of an operation whose result is not seen.
    ///
    /// It is dead: nothing tells whether the server has carried it out as a whole, and sent again,
    /// it could have a second effect.
    func unseen(
        _ reason: String, _ done: SentOperation, _ response: TransportResponse, _ message: TransportRequest
    ) -> SentOperation {
        var sent = done
        let text =
            "\(message.method) \(Redaction.shown(message.url)): the server may have carried out the change, and its "
            + "result could not be read: \(reason); "
            + (sent.operation.kind == .create
                ? "discard the operation, and fetch the record"
                : "fetch the record, and discard the operation, or retry it")
        sent.location = nil
        sent.outcome = .refused(
            OutboxFailure(
                kind: OutboxFailure.partial, status: response.status,
                message: text.printable(OutboxFailure.longestText), at: client.now))
        return sent
    }
}

extension TransportResponse {
    /// Whether the content is HTML or XML, whatever its declared type is: no JSON begins like this.
    var isMarkup: Bool { firstCharacter == UInt8(ascii: "<") }

    /// The first byte of the content, behind a byte order mark and spaces; nil if there is none.
    var firstCharacter: UInt8? {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return (body.starts(with: mark) ? body.dropFirst(3) : body[...]).first { !" \t\r\n".utf8.contains($0) }
    }

    /// Whether the content is a web page: HTML, also in the form of XML.
    var isWebPage: Bool {
        guard isMarkup else { return false }
        let beginning = markupBeginning
        return headers["Content-Type"]?.lowercased().contains("html") ?? false
            || ["<!doctype html", "<html", "<head", "<body"].contains(where: { beginning.contains($0) })
    }

    private var markupBeginning: String { String(decoding: body.prefix(1024), as: UTF8.self).lowercased() }

    /// The name of a content that is HTML or XML, for messages.
    var markupText: String {
        if isWebPage { return "a web page, such as a login form" }
        let isXML = headers["Content-Type"]?.lowercased().contains("xml") ?? false || markupBeginning.contains("<?xml")
        return isXML ? "an XML document" : "markup, and no JSON"
    }
}
