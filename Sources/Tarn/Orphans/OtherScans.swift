// The last scans of the other endpoints that list records of an entity.

import Locking
import TarnStore

/// The last scans of other endpoints to which a record may have moved, read when they are needed.
///
/// A record that a list misses may have moved to a list of one of them. It has not if a scan of
/// each of these lists has begun after that, has reached the end, and has not listed it.
final class OtherScans: Sendable {
    /// The scans of an endpoint: of its list, or of all its lists.
    private struct Scans: Sendable {
        let endpoint: String
        /// The time when the earliest of them began; nil if a list was never scanned to its end.
        let began: Timestamp?
    }

    private let request: EndpointRequest
    private let endpoints: [Endpoint]
    private let found = Guarded<[Scans]?>(nil)

    /// - Parameters:
    ///   - request: the request of the endpoint whose orphans are looked for.
    ///   - endpoints: the other endpoints.
    init(_ request: EndpointRequest, _ endpoints: [Endpoint]) {
        self.request = request
        self.endpoints = endpoints
    }

    /// Returns the names of endpoints whose lists were not all scanned to their ends by scans that
    /// began at a time or later.
    func endpoints(notScannedSince time: Timestamp) throws -> [String] {
        try all().filter { scans in scans.began.map { $0 < time } ?? true }.map(\.endpoint)
    }

    private func all() throws -> [Scans] {
        if let known = found.withLock({ $0 }) { return known }
        let all = try endpoints.compactMap { try scans(of: $0) }
        found.withLock { $0 = all }
        return all
    }

    /// The scans of an endpoint; nil if it has no list that a sync can request.
    private func scans(of endpoint: Endpoint) throws -> Scans? {
        let other = EndpointRequest(
            client: request.client, endpoint: endpoint, fingerprint: "", authScope: request.authScope)
        var parents: [RecordKey?] = [nil]
        if let forEach = endpoint.forEach {
            parents = try other.parents(forEach).parents.map(\.key)
        } else if let partition = endpoint.combinations.first {
            // A path with variables that only a program has values for.
            guard (try? other.list(partition, nil).firstPage()) != nil else { return nil }
        }
        let names = other.listNames(of: parents)
        guard !names.isEmpty else { return nil }
        let now = request.client.now
        let began = try request.client.store.read { reader in
            let began = try OtherScans.began(names, at: now, reader)
            guard endpoint.forEach != nil else { return began }
            // The list of a new parent was never scanned.
            let pass = try reader.checkpoint(endpoint.outcomeName)?.knownSince
            return [began, pass].compactMap(\.self).filter { $0 <= now }.max()
        }
        return Scans(endpoint: endpoint.name, began: began)
    }

    /// The time when the earliest of the last scans of lists began that have reached their ends;
    /// nil if one of the lists was never scanned to its end, or in the future: while the clock was
    /// ahead, so that its order is unknown.
    static func began(_ names: [String], at now: Timestamp, _ reader: StoreReader) throws -> Timestamp? {
        var earliest: Timestamp?
        for name in names {
            guard let began = try reader.checkpoint(name)?.lastKnown, began <= now else { return nil }
            earliest = min(earliest ?? began, began)
        }
        return earliest
    }
}

extension Checkpoint {
    /// The time when the last scan began that has reached the end of its list.
    ///
    /// Earlier versions have not stored it.
    var lastKnown: Timestamp? {
        knownSince ?? (state == .complete && failure == nil && !plan.isEmpty && !wasInDoubt ? startedAt : nil)
    }
}
