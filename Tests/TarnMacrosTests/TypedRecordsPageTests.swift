// swift-format-ignore-file
// (The page "Typed records and requests" has parts of this file, of Forge.swift and of ForgeRequests.swift.)
// The examples of that page, verbatim and run.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("The page Typed records and requests", .timeLimit(.minutes(2)))
struct TypedRecordsPageTests {
    @Test("every example of the page stands in these tests")
    func examples() throws {
        let page = try DocumentationPage("TypedRecords"), folder = "Tests/TarnMacrosTests/"
        let missing = try page.examples(
            missingIn: folder + "Forge.swift", folder + "ForgeRequests.swift", folder + "RecordURLMacroTests.swift", #filePath)
        #expect(page.examples.count == 10 && missing == [])
    }

    @Test("the examples do what the page says")
    func walkthrough() async throws {
        let server = try ForgeServer(), base = server.server.base, path = server.folder("page.tarn")
        setenv("FORGE_TOKEN", "secret", 1)
        let forge = try RecordClient(
            base: base, records: Issue.self, User.self, Label.self, Milestone.self, store: path
        ) { description in
            description.api.authentication = .bearer(.environment("FORGE_TOKEN"))
        }
        try forge.store.validate(Issue.self, User.self, Label.self, Milestone.self)

        #expect(try await forge.all(.issues("acme/anvil")).count == 3)
        #expect(server.server.requests.first?.field("Authorization") == "Bearer secret")

        var lines: [String] = []
        let open = Issue.where { $0.state == .open && $0.author.login == "ada" }
            .order(by: \.updatedAt, .descending)
            .limit(20)
        for (issue, author, labels) in try forge.store.read({ try $0.fetch(open.include(\.author, \.labels)) }) {
            lines.append("\(issue.title) by \(author?.login ?? "?"): \(labels.map(\.name).joined(separator: ", "))")
        }
        #expect(lines.sorted() == ["t1 by ada: ", "t2 by ada: ", "t3 by ada: "])

        let (newest, comments, byState) = try forge.store.read { reader in
            (
                try reader.maximum(of: \.updatedAt, Issue.all), try reader.sum(of: \.thumbsUp, open),
                try reader.counts(by: \.state, Issue.all)
            )
        }
        #expect(newest == nil && comments == 0 && byState.map(\.count) == [3])

        var body: [UInt8] = []
        let isThere = try forge.store.read { try $0.writeJSON(Issue.self, 1, into: &body) }
        let count = try forge.store.read { try $0.writeJSON(open.include(\.author, \.labels), into: &body) }
        #expect(isThere && count == 3 && body.first == UInt8(ascii: "{") && body.last == UInt8(ascii: "]"))

        var shown: [String] = []
        func show(_ what: String, _ issues: [Issue]) { shown.append("\(what): \(issues.count)") }
        var isClosed: Bool { shown.count == 2 }
        for try await answer in forge.answers(.issues("acme/anvil"), local: open) {
            switch answer {
            case .local(let issues): show("stored", issues)
            case .remote(let issues, let reports): show("fetched, \(reports.count) pages", issues)
            case .failed(let error, kept: let issues): show("kept, since \(error)", issues)
            case .changed(let issues): show("changed", issues)
            }
            if isClosed { break }
        }
        #expect(shown == ["stored: 3", "fetched, 0 pages: 3"])
    }
}
