// A writer at full speed, beside which commands read.

import Foundation
import TarnStore

/// A store of records with texts, of which each commit rewrites some.
enum BusyWriter {
    static let schema = Schema([
        EntityDefinition(
            "Note", key: ["id"],
            attributes: [.init("id", .int), .init("text", .string), .init("round", .int, indexed: true)],
            relationships: [.init("next", to: "Note", inverse: "previous")])
    ])

    /// Makes the store if it does not exist, then commits `count` times without a pause.
    static func run(_ path: String, count: Int, records: Int64) throws {
        let store = try Store.open(
            at: path, schema: schema, options: Store.Options(durability: .relaxed))
        try store.setChangeRetention(.nothing)
        var dice = Dice(state: 7)
        if try store.read({ try $0.count("Note") }) == 0 {
            try store.write { writer in
                for number in 0..<records { try put(number, of: records, 0, &dice, &writer) }
            }
        }
        for round in 0..<count {
            try store.write { writer in
                for _ in 0..<4 { try put(Int64(dice.roll(Int(records))), of: records, Int64(round), &dice, &writer) }
            }
        }
        say("wrote \(count)")
    }

    private static func put(
        _ number: Int64, of records: Int64, _ round: Int64, _ dice: inout Dice, _ writer: inout StoreWriter
    ) throws {
        let text = (0..<40).map { _ in String(dice.roll(1 << 30), radix: 36) }.joined(separator: " ")
        try writer.put(
            "Note", RecordKey(number),
            [
                .init("text", .string(text)), .init("round", .int(round)),
                .init("next", .reference(RecordKey((number + 1) % records))),
            ])
    }
}
