import TarnStore

/// A reader that merges an overlay document into a description document.
struct OverlayReader {
    typealias Entry = YAMLValue.Entry

    let file: String
    private(set) var problems: [DescriptionError.Problem] = []

    /// The keys that an overlay may set in an entity, an attribute and a relationship.
    static let entityKeys = DescriptionReader.mappingKeys + ["attributes", "relationships"]
    static let attributeKeys = [
        "from", "value", "epoch", "format", "coercion", "nulls", "absent", "fallback", "transform", "naming",
    ]
    static let relationshipKeys = ["from", "value", "nulls", "absent", "to_many", "naming", "by"]
    /// Groups of keys of which only one may be set: a new one replaces the others.
    private static let exclusive = [["from", "value"], ["epoch", "format"]]

    init(file: String) { self.file = file }

    /// Merges an overlay into a base document.
    ///
    /// - Parameter overlay: a document whose marks name its file.
    mutating func lay(_ overlay: YAMLValue, over base: YAMLValue) -> YAMLValue {
        merge(overlay, base, "", keys: ["api", "apis", "entities"]) { reader, entry, known in
            let keys = ["naming"] + DescriptionReader.ruleKeys
            return switch entry.key {
            case "api": reader.merge(entry.value, known, "api", keys: keys)
            case "apis":
                reader.named(entry.value, known, "apis", "API") { reader, value, known, field in
                    reader.merge(value, known, field, keys: keys)
                }
            default: reader.entities(entry.value, known)
            }
        }
    }

    private mutating func entities(_ overlay: YAMLValue, _ base: YAMLValue) -> YAMLValue {
        named(overlay, base, "entities", "entity") { reader, value, known, field in
            reader.merge(value, known, field, keys: OverlayReader.entityKeys) { reader, entry, known in
                let inner = "\(field).\(entry.key)"
                switch entry.key {
                case "attributes":
                    return reader.named(entry.value, known, inner, "attribute") { reader, value, known, field in
                        reader.merge(value, OverlayReader.long(known, "type"), field, keys: OverlayReader.attributeKeys)
                    }
                case "relationships":
                    return reader.named(entry.value, known, inner, "relationship") { reader, value, known, field in
                        reader.merge(
                            value, OverlayReader.long(known, "to"), field, keys: OverlayReader.relationshipKeys)
                    }
                default: return nil
                }
            }
        }
    }

    /// Expands a short form, a single value, to a mapping.
    private static func long(_ value: YAMLValue, _ key: String) -> YAMLValue {
        if case .mapping = value.content { return value }
        return YAMLValue(mark: value.mark, content: .mapping([Entry(key: key, keyMark: value.mark, value: value)]))
    }

    private mutating func report(_ field: String, _ mark: YAMLValue.Mark, _ message: String) {
        problems.append(.init(file: file, line: mark.line, column: mark.column, field: field, message))
    }

    /// Merges the entries of a mapping into another one; an entry without a value removes one.
    ///
    /// - Parameter inner: merges an entry that both have; if it returns nil, the entry is replaced.
    private mutating func merge(
        _ overlay: YAMLValue, _ base: YAMLValue, _ field: String, keys: [String],
        inner: (inout OverlayReader, Entry, YAMLValue) -> YAMLValue? = { _, _, _ in nil }
    ) -> YAMLValue {
        guard case .mapping(let changes) = overlay.content else {
            report(field, overlay.mark, "expected a mapping (\(keys.joined(separator: ", "))), found \(overlay.kind)")
            return base
        }
        guard case .mapping(var entries) = base.content else { return base }
        for change in changes {
            let path = field.isEmpty ? change.key : "\(field).\(change.key)"
            guard keys.contains(change.key) else {
                report(path, change.keyMark, OverlayReader.refusal(of: change.key, keys))
                continue
            }
            let index = entries.firstIndex { $0.key == change.key }
            if let index, let merged = inner(&self, change, entries[index].value) {
                entries[index].value = merged
                continue
            }
            let group = OverlayReader.exclusive.first { $0.contains(change.key) } ?? [change.key]
            entries.removeAll { group.contains($0.key) }
            if !change.value.isNull { entries.append(change) }
        }
        return YAMLValue(mark: base.mark, content: .mapping(entries))
    }

    private static func refusal(of key: String, _ keys: [String]) -> String {
        let ofSchema = [
            "type", "values", "index", "unique", "default", "was", "to", "inverse", "ordered", "on_delete", "join",
            "key", "parent", "indexes", "compression", "store", "endpoints", "base",
        ]
        return ofSchema.contains(key)
            ? "an overlay can only change where values come from, not records or requests: change the description"
            : Spelling.unknown("key", key, among: keys)
    }

    /// Merges a mapping whose keys are names. The overlay must not add names.
    private mutating func named(
        _ overlay: YAMLValue, _ base: YAMLValue, _ field: String, _ what: String,
        _ body: (inout OverlayReader, YAMLValue, YAMLValue, String) -> YAMLValue
    ) -> YAMLValue {
        guard case .mapping(let changes) = overlay.content else {
            report(field, overlay.mark, "expected a mapping from names, found \(overlay.kind)")
            return base
        }
        guard case .mapping(var entries) = base.content else { return base }
        for change in changes {
            let path = "\(field).\(change.key)"
            guard let index = entries.firstIndex(where: { $0.key == change.key }) else {
                report(
                    path, change.keyMark,
                    "\(Spelling.unknown(what, change.key, among: entries.map(\.key))); an overlay cannot add one")
                continue
            }
            entries[index].value = body(&self, change.value, entries[index].value, path)
        }
        return YAMLValue(mark: base.mark, content: .mapping(entries))
    }
}
