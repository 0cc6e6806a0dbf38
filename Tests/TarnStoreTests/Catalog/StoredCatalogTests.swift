// The catalog's text in the store, and its checksum.

import Foundation
import LMDB
import TestSupport
import Testing

@testable import TarnStore

@Suite("Stored catalog")
struct StoredCatalogTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func read(_ text: [UInt8]) -> StoredCatalog? { text.withUnsafeBytes { StoredCatalog($0) } }

    /// Writes the catalog directly, which no program should do.
    private func write(_ text: [UInt8]) throws {
        let environment = try Environment.open(at: folder("s"), options: .init(durability: .volatile))
        let meta = try #require(try environment.existingTables(["meta"])[0])
        try environment.write { transaction in
            try text.withUnsafeBytes {
                try transaction.raw.put(.meta(meta, format: Store.format), Bytes(MetaKey.catalog), $0)
            }
        }
    }

    @Test("whichever byte of a catalog changes, it is another text, or no catalog, or means the same")
    func everyByte() throws {
        let catalog = try Forge.open(folder("s")).catalog
        let text = Array(try StoredCatalog.text(of: catalog).utf8)
        #expect(read(text)?.isSound == true && read(text)?.catalog == catalog)
        var found = 0
        for place in text.indices {
            var changed = text
            changed[place] ^= 1 << UInt8(place % 7)
            guard let stored = read(changed) else { continue }
            if stored.isSound { #expect(stored.catalog == catalog, "byte \(place)") } else { found += 1 }
        }
        #expect(found > 100)
    }

    @Test("a store whose catalog has another checksum is not opened, and says how to go on; nothing is written")
    func wrongChecksum() throws {
        let text = try StoredCatalog.text(of: Forge.open(folder("s")).catalog)
        #expect(text.contains("\"login\""))
        try write(Array(text.replacingOccurrences(of: "\"login\"", with: "\"logon\"").utf8))
        let before = try Data(contentsOf: URL(fileURLWithPath: folder("s") + "/data.mdb"))
        for schema in [Forge.schema, nil] {
            guard let error = storeError({ _ = try Forge.open(folder("s"), schema) }),
                case StoreError.damagedCatalog = error
            else {
                Issue.record("it was opened")
                return
            }
            #expect("\(error)".contains("wrong checksum") && "\(error)".contains("salvage"))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder("s") + "/data.mdb")) == before)
    }

    @Test(
        "a catalog without a checksum, from before there were any, is taken as it is, and the next change gives it one")
    func withoutChecksum() throws {
        do {
            let text = try StoredCatalog.text(of: Forge.open(folder("s")).catalog)
            let old = try #require(text.range(of: ",\"crc32c\"")).lowerBound
            try write(Array((text[..<old] + "}").utf8))
        }
        do {
            let store = try Forge.open(folder("s"))
            try store.put("User", RecordKey(1), ["login": .string("ada")])
            #expect(try stored().hasSuffix("}") && !stored().contains("crc32c"))
        }
        var schema = Forge.schema
        schema.entities.append(EntityDefinition("New", key: ["id"], attributes: [.init("id", .int)]))
        #expect(try Forge.open(folder("s"), schema).count("User") == 1)
        #expect(try stored().contains("\"crc32c\""))
    }

    /// The stored text.
    private func stored() throws -> String {
        let store = try Forge.open(folder("s"), nil)
        return try store.read { reader in
            let bytes = try reader.access.raw.get(reader.access.state.meta, key: MetaKey.catalog)
            return String(decoding: try #require(bytes), as: UTF8.self)
        }
    }
}
