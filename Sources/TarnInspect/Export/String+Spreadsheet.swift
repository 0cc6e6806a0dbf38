// Texts in files that spreadsheets open.

extension String {
    /// The text with an apostrophe before it if a spreadsheet would run it as a formula.
    ///
    /// The first characters are those that OWASP's page "CSV Injection" names.
    package var markedForSpreadsheets: String {
        switch unicodeScalars.first {
        case "="?, "+"?, "-"?, "@"?, "\t"?, "\r"?, "\n"?, "\u{FF1D}"?, "\u{FF0B}"?, "\u{FF0D}"?, "\u{FF20}"?: "'" + self
        default: self
        }
    }

    /// Whether the text is a number, which a spreadsheet takes for one: a sign begins no formula.
    package var isSpreadsheetNumber: Bool {
        utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || "-+.eE".utf8.contains($0) } && Double(self) != nil
    }
}
