// The stored responses of mirrors with other mappings: of other descriptions, or of earlier ones.

import TarnStore

/// The responses of mirrors whose mapping is not that of the present description.
///
/// A sync finds them once, and then examines only the responses that were stored since.
struct OtherMirrors {
    /// The endpoints of the present description, as in the keys of requests.
    private let keys: Set<String>
    /// The digests of the endpoints' mappings: the values of a renamed endpoint are the same.
    private let mappings: Set<Substring>
    /// The highest id among the examined responses.
    private var last: UInt64 = 0
    /// The examined responses of other mappings, by id.
    private var ids: Set<UInt64> = []

    /// - Parameter keys: the endpoints of the present description, as in the keys of requests.
    init(than keys: Set<String>) {
        self.keys = keys
        mappings = Set(keys.map { $0.dropFirst(RequestKey.name(ofEndpoint: $0).count) })
    }

    /// - Parameter description: the present description.
    init(than description: Description) {
        let mapping = description.fingerprint
        self.init(
            than: Set(
                description.endpoints.map {
                    RequestKey.endpoint($0.name, mapping: Description.fingerprint(of: $0, mappedBy: mapping))
                }))
    }

    /// Whether there are no such responses among those that were examined.
    var isEmpty: Bool { ids.isEmpty }

    /// Examines the responses that were stored since the last call.
    ///
    /// Uncommitted ids may be assigned again: a copy that has examined them must not be kept.
    mutating func examine(_ responses: ResponseTable) throws {
        try responses.forEach(from: last + 1) { view in
            last = view.id
            let endpoint = view.endpoint
            if !endpoint.hasPrefix("*"), hasOtherMapping(endpoint) { ids.insert(view.id) }
            return true
        }
    }

    /// Returns whether an endpoint, as in the keys of requests, has another mapping.
    func hasOtherMapping(_ endpoint: String) -> Bool {
        !keys.contains(endpoint)
            && !mappings.contains(endpoint.dropFirst(RequestKey.name(ofEndpoint: endpoint).count))
    }

    /// Returns whether a response may be of another mapping: true if it was not examined.
    func mayContain(_ id: UInt64) -> Bool { id > last || ids.contains(id) }
}
