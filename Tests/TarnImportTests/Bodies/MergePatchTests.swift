// JSON merge patches: the table of RFC 7396, and the patch between two values.

import TarnImport
import TestSupport
import Testing

@Suite("JSON merge patch")
struct MergePatchTests {
    @Test(
        "the examples of RFC 7396, appendix A",
        arguments: [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, "{}"), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#), (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
            (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#), (#"{"a":"foo"}"#, "null", "null"),
            (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
            (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#), ("[1,2]", #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
            ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        ])
    func examples(_ target: String, _ patch: String, _ result: String) throws {
        #expect(try JSONValue(target).applying(mergePatch: JSONValue(patch)).text == result)
    }

    @Test(
        "the patch between two objects has what differs, and nothing else",
        arguments: [
            (#"{"a":1,"b":{"c":[1],"d":2}}"#, #"{"a":1,"b":{"c":[1,2],"d":2}}"#, #"{"b":{"c":[1,2]}}"#),
            (#"{"a":1,"b":2}"#, #"{"b":2}"#, #"{"a":null}"#), (#"{"a":1}"#, #"{"a":1}"#, nil),
            (#"{"a":1}"#, #"{"a":1.0}"#, #"{"a":1.0}"#),
            (#"{"a":"\u00e9"}"#, #"{"a":"e\u0301"}"#, "{\"a\":\"e\u{301}\"}"),
            (#"{"a":{"b":1}}"#, #"{"a":[]}"#, #"{"a":[]}"#),
            (#"{"\u00e9":1}"#, #"{"e\u0301":1}"#, "{\"e\u{301}\":1,\"\u{e9}\":null}"),
        ] as [(String, String, String?)])
    func difference(_ base: String, _ changed: String, _ patch: String?) throws {
        let (base, changed) = (try JSONValue(base), try JSONValue(changed))
        let found = JSONValue.mergePatch(from: base, to: changed)
        #expect(found?.text.utf8.elementsEqual((patch ?? "").utf8) ?? (patch == nil))
    }

    @Test("a patch turns any object without nulls into any other", arguments: [UInt64(7)])
    func roundTrips(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        func value(_ depth: Int) -> JSONValue {
            switch random.roll(0..<(depth > 2 ? 3 : 5)) {
            case 0: .number(String(random.roll(0..<3)))
            case 1: .string(["a", "b"][random.roll(0..<2)])
            case 2: .array([.bool(true)])
            default:
                .object(
                    (0..<random.roll(0..<4)).map { JSONValue.Member("k\($0)", value(depth + 1)) }.shuffled(
                        using: &random))
            }
        }
        func sorted(_ value: JSONValue) -> JSONValue {
            guard case .object(let members) = value else { return value }
            return .object(members.map { .init($0.key, sorted($0.value)) }.sorted { $0.key < $1.key })
        }
        for _ in 0..<3000 {
            let (base, changed) = (value(0), value(0))
            let patch = JSONValue.mergePatch(from: base, to: changed)
            let result = patch.map { base.applying(mergePatch: $0) } ?? base
            #expect(sorted(result) == sorted(changed), "\(base.text) → \(changed.text), seed \(seed)")
        }
    }
}

extension JSONValue {
    /// Returns this value with a JSON merge patch applied (RFC 7396 §2).
    fileprivate func applying(mergePatch patch: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var result = self
        if case .object = result {} else { result = .object([]) }
        for change in changes {
            if change.value == .null {
                result[change.key] = nil
            } else {
                result[change.key] = (result[change.key] ?? .null).applying(mergePatch: change.value)
            }
        }
        return result
    }
}
