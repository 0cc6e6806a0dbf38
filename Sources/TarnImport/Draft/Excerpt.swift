// Repeated nested objects (the same author in every issue) are recognized by their JSON and not
// drafted again.
//
// The tape words and the strings of an object without nested ones are contiguous: a comparison
// costs a fraction of reading the object key by key. This type decides equality only; the drafter
// decides the consequences.

internal import TarnStore

/// The JSON of an object, kept in a writer's bytes: its words on the tape, then its strings.
struct Excerpt {
    private var start: Int
    private var wordCount: Int
    private var stringLength: Int

    /// Keeps the JSON of an object; nil if it is empty or contains an object, an array or a double.
    ///
    /// The text of a double may be more exact than the tape, which matters for decimals and JSON.
    init?(_ tape: Tape, _ object: Int, into writer: inout ByteWriter) {
        let end = tape.end(object)
        guard object + 1 < end else { return nil }
        var index = object + 1, last = index
        while index < end {
            switch tape.kind(index) {
            case .object, .array, .double, nil: return nil
            case .string: last = index
            default: break
            }
            index = tape.next(index)
        }
        start = writer.count
        wordCount = end - object - 1
        writer.append(Bytes(UnsafeBufferPointer(rebasing: tape.words[object + 1..<end])))
        let strings = tape.strings(from: object + 1, through: last)
        stringLength = strings.count
        writer.append(strings)
    }

    /// Returns whether an object has the same JSON, except for white space and escapes.
    func matches(_ tape: Tape, _ object: Int, in bytes: Bytes) -> Bool {
        let end = tape.end(object)
        guard end - object - 1 == wordCount else { return false }
        // Both objects have as many words: none of the loads is beyond them.
        // The words of strings are offsets: they are compared relative to the object's first key.
        let words = bytes.slice(start..<start + wordCount * 8)
        let shift = tape.words[object + 1] &- words.uncheckedLoad(0, UInt64.self)
        var index = object + 1, last = index
        while index < end {
            let known = words.uncheckedLoad((index - object - 1) * 8, UInt64.self)
            switch tape.kind(index) {
            case .string:
                guard tape.words[index] == known &+ shift else { return false }
                last = index
            case .int, .uint:
                guard tape.words[index] == known,
                    tape.words[index + 1] == words.uncheckedLoad((index - object) * 8, UInt64.self)
                else { return false }
            case .double: return false
            default:
                guard tape.words[index] == known else { return false }
            }
            index = tape.next(index)
        }
        let stringStart = start + wordCount * 8
        return Bytes.equal(
            tape.strings(from: object + 1, through: last), bytes.slice(stringStart..<stringStart + stringLength))
    }
}
