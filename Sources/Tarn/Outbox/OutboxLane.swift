// One operation on its way: decided by code, sent, its answer classified and drafted.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

/// An operation that a drain has claimed.
struct ClaimedOperation: Sendable {
    var operation: OutboxOperation
    /// The conflict that code has to decide before the operation is sent.
    var conflict: OpenConflict?
}

/// The outcome of an attempt, which the next commit applies.
struct SentOperation: Sendable {
    enum Outcome: Sendable {
        /// The server has the change. The key is that of the answer.
        case done(adopting: RecordKey?)
        /// The attempt failed for a passing reason.
        case later(after: Duration?, OutboxFailure)
        /// The operation cannot be sent, or the server refuses it for good.
        case refused(OutboxFailure)
        /// The server has refused a precondition, and its record was read.
        case refreshed(OutboxFailure, isSameVersion: Bool)
        /// The server no longer has the record.
        case gone(OutboxFailure)
        /// Code has decided a conflict.
        case decided(ConflictDecision)
        /// Nothing was sent: the outbox stops.
        case stopped(OutboxReport.Stop, OutboxFailure)
        case cancelled
    }

    var operation: OutboxOperation
    var outcome: Outcome
    /// The drafts of the answer.
    var importer: ImporterPool.Lent?
    /// The URLs whose stored responses are invalid now.
    var invalidated: [String] = []
}

/// Sends operations on the records of one API, several at a time.
struct OutboxLane: Sendable {
    let outbox: Outbox
    /// The client of the API: its credentials are sent to no other one.
    let client: APIClient
    let authScope: String
    let transport: RetryingTransport
    let rules: [ResponseRule]

    init(_ outbox: Outbox, _ client: APIClient) async {
        self.outbox = outbox
        self.client = client
        authScope = (try? await client.authScope()) ?? ""
        let endpoint = Endpoint(name: "outbox", path: "/", entity: "")
        // Attempts are counted and spaced by the outbox, which keeps them over restarts.
        transport = client.transport(for: endpoint, retry: .never)
        rules = client.rules(of: endpoint)
    }

    func builder(_ access: StoreAccess) -> WriteMessageBuilder { WriteMessageBuilder(client: client, access: access) }

    func send(_ claimed: ClaimedOperation) async -> SentOperation {
        let operation = claimed.operation
        if let conflict = claimed.conflict {
            return SentOperation(operation: operation, outcome: .decided(await conflict.decided()))
        }
        let message: WriteMessage
        do {
            message = try client.store.read { try builder($0.access).message(for: operation) }
        } catch {
            let failure = OutboxFailure(kind: "request", message: "\(error)", at: client.now)
            return SentOperation(operation: operation, outcome: .refused(failure))
        }
        if let bridge = outbox.bridge { return await send(operation, message, through: bridge) }
        var request = message.message
        let validators = message.recordURL.flatMap { known($0) } ?? Validators()
        validators.require(in: &request)
        let response: TransportResponse
        do throws(TransportError) { response = try await transport.send(request) } catch {
            return SentOperation(operation: operation, outcome: outcome(of: error))
        }
        let rule = rules.first(for: response)
        let answer = WriteAnswer.classify(
            operation.kind, status: response.status, response.headers, hasBody: !response.body.isEmpty,
            rule: rule?.action, now: client.options.time.now())
        var failure = response.failure(of: request, at: client.now)
        if let text = rule?.message { failure.message = text }
        switch answer {
        case .done, .location:
            return await finished(operation, message, request, response, answer)
        case .retry(let delay):
            failure.kind = "temporary"
            return SentOperation(operation: operation, outcome: .later(after: delay, failure))
        case .conflict:
            failure.kind = "conflict"
            return await refreshed(operation, message, validators, failure)
        case .authentication:
            failure.kind = "authentication"
            return SentOperation(operation: operation, outcome: .stopped(.authentication(failure.message), failure))
        case .refused: return SentOperation(operation: operation, outcome: .refused(failure))
        }
    }

    func outcome(of error: TransportError) -> SentOperation.Outcome {
        let failure = OutboxFailure(kind: error.kind.rawValue, message: "\(error)", at: client.now)
        if error.kind == .cancelled { return .cancelled }
        if error.isUnreachable { return .stopped(.unreachable(failure.message), failure) }
        switch WriteAnswer.classify(error.kind) {
        case .authentication: return .stopped(.authentication(failure.message), failure)
        case .refused: return .refused(failure)
        default: return .later(after: nil, failure)
        }
    }

    // MARK: Answers

    private func finished(
        _ operation: OutboxOperation, _ message: WriteMessage, _ request: TransportRequest,
        _ response: TransportResponse, _ answer: WriteAnswer
    ) async -> SentOperation {
        var sent = SentOperation(operation: operation, outcome: .done(adopting: nil))
        let invalidated = CacheRules.invalidated(by: request, response)
        sent.invalidated = invalidated + invalidated.map(client.canonicalURL).filter { !invalidated.contains($0) }
        if let url = message.recordURL { outbox.validators.set(url, Validators(response.headers)) }
        guard operation.kind == .create || operation.kind == .update else { return sent }
        var key = draft(response, message, into: &sent)
        if key == nil, operation.kind == .create,
            let location = response.headers["Location"] ?? response.headers["Content-Location"]
        {
            key = await located(location, operation, message, request, into: &sent)
        }
        if operation.kind == .create {
            if key == nil, operation.hasTemporaryKey {
                var failure = response.failure(of: request, at: client.now)
                failure.kind = "unidentified"
                failure.message =
                    "the server has created the record, but its answer names neither its key nor its URL; "
                    + "discard the operation, and fetch the record"
                sent.outcome = .refused(failure)
                return sent
            }
            sent.outcome = .done(adopting: key == operation.key ? nil : key)
        }
        return sent
    }

    /// Drafts the record of an answer.
    ///
    /// - Returns: the key of the record; nil if the answer has none.
    private func draft(
        _ response: TransportResponse, _ message: WriteMessage, into sent: inout SentOperation
    ) -> RecordKey? {
        guard !response.body.isEmpty, let lent = try? outbox.importers.take(client.store) else { return nil }
        let importer = lent.value
        var context = ImportContext()
        context.source = Redaction.shown(message.message.url)
        let added = try? importer.add(
            response.body, records: message.records, entity: sent.operation.entity, context: context)
        guard let added, !importer.hasFailed, added.listed.count == 1, let listed = added.listed.first,
            let key = listed.storageKey.withUnsafeBytes({ RecordKey(storageKey: $0) })
        else {
            outbox.importers.give(back: lent)
            return nil
        }
        sent.importer = lent
        return key
    }

    /// Returns the key of a record that the server has created at a URL.
    private func located(
        _ location: String, _ operation: OutboxOperation, _ message: WriteMessage, _ request: TransportRequest,
        into sent: inout SentOperation
    ) async -> RecordKey? {
        guard let base = try? HTTPURL(request.url), let url = try? base.resolving(location) else { return nil }
        let canonical = client.canonicalURL(url.description)
        if let lent = try? outbox.importers.take(client.store) {
            defer { outbox.importers.give(back: lent) }
            if let key = lent.value.key(ofURL: canonical, entity: operation.entity) { return key }
        }
        // A server that the API's credentials must not reach is not asked for the record.
        guard base.hasSameOrigin(as: url) else { return nil }
        let reading = client.transport(for: Endpoint(name: "outbox", path: "/", entity: ""))
        guard let response = try? await reading.send(client.request(canonical)), response.status == 200 else {
            return nil
        }
        return draft(response, message, into: &sent)
    }

    /// Reads the record after a conflict.
    private func refreshed(
        _ operation: OutboxOperation, _ message: WriteMessage, _ sentWith: Validators, _ failure: OutboxFailure
    ) async -> SentOperation {
        var sent = SentOperation(operation: operation, outcome: .refused(failure))
        guard let url = message.recordURL else { return sent }
        let response: TransportResponse
        do throws(TransportError) { response = try await transport.send(client.request(url)) } catch {
            sent.outcome = outcome(of: error)
            return sent
        }
        switch response.status {
        case 200:
            let validators = Validators(response.headers)
            outbox.validators.set(url, validators)
            guard draft(response, message, into: &sent) != nil else {
                sent.outcome = .refused(failure)
                return sent
            }
            let isSame = failure.status == 409 || validators == sentWith || validators.isEmpty
            sent.outcome = .refreshed(failure, isSameVersion: isSame)
        case 404, 410: sent.outcome = operation.kind == .delete ? .done(adopting: nil) : .gone(failure)
        case 401: sent.outcome = .stopped(.authentication(failure.message), failure)
        default:
            let isPassing = RetryPolicy.isPassing(.answer(status: response.status, headers: response.headers))
            sent.outcome = isPassing ? .later(after: nil, failure) : .refused(failure)
        }
        return sent
    }

    // MARK: Validators

    /// The validators of the newest response to a record's URL; nil if there is none.
    private func known(_ url: String) -> Validators? {
        if let known = outbox.validators[url] { return known }
        let requested = client.requestURL(url)
        return try? client.store.read { reader in
            var newest: (at: Timestamp, headers: [String])?
            func note(_ view: ResponseView) -> Bool {
                if view.status == 200, !view.isInvalidated, view.validatedAt > newest?.at ?? Timestamp(microseconds: 0)
                {
                    newest = (view.validatedAt, view.headers)
                }
                return true
            }
            try reader.access.responses.forEach(to: url, scope: authScope, note)
            try reader.access.responses.forEachWhole(to: requested, note)
            return newest.map { Validators(TransportHeaders(flat: $0.headers)) }
        }
    }
}

extension Validators {
    /// Makes a write conditional on the version that was seen.
    ///
    /// A weak entity tag never matches `If-Match` (RFC 9110 §13.1.1): the date replaces it.
    func require(in request: inout TransportRequest) {
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
        let message =
            "\(request.method) \(Redaction.shown(request.url)): the server returned \(status)"
            + (refusal.isEmpty ? "" : ": \(refusal)")
        return OutboxFailure(
            kind: "refused", status: status, message: message.printable(OutboxFailure.longestText),
            excerpt: body.isEmpty ? nil : String(decoding: body.prefix(4096), as: UTF8.self).printable(4096), at: now)
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
