// The lists of one typed request that differ in header fields, hooks, or the place of the records.

import TarnImport
import TarnStore

/// The siblings of a list: lists of the same path, parameters and credentials, with other header
/// fields, other hooks, or records at another place of the response.
///
/// Each of them has responses, a checkpoint and members of its own. A record that one of them lists
/// is no orphan of another. A sibling retires when it was neither loaded, confirmed nor used for
/// ``retirement``: a hook that moves to another line of the program is another one, and the list
/// with the former hook never comes back. What a retired sibling lists counts no longer, and a list
/// that is loaded takes over its members.
struct SiblingLists: Sendable {
    /// The time without a use after which a sibling retires, in seconds.
    ///
    /// A shorter one would delete records of a list that a program rarely requests.
    static let retirement = 30 * 86_400
    /// The text between the name of the first list and a digest of what makes a sibling another
    /// one. Names of typed requests have no spaces.
    private static let mark = " ~"

    /// The name of the list whose orphans are looked for.
    let name: String
    private let endpoint: Endpoint
    private let authScope: String
    private let valueVariant: String?
    private let identity: String
    private let now: Timestamp
    /// Times of use that are not stored yet, by the ids of responses.
    private let uses: [UInt64: Timestamp]

    /// - Parameters:
    ///   - request: the request of the list.
    ///   - uses: times of use that are not stored yet.
    init(_ name: String, _ request: EndpointRequest, _ hooks: RequestHooks, uses: [UInt64: Timestamp]) {
        self.name = name
        endpoint = request.endpoint
        authScope = request.authScope
        valueVariant = request.endpoint.valueVariant(hooks)
        identity = ScanIdentity.responses(of: name, request.endpoint, authScope: request.authScope)
        now = request.client.now
        self.uses = uses
    }

    // MARK: Names

    /// The name of the list of a typed request.
    static func name(of endpoint: Endpoint, _ hooks: RequestHooks) -> String {
        let first = EndpointScan.variant(of: endpoint.parameters).map { "\(endpoint.name) #\($0)" } ?? endpoint.name
        var parts: [String] = []
        if let values = endpoint.valueVariant(hooks) { parts.append("values \(values)") }
        if !endpoint.records.description.isEmpty { parts.append("records \(endpoint.records)") }
        for part in endpoint.envelope {
            let except = part.exceptions.isEmpty ? "" : " except \(part.exceptions.sorted())"
            parts.append("envelope \(part.path) \(part.entity)\(except)")
        }
        for list in endpoint.columns { parts.append("columns \(list.text)") }
        return parts.isEmpty ? first : first + mark + SHA256.shortHexadecimal(parts.joined(separator: "\n"))
    }

    /// The name of the first of the siblings, and the digest that makes a list another one.
    static func parts(of name: String) -> (first: String, digest: String?) {
        guard let range = name.range(of: mark) else { return (name, nil) }
        return (String(name[..<range.lowerBound]), String(name[range.upperBound...]))
    }

    // MARK: Responses

    /// Returns whether a response belongs to the list.
    ///
    /// Earlier versions have stored responses of all siblings with the identity of the first one.
    func own(_ response: ResponseOrigin) -> Bool {
        guard let identity = response.identity else {
            return response.request.authScope == authScope && response.valueVariant == valueVariant
                && response.request.endpoint.hasPrefix(endpoint.name + " ")
        }
        return identity == self.identity && (identity != first || response.valueVariant == valueVariant)
            || identity == first && valueVariant != nil && response.valueVariant == valueVariant
    }

    /// Returns whether a response belongs to a sibling that has retired.
    func isRetired(_ response: ResponseOrigin, id: UInt64) -> Bool {
        guard let identity = response.identity, identity == first || identity.hasPrefix(first + "~") else {
            return false
        }
        return isLongAgo(max(response.validatedAt, response.usedAt, uses[id] ?? response.usedAt))
    }

    /// Returns the names of the siblings that have retired, and those of their members.
    ///
    /// Siblings with names of more than 207 bytes are stored without them, and never retire.
    ///
    /// - Parameter firstURL: the URL of the first page of all siblings.
    func retired(_ reader: borrowing StoreReader, firstURL: String) throws -> [(name: String, members: String)] {
        let own = SiblingLists.parts(of: name).first, prefix = own + SiblingLists.mark
        var found: [(name: String, progress: Checkpoint)] = []
        func examine(_ other: String, _ checkpoint: Checkpoint) {
            guard other != name, isLongAgo(checkpoint.completedAt ?? checkpoint.startedAt) else { return }
            found.append((other, checkpoint))
        }
        if own != name, let checkpoint = try reader.checkpoint(own) { examine(own, checkpoint) }
        try reader.forEachCheckpoint(withPrefix: prefix, examine)
        guard !found.isEmpty else { return [] }
        // Fresh answers use a list that is not loaded.
        var used: Set<String> = []
        try reader.access.responses.forEach(to: firstURL, scope: authScope) { view in
            if let origin = try reader.access.responses.origin(id: view.id), let identity = origin.identity,
                !isRetired(origin, id: view.id)
            {
                used.insert(identity)
            }
            return true
        }
        return found.compactMap { name, progress in
            let identity = ScanIdentity.responses(of: name, endpoint, authScope: authScope)
            guard !used.contains(identity), let members = progress.membersName(of: identity) else { return nil }
            return (name, members)
        }
    }

    /// The identity of the first of the siblings.
    private var first: String {
        ScanIdentity.responses(of: SiblingLists.parts(of: name).first, endpoint, authScope: authScope)
    }

    /// Whether a time is long ago. One far in the future is from when the clock was wrong, unless
    /// the clock is behind now.
    private func isLongAgo(_ time: Timestamp) -> Bool {
        let limit = Int64(SiblingLists.retirement) * 1_000_000
        let (elapsed, isTooLarge) = now.microseconds.subtractingReportingOverflow(time.microseconds)
        return isTooLarge || elapsed > limit || elapsed < -limit && !now.isBeforeTarn
    }
}
