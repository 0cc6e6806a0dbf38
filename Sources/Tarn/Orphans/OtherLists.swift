// The lists that the other endpoints of an API request now.

import Locking
import TarnStore

/// The lists of the other endpoints of an API, read from the store when they are first needed.
final class OtherLists: Sendable {
    /// The lists of one endpoint.
    struct Lists: Sendable {
        /// The scope of the credentials with which they are requested.
        let authScope: String
        /// The identities in their responses; nil if the endpoint has only one list.
        let identities: Set<String>?
        /// The identities of the last complete scans of these lists, whatever their credentials
        /// were.
        let scanned: Set<String>
        /// Whether that of one of them is unknown, which an earlier version has scanned.
        let hasUnknown: Bool
    }

    private let request: EndpointRequest
    private let found = Guarded<[String: Lists]?>(nil)

    /// - Parameter request: the request of the endpoint whose orphans are looked for.
    init(_ request: EndpointRequest) { self.request = request }

    /// The lists by the name of their endpoint.
    func all() throws -> [String: Lists] {
        if let known = found.withLock({ $0 }) { return known }
        let own = request.endpoint
        var lists: [String: Lists] = [:]
        for endpoint in request.client.description.endpoints where endpoint.name != own.name && endpoint.api == own.api
        {
            lists[endpoint.name] = try self.lists(of: endpoint)
        }
        let all = lists
        found.withLock { $0 = all }
        return all
    }

    private func lists(of endpoint: Endpoint) throws -> Lists {
        let other = EndpointRequest(
            client: request.client, endpoint: endpoint, fingerprint: "", authScope: request.authScope)
        var parents: [RecordKey?] = [nil]
        if let forEach = endpoint.forEach {
            let found = try other.parents(forEach)
            // The list of a record that lacks a value for the path is requested when it has it.
            parents = found.parents.map(\.key) + found.lacking
        }
        var names = other.listNames(of: parents), scanned: Set<String> = [], hasUnknown = false
        // A program may request lists with parameters of its own.
        let prefix = "\(endpoint.name) "
        try request.client.store.read { reader in
            try reader.forEachCheckpoint(withPrefix: prefix) { name, _ in
                if EndpointScan.isVariant(name.dropFirst(prefix.count)) { names.append(name) }
            }
            for name in names {
                guard let checkpoint = try reader.checkpoint(name), checkpoint.completedAt != nil else { continue }
                let identities = [checkpoint.whole?.identity, checkpoint.scanned].compactMap(\.self)
                scanned.formUnion(identities)
                hasUnknown = hasUnknown || identities.isEmpty
            }
        }
        let identities = names.map { ScanIdentity.responses(of: $0, endpoint, authScope: other.authScope) }
        return Lists(
            authScope: other.authScope, identities: endpoint.hasSeveralLists ? Set(identities) : nil, scanned: scanned,
            hasUnknown: hasUnknown)
    }
}

extension EndpointRequest {
    /// The names of the lists of all partitions for these records.
    func listNames(of parents: [RecordKey?]) -> [String] {
        endpoint.combinations.flatMap { partition in
            // The parts that all parents share are made once.
            var request = list(partition, nil)
            return parents.map { key in
                request.parent = key.map { ParentRecord(key: $0, values: [:]) }
                return request.checkpointName(endpoint.name)
            }
        }
    }

    /// The lists of all partitions for these records, by the identities in their responses.
    func lists(of parents: [RecordKey?]) -> Set<String> {
        Set(listNames(of: parents).map { ScanIdentity.responses(of: $0, endpoint, authScope: authScope) })
    }
}
