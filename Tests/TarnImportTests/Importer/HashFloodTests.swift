// Keys that a server has chosen to collide: the tables of the importer do not become lists.
//
// Until 2026 the hash had no secret. Keys that collided in it are made here by running it
// backwards; any two of them would have collided with an added seed as well, since that came after
// the mixing.

import TarnStore
import Testing

@testable import TarnImport

@Suite("Import: keys that were made to collide")
struct HashFloodTests {
    private static let count = 4096

    /// Sixteen bytes each, of two words with the same state of the former hash, for any suffix.
    private static let colliding: [[UInt8]] = (0..<UInt64(count)).map { number in
        let first = number &* 0x0101_0101_0101_0101
        let second = state(after: first) ^ 0x5555_5555_5555_5555
        return [first, second].flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }
    }

    /// The former hash, after a word of a key of sixteen bytes.
    private static func state(after word: UInt64) -> UInt64 {
        let hash = (16 &* 0x9E37_79B9_7F4A_7C15 ^ word) &* 0xFF51_AFD7_ED55_8CCD
        return hash ^ hash >> 32
    }

    // A table that is half full at most takes less than one more look a key. All in one chain take
    // half of the square: two thousand each.
    private static let bound = 4 * count

    @Test("records are found by as many looks as with any other keys")
    func drafts() {
        var list = DraftList()
        list.kinds = PlanKinds()
        for key in Self.colliding {
            key.withUnsafeBytes { _ = list.add(0, $0, body: $0, isWide: false, isComplete: true) }
        }
        #expect(list.count == Self.count)
        #expect(list.displacement < Self.bound)
    }

    @Test("keys of objects are found by as many looks as any other keys")
    func objectKeys() {
        var table = KeyTable()
        for (number, key) in Self.colliding.enumerated() { key.withUnsafeBytes { table.insert($0, number) } }
        #expect(table.displacement < Self.bound)
        for (number, key) in Self.colliding.enumerated() { #expect(key.withUnsafeBytes { table.find($0) } == number) }
    }

    @Test("lists whose references stand elsewhere, and their members, have hashes with the secret of the process")
    func derivedLists() {
        var lists = DerivedLists()
        for key in Self.colliding {
            key.withUnsafeBytes { lists.addMember($0, isUnset: true, isNested: false, seed: 1) }
        }
        let slots = Set(lists.members.map { $0.hash & 0xFFFF })
        // Of 4,096 hashes in 65,536 slots, about 127 collide.
        #expect(slots.count > Self.count / 2)
    }
}
