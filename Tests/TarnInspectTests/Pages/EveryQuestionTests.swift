// Damage of every kind, and every question about it: the process survives, and no difference is
// made up or hidden without a word.

import Foundation
import TestSupport
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: every question about damaged files")
struct EveryQuestionTests {
    /// `TARN_DAMAGES` for more than continuous integration has time for, `TARN_SEED` chooses.
    private static let files = ProcessInfo.processInfo.environment["TARN_DAMAGES"].flatMap { Int($0) } ?? 60
    private static let seed = ProcessInfo.processInfo.environment["TARN_SEED"].flatMap { UInt64($0) } ?? 20_261_123

    @Test("every deliberate fault of a page", arguments: DamagedPagesTests.faults.indices)
    func faults(_ number: Int) throws {
        let store = try RichStore(), sound = try RichStore()
        var image = try DamagedPagesTests.Image(store.path)
        try DamagedPagesTests.faults[number].body(&image)
        try store.write(image.bytes)
        EveryQuestion.ask(store.path, sound: sound.path, key: ("Issue", RecordKey(5)))
        let after = try store.bytes
        #expect(after == image.bytes, "something was written")
    }

    @Test("damage at random: bytes, truncation, exchanged and copied pages, loops")
    func random() throws {
        let store = try RichStore(), sound = try RichStore()
        let original = try sound.bytes
        var answers = 0, silent = 0
        let lines = try #require(dump(sound.path))
        for number in 0..<Self.files {
            var dice = SeededRandom(seed: Self.seed &+ UInt64(number)), bytes = original
            Self.damage(&bytes, number % 6, &dice)
            try store.write(bytes)
            answers += EveryQuestion.ask(store.path, sound: sound.path, key: ("Issue", RecordKey(5)))
            let result = try? StoreDifferencesTests.compare(sound.path, store.path)
            // Equal without a word: then the records are the same.
            if let result, result.summary.isEqual {
                silent += 1
                #expect(dump(store.path) == lines, "seed \(Self.seed), file \(number)")
            }
        }
        print("every question: \(Self.files) files, seed \(Self.seed): \(answers) answers, \(silent) equal")
        #expect(answers > Self.files)
    }

    private func dump(_ path: String) -> [String]? {
        var lines: [String] = []
        _ = try? StoreInspector(at: path).dumpRecords(
            withVersions: false, line: { lines.append($0) }, damaged: { _ in })
        return lines
    }

    static func damage(_ bytes: inout [UInt8], _ kind: Int, _ dice: inout SeededRandom) {
        let size = 4096, pages = bytes.count / size
        func page(_ dice: inout SeededRandom) -> Int { dice.roll(2..<pages) * size }
        switch kind {
        case 0: for _ in 0..<dice.roll(1..<200) { bytes[dice.roll(0..<bytes.count)] = UInt8(dice.roll(0..<256)) }
        case 1: bytes.removeLast(dice.roll(1..<bytes.count))
        case 2:
            let (a, b) = (page(&dice), page(&dice)), first = Array(bytes[a..<a + size])
            bytes.replaceSubrange(a..<a + size, with: Array(bytes[b..<b + size]))
            bytes.replaceSubrange(b..<b + size, with: first)
        case 3:
            let (a, b) = (page(&dice), page(&dice))
            // With the number of its own page, so that the number does not reveal it.
            bytes.replaceSubrange(a + 8..<a + size, with: Array(bytes[b + 8..<b + size]))
        case 4:
            let branches = (2..<pages).filter { bytes[$0 * size + 10] & 0x6F == 1 }
            guard let branch = branches.randomElement(using: &dice).map({ $0 * size }) else { return }
            let offset = branch + 16 + 2 * dice.roll(0..<10)
            let node = branch + (Int(bytes[offset]) | Int(bytes[offset + 1]) << 8)
            guard node + 4 < bytes.count else { return }
            let target = dice.roll(0..<2) == 0 ? (branches.randomElement(using: &dice) ?? 0) : dice.roll(0..<pages + 3)
            for index in 0..<4 { bytes[node + index] = UInt8(truncatingIfNeeded: target >> (8 * index)) }
        default:
            let start = page(&dice)
            for _ in 0..<dice.roll(1..<20) { bytes[start + dice.roll(8..<60)] = UInt8(dice.roll(0..<256)) }
        }
    }
}
