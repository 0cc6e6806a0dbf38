// Shared helpers: proposals of recorded APIs, and their syncs.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

@testable import TarnProposal

/// Captured data is beside the checkout and not part of it.
enum Captured {
    static let folder: String? = {
        var url = URL(fileURLWithPath: Checkout.root)
        for _ in 0..<3 {
            url.deleteLastPathComponent()
            let folder = url.path + "/shared/data"
            if FileManager.default.fileExists(atPath: folder + "/github-events.json") { return folder }
        }
        return nil
    }()

    static func json(_ name: String) throws -> JSONValue {
        let folder = try #require(Captured.folder)
        return try JSONValue(
            String(decoding: Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)), as: UTF8.self))
    }
}

/// A recorded API, its proposal, and the store of a sync by it.
struct ProposedMirror {
    let proposal: Proposal
    let description: Description
    let report: SyncReport
    let store: Store
    private let folder: TemporaryFolder

    /// Samples URLs of recordings, proposes a description, and syncs everything by it.
    init(_ transport: some Transport, _ urls: [String], pages: Int = 3) async throws {
        var options = Sampler.Options()
        options.pages = pages
        let sampler = Sampler(transport, options: options)
        var samples: [Sample] = []
        for url in urls { samples.append(try await sampler.sample(url)) }
        try await self.init(transport, try Proposal(samples))
    }

    init(_ transport: some Transport, _ proposal: Proposal) async throws {
        self.proposal = proposal
        folder = try TemporaryFolder()
        description = try Description.parse(proposal.text, file: folder("tarn.yaml"))
        store = try Store.open(at: folder("store"), schema: description.schema)
        var client = APIClient.Options()
        client.retry = RetryPolicy()
        client.retry?.attempts = 1
        report = await APIMirror.sync(description, store, transport, client)
    }

    func count(_ entity: String) throws -> Int { try store.read { try $0.count(entity) } }

    /// The numbers of related records of all records of an entity: stored ones, and missing ones.
    func related(_ entity: String, _ relationship: String) throws -> (stored: Int, missing: Int) {
        try store.read { reader in
            var stored = 0, missing = 0
            for record in try reader.fetch(Query(entity)) {
                try reader.forEachRelated(entity, record.key, relationship) { target in
                    if target.record == nil { missing += 1 } else { stored += 1 }
                    return true
                }
            }
            return (stored, missing)
        }
    }

    /// Expects that nothing was left out, neither when the samples were looked at nor in the sync.
    func expectClean(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(proposal.findings == [], sourceLocation: sourceLocation)
        #expect(report.failures.map { "\($0)" } == [], sourceLocation: sourceLocation)
        #expect(report.report.diagnosticGroups.map { "\($0.first)" } == [], sourceLocation: sourceLocation)
        #expect(report.report.unmapped.map { "\($0.entity).\($0.path)" } == [], sourceLocation: sourceLocation)
    }
}

extension APIMirror {
    static func sync(
        _ description: Description, _ store: Store, _ transport: any Transport, _ client: APIClient.Options
    ) async -> SyncReport {
        do throws(MirrorError) {
            return await (try APIMirror(description, store: store, transport: transport, client: client)).sync()
        } catch {
            Issue.record("\(error)")
            return SyncReport()
        }
    }
}

/// A folder of recordings.
func recordings(_ folder: TemporaryFolder, _ responses: [(target: String, fields: [String], body: String)]) throws {
    for (index, response) in responses.enumerated() {
        let head = (["GET \(response.target)", "HTTP/1.1 200 OK"] + response.fields).joined(separator: "\n")
        _ = try folder.write("\(1000 + index).http", head + "\n\n" + response.body)
    }
}

/// A proposal of one response.
func propose(_ body: String, url: String = "https://api.test.example/things") throws -> Proposal {
    let page = ColumnSearch.page(Sample.Page(url: url, body: Array(body.utf8), json: try JSONValue(body)))
    return try Proposal([Sample(origin: url, isURL: true, pages: [page])])
}
