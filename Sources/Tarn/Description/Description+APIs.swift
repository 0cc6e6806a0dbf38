// The APIs of a description: one, or several by name.

import TarnHTTP

/// An API of a description with several ones.
package struct NamedAPI: Sendable, Hashable {
    /// The name, unique in the description.
    package var name: String
    /// The description of the API.
    package var api: APIDescription

    /// Creates a named API.
    package init(_ name: String, _ api: APIDescription) {
        self.name = name
        self.api = api
    }
}

extension Description {
    /// Whether there are several APIs, which have names.
    package var hasSeveralAPIs: Bool { apiName != nil }

    /// All APIs, in the order of the file; the only one has no name.
    package var apis: [(name: String?, api: APIDescription)] {
        [(apiName, api)] + furtherAPIs.map { ($0.name, $0.api) }
    }

    /// The name of the API of an endpoint; nil if there is only one.
    package func apiName(of endpoint: Endpoint) -> String? { apiName == nil ? nil : endpoint.api ?? apiName }

    /// The API that has the records of an entity.
    package func api(ofEntity entity: String) -> APIDescription {
        let name = furtherAPI(ofEntity: entity)
        return furtherAPIs.first { $0.name == name }?.api ?? api
    }

    /// The name of the further API that has the records of an entity; nil if that is the first one.
    func furtherAPI(ofEntity entity: String) -> String? {
        var name = entity
        // The schema was not validated: a cycle of parents must end.
        for _ in 0..<schema.entities.count where entityAPIs[name] == nil {
            guard let parent = schema.entities.first(where: { $0.name == name })?.parent else { break }
            name = parent
        }
        return furtherAPIs.first { $0.name == entityAPIs[name] }?.name
    }

    /// Changes every API.
    package mutating func changeAPIs(_ change: (_ name: String?, inout APIDescription) throws -> Void) rethrows {
        try change(apiName, &api)
        // Each change of the list is followed by one of the bases of all.
        var others = furtherAPIs
        for index in others.indices { try change(others[index].name, &others[index].api) }
        furtherAPIs = others
    }

    /// Removes the credentials of the APIs that none of the named endpoints belongs to.
    ///
    /// A sync of these endpoints does not need them.
    ///
    /// - Parameter endpoints: the names of the endpoints; nil for all.
    package mutating func keepCredentials(ofEndpoints names: Set<String>?) {
        guard let names else { return }
        let used = Set(endpoints.filter { names.contains($0.name) }.map { apiName(of: $0) })
        changeAPIs { name, api in
            if !used.contains(name) { api.authentication = .none }
        }
    }

    /// Removes the APIs after the first one that none of the named endpoints belongs to.
    ///
    /// A client for a sync of these endpoints requests nothing of the others. Bases of records
    /// stay.
    package mutating func keepAPIs(ofEndpoints names: Set<String>) {
        let used = Set(endpoints.filter { names.contains($0.name) }.map { apiName(of: $0) })
        furtherAPIs.removeAll { !used.contains($0.name) }
    }
}
