// A store with a changing schema: the schemas of the rounds, and the commands that write and change
// it.

import Foundation
import Glibc
import TarnStore

/// The schemas of the rounds.
///
/// The changes of a round require new indexes: other component orders, conditions, uniqueness and
/// new attributes. Subentities are added, too, and names change.
enum Evolving {
    static let items = 1800

    static func schema(_ round: Int) -> Schema {
        var attributes: [AttributeDefinition] = [
            .init("id", .int), .init("group", .int, optional: true, indexed: round % 4 != 0), .init("name", .string),
            .init("code", .string, optional: true), note(round),
        ]
        for number in 0..<round % 6 {
            attributes.append(.init("extra\(number)", .int, optional: true, indexed: number % 2 == 0))
        }
        let item = EntityDefinition(
            "Item", key: ["id"], attributes: attributes,
            relationships: [
                .init("next", to: "Item", inverse: "previous"), .init("tags", to: "Tag", many: true, inverse: "items"),
            ],
            indexes: [
                IndexDefinition("first", on: round % 2 == 0 ? ["group", "name"] : ["name", "group"]),
                IndexDefinition("some", on: "name", where: [.init("group", .greaterOrEqual, .int(Int64(round % 7)))]),
                IndexDefinition("only", on: round % 3 == 0 ? ["code"] : ["code", "id"], unique: round % 5 != 0),
            ])
        var entities = [item, EntityDefinition("Tag", key: ["name"], attributes: [.init("name", .string)])]
        if round % 8 >= 4 {
            entities.append(
                EntityDefinition("Special", parent: "Item", attributes: [.init("grade", .int, indexed: round % 2 == 0)])
            )
        }
        return Schema(entities)
    }

    /// Returns an attribute that is renamed every tenth round.
    static func note(_ round: Int) -> AttributeDefinition {
        let number = round / 10
        return .init("note\(number)", .string, optional: true, renamedFrom: number == 0 ? nil : "note\(number - 1)")
    }

    /// Writes some items with the current schema of the store.
    static func write(_ writer: inout StoreWriter, _ random: inout some RandomNumberGenerator) throws {
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let id = Int64.random(in: 0..<Int64(items + 200), using: &random), key = RecordKey(id)
            if Int.random(in: 0..<6, using: &random) == 0 {
                try writer.delete("Item", key)
                continue
            }
            let kinds = writer.catalog.entities.map(\.name).filter { $0 != "Tag" }
            let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
            guard let entity = writer.catalog.entity(kind) else { continue }
            var fields: [Record.Field] = [.init("code", .string("c\(id)"))]
            for field in entity.fields where field.name != "id" && field.name != "code" && Bool.random(using: &random) {
                let number = Int64.random(in: 0..<9, using: &random)
                switch field.kind {
                case .attribute(.string): fields.append(.init(field.name, .string("\(field.name) \(number)")))
                case .attribute: fields.append(.init(field.name, number == 0 ? .null : .int(number)))
                case .reference(let reference) where reference.isToMany:
                    fields.append(.init(field.name, .references((0..<number).map { RecordKey("t\($0)") })))
                case .reference: fields.append(.init(field.name, .reference(RecordKey(number * 100))))
                }
            }
            try writer.put(kind, key, fields)
        }
    }

    static let quick = Store.Options(durability: .volatile)
}

struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Writes until standard input ends, also while the schema changes.
///
/// The store is opened without a schema.
///
/// Prints `open`, then `ack NUMBER` for every write.
func churn(_ path: String, seed: UInt64) throws {
    let store = try Store.open(at: path, options: Evolving.quick)
    say("open")
    let thread = Thread {
        var random = SeededRandom(seed: seed), number = 0
        while true {
            do {
                try store.write { try Evolving.write(&$0, &random) }
            } catch {
                say("error \(error)")
                _exit(1)
            }
            number += 1
            say("ack \(number)")
            usleep(200)
        }
    }
    thread.stackSize = 8 << 20
    thread.start()
    waitForEndOfInput()
    _exit(0)
}

/// Applies the schema of a round, in small steps.
///
/// Prints `begin`, `step INDEX DONE` for every index in every step, and `open`.
func evolve(_ path: String, round: Int, rows: Int) throws {
    say("begin")
    let store = try Store.open(
        at: path, schema: Evolving.schema(round), options: Evolving.quick, building: IndexBuildOptions(rows: rows)
    ) { progress in say("step \(progress.index) \(progress.done)") }
    say("open")
    withExtendedLifetime(store) {}
}

/// Executes the commands of standard input.
///
/// The answer to each is one line: `ok`, or `failed` and the error.
///
///     write SEED                writes some random items
///     burst SEED                runs `write` 8 times concurrently, so that groups are committed
///     read                      reads every item; `ok COUNT`
///     adopt ROUND ROWS          applies the schema of another round
///     index ENTITY NAME         removes an index
///     field ENTITY NAME         removes a field
///     entity NAME               removes an entity
func serve(_ path: String, round: Int) throws {
    let store = try Store.open(at: path, schema: Evolving.schema(round), options: Evolving.quick)
    say("open")
    while let line = readLine() {
        let words = line.split(separator: " ").map(String.init)
        do {
            switch (words.first, words.count) {
            case ("write", 2):
                var random = SeededRandom(seed: UInt64(words[1]) ?? 0)
                try store.write { try Evolving.write(&$0, &random) }
                say("ok")
            case ("burst", 2): say(burst(store, seed: UInt64(words[1]) ?? 0))
            case ("read", 1):
                var count = 0
                try store.read {
                    try $0.forEach("Item") { _ in
                        count += 1
                        return true
                    }
                }
                say("ok \(count)")
            case ("adopt", 3):
                let building = IndexBuildOptions(rows: Int(words[2]) ?? 1)
                let same = try Store.open(
                    at: path, schema: Evolving.schema(Int(words[1]) ?? 0), options: Evolving.quick, building: building)
                say(same === store ? "ok" : "failed another store")
            case ("index", 3):
                try store.remove(index: words[2], of: words[1])
                say("ok")
            case ("field", 3): say("ok \(try store.remove(field: words[2], of: words[1], step: 300))")
            case ("entity", 2): say("ok \(try store.remove(entity: words[1], step: 300))")
            default: say("failed \(line)?")
            }
        } catch {
            say("failed \(error)")
        }
    }
}

/// Writes concurrently and returns `ok`, or the distinct errors.
private func burst(_ store: Store, seed: UInt64) -> String {
    let group = DispatchGroup(), lock = NSLock()
    nonisolated(unsafe) var failures: Set<String> = []
    for number in 0..<8 {
        DispatchQueue.global().async(group: group) {
            var random = SeededRandom(seed: seed &+ UInt64(number))
            do {
                try store.write { try Evolving.write(&$0, &random) }
            } catch {
                lock.withLock { _ = failures.insert("\(error)") }
            }
        }
    }
    group.wait()
    return failures.isEmpty ? "ok" : "failed \(failures.sorted().joined(separator: " | "))"
}
