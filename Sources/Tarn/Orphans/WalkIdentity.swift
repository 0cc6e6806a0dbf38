import TarnHTTP
import TarnImport
import TarnStore

/// What distinguishes a walk from others: whose pages its responses are, and whose members its scans list.
struct WalkIdentity: Sendable {
    let endpoint: String
    let authScope: String
    let isForEach: Bool
    /// In the entries of responses. The same also when the description changes, since its older answers are its own.
    let responses: String
    /// In the table of scans: another description may list other records, and what it does not list is not gone for that.
    let members: String

    init(name: String, _ endpoint: Endpoint, authScope: String, plan: String) {
        self.endpoint = endpoint.name
        self.authScope = authScope
        isForEach = endpoint.forEach != nil
        responses = String(SHA256.hexadecimal("walk\n\(name)\n\(authScope)").prefix(32))
        members = WalkIdentity.members(responses, plan: plan)
    }

    static func members(_ walk: String, plan: String) -> String { "\(walk) \(plan)" }

    /// Whether a response is one of the walk's, from this scan or an earlier one. Entries from before walks were noted are its own if there
    /// is only one walk over the endpoint.
    func owns(_ walk: String?, _ request: RequestKey) -> Bool {
        if let walk { return walk == responses }
        return !isForEach && request.authScope == authScope && request.endpoint.hasPrefix(endpoint + " ")
    }
}
