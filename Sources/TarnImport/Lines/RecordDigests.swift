// The lines of a file whose record an earlier line has, found in bounded memory.

import Foundation
internal import TarnStore

/// Digests of the records of lines. For one thread at a time.
///
/// About a million of them are in memory. The others are in a temporary file, in sorted parts.
final class RecordDigests {
    /// A line whose record an earlier line has.
    struct Repetition: Hashable, Sendable {
        var line: Int
        /// The earliest line of the record.
        var first: Int
    }

    private struct Entry: Comparable {
        var high: UInt64
        var low: UInt64
        var line: UInt64

        func isOfSameRecord(as other: Entry) -> Bool { high == other.high && low == other.low }

        static func < (a: Entry, b: Entry) -> Bool { (a.high, a.low, a.line) < (b.high, b.low, b.line) }
    }

    /// A sorted part of the file, of which a piece is in memory.
    private struct Part {
        var next: Int
        var end: Int
        var piece: [Entry] = []
        var position = 0

        var first: Entry? { position < piece.count ? piece[position] : nil }
    }

    private let limit: Int
    /// The folder of the temporary file.
    private let folder: String
    private var entries: [Entry] = []
    private var parts: [Part] = []
    private var file: FileHandle?
    private var length = 0

    /// - Parameters:
    ///   - limit: the number of digests in memory.
    ///   - folder: the folder of the temporary file.
    init(limit: Int = 1 << 20, folder: String = FileManager.default.temporaryDirectory.path) {
        self.limit = limit
        self.folder = folder
    }

    /// Adds the record of a line.
    ///
    /// - Throws: errors of the file system.
    func add(_ record: ListedRecord, line: Int) throws {
        entries.append(
            Entry(
                high: RecordDigests.digest(record, 0), low: RecordDigests.digest(record, 1), line: UInt64(line)))
        if entries.count >= limit { try writePart() }
    }

    /// Two digests with the process's random seed: no file can be made whose records collide.
    private static func digest(_ record: ListedRecord, _ number: UInt8) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(number)
        hasher.combine(record.entity)
        record.storageKey.withUnsafeBytes { hasher.combine(bytes: $0) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    private func writePart() throws {
        entries.sort()
        try naming {
            let file = try self.file ?? makeFile()
            self.file = file
            try file.seek(toOffset: UInt64(length))
            try file.write(contentsOf: entries.withUnsafeBytes { Data($0) })
        }
        let end = length + entries.count * MemoryLayout<Entry>.stride
        parts.append(Part(next: length, end: end))
        length = end
        entries.removeAll(keepingCapacity: true)
    }

    /// Makes a file without a name, which ends with the process at the latest.
    private func makeFile() throws -> FileHandle {
        let path = folder + "/tarn-lines-\(UUID().uuidString)"
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        unlink(path)
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Runs a closure, and adds the folder to its error: the file has no name.
    private func naming(_ body: () throws -> Void) throws {
        do { try body() } catch {
            let reason = error as NSError
            var information = reason.userInfo
            information[NSFilePathErrorKey] = "\(folder) (the folder of temporary files, TMPDIR)"
            throw NSError(domain: reason.domain, code: reason.code, userInfo: information)
        }
    }

    /// Returns the lines whose record an earlier one has, in their order. Called once.
    ///
    /// - Throws: errors of the file system.
    func repetitions() throws -> [Repetition] {
        entries.sort()
        parts.append(Part(next: 0, end: 0, piece: entries))
        entries = []
        let size = max(64, limit / parts.count)
        var result: [Repetition] = [], first: Entry?
        while true {
            var smallest: (part: Int, entry: Entry)?
            for index in parts.indices {
                if parts[index].first == nil { try readPiece(of: index, size) }
                guard let entry = parts[index].first else { continue }
                if smallest.map({ entry < $0.entry }) ?? true { smallest = (index, entry) }
            }
            guard let (part, entry) = smallest else { break }
            parts[part].position += 1
            if let first, first.isOfSameRecord(as: entry) {
                result.append(Repetition(line: Int(entry.line), first: Int(first.line)))
            } else {
                first = entry
            }
        }
        return result.sorted { $0.line < $1.line }
    }

    private func readPiece(of index: Int, _ size: Int) throws {
        let stride = MemoryLayout<Entry>.stride
        let count = min(size, (parts[index].end - parts[index].next) / stride)
        guard count > 0, let file else { return }
        try file.seek(toOffset: UInt64(parts[index].next))
        var bytes = Data()
        while bytes.count < count * stride {
            guard let more = try file.read(upToCount: count * stride - bytes.count), !more.isEmpty else {
                throw POSIXError(.EIO)
            }
            bytes.append(more)
        }
        parts[index].next += count * stride
        parts[index].piece = bytes.withUnsafeBytes { bytes in
            (0..<count).map { bytes.loadUnaligned(fromByteOffset: $0 * stride, as: Entry.self) }
        }
        parts[index].position = 0
    }
}
