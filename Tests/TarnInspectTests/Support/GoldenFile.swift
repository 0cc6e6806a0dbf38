// A golden store as a file to damage.

import CZstd
import Foundation
import Glibc

@testable import TarnStore

/// A copy of a golden store, whose file can be damaged and restored in place.
final class GoldenFile {
    let path = FileManager.default.temporaryDirectory.path + "/tarn-bits-\(UUID().uuidString)"
    let original: [UInt8]
    private let descriptor: Int32

    init(_ golden: String) throws {
        let frame = [UInt8](try Data(contentsOf: URL(fileURLWithPath: golden + "/data.mdb.zst")))
        let size = Int(clamping: ZSTD_getFrameContentSize(frame, frame.count))
        var bytes = [UInt8](repeating: 0, count: size)
        let count = ZSTD_decompress(&bytes, bytes.count, frame, frame.count)
        guard count == size else { throw StoreOpenError.notAStore(path: golden, detail: "not a zstd frame") }
        original = bytes
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: path + "/data.mdb"))
        descriptor = open(path + "/data.mdb", O_RDWR)
    }

    deinit {
        close(descriptor)
        try? FileManager.default.removeItem(atPath: path)
    }

    func set(_ bit: Int, flipped: Bool) throws {
        var byte = original[bit / 8] ^ (flipped ? 1 << UInt8(bit % 8) : 0)
        guard pwrite(descriptor, &byte, 1, off_t(bit / 8)) == 1 else { throw StoreOpenError.noSuchStore(path: path) }
    }
}
