// Random mutations of a store's file, each read with the whole inspector, which must end with a
// report or a typed error. One process runs them all, which is faster; a mutation that ends it is a
// find.

import Foundation
import TarnInspect
import TarnStore

/// A uniform random generator with a seed.
struct Dice {
    var state: UInt64
    mutating func roll(_ count: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((z ^ (z >> 31)) >> 1) % max(1, count)
    }
}

/// Mutates a store `count` times.
///
/// Prints `mutant NUMBER` before each mutation, and `sound N` at the end: the number of mutants
/// without findings.
func mutate(_ path: String, seed: UInt64, count: Int) throws {
    let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")))
    let folder = path + ".mutant", new = path + ".salvaged", file = URL(fileURLWithPath: folder + "/data.mdb")
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { for path in [folder, new] { try? FileManager.default.removeItem(atPath: path) } }
    var sound = 0
    for number in 0..<count {
        say("mutant \(number)")
        var dice = Dice(state: seed &+ UInt64(number)), bytes = original
        for _ in 0...dice.roll(4) { mutate(&bytes, &dice) }
        try? FileManager.default.removeItem(atPath: folder + "/lock.mdb")
        try Data(bytes).write(to: file)
        func typed(_ body: () throws -> Void) throws {
            do { try body() } catch is any StoreFailure {}
        }
        try typed { _ = try StoreInspector(at: folder).statistics() }
        try typed { try StoreInspector(at: folder).dumpRecords(line: { _ in }, damaged: { _ in }) }
        try typed { try StoreInspector(at: folder).dumpTables(line: { _ in }, damaged: { _ in }) }
        try typed { try askFurther(StoreInspector(at: folder), number) }
        let report = try StoreInspector(at: folder).verification()
        if report.isSound { sound += 1 }
        guard number % 4 == 0 else { continue }
        try? FileManager.default.removeItem(atPath: new)
        try typed { _ = try StoreInspector(at: folder).salvage(to: new) }
    }
    say("sound \(sound)")
}

/// Asks one of the questions of every day.
private func askFurther(_ inspector: StoreInspector, _ number: Int) throws {
    let catalog = try inspector.storedCatalog()
    guard let entity = catalog.entities.first(where: { !$0.key.isEmpty }) else { return }
    switch number % 12 {
    case 0: try inspector.keys(of: entity.name, damaged: { _ in }, visit: { _ in })
    case 1: _ = try inspector.schema().yaml
    case 2: _ = try inspector.extremes(damaged: { _ in })
    case 3: _ = try inspector.search(for: "1", damaged: { _ in }, match: { _ = $0.excerpt() })
    case 4: _ = try inspector.changes(damaged: { _ in }, change: { _ = $0.fields })
    case 5: _ = try inspector.exportSQL(line: { _ in }, damaged: { _ in })
    case 6: _ = try inspector.pageUse(largest: 5)
    case 7: try inspector.responses({ _ = ($0, $1.listing) }, damaged: { _ in })
    case 8: try inspector.dumpTables(.main, as: .json, line: { _ in }, damaged: { _ in })
    case 9: try inspector.dumpTables(.all, as: .text, line: { _ in }, damaged: { _ in })
    case 10:
        try inspector.selectRecords(
            of: nil, renewal: 0, { _ in RecordSelection() }, record: { _ = $0.fields }, damaged: { _ in })
    default:
        try inspector.keys(
            of: entity.name, KeySelection(limit: 3), damaged: { _ in },
            visit: { key in _ = try inspector.record(entity.name, key).lines(bytes: true) })
    }
}

/// Makes one change of a few bytes, mostly of page numbers and offsets.
private func mutate(_ bytes: inout [UInt8], _ dice: inout Dice) {
    let size = 4096, pages = bytes.count / size
    let page = dice.roll(8) == 0 ? dice.roll(2) : dice.roll(pages)
    // A position in a meta page, a header, the list of node offsets or a node.
    func place(_ dice: inout Dice) -> Int {
        if page < 2 { return dice.roll(152) }
        switch dice.roll(4) {
        case 0: return dice.roll(16)
        case 1: return 16 + dice.roll(64)
        case 2:
            let start = page * size + 16 + 2 * dice.roll(20), node = Int(bytes[start]) | Int(bytes[start + 1]) << 8
            return min(size - 1, node + dice.roll(24))
        default: return dice.roll(size)
        }
    }
    let start = page * size + place(&dice)
    switch dice.roll(5) {
    case 0: bytes[start] ^= 1 << UInt8(dice.roll(8))
    case 1: bytes[start] = UInt8(dice.roll(256))
    case 2: for index in start..<min(bytes.count, start + 1 + dice.roll(8)) { bytes[index] = 0xFF }
    case 3: for index in start..<min(bytes.count, start + 1 + dice.roll(8)) { bytes[index] = 0 }
    default:
        // A random page number.
        let number = dice.roll(pages + 2)
        for index in 0..<4 where start + index < bytes.count {
            bytes[start + index] = UInt8(truncatingIfNeeded: number >> (8 * index))
        }
    }
}
