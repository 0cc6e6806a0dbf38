// The lists that the other endpoints of an API request now.

import Locking
import TarnHTTP
import TarnImport
import TarnStore

/// The lists of the other endpoints of an API, read from the store when they are first needed.
final class OtherLists: Sendable {
    /// The lists of one endpoint.
    struct Lists: Sendable {
        /// The scope of the credentials with which they are requested.
        let authScope: String
        /// The identities in their responses; nil if the endpoint has only one list.
        let identities: Set<String>?
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
            lists[endpoint.name] = Lists(authScope: request.authScope, identities: try identities(of: endpoint))
        }
        let all = lists
        found.withLock { $0 = all }
        return all
    }

    private func identities(of endpoint: Endpoint) throws -> Set<String>? {
        guard endpoint.hasSeveralLists else { return nil }
        let other = EndpointRequest(
            client: request.client, endpoint: endpoint, fingerprint: "", authScope: request.authScope)
        var parents: [RecordKey?] = [nil]
        if let forEach = endpoint.forEach {
            let found = try other.parents(forEach)
            // The list of a record that lacks a value for the path is requested when it has it.
            parents = found.parents.map(\.key) + found.lacking
        }
        var identities = other.lists(of: parents)
        // A program may request lists with parameters of its own.
        let prefix = "\(endpoint.name) "
        try request.client.store.read { reader in
            try reader.forEachCheckpoint { name, _ in
                guard name.hasPrefix(prefix), EndpointScan.isVariant(name.dropFirst(prefix.count)) else { return }
                identities.insert(ScanIdentity.responses(of: name, endpoint, authScope: other.authScope))
            }
        }
        return identities
    }
}

extension EndpointRequest {
    /// The lists of all partitions for these records, by the identities in their responses.
    func lists(of parents: [RecordKey?]) -> Set<String> {
        var lists: Set<String> = []
        for partition in endpoint.combinations {
            for key in parents {
                let name = list(partition, key.map { ParentRecord(key: $0, values: [:]) }).checkpointName(endpoint.name)
                lists.insert(ScanIdentity.responses(of: name, endpoint, authScope: authScope))
            }
        }
        return lists
    }
}
