// The ranges of a list's elements in the text of a document.

import TestSupport
import Testing

@testable import TarnImport
@testable import TarnStore

@Suite("JSON: the text of a list's elements")
struct ElementRangesTests {
    private func texts(_ json: String, _ path: [String], indexOnly: Bool) throws -> [String]? {
        let parser = try JSONParser(), body = Array(json.utf8)
        if indexOnly {
            guard parser.index(keeping: body) else { return nil }
        } else {
            _ = try parser.parse(keeping: body)
        }
        return parser.elementRanges(at: path).map { ranges in
            ranges.elements.map { String(decoding: parser.text.slice($0), as: UTF8.self) }
        }
    }

    @Test("each element has its own text, wherever the list is")
    func found() throws {
        let elements = [#"{"a":"}],[{\"","b":[{},[]]}"#, "{}", #"{ "n" : -1.5e3 , "t" : true }"#]
        let list = "[ " + elements.joined(separator: " ,\n") + " ]"
        for (json, path) in [
            (list, []), (#"{"x":{"items":[1]},"items": \#(list)}"#, ["items"]),
            (#"{"data":{"items":\#(list),"n":null},"more":[{}]}"#, ["data", "items"]), ("\u{FEFF}" + list, []),
        ] {
            for indexOnly in [true, false] {
                #expect(try texts(json, path, indexOnly: indexOnly) == elements, "\(json)")
            }
        }
        #expect(try texts(#"{"items":[]}"#, ["items"], indexOnly: true) == [])
    }

    @Test("nothing is found where an element is no object, the list occurs twice, or a key is escaped")
    func notFound() throws {
        for (json, path) in [
            ("[1]", []), ("[{},2]", []), ("{}", []), (#"{"a":[{}]}"#, ["b"]), (#"{"a":[{}],"a":[]}"#, ["a"]),
            (#"{"a":[{}],"\u0061":[]}"#, ["a"]), (#"{"a":{}}"#, ["a"]), ("[{}", []), ("[{},]", []), ("[{}{}]", []),
            (#"[{"a":1]}"#, []), ("", []), (#"{"a":[{}] "b":1}"#, ["a"]), (#"{"a":[{}]"#, ["a"]),
        ] as [(String, [String])] {
            #expect(try texts(json, path, indexOnly: true) == nil, "\(json)")
        }
    }

    @Test("of damaged documents, the removal of elements never makes an invalid one valid")
    func damaged() throws {
        let parser = try JSONParser(), other = try JSONParser()
        var random = SeededRandom(seed: 7), removed = 0
        let valid = Array(#"{"a":1,"items":[{"x":[1,{"y":"z"}]},{"x":"]}"},{"q":{}},{"x":3}],"b":[{}]}"#.utf8)
        for round in 0..<20_000 {
            var body = valid
            for _ in 0..<random.roll(1..<4) {
                let place = random.roll(0..<body.count)
                switch random.roll(0..<3) {
                case 0: body.remove(at: place)
                case 1: body.insert(body[random.roll(0..<body.count)], at: place)
                default: body[place] = Array("{}[],:\"1x\\".utf8).randomElement(using: &random) ?? 0
                }
            }
            guard parser.index(keeping: body), let ranges = parser.elementRanges(at: ["items"]) else { continue }
            // Only valid objects can be known.
            let known = ranges.elements.map {
                (try? other.parse(parser.text.slice($0))) != nil && random.roll(0..<2) == 0
            }
            guard known.contains(true) else { continue }
            removed += 1
            let text = parser.text
            var rest = Array(text[..<ranges.list.lowerBound]), isFirst = true
            for (range, isKnown) in zip(ranges.elements, known) where !isKnown {
                if !isFirst { rest.append(UInt8(ascii: ",")) }
                isFirst = false
                rest += text[range]
            }
            rest += text[ranges.list.upperBound...]
            let isValid = (try? other.parse(keeping: rest)) != nil
            let wasValid = (try? other.parse(keeping: body)) != nil
            #expect(isValid == wasValid, "round \(round): \(String(decoding: body, as: UTF8.self))")
        }
        #expect(removed > 1000, "\(removed)")
    }
}
