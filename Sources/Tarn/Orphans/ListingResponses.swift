import TarnStore

/// The origins of the responses that list candidates, each read once within a transaction.
///
/// One response may list all candidates: reading it for each of them would be quadratic.
struct ListingResponses {
    private let lists: WholeLists
    private var origins: [UInt64: ResponseOrigin?] = [:]
    /// By identity, the progress of lists of which a scan has reached all pages.
    private var wholes: [String: Checkpoint?] = [:]

    init(_ lists: WholeLists) { self.lists = lists }

    /// The origin of a response; nil if there is no such response.
    mutating func origin(_ id: UInt64, _ access: StoreAccess) throws -> ResponseOrigin? {
        if let known = origins[id] { return known }
        let origin = try access.responses.origin(id: id)
        origins[id] = .some(origin)
        return origin
    }

    /// Whether the list has lost the page: the last scan that reached all pages did not reach it.
    mutating func isLost(_ response: ResponseOrigin, _ access: StoreAccess) throws -> Bool {
        guard let identity = response.identity, let scan = response.scan,
            let list = try checkpoint(of: identity, access), let whole = list.whole
        else { return false }
        // Pages of typed requests are stored one by one: they have no number of a scan.
        if identity.hasPrefix(ResponseEntry.Listing.cachedIdentity) {
            return whole.scan == list.scan && response.validatedAt < list.startedAt
        }
        return scan < whole.scan
    }

    private mutating func checkpoint(of identity: String, _ access: StoreAccess) throws -> Checkpoint? {
        if let known = wholes[identity] { return known }
        let found = try lists.checkpoint(of: identity, access)
        wholes[identity] = .some(found)
        return found
    }
}
