// A line editor for a terminal: it needs no library at run time.

import Foundation
import Locking

/// An editor that reads lines from the terminal on standard input, and draws on standard error.
final class LineEditor {
    /// The completions of the word before the cursor.
    struct Completions {
        /// The offset of the word in the line, in characters.
        var start = 0
        var words: [String] = []
        /// The word as it is typed, without quotes.
        var typed = ""
        /// The quote that is open at its end; nil for none.
        var quote: Unicode.Scalar?
        /// Whether nothing follows a completed word at once.
        var endsWord = true
    }

    private let completions: (_ textBeforeCursor: String) -> Completions
    private var history: LineHistory
    private var line = EditedLine()
    private var prompt = ""
    /// The offset of the first column of the line that is shown.
    private var scroll = 0
    /// The settings of the terminal before the line that is being read.
    private static let settings = Guarded<termios?>(nil)

    init(history: LineHistory, completions: @escaping (_ textBeforeCursor: String) -> Completions) {
        self.history = history
        self.completions = completions
    }

    /// Reads a line.
    ///
    /// - Returns: The line; empty after Ctrl-C, nil at the end of the input.
    func read(prompt: String) -> String? {
        var cooked = termios()
        guard tcgetattr(STDIN_FILENO, &cooked) == 0 else { return nil }
        var raw = cooked
        cfmakeraw(&raw)
        // Output of other threads keeps its line breaks.
        raw.c_oflag = cooked.c_oflag
        // Type-ahead is kept: TCSADRAIN, not TCSAFLUSH.
        LineEditor.settings.withLock { [cooked] in $0 = cooked }
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
        defer { LineEditor.restoreTerminal() }
        (self.prompt, line, scroll) = (VisibleText.line(prompt) + " ", EditedLine(), 0)
        draw()
        while true {
            switch press(KeyStroke.next(byte: LineEditor.byte, hasMore: LineEditor.hasMore)) {
            // A pasted text is drawn once.
            case .goesOn: if !LineEditor.hasMore(within: 0) { draw() }
            case .ends(let text):
                line.moveToEnd()
                draw()
                Output.endEdit()
                if let text { history.add(text) }
                return text
            }
        }
    }

    /// Takes the terminal out of raw mode, if a line is being read.
    static func restoreTerminal() {
        settings.withLock { settings in
            guard var cooked = settings else { return }
            tcsetattr(STDIN_FILENO, TCSANOW, &cooked)
            settings = nil
        }
    }

    enum Step: Equatable { case goesOn, ends(String?) }

    func press(_ key: KeyStroke) -> Step {
        switch key {
        case .enter: return .ends(line.text)
        case .interrupt:
            line = EditedLine()
            return .ends("")
        case .endOfInput:
            if line.isEmpty { return .ends(nil) }
            line.deleteForward()
        case .inputEnded: return .ends(nil)
        case .text(let text): line.insert(text)
        case .tab: complete()
        case .backspace: line.deleteBackward()
        case .delete: line.deleteForward()
        case .left: line.move(by: -1)
        case .right: line.move(by: 1)
        case .home: line.moveToStart()
        case .end: line.moveToEnd()
        case .wordLeft: line.moveByWord(forward: false)
        case .wordRight: line.moveByWord(forward: true)
        case .killToEnd: line.deleteToEnd()
        case .killToStart: line.deleteToStart()
        case .killWord: line.deleteWord()
        case .up: if let text = history.previous(line.text) { line = EditedLine(text) }
        case .down: if let text = history.next() { line = EditedLine(text) }
        case .clear: Output.clearTerminal()
        case .other: break
        }
        return .goesOn
    }

    // MARK: - Completion

    private func complete() {
        let found = completions(line.textBeforeCursor)
        guard let first = found.words.first else { return }
        var common = first
        for word in found.words.dropFirst() { common = String(zip(common, word).prefix { $0 == $1 }.map(\.0)) }
        if found.words.count == 1 {
            line.replace(from: found.start, with: ShellWords.completed(common, found.quote, isWhole: found.endsWord))
        } else if common.count > found.typed.count {
            line.replace(from: found.start, with: ShellWords.completed(common, found.quote, isWhole: false))
        } else {
            line.moveToEnd()
            draw()
            Output.endEdit()
            for row in LineEditor.rows(found.words, width: Output.errorWidth) { Output.note(row) }
        }
    }

    /// Returns words in columns.
    private static func rows(_ words: [String], width: Int) -> [String] {
        let shown = words.prefix(200).map { VisibleText.cell($0) } + (words.count > 200 ? ["…"] : [])
        let column = (shown.map { VisibleText.columns(of: $0) }.max() ?? 0) + 2, count = max(1, width / column)
        return stride(from: 0, to: shown.count, by: count).map { start in
            shown[start..<min(start + count, shown.count)].map { word in
                word + String(repeating: " ", count: max(0, column - VisibleText.columns(of: word)))
            }.joined()
        }
    }

    // MARK: - Drawing

    /// Draws the part of the line around the cursor that fits the terminal.
    private func draw() {
        let head = VisibleText.columns(of: prompt), room = max(8, Output.errorWidth - 1 - head)
        func cell(_ index: Int) -> (text: String, columns: Int) {
            let text = VisibleText.line(String(line.characters[index]))
            return (text, VisibleText.columns(of: text))
        }
        // Only the characters that are shown are looked at: a line may be long.
        var first = line.cursor, before = 0
        scroll = min(scroll, line.cursor)
        while first > scroll {
            let columns = cell(first - 1).columns
            guard before + columns < room else { break }
            (first, before) = (first - 1, before + columns)
        }
        scroll = first
        var shown = "", used = 0
        for index in scroll..<line.characters.count {
            let (text, columns) = cell(index)
            guard used + columns < room else { break }
            shown += text
            used += columns
        }
        Output.edit(prompt + shown, cursor: head + before)
    }

    // MARK: - Input

    private static func byte() -> UInt8? {
        var byte: UInt8 = 0
        while true {
            let count = Foundation.read(STDIN_FILENO, &byte, 1)
            if count < 0 && errno == EINTR { continue }
            return count == 1 ? byte : nil
        }
    }

    private static func hasMore() -> Bool { hasMore(within: 50) }

    /// Whether a byte comes within some milliseconds.
    private static func hasMore(within milliseconds: Int32) -> Bool {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return poll(&input, 1, milliseconds) > 0
    }
}
