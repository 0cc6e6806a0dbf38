// The entry point of libFuzzer: the bytes pass through both parsers, which must agree, and through
// an import into a real store, which must end with a report or an error.

import FuzzDriver
@testable import TarnImport
import TarnStore

@_cdecl("ImportFuzz_main")
public func run(_ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
    fuzz(count, arguments) { Fuzz.run($0) }
}

enum Fuzz {
    // libFuzzer calls from one thread.
    nonisolated(unsafe) private static let fast = made { try JSONParser() }
    nonisolated(unsafe) private static let exact = made { try JSONParser(isExact: true) }
    nonisolated(unsafe) private static let bed = made { try FuzzBed() }

    static func run(_ document: [UInt8]) {
        let before = fast.exactReadings
        let one = ParsedJSON(document, fast), other = ParsedJSON(document, exact)
        precondition(one == other, "the parsers differ")
        if fast.exactReadings != before, case .taken = other {
            precondition(other.isBeyondSimdjson, "simdjson refuses a sound document")
        }
        bed.take(document)
    }
}

/// A store with every type of attribute, key and relationship. It stays empty: every import is
/// rolled back.
final class FuzzBed {
    private struct Undone: Error {}
    private let store: Store
    private let importer: Importer

    init() throws {
        let types: [(String, AttributeType)] = [
            ("b", .bool), ("i", .int), ("u", .uint), ("d", .double), ("m", .decimal), ("y", .bytes), ("s", .string), ("t", .date),
            ("g", .uuid), ("l", .url), ("e", .enumeration(["a", "b"])), ("j", .json), ("x", .array(.decimal)),
        ]
        let schema = Schema([
            EntityDefinition(
                "A", key: ["id"],
                attributes: [AttributeDefinition("id", .int)]
                    + types.map { AttributeDefinition($0.0, $0.1, optional: true, indexed: $0.0 == "m" || $0.0 == "s") },
                relationships: [
                    RelationshipDefinition("one", to: "A", inverse: "many"),
                    RelationshipDefinition("many", to: "A", many: true, inverse: "one"),
                    RelationshipDefinition("list", to: "B", many: true, ordered: true, inverse: "of"),
                    RelationshipDefinition("set", to: "B", many: true, inverse: "in"),
                ]),
            EntityDefinition(
                "B", key: ["k", "n"],
                attributes: [AttributeDefinition("k", .string), AttributeDefinition("n", .int), AttributeDefinition("s", .string, optional: true)]),
        ])
        store = try Store.open(at: scratchFolder + "/store", schema: schema, options: Store.Options(durability: .volatile))
        importer = try Importer(Mapping(entities: ["A": EntityMapping(declared: ["many"])]), store.catalog)
    }

    func take(_ document: [UInt8]) {
        do {
            _ = try importer.add(document, entity: "A")
            // Alone: a writer waits for others to join it otherwise.
            try store.write(alone: true) { writer in
                let report = try importer.commit(into: &writer)
                // The import again: all values are there.
                _ = try importer.add(document, entity: "A")
                let again = try importer.commit(into: &writer)
                precondition(again.created == 0 && again.listed == report.listed, "it is created again")
                throw Undone()
            }
        } catch {
            precondition(error is Undone || error is ImportError || error is any StoreFailure, "\(error)")
            importer.discard()
        }
    }
}
