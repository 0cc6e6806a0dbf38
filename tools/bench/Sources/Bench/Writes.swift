// Shared parts of the write cases: the rows, their order, and the reports.

import Foundation
import Synchronization

/// A counter for several tasks.
final class Counter: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.add(1, ordering: .relaxed) }
}

/// The figures and checks of one run of `write.small`.
struct SmallWriteMeasurement: Encodable {
    /// Records per second, each durable before its task continues.
    var small: Double
    /// The records in the store afterwards, and the number of returned writes.
    var stored: Int
    var written: Int
    var durability = "full"
    var compression = "none"
}

/// The figures and checks of one run of `write.bulk`, in rows per second.
struct BulkWriteMeasurement: Encodable {
    var ascending: Double
    var random: Double
    var stored: Int
    var written: Int
    var durability = "full"
    var compression = "none"
}

/// A record that takes 300 bytes as a row of Tarn: 46 of header and directory, the rest in values.
struct Note: Sendable {
    static let tasks = 64
    static let seconds = 3.0
    static let rowsOfCommit = 10_000
    private static let words = [
        "water", "mirror", "valley", "granite", "morning", "the", "a", "of", "under", "between", "slowly", "record", "answers",
        "when", "which", "opened", "closed", "again", "small", "mountain", "lake", "north", "glacier", "stone", "path", "signal",
        "returns", "before", "after", "every", "winter", "light",
    ]

    var id: Int64
    var title: String
    var author: String
    var state: String
    var comments: Int64
    var text: String

    init(_ id: Int64) {
        var random = UInt64(bitPattern: id) &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ count: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((random >> 33) % UInt64(count))
        }
        self.id = id
        title = "\(Self.words[next(32)]) \(Self.words[next(32)]) \(next(1000))"
        author = "user-\(next(5000))"
        state = next(3) == 0 ? "closed" : "open"
        comments = Int64(next(100))
        text = ""
        // Tags, and the two numbers.
        let wanted = 300 - 46 - 4 - 5 - 2 - title.utf8.count - author.utf8.count - state.utf8.count
        while text.utf8.count < wanted {
            text += Self.words[next(32)]
            text += next(8) == 0 ? ". " : " "
        }
        text = String(text.prefix(wanted))
    }

    private static let made = (0..<1024).map { Note(Int64($0)) }

    /// A record whose values were made before the clock started, because making texts takes longer
    /// than storing them.
    static func ready(_ id: Int64) -> Note {
        var note = made[Int(id & 1023)]
        note.id = id
        return note
    }

    /// The ids 0 to count, in ascending order or in one that is as good as random, the same for
    /// all.
    static func ids(_ count: Int, shuffled: Bool) -> [Int64] {
        var ids = (0..<count).map { Int64($0) }
        guard shuffled else { return ids }
        var state: UInt64 = 7
        for index in stride(from: count - 1, to: 0, by: -1) {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            ids.swapAt(index, Int((state >> 33) % UInt64(index + 1)))
        }
        return ids
    }
}
