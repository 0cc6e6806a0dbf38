// An API of one list whose pages a test replaces for every scan, answered without a network.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

/// Responds with recordings given as text, and keeps the requested targets.
final class WrittenTransport: Transport {
    private let folder: TemporaryFolder
    private let inner: FixtureTransport
    private let log = Mutex<[String]>([])
    private let onRequest: (@Sendable (String) -> Void)?

    init(_ recordings: [String], onRequest: (@Sendable (String) -> Void)? = nil) throws {
        folder = try TemporaryFolder()
        for (index, recording) in recordings.enumerated() {
            try Data(recording.utf8).write(to: URL(fileURLWithPath: "\(folder.path)/\(index).http"))
        }
        inner = try FixtureTransport(directory: folder.path)
        self.onRequest = onRequest
    }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        log.withLock { $0.append(request.url.replacing("https://api.test.example/v1", with: "")) }
        onRequest?(request.url)
        return try await inner.send(request)
    }

    var requests: [String] { log.withLock { $0 } }
}

/// The pages of a list that follow each other by `Link`, with an ETag that depends on their
/// content.
func writtenPages(_ pages: [[Int]], path: String = "/items", extra: String = "") -> [String] {
    pages.enumerated().map { index, ids in
        let target = "/v1\(path)" + (index == 0 ? "" : "?page=\(index + 1)")
        let body = "[" + ids.map { #"{"id":\#($0),"name":"n\#($0)"\#(extra)}"# }.joined(separator: ",") + "]"
        let isLast = index == pages.count - 1
        let tag = "ETag: \"\(ids.map(String.init).joined(separator: "-"))\(isLast ? "end" : "")\(extra.utf8.count)\""
        let link = "Link: <https://api.test.example/v1\(path)?page=\(index + 2)>; rel=\"next\""
        return isLast ? recording(target, body, tag) : recording(target, body, tag, link)
    }
}

extension MirrorStore {
    /// One sync of a list that has these pages now.
    @discardableResult
    func scan(
        _ pages: [[Int]], and others: [String] = [], options: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> SyncReport {
        try await sync(nil, transport: try WrittenTransport(writtenPages(pages) + others), options: options)
    }

    func items(_ entity: String = "Item") throws -> [Int] {
        try read { reader in
            var keys: [Int] = []
            try reader.forEach(entity) { record in
                if case .int(let key)? = record.key.components.first { keys.append(Int(key)) }
                return true
            }
            return keys
        }
    }
}

/// The counts that are not 0.
func found(_ report: SyncReport, _ location: SourceLocation = #_sourceLocation) -> [String: Int] {
    #expect(report.failures.isEmpty, "\(report.texts)", sourceLocation: location)
    guard let orphans = report.orphans else { return [:] }
    let counts = [
        "candidates": orphans.candidates, "waiting": orphans.waiting, "deleted": orphans.deleted,
        "unlinked": orphans.unlinked,
        "due": orphans.due, "elsewhere": orphans.listedElsewhere, "kept": orphans.kept, "vetoed": orphans.vetoed,
        "local": orphans.changedLocally, "denied": orphans.denied, "existing": orphans.existing,
    ]
    return counts.filter { $0.value > 0 }
}

extension MirrorStore {
    /// A mirror of boxes, and of the items in each of them, with one more rule at the endpoint.
    static func boxes(_ line: String) throws -> MirrorStore {
        try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities:
                  Box: { key: id, attributes: { id: int, name: string } }
                  Item: { key: id, attributes: { id: int, name: string }, relationships: { box: { to: Box, inverse: items } } }
                endpoints:
                  boxes: { path: /boxes, entity: Box }
                  content:
                    path: '/boxes/{box.id}/items'
                    entity: Item
                    paginate: header_link
                    for_each: { entity: Box, parent: box }
                    \(line)
                """)
    }
}
