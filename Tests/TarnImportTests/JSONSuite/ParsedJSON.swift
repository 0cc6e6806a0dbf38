// The result of a parser, in a form for comparing two parsers.

@testable import TarnImport

/// The tape of a document, copied; or where and why it was refused.
enum ParsedJSON: Equatable {
    /// Words and strings are equal for equal documents: both parsers write them in the order of the
    /// document.
    case taken(words: [UInt64], strings: [[UInt8]], numbers: [[UInt8]])
    case refused(offset: Int, reason: String)

    init(_ document: some Collection<UInt8>, _ parser: JSONParser) {
        self = Array(document).withUnsafeBytes { bytes in
            ParsedJSON { () throws(ImportError) in try parser.parse(bytes) }
        }
    }

    /// Read in place, before bytes that would continue the number: the former content of the array.
    init(standing document: [UInt8], _ parser: JSONParser) {
        var body = document
        let rest = Array(repeating: document.last ?? UInt8(ascii: "1"), count: 100)
        body.append(contentsOf: rest)
        body.removeLast(rest.count)
        self.init { () throws(ImportError) in try parser.parse(keeping: body) }
    }

    private init(_ parse: () throws(ImportError) -> Tape) {
        do throws(ImportError) {
            let tape = try parse()
            var strings: [[UInt8]] = [], numbers: [[UInt8]] = []
            var index = Tape.root
            while index < tape.words.count - 1 {
                switch tape.kind(index) {
                case .string: strings.append(Array(tape.string(index)))
                case .double: numbers.append(tape.numberText(index).map { Array($0) } ?? [])
                default: break
                }
                switch tape.kind(index) {
                case .object, .array: index += 1
                default: index = tape.next(index)
                }
            }
            self = .taken(words: Array(tape.words), strings: strings, numbers: numbers)
        } catch {
            guard case .invalidJSON(let reason, let offset, _, _) = error else {
                self = .refused(offset: -1, reason: "\(error)")
                return
            }
            self = .refused(offset: offset, reason: reason)
        }
    }

    /// Whether simdjson refuses it by design: a number beyond 64 bits without a fraction or an
    /// exponent, a number beyond a double, or content at the deepest allowed level.
    var isBeyondSimdjson: Bool {
        guard case .taken(let words, _, let numbers) = self else { return false }
        let whole = numbers.contains { $0.allSatisfy { $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") } }
        return whole || words.contains { Double(bitPattern: $0).isInfinite } || depth(words) == JSONParser.maximumDepth
    }

    private func depth(_ words: [UInt64]) -> Int {
        var depth = 0, deepest = 0, index = Tape.root
        while index < words.count - 1 {
            switch UInt8(truncatingIfNeeded: words[index] >> 56) {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "l"), UInt8(ascii: "u"), UInt8(ascii: "d"): index += 1
            default: break
            }
            deepest = max(deepest, depth)
            index += 1
        }
        return deepest
    }
}
