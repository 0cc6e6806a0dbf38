// Storage keys at the limit where a digest takes over, and where an index entry is split.

import Foundation
import Testing

@testable import TarnStore

@Suite("Storage keys")
struct StorageKeyTests {
    @Test("SHA-256 gives the published digest")
    func digestVector() {
        // FIPS 180-4, "abc".
        let digest = Array("abc".utf8).withUnsafeBytes { SHA256.digest($0) }
        #expect(digest == hex("BA7816BF 8F01CFEA 414140DE 5DAE2223 B00361A3 96177A9C B410FF61 F20015AD"))
        #expect(SHA256.digest(.empty) == hex("E3B0C442 98FC1C14 9AFBF4C8 996FB924 27AE41E4 649B934C A495991B 7852B855"))
    }

    @Test("an encoding of 207 bytes stands as it is, one of 208 becomes prefix, FF and digest")
    func boundaryOfDigests() throws {
        let short = RecordKey(String(repeating: "x", count: 205))
        let long = RecordKey(String(repeating: "x", count: 206))
        #expect(short.storageKey.count == 207)
        #expect(short.storageKey.withUnsafeBytes { RecordKey(storageKey: $0) } == short)
        let key = long.storageKey
        #expect(key.count == 240)
        #expect(Array(key[..<207]) == [2] + [UInt8](repeating: 0x78, count: 206))
        #expect(key[207] == 0xFF)
        let whole = [2] + [UInt8](repeating: 0x78, count: 206) + [0]
        #expect(Array(key[208...]) == whole.withUnsafeBytes { SHA256.digest($0) })
        #expect(key.withUnsafeBytes { StorageKey.isDigest($0) })
        #expect(key.withUnsafeBytes { RecordKey(storageKey: $0) } == nil)
    }

    @Test("long keys that differ only at the end have different storage keys")
    func longKeysDiffer() {
        let start = String(repeating: "x", count: 400)
        #expect(RecordKey(start + "a").storageKey != RecordKey(start + "b").storageKey)
    }

    @Test("a composite key is shortened as a whole")
    func compositeIsShortenedAsAWhole() {
        let key = RecordKey([
            .string(String(repeating: "a", count: 150)), .string(String(repeating: "b", count: 150)), .int(1),
        ])
        #expect(key.storageKey.count == 240)
    }

    /// Keys around every place where a cut can fall: in the middle, on a NUL, between its two
    /// bytes, on a terminator.
    static let awkward: [RecordKey] = {
        var keys: [RecordKey] = [
            RecordKey(""), RecordKey("\0"), RecordKey("a"), RecordKey("a\0"), RecordKey("a\0b"), RecordKey("\0\0\0"),
        ]
        for count in 198...212 {
            keys.append(RecordKey(String(repeating: "x", count: count)))
            for tail in ["\0", "\0\0", "\0x", "\0\0yyyyyyyyyyyyyy", "\0" + String(repeating: "z", count: 40)] {
                keys.append(RecordKey(String(repeating: "x", count: count) + tail))
            }
        }
        return keys
    }()

    @Test("a storage key at the front of an index entry is split off exactly, whatever follows")
    func splitIsExact() {
        let owners = [
            RecordKey(0), RecordKey(-1), RecordKey(.max), RecordKey("\u{10FFFF}"),
            RecordKey(String(repeating: "o", count: 500)),
        ]
        for key in StorageKeyTests.awkward {
            for owner in owners {
                let entry = key.storageKey + owner.storageKey
                let length = entry.withUnsafeBytes { StorageKey.length(in: $0, components: 1) }
                #expect(length == key.storageKey.count, "\(key.storageKey)")
            }
            #expect(key.storageKey.withUnsafeBytes { StorageKey.length(in: $0, components: 1) } == key.storageKey.count)
        }
    }

    @Test("a composite storage key is split off exactly")
    func compositeSplitIsExact() {
        for key in StorageKeyTests.awkward {
            for second in [
                KeyComponent.int(0), .int(-1_000_000), .string("\0"), .string(String(repeating: "\0", count: 120)),
            ] {
                let composite = RecordKey(key.components + [second])
                let entry = composite.storageKey + RecordKey(7).storageKey
                #expect(
                    entry.withUnsafeBytes { StorageKey.length(in: $0, components: 2) } == composite.storageKey.count)
            }
        }
    }

    @Test("keys are compared by bytes, never by canonical equivalence")
    func keysAreComparedByBytes() {
        #expect("\u{E9}" == "e\u{301}")
        #expect(RecordKey("\u{E9}") != RecordKey("e\u{301}"))
        #expect(Set([RecordKey("\u{E9}"), RecordKey("e\u{301}")]).count == 2)
        #expect(RecordKey("\u{E9}").storageKey != RecordKey("e\u{301}").storageKey)
        #expect(RecordKey("1") != RecordKey(1))
    }

    @Test("values and names are compared by bytes, and equal ones have equal hashes")
    func valuesAreComparedByBytes() {
        let texts = ["\u{E9}", "e\u{301}"]
        for make in [{ .string($0) }, { .url($0) }, { .json($0) }, { .array([.string($0)]) }] as [(String) -> Value] {
            #expect(make(texts[0]) != make(texts[1]) && make(texts[0]) == make("\u{E9}"))
            #expect(Set([make(texts[0]), make(texts[1]), make("\u{E9}")]).count == 2)
        }
        // The same marks in another order: as many bytes.
        #expect(Value.string("q\u{307}\u{323}") != .string("q\u{323}\u{307}") && Value.string("") == .string(""))
        #expect(Value.string("a") != .url("a") && Value.double(0) == .double(-0.0))
        #expect(Set([Value.double(0), .double(-0.0), .null, .null, .int(1), .uint(1)]).count == 4)
        let names = Set(texts.map { ExactText($0) })
        #expect(names.count == 2 && names.contains("e\u{301}") && names.sorted().map(\.text.utf8.count) == [3, 2])
    }
}
