// The answer to an operation that the server has taken: the key and the record that it names.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

extension OutboxLane {
    /// The longest URL of a created record that an operation keeps.
    private static let longestLocation = 8 << 10

    /// The outcome of an answer to a request that the server has carried out.
    ///
    /// - Parameter reason: the reason why its body could not be received; nil if it was.
    func finished(
        _ operation: OutboxOperation, _ message: WriteMessage, _ request: TransportRequest,
        _ response: TransportResponse, unreadable reason: String? = nil
    ) async -> SentOperation {
        var sent = SentOperation(operation: operation, outcome: .done(adopting: nil))
        if let outcome = outcome(ofPage: response, request, isWhole: reason == nil) {
            (sent.outcome, sent.hasArrived) = (outcome, true)
            return sent
        }
        sent.invalidated = invalidated(by: request, response, message)
        var isIgnored: Bool { rules.first(for: response)?.action == .ignore }
        if let reason = misled(response, request, operation.kind) {
            return unseen(reason, sent, response, request)
        }
        var key: RecordKey?
        // The body of a refusal that counts as done, such as a 404, has no record.
        sent.isReplayed = operation.mayHaveArrived && operation.kind != .delete
        if response.status == 303, operation.kind != .create { return await seen(response, message, request, sent) }
        if operation.kind == .delete || sent.isReplayed, let refused = refused(sent, response, message, request) {
            return refused
        }
        if let refused = refusedUpdate(sent, response, message, request) { return refused }
        if sent.isReplayed, operation.kind != .create { return await reread(message, sent) }
        if operation.kind != .delete, (200..<300).contains(response.status), !response.body.isEmpty {
            switch read(response, message, into: &sent) {
            case .record(let found): key = found
            case .unreadable(let reason):
                if let refused = refused(sent, response, message, request) { return refused }
                // At another URL, the answer may well be something else, such as the transition.
                if !message.isOfField || !message.records.keys.isEmpty {
                    sent.unread = unread(reason, response, request)
                }
            }
        } else if operation.kind != .delete, let reason {
            sent.unread = unread(reason, response, request)
        } else if (200..<300).contains(response.status), response.isMarkup, !isIgnored {
            // Perhaps from a server that answers every request like this.
            sent.unread = unread("it is \(response.markupText)", response, request)
        }
        // Those of a request for one field are of another resource.
        note(message.isOfField ? Validators() : Validators(response.headers), of: message, &sent)
        guard operation.kind == .create else { return sent }
        // With a key of its own, nothing else would tell that the server has the record.
        let mustSee = response.status == 303 && !operation.hasTemporaryKey && !isIgnored
        if key == nil, let location = WriteAnswer.location(status: response.status, response.headers) {
            guard let url = target(location, of: response, to: request) else {
                let reason = "its URL cannot be read: \(Redaction.shown(location).printable(200))"
                if mustSee { return unseen(reason, sent, response, request) }
                return identified(sent, nil, reason)
            }
            return await located(sent, url, message, seeOther: response.status == 303 ? response : nil)
        }
        if mustSee { return unseen("the answer (303) names no URL", sent, response, request) }
        let isAccepted = response.status == 202
        return identified(
            sent, key,
            isAccepted
                ? "its answer (202) names no key: it carries the creation out later"
                : "its answer names neither its key nor its URL")
    }

    /// Notes the validators of a record that an answer has brought.
    func note(_ validators: Validators, of message: WriteMessage, _ sent: inout SentOperation) {
        guard let url = message.recordURL else { return }
        // An answer that could not be read may validate another record than ours.
        let version = SentOperation.Version(
            url: url, validators: sent.unread == nil ? validators : Validators(), at: client.now)
        outbox.validators.set(url, version.validators, at: version.at)
        sent.version = version
        if sent.unread != nil { sent.invalidated.append(url) }
    }

    /// The URL to which an answer leads, as the API names it; nil if it cannot be read.
    func target(_ location: String, of response: TransportResponse, to request: TransportRequest) -> String? {
        guard let base = try? HTTPURL(response.redirectedTo ?? request.url), let url = try? base.resolving(location)
        else { return nil }
        return canonical(url.description)
    }

    /// Reads the record, if that is declared, instead of an answer that may be an earlier one.
    ///
    /// Without the record, the store keeps what was sent, and the next response to a list is
    /// requested without a condition.
    func reread(_ message: WriteMessage, _ done: SentOperation) async -> SentOperation {
        var sent = done
        guard let url = message.recordURL else { return sent }
        sent.moment = moment
        if message.isReadDeclared, let response = try? await transport.sendDirectly(client.request(url)),
            response.status == 200, case .record = read(response, message, into: &sent)
        {
            sent.version = SentOperation.Version(url: url, validators: Validators(response.headers), at: client.now)
        } else {
            outbox.validators.set(url, Validators(), at: client.now)
            sent.invalidated.append(url)
        }
        return sent
    }

    /// The failure of reading an answer to an operation that is done.
    func unread(_ reason: String, _ response: TransportResponse, _ request: TransportRequest) -> OutboxFailure {
        OutboxFailure(
            kind: OutboxFailure.answer, status: response.status,
            message: "\(request.method) \(Redaction.shown(request.url)): the server has the change, but its answer "
                .appending("has no record: \(reason); fetch the record").printable(OutboxFailure.longestText),
            excerpt: String(decoding: response.shownBody.prefix(4096), as: UTF8.self).printable(4096), at: client.now)
    }

    // MARK: Created records

    /// The outcome of a creation whose answer names the record's URL.
    ///
    /// The key follows from the URL, or the record is read there. If reading fails for a passing
    /// reason, the operation keeps the URL, and its next attempt reads the record again. A web page
    /// is such a reason for that attempt only: right behind the answer to the creation, it is not
    /// that of a network between.
    ///
    /// - Parameter seeOther: the answer if it redirects to the record (303), which is read then
    ///   although its key is known. If its key is not known, and what is read cannot be the record,
    ///   such as a login page, nothing tells whether the server has created it.
    func located(
        _ created: SentOperation, _ location: String, _ message: WriteMessage, seeOther: TransportResponse? = nil
    ) async -> SentOperation {
        var sent = created
        let operation = sent.operation, known: RecordKey?
        if location.utf8.count <= OutboxLane.longestLocation { sent.location = location }
        do {
            let lent = try outbox.importers.take(client.store)
            defer { outbox.importers.give(back: lent) }
            known = lent.value.key(ofURL: location, entity: operation.entity)
        } catch { return identified(sent, nil, "\(error)") }
        if let known, seeOther == nil { return identified(sent, known, "") }
        // A temporary key is kept with the URL, at which the record may be read later.
        func unseen(_ reason: String, isFinal: Bool = false) -> SentOperation? {
            guard let seeOther, known == nil, isFinal || !operation.hasTemporaryKey,
                rules.first(for: seeOther)?.action != .ignore
            else { return nil }
            return self.unseen(reason, sent, seeOther, message.message)
        }
        guard mayRead(location, from: message.message.url) else {
            let reason = "its URL leads to another server: \(Redaction.shown(location))"
            return unseen(reason) ?? unlocated(sent, known, reason)
        }
        let request = client.request(location), response: TransportResponse
        sent.moment = moment
        do throws(TransportError) { response = try await transport.sendDirectly(request) } catch {
            if error.isRefusedRedirect, let unseen = unseen("\(error)") { return unseen }
            return unlocated(sent, known, outcome(of: error).afterSending(at: client.now), "\(error)")
        }
        if let reason = notResult(response, of: request), let unseen = unseen(reason, isFinal: response.isMarkup) {
            return unseen
        }
        if operation.location != nil,
            let failure = failure(
                ofPage: response, request,
                "the server has created the record, which is read later; if the server itself answers like this, "
                    + "discard the operation, and fetch the record")
        {
            return unlocated(sent, known, .later(after: nil, failure), failure.message)
        }
        guard response.status == 200 else { return unlocated(sent, known, response, request) }
        switch read(response, message, into: &sent) {
        case .record(let key):
            sent.isReplayed = false
            return identified(sent, key ?? known, "the record at its URL has no key")
        case .unreadable(let reason):
            return unlocated(sent, known, "the answer of \(Redaction.shown(location)) has no record: \(reason)")
        }
    }

    /// The URL of the API for one in an answer, which may be below the address of the requests or
    /// below an alias.
    func canonical(_ url: String) -> String {
        let url = client.canonicalURL(url)
        return HTTPURL.rebase(link: url, from: client.api.aliases, onto: client.api.base) ?? url
    }

    /// Whether a created record may be read at a URL: not at a server that is none of the API.
    ///
    /// - Parameter source: the URL of the request that has created the record.
    func mayRead(_ location: String, from source: String) -> Bool {
        guard let url = try? HTTPURL(location) else { return false }
        return [source, client.api.base].contains { url.hasSameOrigin(asURL: $0) }
            || (client.api.aliases + client.api.follows).contains {
                HTTPURL.rebase(link: location, from: [$0], onto: $0) != nil
            }
    }

    /// Whether a request gets the API's credentials: they are not wrong if another server refuses.
    func getsCredentials(_ request: TransportRequest) -> Bool {
        (try? HTTPURL(request.url))?.hasSameOrigin(asURL: client.sentURL(client.api.base)) ?? false
    }

    /// The outcome of a creation whose record cannot be read at its URL.
    private func unlocated(
        _ sent: SentOperation, _ known: RecordKey?, _ response: TransportResponse, _ request: TransportRequest
    ) -> SentOperation {
        var failure = response.failure(of: request, at: client.now)
        failure.kind = "temporary"
        switch response.status {
        case 401 where getsCredentials(request), 407 where getsCredentials(request):
            failure.kind = "authentication"
            return unlocated(sent, known, .stopped(.authentication(failure.message), failure), failure.message)
        default:
            guard RetryPolicy.isPassing(.answer(status: response.status, headers: response.headers)) else {
                return unlocated(sent, known, failure.message)
            }
            let wait = RateLimit.wait(status: response.status, response.headers, now: client.options.time.now())
            return unlocated(sent, known, .later(after: wait, failure), failure.message)
        }
    }

    private func unlocated(
        _ sent: SentOperation, _ known: RecordKey?, _ outcome: SentOperation.Outcome, _ reason: String
    ) -> SentOperation {
        // With a key of its own, or of its URL, the record is complete without the answer.
        guard sent.operation.hasTemporaryKey, known == nil else { return unlocated(sent, known, reason) }
        if case .refused = outcome { return unlocated(sent, nil, reason) }
        // Another attempt would create the record again.
        guard sent.location != nil else { return unlocated(sent, nil, "\(reason), and its URL is too long to keep") }
        var sent = sent
        sent.outcome = outcome
        return sent
    }

    /// The outcome of a creation whose record is not read.
    ///
    /// - Parameter known: the key that follows from the record's URL; nil if none does.
    private func unlocated(_ sent: SentOperation, _ known: RecordKey?, _ reason: String) -> SentOperation {
        guard let known else { return identified(sent, nil, reason) }
        var sent = sent
        sent.unread = sent.unread ?? unread(reason)
        return identified(sent, known, "")
    }

    /// The failure of reading a created record at its URL.
    private func unread(_ reason: String) -> OutboxFailure {
        OutboxFailure(
            kind: OutboxFailure.answer,
            message: "the server has created the record, but it could not be read: \(reason); fetch the record"
                .printable(OutboxFailure.longestText), at: client.now)
    }

    /// The outcome of a creation.
    ///
    /// - Parameters:
    ///   - key: the server's key; nil if it is not known.
    ///   - reason: the reason why it is not known.
    func identified(_ created: SentOperation, _ key: RecordKey?, _ reason: String) -> SentOperation {
        var sent = created
        let operation = sent.operation
        if key == nil, operation.hasTemporaryKey {
            let details = [reason, sent.unread?.message].compactMap(\.self).joined(separator: "; ")
            sent.outcome = .refused(
                OutboxFailure(
                    kind: OutboxFailure.unidentified, status: sent.unread?.status,
                    message:
                        "the server has accepted the creation, but \(details); discard the operation, and fetch the record"
                        .printable(OutboxFailure.longestText), excerpt: sent.unread?.excerpt, at: client.now))
            sent.unread = nil
            return sent
        }
        if key == nil, sent.unread == nil, sent.location != nil { sent.unread = unread(reason) }
        sent.location = nil
        sent.outcome = .done(adopting: key == operation.key ? nil : key)
        return sent
    }

    // MARK: Drafts

    /// The record of an answer.
    enum Reading {
        /// The answer has records. The key is that of the operation's own record, if it has one.
        case record(RecordKey?)
        case unreadable(String)
    }

    /// Drafts the record of an answer.
    func read(_ response: TransportResponse, _ message: WriteMessage, into sent: inout SentOperation) -> Reading {
        let operation = sent.operation
        guard operation.kind == .add || operation.kind == .remove else {
            return draft(response, message, operation.entity, into: &sent) { added in
                guard added.listed.count == 1 else { return "it has \(added.listed.count) records with a key" }
                guard operation.kind != .create, added.listed[0].storageKey != operation.key.storageKey else {
                    return nil
                }
                return "it is not \(operation.record)"
            }
        }
        return readMembers(response, message, into: &sent)
    }

    /// Drafts the answer to a request for a member: the record, the member, or a list of members.
    private func readMembers(
        _ response: TransportResponse, _ message: WriteMessage, into sent: inout SentOperation
    ) -> Reading {
        let operation = sent.operation, catalog = client.store.catalog
        guard let memberEntity = operation.memberEntity, let member = operation.members.first?.storageKey,
            let root = catalog.entity(operation.entity)?.root, let memberRoot = catalog.entity(memberEntity)?.root
        else { return .unreadable("the member is not known") }
        let document: JSONValue
        do throws(ImportError) {
            guard let text = String(validating: response.body, as: UTF8.self) else {
                return .unreadable("it is no text")
            }
            document = try JSONValue(text)
        } catch { return .unreadable("\(error)") }
        let place = message.records.keys.reduce(document as JSONValue?) { $0?[$1] }
        if case .array? = place {
            return draft(response, message, memberEntity, into: &sent) { added in
                added.skipped == 0 ? nil : "\(added.skipped) of its records have no key"
            }
        }
        let own = operation.key.storageKey
        if root != memberRoot, own == member {
            return .unreadable("it may be \(operation.entity) or \(memberEntity) \(operation.key)")
        }
        let reading = draft(response, message, operation.entity, into: &sent) { added in
            added.listed.map(\.storageKey) == [own] ? nil : "it is not \(operation.record)"
        }
        guard case .unreadable = reading else { return reading }
        return draft(response, message, memberEntity, into: &sent) { added in
            added.listed.map(\.storageKey) == [member] ? nil : "it is neither \(operation.record) nor the member"
        }
    }

    /// Drafts the records of an answer.
    ///
    /// - Parameter problem: returns the reason why the records are not those of the operation.
    private func draft(
        _ response: TransportResponse, _ message: WriteMessage, _ entity: String, into sent: inout SentOperation,
        problem: (Importer.Added) -> String?
    ) -> Reading {
        let lent: ImporterPool.Lent
        do { lent = try outbox.importers.take(client.store) } catch { return .unreadable("\(error)") }
        var context = ImportContext()
        context.source = Redaction.shown(message.message.url)
        if entity == sent.operation.entity { context.parameters = parameters(ofKeyOf: sent.operation) }
        lent.value.conceal(secretsOf: response)
        do throws(ImportError) {
            let added = try lent.value.add(response.body, records: message.records, entity: entity, context: context)
            if let reason = problem(added) {
                outbox.importers.give(back: lent)
                return .unreadable(reason)
            }
            // Those of an answer before it, which lack the record.
            if let earlier = sent.importer { outbox.importers.give(back: earlier) }
            sent.importer = lent
            return .record(added.listed.first.flatMap { lent.value.key(of: $0) })
        } catch {
            let error = lent.value.concealed(error)
            outbox.importers.give(back: lent)
            return .unreadable("\(error)")
        }
    }
}

extension HTTPURL {
    fileprivate func hasSameOrigin(asURL text: String) -> Bool {
        (try? HTTPURL(text)).map { $0.hasSameOrigin(as: self) } ?? false
    }
}
