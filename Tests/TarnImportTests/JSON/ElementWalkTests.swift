// The walk through a list's elements, of which some are known.

import TestSupport
import Testing

@testable import TarnImport
@testable import TarnStore

@Suite("JSON: a walk through a list's elements")
struct ElementWalkTests {
    /// Returns the ranges, and how many elements were known, if some texts are.
    private func walk(_ text: Bytes, _ path: [String], _ known: [[UInt8]]) -> (JSONParser.ElementRanges, Int)? {
        var walk = ElementWalk(text), count = 0
        return walk.elements(at: path) { start in
            guard let known = known.first(where: { text[start...].starts(with: $0) }) else { return nil }
            count += 1
            return known.count
        } found: { _ in
            true
        }
        .map { ($0, count) }
    }

    @Test("the ranges are those of the parser's tokens, whether elements are known or not")
    func ranges() throws {
        let elements = [#"{"a":"}],[{\"","b":[{},[]]}"#, "{}", #"{ "n" : -1.5e3 , "t" : true }"#, #"{"\\":"\\"}"#]
        let list = "[ " + elements.joined(separator: " ,\n") + " ]", parser = try JSONParser()
        for (json, path) in [
            (list, []), (#"{"x":{"items":[1]},"items": \#(list)}"#, ["items"]), ("[]", []), (" [ ] ", []),
            (
                #"{"a":-1.5e3 ,"b":null,"c":"\"items","data":{"items":\#(list),"n":null},"more":[{}]}"#,
                ["data", "items"]
            ),
        ] as [(String, [String])] {
            let body = Array(json.utf8)
            try #require(parser.index(keeping: body))
            let ranges = try #require(parser.elementRanges(at: path))
            for known in [[], [elements[0]], elements.reversed()] {
                let found = body.withUnsafeBytes { walk($0, path, known.map { Array($0.utf8) }) }
                #expect(found?.0.elements == ranges.elements && found?.0.list == ranges.list, "\(json)")
                #expect(found?.1 == ranges.elements.count / 4 * known.count, "\(json)")
            }
        }
    }

    @Test("a value is found at a path of keys, whatever it is")
    func values() {
        for value in ["[1,\"]\"]", "{\"a\":[{}]}", "\"}\"", "[ ]"] {
            for json in ["{\"b\":[\"}\"], \"a\" : {\"c\":1,\"d\": \(value) }}", "{\"a\":{\"d\":\(value),\"e\":{}}}"] {
                let found = Array(json.utf8).withUnsafeBytes { text in
                    var walk = ElementWalk(text)
                    return walk.value(at: ["a", "d"]).map { String(decoding: text.slice($0), as: UTF8.self) }
                }
                #expect(found == value)
            }
        }
        for json in ["", "[]", "{\"a\":1}", "{\"a\":{\"d\":[", "{\"a\":{\"e\":1}}"] {
            let found = Array(json.utf8).withUnsafeBytes { text in
                var walk = ElementWalk(text)
                return walk.value(at: ["a", "d"])
            }
            #expect(found == nil, "\(json)")
        }
    }

    @Test("there is no list where an element is no object, or where the text ends or differs before it")
    func notFound() {
        for (json, path) in [
            ("[1]", []), ("[{},2]", []), ("{}", []), (#"{"a":[{}]}"#, ["b"]), (#"{"a":{}}"#, ["a"]), ("[{}", []),
            ("[{},]", []), ("[{}{}]", []), ("", []), (#"{"a":[{}"#, ["a"]), (#"{"a":["#, ["a"]), (#"{"a"#, ["a"]),
            (#"{"a"}"#, ["a"]), (#"{"a":"\"#, ["a"]), (#"{"b":[[},"a":[]}"#, ["a"]), ("[{\"a\":[}", []),
        ] as [(String, [String])] {
            #expect(Array(json.utf8).withUnsafeBytes { walk($0, path, []) == nil }, "\(json)")
        }
    }

    @Test(
        "of damaged documents, those that are valid without the known elements are valid with them, and have the list")
    func damaged() throws {
        let parser = try JSONParser(), other = try JSONParser()
        var random = SeededRandom(seed: 11), walked = 0, invalid = 0
        let elements = [#"{"x":[1,{"y":"z"}]}"#, #"{"x":"]}"}"#, #"{"q":{}}"#, #"{"x":3}"#].map { Array($0.utf8) }
        let valid =
            Array(#"{"a":1,"items":["#.utf8) + elements.joined(separator: [UInt8(ascii: ",")])
            + Array(#"],"b":[{}],"c":{"items":[{}]}}"#.utf8)
        for round in 0..<30_000 {
            var body = valid
            for _ in 0..<random.roll(0..<4) {
                let place = random.roll(0..<body.count)
                switch random.roll(0..<4) {
                case 0: body.remove(at: place)
                case 1: body.insert(body[random.roll(0..<body.count)], at: place)
                case 2: body.insert(contentsOf: Array(#""items":[{}],"#.utf8), at: place)
                default: body[place] = Array("{}[],:\"1x\\".utf8).randomElement(using: &random) ?? 0
                }
            }
            let known = elements.filter { _ in random.roll(0..<3) > 0 }
            let rest: [UInt8]? = body.withUnsafeBytes { text in
                guard let (ranges, count) = walk(text, ["items"], known), count > 0 else { return nil }
                var rest = Array(text[..<ranges.list.lowerBound]), isFirst = true
                for range in ranges.elements where !known.contains(where: { $0.elementsEqual(text[range]) }) {
                    if !isFirst { rest.append(UInt8(ascii: ",")) }
                    isFirst = false
                    rest += text[range]
                }
                return rest + text[ranges.list.upperBound...]
            }
            guard let rest else { continue }
            walked += 1
            guard let tape = try? other.parse(keeping: rest), tape.isUnique(["items"]) else {
                invalid += 1
                continue
            }
            let text = String(decoding: body, as: UTF8.self)
            let whole = try #require(try? parser.parse(keeping: body), "round \(round): \(text)")
            #expect(whole.isUnique(["items"]), "round \(round): \(text)")
            let wanted = parser.elementRanges(at: ["items"])
            let found = body.withUnsafeBytes { walk($0, ["items"], known)?.0 }
            #expect(found?.elements == wanted?.elements && wanted != nil, "round \(round): \(text)")
        }
        #expect(walked > 5000 && invalid > 1000, "\(walked) \(invalid)")
    }
}
