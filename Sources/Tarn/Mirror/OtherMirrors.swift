// The stored responses of mirrors with other mappings: of other descriptions, or of earlier ones.

import TarnStore

/// The responses of mirrors whose mapping is not that of the present description.
///
/// A note in the store tells whether there are any. A sync examines only the responses that were
/// stored after the note.
struct OtherMirrors {
    /// The digests of the endpoints' mappings: the values of a renamed endpoint are the same.
    private let own: Set<Substring>
    /// The mappings of the examined responses.
    private(set) var examined = ResponseMappings()

    /// - Parameter keys: the endpoints of the present description, as in the keys of requests.
    init(than keys: Set<String>) { own = Set(keys.map { OtherMirrors.mapping(of: $0) }) }

    /// - Parameter client: a client with the present description.
    init(than client: APIClient) {
        own = Set(
            client.description.endpoints.map { Description.fingerprint(of: $0, mappedBy: client.mappingDigest)[...] })
    }

    /// Whether there are no such responses among those that were examined.
    var isEmpty: Bool { firstOther == nil }
    /// An id below which no examined response has another mapping; nil if none has.
    private var firstOther: UInt64?

    /// Examines the responses that were stored since the last call, or since the note in the store.
    ///
    /// Uncommitted ids may be assigned again: a copy that has examined them must not be kept.
    mutating func examine(_ responses: ResponseTable) throws {
        if examined.last == 0 { examined = try responses.mappings }
        try examineRemoved(responses)
        try responses.forEach(from: examined.last + 1) { view in
            examined.last = view.id
            if let mapping = OtherMirrors.mapping(of: view), examined.first[mapping] == nil {
                examined.first[mapping] = view.id
            }
            return true
        }
        firstOther = examined.first.filter { !own.contains($0.key[...]) }.values.min()
    }

    /// Finds the first responses of other mappings anew if those that were known are removed.
    private mutating func examineRemoved(_ responses: ResponseTable) throws {
        var removed: [String: UInt64] = [:]
        for (mapping, id) in examined.first where !own.contains(mapping[...]) {
            if try responses.view(id: id).flatMap(OtherMirrors.mapping) != mapping { removed[mapping] = id }
        }
        guard let start = removed.values.min() else { return }
        for mapping in removed.keys { examined.first[mapping] = nil }
        try responses.forEach(from: start + 1) { view in
            guard view.id <= examined.last, !removed.isEmpty else { return false }
            if let mapping = OtherMirrors.mapping(of: view), removed.removeValue(forKey: mapping) != nil {
                examined.first[mapping] = view.id
            }
            return true
        }
    }

    /// Returns the digest of a response's mapping; nil if no mirror can keep the response.
    ///
    /// A mirror may keep one of a cache later, but none of a typed request, whose name has a colon.
    private static func mapping(of view: ResponseView) -> String? {
        let endpoint = view.endpoint
        guard !endpoint.hasPrefix("*"), view.isMirrors || !RequestKey.name(ofEndpoint: endpoint).contains(":") else {
            return nil
        }
        return String(mapping(of: endpoint))
    }

    /// Returns the digest of a mapping, from an endpoint as in the keys of requests.
    private static func mapping(of endpoint: String) -> Substring {
        endpoint.dropFirst(RequestKey.name(ofEndpoint: endpoint).count + 1)
    }

    /// Returns whether an endpoint, as in the keys of requests, has another mapping.
    func hasOtherMapping(_ endpoint: String) -> Bool { !own.contains(OtherMirrors.mapping(of: endpoint)) }

    /// Returns whether a response may be of another mapping: true if none was examined.
    func mayContain(_ id: UInt64) -> Bool {
        examined.last == 0 || id > examined.last || firstOther.map { id >= $0 } ?? false
    }
}
