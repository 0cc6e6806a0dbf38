/// The words of a line, split as a POSIX shell splits them: quotes and backslashes, no expansion.
struct ShellWords {
    /// The words, without quotes.
    private(set) var words: [String] = []
    /// The offset of the last word in the line, in characters; the end of the line behind a blank.
    private(set) var lastStart = 0
    /// Whether the line ends inside of a quotation, or behind a backslash.
    private(set) var isOpen = false
    /// Whether a blank or nothing is before the end of the line.
    private(set) var endsWithBlank = true

    init(_ line: String) {
        var word = "", isWord = false, quote: Character?, isEscaped = false, start = 0, count = 0
        for (offset, character) in line.enumerated() {
            count = offset + 1
            if !isWord { start = offset }
            if isEscaped {
                // Inside of quotes, a backslash escapes only a quote and itself.
                if let quote, character != quote, character != "\\" { word.append("\\") }
                word.append(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                (isEscaped, isWord) = (true, true)
            } else if let open = quote {
                if character == open { quote = nil } else { word.append(character) }
            } else if character == "'" || character == "\"" {
                (quote, isWord) = (character, true)
            } else if character == " " || character == "\t" {
                if isWord { words.append(word) }
                (word, isWord) = ("", false)
            } else {
                word.append(character)
                isWord = true
            }
        }
        if isWord { words.append(word) }
        isOpen = quote != nil || isEscaped
        endsWithBlank = !isWord
        lastStart = isWord ? start : count
    }

    /// Returns a word as it is written in a line.
    static func quoted(_ word: String) -> String {
        let isPlain = word.unicodeScalars.allSatisfy { $0.value > 0x20 && !"'\"\\#".unicodeScalars.contains($0) }
        return isPlain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
}
