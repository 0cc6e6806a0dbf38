// A JSON document as simdjson's tape: parsed once, walked in place. Documents that simdjson refuses get a second reading, which
// decides.

internal import TarnStore
import CSimdJSON

/// Parses documents, one after the other, into buffers that it keeps. For one thread at a time.
final class JSONParser {
    /// Objects and lists in each other.
    static let maximumDepth = 1024

    private let parser: OpaquePointer
    /// Where a document is copied to that cannot be read where it stands.
    private var padded: UnsafeMutableRawPointer
    private var capacity: Int
    /// The document: in `padded`, or in the array that is kept for that.
    private var source: UnsafeRawPointer
    private var count = 0
    private var kept: [UInt8] = []
    private var structurals = UnsafeBufferPointer<UInt32>(start: nil, count: 0)
    private var numberTexts: NumberTexts?
    private var exact = ExactParser()
    /// How many documents simdjson did not take.
    private(set) var exactReadings = 0
    /// Leaves simdjson out, to compare the two.
    private let isExact: Bool
    /// Where the document stands in the whole response, for paths in diagnostics: a part of a list begins at an element of it.
    var origin = Origin()

    struct Origin {
        var path = "$"
        var firstElement = 0
    }

    init(isExact: Bool = false) throws(ImportError) {
        guard let parser = tarn_json_parser_new(JSONParser.maximumDepth) else { throw .outOfMemory }
        self.parser = parser
        self.isExact = isExact
        capacity = 1 << 16
        padded = .allocate(byteCount: capacity + tarn_json_padding(), alignment: 64)
        source = UnsafeRawPointer(padded)
    }

    deinit {
        tarn_json_parser_free(parser)
        padded.deallocate()
    }

    /// The tape is valid until the next call. A byte order mark is not part of the document (RFC 8259 §8.1).
    ///
    /// - Throws: `.invalidJSON` with the offset of the first wrong byte.
    func parse(_ body: Bytes) throws(ImportError) -> Tape {
        let mark = JSONParser.markLength(body)
        let bytes = Bytes(rebasing: body[mark...])
        if bytes.count > capacity {
            padded.deallocate()
            capacity = bytes.count
            padded = .allocate(byteCount: capacity + tarn_json_padding(), alignment: 64)
        }
        if let base = bytes.baseAddress { padded.copyMemory(from: base, byteCount: bytes.count) }
        (padded + bytes.count).initializeMemory(as: UInt8.self, repeating: 0, count: tarn_json_padding())
        kept = []
        return try parse(UnsafeRawPointer(padded), bytes.count, behind: mark)
    }

    /// The same for a body that a transport has filled: it is read where it stands, and kept until the next call, if the array has as much
    /// memory behind its elements as simdjson reads there.
    func parse(keeping body: [UInt8]) throws(ImportError) -> Tape {
        let (mark, base) = body.withUnsafeBytes { (JSONParser.markLength($0), $0.baseAddress) }
        guard let base, body.capacity - body.count >= tarn_json_padding() else {
            let result: Result<Tape, ImportError> = body.withUnsafeBytes { bytes in
                do throws(ImportError) { return .success(try parse(bytes)) } catch { return .failure(error) }
            }
            return try result.get()
        }
        // The elements stay where they are: whoever changes the array elsewhere gets a copy.
        kept = body
        return try parse(base + mark, body.count - mark, behind: mark)
    }

    private func parse(_ start: UnsafeRawPointer, _ length: Int, behind mark: Int) throws(ImportError) -> Tape {
        (source, count) = (start, length)
        numberTexts = nil
        if !isExact, let tape = parseFast() { return tape }
        structurals = UnsafeBufferPointer(start: nil, count: 0)
        do throws(JSONProblem) {
            return try parseExactly()
        } catch {
            throw .invalidJSON(
                reason: error.reason, offset: error.offset + mark, beginning: JSONParser.sample(Bytes(start: source, count: count)))
        }
    }

    private func parseFast() -> Tape? {
        let document = tarn_json_parse(parser, source.assumingMemoryBound(to: UInt8.self), count)
        guard document.error == 0, let words = document.tape, let strings = document.strings else { return nil }
        structurals = UnsafeBufferPointer(start: document.structurals, count: document.structural_count)
        return Tape(
            words: UnsafeBufferPointer(start: words, count: document.tape_count), strings: UnsafeRawPointer(strings), parser: self)
    }

    private func parseExactly() throws(JSONProblem) -> Tape {
        exactReadings += 1
        try exact.parse(Bytes(start: source, count: count), maximumDepth: JSONParser.maximumDepth)
        numberTexts = exact.numberTexts
        let words = exact.tapeWords, strings = exact.tapeStrings
        return Tape(words: words, strings: strings.baseAddress ?? source, parser: self)
    }

    static func markLength(_ body: Bytes) -> Int { body.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }

    /// The text of the number at a place of the tape, which holds only its value as a double.
    ///
    /// The first call for a document walks its whole tape beside the list of tokens.
    fileprivate func numberText(_ index: Int, _ tape: Tape) -> Bytes? {
        let texts = numberTexts ?? NumberTexts(tape, structurals)
        numberTexts = texts
        guard let start = texts.offset(of: index), start < count else { return nil }
        var end = start
        let text = Bytes(start: source, count: count)
        while end < count, NumberTexts.isPartOfNumber(text[end]) { end += 1 }
        return text.slice(start..<end)
    }

    /// The first characters of a body, so that an error shows what came instead of JSON.
    private static func sample(_ bytes: Bytes) -> String {
        let text = String(decoding: bytes.prefix(48), as: UTF8.self).replacing("\n", with: " ").replacing("\r", with: "")
        return bytes.count > 48 ? text + "…" : text
    }
}

/// simdjson's tape: 64-bit words, a type in the top 8 bits and a payload in the rest (its `doc/tape.md`). Valid as long as its
/// parser keeps the document.
struct Tape {
    let words: UnsafeBufferPointer<UInt64>
    let strings: UnsafeRawPointer
    /// Keeps the document; whoever uses the tape keeps the parser.
    unowned(unsafe) let parser: JSONParser

    enum Kind: UInt8 {
        case object = 0x7B, array = 0x5B, string = 0x22, int = 0x6C, uint = 0x75, double = 0x64
        case `true` = 0x74, `false` = 0x66, null = 0x6E
    }

    /// Where the document's value stands.
    static let root = 1

    @inline(__always)
    func kind(_ index: Int) -> Kind? { Kind(rawValue: UInt8(truncatingIfNeeded: words[index] >> 56)) }

    @inline(__always)
    private func payload(_ index: Int) -> UInt64 { words[index] & 0x00FF_FFFF_FFFF_FFFF }

    /// The index behind a value.
    @inline(__always)
    func next(_ index: Int) -> Int {
        switch words[index] >> 56 {
        case 0x7B, 0x5B: Int(payload(index) & 0xFFFF_FFFF)
        case 0x6C, 0x75, 0x64: index + 2
        default: index + 1
        }
    }

    /// The index of the closing word of an object or array.
    @inline(__always)
    func end(_ index: Int) -> Int { Int(payload(index) & 0xFFFF_FFFF) - 1 }

    /// Whether nothing is in an object or array.
    func isEmpty(_ index: Int) -> Bool { end(index) == index + 1 }

    /// The text of a string (or key), UTF-8, unescaped.
    @inline(__always)
    func string(_ index: Int) -> Bytes {
        let start = strings + Int(payload(index))
        return Bytes(start: start + 4, count: Int(start.loadUnaligned(as: UInt32.self)))
    }

    /// The bytes of all strings from one to another, with the length that stands before each: simdjson writes them side by
    /// side, in the order of the document.
    func strings(from first: Int, through last: Int) -> Bytes {
        let start = Int(payload(first)), lastText = string(last)
        return Bytes(start: strings + start, count: Int(payload(last)) + 4 + lastText.count - start)
    }

    @inline(__always)
    func int(_ index: Int) -> Int64 { Int64(bitPattern: words[index + 1]) }

    @inline(__always)
    func uint(_ index: Int) -> UInt64 { words[index + 1] }

    @inline(__always)
    func double(_ index: Int) -> Double { Double(bitPattern: words[index + 1]) }

    /// The text of a number that is a double on the tape, as it was written.
    func numberText(_ index: Int) -> Bytes? { parser.numberText(index, self) }

    /// Calls the closure with the index of every element of an array.
    @inline(__always)
    func forEachElement<Failure: Error>(_ index: Int, _ body: (Int) throws(Failure) -> Void) throws(Failure) {
        let end = end(index)
        var i = index + 1
        while i < end {
            try body(i)
            i = next(i)
        }
    }

    /// The value of a key of an object; the last one if the key occurs several times.
    func value(of key: String, in object: Int) -> Int? {
        var found: Int?, i = object + 1
        let end = end(object)
        var key = key
        key.withUTF8 { key in
            while i < end {
                if Bytes.equal(string(i), Bytes(key)) { found = i + 1 }
                i = next(i + 1)
            }
        }
        return found
    }

    /// `$[3].user.id`: how a place is reached from the root. Walks the document, so only for diagnostics.
    func path(to target: Int) -> String { path(to: target, from: Tape.root, parser.origin.path, parser.origin.firstElement) }

    /// The same from a place on the way, whose own path is known.
    func path(to target: Int, from start: Int, _ prefix: String, _ firstElement: Int = 0) -> String {
        var path = ByteWriter()
        path.append(prefix)
        appendPath(to: target, from: start, firstElement, into: &path)
        return String(decoding: path.bytes, as: UTF8.self)
    }

    /// Appends how a place is reached from another one on the way.
    func appendPath(to target: Int, from start: Int, _ firstElement: Int = 0, into path: inout ByteWriter) {
        var index = start, first = firstElement
        while index < target {
            let from = index
            switch kind(index) {
            case .object:
                var i = index + 1
                while i < end(from), index == from {
                    let value = i + 1
                    if value <= target, target < next(value) {
                        Tape.appendStep(string(i), to: &path)
                        index = value
                    }
                    i = next(value)
                }
            case .array:
                var i = index + 1, position = first
                while i < end(from), index == from {
                    if i <= target, target < next(i) {
                        path.append("[\(position)]")
                        index = i
                    }
                    i = next(i)
                    position += 1
                }
            default: return
            }
            if index == from { return }
            first = 0
        }
    }

    /// A key as a part of a path.
    static func step(_ key: String) -> String {
        var path = ByteWriter(), key = key
        key.withUTF8 { appendStep(Bytes($0), to: &path) }
        return String(decoding: path.bytes, as: UTF8.self)
    }

    private static func appendStep(_ key: Bytes, to path: inout ByteWriter) {
        path.append(UInt8(ascii: "."))
        // A key may be as long as the document.
        let isCut = key.count > 200, key = isCut ? Bytes(rebasing: key.prefix(200)) : key
        let isQuoted = key.contains(UInt8(ascii: "."))
        if isQuoted { path.append(UInt8(ascii: "'")) }
        path.append(key)
        if isCut { path.append("…") }
        if isQuoted { path.append(UInt8(ascii: "'")) }
    }

    /// Appends a value as compact JSON text.
    func appendText(_ index: Int, to writer: inout ByteWriter) {
        switch kind(index) {
        case .object:
            writer.append(UInt8(ascii: "{"))
            var i = index + 1
            while i < end(index) {
                if i > index + 1 { writer.append(UInt8(ascii: ",")) }
                appendText(i, to: &writer)
                writer.append(UInt8(ascii: ":"))
                appendText(i + 1, to: &writer)
                i = next(i + 1)
            }
            writer.append(UInt8(ascii: "}"))
        case .array:
            writer.append(UInt8(ascii: "["))
            var first = true
            forEachElement(index) { element in
                if !first { writer.append(UInt8(ascii: ",")) }
                first = false
                appendText(element, to: &writer)
            }
            writer.append(UInt8(ascii: "]"))
        case .string:
            var text = ""
            text.appendJSONString(String(decoding: string(index), as: UTF8.self))
            writer.append(text)
        case .int: writer.append(String(int(index)))
        case .uint: writer.append(String(uint(index)))
        case .double:
            // As it was written: a double may have fewer digits.
            if let text = numberText(index) { writer.append(text) } else { writer.append("\(double(index))") }
        case .true: writer.append("true")
        case .false: writer.append("false")
        case .null, nil: writer.append("null")
        }
    }
}
