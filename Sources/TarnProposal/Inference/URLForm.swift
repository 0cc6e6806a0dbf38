// The form of the URLs of an entity's records: `/people/{id}/`.

import Tarn

/// The form of the URLs by which an API names the records of one list.
struct URLForm {
    /// The keys that lead to a record's own URL.
    let field: [String]
    /// The path from the base URL to the last segment, such as `/people/`.
    let prefix: String
    /// The text behind the last segment: nothing, or `/`.
    let suffix: String
    /// Whether all last segments are integers.
    private(set) var isInteger = true
    private let bases: [String]

    /// The places of own URLs.
    private static let fields = [
        ["url"], ["self"], ["href"], ["uri"], ["@id"], ["_links", "self", "href"], ["links", "self"], ["resource_uri"],
    ]

    /// Returns the form of the records of a list; nil if they have no URLs of their own.
    init?(of shape: ObjectShape, bases: [String]) {
        let samples = shape.samples.prefix(2000)
        for field in URLForm.fields {
            let texts = samples.compactMap { $0.value(at: field)?.scalarText }
            // Different URLs that differ in their last segment only.
            guard texts.count == samples.count, texts.count >= 2, let first = texts.first,
                let parts = URLForm.parts(of: first, bases)
            else { continue }
            let divided = texts.map { URLForm.parts(of: $0, bases) }
            guard divided.allSatisfy({ $0?.prefix == parts.prefix && $0?.suffix == parts.suffix }) else { continue }
            let names = Set(divided.compactMap { $0?.name })
            guard names.count == Set(texts).count, names.count >= 2 else { continue }
            self.init(field: field, parts, bases)
            isInteger = names.allSatisfy { Int64($0).map(String.init) == $0 }
            return
        }
        return nil
    }

    private init(field: [String], _ parts: Parts, _ bases: [String]) {
        self.field = field
        prefix = parts.prefix
        suffix = parts.suffix
        self.bases = bases
    }

    private typealias Parts = (prefix: String, name: String, suffix: String)

    /// Divides a URL below the base into its last segment and the rest.
    private static func parts(of text: String, _ bases: [String]) -> Parts? {
        guard let base = bases.first, let home = try? HTTPURL(base + "/"), text.utf8.count < 2000,
            let url = try? home.resolving(text),
            let moved = HTTPURL.rebase(link: url.description, from: bases, onto: base),
            let target = try? HTTPURL(moved),
            var path = APIRoot.path(of: target, from: base)
        else { return nil }
        let suffix = path.hasSuffix("/") ? "/" : ""
        if !suffix.isEmpty { path.removeLast() }
        guard let slash = path.lastIndex(of: "/") else { return nil }
        let name = String(path[path.index(after: slash)...])
        let isPlain = name.utf8.allSatisfy {
            (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || "-_~.".utf8.contains($0)
        }
        let prefix = String(path[...slash])
        guard !name.isEmpty, isPlain, prefix != "/", !prefix.contains("{"), !prefix.contains("//") else { return nil }
        return (prefix, name, suffix)
    }

    /// Returns the key in a URL; nil if it has another form.
    func key(in text: String) -> String? {
        // A `/` at the end and a query make no difference.
        guard let parts = URLForm.parts(of: text, bases), parts.prefix == prefix,
            !isInteger || Int64(parts.name).map(String.init) == parts.name
        else { return nil }
        return parts.name
    }

    /// Whether all values are URLs of this form, or null.
    func matches(_ value: ValueShape) -> Bool {
        guard value.count > value.nulls, value.scalars.texts + value.nulls == value.count, !value.scalars.isOverflowing
        else { return false }
        return value.scalars.counts.keys.prefix(500).allSatisfy { key(in: $0) != nil }
    }

    /// The definition as a description writes it.
    func definition(key: String) -> String {
        let template = "\(prefix){\(key)}\(suffix)"
        guard field != ["url"] else { return YAMLText.path(template) }
        return "{ template: \(YAMLText.scalar(template)), from: \(YAMLText.scalar(JSONPath(keys: field).description)) }"
    }
}
