// Data files: whatever the bytes are, the page reader, the check and the dump come to an end.
//
// The first byte of an input says what the rest is: 0 a file, as it is; 1 changes of a sound one
// for everything that looks at a file; others the same for the page reader alone, which is much
// faster. A change is u16 page, u16 place in it, u8 how many bytes, the bytes.

import Foundation
import FuzzDriver
import Glibc
@testable import TarnInspect
@testable import TarnStore

@_cdecl("PageFuzz_main")
public func run(_ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
    fuzz(count, arguments, seeds: { PageFuzz.seeds }) { input in
        guard let kind = input.first else { return }
        let rest = input.dropFirst()
        switch kind & 15 {
        case 0: PageFuzz.bed.withFile(Array(rest)) { PageFuzz.readPages($0) }
        case 1: PageFuzz.bed.withChanges(rest) { _ in PageFuzz.lookAtEverything() }
        default: PageFuzz.bed.withChanges(rest) { PageFuzz.readPages($0) }
        }
    }
}

enum PageFuzz {
    // libFuzzer calls from one thread.
    nonisolated(unsafe) static let bed = made { try PageBed() }

    /// All that the page reader can do with a file.
    static func readPages(_ descriptor: Int32) {
        let file = PageFile(borrowing: descriptor, path: "fuzz")
        do {
            let findings = Findings(), snapshot = try FileSnapshot(file, findings)
            var scan = TreeScan(file, lastPage: snapshot.meta.lastPage, findings)
            _ = snapshot.findTables(&scan)
            for name in snapshot.names {
                guard let table = snapshot.tables[name] else { continue }
                var last: [UInt8]?
                _ = scan.scan(table, name) { key, value, _ in
                    precondition(value.count <= Int(file.byteCount), "a value that is longer than the file")
                    last = Array(key)
                }
                if let last { _ = last.withUnsafeBytes { snapshot.value($0, in: table) } }
            }
            var pages = 0
            _ = snapshot.forEachFreePage(&scan) { _, _ in pages += 1 }
        } catch {
            precondition(error is any StoreFailure, "\(error)")
        }
    }

    static func lookAtEverything() {
        func typed(_ body: () throws -> Void) {
            do { try body() } catch { precondition(error is any StoreFailure, "\(error)") }
        }
        typed { _ = try StoreInspector(at: bed.path).verification() }
        typed { _ = try StoreInspector(at: bed.path).statistics() }
        typed { try StoreInspector(at: bed.path).dumpRecords(line: { _ in }, damaged: { _ in }) }
    }

    /// Changes of pointers: meta pages, headers, the list of nodes.
    static var seeds: [[UInt8]] {
        func change(_ page: Int, _ place: Int, _ bytes: [UInt8]) -> [UInt8] {
            [UInt8(page & 255), UInt8(page >> 8), UInt8(place & 255), UInt8(place >> 8), UInt8(bytes.count)] + bytes
        }
        let changes = [0, 2, 5, 9, 14].flatMap { page in
            [(0, [7]), (10, [2, 0]), (12, [20, 0, 40, 0]), (16, [255, 255]), (40, [1, 0, 0, 0]), (130, [0xFF, 0xFF]), (144, [0, 0, 0, 1])].map {
                change(page, $0.0, $0.1)
            }
        }
        return [[1], [2]] + changes.flatMap { [[1] + $0, [2] + $0] } + [[0] + bed.small]
    }
}
