import Testing

@testable import TarnCLI

@Suite("Sizes of copies")
struct FileSizeLimitTests {
    @Test("a copy may have twice the size of its file and 64 MiB, and a file may have any size")
    func limits() {
        #expect(FileSizeLimit.limit(ofCopyOf: 0) == 64 << 20)
        #expect(FileSizeLimit.limit(ofCopyOf: 1 << 30) == 2 << 30 + 64 << 20)
        for size in [Int.max, Int.max / 2, -1] { #expect(FileSizeLimit.limit(ofCopyOf: size) <= UInt(Int.max)) }
        #expect(FileSizeLimit.limit(ofCopyOf: 5 << 60) == UInt(Int.max))
    }
}
