// Records for code that observes properties: on the main actor, on another one, and their end.

import Foundation
import Locking
import Observation
import TarnMacros
import TestSupport
import Testing

@testable import TarnStore

@Suite("Observed records", .timeLimit(.minutes(2)))
struct ObservedRecordsTests {
    let bed: RecordFixture
    var store: Store { bed.store }

    init() throws { bed = try RecordFixture() }

    struct Vain: Error { var what: String }

    /// Waits on the main actor until a condition is true, two minutes at most.
    @MainActor
    private func shown(_ what: String, _ condition: () throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while try !condition() {
            guard ContinuousClock.now < deadline else { throw Vain(what: what) }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    @MainActor
    @Test("records change on the main actor, and code that tracks the properties is told")
    func tracked() async throws {
        let query = Issue.where { $0.state == .open }.order(by: \.number).include(\.author)
        let open = ObservedRecords(store.observe(query))
        #expect(open.isLoading && open.records.isEmpty && open.error == nil)
        try await shown("the first result") { !open.isLoading }
        #expect(open.records.map { $1?.login } == ["Ada", "bob"])
        let changes = Guarded(0)
        for name in ["eve", "zed"] {
            let before = changes.withLock { $0 }
            withObservationTracking {
                _ = open.records
            } onChange: {
                MainActor.preconditionIsolated()
                changes.withLock { $0 += 1 }
            }
            try await store.write { _ = try $0.patch(User.self, 6) { $0.set(.login, name) } }
            try await shown("it is told") { changes.withLock { $0 } == before + 1 }
            try await shown("the records are there") { open.records.last?.1?.login == name }
        }
    }

    actor Screen {
        private var open: ObservedRecords<Issue>?
        var ids: [Int64] { open?.records.map(\.id) ?? [] }
        func start(_ store: Store) { open = ObservedRecords(store.observe(Issue.where { $0.state == .open })) }
        func stop() { open = nil }
    }

    @Test("they belong to the actor that creates them, and end with their release")
    func ownActor() async throws {
        let screen = Screen()
        await screen.start(store)
        while await screen.ids != [1, 3] { try await Task.sleep(for: .milliseconds(2)) }
        #expect(store.observers.count == 1)
        try await store.write { _ = try $0.patch(Issue.self, 2) { $0.set(.state, State.open) } }
        while await screen.ids != [1, 2, 3] { try await Task.sleep(for: .milliseconds(2)) }
        await screen.stop()
        try await eventually("the observer has ended") { store.observers.count == 0 }
    }

    @MainActor
    @Test("an error of the evaluation ends them, and is their error")
    func failing() async throws {
        let empty = try TemporaryFolder(), store = try Store.open(at: empty("s"), schema: Schema(records: [Label.self]))
        let users = ObservedRecords(store.observe(User.all))
        try await shown("it has failed") { !users.isLoading }
        #expect(users.records.isEmpty && users.error is StoreError)
        #expect(store.observers.count == 0)
    }

    @MainActor
    @Test("with a request they are loading until the server has answered; its failure is an error, with what is kept")
    func fetched() async throws {
        let gate = ThreadGate(), isFailing = Guarded(false)
        let forge = try ForgeServer { request in
            guard request.target == "/issues/7" else { return nil }
            guard isFailing.withLock({ !$0 }) else { return .init(status: "500 Oops") }
            gate.wait()
            return .init(body: ForgeServer.issue(7))
        }
        let first = ObservedRecords(forge.client.answers(.issue(7), local: Issue.all))
        try await shown("the request") { !forge.server.requests.isEmpty }
        #expect(first.isLoading && first.records.isEmpty)
        gate.open()
        try await shown("the answer") { !first.isLoading }
        #expect(first.records.map(\.id) == [7] && first.error == nil)

        isFailing.withLock { $0 = true }
        let second = ObservedRecords(forge.client.answers(.issue(7).policy(.networkOnly)))
        try await shown("the failure") { second.error != nil }
        #expect(
            second.records.map(\.id) == [7] && !second.isLoading
                && "\(second.error ?? CancellationError())".contains("500"))
        try await forge.client.store.write { _ = try $0.patch(Issue.self, 7) { $0.set(.state, State.closed) } }
        try await shown("the change") { second.records.first?.state == .closed }
        #expect(second.error != nil)

        let third = ObservedRecords(forge.client.answers(.issue(7), fetch: .never))
        try await shown("the store's answer") { !third.isLoading }
        #expect(third.records.map(\.id) == [7])
    }

    @MainActor
    @Test("releasing them cancels the transfer")
    func released() async throws {
        let gate = ThreadGate()
        let forge = try ForgeServer { request in
            guard request.target == "/issues/7" else { return nil }
            gate.wait()
            return .init(body: ForgeServer.issue(7))
        }
        var records: ObservedRecords<Issue>? = ObservedRecords(forge.client.answers(.issue(7)))
        try await shown("the request") { !forge.server.requests.isEmpty }
        #expect(records?.isLoading == true)
        records = nil
        try await shown("all has ended") { forge.client.store.observers.count == 0 }
        gate.open()
        // Nothing of the response is stored.
        try await Task.sleep(for: .milliseconds(50))
        #expect(try forge.client.store.read { try $0.count("Issue") } == 0)
    }
}
