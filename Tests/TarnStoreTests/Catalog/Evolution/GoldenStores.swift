// Stores of this format as files that stay as they are for ever: what is in them, and how a new one
// is made.
//
//     TARN_GOLDEN=NAME swift test --filter GoldenStoreTests
//
// makes `Golden/format-N/NAME` of the current format, one folder for each sort; it never overwrites
// one that is there.

import CZstd
import Foundation
import LMDB
import TestSupport

@testable import TarnStore

enum GoldenStores {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Golden").path

    /// The folders of all golden stores: each has `data.mdb.zst`, a zstd frame, and `dump.json`.
    static func all() throws -> [String] {
        let files = FileManager.default
        return try files.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("format-") }.sorted().flatMap {
            format in
            try files.contentsOfDirectory(atPath: folder + "/" + format).sorted().map { "\(format)/\($0)" }
        }
    }

    /// The schema of the stores: every type, every kind of index, every kind of relationship.
    static func schema(_ compression: EntityDefinition.Compression) -> Schema {
        let all: [AttributeDefinition] = [
            .init("bool", .bool, optional: true), .init("int", .int, optional: true, indexed: true),
            .init("uint", .uint, optional: true),
            .init("double", .double, optional: true, indexed: true),
            .init("decimal", .decimal, optional: true, indexed: true),
            .init("string", .string, optional: true, indexed: true), .init("bytes", .bytes, optional: true),
            .init("date", .date, optional: true, indexed: true), .init("uuid", .uuid, optional: true, indexed: true),
            .init("url", .url, optional: true), .init("json", .json, optional: true),
            .init("state", .enumeration(["open", "closed"]), default: .string("open")),
            .init("list", .array(.string), optional: true),
            .init("serial", .int, optional: true, unique: true), .init("team", .string, optional: true, indexed: true),
        ]
        return Schema([
            EntityDefinition(
                "Thing", key: ["id"], attributes: [.init("id", .string)] + all,
                relationships: [
                    .init("owner", to: "Person", inverse: "things", onDelete: .deny),
                    .init("tags", to: "Tag", many: true, ordered: true, inverse: "things"),
                    .init("board", to: "Board", inverse: "cards"),
                    .init("mates", to: "Thing", many: true, joinedBy: .init("team", equals: "team")),
                ],
                indexes: [
                    .init("byState", on: "state", "owner"), .init("name", on: [.init("string", ignoringCase: true)]),
                    .init("openSerial", on: "serial", unique: true, where: [.init("state", .equal, .string("open"))]),
                ], compression: compression),
            EntityDefinition(
                "Special", parent: "Thing", attributes: [.init("grade", .int, indexed: true, default: .int(1))]),
            EntityDefinition("Person", key: ["login"], attributes: [.init("login", .string)], compression: compression),
            EntityDefinition("Tag", key: ["id"], attributes: [.init("id", .uuid)], compression: compression),
            EntityDefinition(
                "Board", key: ["id"], attributes: [.init("id", .int)],
                relationships: [.init("cards", to: "Thing", many: true, ordered: true, inverse: "board")],
                compression: compression),
            EntityDefinition(
                "Note", key: ["board", "number"], attributes: [.init("number", .int), .init("text", .string)],
                relationships: [.init("board", to: "Board", inverse: "notes", onDelete: .none)],
                compression: compression),
        ])
    }

    private static func uuid(_ number: Int) -> UUID {
        let byte = UInt8(truncatingIfNeeded: number), other = UInt8(truncatingIfNeeded: number >> 8)
        return UUID(uuid: (1, 2, 3, 4, 5, 6, 0x40, 8, 0x80, 10, 11, 12, 13, 14, other, byte))
    }

    /// Some text that repeats itself, as that of an API does.
    private static func text(_ number: Int) -> String {
        "The thing with the number \(number) has an address, https://things.example/\(number), and a paragraph that all of them share: "
            + String(repeating: "what repeats itself compresses well, ", count: 5)
            + "and \(number &* 7919 % 1009) ends it."
    }

    private static func fill(_ store: Store, _ count: Int) throws {
        // Few commits: each leaves pages behind.
        try store.write { writer in
            for number in 0..<count { try put(number, &writer) }
            try writer.put("Person", "ada", [])
            try writer.put("Board", 1, [])
            try writer.put("Note", RecordKey([.int(1), .int(2)]), [.init("text", .string("of a board"))])
            for number in 0..<5 { try writer.put("Tag", RecordKey([.uuid(uuid(number))]), []) }
            // A list that is too long for a row.
            try writer.put(
                "Thing", "list", [.init("tags", .references((0..<400).map { RecordKey([.uuid(uuid($0))]) }))])
        }
        try store.write { writer in
            _ = try writer.delete("Thing", "thing 3")
            try writer.put("Special", "thing 4", [.init("grade", .int(9))])
            try writer.putResponse(
                ResponseEntry(
                    request: RequestKey(
                        url: "https://things.example/things?page=1", endpoint: "things 0011", authScope: "scope"),
                    validation: .init(
                        status: 200, headers: ["etag", "\"1\""],
                        fetchedAt: Timestamp(microseconds: 1_700_000_000_000_000),
                        validatedAt: Timestamp(microseconds: 1_700_000_001_000_000)),
                    listing: .init(
                        [ListedRecord(entity: 1, storageKey: RecordKey("thing 1").storageKey)], count: 1,
                        metadata: "{\"total\":1}", scan: 7)))
            let page = "https://things.example/page", time = Timestamp(microseconds: 1_700_000_000_000_000)
            try writer.putResponse(
                ResponseEntry(
                    request: RequestKey(url: page, endpoint: "*", authScope: "scope"),
                    validation: .init(
                        status: 200, headers: ["content-type", "text/plain"], fetchedAt: time, validatedAt: time),
                    listing: .init(count: 0),
                    caching: ResponseCaching(
                        requestedAt: time, selecting: ["accept", "*/*"], usedAt: time, bodySize: body.count)),
                body: body)
            try writer.noteListed(
                [ListedRecord(entity: 1, storageKey: RecordKey("thing 1").storageKey)], of: "things", scan: 7)
            try writer.putLocally("Thing", "thing 2", [.init("string", .string("changed here"))])
            try writer.setCheckpoint(
                "things",
                Checkpoint(
                    state: .underWay, plan: "plan", nextURL: "https://things.example/things?page=2", scan: 7,
                    startedAt: Timestamp(microseconds: 1_700_000_000_000_000)
                ).counting(pages: 1, records: 1))
        }
    }

    /// A body of two chunks, without repetition.
    private static let body: [UInt8] = {
        var state: UInt32 = 1
        return (0..<66_000).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 28) &+ 0x61
        }
    }()

    private static func put(_ number: Int, _ writer: inout StoreWriter) throws {
        // One key is longer than a storage key can be.
        let key = RecordKey(number == 5 ? "thing " + String(repeating: "long ", count: 60) : "thing \(number)")
        var fields: [Record.Field] = [
            .init("bool", .bool(number % 2 == 0)), .init("int", .int(Int64(number) - 20)),
            .init("uint", .uint(UInt64.max - UInt64(number))),
            .init("double", .double(Double(number) / 8 - 1)),
            .init("string", .string(number % 3 == 0 ? "Ähnlich \(number)" : text(number))),
            .init("bytes", .bytes((0..<UInt8(number % 20)).map { $0 })),
            .init("date", .date(Timestamp(microseconds: Int64(number) * 1_000_003))),
            .init("uuid", .uuid(uuid(number))), .init("url", .url("https://things.example/\(number)")),
            .init("json", .json("{\"n\":\(number)}")), .init("list", .array([.string("a"), .string("b\(number)")])),
            .init("serial", .int(Int64(number))), .init("team", .string("team \(number % 4)")),
            .init("owner", .reference(number % 2 == 0 ? "ada" : "missing")), .init("board", .reference(1)),
            .init("tags", .references((0..<number % 4).map { RecordKey([.uuid(uuid($0))]) })),
        ]
        if let decimal = ExactDecimal("-\(number).000000000000000000000000125") {
            fields.append(.init("decimal", .decimal(decimal)))
        }
        if number % 7 == 0 { fields.append(.init("state", .null)) }
        try writer.put(number % 6 == 0 ? "Special" : "Thing", key, fields)
    }

    /// Makes the golden stores of the current format in a folder each: `NAME-plain` and
    /// `NAME-compressed`.
    static func make(_ name: String) throws -> [String] {
        var made: [String] = []
        for compression in [EntityDefinition.Compression.none, .zstd] {
            let target = "\(folder)/format-\(Store.format)/\(name)-\(compression == .none ? "plain" : "compressed")"
            guard !FileManager.default.fileExists(atPath: target) else {
                throw StoreOpenError.notAStore(path: target, detail: "it is there, and stays as it is")
            }
            let temporary = try TemporaryFolder()
            do {
                let store = try Store.open(at: temporary("s"), schema: schema(compression))
                if compression == .zstd {
                    let bytes = try dictionary(temporary("training"))
                    let id = store.catalog.entity("Thing")?.id ?? 1
                    try store.environment.write { _ = try RowDictionary.add(bytes, of: id, $0.raw, store.state.meta) }
                }
                try store.setChangeValues(.all)
                try fill(store, 30)
                // Short rows are compressed by it only.
                if compression == .zstd { _ = try store.rewrite() }
                try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
                try dump(store).write(toFile: target + "/dump.json", atomically: true, encoding: .utf8)
            }
            let data = try Data(contentsOf: URL(fileURLWithPath: temporary("s/data.mdb")))
            try compressed(data).write(to: URL(fileURLWithPath: target + "/data.mdb.zst"))
            made.append(target)
        }
        return made
    }

    private struct NotZstd: Error {}

    private static func compressed(_ data: Data) throws -> Data {
        var bytes = [UInt8](repeating: 0, count: ZSTD_compressBound(data.count))
        let count = data.withUnsafeBytes { data in
            bytes.withUnsafeMutableBytes { ZSTD_compress($0.baseAddress, $0.count, data.baseAddress, data.count, 19) }
        }
        guard ZSTD_isError(count) == 0 else { throw NotZstd() }
        return Data(bytes.prefix(count))
    }

    /// Puts the file of a golden store where a store can be opened.
    static func unpack(_ name: String, to path: String) throws {
        let frame = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)/data.mdb.zst"))
        let size = frame.withUnsafeBytes { ZSTD_getFrameContentSize($0.baseAddress, $0.count) }
        guard size < 10_000_000 else { throw NotZstd() }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        let count = frame.withUnsafeBytes { frame in
            bytes.withUnsafeMutableBytes { ZSTD_decompress($0.baseAddress, $0.count, frame.baseAddress, frame.count) }
        }
        guard count == bytes.count else { throw NotZstd() }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: path + "/data.mdb"))
    }

    /// A dictionary from as many rows as training wants.
    private static func dictionary(_ path: String) throws -> [UInt8] {
        let store = try Store.open(at: path, schema: schema(.zstd), options: Forge.quick)
        try store.write { writer in for number in 0..<1100 { try put(number, &writer) } }
        try store.trainDictionaries()
        return try store.read { reader in
            let value = try RowDictionary.key(1).withUnsafeBytes {
                try reader.access.raw.get(reader.access.state.meta, $0)
            }
            guard let value else { throw StoreOpenError.notAStore(path: path, detail: "nothing was trained") }
            return Array(value.dropFirst(2))
        }
    }

    /// Everything that a store has, as JSON with sorted keys: one line for each record, response,
    /// checkpoint and change.
    static func dump(_ store: Store) throws -> String {
        var lines: [String] = []
        func add(_ object: [String: Any]) throws {
            let data = try JSONSerialization.data(
                withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
            lines.append(String(decoding: data, as: UTF8.self))
        }
        try store.read { reader in
            for root in reader.catalog.entities where root.root == root.id {
                try reader.access.records.scan(root) { key, row in
                    let record = try reader.access.record(root, key, row)
                    try add([
                        "kind": "record", "entity": record.entity, "key": record.key.description,
                        "partial": record.isPartial,
                        "version": Int(record.version), "compressed": row.bytes[2] == RowFormat.zstd,
                        "fields": Dictionary(
                            uniqueKeysWithValues: record.fields.map { ($0.name, "\($0.value.jsonText)") }),
                    ])
                    return true
                }
                for relationship in reader.catalog.relationships(of: root) {
                    try reader.access.records.scan(root) { key, row in
                        var targets: [String] = []
                        try reader.access.targets(of: key, relationship) { target in
                            targets.append(target.map { String($0, radix: 16) }.joined(separator: " "))
                            return true
                        }
                        if !targets.isEmpty, targets.count < 100 {
                            try add([
                                "kind": "related", "of": "\(root.name).\(relationship.name)",
                                "key": reader.access.describe(key), "to": targets,
                            ])
                        }
                        return true
                    }
                }
            }
            let request = RequestKey(
                url: "https://things.example/things?page=1", endpoint: "things 0011", authScope: "scope")
            if let response = try reader.response(to: request) {
                try add([
                    "kind": "response", "url": response.request.url, "status": response.validation.status,
                    "headers": response.validation.headers,
                    "fetched": Int(response.validation.fetchedAt.microseconds),
                    "listed": response.listing.listed.map { Array($0.storageKey).map { Int($0) } },
                    "metadata": response.listing.metadata ?? "",
                ])
            }
            let access = reader.access
            let page = RequestKey(url: "https://things.example/page", endpoint: "*", authScope: "scope")
            if let view = try access.responses.view(page.digest), let size = view.bodySize {
                let digest = try access.responses.body(of: view.id, 0..<size).map { body in
                    body.withUnsafeBytes { SHA256.digest($0) }
                }
                try add([
                    "kind": "body", "size": size,
                    "sha256": (digest ?? []).map { String($0, radix: 16) }.joined(separator: " "),
                ])
            }
            try access.scans.forEach(of: "things") { member in
                try add([
                    "kind": "scan", "key": member.record.storageKey.map { Int($0) }, "listed": Int(member.lastListed),
                ])
                return true
            }
            try reader.forEachLocalChange { change in
                try add(["kind": "local", "key": change.key.description, "fields": change.fields])
                return true
            }
            try reader.forEachCheckpoint { name, checkpoint in
                try add([
                    "kind": "checkpoint", "name": name, "state": checkpoint.state.rawValue,
                    "next": checkpoint.nextURL ?? "", "plan": checkpoint.plan,
                ])
            }
            try add(["kind": "log", "sequence": Int(try reader.sequence), "incarnation": try reader.incarnation])
        }
        for change in try store.changes() {
            try add([
                "kind": "change", "sequence": Int(change.sequence), "operation": Int(change.operation),
                "entity": Int(change.entity), "key": change.key.map { Int($0) },
            ])
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
