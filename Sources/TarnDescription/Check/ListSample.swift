// The list that a check has requested of an endpoint with several ones.

import Tarn
import TarnStore

/// The list of an endpoint that was requested, and those that were not.
struct ListSample {
    private let endpoint: Endpoint
    /// The list that was requested, by its partition and its parent; empty if there is only one.
    private let name: String
    /// The number of lists that were not requested.
    private let others: Int
    private let skipped: [SkippedParents]

    /// - Parameter store: the store that has the checkpoint of the list.
    init(_ endpoint: Endpoint, _ result: SyncReport.Endpoint, _ store: Store) throws {
        self.endpoint = endpoint
        others = result.leftOut
        skipped = result.skippedParents
        var name = ""
        if endpoint.forEach != nil || !endpoint.partitions.isEmpty {
            try store.read { reader in
                try reader.forEachCheckpoint(withPrefix: endpoint.name + " ") { checkpoint, _ in
                    name = String(checkpoint.dropFirst(endpoint.name.count + 1))
                }
            }
        }
        self.name = name
    }

    /// Whether the endpoint has several lists.
    var isOneOfSeveral: Bool { endpoint.forEach != nil || !endpoint.partitions.isEmpty }

    /// The list for messages: ` of Milestone 7`; empty for the only one.
    var shown: String {
        guard !name.isEmpty else { return "" }
        return " of \(endpoint.forEach.map { "\($0.entity) " } ?? "")\(name)"
    }

    /// A description of the lists and records that were not requested; nil if everything was.
    var rest: String? {
        let lists = others > 0 ? "\(others) more \(others == 1 ? "list" : "lists")" : nil
        let records = skipped.map {
            "\($0.count) record\($0.count == 1 ? "" : "s") of \($0.entity) without a value for {\($0.name)}"
        }
        let parts = [lists].compactMap(\.self) + records
        guard !parts.isEmpty else { return nil }
        let reason = others > 0 ? ": a check requests one list of each endpoint" : ""
        return "not requested: \(parts.joined(separator: ", "))\(reason)"
    }

    /// The reason why no list was requested.
    var reasonForNone: String {
        if let first = skipped.first { return "no record of \(first.entity) has a value for {\(first.name)}" }
        return endpoint.forEach.map { "the first pages have no record of \($0.entity), which it is requested for" }
            ?? "there was no list to request"
    }
}
