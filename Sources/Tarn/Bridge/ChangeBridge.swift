import TarnHTTP
import TarnImport
import TarnStore

/// The change side of a bridge, without the types of its requests.
struct ChangeBridge: Sendable {
    /// One operation of a change.
    struct Step: Sendable {
        var operation: RemoteOperation<Void>
        /// The parts of a response, and the operations that follow.
        var answer: @Sendable (TransportResponse) throws -> (parts: [RemotePart], next: [Step])
    }

    let steps: @Sendable (RemoteChange) throws -> [Step]

    init<B: Bridge>(_ bridge: B) {
        @Sendable func step(_ operation: RemoteOperation<B.Info>) -> Step {
            Step(
                operation: RemoteOperation(
                    operation.method, operation.url, headers: operation.headers, body: operation.body, info: ())
            ) { response in
                let answer = try bridge.answer(response, to: operation)
                return (answer.parts, answer.next.map(step))
            }
        }
        steps = { change in try bridge.operations(for: change).map(step) }
    }
}

extension Outbox {
    /// Returns the outbox whose operations a bridge turns into requests.
    ///
    /// The description, or the program, declares the changes that an entity has, and what their
    /// bodies contain; the bridge decides what is sent. The outbox does the rest: order, attempts,
    /// back-off, dead letters, the server's keys. If an answer of the bridge throws, the server has
    /// refused the operation for good. ``RESTBridge`` sends the precondition of the declared
    /// request, and the policy decides conflicts; with another bridge, a conflict that the server
    /// reports is a refusal.
    public func sending(through bridge: some Bridge) -> Outbox {
        var outbox = self
        outbox.bridge = ChangeBridge(bridge)
        return outbox
    }
}

extension OutboxLane {
    /// Sends an operation through a bridge.
    func send(
        _ operation: OutboxOperation, _ declared: WriteMessage, _ validators: Validators,
        through bridge: ChangeBridge
    ) async -> SentOperation {
        var declared = declared
        validators.require(in: &declared.message)
        var sent = SentOperation(operation: operation, outcome: .done(adopting: nil)), steps: [ChangeBridge.Step]
        do {
            let change = try client.store.read { try builder($0.access).change(for: operation, declared) }
            steps = try bridge.steps(change)
        } catch {
            let failure = OutboxFailure(kind: "request", message: "\(error)".printable(4096), at: client.now)
            return SentOperation(operation: operation, outcome: .refused(failure))
        }
        var key: RecordKey?, count = 0
        while !steps.isEmpty {
            let step = steps.removeFirst()
            count += 1
            do {
                guard count <= client.options.pageLimit else { throw RemoteError("more than \(count - 1) operations") }
                let message = try message(of: step.operation, declared)
                let response: TransportResponse
                do throws(TransportError) { response = try await transport.send(message) } catch {
                    sent.outcome = outcome(of: error)
                    return sent
                }
                if let outcome = outcome(of: response, to: message, operation, step) {
                    // The bridge has sent the precondition of the declared request.
                    if case .refused(var failure) = outcome, response.status == 409 || response.status == 412,
                        message.hasPrecondition
                    {
                        failure.kind = "conflict"
                        if let lent = sent.importer { outbox.importers.give(back: lent) }
                        return await refreshed(operation, declared, validators, failure)
                    }
                    sent.outcome = outcome
                    return sent
                }
                sent.invalidated += CacheRules.invalidated(by: message, response)
                if let url = declared.recordURL {
                    let isRecord = message.url == declared.message.url
                    outbox.validators.set(url, isRecord ? Validators(response.headers) : Validators(), at: client.now)
                }
                // A deletion of a record that is gone has its effect.
                guard (200..<300).contains(response.status) else { continue }
                let answer = try step.answer(response)
                key = draft(answer.parts, response, message, into: &sent) ?? key
                steps += answer.next
            } catch {
                sent.outcome = .refused(
                    OutboxFailure(kind: "refused", message: "\(error)".printable(4096), at: client.now))
                return sent
            }
        }
        guard operation.kind == .create else { return sent }
        return identified(sent, key, "its answer does not have it")
    }

    /// The outcome of a response that is no success; nil for a success.
    private func outcome(
        of response: TransportResponse, to message: TransportRequest, _ operation: OutboxOperation,
        _ step: ChangeBridge.Step
    ) -> SentOperation.Outcome? {
        let rule = rules.first(for: response)
        var failure = response.failure(of: message, at: client.now)
        if let text = rule?.message { failure.message = text }
        switch WriteAnswer.classify(
            operation.kind, status: response.status, response.headers, hasBody: true, rule: rule?.action,
            now: client.options.time.now())
        {
        case .done, .location: return nil
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
    private func message(of operation: RemoteOperation<Void>, _ declared: WriteMessage) throws -> TransportRequest {
        var message = try client.message(for: operation, place: "the bridge of the outbox")
        // The key of the change is that of all its operations' attempts.
        let name = declared.idempotencyField
        if let name, message.headers[name] == nil { message.headers[name] = declared.message.headers[name] }
        return message
    }

    /// Drafts the records of an answer.
    ///
    /// - Returns: the key of its first record of the operation's entity; nil if there is none.
    private func draft(
        _ parts: [RemotePart], _ response: TransportResponse, _ message: TransportRequest,
        into sent: inout SentOperation
    ) -> RecordKey? {
        guard !parts.isEmpty else { return nil }
        let lent: ImporterPool.Lent
        do { lent = try sent.importer ?? outbox.importers.take(client.store) } catch {
            sent.unread = unread("\(error)", response, message)
            return nil
        }
        var key: RecordKey?
        let root = client.store.catalog.entity(sent.operation.entity)?.root
        do throws(ImportError) {
            for part in parts {
                let added = try part.draft(response, source: Redaction.shown(message.url), into: lent.value)
                guard let listed = added.listed.first(where: { $0.entity == root }) else { continue }
                key = key ?? listed.storageKey.withUnsafeBytes { RecordKey(storageKey: $0) }
            }
        } catch {
            // The server has the change, whatever its answer is.
            sent.unread = unread("\(error)", response, message)
            guard !lent.value.hasFailed else {
                sent.importer = nil
                outbox.importers.give(back: lent)
                return nil
            }
        }
        sent.importer = lent
        return key
    }
}

extension TransportRequest {
    /// Whether the request has an effect on one version of its resource only.
    fileprivate var hasPrecondition: Bool { headers["If-Match"] != nil || headers["If-Unmodified-Since"] != nil }
}
