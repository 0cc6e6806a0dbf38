// YAML text to a tree of values with locations, through Yams, without the hazards of YAML.

import Yams

package enum YAMLDocument {
    /// The maximum number of values after aliases are resolved: nested anchors grow exponentially.
    static let valueLimit = 100_000
    static let depthLimit = 32

    static func parse(_ text: String, file: String) throws(DescriptionError) -> YAMLValue {
        func failure(_ mark: YAMLValue.Mark?, _ message: String, field: String = "") -> DescriptionError {
            DescriptionError([.init(file: file, line: mark?.line, column: mark?.column, field: field, message)])
        }
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        if let line = lineOfAliasInKey(text) {
            throw failure(.init(line: line, column: 1), "an alias (*name) cannot be part of a key: write the key out")
        }
        let root: Node?
        do {
            // The basic resolver leaves every plain scalar a text: `no` stays `no`.
            root = try Yams.compose(yaml: text, .basic)
        } catch let error as YamlError {
            let (mark, message) = explain(error, text)
            throw failure(mark, message)
        } catch {
            throw failure(nil, "not readable as YAML: \(error)")
        }
        guard let root else { throw failure(nil, "the file is empty: a description needs at least api and entities") }
        var conversion = Conversion()
        do {
            return try conversion.value(root, "", depth: 0)
        } catch {
            throw failure(error.mark, error.message, field: error.field)
        }
    }

    // MARK: Yams' tree

    private struct Refused: Error {
        var mark: YAMLValue.Mark
        var field: String
        var message: String
    }

    private struct Conversion {
        private var count = 0

        mutating func value(_ node: Node, _ field: String, depth: Int) throws(Refused) -> YAMLValue {
            let mark = YAMLDocument.mark(node)
            count += 1
            guard count <= valueLimit else {
                throw Refused(
                    mark: mark, field: field,
                    message: "more than \(valueLimit) values: anchors that multiply each other are not allowed")
            }
            guard depth <= depthLimit else {
                throw Refused(
                    mark: mark, field: field,
                    message: "nested deeper than \(depthLimit) levels: a description never is")
            }
            switch node {
            case .scalar(let scalar):
                try requireNoTag(scalar.tag, [.implicit, .nonSpecific, .str], mark, field)
                let plain = scalar.style == .plain && scalar.tag.rawValue.isEmpty
                return YAMLValue(mark: mark, content: .scalar(scalar.string, plain: plain))
            case .sequence(let sequence):
                try requireNoTag(sequence.tag, [.implicit, .nonSpecific, .seq], mark, field)
                var list: [YAMLValue] = []
                for (index, element) in sequence.enumerated() {
                    list.append(try value(element, "\(field)[\(index)]", depth: depth + 1))
                }
                return YAMLValue(mark: mark, content: .list(list))
            case .mapping(let mapping):
                try requireNoTag(mapping.tag, [.implicit, .nonSpecific, .map], mark, field)
                var entries: [YAMLValue.Entry] = []
                for (keyNode, valueNode) in mapping {
                    let keyMark = YAMLDocument.mark(keyNode)
                    guard case .scalar(let key) = keyNode, !(key.style == .plain && key.string.isEmpty) else {
                        throw Refused(
                            mark: keyMark, field: field, message: "a key must be text: write it as name: value")
                    }
                    // Yams compares keys with their tags: an equal one would be another key to it.
                    try requireNoTag(key.tag, [.implicit, .nonSpecific, .str], keyMark, field)
                    guard !(key.style == .plain && key.string == "<<") else {
                        throw Refused(
                            mark: keyMark, field: field,
                            message: "merge keys (<<) are not supported: write the entries out")
                    }
                    let path = field.isEmpty ? key.string : "\(field).\(key.string)"
                    entries.append(
                        .init(key: key.string, keyMark: keyMark, value: try value(valueNode, path, depth: depth + 1)))
                }
                return YAMLValue(mark: mark, content: .mapping(entries))
            case .alias:
                // Yams resolves aliases while it composes; this case exists for its encoder.
                throw Refused(mark: mark, field: field, message: "unresolved alias: write the value out")
            }
        }

        private func requireNoTag(
            _ tag: Tag, _ allowed: [Tag.Name], _ mark: YAMLValue.Mark, _ field: String
        ) throws(Refused) {
            guard !allowed.contains(where: { $0.rawValue == tag.rawValue }) else { return }
            throw Refused(mark: mark, field: field, message: "the tag \"\(tag.rawValue)\" is not supported: remove it")
        }
    }

    private static func mark(_ node: Node) -> YAMLValue.Mark {
        YAMLValue.Mark(line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
    }

    // MARK: Hazards

    /// The line of a key that contains an alias; nil if there is none.
    ///
    /// Yams compares the keys of a mapping by their whole content while it composes. Nested anchors
    /// in a key take practically for ever before values can be counted. So the text is searched: a
    /// key without `?` is on one line, with the alias before its `:`. Behind a `?`, every later
    /// alias counts, because the key may have many lines. A `?` before a letter or a digit begins
    /// no such key: there, it is part of a text, or the key is the text that begins with them.
    /// Files without anchors, nearly all, are never refused.
    package static func lineOfAliasInKey(_ text: String) -> Int? {
        guard text.utf8.contains(UInt8(ascii: "&")), text.utf8.contains(UInt8(ascii: "*")) else { return nil }
        var hasAnchor = false
        var found: Int?, question: Int?
        for (index, line) in text.utf8.split(
            omittingEmptySubsequences: false, whereSeparator: { $0 == 0x0A || $0 == 0x0D }
        ).enumerated() {
            let bytes = Array(line)
            var hasAlias = false, aliasName = false, endsFlow = false
            for (position, byte) in bytes.enumerated() {
                let startsToken = position == 0 || mayEndBefore(bytes[position - 1])
                let nameFollows = position + 1 < bytes.count && isAnchorByte(bytes[position + 1])
                switch byte {
                case UInt8(ascii: "&") where startsToken && nameFollows: hasAnchor = true
                case UInt8(ascii: "*") where startsToken && nameFollows:
                    (hasAlias, aliasName, endsFlow) = (true, true, false)
                    found = found ?? question
                case UInt8(ascii: "?") where startsToken && !(nameFollows && bytes[position + 1] != UInt8(ascii: "-")):
                    question = question ?? index + 1
                case UInt8(ascii: ":") where hasAlias && (aliasName || endsFlow): found = found ?? index + 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"): (aliasName, endsFlow) = (false, true)
                case UInt8(ascii: " "), UInt8(ascii: "\t"): break
                default:
                    endsFlow = false
                    aliasName = aliasName && isAnchorByte(byte)
                }
            }
        }
        return hasAnchor ? found : nil
    }

    /// Whether a token may begin behind a byte: white space, an indicator, or the last byte of one
    /// of the line breaks that are not ASCII (NEL, LS, PS).
    private static func mayEndBefore(_ byte: UInt8) -> Bool {
        " \t[{,:-?".utf8.contains(byte) || [0x85, 0xA8, 0xA9].contains(byte)
    }

    private static func isAnchorByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
