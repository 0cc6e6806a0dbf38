import TarnStore

/// The identity of a scan: it determines which responses and scan members belong to it.
struct ScanIdentity: Sendable {
    let endpoint: String
    let authScope: String
    let isForEach: Bool
    /// The name in the entries of responses. It does not depend on the description.
    ///
    /// So responses from before a change of the description still belong to the scan.
    let responses: String
    /// The name in the table of scan members. It depends on the parts of the description that
    /// determine which records are listed.
    ///
    /// Another description may list other records: those that it does not list are no orphans. A
    /// change of other fields leaves the name as it is.
    var members: String { ScanIdentity.members(responses, listing: listing ?? plan) }
    private let plan: String
    private let listing: String?

    /// - Parameter listing: the digest of what determines which records the list has; nil without a
    ///   rule for orphans.
    init(name: String, _ request: EndpointRequest, plan: String, listing: String?) {
        endpoint = request.endpoint.name
        authScope = request.authScope
        isForEach = request.endpoint.hasSeveralLists
        responses = ScanIdentity.responses(of: name, request.endpoint, authScope: authScope)
        (self.plan, self.listing) = (plan, listing)
    }

    /// The name in the entries of the responses to a scan with this name.
    ///
    /// Responses to a typed request belong to its scan, and to the cache all the same. Those of
    /// ``SiblingLists`` begin alike.
    static func responses(of name: String, _ endpoint: Endpoint, authScope: String) -> String {
        guard endpoint.isTypedRequest else { return digest(of: name, authScope) }
        let (first, sibling) = SiblingLists.parts(of: name), digest = digest(of: first, authScope)
        return ResponseEntry.Listing.cachedIdentity + digest + (sibling.map { "~\($0)" } ?? "")
    }

    private static func digest(of name: String, _ authScope: String) -> String {
        String(Substring(SHA256.hexadecimal("walk\n\(name)\n\(authScope)").utf8.prefix(32)))
    }

    fileprivate static func members(_ scan: String, listing: String) -> String { "\(scan) \(listing)" }

    /// Renames the members that earlier versions have noted: their name depends on the whole
    /// description.
    ///
    /// - Parameter old: the progress of the list; nil if there is none.
    /// - Returns: the progress with the present name.
    func renamingMembers(of old: Checkpoint?, in store: Store, step: Int) async throws -> Checkpoint? {
        let former = ScanIdentity.members(responses, listing: plan), members = members
        guard former != members, old.map({ $0.membersName(of: responses) == former }) ?? true else { return old }
        while try store.read({ try $0.access.scans.hasMembers(of: former) }) {
            _ = try await store.write(alone: true) {
                try $0.moveScanMembers(of: former, to: members, limit: step, numberedAlike: true)
            }
        }
        var renamed = old
        renamed?.listing = listing
        if old?.members != nil { renamed?.members = members }
        return renamed
    }

    /// Whether a response belongs to the scan or to an earlier one with this identity.
    ///
    /// An entry from before identities were stored belongs to it if the endpoint has only one scan.
    func owns(_ scan: String?, _ request: RequestKey) -> Bool {
        if let scan { return scan == responses }
        return !isForEach && request.authScope == authScope && request.endpoint.hasPrefix(endpoint + " ")
    }
}

extension Checkpoint {
    /// The name under which the scans of the list have noted their records; nil if it is unknown.
    ///
    /// - Parameter responses: the identity of the list in the entries of its responses.
    func membersName(of responses: String) -> String? {
        if let members { return members }
        let known = listing ?? plan
        return known.isEmpty ? nil : ScanIdentity.members(responses, listing: known)
    }
}
