// The endpoints that a sync requests for records of others.

import Tarn

/// Finds the endpoints with `for_each` whose parents no other endpoint stores.
struct EndpointReach {
    private let description: Description

    init(_ description: Description) { self.description = description }

    func findings(_ places: DescriptionPlaces) -> [CheckFinding] {
        var requested = description.endpoints.filter { $0.forEach == nil }
        var waiting = description.endpoints.filter { $0.forEach != nil }
        while true {
            let reached = reached(by: requested)
            let next = waiting.filter { $0.forEach.map { reached.contains($0.entity) } ?? true }
            guard !next.isEmpty else { break }
            requested += next
            waiting.removeAll { endpoint in next.contains { $0.name == endpoint.name } }
        }
        return waiting.map { endpoint in
            let (field, mark) = places.place(endpoint: endpoint.name), parent = endpoint.forEach?.entity ?? ""
            return CheckFinding(
                .warning, .endpointUnreachable, file: description.file, at: mark, field: field,
                "a sync requests it for every record of \(parent), and no endpoint stores one before: add an endpoint "
                    + "without for_each that lists \(parent)")
        }
    }

    /// The entities of which responses of some endpoints may have records.
    private func reached(by endpoints: [Endpoint]) -> Set<String> {
        var part = description
        part.endpoints = endpoints
        return EntityReach(part).reached
    }
}
