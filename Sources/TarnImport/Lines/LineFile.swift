// The lines of a file or of a pipe, with bounded memory.

import Foundation

/// A reader of lines. For one thread at a time.
package final class LineFile {
    /// The longest line in bytes; a longer one is an error.
    static let longestLine = 256 << 20

    private let file: FileHandle
    private var buffer = Data()
    private var start = 0
    /// The end of those bytes of the buffer that were searched for the end of a line.
    private var searched = 0
    private var hasEnded = false
    /// The number of the line that was read last, from 1 on.
    private(set) var number = 0

    /// A line is too long to be read.
    struct TooLong: Error {}

    /// Another process has changed the file since it was opened.
    package struct Changed: Error {}

    /// The properties that change with the content of a file.
    private struct Version: Equatable {
        var device, inode, size, seconds, nanoseconds: Int

        /// Returns nil if the file has no status.
        init?(_ file: FileHandle) {
            var status = stat()
            guard fstat(file.fileDescriptor, &status) == 0 else { return nil }
            (device, inode) = (Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino))
            (size, seconds, nanoseconds) = (Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        }
    }

    /// A line is no UTF-8. The next call reads the line after it.
    struct NotUTF8: Error {}

    private let version: Version?

    package init(_ file: FileHandle) {
        self.file = file
        version = Version(file)
    }

    /// Opens a file.
    ///
    /// - Throws: errors of the file system.
    package convenience init(path: String) throws {
        self.init(try FileHandle(forReadingFrom: URL(fileURLWithPath: path)))
    }

    /// Returns to the first line of the same file, also if its path leads to another one by now.
    ///
    /// - Throws: errors of the file system, such as for a pipe.
    func rewind() throws {
        try file.seek(toOffset: 0)
        (buffer, start, searched, hasEnded, number) = (Data(), 0, 0, false, 0)
    }

    /// Throws `Changed` if the file has another size or another time of modification by now.
    func requireUnchanged() throws {
        guard Version(file) == version else { throw Changed() }
    }

    /// Returns the next line without its end; nil after the last one.
    ///
    /// - Throws: `TooLong`, `NotUTF8`, errors of the file system.
    func next() throws -> String? {
        while true {
            if let end = lineEnd() {
                let line = buffer[(buffer.startIndex + start)..<(buffer.startIndex + end)]
                (start, searched) = (end + 1, end + 1)
                return try take(line)
            }
            if hasEnded {
                let line = buffer[(buffer.startIndex + start)...]
                (buffer, start, searched) = (Data(), 0, 0)
                return line.isEmpty ? nil : try take(line)
            }
            // A long line is neither searched nor copied again for each part of it that is read.
            searched = buffer.count
            if start > 0 {
                buffer = Data(buffer[(buffer.startIndex + start)...])
                (start, searched) = (0, buffer.count)
            }
            guard buffer.count <= LineFile.longestLine else { throw TooLong() }
            let chunk = try file.read(upToCount: 1 << 20) ?? Data()
            if chunk.isEmpty { hasEnded = true } else { buffer.append(chunk) }
        }
    }

    /// The position of the next end of a line; nil if the buffer has none.
    private func lineEnd() -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, searched < bytes.count,
                let found = memchr(base + searched, 0x0A, bytes.count - searched)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    private func take(_ line: Data) throws -> String {
        number += 1
        guard let text = String(validating: line, as: UTF8.self) else { throw NotUTF8() }
        return text
    }
}
