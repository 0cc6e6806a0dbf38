// One endpoint of a mirror: its pages, one after the other, each one commit.

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
    }

    /// A stored record that the endpoint is walked for.
    private struct Parent {
        var key: RecordKey
        var values: [String: String]
    }

    /// Walks the endpoint, once or for every parent. What goes wrong is in the report.
    mutating func run() async {
        do {
            guard let forEach = endpoint.forEach else { return await walk(parent: nil) }
            for parent in try parents(forEach) {
                await walk(parent: parent)
                if report.failures.contains(where: \.endsEverything) { return }
            }
        } catch {
            report.failures.append(Mirror.mirrorError(error, url: "", place: endpoint.place))
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
            importer.discard()
            report.failures.append(Mirror.mirrorError(error, url: shownURL, place: place))
        }
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
        let old = try mirror.store.read { try $0.checkpoint(name) }
        var checkpoint = Checkpoint(
            state: .underWay, plan: plan, nextURL: pages.url, scan: (old?.scan ?? 0) + 1, pages: 0, records: 0,
            startedAt: .now, completedAt: old?.completedAt)
        if let old, old.state == .underWay, old.plan == plan, let next = old.nextURL, !mirror.options.restarts,
            !mirror.options.refetches
        {
            checkpoint = old
            if next != pages.url { try pages.resume(at: next, ordinal: old.pages + 1) }
            report.isResumed = report.isResumed || old.pages > 0
        }
        var goesOn = true
        while goesOn {
            try Task.checkCancellation()
            goesOn = try await page(&pages, &checkpoint, checkpointName: name, parent)
        }
    }

    /// Fetches and commits one page. False if it was the last.
    private mutating func page(
        _ pages: inout PageSequence, _ checkpoint: inout Checkpoint, checkpointName: String, _ parent: Parent?
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
                scan: checkpoint.scan, count: added.count, listed: added.listed)
        default:
            throw MirrorError.status(
                code: response.status, method: "GET", url: shownURL, message: Walk.message(of: response))
        }
        entry.scan = checkpoint.scan
        let before = checkpoint
        checkpoint.pages += 1
        checkpoint.records += entry.count
        let hasNext: Bool
        do {
            hasNext = try pages.advance(
                headers: HTTPHeaders(flat: entry.headers), recordCount: entry.count,
                answeredBy: response.redirectedTo.map(mirror.canonicalURL))
        } catch {
            // The page itself is sound and is kept. The walk will go on with it: counted now, it would count twice, and the
            // number of the page after it would be one too high.
            try await commit(entry, before, checkpointName, isImported: isImported)
            count(entry, isImported: isImported)
            throw error
        }
        checkpoint.nextURL = hasNext ? pages.url : nil
        if !hasNext {
            checkpoint.state = .complete
            checkpoint.completedAt = .now
        }
        try await commit(entry, checkpoint, checkpointName, isImported: isImported)
        count(entry, isImported: isImported)
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
        let context = context(response, parent, url, from: position)
        let added = try endpoint.envelope.isEmpty
            ? importer.add(response.body, records: endpoint.records, entity: endpoint.entity, parent: reference, context: context)
            : importer.add(response.body, envelope: endpoint.envelope, context: context)
        if added.count > 0, added.listed.isEmpty, let diagnostic = importer.diagnostics.first(where: { $0.code == .keyMissing }) {
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

    private mutating func commit(
        _ entry: ResponseEntry, _ checkpoint: Checkpoint, _ name: String, isImported: Bool
    ) async throws {
        // The importer belongs to this walk, which does nothing else until the write has returned.
        nonisolated(unsafe) let importer = importer
        let imported = try await mirror.store.write(alone: true) { writer in
            let report = isImported ? try importer.commit(into: &writer) : ImportReport()
            var entry = entry
            if !report.dropped.isEmpty { entry.listed.removeAll { report.dropped.contains($0) } }
            try writer.putResponse(entry)
            try writer.setCheckpoint(name, checkpoint)
            return report
        }
        report.report.add(imported)
        if isImported { try mirror.store.trainDictionaries() }
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
