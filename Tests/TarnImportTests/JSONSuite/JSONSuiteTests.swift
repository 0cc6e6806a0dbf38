// Every document of the suite is taken with its exact value, or refused at the exact byte with the
// reason in words.

import TarnStore
import Testing

@testable import TarnImport

@Suite("JSON suite")
struct JSONSuiteTests {
    @Test("the suite has its cases, of all three kinds, each with a name of its own")
    func isThere() {
        let names = JSONCase.all.map(\.name)
        #expect(names.count >= 300 && Set(names).count == names.count)
        for kind in ["/y_", "/n_", "/i_"] { #expect(names.count { $0.contains(kind) } >= 30) }
    }

    @Test(
        "what is valid, or decided to be, is taken with every digit and character",
        arguments: JSONCase.all.filter { $0.refusal == nil })
    func taken(_ example: JSONCase) throws {
        for parser in [try JSONParser(), try JSONParser(isExact: true)] {
            #expect(try text(example.document, parser) == example.value)
        }
    }

    /// A document's value as compact text.
    private func text(_ document: [UInt8], _ parser: JSONParser) throws -> [UInt8] {
        try document.withUnsafeBytes { bytes in
            let tape = try parser.parse(bytes)
            var writer = ByteWriter()
            tape.appendText(Tape.root, to: &writer)
            return Array(writer.bytes)
        }
    }

    @Test(
        "what is invalid, or decided to be, is refused at its first wrong byte, with the reason",
        arguments: JSONCase.all.filter { $0.refusal != nil })
    func refused(_ example: JSONCase) throws {
        let refusal = try #require(example.refusal)
        for parser in [try JSONParser(), try JSONParser(isExact: true)] {
            let outcome = ParsedJSON(example.document, parser)
            guard case .refused(let offset, let reason) = outcome else {
                Issue.record("it was taken")
                continue
            }
            #expect(offset == refusal.offset)
            #expect(reason == JSONSuiteTests.reasons[refusal.reason])
        }
    }

    @Test("both parsers say the same of every document", arguments: JSONCase.all)
    func same(_ example: JSONCase) throws {
        #expect(
            ParsedJSON(example.document, try JSONParser())
                == ParsedJSON(example.document, try JSONParser(isExact: true)))
    }

    private static let reasons: [String: String] = {
        let kinds: [JSONProblem.Kind] = [
            .empty, .cut, .valueExpected, .keyExpected, .colonExpected, .commaOrEndOfList, .commaOrEndOfObject,
            .followed, .control,
            .escape, .hexadecimal, .surrogate, .notUTF8, .leadingZero, .digitExpected, .literal,
        ]
        var reasons: [String: String] = [:]
        for kind in kinds { reasons["\(kind)"] = JSONProblem(kind: kind, offset: 0).reason }
        reasons["tooDeep"] = JSONProblem(kind: .tooDeep(limit: JSONParser.maximumDepth), offset: 0).reason
        return reasons
    }()
}
