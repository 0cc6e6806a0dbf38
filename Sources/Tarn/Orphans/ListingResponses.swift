import TarnStore

/// The origins of the responses that list candidates, each read once within a transaction.
///
/// One response may list all candidates: reading it for each of them would be quadratic.
struct ListingResponses {
    private var origins: [UInt64: ResponseOrigin?] = [:]
    /// By identity, the scans that have reached all pages of their list; nil if not read yet.
    private var wholeScans: [String: UInt64]?
    /// By identity, the beginnings of loads of typed requests that have; nil if not read yet.
    private var wholeLoads: [String: Timestamp]?

    /// The origin of a response; nil if there is no such response.
    mutating func origin(_ id: UInt64, _ access: StoreAccess) throws -> ResponseOrigin? {
        if let known = origins[id] { return known }
        let origin = try access.responses.origin(id: id)
        origins[id] = .some(origin)
        return origin
    }

    /// Whether the list has lost the page: the last scan that reached all pages did not reach it.
    mutating func isLost(_ response: ResponseOrigin, _ access: StoreAccess) throws -> Bool {
        guard let identity = response.identity, let scan = response.scan else { return false }
        // Pages of typed requests are stored one by one: they have no number of a scan.
        if identity.hasPrefix(ResponseEntry.Listing.cachedIdentity) {
            let loads = try wholeLoads ?? access.checkpoints.wholeLoads()
            wholeLoads = loads
            return loads[identity].map { response.validatedAt < $0 } ?? false
        }
        let scans = try wholeScans ?? access.checkpoints.wholeScans()
        wholeScans = scans
        return scans[identity].map { scan < $0 } ?? false
    }
}
