// Answers with status 200 that report an error instead of a record.

import Tarn

/// Recognizes errors in the form of answers.
enum ErrorAnswer {
    private static let names: Set = ["error", "errors", "error_message", "errormessage", "fault"]
    /// An object with more members may be a record.
    private static let memberLimit = 8

    /// Returns a remark about a sample whose single object reports an error; nil for other samples.
    ///
    /// - Parameter lists: the lists and objects of the sample.
    static func remark(_ sample: Sample, _ lists: [FoundList]) -> String? {
        guard lists.allSatisfy({ !$0.isList }), let json = sample.pages.first?.json, let text = error(in: json) else {
            return nil
        }
        let stated = text.isEmpty ? "" : ": \(YAMLText.comment(text, limit: 80))"
        return "the answer looks like an error\(stated), and not like a record. Is a token missing? (`--auth-env`)"
    }

    /// Returns the text of the error that an object reports; nil if it reports none.
    private static func error(in json: JSONValue) -> String? {
        // An object with an id is a record, such as a job that has failed.
        guard case .object(let members) = json, members.count <= memberLimit,
            !members.contains(where: { ["id", "_id", "uuid", "guid"].contains($0.key) && $0.value.keyText != nil })
        else { return nil }
        let isRefused = json["ok"] == .bool(false) || json["success"] == .bool(false)
        let error = members.first { names.contains($0.key.lowercased()) && isStated($0.value) }
        if isRefused { return text(of: error?.value ?? json["message"] ?? json["msg"] ?? .null) }
        let others = members.count { member in
            member.key != error?.key && member.value != .null && !ListFinder.isEnvelope(member.key)
        }
        guard let error, others == 0 else { return nil }
        return text(of: error.value)
    }

    /// Whether a value tells of an error: `"error": false` does not.
    private static func isStated(_ value: JSONValue) -> Bool {
        switch value {
        case .null, .bool, .number: false
        case .string(let text): !text.isEmpty
        case .array(let elements): !elements.isEmpty
        case .object(let members): !members.isEmpty
        }
    }

    /// Returns the first text of an error: the value itself, or its message.
    private static func text(of value: JSONValue) -> String {
        switch value {
        case .null, .bool: return ""
        case .number(let text), .string(let text): return text
        case .array(let elements): return elements.first.map(text) ?? ""
        case .object(let members):
            let named = ["message", "detail", "description", "error", "type", "code"].lazy.compactMap { value[$0] }
            return (named.first ?? members.first?.value).map(text) ?? ""
        }
    }
}
