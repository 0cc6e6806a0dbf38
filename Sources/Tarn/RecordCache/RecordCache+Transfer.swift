// Transfers: requests to the server, and the storage of a response with its records in one change.

import Foundation
import Locking
import TarnHTTP
import TarnImport
import TarnStore

/// Carries a result out of a transaction that is rolled back on purpose.
private struct NotStored: Error {
    var transfer: Transfer
}

extension RecordCache {
    /// The state of the resource that a transfer is about to read, which the transfer holds.
    ///
    /// An unsafe request of an HTTP cache over the same store ends it: the response may be from
    /// before that request.
    func state(of prepared: PreparedRequest) throws -> ResourceState {
        let url = prepared.key.url
        return try states.current((try? HTTPURL(url).normalized.description) ?? url) {
            try store.read { try $0.access.settings.unsafeRequests }
        }
    }

    func perform(_ prepared: PreparedRequest, isConditional: Bool) async throws -> Transfer {
        let state = try state(of: prepared)
        let (stored, revision) = try store.read { reader in
            (try reader.access.responses.view(prepared.digest)?.entry, try reader.outbox.revision)
        }
        let known = isConditional ? stored.map(CachedResponse.init) : nil
        let request = known.map { options.rules.validation(of: $0, for: prepared.message) } ?? prepared.message
        let client = prepared.request.client
        await client.pause()
        let sent = client.now
        let response = try await client.transport(
            for: prepared.endpoint, logger: prepared.options.logger
        ).send(request)
        let received = client.now
        await client.pause()
        switch prepared.request.decision(about: response, sent: request.headers) {
        case .records(let isEmpty):
            var transfer = try await take(
                response, prepared, stored, isEmpty: isEmpty, outboxRevision: revision, state, sent, received)
            if prepared.options.keepsBody { transfer.body = isEmpty ? [] : response.body }
            return transfer
        case .failed(let message): throw refusal(response, prepared, message)
        case .ignored: return try passedOver(response, prepared, .passedOver, received)
        case .last:
            // The page is gone: its stored response is no longer an answer.
            if stored != nil, prepared.options.scan != nil, prepared.options.isPersisted { try await forget(prepared) }
            let end = try prepared.options.scan == nil ? .last : prepared.ending(refusedBy: response)
            return try passedOver(response, prepared, end, received)
        case .notModified:
            guard let stored, let known else {
                throw refusal(response, prepared, "not modified, but the request had no condition")
            }
            if try prepared.mayGoOn(stored, confirmedBy: response.headers) || hasMoved(stored, prepared) {
                return try await perform(prepared, isConditional: false)
            }
            guard case .confirmed(let headers) = options.rules.validate(known, with: response),
                let transfer = try await !prepared.options.isPersisted
                    ? Transfer(stored, .revalidated) : confirm(stored, headers, prepared, state, sent, received)
                // The 304 is about another representation, or the entry was removed meanwhile.
            else { return try await perform(prepared, isConditional: false) }
            return transfer
        case .refused:
            // The list itself is gone: its stored response is no longer an answer.
            if response.status == 404 || response.status == 410, stored != nil, prepared.options.isPersisted {
                try await forget(prepared)
            }
            throw refusal(response, prepared, nil)
        }
    }

    /// The transfer of a response by which, by a rule, a typed request lists nothing, and ends.
    ///
    /// - Throws: `MirrorError.refusal` for a request that has no list of its own.
    func passedOver(
        _ response: TransportResponse, _ prepared: PreparedRequest, _ ending: Transfer.Ending, _ received: Timestamp
    ) throws -> Transfer {
        guard prepared.options.scan != nil else { throw refusal(response, prepared, nil) }
        let importer = try PageImporter(prepared.request, prepared.pages.wants)
        let entry = importer.entry(
            prepared.key, response, headers: response.headers, Importer.Added(listed: [], count: 0), at: received)
        var transfer = Transfer(entry, .fetched)
        transfer.isStored = false
        transfer.records = []
        transfer.ending = ending
        if prepared.options.keepsBody { transfer.body = [] }
        return transfer
    }

    /// Returns whether the records of a stored page are at other positions of the list by now, and
    /// their mapping reads these.
    private func hasMoved(_ stored: ResponseEntry, _ prepared: PreparedRequest) throws -> Bool {
        guard prepared.isPositioned, (stored.listing.position?.recordsBefore ?? 0) != prepared.pages.listed else {
            return false
        }
        let lent = try importers.take(store)
        defer { importers.give(back: lent) }
        return lent.value.takesSurroundings
    }

    private func refusal(_ response: TransportResponse, _ prepared: PreparedRequest, _ message: String?) -> MirrorError
    {
        .refusal(response, method: "GET", url: prepared.shownURL, message: message ?? response.refusalMessage)
    }

    /// The response that another process has fetched since a moment; nil if there is none.
    func fetched(_ prepared: PreparedRequest, since moment: Date) throws -> Transfer? {
        // One of the future was fetched before, while the clock was ahead.
        let began = Timestamp(moment), now = max(began, Timestamp(client.options.time.now()))
        return try store.read { reader in
            guard let entry = try reader.access.responses.view(prepared.digest)?.entry,
                // An import by another mapping may have followed.
                entry.validation.validatedAt >= began, entry.validation.validatedAt <= now,
                !entry.validation.isInvalidated
            else {
                return nil
            }
            var transfer = Transfer(entry, entry.validation.fetchedAt >= began ? .fetched : .revalidated)
            transfer.isAnothers = true
            return transfer
        }
    }

    // MARK: 304

    /// Updates an entry after a 304, or removes it if the 304 forbids to keep it.
    ///
    /// - Returns: nil if the entry has changed since the request was sent.
    private func confirm(
        _ stored: ResponseEntry, _ headers: TransportHeaders, _ prepared: PreparedRequest, _ state: ResourceState,
        _ sent: Timestamp, _ received: Timestamp
    ) async throws -> Transfer? {
        let wants = prepared.pages.wants.fields, taken = uses.take(), rules = options.rules
        return try await store.write { writer in
            // A newer response, or an unsafe request, may have come in between: the 304 is not
            // about that.
            guard try !state.hasEnded(writer.access.settings.unsafeRequests),
                var entry = try writer.access.responses.entry(of: prepared.key), entry.isUnchanged(since: stored)
            else {
                return nil
            }
            entry.validation.headers = headers.kept(also: wants)
            entry.validation.validatedAt = received
            entry.validation.isInvalidated = false
            entry.mapping = prepared.request.client.mappingDigest
            // The 304 is the answer to this request: from now on its fields select the response.
            entry.caching = ResponseCaching(
                requestedAt: sent, selecting: prepared.message.selecting(headers), usedAt: received)
            // A 304 may forbid the storage that the stored response has allowed.
            let control = CacheControl(headers)
            let isStored =
                (control.mustUnderstand || !control.noStore)
                && rules.permits(CachedResponse(entry), for: prepared.message)
            if isStored { try writer.putResponse(entry) }
            try writer.responses.noteUses(taken)
            try prepared.request.client.saveBudgets(&writer)
            var transfer = Transfer(entry, .revalidated)
            guard isStored else {
                transfer.isStored = false
                let access = writer.access
                transfer.records = try entry.listing.listed.compactMap { try access.record($0) }
                if let id = try access.responses.view(prepared.digest)?.id { try writer.removeResponse(id: id) }
                return transfer
            }
            if let reading = prepared.options.reading {
                let reader = try writer.reader()
                // A record that cannot be read is an error of the read that follows then.
                transfer.read = try? reading.records(entry.listing.listed, reader)
            }
            return transfer
        }
    }

    /// Removes the stored response to a request.
    func forget(_ prepared: PreparedRequest) async throws {
        try await store.write { writer in
            if let id = try writer.access.responses.view(prepared.digest)?.id { try writer.removeResponse(id: id) }
        }
    }

    // MARK: Another response

    /// Imports a response, and stores its entry if that is allowed.
    ///
    /// - Parameter state: the state of the resource when the request was sent; nil if it is
    ///   unknown.
    func take(
        _ response: TransportResponse, _ prepared: PreparedRequest, _ stored: ResponseEntry?, isEmpty: Bool,
        outboxRevision revision: UInt64?, _ state: ResourceState?, _ sent: Timestamp, _ received: Timestamp
    ) async throws -> Transfer {
        let started = ContinuousClock.now, lent = try importers.take(store)
        defer { importers.give(back: lent) }
        lent.value.hooks = hooks(for: prepared.endpoint, prepared.options)
        lent.value.keyLimit = client.options.keyLimit
        let importer = try PageImporter(prepared.request, prepared.pages.wants)
        let page = PageImporter.Page(
            url: prepared.url, shownURL: prepared.shownURL, position: prepared.pages.listed)
        let added =
            try isEmpty
            ? Importer.Added(listed: [], count: 0) : importer.draft(response, page, into: lent.value)
        var entry = importer.entry(
            prepared.key, response, headers: TransportHeaders(stored: response), added, at: received)
        entry.valueVariant = prepared.endpoint.valueVariant(prepared.options.hooks)
        entry.listing.scan = stored?.listing.scan ?? 0
        entry.listing.identity =
            prepared.options.scan.map {
                ScanIdentity.responses(of: $0, prepared.endpoint, authScope: prepared.request.authScope)
            }
            ?? stored?.listing.identity
        entry.caching = ResponseCaching(
            requestedAt: sent, selecting: prepared.message.selecting(response.headers), usedAt: received)
        entry.listing.position = prepared.isPositioned ? prepared.pages.listPosition : stored?.listing.position
        let failure = isEmpty ? nil : importer.partialFailure(response, page)
        let isPersisted = prepared.options.isPersisted
        var transfer: Transfer
        if isPersisted, options.rules.storability(of: response, to: prepared.message) == .storable {
            transfer = try await keep(entry, prepared, lent, revision, state, isWhole: failure == nil)
        } else {
            transfer = try await show(entry, lent)
            // The entry that was stored before is no longer the answer.
            if isPersisted, stored != nil { try await forget(prepared) }
        }
        (transfer.partialFailure, transfer.cutLists) = (failure, importer.cutLists(entry))
        return logged(transfer, response, prepared, since: started)
    }

    private func logged(
        _ transfer: Transfer, _ response: TransportResponse, _ prepared: PreparedRequest,
        since started: ContinuousClock.Instant
    ) -> Transfer {
        if let report = transfer.report {
            var log: ImportLog {
                var log = ImportLog(
                    prepared.key, bytes: response.body.count, duration: ContinuousClock.now - started)
                log.isStored = transfer.isStored
                return log
            }
            client.log(report, log)
        }
        return transfer
    }

    /// The import hooks of the cache, followed by those of a request.
    func hooks(for endpoint: Endpoint, _ request: TransferOptions) -> ImportHooks {
        request.hooks.following(options.hooks?(endpoint) ?? ImportHooks())
    }

    /// Imports a response, and makes it the stored answer of its request.
    ///
    /// - Parameter isWhole: whether the response has all of its records. Otherwise only its records
    ///   are stored: no other request is answered with it, and no 304 confirms it.
    private func keep(
        _ entry: ResponseEntry, _ prepared: PreparedRequest, _ lent: ImporterPool.Lent, _ outboxRevision: UInt64?,
        _ state: ResourceState?, isWhole: Bool
    ) async throws -> Transfer {
        let taken = uses.take(), known = uses.all, options = options, client = prepared.request.client
        let now = client.now, read = Guarded<ResponseReading.Records?>(nil), copies = Guarded<[Record]?>(nil)
        let others = others
        lent.value.unit = ImportUnit(responses: isWhole ? [entry] : []) { report, writer in
            // Typed requests with other hooks or header fields have answers of their own.
            if isWhole, prepared.options.scan == nil { try writer.removeSuperseded(by: prepared.key) }
            try writer.outdateCollectedMirrors(of: others)
            if report.updated > 0 { try writer.responses.outdateVariants(of: [entry]) }
            if let state, try state.hasEnded(writer.access.settings.unsafeRequests) {
                try writer.outdateResponse(to: prepared.digest)
            }
            try writer.responses.noteUses(taken)
            let kept = try writer.access.responses.view(prepared.digest)?.id
            _ = try writer.responses.evict(
                options.limits, uses: known, kept: kept, atMost: options.evictionStep, now: now,
                random: client.options.time.random)
            try client.saveBudgets(&writer)
            let dropped = Set(report.dropped)
            let listed = dropped.isEmpty ? entry.listing.listed : entry.listing.listed.filter { !dropped.contains($0) }
            try prepared.options.onImport?(listed, &writer)
            if !isWhole {
                // Records of the stored answer have other values by now: no 304 confirms it.
                if let id = try writer.access.responses.view(prepared.digest)?.id {
                    try writer.responses.removeValidators(ofResponse: id)
                }
                let records = try listed.compactMap { try writer.access.record($0) }
                copies.withLock { $0 = records }
            }
            // If they cannot be read, the caller gets the error, and the store the response.
            if let reading = prepared.options.reading {
                let reader = try writer.reader(), records = try? reading.records(listed, reader)
                read.withLock { $0 = records }
            }
        }
        lent.value.unit.outboxRevision = outboxRevision
        lent.value.unit.keepsPlaces = true
        let report = try await lent.value.commit(to: store)
        // Rows are stored uncompressed until there is a dictionary.
        inBackground([], "training of dictionaries") { [store] in try store.trainDictionaries() }
        var transfer = Transfer(entry, .fetched, report: report)
        let dropped = Set(report.dropped)
        if !dropped.isEmpty { transfer.listed.removeAll { dropped.contains($0) } }
        transfer.read = read.withLock(\.self)
        transfer.isStored = isWhole
        transfer.records = copies.withLock(\.self)
        return transfer
    }

    /// Imports a response that must not be stored into a transaction that is rolled back.
    ///
    /// RFC 9111 §5.2.1.5, §5.2.2.5.
    func show(_ entry: ResponseEntry, _ lent: ImporterPool.Lent) async throws -> Transfer {
        do {
            try await store.write(alone: true) { writer in
                let report = try lent.value.commit(into: &writer)
                var transfer = Transfer(entry, .fetched, report: report)
                transfer.isStored = false
                let reader = try writer.reader()
                transfer.records = try entry.listing.listed.compactMap { try reader.access.record($0) }
                throw NotStored(transfer: transfer)
            }
            preconditionFailure("a transaction that must be rolled back was committed")
        } catch let end as NotStored {
            return end.transfer
        }
    }
}

extension StoreWriter {
    /// Marks the stored response to a request as unusable until the server has confirmed it.
    fileprivate mutating func outdateResponse(to digest: RequestDigest) throws {
        // One that is marked already may keep its version, which writes require.
        guard let view = try access.responses.view(digest), !view.isInvalidated else { return }
        try responses.invalidate(id: view.id)
    }

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
