// The lists that the endpoints of a description request, and those in records that its
// relationships read: which of them are others than before.

import Foundation
import TarnStore

/// Digests of the lists of a description's endpoints, and of the sources of its relationships.
///
/// A sync notes them in the store. If an edited description requests other lists, or takes nested
/// records from elsewhere, records of the former places may stay: see ``UnlistedRecords``.
struct RequestedLists: Sendable {
    /// The note about one endpoint, or about one relationship.
    struct Line: Sendable, Equatable {
        /// The digest of its lists; `-` if the description no longer has the endpoint.
        private(set) var digest: String
        /// The time of the sync that has found other lists than before; nil if all complete lists
        /// have been compared since.
        var changedAt: Timestamp?
        /// The digests of before.
        private var former: [String] = []
        /// Whether a former digest has returned: two descriptions may take turns.
        private var hasReturned = false

        /// The number of former digests that are noted.
        private static let mostFormer = 4
        private static let none = "-"

        /// Whether the description no longer has the endpoint.
        var isRemoved: Bool { digest == Line.none }

        /// - Parameter digest: nil for none.
        init(_ digest: String?) { self.digest = digest ?? Line.none }

        /// The line after a sync with another digest.
        ///
        /// The first return to a former one may be an edit that was taken back. Later ones are no
        /// edits, and are not told.
        func changed(to new: String?, at now: Timestamp) -> Line {
            let new = new ?? Line.none
            guard new != digest else { return self }
            var line = self
            line.digest = new
            line.former = Array((former.filter { $0 != digest } + [digest]).suffix(Line.mostFormer))
            guard former.contains(new) else {
                line.changedAt = now
                return line
            }
            if !hasReturned { line.changedAt = now }
            line.hasReturned = true
            return line
        }

        /// The line with the digest by which this version knows the same lists.
        func known(by digest: String) -> Line {
            var line = self
            line.digest = digest
            return line
        }

        /// Decodes the words of a note; nil if they are none.
        init?(_ digests: Substring, _ time: Substring) {
            let parts = digests.split(separator: ",").map(String.init)
            guard let first = parts.first, let time = Int64(time) else { return nil }
            digest = first
            hasReturned = parts.last == "^"
            former = parts.dropFirst().filter { $0 != "^" }
            changedAt = time == 0 ? nil : Timestamp(microseconds: time)
        }

        var text: String {
            "\(([digest] + former + (hasReturned ? ["^"] : [])).joined(separator: ",")) \(changedAt?.microseconds ?? 0)"
        }
    }

    /// The beginning of the name of a relationship's line: `:Issue.labels`. No endpoint has such a
    /// name.
    private static let relationship = ":"

    /// The entity and the relationship of a line; nil for the line of an endpoint.
    static func relationship(_ name: String) -> (entity: String, name: String)? {
        guard name.hasPrefix(relationship), let dot = name.firstIndex(of: ".") else { return nil }
        return (String(name[..<dot].dropFirst()), String(name[dot...].dropFirst()))
    }

    /// The digests by the names of lines.
    private let digests: [String: String]
    /// The digests of endpoints by which earlier versions, which did not compare rules for
    /// responses, know the same lists: an upgrade is no edit.
    let formerDigests: [String: String]
    /// The former names of lines by their names.
    private let formerNames: [String: [String]]
    /// A digest of the place of the description's file: other descriptions may share the store.
    private let scope: String
    /// The scope of earlier versions: a digest of the path as the caller has passed it.
    private let formerScope: String

    /// - Parameter client: the client of the description, which has the clients of further APIs.
    init(_ client: APIClient) {
        let description = client.description
        let apis = Dictionary(description.furtherAPIs.map { ($0.name, $0.api) }) { first, _ in first }
        // No path that a command is given is such a text.
        scope = RequestedLists.digest(
            of: "from the store: \(RequestedLists.place(of: description.file, seenFrom: client.store.path))")
        formerScope = RequestedLists.digest(of: description.file)
        var digests: [String: String] = [:], formerDigests: [String: String] = [:]
        for endpoint in description.endpoints {
            let api = endpoint.api.flatMap { apis[$0] } ?? description.api
            let text = RequestedLists.text(of: endpoint.completed(by: api), base: api.base, client.keyFingerprint)
            let rules = Description.text(ofRulesThatEndListsOf: endpoint, api)
            formerDigests[endpoint.name] = RequestedLists.digest(of: text)
            digests[endpoint.name] = RequestedLists.digest(of: "rules\n\(rules)\(text)")
        }
        self.formerDigests = formerDigests
        var formerNames: [String: [String]] = [:]
        for relationship in FieldSources(description).relationships {
            let names = relationship.names.map { RequestedLists.relationship + $0 }
            digests[names[0]] = relationship.digest
            formerNames[names[0]] = Array(names.dropFirst())
        }
        (self.digests, self.formerNames) = (digests, formerNames)
    }

    /// The path from a store to a file; the path of the file as it is if there is no such file.
    ///
    /// It is the same in every working directory, and if both are moved together.
    static func place(of file: String, seenFrom store: String) -> String {
        guard FileManager.default.fileExists(atPath: file) else { return file }
        func components(_ path: String) -> [String] {
            URL(fileURLWithPath: path).resolvingSymlinksInPath().standardizedFileURL.pathComponents
        }
        let target = components(file), origin = components(store)
        let common = zip(target, origin).prefix { $0 == $1 }.count
        return (origin.dropFirst(common).map { _ in ".." } + target.dropFirst(common)).joined(separator: "/")
    }

    private static func digest(of text: String) -> String { String(SHA256.shortHexadecimal(text).prefix(8)) }

    /// Everything in its request and its records that determines which records an endpoint lists.
    ///
    /// - Parameter keys: the digest of what the keys of records depend on.
    private static func text(of endpoint: Endpoint, base: String, _ keys: String) -> String {
        var text = "\(endpoint.method) \(base)\(endpoint.path)\n"
        for parameter in endpoint.parameters { text += "with \(parameter.name) \(parameter.value)\n" }
        for partition in endpoint.partitions { text += "partition \(partition.name) \(partition.values)\n" }
        if let initial = endpoint.incremental?.initial { text += "initial \(initial)\n" }
        text += "limits \(endpoint.limits.pages ?? 0) \(endpoint.limits.records ?? 0)\n"
        return text + Description.listing(of: endpoint, keyedBy: keys)
    }

    /// The lines of a note about the endpoints of this description, by name.
    func lines(of note: String?) -> [String: Line] {
        var lines: [String: Line] = [:], former: [String: Line] = [:]
        RequestedLists.forEachLine(of: note) { lineScope, name, line in
            if lineScope == scope[...] { lines[name] = line }
            if lineScope == formerScope[...] { former[name] = line }
        }
        return lines.isEmpty ? former : lines
    }

    private static func forEachLine(of note: String?, _ body: (Substring, String, Line) -> Void) {
        for text in (note ?? "").split(separator: "\n") {
            let words = text.split(separator: " ", maxSplits: 3)
            guard words.count == 4, let line = Line(words[1], words[2]) else { continue }
            body(words[0], String(words[3]), line)
        }
    }

    private func isOwn(_ scope: Substring) -> Bool { scope == self.scope[...] || scope == formerScope[...] }

    /// The lines of a sync that has found the lines of an earlier one.
    ///
    /// - Parameters:
    ///   - names: the endpoints of the sync; nil for all. Only then, endpoints that the description
    ///     does not have are known to be removed. Relationships are compared by every sync: each
    ///     may replace references.
    ///   - now: the present time.
    func lines(after old: [String: Line], _ names: Set<String>?, now: Timestamp) -> [String: Line] {
        var lines = old
        func isCompared(_ name: String) -> Bool {
            RequestedLists.relationship(name) != nil || (names?.contains(name) ?? true)
        }
        for (name, digest) in digests where isCompared(name) {
            if let line = old[name] ?? formerNames[name]?.lazy.compactMap({ old[$0] }).first {
                let isUpgraded = line.digest == formerDigests[name]
                lines[name] = isUpgraded ? line.known(by: digest) : line.changed(to: digest, at: now)
            } else {
                // The lists of a first sync are no others than before. A further endpoint may list
                // records of the former ones. A further relationship has no former records.
                lines[name] = Line(digest)
                lines[name]?.changedAt = old.isEmpty || RequestedLists.relationship(name) != nil ? nil : now
            }
        }
        for (name, line) in old where digests[name] == nil && (names == nil || isCompared(name)) {
            lines[name] = line.changed(to: nil, at: now)
        }
        return lines
    }

    /// The relationships of other descriptions in a note, such as `Issue.labels`.
    func relationshipsOfOthers(_ note: String?) -> Set<String> {
        var found: Set<String> = []
        RequestedLists.forEachLine(of: note) { scope, name, line in
            guard !isOwn(scope), !line.isRemoved, RequestedLists.relationship(name) != nil else { return }
            found.insert(String(name.dropFirst()))
        }
        return found
    }

    /// The note with these lines in place of those of this description.
    func note(_ lines: [String: Line], after note: String?) -> String {
        let others = (note ?? "").split(separator: "\n").filter { line in !isOwn(line.prefix { $0 != " " }) }
            .map(String.init)
        let own = lines.sorted { $0.key < $1.key }.map { "\(scope) \($1.text) \($0)" }
        return (others + own).joined(separator: "\n")
    }
}
