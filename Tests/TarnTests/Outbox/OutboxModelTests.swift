// Random local changes, changes by others, lost answers, refusals and restarts, against the model.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Outbox: model")
struct OutboxModelTests {
    private struct Run {
        let fixture: OutboxFixture
        var random: SeededRandom
        var outbox: Outbox
        let policy: ConflictPolicy
        var count = 0
        /// The texts that were queued and that no refusal or withdrawal has taken back.
        var created: [String] = []

        init(_ fixture: OutboxFixture, seed: UInt64, _ policy: ConflictPolicy) {
            self.fixture = fixture
            self.policy = policy
            random = SeededRandom(seed: seed)
            outbox = fixture.outbox(policy)
        }

        mutating func pick(_ entity: String) throws -> RecordKey? {
            let keys = try fixture.keys(entity)
            return keys.isEmpty ? nil : RecordKey(keys[random.roll(0..<keys.count)])
        }

        mutating func text() -> String {
            count += 1
            return random.roll(0..<12) == 0 ? "refuse \(count)" : "t\(count)"
        }

        mutating func step() async throws {
            switch random.roll(0..<20) {
            case 0..<4:
                let title = text()
                created.append(title)
                try await outbox.create(
                    "Item", [.init("title", .string(title)), .init("state", .string("open")), .init("votes", .int(0))])
            case 4..<9:
                guard let key = try pick("Item") else { return }
                let fields: [Record.Field] =
                    random.roll(0..<2) == 0
                    ? [.init("title", .string(text()))] : [.init("votes", .int(Int64(random.roll(0..<50))))]
                try await outbox.update("Item", key, fields)
            case 9..<12:
                guard let key = try pick("Item") else { return }
                let text = text()
                created.append(text)
                try await outbox.create("Comment", [.init("text", .string(text)), .init("item", .reference(key))])
            case 12:
                guard let key = try pick("Comment") else { return }
                try await outbox.update("Comment", key, [.init("text", .string(text()))])
            case 13:
                guard let key = try pick("Comment") else { return }
                try await outbox.delete("Comment", key)
            case 14..<16:
                guard let key = try pick("Item"), let label = try pick("Label") else { return }
                if random.roll(0..<2) == 0 {
                    try await outbox.add([label], to: "labels", of: "Item", key)
                } else {
                    try await outbox.remove([label], from: "labels", of: "Item", key)
                }
            case 16:
                let roll = random.next()
                fixture.server.with { api in
                    let ids = api.items.keys.sorted()
                    guard !ids.isEmpty else { return }
                    api.edit(ids[Int(roll % UInt64(ids.count))]) { item in
                        if roll % 2 == 0 { item.votes = Int(roll % 50) } else { item.title = "other \(roll % 1000)" }
                    }
                }
            case 17: try await fixture.sync()
            case 18: outbox = fixture.outbox(policy)
            default: _ = try await outbox.drain()
            }
        }

        /// Retries what is dead once, and discards what dies again.
        mutating func finish() async throws {
            fixture.server.with { $0.fault = { _ in nil } }
            for round in 0..<20 {
                let report = try await drained(outbox)
                #expect(report.remaining.pending + report.remaining.sending == report.remaining.pending, "\(report)")
                let left = try outbox.operations()
                if left.isEmpty { break }
                for operation in left where operation.state == .dead {
                    if round == 0 {
                        try await outbox.retry(operation.id)
                    } else if try outbox.operation(operation.id) != nil {
                        try await outbox.discard(operation.id)
                    }
                }
            }
            #expect(try outbox.operations().isEmpty)
            try await fixture.sync()
        }

        func compare() throws {
            let (items, comments) = fixture.server.with { ($0.items, $0.comments) }
            #expect(try fixture.keys("Item") == items.keys.sorted().map(Int64.init))
            for (id, item) in items {
                let key = RecordKey(Int64(id))
                #expect(try fixture.field("title", of: key) == .string(item.title), "title of \(id)")
                #expect(try fixture.field("votes", of: key) ?? .null == item.votes.map { .int(Int64($0)) } ?? .null)
                let labels = item.labels.map { RecordKey(Int64($0)) }
                #expect(
                    try fixture.field("labels", of: key) ?? .references([]) == .references(labels), "labels of \(id)")
                #expect(try fixture.store.read { try $0.localChange("Item", key) } == nil)
            }
            #expect(try fixture.keys("Comment") == comments.keys.sorted().map(Int64.init))
            for (id, comment) in comments {
                let key = RecordKey(Int64(id))
                #expect(try fixture.field("text", of: key, "Comment") == .string(comment.text))
                let parent = try fixture.field("item", of: key, "Comment")
                let change = try fixture.store.read { try $0.localChange("Comment", key) }
                let made = fixture.effects.filter { $0.contains(comment.text) }
                #expect(
                    parent == .reference(RecordKey(Int64(comment.item))),
                    "comment \(id): \(comment), made by \(made), local change \(String(describing: change))")
            }
        }
    }

    @Test(
        "the end states of server and store are equal; nothing is lost, and with keys nothing is doubled",
        arguments: [true, false], [0, 1, 2, 3])
    func model(honoursKeys: Bool, variant: Int) async throws {
        for seed in UInt64(0)..<4 {
            let policies: [ConflictPolicy] = [
                .perField, .server, .client,
                .resolve { _, local, _ in local["title"].map { [Record.Field("title", $0)] } },
            ]
            var api = ModelAPI()
            api.honoursKeys = honoursKeys
            api.hasTags = seed % 2 == 0
            api.form = seed % 4 == 3 ? .empty : .record
            api.labels = [1: "one", 2: "two", 3: "three"]
            let dice = Mutex(SeededRandom(seed: seed &* 7 &+ 1))
            api.fault = { _ in
                switch dice.withLock({ $0.roll(0..<20) }) {
                case 0: .lost
                case 1: .dropped
                case 2: .status(503)
                case 3: .status(429)
                default: nil
                }
            }
            let fixture = try OutboxFixture(api)
            try await fixture.sync()
            var run = Run(fixture, seed: seed &* 31 &+ UInt64(variant), policies[variant])
            for _ in 0..<120 { try await run.step() }
            try await run.finish()
            try run.compare()
            guard honoursKeys else { continue }
            let effects = fixture.effects
            for text in run.created {
                let count = effects.count { effect in
                    effect.hasPrefix("POST") && effect.split(separator: " ").contains { $0.hasSuffix("=\(text)") }
                }
                #expect(count <= 1, "seed \(seed), variant \(variant): \(text) was created \(count) times")
            }
        }
    }
}
