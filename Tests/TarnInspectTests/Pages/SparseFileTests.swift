// Sparse files: holes take no time.

import Foundation
import Glibc
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: files with holes", .timeLimit(.minutes(2)))
struct SparseFileTests {
    @Test("of a damaged store of 200 GB of holes all rows are salvaged, and it is verified, as fast as of one without")
    func holes() throws {
        let rich = try RichStore(),
            new = FileManager.default.temporaryDirectory.path + "/tarn-sparse-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: new) }
        var lines: [String] = []
        try StoreInspector(at: rich.path).dumpRecords(line: { lines.append($0) }, damaged: { Issue.record("\($0)") })
        var image = try DamagedPagesTests.Image(rich.path)
        let root = try image.root("r/2")
        image.set(root * 4096 + 10, 2, 0x44)
        // The meta pages declare the actual length of the file.
        for meta in [0, 1] { image.set(meta * 4096 + 136, 8, (200 << 30) / 4096) }
        try rich.write(image.bytes)
        #expect(truncate(rich.path + "/data.mdb", 200 << 30) == 0)
        let report = try StoreInspector(at: rich.path).salvage(to: new)
        #expect(report.found == 360 && report.lostCount > 0)
        var salvaged: [String] = []
        try StoreInspector(at: new).dumpRecords(line: { salvaged.append($0) }, damaged: { Issue.record("\($0)") })
        #expect(salvaged == lines)
        #expect(try !StoreInspector(at: rich.path).verification().isSound)
    }

    @Test("a catalog is looked for where the file has data, behind a hole as well")
    func catalogBehindAHole() throws {
        let rich = try RichStore()
        var image = try DamagedPagesTests.Image(rich.path)
        image.set(try image.record("meta") + 40, 8, 1 << 40)
        let bytes = image.bytes, size: UInt64 = 100 << 30
        try rich.write(bytes)
        let path = rich.path + "/data.mdb"
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.truncate(atOffset: size)
        try file.seek(toOffset: size - 4096)
        try file.write(contentsOf: Data(bytes[(2 * 4096)..<(3 * 4096)]))
        try file.close()
        let pages = try PageFile(opening: path).pagesWithData
        #expect(
            pages.first?.lowerBound == 2 && pages.last?.upperBound == size / 4096
                && pages.reduce(0) { $0 + $1.count } < 2000, "\(pages)")
        let new = FileManager.default.temporaryDirectory.path + "/tarn-sparse-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: new) }
        #expect(try StoreInspector(at: rich.path).salvage(to: new).records.reduce(0) { $0 + $1.count } > 300)
    }
}
