// The header fields of the API: with other ones, the server may answer with other values.

import TarnHTTP
import TarnStore

extension EndpointScan {
    /// Whether a list was last requested with other header fields of the API.
    func hasOtherHeaders(_ old: Checkpoint?) -> Bool {
        guard syncRun != nil, !options.isDryRun, let known = old?.headers else { return false }
        return known != headers
    }

    /// Makes the stored responses and the progress of all lists of the endpoint void.
    ///
    /// No 304 confirms records in another language, and no list of changes tells the others anew.
    func voidLists() async throws {
        let name = endpoint.name, headers = headers, store = client.store
        var ids = try store.read { reader in
            var ids: [UInt64] = []
            try reader.access.responses.forEach { view in
                if RequestKey.name(ofEndpoint: view.endpoint) == name { ids.append(view.id) }
                return true
            }
            return ids
        }[...]
        while !ids.isEmpty {
            let step = Array(ids.prefix(1000))
            ids = ids.dropFirst(step.count)
            try await store.write(alone: true) { writer in
                for id in step { try writer.responses.removeValidators(ofResponse: id) }
            }
        }
        try await store.write(alone: true) { writer in
            func voided(_ list: Checkpoint) -> Checkpoint {
                var other = list.outdated ?? list
                other.headers = headers
                return other
            }
            if let own = try writer.access.checkpoints.checkpoint(name) {
                try writer.setCheckpoint(name, voided(own))
            }
            try writer.replaceCheckpoints(withPrefix: name + " ") { rest, list in
                EndpointScan.isVariant(rest) ? nil : voided(list)
            }
        }
    }

    /// The digest of the API's header fields in the checkpoints of lists, without credentials, the
    /// name of the program, and those that the endpoint replaces.
    static func digest(ofHeaders request: EndpointRequest) -> String {
        let own = Set(request.endpoint.headers.map { $0.name.lowercased() }).union(["user-agent", "from"])
        let fields = request.client.api.headers.filter { field in
            !own.contains(field.name.lowercased()) && !CacheRules.isCredential(field.name)
        }
        guard !fields.isEmpty else { return "-" }
        return SHA256.shortHexadecimal(
            fields.map { "\($0.name.lowercased()): \($0.value)" }.sorted().joined(separator: "\n"))
    }
}
