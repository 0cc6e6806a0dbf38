// Standard output and standard error: data goes to the one, everything else to the other. The only code of the command
// line that writes to them: what acts on a terminal is escaped here, wherever a text comes from.

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

    // MARK: Standard output

    /// Writes one line for people. Line breaks in it are escaped, and a line of more than ``VisibleText/limit`` bytes is cut.
    static func line(_ text: String) { append { $0 += VisibleText.line(text).utf8 } }

    /// Writes lines of the program's own, such as a help page or a completion script: line breaks and tabs stay.
    static func lines(_ text: String) { append { $0 += VisibleText.lines(text, keepsTabs: true).utf8 } }

    /// Writes one line of JSON, complete whatever its length. What acts on a terminal is escaped in pipes too: they often end
    /// at one (`| head`), and a line means the same either way.
    static func json(_ text: String) {
        var text = text
        append { buffer in text.withUTF8 { VisibleText.appendJSON($0, to: &buffer) } }
    }

    /// Writes a line for another program, such as `mdb_load`: as it is, unless it goes to a terminal.
    static func data(_ text: String) {
        append { $0 += isTerminal ? VisibleText.line(text, limit: .max).utf8 : text.utf8 }
    }

    /// Writes bytes: as they are, unless they go to a terminal.
    static func raw(_ bytes: [UInt8]) {
        flush()
        let text = isTerminal ? VisibleText.lines(String(decoding: bytes, as: UTF8.self), keepsTabs: true) : nil
        buffer.withLock { $0 = text.map { Array($0.utf8) } ?? bytes }
        flush()
    }

    /// When nobody reads any more (`| head`), the process ends, as other tools do.
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

    // MARK: Standard error

    /// Writes a message for people, in one line.
    static func error(_ text: String) {
        guard !text.isEmpty else { return }
        note("tarn: \(text)")
    }

    /// Writes a line for people beside the data.
    static func note(_ text: String) { notes(VisibleText.line(text)) }

    /// Writes lines of the program's own: line breaks stay.
    static func notes(_ text: String) {
        // In the order of what was said, where both go to one place.
        flush()
        _ = write(Array((VisibleText.lines(text) + "\n").utf8), to: STDERR_FILENO)
    }

    /// Replaces the line of progress on a terminal.
    static func progress(_ text: String) {
        let line = VisibleText.cut(VisibleText.line(text), columns: errorWidth - 1)
        // Back to the first column, the text, and the rest of the line erased (ECMA-48, EL).
        _ = write(Array("\r\(line)\u{1B}[K".utf8), to: STDERR_FILENO)
    }

    /// Leaves the line of progress as it is; the next one begins below it.
    static func keepProgress() { _ = write([UInt8(ascii: "\n")], to: STDERR_FILENO) }
}
