// Errors that answers with status 200 state beside a list without records, or in place of a record.

import TarnHTTP
import TarnImport

/// An error beside a list: `{"items": [], "error": "timeout"}`.
package struct StatedError: Sendable, Hashable {
    /// The path of the error.
    package var path: String
    /// The text of the error; empty if it has none.
    package var text: String

    private static let names: Set = ["error", "errors"]
    private static let calmWords: Set = ["", "false", "null", "none", "no", "ok", "success", "no error"]
    /// Larger answers list something else.
    private static let longestBody = 1 << 20

    /// Returns the error that a body without records states; nil if it states none.
    static func find(in body: [UInt8], around lists: [JSONPath], _ rule: PageEvidence.Rule) -> StatedError? {
        json(body).flatMap { find(in: $0, around: lists, rule) }
    }

    /// The members of a record, and of no envelope.
    private static let namesOfRecords: Set = ["id", "_id", "uuid", "guid", "key", "name", "title"]

    /// Returns the state of an answer that the server has not finished, in an object that leads to
    /// a list without records: `{"status": "running", "rows": []}`. Nil if there is none.
    ///
    /// - Parameter url: the URL of the request. A state in it is what was asked for.
    static func findUnfinished(
        in body: [UInt8], around lists: [JSONPath], _ rule: PageEvidence.Rule, url: String
    ) -> StatedError? {
        guard rule != .ignore, let json = json(body) else { return nil }
        return lists.lazy.compactMap { list in
            find(in: json, along: list.keys) { members, keys in
                // A record, such as a pipeline or a server, has a state of its own.
                guard !members.contains(where: { namesOfRecords.contains($0.key.lowercased()) }) else { return nil }
                for member in members {
                    guard AnswerWait.stateNames.contains(member.key.lowercased()),
                        case .string(let word) = member.value,
                        AnswerWait.isUnfinished(word), !url.lowercased().contains(word.lowercased())
                    else { continue }
                    let path = JSONPath(keys: keys + [member.key]).description
                    return rule.ignores(path) ? nil : StatedError(path: path, text: word)
                }
                return nil
            }
        }.first
    }

    /// Returns the error that a map of records has as its only member, or as one that has nothing
    /// of a record; nil if it has none: `{"error": {"code": 500}}`.
    ///
    /// - Parameters:
    ///   - path: the path of the records: keys, and then `*`.
    ///   - isRecord: whether an object with these names may be a record.
    static func find(
        inMap body: [UInt8], at path: JSONPath, _ rule: PageEvidence.Rule, isRecord: ([String]) -> Bool
    ) -> StatedError? {
        let steps = path.steps.dropLast()
        guard rule != .ignore, !steps.contains(.each), var map = json(body) else { return nil }
        for step in steps {
            guard case .key(let key) = step, let inner = map[key] else { return nil }
            map = inner
        }
        guard case .object(let members) = map else { return nil }
        let found = members.count == 1 ? members : members.filter { isError($0, isRecord) }
        return find(found, Array(steps), but: [], rule)
    }

    /// The path of the errors of GraphQL.
    static let graphQL = "errors"

    /// Returns the error that an answer states beside its records: some of them, or parts of them,
    /// are missing. Nil if it states none.
    static func find(besideRecords body: [UInt8], around lists: [JSONPath], _ rule: PageEvidence.Rule) -> StatedError? {
        guard rule != .ignore, !lists.contains(where: \.steps.isEmpty), let root = JSONRoot(body) else { return nil }
        return graphQL(root, lists, rule) ?? incompleteness(root, rule)
    }

    /// The flag of a search that has ended early, as in GitHub and Elasticsearch.
    private static func incompleteness(_ root: JSONRoot, _ rule: PageEvidence.Rule) -> StatedError? {
        for name in ["incomplete_results", "timed_out"] where !rule.ignores(name) {
            if let value = root[name], json(Array(value)) == .bool(true) {
                return StatedError(path: name, text: "true")
            }
        }
        let failed = "_shards.failed"
        guard !rule.ignores(failed), let shards = root["_shards"].flatMap({ json(Array($0)) }),
            case .number(let text)? = shards["failed"], Double(text) != 0
        else { return nil }
        return StatedError(path: failed, text: text)
    }

    /// The error of a GraphQL answer: parts of its data are null, or missing.
    ///
    /// Each error has a `message`. Other servers name there what they leave out as usual.
    private static func graphQL(_ root: JSONRoot, _ lists: [JSONPath], _ rule: PageEvidence.Rule) -> StatedError? {
        guard !rule.ignores(graphQL), lists.contains(where: { $0.steps.first == .key("data") }),
            let value = root[graphQL], case .array(let errors)? = json(Array(value))
        else { return nil }
        let messages = errors.lazy.compactMap { error -> String? in
            if case .string(let text)? = error["message"] { text } else { nil }
        }
        return messages.first.map { StatedError(path: graphQL, text: line($0)) }
    }

    /// Whether a member of a map has the name of an error, and nothing of a record.
    private static func isError(_ member: JSONValue.Member, _ isRecord: ([String]) -> Bool) -> Bool {
        guard names.contains(member.key.lowercased()) else { return false }
        let value = if case .array(let elements) = member.value { elements.first } else { member.value as JSONValue? }
        guard case .object(let own)? = value else { return false }
        return !isRecord(own.map(\.key))
    }

    private static func json(_ body: [UInt8]) -> JSONValue? {
        guard body.count <= longestBody, let text = String(validating: body, as: UTF8.self) else { return nil }
        return try? JSONValue(text)
    }

    /// Returns the error that the answer to a change states in the objects that lead to its record;
    /// nil if it states none.
    ///
    /// Beside what a list states, `"ok": false`, `"success": false` and lists such as `userErrors`
    /// do: some servers answer each refusal with 200.
    static func find(inAnswer body: [UInt8], to record: JSONPath) -> StatedError? {
        guard let json = json(body), case .object = json else { return nil }
        // The record's own object counts, too: the caller has found no record there.
        let path = JSONPath(keys: record.keys + [""])
        if let found = find(in: json, around: [path]) { return found }
        return find(in: json, along: path.keys) { refusal($0, $1) ?? namedErrors($0, $1) }
    }

    /// Whether the answer to a change has an empty list in place of its record.
    static func isEmptyList(_ body: [UInt8], at record: JSONPath) -> Bool {
        json(body).flatMap { json in record.keys.reduce(json as JSONValue?) { $0?[$1] } } == .array([])
    }

    /// Returns the error that the answer to an update states although it has the record; nil if it
    /// states none.
    ///
    /// The payload of a mutation of GraphQL has the record and the errors of its fields side by
    /// side: the record is as it was, or as it would have been. Errors at the root may be those of
    /// other parts of the answer.
    static func find(inAnswer body: [UInt8], beside record: JSONPath) -> StatedError? {
        guard !record.keys.isEmpty, let json = json(body) else { return nil }
        return find(in: json, along: record.keys) { members, keys in
            if let found = refusal(members, keys) { return found }
            guard keys.count > 1, keys.count == record.keys.count - 1 else { return nil }
            return namedErrors(members, keys)
        }
    }

    /// Returns the error in a payload of the answer to a mutation of GraphQL; nil if none states
    /// one. Each member of `data` is a payload (GraphQL §7.1).
    static func find(inMutation body: [UInt8]) -> StatedError? {
        guard let json = json(body), case .object(let payloads)? = json["data"] else { return nil }
        return payloads.lazy.compactMap { payload in
            guard case .object(let members) = payload.value else { return nil }
            let keys = ["data", payload.key]
            return refusal(members, keys) ?? namedErrors(members, keys)
        }.first
    }

    /// Returns the first error of the objects that lead to a record.
    private static func find(
        in json: JSONValue, along path: [String], _ error: ([JSONValue.Member], [String]) -> StatedError?
    ) -> StatedError? {
        var value: JSONValue? = json, keys: [String] = []
        for key in path {
            guard case .object(let members)? = value else { return nil }
            if let found = error(members, keys) { return found }
            value = value?[key]
            keys.append(key)
        }
        return nil
    }

    /// Returns the error of a list such as `errors`, `userErrors` or `field_errors`; nil without
    /// one that has elements.
    private static func namedErrors(_ members: [JSONValue.Member], _ keys: [String]) -> StatedError? {
        let found = members.first { member in
            guard member.key.lowercased().hasSuffix("errors"), case .array = member.value else { return false }
            return isStated(member.value)
        }
        return found.map { member in
            StatedError(path: JSONPath(keys: keys + [member.key]).description, text: line(firstText(of: member.value)))
        }
    }

    /// Returns the error of an object with `"ok": false` or `"success": false`; nil without.
    private static func refusal(_ members: [JSONValue.Member], _ keys: [String]) -> StatedError? {
        let flag = members.first { ["ok", "success"].contains($0.key.lowercased()) && $0.value == .bool(false) }
        guard let flag else { return nil }
        let path = JSONPath(keys: keys + [flag.key]).description
        let message = members.first { ["message", "msg", "detail", "description"].contains($0.key.lowercased()) }
        let errors = members.first { $0.key.lowercased().hasSuffix("errors") && isStated($0.value) }
        return StatedError(path: path, text: line(firstText(of: (message ?? errors ?? flag).value)))
    }

    /// Returns the error of an object that leads to a list; nil if there is none.
    ///
    /// - Parameters:
    ///   - lists: the paths of the lists.
    ///   - rule: the paths that are ignored.
    package static func find(
        in json: JSONValue, around lists: [JSONPath], _ rule: PageEvidence.Rule = .fail
    ) -> StatedError? {
        guard rule != .ignore else { return nil }
        let known = Set(lists.map(\.steps))
        return lists.lazy.compactMap { find(in: json, to: $0.steps[...], [], but: known, rule) }.first
    }

    /// The maximum number of elements of an array that leads to lists.
    private static let mostElements = 100

    /// Returns the error of an object between a value and a list in it; nil if there is none.
    ///
    /// - Parameter known: the steps that lead to the value.
    private static func find(
        in value: JSONValue, to list: ArraySlice<JSONPath.Step>, _ known: [JSONPath.Step],
        but lists: Set<[JSONPath.Step]>, _ rule: PageEvidence.Rule
    ) -> StatedError? {
        guard let step = list.first else { return nil }
        switch (step, value) {
        case (.key(let key), .object(let members)):
            if let found = find(members, known, but: lists, rule) { return found }
            return value[key].flatMap { find(in: $0, to: list.dropFirst(), known + [step], but: lists, rule) }
        // Elements such as the results of several statements, of which each has a list.
        case (.each, .array(let elements)):
            return elements.prefix(mostElements).lazy.compactMap {
                find(in: $0, to: list.dropFirst(), known + [step], but: lists, rule)
            }.first
        default: return nil
        }
    }

    private static func find(
        _ members: [JSONValue.Member], _ steps: [JSONPath.Step], but lists: Set<[JSONPath.Step]>,
        _ rule: PageEvidence.Rule
    ) -> StatedError? {
        let state = members.first(where: statesFailure)
        // The state is a word. The error, or else the message, is beside it. A failure of JSend has
        // its reasons under `data`.
        let errors = members.filter { names.contains($0.key.lowercased()) && isStated($0.value) }
        let message = state.flatMap { _ in
            members.first { $0.key.lowercased() == "message" }
                ?? members.first { $0.key.lowercased() == "data" && isStated($0.value) }
        }
        func path(_ member: JSONValue.Member) -> JSONPath? {
            let steps = steps + [.key(member.key)]
            return lists.contains { $0.starts(with: steps) } ? nil : JSONPath(.record, steps: steps)
        }
        let stated = errors.contains { path($0) != nil } ? errors : [state].compactMap(\.self)
        for member in stated {
            guard let path = path(member)?.description, !rule.ignores(path) else { continue }
            let own = member.key == state?.key ? "" : firstText(of: member.value)
            let text = own.isEmpty ? firstText(of: (message ?? member).value) : own
            return StatedError(path: path, text: line(text))
        }
        return nil
    }

    /// Returns the beginning of a text, in one line.
    private static func line(_ text: String) -> String {
        // Cut by scalars: a character may consist of any number of them.
        let line = String(text.unicodeScalars.prefix(400)).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.count > 160 ? line.prefix(160) + "…" : line
    }

    /// Whether a member is the state of a failed answer, as of JSend: `"status": "error"`, or
    /// `"status": "fail"` if the request has a fault.
    private static func statesFailure(_ member: JSONValue.Member) -> Bool {
        guard case .string(let text) = member.value else { return false }
        return member.key.lowercased() == "status" && ["error", "fail"].contains(text.lowercased())
    }

    /// Whether a value tells of an error: `"error": false` and `"code": 0` do not.
    private static func isStated(_ value: JSONValue) -> Bool {
        switch value {
        case .null: false
        case .bool(let flag): flag
        case .number(let text): Double(text) != 0
        case .string(let text): !calmWords.contains(text.lowercased()) && Double(text) != 0
        case .array(let elements): elements.contains(where: isStated)
        case .object(let members):
            members.contains { member in
                guard ["code", "status"].contains(member.key.lowercased()),
                    (200..<300).contains(Int(firstText(of: member.value)) ?? 0)
                else { return isStated(member.value) }
                return false
            }
        }
    }

    /// Returns the first text of an error: the value itself, or its message.
    private static func firstText(of value: JSONValue) -> String {
        switch value {
        case .null, .bool: return ""
        case .number(let text), .string(let text): return text
        case .array(let elements): return elements.first(where: isStated).map(firstText) ?? ""
        case .object(let members):
            let named = ["message", "detail", "description", "error", "title", "type", "code"].lazy.compactMap {
                value[$0]
            }
            return (named.first { isStated($0) } ?? members.first?.value).map(firstText) ?? ""
        }
    }
}
