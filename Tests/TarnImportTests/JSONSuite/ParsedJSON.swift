// What a parser makes of a document, in a form that two parsers can be compared by.

@testable import TarnImport

/// The tape of a document, copied; or where and why it was refused.
enum ParsedJSON: Equatable {
    /// Words and strings are equal for equal documents: both parsers write them in the order of the document.
    case taken(words: [UInt64], strings: [[UInt8]], numbers: [[UInt8]])
    case refused(offset: Int, reason: String)

    init(_ document: some Collection<UInt8>, _ parser: JSONParser) {
        self = Array(document).withUnsafeBytes { bytes in
            do throws(ImportError) {
                let tape = try parser.parse(bytes)
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
                return .taken(words: Array(tape.words), strings: strings, numbers: numbers)
            } catch {
                guard case .invalidJSON(let reason, let offset, _) = error else { return .refused(offset: -1, reason: "\(error)") }
                return .refused(offset: offset, reason: reason)
            }
        }
    }

    /// Whether there is a number on the tape that simdjson refuses by design: beyond 64 bits and without a fraction or an
    /// exponent, or beyond a double.
    var hasNumberBeyond: Bool {
        guard case .taken(let words, _, let numbers) = self else { return false }
        let whole = numbers.contains { $0.allSatisfy { $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") } }
        return whole || words.contains { Double(bitPattern: $0).isInfinite }
    }
}
