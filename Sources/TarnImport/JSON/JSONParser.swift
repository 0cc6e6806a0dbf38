// A JSON parser: simdjson, with an exact parser that decides about the documents simdjson rejects.

import CSimdJSON
internal import TarnStore

/// A parser of documents, one after the other, into reused buffers. For one thread at a time.
///
/// simdjson reads raw memory with padding behind it. `count` bounds the document in it.
final class JSONParser {
    /// The maximum nesting of objects and lists.
    static let maximumDepth = 1024

    private let parser: OpaquePointer
    private let depth: Int
    /// The copy of a document that cannot be read in place.
    private var padded: UnsafeMutableRawPointer
    private var capacity: Int
    /// The document: in `padded` or in `kept`.
    private(set) var source: UnsafeRawPointer
    private(set) var count = 0
    private var kept: [UInt8] = []
    private(set) var structurals = UnsafeBufferPointer<UInt32>(start: nil, count: 0)
    private var numberTexts: NumberTexts?
    private var exact = ExactParser()
    /// The number of documents that the exact parser read.
    private(set) var exactReadings = 0
    /// The number of documents whose tokens were found without a tape.
    private(set) var indexings = 0
    /// Whether simdjson is skipped, to compare the two parsers.
    private let isExact: Bool
    /// The origin of the document in the whole response, for the paths of diagnostics.
    ///
    /// A part of a split list begins at an element of that list.
    var origin = Origin()

    /// The path of a document's value, and the position of its first element.
    struct Origin {
        var path = "$"
        var firstElement = 0
    }

    /// Creates a parser.
    ///
    /// - Parameter depth: The maximum nesting.
    init(isExact: Bool = false, depth: Int = JSONParser.maximumDepth) throws(ImportError) {
        guard let parser = tarn_json_parser_new(depth) else { throw .outOfMemory }
        self.parser = parser
        self.depth = depth
        self.isExact = isExact
        capacity = 1 << 16
        padded = .allocate(byteCount: capacity + tarn_json_padding(), alignment: 64)
        source = UnsafeRawPointer(padded)
    }

    deinit {
        tarn_json_parser_free(parser)
        padded.deallocate()
    }

    /// Parses a copy of a document. The tape is valid until the next call.
    ///
    /// A byte order mark is not part of the document (RFC 8259 §8.1).
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

    /// Parses a body in place and keeps it until the next call.
    ///
    /// This requires as much spare capacity after the elements as simdjson reads beyond a document.
    /// Otherwise, the body is copied.
    func parse(keeping body: [UInt8]) throws(ImportError) -> Tape {
        let (mark, base) = body.withUnsafeBytes { (JSONParser.markLength($0), $0.baseAddress) }
        guard let base, body.capacity - body.count >= tarn_json_padding() else {
            let result: Result<Tape, ImportError> = body.withUnsafeBytes { bytes in
                do throws(ImportError) { return .success(try parse(bytes)) } catch { return .failure(error) }
            }
            return try result.get()
        }
        // The elements stay in place: a mutation of the array elsewhere copies them first.
        kept = body
        return try parse(base + mark, body.count - mark, behind: mark)
    }

    /// Finds the tokens of a body, without a tape. Keeps the body until the next call.
    ///
    /// - Returns: false if simdjson refuses it, or if it cannot be read in place.
    func index(keeping body: [UInt8]) -> Bool {
        let (mark, base) = body.withUnsafeBytes { (JSONParser.markLength($0), $0.baseAddress) }
        guard let base, !isExact, body.count > mark, body.count < Int(UInt32.max) else { return false }
        kept = body
        indexings += 1
        (source, count) = (base + mark, body.count - mark)
        numberTexts = nil
        // The first stage reads nothing beyond the text.
        let document = tarn_json_index(parser, source.assumingMemoryBound(to: UInt8.self), count)
        let isRead = document.error == 0
        structurals = UnsafeBufferPointer(
            start: isRead ? document.structurals : nil, count: isRead ? document.structural_count : 0)
        return isRead
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
                reason: error.reason, offset: error.offset + mark,
                path: JSONLocation.path(
                    to: error.offset, in: Bytes(start: source, count: count), from: origin.path,
                    firstElement: origin.firstElement),
                beginning: JSONParser.sample(Bytes(start: source, count: count)))
        }
    }

    private func parseFast() -> Tape? {
        let document = tarn_json_parse(parser, source.assumingMemoryBound(to: UInt8.self), count)
        guard document.error == 0, let words = document.tape, let strings = document.strings else { return nil }
        structurals = UnsafeBufferPointer(start: document.structurals, count: document.structural_count)
        return Tape(
            words: UnsafeBufferPointer(start: words, count: document.tape_count), strings: UnsafeRawPointer(strings),
            parser: self)
    }

    private func parseExactly() throws(JSONProblem) -> Tape {
        exactReadings += 1
        try exact.parse(Bytes(start: source, count: count), maximumDepth: depth)
        numberTexts = exact.numberTexts
        let words = exact.tapeWords, strings = exact.tapeStrings
        return Tape(words: words, strings: strings.baseAddress ?? source, parser: self)
    }

    /// The spare capacity with which a body is parsed in place.
    static var padding: Int { tarn_json_padding() }

    static func markLength(_ body: Bytes) -> Int { body.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }

    /// Returns the text of a number of which the tape has only the double.
    ///
    /// The first call for a document scans its whole tape and list of tokens.
    func numberText(_ index: Int, _ tape: Tape) -> Bytes? {
        let texts = numberTexts ?? NumberTexts(tape, structurals)
        numberTexts = texts
        guard let start = texts.offset(of: index), start < count else { return nil }
        var end = start
        let text = Bytes(start: source, count: count)
        while end < count, NumberTexts.isPartOfNumber(text[end]) { end += 1 }
        return text.slice(start..<end)
    }

    /// Returns the first characters of a body, for errors about responses that are not JSON.
    private static func sample(_ bytes: Bytes) -> String {
        // Bytes: Swift counts CR LF as one character.
        let line = bytes.prefix(48).filter { $0 != UInt8(ascii: "\r") }.map { $0 == UInt8(ascii: "\n") ? 0x20 : $0 }
        let text = String(decoding: line, as: UTF8.self)
        return bytes.count > 48 ? text + "…" : text
    }
}
