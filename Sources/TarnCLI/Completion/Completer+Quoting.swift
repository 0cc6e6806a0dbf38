// Completions as bash inserts them: as they are, into a line that it then parses.

extension Completer {
    /// Returns a word as bash reads it back.
    ///
    /// A table of a file from elsewhere may have the name of a command: `$(…)`, `;…`.
    ///
    /// - Parameter quote: the quote that is open at the cursor; nil if none is.
    /// - Returns: nil for a word that needs an escape inside of the open quote.
    static func quoted(_ word: String, in quote: Character?) -> String? {
        var result = ""
        for scalar in word.unicodeScalars {
            if !isPlain(scalar) {
                guard quote == nil else { return nil }
                result += "\\"
            }
            result.unicodeScalars.append(scalar)
        }
        return result
    }

    /// Whether no shell gives a character a meaning inside of a word.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: scalar.value >= 0x80 || "_-./:=@%+,".unicodeScalars.contains(scalar)
        }
    }

    /// Returns the quote that is open at the end of a word (POSIX, Shell Command Language §2.2);
    /// nil if none is.
    static func openQuote(of word: String) -> Character? {
        var quote: Character?, rest = word[...]
        while let character = rest.popFirst() {
            if let open = quote, character == open {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
            } else if character == "\\", quote != "'" {
                rest = rest.dropFirst()
            }
        }
        return quote
    }
}
