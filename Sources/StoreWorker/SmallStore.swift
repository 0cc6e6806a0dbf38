// A small store with every feature of the format, made from a golden one: every bit of it can be
// flipped.

import Foundation
import TarnStore

enum SmallStore {
    /// The records that are kept, one of every form: whole, divided and compressed rows, a record
    /// of another kind, a key that is longer than a storage key, a local change.
    private static let kept: Set<RecordKey> = [
        RecordKey("list"), RecordKey("thing 0"), RecordKey("thing 2"), RecordKey("thing 4"), RecordKey("thing 12"),
        RecordKey("thing " + String(repeating: "long ", count: 60)),
    ]
    /// The number of references that are just too many for a row.
    private static let references = 125

    static func shrink(_ path: String) throws {
        do {
            let store = try Store.open(at: path)
            let surplus = try store.read { reader in
                var surplus: [(entity: String, key: RecordKey)] = [], tags = 0
                try reader.forEach("Thing", in: .all) { record in
                    if !kept.contains(record.key) { surplus.append((record.entity, record.key)) }
                    return true
                }
                try reader.forEach("Tag", in: .all) { record in
                    tags += 1
                    if tags > 1 { surplus.append((record.entity, record.key)) }
                    return true
                }
                return surplus
            }
            try store.write { writer in
                for record in surplus {
                    // The owner denies that its things are deleted.
                    if record.entity != "Tag" { try writer.put(record.entity, record.key, [.init("owner", .null)]) }
                    _ = try writer.delete(record.entity, record.key)
                }
                let list = try writer.reader().record("Thing", RecordKey("list"))
                if case .references(let tags)? = list?["tags"] {
                    try writer.put(
                        "Thing", RecordKey("list"), [.init("tags", .references(Array(tags.prefix(references))))])
                }
            }
            try shortenBodies(store, to: 5000)
            try store.setChangeRetention(ChangeRetention(age: .seconds(0), share: nil))
            try store.setChangeRetention(ChangeRetention(age: nil, share: nil))
            try change(store)
        }
        try Store.compact(at: path)
    }

    /// Writes some changes, and the entry of a response that lists a record.
    private static func change(_ store: Store) throws {
        try store.write { writer in
            try writer.put("Thing", RecordKey("thing 0"), [.init("string", .string("changed")), .init("bool", .null)])
            let tag = RecordKey([.uuid(UUID(uuid: (9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9)))])
            try writer.put("Tag", tag, [])
            _ = try writer.delete("Tag", tag)
            let time = Timestamp(microseconds: 1_700_000_000_000_000)
            try writer.putResponse(
                ResponseEntry(
                    request: RequestKey(url: "https://things.example/things?page=1", endpoint: "things 0011"),
                    validation: .init(status: 200, headers: ["etag", "\"2\""], fetchedAt: time, validatedAt: time),
                    listing: .init(
                        [ListedRecord(entity: 1, storageKey: RecordKey("thing 0").storageKey)], count: 1, scan: 8)))
        }
    }

    /// Replaces stored bodies that are longer than so many bytes by their beginnings.
    private static func shortenBodies(_ store: Store, to longest: Int) throws {
        let bodies = try store.read { reader in
            var bodies: [(entry: ResponseEntry, bytes: [UInt8])] = []
            try reader.access.responses.forEach { response in
                guard let entry = response.entry, (entry.caching?.bodySize ?? 0) > longest else { return true }
                let bytes = try reader.access.responses.body(of: response.id, 0..<longest)
                if let bytes { bodies.append((entry, bytes)) }
                return true
            }
            return bodies
        }
        try store.write { writer in
            for var body in bodies {
                body.entry.caching?.bodySize = body.bytes.count
                try writer.putResponse(body.entry, body: body.bytes)
            }
        }
    }
}
