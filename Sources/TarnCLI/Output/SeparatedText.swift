// Cells of comma-separated values, tab-separated values and Markdown.

enum SeparatedText {
    /// Returns a cell of comma-separated values (RFC 4180 §2), in quotes where it needs them.
    ///
    /// - Parameter isSafe: whether a spreadsheet may take the cell as it is.
    static func csv(_ text: String, isSafe: Bool = true) -> String {
        let text = isSafe ? text : marked(text)
        let needsQuotes = text.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
        guard needsQuotes || text.utf8.first == 0x20 || text.utf8.last == 0x20 else { return text }
        let inner = text.utf8.contains(0x22) ? text.replacing("\"", with: "\"\"") : text
        return "\"" + inner + "\""
    }

    /// Returns a cell of tab-separated values: tabs, line breaks and backslashes are escaped.
    static func tsv(_ text: String, isSafe: Bool = true) -> String {
        let text = isSafe ? text : marked(text)
        guard text.utf8.contains(where: { $0 == 0x09 || $0 == 0x0A || $0 == 0x0D || $0 == 0x5C }) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\t": result.append(contentsOf: "\\t".unicodeScalars)
            case "\n": result.append(contentsOf: "\\n".unicodeScalars)
            case "\r": result.append(contentsOf: "\\r".unicodeScalars)
            case "\\": result.append(contentsOf: "\\\\".unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// Returns a cell of a Markdown table: without line breaks, markup and HTML.
    static func markdown(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result.append(contentsOf: "<br>".unicodeScalars)
            case "\t": result.append(" ")
            case "\r": break
            case "|", "\\", "`", "*", "_", "[", "]": result.append(contentsOf: ["\\", scalar])
            case "<": result.append(contentsOf: "&lt;".unicodeScalars)
            case "&": result.append(contentsOf: "&amp;".unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// Marks a text that a spreadsheet would run as a formula with an apostrophe.
    ///
    /// The first characters are those that OWASP's page "CSV Injection" names.
    private static func marked(_ text: String) -> String {
        switch text.unicodeScalars.first {
        case "="?, "+"?, "-"?, "@"?, "\t"?, "\r"?, "\n"?, "\u{FF1D}"?, "\u{FF0B}"?, "\u{FF0D}"?, "\u{FF20}"?: "'" + text
        default: text
        }
    }
}
