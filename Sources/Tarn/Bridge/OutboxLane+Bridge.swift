// The operations of a change that a bridge returns: sent in their order, their answers drafted.

import TarnHTTP
import TarnImport
import TarnStore

extension OutboxLane {
    /// Sends an operation through a bridge.
    func send(
        _ operation: OutboxOperation, _ declared: WriteMessage, _ validators: Validators,
        through bridge: ChangeBridge
    ) async -> SentOperation {
        var attempt = BridgedAttempt(operation, declared)
        var declared = declared
        validators.require(in: &declared.message)
        do {
            let change = try client.store.read { try builder($0.access).change(for: operation, declared) }
            attempt.steps = try bridge.steps(change)
        } catch {
            return attempt.ended(outcome(ofBuilding: error), at: client.now)
        }
        while !attempt.steps.isEmpty {
            let step = attempt.steps.removeFirst()
            attempt.count += 1
            do {
                let limit = client.options.pageLimit
                guard attempt.count <= limit else { throw RemoteError("more than \(limit) operations") }
                let message = try message(of: step.operation, declared, number: attempt.count)
                if let ended = try await perform(step, message, declared, validators, &attempt) { return ended }
            } catch {
                let failure = OutboxFailure(kind: "refused", message: "\(error)".printable(4096), at: client.now)
                return attempt.ended(.refused(failure), at: client.now)
            }
        }
        return await result(of: attempt, declared)
    }

    /// Sends one operation, and takes its answer.
    ///
    /// - Returns: the result of the attempt if it ends with the operation; nil if it goes on.
    /// - Throws: what the bridge throws about a response: the server has refused the operation.
    private func perform(
        _ step: ChangeBridge.Step, _ message: TransportRequest, _ declared: WriteMessage, _ validators: Validators,
        _ attempt: inout BridgedAttempt
    ) async throws -> SentOperation? {
        var response: TransportResponse
        do throws(TransportError) { response = try await transport.send(message) } catch {
            guard let answer = error.answer else { return attempt.ended(outcome(of: error), at: client.now) }
            if answer.status == 303, message.returnsSeeOther {
                // Its content is not the result.
                response = answer
            } else if let outcome = outcome(ofPage: answer, message, isWhole: false) {
                return attempt.ended(outcome, at: client.now, mayHaveArrived: true)
            } else if (200..<300).contains(answer.status) {
                // Sent again, the operation would have a second effect.
                note(answer, to: message, declared, &attempt)
                attempt.warn(unread("\(error)", answer, message))
                return nil
            } else {
                return attempt.ended(outcome(of: error), at: client.now)
            }
        }
        var source: String?
        if response.status == 303, message.returnsSeeOther {
            note(response, to: message, declared, &attempt)
            switch await seeOther(response, message, isBridged: true) {
            case .read(let url, let found): (source, response) = (url, found)
            case .unread(let reason), .elsewhere(let reason):
                // The bridge may have further operations for the result.
                return unseen(reason, attempt.sent, response, message)
            }
        } else if let reason = misled(response, message, attempt.operation.kind, isBridged: true) {
            return unseen(reason, attempt.sent, response, message)
        }
        let isDeclared = message.isSame(as: declared.message)
        if let outcome = outcome(of: response, to: message, attempt.operation, step, isDeclared: isDeclared) {
            // The bridge has sent the precondition of the declared request.
            if case .refused(var failure) = outcome, response.status == 409 || response.status == 412,
                message.hasPrecondition
            {
                failure.kind = "conflict"
                if let lent = attempt.sent.importer { outbox.importers.give(back: lent) }
                return await refreshed(attempt.operation, attempt.declared, validators, failure)
            }
            return attempt.ended(outcome, at: client.now)
        }
        // After the rules, which may name another outcome.
        if source == nil, let outcome = outcome(ofPage: response, message) {
            return attempt.ended(outcome, at: client.now, mayHaveArrived: true)
        }
        note(response, of: source, to: message, declared, &attempt)
        // The body of a refusal that counts as done has no record.
        guard (200..<300).contains(response.status) else { return nil }
        if isDeclared, source == nil,
            let refused = refused(attempt.sent, response, declared, message)
                ?? refusedUpdate(attempt.sent, response, declared, message)
        {
            return attempt.ended(refused.outcome, at: client.now)
        }
        let answer = try step.answer(response)
        draft(answer, response, message, into: &attempt)
        if !answer.errors.isEmpty {
            let reasons = answer.errors.map(\.description).joined(separator: "; ")
            attempt.warn(warning("reports: \(reasons)", response, message))
        }
        attempt.steps += answer.next
        return nil
    }

    /// Notes what follows from the fields of an answer to an operation that is done.
    ///
    /// - Parameter source: the URL at which the result was read after a 303; nil without one.
    private func note(
        _ response: TransportResponse, of source: String? = nil, to message: TransportRequest,
        _ declared: WriteMessage, _ attempt: inout BridgedAttempt
    ) {
        attempt.sent.invalidated += invalidated(by: message, response, declared)
        if let url = declared.recordURL {
            let isDeclared = response.status != 303 && message.url == declared.message.url && !declared.isOfField
            let isRecord = source.map { $0 == url } ?? isDeclared
            outbox.validators.set(url, isRecord ? Validators(response.headers) : Validators(), at: client.now)
        }
        // The URL of what was looked up is not that of a created record.
        guard message.returnsSeeOther, (200..<300).contains(response.status) || response.status == 303,
            attempt.location == nil,
            let location = WriteAnswer.location(status: response.status, response.headers),
            let base = try? HTTPURL(message.url), let url = try? base.resolving(location)
        else { return }
        attempt.location = canonical(url.description)
    }

    /// The outcome of a response that is no success; nil for a success.
    private func outcome(
        of response: TransportResponse, to message: TransportRequest, _ operation: OutboxOperation,
        _ step: ChangeBridge.Step, isDeclared: Bool
    ) -> SentOperation.Outcome? {
        let rule = rules.first(for: response)
        var failure = response.failure(of: message, at: client.now)
        if let text = rule?.message { failure.message = text }
        switch WriteAnswer.classify(
            operation.kind, status: response.status, response.headers, hasBody: true, rule: rule?.action,
            now: client.options.time.now())
        {
        case .done, .location:
            // The path is missing: the record is gone if the path is its own.
            if isDeclared || (200..<300).contains(response.status) || rule?.action == .ignore { return nil }
            do { _ = try step.answer(response) } catch {
                if let error = error as? RemoteError { failure.message = error.description.printable(4096) }
                return .refused(failure)
            }
            return nil
        case .retry(let delay):
            failure.kind = "temporary"
            return .later(after: delay, failure)
        case .authentication:
            failure.kind = "authentication"
            return .stopped(.authentication(failure.message), failure)
        case .conflict, .refused:
            // The bridge knows where its language has the reason.
            do { _ = try step.answer(response) } catch let error as RemoteError {
                failure.message = error.description.printable(4096)
            } catch {}
            return .refused(failure)
        }
    }

    /// The message of an operation, without credentials.
    private func message(
        of operation: RemoteOperation<Void>, _ declared: WriteMessage, number: Int
    ) throws -> TransportRequest {
        var message = try client.message(for: operation, place: "the bridge of the outbox")
        // A failure of reading the result must not repeat the operation. A look-up has no effect.
        message.returnsSeeOther = message.method != "GET" && message.method != "HEAD"
        // The first operation has the key of the change, and each has the same one in all attempts.
        if let name = declared.idempotencyField, message.headers[name] == nil, let key = declared.message.headers[name]
        {
            message.headers[name] = number == 1 ? key : WriteRequest.key(derivedFrom: key, "\(number)")
        }
        return message
    }

    // MARK: Answers

    /// Drafts the records of an answer.
    private func draft(
        _ answer: ChangeBridge.Answer, _ response: TransportResponse, _ message: TransportRequest,
        into attempt: inout BridgedAttempt
    ) {
        let operation = attempt.operation
        // An answer to an earlier attempt may be older than what a sync has brought since.
        guard !answer.parts.isEmpty, !attempt.sent.isReplayed || operation.kind == .create else { return }
        let lent: ImporterPool.Lent
        do { lent = try attempt.sent.importer ?? outbox.importers.take(client.store) } catch {
            attempt.warn(unread("\(error)", response, message))
            return
        }
        let root = client.store.catalog.entity(operation.entity)?.root
        do throws(ImportError) {
            for part in answer.parts {
                let added = try part.draft(
                    response, source: Redaction.shown(message.url), besides: answer.errors, into: lent.value)
                guard client.store.catalog.entity(part.entity)?.root == root else { continue }
                let found = added.listed.filter { $0.entity == root }
                if attempt.key == nil, let first = found.first { attempt.key = lent.value.key(of: first) }
                if found.contains(where: { $0.storageKey == operation.key.storageKey }) {
                    attempt.hasOwn = true
                } else if added.count > 0, attempt.others == nil {
                    attempt.others = unread("it is not \(operation.record)", response, message)
                }
            }
        } catch {
            // The server has the change, whatever its answer is.
            attempt.warn(unread("\(error)", response, message))
            guard !lent.value.hasFailed else {
                attempt.sent.importer = nil
                outbox.importers.give(back: lent)
                return
            }
        }
        attempt.sent.importer = lent
    }

    /// A warning about an answer to an operation that is done.
    private func warning(
        _ text: String, _ response: TransportResponse, _ message: TransportRequest
    ) -> OutboxFailure {
        OutboxFailure(
            kind: OutboxFailure.answer, status: response.status,
            message: "\(message.method) \(Redaction.shown(message.url)): the server has the change, and \(text)"
                .printable(OutboxFailure.longestText),
            excerpt: String(decoding: response.shownBody.prefix(4096), as: UTF8.self).printable(4096), at: client.now)
    }

    /// The outcome of a change whose operations are done.
    private func result(of attempt: BridgedAttempt, _ declared: WriteMessage) async -> SentOperation {
        var sent = attempt.sent
        let operation = attempt.operation
        if sent.isReplayed, operation.kind != .create { return await reread(declared, sent) }
        if operation.kind == .update, !attempt.hasOwn, let others = attempt.others {
            if let lent = sent.importer { outbox.importers.give(back: lent) }
            sent.importer = nil
            sent.unread = sent.unread ?? others
        }
        if sent.unread != nil, let url = declared.recordURL {
            // An answer that could not be read may validate another record than ours.
            outbox.validators.set(url, Validators(), at: client.now)
            sent.invalidated.append(url)
        }
        guard operation.kind == .create else { return sent }
        // Answers may have records of other entities only.
        if attempt.key == nil, let location = attempt.location {
            return await located(sent, location, declared)
        }
        return identified(sent, attempt.key, "its answer does not have it")
    }
}

extension TransportRequest {
    /// Whether the request has an effect on one version of its resource only.
    fileprivate var hasPrecondition: Bool { headers["If-Match"] != nil || headers["If-Unmodified-Since"] != nil }

    /// Whether a request asks for the same as another one, whatever its header fields are.
    fileprivate func isSame(as other: TransportRequest) -> Bool {
        method == other.method && url == other.url && body == other.body
    }
}
