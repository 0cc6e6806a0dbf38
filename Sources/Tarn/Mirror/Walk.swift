// One endpoint of a mirror: its pages, one after the other, committed one by one or several together.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

struct Walk {
    let mirror: Mirror
    let endpoint: Endpoint
    let importer: Importer
    let authScope: String
    let fingerprint: String
    let progress: @Sendable (SyncProgress) -> Void
    var report: SyncReport.Endpoint
    /// What is being asked for, as it is named in errors.
    private var shownURL = ""
    /// What makes a commit.
    private let unit: Endpoint.CommitUnit
    /// What is not committed yet.
    private var batch = Batch()

    init(
        mirror: Mirror, endpoint: Endpoint, importer: Importer, authScope: String, fingerprint: String,
        progress: @escaping @Sendable (SyncProgress) -> Void
    ) {
        self.mirror = mirror
        self.endpoint = endpoint
        self.importer = importer
        self.authScope = authScope
        self.fingerprint = fingerprint
        self.progress = progress
        report = SyncReport.Endpoint(name: endpoint.name)
        unit = mirror.options.commitUnit ?? endpoint.commitUnit
    }

    /// A stored record that the endpoint is walked for.
    private struct Parent {
        var key: RecordKey
        var values: [String: String]
    }

    /// Walks the endpoint, once or for every parent. What goes wrong is in the report.
    mutating func run() async {
        importer.hooks = mirror.options.hooks?(endpoint) ?? ImportHooks()
        defer { importer.hooks = ImportHooks() }
        do {
            guard let forEach = endpoint.forEach else {
                await walk(parent: nil)
                return await end()
            }
            for parent in try parents(forEach) {
                await walk(parent: parent)
                if report.failures.contains(where: \.endsEverything) { break }
            }
            await end()
        } catch {
            report.failures.append(Mirror.mirrorError(error, url: "", place: endpoint.place))
        }
    }

    /// Commits what is left of the last batch.
    private mutating func end() async {
        do {
            try await flush()
        } catch {
            report.failures.append(Mirror.mirrorError(error, url: shownURL, place: place))
        }
    }

    private func parents(_ forEach: Endpoint.ForEach) throws -> [Parent] {
        let names = endpoint.pathVariables.filter { $0.hasPrefix(forEach.variable + ".") }
        return try mirror.store.read { reader in
            var parents: [Parent] = []
            try reader.forEach(forEach.entity) { record in
                var parent = Parent(key: record.key, values: [:])
                for name in names {
                    let attribute = String(name.dropFirst(forEach.variable.count + 1))
                    // A partial record may lack what the path needs; a later sync will have it.
                    guard let value = record[attribute], value != .null else { return true }
                    parent.values[name] = value.plainText
                }
                parents.append(parent)
                return true
            }
            return parents
        }
    }

    private mutating func walk(parent: Parent?) async {
        shownURL = Redaction.url(mirror.requestURL(mirror.description.api.base + endpoint.path))
        do {
            try await walk(from: try firstURL(parent), parent)
        } catch {
            let error = Mirror.mirrorError(error, url: shownURL, place: place)
            report.failures.append(error)
            // A walk that is one change is none now, nor is a unit that a record without a key has failed, and whoever cancels wants
            // nothing more to happen. Otherwise pages that were fetched before are kept.
            if case .cancelled = error { return discard() }
            if unit == .walk || batch.isEmpty || importer.hasFailed { return discard() }
            await end()
        }
    }

    private mutating func discard() {
        importer.discard()
        batch = Batch()
    }

    private var place: String { "\(endpoint.place), endpoint \(endpoint.name)" }

    private func firstURL(_ parent: Parent?) throws -> String {
        let template = try PathTemplate(endpoint.path)
        var values = parent?.values ?? [:]
        for parameter in endpoint.parameters where template.variables.contains(parameter.name) {
            values[parameter.name] = parameter.value
        }
        let query = endpoint.parameters.filter { !template.variables.contains($0.name) }.map { ($0.name, $0.value) }
        return QueryParameters.append(query, to: mirror.description.api.base + (try template.expanded(values)))
    }

    private mutating func walk(from first: String, _ parent: Parent?) async throws {
        let name = parent.map { "\(endpoint.name) \($0.key)" } ?? endpoint.name
        let api = mirror.description.api
        var pages = try PageSequence(
            endpoint.pagination, url: first, base: api.base, aliases: api.aliases + [mirror.options.base].compactMap(\.self),
            pageLimit: mirror.options.pageLimit)
        let plan = SHA256.hexadecimal(first + "\n" + fingerprint)
        let identity = WalkIdentity(name: name, endpoint, authScope: authScope, plan: plan)
        let old = try mirror.store.read { try $0.checkpoint(name) }
        try await finishOrphans(old, identity, name, plan, parent: parent?.key)
        var checkpoint = Checkpoint(
            state: .underWay, plan: plan, nextURL: pages.url, scan: (old?.scan ?? 0) + 1, pages: 0, records: 0,
            startedAt: .now, completedAt: old?.completedAt, members: endpoint.orphans == nil ? nil : identity.members)
        if let old, old.state == .underWay, old.plan == plan, let next = old.nextURL, !mirror.options.restarts,
            !mirror.options.refetches
        {
            // What is noted under something else, or not at all, is not known at the end.
            let members = old.members == checkpoint.members ? old.members : nil
            checkpoint = old
            checkpoint.members = members
            if next != pages.url { try pages.resume(at: next, ordinal: old.pages + 1) }
            report.isResumed = report.isResumed || old.pages > 0
        }
        var goesOn = true
        while goesOn {
            try Task.checkCancellation()
            goesOn = try await page(&pages, &checkpoint, checkpointName: name, identity, parent)
            if case .pages(let limit) = unit, batch.pages.count >= limit { try await flush() }
        }
        if unit == .walk { try await flush() }
    }

    /// Fetches one page and adds it to the batch. False if it was the last.
    private mutating func page(
        _ pages: inout PageSequence, _ checkpoint: inout Checkpoint, checkpointName: String, _ identity: WalkIdentity, _ parent: Parent?
    ) async throws -> Bool {
        let url = pages.url
        let key = RequestKey(url: url, endpoint: "\(endpoint.name) \(fingerprint)", authScope: authScope)
        var request = mirror.request(url)
        shownURL = Redaction.url(request.url)
        let stored = try mirror.options.refetches ? nil : mirror.store.read { try $0.response(to: key) }
        if let stored { Validators(HTTPHeaders(flat: stored.headers)).apply(to: &request) }
        progress(snapshot(requesting: shownURL))
        let response = try await mirror.transport.send(request)
        var entry: ResponseEntry
        var isImported = false
        switch response.status {
        case 304:
            guard let stored else {
                throw MirrorError.status(
                    code: 304, method: "GET", url: shownURL, message: "not modified, but the request had no condition")
            }
            entry = stored
            entry.headers = HTTPHeaders(flat: stored.headers).updated(byNotModified: response.headers).kept
            entry.validatedAt = .now
        case 200..<300:
            let added = try draft(response, parent, url, from: checkpoint.records)
            isImported = true
            entry = ResponseEntry(
                request: key, status: response.status, headers: response.headers.kept, fetchedAt: .now, validatedAt: .now,
                scan: checkpoint.scan, count: added.count, listed: added.listed, skipped: added.skipped)
        default:
            throw MirrorError.status(
                code: response.status, method: "GET", url: shownURL, message: Walk.message(of: response))
        }
        entry.scan = checkpoint.scan
        entry.walk = identity.responses
        let page = Batch.Page(entry: entry, isImported: isImported, members: endpoint.orphans == nil ? nil : identity.members)
        let before = checkpoint
        checkpoint.pages += 1
        checkpoint.records += entry.count
        checkpoint.skipped += entry.skipped
        let hasNext: Bool
        do {
            hasNext = try pages.advance(
                headers: HTTPHeaders(flat: entry.headers), recordCount: entry.count,
                answeredBy: response.redirectedTo.map(mirror.canonicalURL))
        } catch {
            // The page itself is sound and is kept. The walk will go on with it: counted now, it would count twice, and the
            // number of the page after it would be one too high.
            batch.add(page, before, checkpointName)
            throw error
        }
        checkpoint.nextURL = hasNext ? pages.url : nil
        if !hasNext {
            checkpoint.state = .complete
            checkpoint.completedAt = .now
            if let rules = endpoint.orphans {
                checkpoint.hasOrphans = mayHaveOrphans(rules, checkpoint)
                if checkpoint.hasOrphans {
                    batch.completed.append(
                        Batch.Completed(walk: identity, parent: parent?.key, checkpointName: checkpointName, scan: checkpoint.scan))
                }
            }
        }
        batch.add(page, checkpoint, checkpointName)
        return hasNext
    }

    /// - Parameters:
    ///   - url: what was asked for, as the API names it.
    ///   - position: how many records the pages before list.
    private func draft(
        _ response: HTTPResponse, _ parent: Parent?, _ url: String, from position: Int
    ) throws -> Importer.Added {
        // 204 and other empty answers list nothing (RFC 9110 §15.3.5).
        if response.body.isEmpty, response.status != 200 { return Importer.Added(listed: [], count: 0) }
        let reference = endpoint.forEach?.parent.flatMap { relationship in
            parent.map { ParentReference(relationship: relationship, key: $0.key) }
        }
        let context = context(response, parent, url, from: position), known = importer.diagnostics.count
        let added = try endpoint.envelope.isEmpty
            ? importer.add(response.body, records: endpoint.records, entity: endpoint.entity, parent: reference, context: context)
            : importer.add(response.body, envelope: endpoint.envelope, context: context)
        // Of this page: others of the batch have their own.
        if added.skipped > 0, added.listed.isEmpty,
            let diagnostic = importer.diagnostics.dropFirst(known).first(where: { $0.code == .keyMissing })
        {
            throw MirrorError.noKeys(diagnostic, url: shownURL, place: place)
        }
        return added
    }

    /// What the mapping may take from beside the body: parameters of the description, those of the record that the endpoint is walked
    /// for, and those of the query that was sent, which go before.
    private func context(_ response: HTTPResponse, _ parent: Parent?, _ url: String, from position: Int) -> ImportContext {
        var parameters = parent?.values ?? [:]
        for parameter in endpoint.parameters { parameters[parameter.name] = parameter.value }
        // Of a parameter that stands in the query several times, the first.
        for (name, value) in QueryParameters.values(in: url).reversed() { parameters[name] = value }
        return ImportContext(
            headers: response.headers.fields.map { ($0.name, $0.value) }, parameters: parameters, firstPosition: position)
    }

    /// Commits the batch: all of it, or nothing. Then looks for the orphans of walks that are complete with it.
    private mutating func flush() async throws {
        guard !batch.isEmpty else { return }
        let done = batch
        batch = Batch()
        let imported = try await importer.commit(
            to: mirror.store, responses: done.pages.filter(\.isImported).map(\.entry),
            revalidated: done.pages.filter { !$0.isImported }.map(\.entry), checkpoints: done.checkpoints
        ) { report, writer in
            let dropped = Set(report.dropped)
            for page in done.pages {
                guard let members = page.members else { continue }
                try writer.noteListed(page.entry.listed.filter { !dropped.contains($0) }, walk: members, scan: page.entry.scan)
            }
        }
        report.report.add(imported)
        for page in done.pages { count(page.entry, isImported: page.isImported) }
        if done.pages.contains(where: \.isImported) { try mirror.store.trainDictionaries() }
        for walk in done.completed { try await lookForOrphans(walk) }
    }

    private mutating func count(_ entry: ResponseEntry, isImported: Bool) {
        report.pages += 1
        report.listed += entry.count
        if !isImported { report.notModified += 1 }
        progress(snapshot(requesting: nil))
    }

    private func snapshot(requesting url: String?) -> SyncProgress {
        SyncProgress(
            endpoint: endpoint.name, pages: report.pages, notModified: report.notModified, listed: report.listed,
            requesting: url)
    }

    /// What the server says about a refusal: the usual members of a JSON answer, else the beginning of the text, on one line.
    private static func message(of response: HTTPResponse) -> String {
        let text: String
        if let object = try? JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any],
            let said = ["message", "error", "detail", "title", "error_description"].lazy.compactMap({ object[$0] as? String }).first
        {
            text = said
        } else {
            text = String(decoding: response.body.prefix(200), as: UTF8.self)
        }
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.count > 160 ? line.prefix(160) + "…" : line
    }
}

extension Timestamp {
    static var now: Timestamp { Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000)) }
}

extension HTTPHeaders {
    /// Fields that a later request or page needs: validators, links, freshness.
    private static let keptNames = [
        "ETag", "Last-Modified", "Link", "Cache-Control", "Expires", "Date", "Age", "Vary", "Content-Type",
    ]

    fileprivate var kept: [String] {
        fields.filter { field in HTTPHeaders.keptNames.contains { $0.lowercased() == field.name.lowercased() } }
            .flatMap { [$0.name, $0.value] }
    }

    fileprivate init(flat: [String]) {
        self.init(stride(from: 0, to: flat.count - 1, by: 2).map { Field(flat[$0], flat[$0 + 1]) })
    }
}
