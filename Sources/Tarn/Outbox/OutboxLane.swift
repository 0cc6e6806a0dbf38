// One operation on its way: decided by code, sent, its answer classified.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

/// Sends operations on the records of one API, several at a time.
struct OutboxLane: Sendable {
    let outbox: Outbox
    /// The client of the API: its credentials are sent to no other one.
    let client: APIClient
    /// The scope of the API's credentials, or the reason why there are none.
    private let authScope: Result<String, TransportError>
    let transport: RetryingTransport
    let rules: [ResponseRule]

    /// - Throws: `StoreError`. Missing credentials are the outcome of each operation.
    init(_ outbox: Outbox, _ client: APIClient) async throws {
        self.outbox = outbox
        self.client = client
        do { authScope = .success(try await client.authScope()) } catch let error as TransportError {
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
        let operation = claimed.operation
        if let conflict = claimed.conflict {
            return SentOperation(operation: operation, outcome: .decided(await conflict.decided()))
        }
        // One snapshot for the message and for what it depends on.
        let message: WriteMessage, known: Result<Validators, any Error>
        do {
            (message, known) = try client.store.read { reader in
                let message = try builder(reader.access).message(for: operation)
                return (message, Result { try self.known(message.recordURL, reader) })
            }
        } catch {
            let failure = OutboxFailure(kind: "request", message: "\(error)", at: client.now)
            return SentOperation(operation: operation, outcome: .refused(failure))
        }
        if case .failure(let error) = authScope {
            return SentOperation(operation: operation, outcome: outcome(of: error))
        }
        // The server has created the record already.
        if let location = operation.location {
            return await located(SentOperation(operation: operation, outcome: .done(adopting: nil)), location, message)
        }
        var request = message.message
        let validators: Validators
        do { validators = try known.get() } catch {
            // Without its validator the request could overwrite a change of the server.
            let failure = OutboxFailure(kind: "store", message: "\(error)".printable(4096), at: client.now)
            return SentOperation(operation: operation, outcome: .later(after: nil, failure))
        }
        if let bridge = outbox.bridge { return await send(operation, message, validators, through: bridge) }
        validators.require(in: &request)
        let response: TransportResponse
        do throws(TransportError) { response = try await transport.sendDirectly(request) } catch {
            return SentOperation(operation: operation, outcome: outcome(of: error))
        }
        let rule = rules.first(for: response)
        let answer = WriteAnswer.classify(
            operation.kind, status: response.status, response.headers, hasBody: !response.body.isEmpty,
            rule: rule?.action, now: client.options.time.now())
        if case .done = answer { return await finished(operation, message, request, response) }
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

    // MARK: Validators

    /// The validators of the newest response to a record's URL; none without a response, or
    /// without credentials.
    private func known(_ url: String?, _ reader: StoreReader) throws -> Validators {
        guard let url, case .success(let scope) = authScope else { return Validators() }
        if let known = outbox.validators[url] { return known }
        var newest: (at: Timestamp, headers: [String])?
        func note(_ view: ResponseView) -> Bool {
            if view.status == 200, !view.isInvalidated, view.validatedAt > newest?.at ?? Timestamp(microseconds: 0) {
                newest = (view.validatedAt, view.headers)
            }
            return true
        }
        try reader.access.responses.forEach(to: url, scope: scope, note)
        try reader.access.responses.forEachWhole(to: client.requestURL(url), note)
        return newest.map { Validators(TransportHeaders(flat: $0.headers)) } ?? Validators()
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
