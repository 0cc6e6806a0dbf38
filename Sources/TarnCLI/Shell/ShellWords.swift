/// The words of a line, split as a POSIX shell splits them: quotes and backslashes, no expansion.
struct ShellWords {
    /// The words, without quotes.
    private(set) var words: [String] = []
    /// The offset of the last word in the line, in characters; the end of the line behind a blank.
    private(set) var lastStart = 0
    /// Whether the line ends inside of a quotation, or behind a backslash.
    private(set) var isOpen = false
    /// The quote that is open at the end of the line; nil for none.
    private(set) var openQuote: Unicode.Scalar?
    /// Whether a blank or nothing is before the end of the line.
    private(set) var endsWithBlank = true

    init(_ line: String) {
        var word = "", isWord = false, quote: Unicode.Scalar?, isEscaped = false
        let scalars = line.unicodeScalars
        var start = scalars.startIndex
        // Not over characters: a combining mark behind a quote is one character with it.
        for index in scalars.indices {
            let scalar = scalars[index]
            if !isWord { start = index }
            if isEscaped {
                // Inside of quotes, a backslash escapes only a quote and itself.
                if let quote, scalar != quote, scalar != "\\" { word.unicodeScalars.append("\\") }
                word.unicodeScalars.append(scalar)
                isEscaped = false
            } else if scalar == "\\", quote != "'" {
                (isEscaped, isWord) = (true, true)
            } else if let open = quote {
                if scalar == open { quote = nil } else { word.unicodeScalars.append(scalar) }
            } else if scalar == "'" || scalar == "\"" {
                (quote, isWord) = (scalar, true)
            } else if scalar == " " || scalar == "\t" {
                if isWord { words.append(word) }
                (word, isWord) = ("", false)
            } else {
                word.unicodeScalars.append(scalar)
                isWord = true
            }
        }
        if isWord { words.append(word) }
        isOpen = quote != nil || isEscaped
        openQuote = quote
        endsWithBlank = !isWord
        lastStart = isWord ? line.distance(from: line.startIndex, to: start) : line.count
    }

    /// Returns a word as it is written in a line.
    static func quoted(_ word: String) -> String {
        let isPlain = word.unicodeScalars.allSatisfy { $0.value > 0x20 && !"'\"\\#".unicodeScalars.contains($0) }
        return isPlain ? word : opened(word, "'") + "'"
    }

    /// Returns a completed word in the quotation that the user has begun.
    ///
    /// - Parameter isWhole: whether the word has its end: otherwise its quotation stays open.
    static func completed(_ word: String, _ quote: Unicode.Scalar?, isWhole: Bool) -> String {
        guard let quote else { return quoted(word) + (isWhole ? " " : "") }
        return opened(word, quote) + (isWhole ? String(quote) + " " : "")
    }

    /// Returns a word behind a quote that stays open.
    static func opened(_ word: String, _ quote: Unicode.Scalar) -> String {
        var text = String(quote)
        for scalar in word.unicodeScalars {
            if quote == "'", scalar == quote {
                text += "'\\''"
            } else {
                if quote != "'", scalar == quote || scalar == "\\" { text += "\\" }
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
