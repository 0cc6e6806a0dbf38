// Standard output for data, and standard error for everything else. Only this file writes to them,
// and it escapes control characters in every text.

import Foundation
import Locking

enum Output {
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// The columns of the terminal on standard output; 100 without a terminal.
    static var width: Int { columns(of: STDOUT_FILENO) }
    /// The columns of the terminal on standard error; 100 without a terminal.
    ///
    /// It may be another terminal than that of standard output.
    static var errorWidth: Int { columns(of: STDERR_FILENO) }

    private static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 20 else { return 100 }
        return Int(size.ws_col)
    }

    // MARK: Standard output

    /// Writes one line for people.
    ///
    /// Line breaks are escaped, and a line of more than ``VisibleText/limit`` bytes is cut.
    static func line(_ text: String) { append { $0 += VisibleText.line(text).utf8 } }

    /// Writes the program's own lines, such as a help page. Line breaks and tabs stay.
    static func lines(_ text: String) { append { $0 += VisibleText.lines(text, keepsTabs: true).utf8 } }

    /// Writes one line of JSON, complete at any length.
    ///
    /// Control characters are escaped in pipes, too: a pipe often ends at a terminal (`| head`),
    /// and the escapes do not change the meaning.
    static func json(_ text: String) {
        var text = text
        append { buffer in text.withUTF8 { VisibleText.appendJSON($0, to: &buffer) } }
    }

    /// Writes a line for another program, such as `mdb_load`; it is escaped only on a terminal.
    static func data(_ text: String) {
        append { $0 += isTerminal ? VisibleText.line(text, limit: .max).utf8 : text.utf8 }
    }

    /// Writes bytes; they are escaped only on a terminal.
    static func raw(_ bytes: [UInt8]) {
        flush()
        let text = isTerminal ? VisibleText.lines(String(decoding: bytes, as: UTF8.self), keepsTabs: true) : nil
        buffer.withLock { $0 = text.map { Array($0.utf8) } ?? bytes }
        flush()
    }

    /// Appends a line; if the reader has closed the pipe (`| head`), a flush ends the process.
    private static func append(_ line: (inout [UInt8]) -> Void) {
        let isFull = buffer.withLock { buffer in
            line(&buffer)
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
        if code != EPIPE { error("cannot write the output: \(String(cString: strerror(code)))") }
        exit(Failure.Code.failed.rawValue)
    }

    private static let buffer = Guarded<[UInt8]>([])

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

    // MARK: Standard error

    /// Writes a message for people, in one line.
    static func error(_ text: String) {
        guard !text.isEmpty else { return }
        note("tarn: \(text)")
    }

    /// Writes a line for people, separate from the data.
    static func note(_ text: String) { notes(VisibleText.line(text)) }

    /// Writes the program's own lines; line breaks stay.
    static func notes(_ text: String) {
        // Flushed first: the order is kept where both streams have one destination.
        flush()
        _ = write(Array((VisibleText.lines(text) + "\n").utf8), to: STDERR_FILENO)
    }

    /// Replaces the progress line on a terminal.
    static func progress(_ text: String) {
        let line = VisibleText.cut(VisibleText.line(text), columns: errorWidth - 1)
        // Carriage return, the text, then erase to the end of the line (ECMA-48, EL).
        _ = write(Array("\r\(line)\u{1B}[K".utf8), to: STDERR_FILENO)
    }

    /// Keeps the current progress line; the next one begins below it.
    static func keepProgress() { _ = write([UInt8(ascii: "\n")], to: STDERR_FILENO) }
}
