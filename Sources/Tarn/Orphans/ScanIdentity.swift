import TarnHTTP
import TarnImport
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
    /// The name in the table of scan members. It depends on the description.
    ///
    /// Another description may list other records: those that it does not list are no orphans.
    var members: String { ScanIdentity.members(responses, plan: plan) }
    private let plan: String

    init(name: String, _ request: EndpointRequest, plan: String) {
        endpoint = request.endpoint.name
        authScope = request.authScope
        isForEach = request.endpoint.hasSeveralLists
        responses = ScanIdentity.responses(of: name, request.endpoint, authScope: authScope)
        self.plan = plan
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

    static func members(_ scan: String, plan: String) -> String { "\(scan) \(plan)" }

    /// Makes the members of scans with another plan members of this one, if both list the same
    /// records: another description may list others.
    ///
    /// - Parameters:
    ///   - old: the progress of these scans.
    ///   - listing: the digest of what this one lists.
    func takeOverMembers(of old: Checkpoint, _ listing: String?, in store: Store, step: Int) async throws {
        guard let earlier = old.members, old.lists(listing) else { return }
        let members = members
        while try store.read({ try $0.access.scans.hasMembers(of: earlier) }) {
            _ = try await store.write(alone: true) {
                try $0.moveScanMembers(of: earlier, to: members, limit: step, numberedAlike: true)
            }
        }
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
    /// Whether the list has the records that a digest stands for.
    func lists(_ listing: String?) -> Bool { listing != nil && self.listing == listing }
}
