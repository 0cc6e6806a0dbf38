// The text and the JSON of a record's unsent changes, and of its missing targets.

import TarnStore

extension RecordInspection {
    /// The local change in a line: `updated locally since …: title, state`.
    static func text(of change: LocalChange) -> String {
        let text = "\(change.operation.rawValue)d locally since \(change.since)"
        guard change.operation != .delete else { return text }
        return text + ": " + (change.fields.isEmpty ? "all fields" : change.fields.joined(separator: ", "))
            + (change.isGoneAtServer ? " (deleted at the server)" : "")
    }

    /// The targets of a relationship that the store does not have.
    private func missingTargets(of field: Record.Field) -> [RecordKey] {
        guard let entity = targetEntities[field.name] else { return [] }
        let keys: [RecordKey] =
            switch field.value {
            case .reference(let key): [key]
            case .references(let keys): keys
            default: []
            }
        return keys.filter { targets.state(of: $0, entity) == .missing }
    }

    /// The note behind a value with missing targets; empty without.
    func missingNote(_ field: Record.Field) -> String {
        let missing = missingTargets(of: field)
        guard !missing.isEmpty else { return "" }
        if case .reference = field.value { return "  (missing)" }
        let most = 10, rest = missing.count - most
        let names = missing.prefix(most).map(\.description).joined(separator: ", ")
        return "  (missing: \(names)" + (rest > 0 ? ", and \(rest) more)" : ")")
    }

    /// The members of the JSON about unsent changes and missing targets; empty without both.
    var localJSON: String {
        var text = ""
        if let localChange {
            text += ",\"localChange\":{\"operation\":\"\(localChange.operation.rawValue)\""
            text += ",\"since\":\"\(localChange.since)\",\"goneAtServer\":\(localChange.isGoneAtServer),\"fields\":"
            text.appendJSONStrings(localChange.fields)
            text += "}"
        }
        if !operations.isEmpty || mayHaveMoreOperations {
            text += ",\"operations\":[" + operations.map(\.json).joined(separator: ",") + "]"
            text += ",\"mayHaveMoreOperations\":\(mayHaveMoreOperations)"
        }
        let missing = (record?.fields ?? []).map { ($0.name, missingTargets(of: $0)) }.filter { !$0.1.isEmpty }
        guard !missing.isEmpty else { return text }
        text += ",\"missing\":{"
        for (index, (name, keys)) in missing.enumerated() {
            if index > 0 { text += "," }
            text.appendJSONString(name)
            text += ":["
            for (index, key) in keys.enumerated() {
                if index > 0 { text += "," }
                key.appendJSON(to: &text)
            }
            text += "]"
        }
        return text + "}"
    }
}

extension InspectedOperation {
    /// The operation in a line: `12  update Issue 7  pending, 1 attempt  title: "a" → "b"`.
    var line: String {
        let attempts = operation.attempts == 1 ? "1 attempt" : "\(operation.attempts) attempts"
        var text = "\(operation.id)  \(operation.kind.rawValue) \(operation.record)  "
        text += "\(operation.state.rawValue), \(attempts)"
        for change in operation.changes {
            text += "  \(change.name): \(change.before?.jsonText ?? "absent") → \(change.after.jsonText)"
        }
        if let relationship = operation.relationship {
            text += "  \(relationship): \(operation.members.map(\.description).joined(separator: ", "))"
        }
        return text + (operation.failure.map { "  failed: \($0.message)" } ?? "")
    }

    var json: String {
        var text = "{\"id\":\(operation.id),\"kind\":\"\(operation.kind.rawValue)\",\"entity\":"
        text.appendJSONString(operation.entity)
        text += ",\"key\":"
        operation.key.appendJSON(to: &text)
        text += ",\"state\":\"\(operation.state.rawValue)\",\"attempts\":\(operation.attempts),\"changes\":["
        for (index, change) in operation.changes.enumerated() {
            text += index > 0 ? ",{\"field\":" : "{\"field\":"
            text.appendJSONString(change.name)
            if let before = change.before { text += ",\"before\":\(before.jsonText)" }
            text += ",\"after\":\(change.after.jsonText)}"
        }
        text += "]"
        if let relationship = operation.relationship {
            text += ",\"relationship\":"
            text.appendJSONString(relationship)
            text += ",\"members\":["
            for (index, member) in operation.members.enumerated() {
                if index > 0 { text += "," }
                member.appendJSON(to: &text)
            }
            text += "]"
        }
        if let failure = operation.failure {
            text += ",\"failure\":"
            text.appendJSONString(failure.message)
        }
        return text + "}"
    }
}

extension String {
    fileprivate mutating func appendJSONStrings(_ texts: [String]) {
        self += "["
        for (index, text) in texts.enumerated() {
            if index > 0 { self += "," }
            appendJSONString(text)
        }
        self += "]"
    }
}
