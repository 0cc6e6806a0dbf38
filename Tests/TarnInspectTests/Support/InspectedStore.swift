// A small store in a temporary folder, closed again, for the inspector to look into.

import Foundation
import TarnStore

final class InspectedStore: Sendable {
    let path: String

    static let schema = Schema([
        EntityDefinition(
            "Author", key: ["id"],
            attributes: [.init("id", .int), .init("name", .string), .init("born", .date, optional: true)]),
        EntityDefinition(
            "Book", key: ["shelf", "number"],
            attributes: [.init("shelf", .string), .init("number", .int), .init("title", .string, indexed: true)],
            relationships: [.init("author", to: "Author", inverse: "books")]),
        EntityDefinition("Empty", key: ["id"], attributes: [.init("id", .uuid)]),
    ])

    /// - Parameter fill: writes what the store holds.
    init(_ fill: (inout StoreWriter) throws -> Void = InspectedStore.twoBooks) throws {
        path = FileManager.default.temporaryDirectory.path + "/tarn-inspect-\(UUID().uuidString)"
        let store = try Store.open(
            at: path, schema: InspectedStore.schema, options: Store.Options(durability: .relaxed))
        try store.write(fill)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    @Sendable static func twoBooks(_ writer: inout StoreWriter) throws {
        try writer.put(
            "Author", RecordKey(1),
            [.init("name", .string("Ada \"the\" Fjord\n")), .init("born", .date(Timestamp(microseconds: 1)))])
        for number: Int64 in [2, 1] {
            try writer.put(
                "Book", RecordKey([.string("a/b"), .int(number)]),
                [.init("title", .string("Volume number \(number)")), .init("author", .reference(RecordKey(number)))])
        }
    }

    var bytes: Data {
        get throws { try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")) }
    }

    /// Changes the first byte of a text at every position in the data file.
    func damage(_ text: String) throws {
        var data = try bytes
        var start = data.startIndex
        while let range = data.range(of: Data(text.utf8), in: start..<data.endIndex) {
            data[range.lowerBound] ^= 1
            start = range.upperBound
        }
        try data.write(to: URL(fileURLWithPath: path + "/data.mdb"))
    }
}
