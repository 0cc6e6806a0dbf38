// One operation on its way: decided by code, sent, its answer classified.

import Foundation
import TarnHTTP
import TarnStore

/// Sends operations on the records of one API, several at a time.
struct OutboxLane: Sendable {
    let outbox: Outbox
    /// The client of the API: its credentials are sent to no other one.
    let client: APIClient
    /// The scope of the API's credentials, or the reason why there are none.
    let authScope: Result<String, TransportError>
    let transport: RetryingTransport
    let rules: [ResponseRule]

    /// - Throws: `StoreError`. Missing credentials are the outcome of each operation.
    init(_ outbox: Outbox, _ client: APIClient) async throws {
        self.outbox = outbox
        self.client = client
        do { authScope = .success(try await client.authScope()) } catch let error as TransportError {
            // No request has failed: the message names the API.
            var error = error
            error.url = client.api.base
            error.detail = error.detail.replacingOccurrences(of: "no credentials for :", with: "no credentials:")
            authScope = .failure(error)
        }
        let endpoint = Endpoint(name: "outbox", path: "/", entity: "")
        // Attempts are counted and spaced by the outbox, which keeps them over restarts.
        transport = client.transport(for: endpoint, retry: .never)
        rules = client.rules(of: endpoint)
    }

    func builder(_ access: StoreAccess) -> WriteMessageBuilder {
        WriteMessageBuilder(client: client, access: access, plans: outbox.plans)
    }

    func send(_ claimed: ClaimedOperation) async -> SentOperation {
        let moment = self.moment
        var sent = await attempted(claimed)
        sent.moment = sent.moment ?? moment
        sent.began = moment
        return sent
    }

    /// The current moment.
    var moment: SentOperation.Moment {
        let state = try? client.store.read { (try $0.outbox.revision, try $0.sequence) }
        return SentOperation.Moment(revision: state?.0, sequence: state?.1, time: client.now)
    }

    private func attempted(_ claimed: ClaimedOperation) async -> SentOperation {
        var operation = claimed.operation
        if let conflict = claimed.conflict {
            let decision = await conflict.decided()
            return SentOperation(
                operation: operation, outcome: decision.map { .decided($0, seen: claimed.seen) } ?? .unsent)
        }
        // One snapshot for the message and for what it depends on.
        let message: WriteMessage, known: Result<Validators, any Error>, isLacking: Bool
        do {
            let found = try client.store.read { reader -> (WriteMessage, Result<Validators, any Error>, Bool)? in
                // The precondition would be that of a response whose values are not decided about.
                guard
                    try operation.kind != .update
                        || reader.outbox.conflictingValues(of: operation) == claimed.seen
                else { return nil }
                let message = try builder(reader.access).message(for: operation)
                // A precondition is one of the URL of the request (RFC 9110 §13.1.1).
                let url = message.isOfField ? nil : message.recordURL
                let known = Result { try self.known(url, of: operation, reader) }
                return (message, known, try !claimed.wasRead && lacksValues(message, reader))
            }
            guard let found else { return SentOperation(operation: operation, outcome: .unsent) }
            (message, known, isLacking) = found
        } catch {
            return SentOperation(operation: operation, outcome: outcome(ofBuilding: error))
        }
        if case .failure(let error) = authScope {
            return SentOperation(operation: operation, outcome: outcome(of: error))
        }
        if let incomplete = message.isIncomplete ?? (isLacking ? message.lacking : nil) {
            return await completed(operation, message, incomplete, wasRead: claimed.wasRead)
        }
        // The server has created the record already.
        if let location = operation.location {
            return await located(SentOperation(operation: operation, outcome: .done(adopting: nil)), location, message)
        }
        var request = message.message
        // A failure of reading the result must not repeat the operation.
        request.returnsSeeOther = true
        let validators: Validators
        do { validators = try known.get() } catch {
            // Without its validator the request could overwrite a change of the server.
            let failure = OutboxFailure(kind: "store", message: "\(error)".printable(4096), at: client.now)
            return SentOperation(operation: operation, outcome: .later(after: nil, failure))
        }
        if let bridge = outbox.bridge { return await send(operation, message, validators, through: bridge) }
        validators.require(in: &request)
        let response: TransportResponse
        do throws(TransportError) { response = try await sendingAgain(request, &operation) } catch {
            if let answer = error.answer, (200..<300).contains(answer.status) || answer.status == 303 {
                // Sent again, the operation would have a second effect. The content of a 303 is not
                // its result.
                let reason = answer.status == 303 ? nil : "\(error)"
                return await finished(operation, message, request, answer, unreadable: reason)
            }
            return SentOperation(operation: operation, outcome: outcome(of: error))
        }
        return await classified(operation, message, request, validators, response)
    }

    /// Sends a request, and once more if the server has ended the connection, as it ends unused
    /// ones. It may have carried out the operation then.
    private func sendingAgain(
        _ request: TransportRequest, _ operation: inout OutboxOperation
    ) async throws(TransportError) -> TransportResponse {
        do throws(TransportError) { return try await transport.sendDirectly(request) } catch {
            guard error.isUnanswered else { throw error }
            operation.mayHaveArrived = true
            return try await transport.sendDirectly(request)
        }
    }

    /// The outcome of an operation that the server has answered.
    private func classified(
        _ operation: OutboxOperation, _ message: WriteMessage, _ request: TransportRequest, _ validators: Validators,
        _ response: TransportResponse
    ) async -> SentOperation {
        let rule = rules.first(for: response)
        let answer = WriteAnswer.classify(
            operation.kind, status: response.status, response.headers, hasBody: !response.body.isEmpty,
            rule: rule?.action, now: client.options.time.now())
        if case .done = answer {
            if let unknown = await unknownDeletion(operation, message, response) { return unknown }
            return await finished(operation, message, request, response)
        }
        if case .location = answer { return await finished(operation, message, request, response) }
        var failure = response.failure(of: request, at: client.now)
        if let text = rule?.message { failure.message = text }
        switch answer {
        case .done, .location: return await finished(operation, message, request, response)
        case .retry(let delay):
            failure.kind = "temporary"
            return SentOperation(operation: operation, outcome: .later(after: delay, failure))
        case .conflict:
            failure.kind = "conflict"
            return await refreshed(operation, message, validators, failure)
        case .authentication:
            failure.kind = "authentication"
            return SentOperation(operation: operation, outcome: .stopped(.authentication(failure.message), failure))
        case .refused:
            // A path that is wrong is answered with 404, too: only the declared one is evidence.
            if operation.kind == .update, rule == nil, message.isReadDeclared,
                response.status == 404 || response.status == 410
            {
                return await missing(operation, message, failure)
            }
            return SentOperation(operation: operation, outcome: .refused(failure))
        }
    }

    /// The outcome of an operation whose request cannot be built.
    ///
    /// A failure of LMDB passes, such as a table of readers that is full. Damage has to be repaired
    /// first. Nothing was sent.
    func outcome(ofBuilding error: any Error) -> SentOperation.Outcome {
        let isOfLMDB = StoreError.isOfLMDB(error)
        let wayOut = error is StoreError && !isOfLMDB ? "; then retry the operation" : ""
        let failure = OutboxFailure(
            kind: isOfLMDB ? "store" : "request",
            message: ("\(error)" + wayOut).printable(OutboxFailure.longestText), at: client.now)
        return isOfLMDB ? .later(after: nil, failure) : .refused(failure)
    }

    func outcome(of error: TransportError) -> SentOperation.Outcome {
        let failure = OutboxFailure(kind: error.kind.rawValue, message: "\(error)", at: client.now)
        if error.kind == .cancelled { return .cancelled }
        if let until = error.until { return .limited(until: Timestamp(until), failure) }
        // The next attempt would be redirected as well.
        if error.isRefusedRedirect { return .refused(failure) }
        if error.isUnreachable { return .stopped(.unreachable(failure.message), failure) }
        switch WriteAnswer.classify(error.kind) {
        case .authentication: return .stopped(.authentication(failure.message), failure)
        case .refused: return .refused(failure)
        default: return .later(after: nil, failure)
        }
    }

    /// The URLs whose stored responses an answer makes invalid, as they are sent and as the API
    /// names them: also the record's, if the request has another one.
    func invalidated(
        by request: TransportRequest, _ response: TransportResponse, _ declared: WriteMessage
    ) -> [String] {
        var urls = CacheRules.invalidated(by: request, response)
        if declared.isMasked || declared.isOfField, !urls.isEmpty, let url = declared.recordURL { urls.append(url) }
        return urls + urls.map(client.canonicalURL).filter { !urls.contains($0) }
    }

    // MARK: Validators

    /// The validators of the version on which an operation is based: those of the newest response
    /// to the record's URL. None without a response, or without credentials.
    private func known(_ url: String?, of operation: OutboxOperation, _ reader: StoreReader) throws -> Validators {
        guard let url, case .success(let scope) = authScope else { return Validators() }
        let written = outbox.validators[url]
        let queued = Validators(etag: operation.etag, lastModified: operation.lastModified)
        if operation.kind == .delete, !queued.isEmpty {
            // The conflict with a later response is noticed by the server only.
            if let written, written.at > operation.queuedAt { return written.validators }
            return queued
        }
        let newest = try client.newestResponse(to: url, scopes: [scope], reader.access)
        // An answer without validators is older than a response that was there after it.
        if newest == nil, operation.kind == .update, written?.validators.isEmpty ?? true,
            let kept = try validators(keptBehind: operation, reader), written.map({ $0.at <= kept.at }) ?? true
        {
            return kept.validators
        }
        if let written, newest.map({ !$0.at.isLater(than: written.at, at: client.now) }) ?? true {
            return written.validators
        }
        return newest?.validators ?? Validators()
    }

    /// Whether the server may have values of the record that are not known here: none of the
    /// responses is that of its own URL.
    private func lacksValues(_ message: WriteMessage, _ reader: StoreReader) throws -> Bool {
        guard message.lacking != nil, let url = message.recordURL, case .success(let scope) = authScope else {
            return false
        }
        return try client.newestResponse(to: url, scopes: [scope], reader.access) == nil
    }

    /// The validators that a deletion behind an update has noted when it was queued: it has removed
    /// the responses that had them.
    private func validators(
        keptBehind update: OutboxOperation, _ reader: StoreReader
    ) throws -> (validators: Validators, at: Timestamp)? {
        let later = try reader.outbox.operations(of: update.entity, update.key, after: update.id)
        let deletion = later.first { $0.kind == .delete }
        guard let deletion, deletion.etag != nil || deletion.lastModified != nil else { return nil }
        return (Validators(etag: deletion.etag, lastModified: deletion.lastModified), deletion.queuedAt)
    }
}

extension APIClient {
    /// The validators of the newest usable response to a URL whose records were imported, and the
    /// time when it was validated, or when a later answer to a change has named its version.
    ///
    /// A response that only an HTTP cache has stored is none of them: nobody has seen its record
    /// here, and a write that claims its version would overwrite what another client has changed.
    /// One of the future was validated while the clock was ahead, before all others.
    func newestResponse(
        to url: String, scopes: [String], _ access: StoreAccess
    ) throws -> (validators: Validators, at: Timestamp)? {
        var newest: (at: Timestamp, headers: [String])?
        func note(_ view: ResponseView) throws -> Bool {
            let isUsable = view.status == 200 && (!view.isInvalidated || !view.knownVersion.isEmpty)
            if isUsable, newest.map({ view.versionAt.isLater(than: $0.at, at: now) }) ?? true {
                newest = (view.versionAt, try access.responses.version(of: view, at: now))
            }
            return true
        }
        for scope in scopes { try access.responses.forEach(to: url, scope: scope, note) }
        return newest.map { (Validators(TransportHeaders(flat: $0.headers)), $0.at) }
    }
}

extension Validators {
    /// Whether a write with these validators has a precondition.
    var areRequired: Bool { lastModified != nil || etag.map { !$0.hasPrefix("W/") } ?? false }

    /// The header fields: name, value, …
    var fields: [String] {
        (etag.map { ["ETag", $0] } ?? []) + (lastModified.map { ["Last-Modified", $0] } ?? [])
    }

    /// Makes a write conditional on the version that was seen.
    ///
    /// A weak entity tag never matches `If-Match` (RFC 9110 §13.1.1): the date replaces it. A
    /// precondition that the description declares, such as a version that is a field, stays.
    func require(in request: inout TransportRequest) {
        guard request.headers["If-Match"] == nil, request.headers["If-Unmodified-Since"] == nil else { return }
        if let etag, !etag.hasPrefix("W/") {
            request.headers["If-Match"] = etag
        } else {
            request.headers["If-Unmodified-Since"] = lastModified
        }
    }
}

extension TransportResponse {
    /// The failure of a request that was refused.
    func failure(of request: TransportRequest, at now: Timestamp) -> OutboxFailure {
        let refusal = refusalMessage
        let reason =
            status == 407
            ? TransportResponse.proxyDemand
            : "the server returned \(status)" + (refusal.isEmpty ? "" : ": \(refusal)")
        let message = "\(request.method) \(Redaction.shown(request.url)): \(reason)"
        return OutboxFailure(
            kind: "refused", status: status, message: message.printable(OutboxFailure.longestText),
            excerpt: body.isEmpty ? nil : String(decoding: shownBody.prefix(4096), as: UTF8.self).printable(4096),
            at: now)
    }
}

extension String {
    /// The text with spaces in place of control characters, cut to a number of bytes.
    func printable(_ limit: Int) -> String {
        var text = String.UnicodeScalarView(), count = 0
        for scalar in unicodeScalars {
            let isControl = [.control, .lineSeparator, .paragraphSeparator, .format].contains(
                scalar.properties.generalCategory)
            let next: Unicode.Scalar = isControl ? " " : scalar
            count += String(next).utf8.count
            guard count <= limit else { break }
            text.append(next)
        }
        return String(text)
    }
}
