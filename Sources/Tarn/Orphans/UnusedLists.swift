// Stored responses of lists that are no longer requested: they say nothing about orphans.

import TarnStore

/// Lists that an endpoint, or an earlier description, has requested, and that nothing requests now.
///
/// Such a list belongs to other credentials, to a record that was deleted, or to an endpoint that
/// the description no longer has. It may have been requested by another endpoint of the API. It
/// counts as unused when a complete scan of the endpoint has begun after its last response: until
/// then, two accounts may use the store in turn.
struct UnusedLists: Sendable {
    private let time: Timestamp
    private let now: Timestamp
    private let lists: Set<String>
    private let endpoints: Set<String>
    private let endpoint: Endpoint
    private let checkpointName: String
    private let others: [String: OtherLists.Lists]

    /// - Parameters:
    ///   - time: the time when the complete scan before the present one began.
    ///   - now: the present time. Later responses are from when the clock was ahead.
    ///   - lists: the lists of the endpoint that are in use, by the identities in their responses.
    ///   - checkpointName: the name of the list whose orphans are looked for.
    ///   - others: the lists of other endpoints, as far as they are known.
    init(
        _ time: Timestamp, now: Timestamp, _ lists: Set<String>, _ description: Description, _ endpoint: Endpoint,
        _ checkpointName: String, others: [String: OtherLists.Lists]
    ) {
        self.time = time
        self.now = now
        self.lists = lists
        endpoints = Set(description.endpoints.map(\.name))
        self.endpoint = endpoint
        self.checkpointName = checkpointName
        self.others = others
    }

    /// Whether a response is from before a time, or from when the clock was ahead by a minute or
    /// more.
    ///
    /// If both are ahead of the present, the clock may be behind now: their order counts.
    static func isEarlier(_ validatedAt: Timestamp, than time: Timestamp, now: Timestamp) -> Bool {
        time.isLater(than: validatedAt, at: now)
    }

    /// The name of a response's endpoint, if the description does not have it.
    func formerEndpoint(of response: ResponseOrigin) -> String? {
        let name = String(RequestKey.name(ofEndpoint: response.request.endpoint))
        return endpoints.contains(name) ? nil : name
    }

    /// Whether a response belongs to such a list.
    func contain(_ response: ResponseOrigin) -> Bool {
        typealias Listing = ResponseEntry.Listing
        guard UnusedLists.isEarlier(response.validatedAt, than: time, now: now), let identity = response.identity,
            !lists.contains(identity),
            !identity.hasPrefix(Listing.cachedIdentity), !identity.hasPrefix(Listing.listIdentity),
            // The name of an endpoint, and the fingerprint of its mapping.
            let space = response.request.endpoint.lastIndex(of: " ")
        else { return false }
        let name = String(response.request.endpoint[..<space])
        guard name == endpoint.name else {
            guard let lists = others[name] else { return !endpoints.contains(name) }
            // A list is in use until a newer scan of it replaces its responses.
            if lists.hasUnknown || lists.scanned.contains(identity) { return false }
            if let identities = lists.identities { return !identities.contains(identity) }
            // A program may have requested a single list with other parameters.
            let scope = response.request.authScope
            return scope != lists.authScope && identity == ScanIdentity.responses(of: name, endpoint, authScope: scope)
        }
        // A program may have requested a single list with other parameters.
        return endpoint.hasSeveralLists
            || identity
                == ScanIdentity.responses(of: checkpointName, endpoint, authScope: response.request.authScope)
    }
}
