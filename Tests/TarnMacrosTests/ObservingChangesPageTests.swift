// swift-format-ignore-file
// (The page "Observing changes" has parts of this file.)
// The typed examples of that page, verbatim and run.

import Foundation
import Locking
import Observation
import TarnMacros
import TestSupport
import Testing

@Suite("The typed examples of the page Observing changes", .timeLimit(.minutes(2)))
struct ObservingChangesPageTests {
    @Test("the examples about observing do what they say")
    func observing() async throws {
        let server = try ForgeServer(), forge = server.client
        _ = try await forge.all(.issues("acme/anvil"))
        var shown: [String] = []
        func show(_ title: String, _ author: String?, _ labels: [String]) { shown.append(title) }

        let open = Issue.where { $0.state == .open }.order(by: \.number)
        for try await found in forge.store.observe(open.include(\.author, \.labels)) {
            for (issue, author, labels) in found.value { show(issue.title, author?.login, labels.map(\.name)) }
            if found.value.count == 3 { break }
        }
        #expect(shown == ["t1", "t2", "t3"])

        let byState = forge.store.observe(of: Issue.self) { reader in
            try reader.counts(by: \.state, Issue.all).map(\.count)
        }
        for try await counts in byState {
            #expect(counts.value == [3])
            break
        }

        for try await count in forge.store.observe(countOf: open) {
            show("\(count.value) open", nil, [])
            if count.value == 3 { break }
            try await Task.sleep(for: .milliseconds(200))
        }
        #expect(shown.last == "3 open")
    }

    @Test("the examples about requests do what they say")
    func requests() async throws {
        let server = try ForgeServer(), forge = server.client
        var shown: [String] = []
        func show(_ title: String, _ author: String?, _ labels: [String]) { shown.append(title) }
        for try await answer in forge.answers(.issues("acme/anvil")) {
            switch answer {
            case .local(let issues): show("stored: \(issues.count)", nil, [])
            case .remote(let issues, _): show("fetched: \(issues.count)", nil, [])
            case .failed(let error, kept: let issues): show("kept: \(issues.count), \(error)", nil, [])
            case .changed(let issues): show("changed: \(issues.count)", nil, [])
            }
            if case .remote = answer { break }
        }
        #expect(shown == ["stored: 0", "fetched: 3"])
    }

    @MainActor
    @Test("the example about properties does what it says")
    func properties() async throws {
        let server = try ForgeServer(), forge = server.client
        let open = Issue.where { $0.state == .open }.order(by: \.number), needsRender = DispatchSemaphore(value: 0)
        var titles: [String] = []
        func render(_ shown: [String], isBusy: Bool, problem: (any Error)?) { titles = shown }

        let issues = ObservedRecords(forge.answers(.issues("acme/anvil"), local: open.include(\.author)))
        withObservationTracking {
            render(issues.records.map(\.0.title), isBusy: issues.isLoading, problem: issues.error)
        } onChange: {
            needsRender.signal()
        }

        let deadline = ContinuousClock.now + .seconds(60)
        while issues.isLoading, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(2)) }
        render(issues.records.map(\.0.title), isBusy: issues.isLoading, problem: issues.error)
        #expect(titles == ["t1", "t2", "t3"] && issues.error == nil)
    }

    @Test("the examples about streams of changes do what they say")
    func streams() async throws {
        let server = try ForgeServer(), forge = server.client
        var touched: [Int64] = [], gone: [Int64] = []
        var saved = try forge.store.read { try $0.changeToken }
        _ = try await forge.all(.issues("acme/anvil"))
        try await forge.store.write { _ = try $0.delete("Issue", RecordKey(2)) }
        _ = try await forge.one(.issue(7))

        for try await event in forge.store.changes(since: saved, of: Issue.self) {
            switch event.operation {
            case .created, .updated: touched.append(event.key)
            case .deleted: gone.append(event.key)
            }
            saved = event.token
            if touched.count == 4 { break }
        }
        #expect(touched == [1, 2, 3, 7] && gone == [2])

        try await forge.store.write { _ = try $0.patch(Issue.self, 3) { $0.set(.state, State.closed) } }
        for try await page in forge.store.changes(since: saved, of: Issue.self).pages(limit: 500) {
            touched += page.changes.compactMap { Int64($0.key) }
            saved = page.token
            if !page.hasMore { break }
        }
        #expect(touched == [1, 2, 3, 7, 3])
        #expect(try forge.store.read { try $0.changeToken } == saved)
    }
}
