// Standard output and standard error: data goes to the one, everything else to the other.

import Foundation
import Synchronization

enum Output {
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Columns of the terminal that standard output is; 100 where it is none.
    static var width: Int { columns(of: STDOUT_FILENO) }
    /// The same for standard error: the two need not be the same terminal, or any.
    static var errorWidth: Int { columns(of: STDERR_FILENO) }

    private static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 20 else { return 100 }
        return Int(size.ws_col)
    }

    /// Writes a line of data. When nobody reads any more (`| head`), the process ends, as other tools do.
    static func line(_ text: String) {
        let isFull = buffer.withLock { buffer in
            buffer += text.utf8
            buffer.append(UInt8(ascii: "\n"))
            return buffer.count > 1 << 16
        }
        if isFull { flush() }
    }

    static func flush() {
        let bytes = buffer.withLock { buffer in
            defer { buffer.removeAll(keepingCapacity: true) }
            return buffer
        }
        guard !write(bytes, to: STDOUT_FILENO) else { return }
        let code = errno
        if code != EPIPE { error("the output cannot be written: \(String(cString: strerror(code)))") }
        exit(Failure.Code.failed.rawValue)
    }

    private static let buffer = Mutex<[UInt8]>([])

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Writes a message for people.
    static func error(_ text: String) {
        guard !text.isEmpty else { return }
        note("tarn: \(text)")
    }

    static func note(_ text: String) {
        // In the order of what was said, where both go to one place.
        flush()
        _ = write(Array((text + "\n").utf8), to: STDERR_FILENO)
    }

    /// Writes to standard error as it is, for progress on one line.
    static func progress(_ text: String) { _ = write(Array(text.utf8), to: STDERR_FILENO) }
}

enum OutputFormat: String, CaseIterable {
    /// Aligned columns, cut to the width of the terminal.
    case table
    /// One JSON object a line.
    case json

    /// A table for people, JSON for pipes.
    static var `default`: OutputFormat { Output.isTerminal ? .table : .json }
}
