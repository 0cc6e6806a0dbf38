import TarnStore

/// A record that one of two stores lacks, or that differs between them.
public struct RecordDifference: Sendable, Hashable {
    /// The kind of a difference.
    public enum Kind: String, Sendable, Hashable {
        /// Only the second store has the record.
        case added
        /// Only the first store has the record.
        case removed
        /// Both stores have the record, with different content.
        case changed
    }

    /// A field that differs; an absent value is nil, a null one `.null`.
    public struct Field: Sendable, Hashable {
        /// The name of the field; `#ID` if the catalog does not know it.
        public var name: String
        /// The value in the first store; nil if it is absent.
        public var from: Value?
        /// The value in the second store; nil if it is absent.
        public var to: Value?
        /// The position in the ordered inverse relationship in the first store, if it has one.
        public var positionFrom: UInt32?
        /// The position in the ordered inverse relationship in the second store, if it has one.
        public var positionTo: UInt32?
    }

    /// The kind of the difference.
    public var kind: Kind
    /// The concrete entity in the second store; in the first one if the record was removed.
    public var entity: String
    /// The concrete entity in the first store, if it is another one.
    public var formerEntity: String?
    /// The primary key.
    public var key: RecordKey
    /// Whether the record is partial in the first store; nil if it is not there.
    public var wasPartial: Bool?
    /// Whether the record is partial in the second store; nil if it is not there.
    public var isPartial: Bool?
    /// The fields that differ; for an added or a removed record all of them.
    public var fields: [Field]

    /// The difference as a JSON object, without a line break.
    ///
    /// A changed field is an object with `from` and `to`, without the one that is absent.
    ///
    ///     {"change":"changed","entity":"Issue","key":7,"fields":{"title":{"from":"a","to":"b"}}}
    public var json: String {
        var text = "{\"change\":\"\(kind.rawValue)\",\"entity\":"
        text.appendJSONString(entity)
        if let formerEntity {
            text += ",\"formerEntity\":"
            text.appendJSONString(formerEntity)
        }
        text += ",\"key\":"
        key.appendJSON(to: &text)
        appendPartial(to: &text)
        text += ",\"fields\":{"
        for (index, field) in fields.enumerated() {
            if index > 0 { text += "," }
            text.appendJSONString(field.name)
            text += ":"
            switch kind {
            case .added: (field.to ?? .null).appendJSON(to: &text)
            case .removed: (field.from ?? .null).appendJSON(to: &text)
            case .changed: field.appendJSON(to: &text)
            }
        }
        return text + "}}"
    }

    private func appendPartial(to text: inout String) {
        switch kind {
        case .added: if isPartial == true { text += ",\"partial\":true" }
        case .removed: if wasPartial == true { text += ",\"partial\":true" }
        case .changed:
            guard let wasPartial, let isPartial, wasPartial != isPartial else { return }
            text += ",\"partial\":{\"from\":\(wasPartial),\"to\":\(isPartial)}"
        }
    }

    /// The difference as lines for people, the first with a `+`, `-` or `~`.
    public var lines: [String] {
        let former = formerEntity.map { " (was \($0))" } ?? ""
        func note(_ isPartial: Bool?) -> String { isPartial == true ? " (partial)" : "" }
        switch kind {
        case .added:
            return ["+ \(entity) \(key)\(note(isPartial))"]
                + fields.map { "    \($0.name): \($0.to?.jsonText ?? "absent")" }
        case .removed:
            return ["- \(entity) \(key)\(note(wasPartial))"]
                + fields.map { "    \($0.name): \($0.from?.jsonText ?? "absent")" }
        case .changed:
            let partial = wasPartial == isPartial ? "" : isPartial == true ? " (now partial)" : " (no longer partial)"
            return ["~ \(entity) \(key)\(former)\(partial)"]
                + fields.map { "    \($0.name): \($0.changeText)" }
        }
    }
}

extension RecordDifference.Field {
    fileprivate func appendJSON(to text: inout String) {
        var parts: [String] = []
        if let from { parts.append("\"from\":\(from.jsonText)") }
        if let to { parts.append("\"to\":\(to.jsonText)") }
        if positionFrom != positionTo {
            if let positionFrom { parts.append("\"positionFrom\":\(positionFrom)") }
            if let positionTo { parts.append("\"positionTo\":\(positionTo)") }
        }
        text += "{" + parts.joined(separator: ",") + "}"
    }

    fileprivate var changeText: String {
        func side(_ value: Value?, _ position: UInt32?) -> String {
            guard let value else { return "absent" }
            guard positionFrom != positionTo else { return value.jsonText }
            return value.jsonText + (position.map { " at position \($0)" } ?? " without a position")
        }
        return "\(side(from, positionFrom)) → \(side(to, positionTo))"
    }
}
