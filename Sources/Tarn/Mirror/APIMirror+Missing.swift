// Records that stored references lead to and that are not in the store: requested one by one.

import TarnHTTP
import TarnImport
import TarnStore

extension APIMirror {
    /// Fetches the records that stored references lead to and that are not in the store.
    ///
    /// A record is requested by an endpoint that lists records of one entity for each of them
    /// (`for_each`), with a path whose variables are all attributes of the key. References of the
    /// fetched records are followed in turn. Each record is requested once; if its request fails,
    /// the others continue.
    ///
    /// - Parameters:
    ///   - names: the names of the endpoints; nil for all. If one of them is unknown, nothing is
    ///     requested, and the report has `MirrorError.endpoint`.
    ///   - progress: called as by ``sync(_:progress:)``.
    /// - Returns: a report with an entry per endpoint that was used, and with the targets that are
    ///   still missing.
    public func syncMissing(
        _ names: Set<String>? = nil, progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async -> SyncReport {
        var sync = SyncReport(), tried: [String: Set<RecordKey>] = [:]
        let rounds = SyncRounds(progress)
        do {
            try client.checkNames(names)
            // Of the others, not even the credentials are needed.
            let requests = try await requests(
                to: description.endpoints.filter { description.requestsMissing($0, names) })
            let claim = try await claimed(requests.map(\.endpoint.name))
            defer { withExtendedLifetime(claim) {} }
            var isOver = false, failed: Set<String?> = []
            while !isOver {
                isOver = true
                let missing = try missingTargets().mapValues { keys in keys.filter { !$0.isDigest } }
                for request in requests where !failed.contains(request.client.apiName) {
                    let entity = request.endpoint.entity
                    let keys = (missing[entity] ?? []).subtracting(tried[entity] ?? [])
                    guard !keys.isEmpty else { continue }
                    tried[entity, default: []].formUnion(keys)
                    let report = try await scan(request, keys, rounds.update)
                    sync.add(report)
                    if report.failures.contains(where: \.endsSync) {
                        isOver = true
                        break
                    }
                    // A limit is for each endpoint, and for one round.
                    if !options.isPartial { isOver = false }
                    if report.failures.contains(where: \.endsEverything) { failed.insert(request.client.apiName) }
                }
            }
            let known = Set(requests.map(\.endpoint.entity))
            sync.missing = try missingTargets().sorted { $0.key < $1.key }.map { entity, keys in
                SyncReport.Missing(
                    entity: entity, count: keys.count, tooLong: keys.count(where: \.isDigest),
                    hasEndpoint: known.contains(entity))
            }
        } catch {
            sync.endpoints.append(failed(error))
        }
        rounds.end(sync.endpoints.map(\.name))
        await saveBudgets(&sync)
        return sync
    }

    /// Scans an endpoint for records that are known by their keys only.
    private func scan(
        _ request: EndpointRequest, _ keys: Set<RecordKey>, _ progress: @escaping @Sendable (SyncProgress) -> Void
    ) async throws -> SyncReport.Endpoint {
        let started = ContinuousClock.now
        let scan = EndpointScan(
            request, options,
            pipeline: try ImportPipeline(description.mapping, store.catalog, plans: description.plans),
            progress: progress)
        let names = request.endpoint.detailNames(description.schema) ?? []
        // Records that the server does not have must not be the first of each limited sync. Each
        // key is described once: there may be very many.
        let ordered =
            options.limit == nil
            ? keys.map { (key: $0, text: $0.description) }.sorted { $0.text < $1.text }.map(\.key) : keys.shuffled()
        scan.givenParents = ordered.map { key in
            let texts = zip(names, key.components).map { ($0, $1.description) }
            return ParentRecord(key: key, values: Dictionary(texts) { first, _ in first })
        }
        scan.width = width(of: request.client.api).lists
        await scan.run()
        scan.reportEnd()
        let elapsed = (ContinuousClock.now - started).components
        scan.report.seconds = Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18
        return scan.report
    }

    /// The keys of missing targets by entity.
    private func missingTargets() throws -> [String: Set<RecordKey>] {
        try store.read { reader in
            var found: [String: Set<RecordKey>] = [:]
            for entity in description.schema.entities {
                for relationship in entity.relationships where relationship.join == nil {
                    let targets = try reader.missingTargets(of: entity.name, relationship.name).targets
                    for case .reference(let key) in targets {
                        found[relationship.destination, default: []].insert(key)
                    }
                }
            }
            return found
        }
    }
}

extension SyncReport {
    /// Adds a further scan of an endpoint to its report.
    fileprivate mutating func add(_ report: Endpoint) {
        guard let index = endpoints.firstIndex(where: { $0.name == report.name }) else {
            endpoints.append(report)
            return
        }
        endpoints[index].pages += report.pages
        endpoints[index].notModified += report.notModified
        endpoints[index].listed += report.listed
        endpoints[index].confirmedEntities.merge(report.confirmedEntities, uniquingKeysWith: +)
        endpoints[index].report.add(report.report)
        endpoints[index].skipped += report.skipped
        endpoints[index].ignored += report.ignored
        endpoints[index].cutOff += report.cutOff
        endpoints[index].doubts.merge(report.doubts, uniquingKeysWith: +)
        endpoints[index].cutLists.merge(report.cutLists, uniquingKeysWith: +)
        if let others = report.otherRecords {
            if endpoints[index].otherRecords == nil {
                endpoints[index].otherRecords = others
            } else {
                endpoints[index].otherRecords?.count += others.count
            }
        }
        if let orphans = report.orphans { endpoints[index].add(orphans) }
        endpoints[index].failures += report.failures
        endpoints[index].seconds += report.seconds
    }
}

extension EndpointRequest {
    /// Whether the URLs end with the key of the record that each of them requests.
    func requestsByKey(_ schema: Schema) -> Bool {
        guard endpoint.detailNames(schema) != nil, var path = (try? PathTemplate(endpoint.path))?.description[...]
        else {
            return false
        }
        if path.hasSuffix("/") { path.removeLast() }
        if path.hasSuffix(".json") { path.removeLast(5) }
        return path.hasSuffix("}")
    }
}

extension Description {
    /// The names of the endpoints that a sync of missing records uses.
    ///
    /// - Parameter names: the names of the selected endpoints; nil for all.
    package func endpointsForMissing(_ names: Set<String>?) -> Set<String> {
        Set(endpoints.filter { requestsMissing($0, names) }.map(\.name))
    }

    fileprivate func requestsMissing(_ endpoint: Endpoint, _ names: Set<String>?) -> Bool {
        (names?.contains(endpoint.name) ?? true) && endpoint.detailNames(schema) != nil
    }
}

extension Endpoint {
    /// The variables that name a record by its key, in the order of the key; nil if the endpoint
    /// does not request single records of its entity by their keys.
    fileprivate func detailNames(_ schema: Schema) -> [String]? {
        // A list of the record's own children has a parent.
        guard let forEach, forEach.entity == entity, forEach.parent == nil, envelope.isEmpty,
            partitions.isEmpty, var definition = schema.entities.first(where: { $0.name == forEach.entity })
        else { return nil }
        // The key of a kind is that of its root. The schema was not validated: a cycle must end.
        for _ in 0..<schema.entities.count where definition.key.isEmpty {
            guard let parent = schema.entities.first(where: { $0.name == definition.parent }) else { break }
            definition = parent
        }
        let names = definition.key.map { "\(forEach.variable).\($0)" }
        let used = variables.filter { $0.hasPrefix(forEach.variable + ".") }
        guard !used.isEmpty, used.allSatisfy(names.contains) else { return nil }
        return names
    }
}
