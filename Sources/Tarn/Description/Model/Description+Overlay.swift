// An overlay: a second file, laid over what a description says about where values come from, for an API that is still moving.
//
// It is laid over the text, not over what became of it: so everything that is checked in a description is checked in the two
// together, and an error names the file that it is in.

import TarnImport
import TarnStore

extension Description {
    /// What was read, so that it can be read again with overlays. Says nothing about what a description is.
    struct Origin: Sendable, Hashable {
        var text: String
        var overlays: [Overlay] = []

        struct Overlay: Sendable {
            var text: String
            var file: String
        }

        static func == (a: Origin, b: Origin) -> Bool { true }

        func hash(into hasher: inout Hasher) {}
    }

    /// This description with the mapping that an overlay makes of it. Everything else stays as it is.
    ///
    /// - Parameter path: of a file in the form of a description, with `api` and `entities`, and in them only what says where values
    ///   come from and how they are taken. Each key takes the place of the description's own; one without a value removes it.
    /// - Throws: `DescriptionError` with every problem found, those in the overlay with its file: the file cannot be read, names what
    ///   the description does not have, or says what an overlay cannot.
    public func applying(overlay path: String) throws(DescriptionError) -> Description {
        try applying(overlay: try Description.text(ofFile: path), file: path)
    }

    /// The same with the text of an overlay.
    ///
    /// - Parameter file: to be named in errors.
    public func applying(overlay text: String, file: String) throws(DescriptionError) -> Description {
        guard var origin else {
            throw DescriptionError([.init(file: file, "this description was made by code, not read: change its mapping instead")])
        }
        origin.overlays.append(Origin.Overlay(text: text, file: file))
        let read = try Description.parse(origin, file: self.file, transformers: mapping.transformers)
        var result = self
        result.mapping = read.mapping
        result.origin = origin
        return result
    }
}

/// Lays one document over another.
struct OverlayReader {
    typealias Entry = YAMLValue.Entry

    let file: String
    private(set) var problems: [DescriptionError.Problem] = []

    /// What an overlay may say of an entity, an attribute and a relationship.
    static let entityKeys = DescriptionReader.mappingKeys + ["attributes", "relationships"]
    static let attributeKeys = ["from", "value", "epoch", "format", "coercion", "nulls", "absent", "fallback", "transform", "naming"]
    static let relationshipKeys = ["from", "value", "nulls", "absent", "to_many", "naming"]
    /// Of each of these a record has one: another takes its place.
    private static let exclusive = [["from", "value"], ["epoch", "format"]]

    init(file: String) { self.file = file }

    /// - Parameter overlay: with marks that name its file.
    mutating func lay(_ overlay: YAMLValue, over base: YAMLValue) -> YAMLValue {
        merge(overlay, base, "", keys: ["api", "entities"]) { reader, entry, known in
            entry.key == "api"
                ? reader.merge(entry.value, known, "api", keys: ["naming"] + DescriptionReader.ruleKeys)
                : reader.entities(entry.value, known)
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
                        reader.merge(value, OverlayReader.long(known, "to"), field, keys: OverlayReader.relationshipKeys)
                    }
                default: return nil
                }
            }
        }
    }

    /// The long form of what may be written as one value.
    private static func long(_ value: YAMLValue, _ key: String) -> YAMLValue {
        if case .mapping = value.content { return value }
        return YAMLValue(mark: value.mark, content: .mapping([Entry(key: key, keyMark: value.mark, value: value)]))
    }

    private mutating func report(_ field: String, _ mark: YAMLValue.Mark, _ message: String) {
        problems.append(.init(file: file, line: mark.line, column: mark.column, field: field, message))
    }

    /// Replaces the entries of a mapping by those of another one; one without a value removes it.
    ///
    /// - Parameter inner: what becomes of an entry that both have; nil if it is replaced.
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
        let ofSchema = ["type", "values", "index", "unique", "default", "was", "to", "inverse", "ordered", "on_delete", "join", "key", "parent", "indexes", "compression", "store", "endpoints", "base"]
        return ofSchema.contains(key)
            ? "an overlay says where values come from, not what the records are or how they are asked for: change the description"
            : Spelling.unknown("key", key, among: keys)
    }

    /// Merges what has names of the author's choice: nothing new may be among them.
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
                report(path, change.keyMark, "\(Spelling.unknown(what, change.key, among: entries.map(\.key))); an overlay adds none")
                continue
            }
            entries[index].value = body(&self, change.value, entries[index].value, path)
        }
        return YAMLValue(mark: base.mark, content: .mapping(entries))
    }
}

extension YAMLValue {
    /// The same with the file that it is from in every mark.
    func from(_ file: String) -> YAMLValue {
        func marked(_ mark: Mark) -> Mark { Mark(line: mark.line, column: mark.column, file: file) }
        let content: Content =
            switch content {
            case .scalar: content
            case .list(let values): .list(values.map { $0.from(file) })
            case .mapping(let entries):
                .mapping(entries.map { Entry(key: $0.key, keyMark: marked($0.keyMark), value: $0.value.from(file)) })
            }
        return YAMLValue(mark: marked(mark), content: content)
    }
}
