// The status of endpoints, and the failures that it reports: another process reads them, too.

import Foundation
import TarnHTTP
import TarnStore

extension APIClient {
    /// Returns the status of endpoints, in the order of the description. Nothing is requested.
    ///
    /// It is read from the store: it is the same in every process, and includes syncs of others.
    ///
    /// - Parameter names: the names of the endpoints; nil for all.
    /// - Throws: `MirrorError.endpoint` for an unknown name, `.store` if the store cannot be read.
    /// - Complexity: linear in the number of endpoints, and of stored parents for `for_each`.
    public func status(of names: Set<String>? = nil) async throws(MirrorError) -> [EndpointStatus] {
        try checkNames(names)
        var statuses: [EndpointStatus] = [], scopes: [String?: String?] = [:]
        for endpoint in description.endpoints where names?.contains(endpoint.name) ?? true {
            let client = client(of: endpoint)
            // Without the credentials, only the freshness is unknown.
            let scope: String?
            if let known = scopes[client.apiName] { scope = known } else { scope = try? await client.authScope() }
            scopes[client.apiName] = .some(scope)
            do { statuses.append(try client.status(of: endpoint, scope)) } catch {
                throw MirrorError(error, url: "", place: description.file)
            }
        }
        return statuses
    }

    /// Checks that the description has the named endpoints.
    ///
    /// - Throws: `MirrorError.endpoint` for an unknown name.
    func checkNames(_ names: Set<String>?) throws(MirrorError) {
        guard let names else { return }
        let known = description.endpoints.map(\.name)
        guard let unknown = names.subtracting(known).min() else { return }
        throw .endpoint(place: description.file, message: Spelling.unknown("endpoint", unknown, among: known))
    }

    private func status(of endpoint: Endpoint, _ scope: String?) throws -> EndpointStatus {
        let request = EndpointRequest(
            client: self, endpoint: endpoint, fingerprint: description.fingerprint(of: endpoint),
            authScope: scope ?? "")
        var status = EndpointStatus(named: endpoint.name)
        status.api = apiName
        status.processID = SyncLock.holder(of: endpoint.name, directory: store.directory)
        var parents: [ParentRecord?] = [nil]
        if let forEach = endpoint.forEach { parents = try request.parents(forEach).parents }
        let names = request.listNames(of: parents.map { $0?.key })
        status.lists = names.count
        try store.read { reader in
            for name in names {
                guard let checkpoint = try reader.checkpoint(name) else { continue }
                status.add(checkpoint)
                if !endpoint.hasSeveralLists {
                    // With other credentials or another description, everything is requested.
                    let plan = try? scope.map { _ in try EndpointScan.plan(of: request.firstPage(), request) }
                    let isKnown = plan == nil || plan == checkpoint.plan
                    status.since = isKnown ? checkpoint.since : nil
                    status.nextWhole = endpoint.incremental.flatMap { rule in
                        guard status.since != nil else { return nil }
                        return rule.isWholeDue(checkpoint.wholeSince, at: now)
                            ? now : rule.nextWhole(after: checkpoint.wholeSince)
                    }
                }
                guard !endpoint.hasSeveralLists, checkpoint.state == .underWay, let next = checkpoint.nextURL else {
                    continue
                }
                status.position = Redaction.shown(requestURL(next))
            }
            status.setFailure(try reader.checkpoint(endpoint.outcomeName)?.lastFailure)
            guard scope != nil, !endpoint.hasSeveralLists, let pages = try? request.pages() else { return }
            guard let entry = try reader.response(to: request.key(of: pages.request)) else { return }
            let decision = CacheRules().decide(
                request.message(for: pages.request), CachedResponse(entry), at: now.seconds)
            status.freshUntil = decision.freshness.map { Timestamp(seconds: now.seconds + $0.remaining) }
        }
        if status.completeLists < status.lists { status.completedAt = nil }
        status.setAge(at: now)
        status.nextRun = SyncTiming().next(of: status, endpoint.schedule, now: now)
        return status
    }

    // MARK: Failures

    /// The time in which a repeated failure is not stored again, in microseconds.
    private static let leastPause: Int64 = 60 * 1_000_000

    /// Stores the outcome of an attempt: a failure, or that the last one is over.
    ///
    /// A failure of the store, a cancellation and a busy endpoint are none of the endpoint's.
    ///
    /// - Parameters:
    ///   - name: the name of the checkpoint.
    ///   - identity: the identity of the request among those that share the checkpoint; nil if
    ///     there is only one.
    func note(_ failure: MirrorError?, of name: String, plan identity: @autoclosure () -> String? = nil) async {
        switch failure {
        case .cancelled?, .busy?, .store?: return
        default: break
        }
        do {
            let known = try store.read { try $0.checkpoint(name) }
            if failure == nil, known?.lastFailure == nil { return }
            let plan = identity()
            let last = plan == nil || known?.plan == plan ? known?.lastFailure : nil
            let text = failure?.description.excerpt, now = now
            if let last, last.text == text, (0..<APIClient.leastPause).contains(now.elapsed(since: last.at)) {
                return
            }
            // The failure of another request is not over because this one has succeeded.
            if last == nil, text == nil { return }
            try await store.write { writer in
                let old = try writer.access.checkpoints.checkpoint(name)
                var checkpoint = old ?? Checkpoint(state: .underWay, plan: plan ?? "", scan: 0, startedAt: now)
                if let plan { checkpoint.plan = plan }
                checkpoint.lastFailure = text.map { Checkpoint.LastFailure(at: now, text: $0) }
                try writer.setCheckpoint(name, checkpoint)
            }
        } catch {
            options.logger?.warning(
                "the outcome of a request was not stored", metadata: ["name": "\(name)", "error": "\(error)"])
        }
    }
}

extension Endpoint {
    /// The name of the checkpoint that has the last failure of the endpoint's scans.
    ///
    /// The scan's own checkpoint is written with its pages only. No endpoint has such a name.
    var outcomeName: String { "! " + name }
}

extension EndpointRequest {
    /// The name of the checkpoint that has the last failure of a request outside of scans.
    ///
    /// Requests of one name share it, so that their number is bounded. No endpoint has such a name.
    var outcomeName: String { "? " + endpoint.name }

    /// The identity of the list among those of ``outcomeName``.
    var outcomePlan: String {
        ((try? key(of: firstPage()))?.digest.bytes ?? []).map { String($0, radix: 16) }.joined(separator: ".")
    }

    /// Runs a transfer, and stores its outcome for the status of the request.
    ///
    /// - Parameter url: the URL as errors show it.
    func noting<Result>(_ url: String, _ body: () async throws -> Result) async throws -> Result {
        do {
            let result = try await body()
            await client.note(nil, of: outcomeName, plan: outcomePlan)
            return result
        } catch {
            await client.note(MirrorError(error, url: url, place: place), of: outcomeName, plan: outcomePlan)
            throw error
        }
    }

    /// The stored failure of the request; nil if it was of another one.
    func lastFailure(_ reader: StoreReader) throws -> Checkpoint.LastFailure? {
        guard let checkpoint = try reader.checkpoint(outcomeName), checkpoint.plan == outcomePlan else { return nil }
        return checkpoint.lastFailure
    }
}
