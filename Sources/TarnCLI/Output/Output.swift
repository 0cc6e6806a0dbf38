// Standard output for data, and standard error for everything else. Only this file writes to them,
// and it escapes control characters in every text.

import Foundation
import Locking

enum Output {
    /// The descriptor of standard output.
    static let descriptor = STDOUT_FILENO
    /// Whether standard output is a terminal: asked once, since each line depends on it.
    static let isTerminal = isatty(STDOUT_FILENO) == 1
    static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    /// Whether the terminal has no escape sequences.
    static let isDumb = ProcessInfo.processInfo.environment["TERM"] == "dumb"
    /// Whether lines on standard error can be drawn over.
    static var errorIsDrawable: Bool { errorIsTerminal && !isDumb }

    /// The columns of tables: `COLUMNS`, else those of the terminal on standard output, else 100.
    static let width = chosenWidth ?? columns(of: STDOUT_FILENO)
    /// The columns of tables whose rows stay whole in a pipe or a file.
    static let summaryWidth = chosenWidth ?? (isTerminal ? width : .max)

    private static let chosenWidth: Int? = {
        guard let text = ProcessInfo.processInfo.environment["COLUMNS"], let columns = Int(text), columns >= 20 else {
            return nil
        }
        return min(columns, 10_000)
    }()
    /// The columns of the terminal on standard error; 100 without a terminal.
    ///
    /// It may be another terminal than that of standard output.
    static var errorWidth: Int { columns(of: STDERR_FILENO) }

    /// The lines of the terminal on standard error; 24 without a terminal.
    static var errorHeight: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 2 else { return 24 }
        return Int(size.ws_row)
    }

    private static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 100 }
        return max(20, Int(size.ws_col))
    }

    // MARK: Standard output

    /// Writes one line for people.
    ///
    /// Line breaks are escaped, and a line of more than ``VisibleText/limit`` bytes is cut.
    static func line(_ text: String) { line(text, limit: VisibleText.limit) }

    /// Writes one line in a colour, if standard output has colours.
    static func line(_ text: String, _ style: StyledText.Style) {
        guard isColoured, style != .plain else { return line(text) }
        append { $0 += "\u{1B}[\(style.rawValue)m\(VisibleText.line(text))\u{1B}[0m".utf8 }
    }

    /// Writes one line, cut at another limit.
    static func line(_ text: String, limit: Int) {
        append { $0 += VisibleText.line(text, limit: limit).utf8 }
    }

    /// Writes the program's own lines, such as a help page. Line breaks and tabs stay.
    static func lines(_ text: String) { append { $0 += VisibleText.lines(text, keepsTabs: true).utf8 } }

    /// Writes a text of several lines. Line breaks and tabs stay.
    static func block(_ text: String) { lines(text) }

    /// Writes YAML of ``YAMLText``, complete: it has nothing that acts on a terminal.
    ///
    /// An escape that is not YAML's would change its meaning.
    static func yaml(_ text: String) { append { $0 += text.utf8 } }

    /// Writes one line of JSON, complete at any length.
    ///
    /// Control characters are escaped in pipes, too: a pipe often ends at a terminal (`| head`),
    /// and the escapes do not change the meaning.
    static func json(_ text: String) { json(text, after: "") }

    /// Writes JSON with text of the program around it, such as the commas of a list.
    static func json(_ text: String, after separator: String, terminator: String = "\n") {
        var text = text
        text.withUTF8 { json(UnsafeRawBufferPointer($0), after: separator, terminator: terminator) }
    }

    /// Writes one line of JSON from its UTF-8.
    static func json(_ text: UnsafeRawBufferPointer) { json(text, after: "") }

    /// Writes JSON from its UTF-8, with text of the program around it.
    static func json(_ text: UnsafeRawBufferPointer, after separator: String, terminator: String = "\n") {
        append(terminator: terminator) { buffer in
            buffer += separator.utf8
            VisibleText.appendJSON(text.assumingMemoryBound(to: UInt8.self), to: &buffer)
        }
    }

    /// Writes a line for another program, such as `mdb_load`; it is escaped only on a terminal.
    static func data(_ text: String) {
        append { $0 += isTerminal ? VisibleText.line(text, limit: .max).utf8 : text.utf8 }
    }

    /// Writes a line for another program whose line breaks belong to it, such as a row of CSV.
    ///
    /// Other characters are escaped on a terminal only.
    ///
    /// - Parameter line: appends the line, in UTF-8.
    static func text(_ line: (inout [UInt8]) -> Void) {
        guard isTerminal else { return append(line) }
        var bytes: [UInt8] = []
        line(&bytes)
        append { $0 += VisibleText.lines(String(decoding: bytes, as: UTF8.self), keepsTabs: true).utf8 }
    }

    /// Writes bytes; they are escaped only on a terminal.
    static func raw(_ bytes: [UInt8]) {
        flush()
        let text = isTerminal ? VisibleText.lines(String(decoding: bytes, as: UTF8.self), keepsTabs: true) : nil
        buffer.withLock { $0 = text.map { Array($0.utf8) } ?? bytes }
        flush()
    }

    /// Appends a line; if the reader has closed the pipe (`| head`), a flush ends the process.
    private static func append(terminator: String = "\n", _ line: (inout [UInt8]) -> Void) {
        let (isFull, isPaged) = buffer.withLock { buffer in
            line(&buffer)
            buffer += terminator.utf8
            return (buffer.count > 1 << 16, Pager.wants(buffer))
        }
        if isPaged { Pager.start() }
        if isFull || isPaged { drain() }
    }

    /// Writes what is buffered, to the pager if one runs.
    static func flush() {
        Pager.release()
        drain()
    }

    /// Writes what is buffered, and waits until the user has left the pager.
    static func finish() {
        flush()
        if !Pager.finish() { writeUnpaged() }
    }

    private static func drain() {
        turn.lock()
        let (bytes, descriptor) = buffer.withLock { buffer in
            defer { buffer.removeAll(keepingCapacity: true) }
            return (buffer, Pager.descriptor ?? STDOUT_FILENO)
        }
        if descriptor != STDOUT_FILENO { Pager.keep(bytes) }
        let count = write(bytes, to: descriptor), code = errno
        turn.unlock()
        if descriptor != STDOUT_FILENO, count > 0 { Pager.noteTaken() }
        guard count < bytes.count else { return }
        if Pager.descriptor != nil {
            // Otherwise the user has left the pager before the end.
            guard !Pager.finish() else { TarnCommand.end(0) }
            return writeUnpaged()
        }
        // The interrupt has ended the reader as well (`| tee`), or closed the terminal: what the
        // command writes to standard error, and its exit code, tell how it ends.
        if Interrupts.hasCome { return }
        // As the signal, which a command that handles interrupts ignores.
        if code == EPIPE { TarnCommand.end(128 + SIGPIPE) }
        error("cannot write the output: \(String(cString: strerror(code)))")
        TarnCommand.end(Failure.Code.failed.rawValue)
    }

    /// Writes what a pager that failed has not shown.
    private static func writeUnpaged() {
        let bytes = Pager.takeUnshown()
        _ = write(bytes, to: STDOUT_FILENO)
    }

    private static let buffer = Guarded<[UInt8]>([])
    /// Held while a buffer is written: a full pipe takes a part of it, and then what another thread
    /// writes.
    private static let turn = Lock()

    /// Starts the pager if lines have waited for a full screen for a while.
    static func startPagerIfWaiting() {
        let isWaiting = buffer.withLock { !$0.isEmpty && Pager.isHolding }
        if isWaiting {
            Pager.start()
            drain()
        }
    }

    /// Writes bytes.
    ///
    /// - Returns: the number of bytes that were written: fewer if `errno` says why.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            if count < 0 && errno == EAGAIN {
                // The caller has set O_NONBLOCK, perhaps through another descriptor of the pipe.
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&ready, 1, -1)
                continue
            }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        return bytes.count - rest.count
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
        // Flushed first: the order is kept where both streams have one destination. A pager would
        // hide the message.
        finish()
        _ = write(Array((VisibleText.lines(text) + "\n").utf8), to: STDERR_FILENO)
    }

    /// Writes a message at once, while another thread may be writing the data.
    static func notice(_ text: String) {
        _ = write(Array("tarn: \(VisibleText.line(text))\n".utf8), to: STDERR_FILENO)
    }

    /// Writes a question on a terminal; the answer follows on the same line.
    static func prompt(_ text: String) {
        flush()
        _ = write(Array(VisibleText.line(text).utf8) + [UInt8(ascii: " ")], to: STDERR_FILENO)
    }

    /// Draws the line that is being typed, with the cursor in a column.
    ///
    /// - Parameter text: A text whose control characters are escaped already.
    static func edit(_ text: String, cursor: Int) {
        // CR, the text, "erase to the end of the line" (EL), CR, cursor forward (CUF).
        let move = cursor > 0 ? "\r\u{1B}[\(cursor)C" : "\r"
        _ = write(Array("\r\(text)\u{1B}[K\(move)".utf8), to: STDERR_FILENO)
    }

    /// Ends the line that was typed.
    static func endEdit() { _ = write(Array("\r\n".utf8), to: STDERR_FILENO) }

    /// Clears the terminal on standard error (ECMA-48, ED and CUP).
    static func clearTerminal() { _ = write(Array("\u{1B}[H\u{1B}[2J".utf8), to: STDERR_FILENO) }

    /// Replaces the progress line on a terminal.
    static func progress(_ text: String) {
        let line = VisibleText.cut(VisibleText.line(text), columns: errorWidth - 1)
        // Carriage return, the text, then erase to the end of the line (ECMA-48, EL).
        _ = write(Array("\r\(line)\u{1B}[K".utf8), to: STDERR_FILENO)
    }

    /// Draws lines over those that the last call has drawn. The cursor stays behind the last one.
    ///
    /// - Parameter previous: the number of lines of the last call; 0 for none.
    static func draw(_ lines: [StyledText], over previous: Int) {
        let width = errorWidth - 1
        // CR, cursor up (ECMA-48, CUU), each text with "erase to the end of the line" (EL), at last
        // "erase to the end of the screen" (ED) if there are fewer lines than before.
        var text = "\r" + (previous > 1 ? "\u{1B}[\(previous - 1)A" : "")
        for (index, line) in lines.enumerated() {
            text += (index > 0 ? "\n\r" : "") + line.rendered(columns: width, isColoured: errorIsColoured) + "\u{1B}[K"
        }
        if lines.isEmpty { text += "\u{1B}[K" }
        if lines.count < previous { text += "\u{1B}[J" }
        _ = write(Array(text.utf8), to: STDERR_FILENO)
    }

    /// Whether messages have colours: on a terminal, unless `NO_COLOR` is set, or everywhere with
    /// `CLICOLOR_FORCE`.
    static let errorIsColoured: Bool = isColoured(ProcessInfo.processInfo.environment, isTerminal: errorIsTerminal)
    /// As ``errorIsColoured``, for standard output.
    static let isColoured: Bool = isColoured(ProcessInfo.processInfo.environment, isTerminal: isTerminal)

    /// The rules of no-color.org and bixense.com/clicolors.
    static func isColoured(_ environment: [String: String], isTerminal: Bool) -> Bool {
        if environment["NO_COLOR"].map({ !$0.isEmpty }) ?? false { return false }
        if let force = environment["CLICOLOR_FORCE"], !force.isEmpty, force != "0" { return true }
        return isTerminal && environment["TERM"] != "dumb" && environment["CLICOLOR"] != "0"
    }
}
