// The path to a byte of a text, for errors: the text need not be a document.

internal import TarnStore

/// The location of a byte in JSON that is valid up to it.
enum JSONLocation {
    /// An object or a list that contains the byte.
    private struct Level {
        var isObject: Bool
        /// The key of the current value of an object; nil before it.
        var key: Range<Int>?
        /// The position of the current element of a list.
        var element = 0
    }

    /// The maximum number of steps in a path; inner ones are left out.
    private static let longest = 32

    /// Returns the path of the innermost value that a byte belongs to.
    ///
    /// - Parameters:
    ///   - offset: the byte; text after it is not read.
    ///   - root: the path of the whole text.
    ///   - first: the position of the first element, if the text is part of a list.
    /// - Complexity: linear in the offset.
    static func path(to offset: Int, in text: Bytes, from root: String, firstElement first: Int) -> String {
        let end = min(offset, text.count)
        var levels: [Level] = [], position = 0
        while position < end {
            switch text[position] {
            case UInt8(ascii: "{"): levels.append(Level(isObject: true))
            case UInt8(ascii: "["): levels.append(Level(isObject: false, element: levels.isEmpty ? first : 0))
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = levels.popLast()
            case UInt8(ascii: ","):
                guard let last = levels.indices.last else { break }
                levels[last].key = nil
                levels[last].element += 1
            case UInt8(ascii: "\""):
                let start = position + 1
                position = endOfText(from: start, in: text, before: end)
                guard position < end, let last = levels.indices.last, levels[last].isObject, levels[last].key == nil
                else { break }
                levels[last].key = start..<position
            default: break
            }
            position += 1
        }
        var path = root
        for level in levels.prefix(longest) {
            if !level.isObject {
                path += "[\(level.element)]"
            } else if let key = level.key {
                path += Tape.step(String(decoding: text[key], as: UTF8.self))
            }
        }
        return levels.count > longest ? path + "…" : path
    }

    /// Returns the position of the quotation mark that ends a text, or `end`.
    private static func endOfText(from start: Int, in text: Bytes, before end: Int) -> Int {
        var position = start
        while position < end, text[position] != UInt8(ascii: "\"") {
            position += text[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(position, end)
    }
}
