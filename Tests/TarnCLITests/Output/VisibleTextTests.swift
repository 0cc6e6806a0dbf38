// Texts for terminals and for cells, beside the same rules written character by character.

import Glibc
import TestSupport
import Testing

@testable import TarnCLI

@Suite("Command line: texts")
struct VisibleTextTests {
    private static let characters = [
        "a", "b", " ", "\n", "\r", "\t", "\r\n", "\u{0}", "\u{1B}", "\u{7F}", "\u{85}", "\u{A0}", "é", "€", "🙂",
        "\u{301}",
        "\u{20DD}", "\u{202E}", "\u{2029}", "\u{61C}", "\u{FEFF}", "\"", ",", "\\", "|", "<", "&", "_", "…", "字",
    ]

    /// Texts of every length to 30, of few and of many unusual characters.
    private func texts(_ body: (String) -> Bool) {
        var dice = SeededRandom(seed: 20_261_125)
        for round in 0..<20_000 {
            var text = ""
            for _ in 0..<dice.roll(0..<30) {
                text += dice.roll(0..<5) <= round % 5 ? Self.characters[dice.roll(0..<Self.characters.count)] : "x"
            }
            if round % 50 == 0 { text += "o" + String(repeating: "\u{301}", count: dice.roll(25..<40)) }
            guard body(text) else {
                Issue.record("\(text.debugDescription)")
                return
            }
        }
    }

    private func escaped(_ text: String, keepsBreaks: Bool, keepsTabs: Bool) -> String {
        let scalars = Array(text.unicodeScalars)
        var result = "", marks = 0
        for (index, scalar) in scalars.enumerated() {
            let category = scalar.properties.generalCategory
            marks = category == .nonspacingMark || category == .enclosingMark ? marks + 1 : 0
            switch scalar {
            case "\r": if !keepsBreaks || index + 1 == scalars.count || scalars[index + 1] != "\n" { result += "\\r" }
            case "\n": result += keepsBreaks ? "\n" : "\\n"
            case "\t": result += keepsTabs ? "\t" : "\\t"
            case _ where VisibleText.acts(scalar.value) || marks > 30:
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    @Test("characters that act on a terminal are escaped wherever they are, all others stay")
    func escapes() {
        texts { text in
            VisibleText.line(text) == escaped(text, keepsBreaks: false, keepsTabs: false)
                && VisibleText.lines(text) == escaped(text, keepsBreaks: true, keepsTabs: false)
                && VisibleText.lines(text, keepsTabs: true) == escaped(text, keepsBreaks: true, keepsTabs: true)
        }
    }

    @Test("cells of csv, tsv and markdown are as character by character")
    func cells() {
        func replaced(_ text: String, _ replacement: (Unicode.Scalar) -> String?) -> String {
            text.unicodeScalars.map { replacement($0) ?? String($0) }.joined()
        }
        texts { text in
            var csv: [UInt8] = []
            SeparatedText.appendCSV(text, to: &csv)
            let scalars = text.unicodeScalars
            let isQuoted =
                scalars.contains { "\",\n\r".unicodeScalars.contains($0) } || scalars.first == " "
                || scalars.last == " "
            let inner = replaced(text) { $0 == "\"" ? "\"\"" : nil }
            let tsv = replaced(text) { ["\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"][$0] }
            let markdown = replaced(text) {
                ["\t": " ", "\n": "<br>", "\r": "", "<": "&lt;", "&": "&amp;"][$0]
                    ?? ("|\\`*_[]~".unicodeScalars.contains($0) ? "\\\($0)" : nil)
            }
            return String(decoding: csv, as: UTF8.self) == (isQuoted ? "\"\(inner)\"" : text)
                && SeparatedText.tsv(text) == tsv && SeparatedText.markdown(text) == markdown
        }
    }

    @Test("a table of several columns fits a narrow terminal, and a name keeps its beginning and its end")
    func narrowTables() {
        let name = "(FAILED) project_issue_comments"
        var table = Table(["endpoint", "b", "c", "d", "e", "f"], rightAligned: [1, 2, 3, 4, 5], named: 0)
        table.add([name, "123456789", "123456789", "123456789", "123456789", "123456789"])
        for width in [40, 60, 80] {
            #expect(table.lines(width: width).allSatisfy { VisibleText.columns(of: $0) <= width }, "\(width)")
        }
        #expect(table.lines(width: .max)[1].hasPrefix(name + "  "))
        #expect(VisibleText.cutInside(name, columns: 22) == "(FAILED) proje…omments")
        texts { VisibleText.columns(of: VisibleText.cutInside(VisibleText.line($0), columns: 12)) <= 12 }
    }

    @Test("texts of several lines are blocks of YAML with the same lines")
    func blocks() {
        for (text, block) in [
            ("a\nb", "|-\n  a\n  b"), ("a\n", "|\n  a"), ("a\n\n\n", "|+\n  a\n\n"), ("a\n\n b\n", "|\n  a\n\n   b"),
            (" a\nb", "\" a\\nb\""), ("\na", "\"\\na\""), ("a\n\tb", "\"a\\n\\tb\""), ("ü\n🙂", "|-\n  ü\n  🙂"),
        ] {
            #expect(YAMLText.scalar(text, indent: "  ") == block)
        }
        for text in ["a", "ab cd", "ünder", "a:b", "/x", "yesterday", "字", "a (b), c!"] {
            #expect(YAMLText.scalar(text, indent: nil) == text)
        }
        for text in ["", "No", "NULL", "1", "-a", "a: b", "a:", "a #b", "x ", "ü: b", "ü:", "a\u{FEFF}", "a[b", "~"] {
            #expect(YAMLText.scalar(text, indent: nil) == "\"\(text)\"", "\(text)")
        }
    }

    @Test("marks beyond the limit are escapes of YAML, in double quotes, whatever the text would be otherwise")
    func yamlMarks() {
        func marked(_ count: Int, _ mark: String = "\u{301}") -> String { "Z" + String(repeating: mark, count: count) }
        let most = marked(30)
        #expect(YAMLText.scalar(marked(32), indent: nil) == "\"\(most)\\u0301\\u0301\"")
        #expect(YAMLText.scalar("a\n\(marked(31))b\n", indent: "  ") == "\"a\\n\(most)\\u0301b\\n\"")
        #expect(YAMLText.scalar("a\n\(most)", indent: "  ") == "|-\n  a\n  \(most)")
        // Beyond 16 bits, YAML has no pairs of surrogates.
        let flags = marked(31, "\u{E0100}")
        #expect(YAMLText.scalar(flags, indent: nil) == "\"\(marked(30, "\u{E0100}"))\\U000e0100\"")
        #expect(YAMLText.visible("[\"\(marked(31))\"]") == "[\"\(most)\\u0301\"]")
    }

    @Test("a text of a hundred thousand marks is escaped in linear time")
    func manyMarks() {
        func time(_ count: Int) -> Double {
            func now() -> Double {
                var time = timespec()
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
                return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
            }
            let text = "Z" + String(repeating: "\u{301}", count: count), start = now()
            let scalar = YAMLText.scalar(text, indent: nil), duration = now() - start
            #expect(scalar.utf8.count == 2 + 1 + 30 * 2 + (count - 30) * 6)
            return duration
        }
        _ = time(10_000)
        // Quadratic work would make it a hundred times as long.
        #expect(time(100_000) / time(10_000) < 40)
    }
}
