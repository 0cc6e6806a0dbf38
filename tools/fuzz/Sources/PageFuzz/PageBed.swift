// A small store whose file is changed, checked, and restored.

import Foundation
import FuzzDriver
import Glibc
@testable import TarnStore

final class PageBed {
    let path = scratchFolder + "/store"
    private let descriptor: Int32
    /// A file of arbitrary bytes.
    private let other: Int32
    private let original: [UInt8]
    private static let pageSize = 4096

    init() throws {
        try PageBed.fill(path)
        original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")))
        descriptor = open(path + "/data.mdb", O_RDWR)
        other = open(scratchFolder + "/other", O_RDWR | O_CREAT, 0o600)
        precondition(descriptor >= 0 && other >= 0, "the files are not there")
    }

    /// Trees with branches, pages of long values, free pages, compressed rows, an index of each
    /// kind.
    private static func fill(_ path: String) throws {
        let schema = Schema([
            EntityDefinition(
                "Item", key: ["id"],
                attributes: [
                    AttributeDefinition("id", .int), AttributeDefinition("name", .string, optional: true, indexed: true),
                    AttributeDefinition("text", .string, optional: true),
                ],
                relationships: [
                    RelationshipDefinition("group", to: "Group", inverse: "items"),
                    RelationshipDefinition("list", to: "Item", many: true, ordered: true, inverse: "in"),
                ]),
            EntityDefinition("Group", key: ["name"], attributes: [AttributeDefinition("name", .string)]),
        ])
        let store = try Store.open(at: path, schema: schema, options: Store.Options(durability: .volatile))
        let text = String(repeating: "What repeats itself compresses well. ", count: 15)
        for round in 0..<2 {
            try store.write { writer in
                for id in 0..<Int64(round == 0 ? 1100 : 150) {
                    try writer.put("Item", RecordKey(id), [.init("text", .string(text + "\(id) of \(round)")), .init("name", .string("n\(id % 20)"))])
                }
            }
            if round == 0 { _ = try store.trainDictionaries() }
        }
        try store.write { writer in for id in 150..<Int64(1100) { _ = try writer.delete("Item", RecordKey(id)) } }
        try store.write { writer in
            let list = (0..<Int64(500)).map { RecordKey($0) }
            // Longer than a page, and nothing that compresses well.
            let bytes = (0..<9000).map { (number: Int) -> UInt8 in UInt8(33 + (number * number / 7) % 90) }
            try writer.put(
                "Item", RecordKey(5000),
                [
                    .init("group", .reference(RecordKey("a"))), .init("list", .references(list)),
                    .init("text", .string(String(decoding: bytes, as: UTF8.self))),
                ])
        }
    }

    /// A file that is small enough for an input: meta pages that lead to nothing.
    var small: [UInt8] { Array(original.prefix(2 * PageBed.pageSize)) }

    func withFile(_ bytes: [UInt8], _ body: (Int32) -> Void) {
        ftruncate(other, 0)
        write(other, bytes, at: 0)
        body(other)
    }

    func withChanges(_ changes: ArraySlice<UInt8>, _ body: (Int32) -> Void) {
        var rest = changes, places: [Range<Int>] = []
        while rest.count > 5, places.count < 16 {
            let head = Array(rest.prefix(5))
            let page = (Int(head[0]) | Int(head[1]) << 8) % (original.count / PageBed.pageSize)
            let place = page * PageBed.pageSize + (Int(head[2]) | Int(head[3]) << 8) % PageBed.pageSize
            let bytes = Array(rest.dropFirst(5).prefix(Int(head[4] % 32))).prefix(original.count - place)
            rest = rest.dropFirst(5 + bytes.count)
            write(descriptor, Array(bytes), at: place)
            places.append(place..<place + bytes.count)
        }
        body(descriptor)
        for place in places { write(descriptor, Array(original[place]), at: place.lowerBound) }
    }

    private func write(_ descriptor: Int32, _ bytes: [UInt8], at place: Int) {
        guard !bytes.isEmpty else { return }
        precondition(pwrite(descriptor, bytes, bytes.count, off_t(place)) == bytes.count, "the file cannot be written")
    }
}
