/// A line that is being typed, with a cursor.
struct EditedLine {
    private(set) var characters: [Character] = []
    /// The number of characters before the cursor.
    private(set) var cursor = 0

    init(_ text: String = "") {
        characters = Array(text)
        cursor = characters.count
    }

    var text: String { String(characters) }
    var textBeforeCursor: String { String(characters[..<cursor]) }
    var isEmpty: Bool { characters.isEmpty }

    /// Inserts a text; a mark joins the character before it.
    mutating func insert(_ text: String) {
        // Only what is before the cursor can grow, and a long line is not copied for each key.
        let start = max(0, cursor - 1), joined = Array(String(characters[start..<cursor]) + text)
        characters.replaceSubrange(start..<cursor, with: joined)
        cursor = start + joined.count
    }

    /// Replaces the characters between an offset and the cursor.
    mutating func replace(from start: Int, with text: String) {
        characters.removeSubrange(min(start, cursor)..<cursor)
        cursor = min(start, cursor)
        insert(text)
    }

    mutating func move(by step: Int) { cursor = min(max(0, cursor + step), characters.count) }
    mutating func moveToStart() { cursor = 0 }
    mutating func moveToEnd() { cursor = characters.count }
    mutating func moveByWord(forward: Bool) { cursor = forward ? endOfWord : startOfWord }

    mutating func deleteBackward() {
        guard cursor > 0 else { return }
        cursor -= 1
        characters.remove(at: cursor)
    }

    mutating func deleteForward() { if cursor < characters.count { characters.remove(at: cursor) } }
    mutating func deleteToEnd() { characters.removeSubrange(cursor...) }

    mutating func deleteToStart() {
        characters.removeSubrange(..<cursor)
        cursor = 0
    }

    mutating func deleteWord() {
        let start = startOfWord
        characters.removeSubrange(start..<cursor)
        cursor = start
    }

    private var startOfWord: Int {
        var index = cursor
        while index > 0, characters[index - 1].isWhitespace { index -= 1 }
        while index > 0, !characters[index - 1].isWhitespace { index -= 1 }
        return index
    }

    private var endOfWord: Int {
        var index = cursor
        while index < characters.count, characters[index].isWhitespace { index += 1 }
        while index < characters.count, !characters[index].isWhitespace { index += 1 }
        return index
    }
}
