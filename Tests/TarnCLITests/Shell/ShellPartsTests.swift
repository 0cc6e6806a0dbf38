// The parts of the shell: words, the line that is typed, keys, and the history.

import Foundation
import TestSupport
import Testing

@testable import TarnCLI

@Suite("Command line: parts of the inspector's shell")
struct ShellPartsTests {
    @Test("a line is split into words as a POSIX shell splits it")
    func words() {
        func words(_ line: String) -> [String] { ShellWords(line).words }
        #expect(words("get Issue 7") == ["get", "Issue", "7"])
        #expect(words("  list  Issue --where 'state = \"a\"'") == ["list", "Issue", "--where", "state = \"a\""])
        #expect(words(#"grep "a \"b\" \n" c\ d ''"#) == ["grep", #"a "b" \n"#, "c d", ""])
        #expect(words("'it'\\''s'x") == ["it'sx"])
        #expect(ShellWords("a 'b").isOpen && ShellWords("a \\").isOpen && !ShellWords("a b").isOpen)
        #expect(ShellWords("get Iss").lastStart == 4 && !ShellWords("get Iss").endsWithBlank)
        #expect(ShellWords("get ").lastStart == 4 && ShellWords("get ").endsWithBlank && ShellWords("").endsWithBlank)
        for word in ["plain", "two words", "it's", "a\\b", "#x", "Grüße 世界"] {
            #expect(words(ShellWords.quoted(word)) == [word])
        }
    }

    @Test("a quote, a blank or a backslash is one before a combining mark, too")
    func combiningMarks() {
        let split = ShellWords("grep '\u{301}a b' \"\u{301}c\" d\\\u{301}")
        #expect(split.words == ["grep", "\u{301}a b", "\u{301}c", "d\u{301}"] && !split.isOpen)
        #expect(ShellWords("e\u{301} x").lastStart == 2)
        for word in ["'\u{301}", "\u{301} \u{301}", "\"\u{301}"] {
            #expect(ShellWords(ShellWords.quoted(word)).words == [word])
        }
    }

    @Test("a line is edited by characters as people see them, and by words")
    func editing() {
        var line = EditedLine("naïve cafe")
        line.insert("\u{301}")
        #expect(line.text == "naïve café" && line.cursor == 10)
        line.deleteBackward()
        #expect(line.text == "naïve caf")
        line.moveByWord(forward: false)
        #expect(line.cursor == 6)
        line.deleteWord()
        #expect(line.text == "caf" && line.cursor == 0)
        line.deleteBackward()
        line.moveByWord(forward: true)
        line.deleteForward()
        #expect(line.text == "caf" && line.cursor == 3)
        line.replace(from: 1, with: "lose")
        #expect(line.text == "close")
        line.move(by: -2)
        line.deleteToEnd()
        #expect(line.text == "clo")
        line.move(by: -1)
        line.deleteToStart()
        #expect(line.text == "o" && line.cursor == 0)
        line.move(by: -5)
        line.move(by: 50)
        #expect(line.cursor == 1)
    }

    private func keys(_ bytes: [UInt8]) -> [KeyStroke] {
        var rest = bytes[...], keys: [KeyStroke] = []
        while !rest.isEmpty { keys.append(KeyStroke.next(byte: { rest.popFirst() }, hasMore: { !rest.isEmpty })) }
        return keys
    }

    @Test("bytes become keys: UTF-8, control characters and the escape sequences of terminals")
    func keyStrokes() {
        #expect(keys(Array("aü世😀".utf8)) == ["a", "ü", "世", "😀"].map(KeyStroke.text))
        #expect(
            keys(Array("\u{1B}[A\u{1B}OB\u{1B}[1;5C\u{1B}[D\u{1B}[3~\u{1B}[H\u{1B}[4~\u{1B}b".utf8))
                == [.up, .down, .wordRight, .left, .delete, .home, .end, .wordLeft])
        #expect(
            keys([0x0D, 0x7F, 0x03, 0x04, 0x09, 0x17]) == [
                .enter, .backspace, .interrupt, .endOfInput, .tab, .killWord,
            ])
        #expect(keys([0x1B]) == [.other] && keys([0xFF, 0x61]) == [.other, .text("a")])
        #expect(KeyStroke.next(byte: { nil }, hasMore: { false }) == .inputEnded)
        // Any bytes end.
        var dice = SeededRandom(seed: 7)
        for _ in 0..<2000 { _ = keys((0..<40).map { _ in UInt8(dice.roll(0..<256)) }) }
    }

    @Test("Ctrl-D deletes in a line and ends an empty one; a terminal that is gone ends every line")
    func ends() {
        let editor = LineEditor(history: LineHistory(path: nil)) { _ in LineEditor.Completions() }
        #expect(editor.press(.endOfInput) == .ends(nil))
        for key in [KeyStroke.text("half"), .home, .endOfInput] { #expect(editor.press(key) == .goesOn) }
        #expect(editor.press(.enter) == .ends("alf"))
        #expect(editor.press(.inputEnded) == .ends(nil))
    }

    @Test("a completed word stays in the quotation that was begun, which stays open until the word ends")
    func completedWords() {
        #expect(ShellWords("list --where 'sta").openQuote == "'" && ShellWords("a 'b'").openQuote == nil)
        #expect(ShellWords.completed("state", "'", isWhole: false) == "'state")
        #expect(ShellWords.completed("Issue", "\"", isWhole: true) == "\"Issue\" ")
        #expect(ShellWords.completed("two words", nil, isWhole: true) == "'two words' ")
        for quote in ["'", "\""] as [Unicode.Scalar] {
            for word in ["plain", "it's", "a\\b", "say \"x\""] {
                #expect(ShellWords(ShellWords.completed(word, quote, isWhole: true)).words == [word])
                #expect(ShellWords(ShellWords.completed(word, quote, isWhole: false)).words == [word])
            }
        }
    }

    @Test("a long line is typed at its end and in its middle without a copy for each key", .timeLimit(.minutes(1)))
    func longLine() {
        var line = EditedLine("b")
        for _ in 0..<50_000 { line.insert("é") }
        line.move(by: -25_000)
        line.insert("\u{301}x")
        #expect(line.cursor == 25_002 && line.text.hasPrefix("bé"))
        line.moveToStart()
        line.insert("\u{301}")
        #expect(line.cursor == 1 && line.text.hasPrefix("\u{301}b"))
    }

    @Test("the history recalls lines with the beginning that was typed, and is kept in a private file")
    func history() throws {
        let folder = try TemporaryFolder(), path = folder("deep/er/history")
        var history = LineHistory(path: path)
        for line in ["get A 1", "list B", "list B", " secret", "get C 2"] { history.add(line) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "get A 1\nlist B\nget C 2\n")
        var next = LineHistory(path: path)
        #expect(next.previous("get") == "get C 2" && next.previous("get C 2") == "get A 1")
        #expect(next.previous("get A 1") == nil)
        #expect(next.next() == "get C 2" && next.next() == "get" && next.next() == nil)
        #expect(next.previous("") == "get C 2" && next.previous("get C 2") == "list B")
        #expect(LineHistory.path(["TARN_HISTORY": ""]) == nil && LineHistory.path([:]) == nil)
        #expect(LineHistory.path(["XDG_STATE_HOME": "/s", "HOME": "/h"]) == "/s/tarn/inspect-history")
        #expect(LineHistory.path(["HOME": "/h"]) == "/h/.local/state/tarn/inspect-history")
        // Bytes that are not UTF-8, as Foundation gives them.
        #expect(LineHistory.path(["HOME": "/h\u{FFFD}"]) == nil && LineHistory.path(["HOME": "h"]) == nil)
    }
}
