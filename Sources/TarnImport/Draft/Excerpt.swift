// Objects that are nested again and again (the same author in every issue) are recognised by their JSON, and then not
// drafted again.
//
// The tape's words and the strings of an object without nested ones lie side by side, so comparing them costs a fraction of
// reading the object key by key. Only equality is decided here; what it means is the drafter's business.

internal import TarnStore

/// The JSON of an object, kept in a writer's bytes: its words on the tape, then its strings.
struct Excerpt {
    private var start: Int
    private var wordCount: Int
    private var stringLength: Int

    /// Keeps the JSON of an object. Nil if it holds objects or arrays, or nothing at all, or a double: its text, which may say
    /// more than the tape, counts for decimals and JSON.
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

    /// Whether an object has the same JSON, but for white space and the spelling of escapes.
    func matches(_ tape: Tape, _ object: Int, in bytes: Bytes) -> Bool {
        let end = tape.end(object)
        guard end - object - 1 == wordCount else { return false }
        // The words of strings are their offsets: those from the object's first key are compared.
        let words = bytes.slice(start..<start + wordCount * 8)
        let shift = tape.words[object + 1] &- words.load(0, UInt64.self)
        var index = object + 1, last = index
        while index < end {
            let known = words.load((index - object - 1) * 8, UInt64.self)
            switch tape.kind(index) {
            case .string:
                guard tape.words[index] == known &+ shift else { return false }
                last = index
            case .int, .uint:
                guard tape.words[index] == known,
                    tape.words[index + 1] == words.load((index - object) * 8, UInt64.self)
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
