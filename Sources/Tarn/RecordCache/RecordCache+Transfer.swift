// Transfers: requests to the server, and the storage of a response with its records in one change.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

/// Carries a result out of a transaction that is rolled back on purpose.
private struct NotStored: Error {
    var transfer: Transfer
}

extension RecordCache {
    func perform(_ prepared: PreparedRequest, isConditional: Bool) async throws -> Transfer {
        let stored = try store.read { try $0.access.responses.view(prepared.digest)?.entry }
        let known = isConditional ? stored.map(CachedResponse.init) : nil
        let request = known.map { options.rules.validation(of: $0, for: prepared.request) } ?? prepared.request
        await mirror.pause()
        let sent = timestamp
        let response = try await mirror.transport(for: prepared.endpoint).send(request)
        let received = timestamp
        await mirror.pause()
        let rule = mirror.rules(of: prepared.endpoint).first(for: response)
        switch rule?.action {
        case .empty: return try await take(response, prepared, stored, isEmpty: true, sent, received)
        case .fail, .retry, .refreshToken, .ignore, .stop: throw refusal(response, prepared, rule?.message)
        case nil: break
        }
        if let reason = response.partReason(askedWith: request.headers) { throw refusal(response, prepared, reason) }
        switch response.status {
        case 304:
            guard let stored, let known else {
                throw refusal(response, prepared, "not modified, but the request had no condition")
            }
            guard case .confirmed(let headers) = options.rules.validate(known, with: response),
                let transfer = try await confirm(stored, headers, prepared, sent, received)
                // The 304 is about another representation, or the entry was removed meanwhile.
            else { return try await perform(prepared, isConditional: false) }
            return transfer
        case 200..<300: return try await take(response, prepared, stored, isEmpty: false, sent, received)
        default:
            // The list itself is gone: its stored response is no longer an answer.
            if response.status == 404 || response.status == 410, stored != nil { try await forget(prepared) }
            throw refusal(response, prepared, nil)
        }
    }

    private var timestamp: Timestamp { Timestamp(options.mirror.time.now()) }

    private func refusal(_ response: TransportResponse, _ prepared: PreparedRequest, _ message: String?) -> MirrorError
    {
        .refusal(
            response, method: "GET", url: prepared.shownURL, message: message ?? EndpointScan.message(of: response))
    }

    /// The response that another process has fetched since a moment; nil if there is none.
    func fetched(_ prepared: PreparedRequest, since moment: Date) throws -> Transfer? {
        let began = Timestamp(moment)
        return try store.read { reader in
            guard let entry = try reader.access.responses.view(prepared.digest)?.entry,
                entry.validation.validatedAt >= began
            else {
                return nil
            }
            var transfer = Transfer(entry, entry.validation.fetchedAt >= began ? .fetched : .revalidated)
            transfer.isAnothers = true
            return transfer
        }
    }

    // MARK: 304

    /// Updates an entry after a 304; nil if the entry has changed since the request was sent.
    private func confirm(
        _ stored: ResponseEntry, _ headers: TransportHeaders, _ prepared: PreparedRequest, _ sent: Timestamp,
        _ received: Timestamp
    ) async throws -> Transfer? {
        let wants = prepared.pages.wants.fields, taken = uses.take(), mirror = mirror
        return try await store.write { writer in
            // A newer response, or an unsafe request, may have come in between: the 304 is not
            // about that.
            guard var entry = try writer.access.responses.entry(of: prepared.key), entry.isUnchanged(since: stored)
            else {
                return nil
            }
            entry.validation.headers = headers.kept(also: wants)
            entry.validation.validatedAt = received
            entry.validation.isInvalidated = false
            entry.caching = ResponseCaching(
                requestedAt: sent, selecting: entry.caching?.selecting ?? [], usedAt: received)
            try writer.putResponse(entry)
            try writer.noteUses(taken)
            try mirror.saveBudgets(&writer)
            return Transfer(entry, .revalidated)
        }
    }

    private func forget(_ prepared: PreparedRequest) async throws {
        try await store.write { writer in
            if let id = try writer.access.responses.view(prepared.digest)?.id { try writer.removeResponse(id: id) }
        }
    }

    // MARK: Another response

    private func take(
        _ response: TransportResponse, _ prepared: PreparedRequest, _ stored: ResponseEntry?, isEmpty: Bool,
        _ sent: Timestamp, _ received: Timestamp
    ) async throws -> Transfer {
        let pipeline = try pipelines.take(store)
        defer { pipelines.give(back: pipeline) }
        let hooks = options.mirror.hooks?(prepared.endpoint) ?? ImportHooks()
        pipeline.value.configure { $0.hooks = hooks }
        var walk = EndpointScan(
            mirror: mirror, endpoint: prepared.endpoint, pipeline: pipeline.value, authScope: prepared.key.authScope,
            fingerprint: "",
            progress: { _ in })
        walk.shownURL = prepared.shownURL
        let wants = prepared.pages.wants
        walk.questions = try walk.questions(wants)
        let added =
            try isEmpty
            ? Importer.Added(listed: [], count: 0)
            : walk.draft(response, prepared.parent, prepared.url, from: prepared.pages.listed)
        var entry = ResponseEntry(
            request: prepared.key,
            validation: .init(
                status: response.status, headers: TransportHeaders(stored: response).kept(also: wants.fields),
                fetchedAt: received, validatedAt: received),
            listing: .init(
                added.listed, count: added.count, skipped: added.skipped,
                metadata: PageMetadata(added.facts, wants, prepared.endpoint.metadata)?.text,
                scan: stored?.listing.scan ?? 0, walk: stored?.listing.walk),
            caching: ResponseCaching(
                requestedAt: sent,
                selecting: CacheRules.selectingFields(of: prepared.request.headers, by: response.headers).flat,
                usedAt: received))
        entry.validation.answeredBy = response.redirectedTo.map(mirror.canonicalURL)
        entry.listing.position = prepared.isPositioned ? prepared.pages.listPosition : stored?.listing.position
        guard options.rules.storability(of: response, to: prepared.request) == .storable else {
            return try await show(entry, prepared, pipeline, isReplacing: stored != nil)
        }
        return try await keep(entry, prepared, pipeline)
    }

    private func keep(_ entry: ResponseEntry, _ prepared: PreparedRequest, _ pipeline: PipelinePool.Lent) async throws
        -> Transfer
    {
        let taken = uses.take(), known = uses.all, options = options, mirror = mirror, now = timestamp
        let report = try await pipeline.value.importer.commit(to: store, responses: [entry]) { _, writer in
            try writer.removeSuperseded(by: prepared.key)
            try writer.noteUses(taken)
            let kept = try writer.access.responses.view(prepared.digest)?.id
            _ = try writer.evict(
                options.limits, uses: known, kept: kept, atMost: options.evictionStep, now: now,
                random: options.mirror.time.random)
            try mirror.saveBudgets(&writer)
        }
        // Rows are stored uncompressed until there is a dictionary.
        inBackground([], "training of dictionaries") { [store] in try store.trainDictionaries() }
        var transfer = Transfer(entry, .fetched, report: report)
        let dropped = Set(report.dropped)
        if !dropped.isEmpty { transfer.listed.removeAll { dropped.contains($0) } }
        return transfer
    }

    /// Imports a response that must not be stored into a transaction that is rolled back.
    ///
    /// RFC 9111 §5.2.1.5, §5.2.2.5.
    private func show(
        _ entry: ResponseEntry, _ prepared: PreparedRequest, _ pipeline: PipelinePool.Lent, isReplacing: Bool
    ) async throws -> Transfer {
        do {
            try await store.write(alone: true) { writer in
                let report = try pipeline.value.importer.commit(into: &writer)
                var transfer = Transfer(entry, .fetched, report: report)
                transfer.isStored = false
                let reader = try writer.reader()
                transfer.records = try entry.listing.listed.compactMap { try reader.access.record($0) }
                throw NotStored(transfer: transfer)
            }
            preconditionFailure("a transaction that is to be taken back has been committed")
        } catch let end as NotStored {
            // The entry that was stored before is no longer the answer.
            if isReplacing { try await forget(prepared) }
            return end.transfer
        }
    }
}

extension TransportHeaders {
    /// The fields of a response as they are stored for the requested URL.
    ///
    /// A response after redirects belongs to another URL (RFC 9111 §2), and the lifetime of the
    /// redirect is unknown here: it is never fresh.
    init(stored response: TransportResponse) {
        self = response.headers
        guard response.redirectedTo != nil else { return }
        self["Expires"] = nil
        let control = CacheControl(response.headers)
        self["Cache-Control"] =
            "max-age=0" + (control.mustRevalidate ? ", must-revalidate" : "") + (control.noCache ? ", no-cache" : "")
    }
}

extension StoreWriter {
    /// Removes entries of the same request under another mapping: their keys are out of use.
    fileprivate mutating func removeSuperseded(by key: RequestKey) throws {
        guard let name = key.endpoint.split(separator: " ").first else { return }
        var ids: [UInt64] = []
        try access.responses.forEach(to: key.url, scope: key.authScope) { view in
            if view.isCaches, view.endpoint != key.endpoint, view.endpoint.hasPrefix(name + " ") { ids.append(view.id) }
            return true
        }
        for id in ids { try removeResponse(id: id) }
    }
}
