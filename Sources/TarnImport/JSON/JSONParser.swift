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
    func numberText(_ index: Int, _ tape: Tape) -> Bytes? {
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
