// The locations of a description's parts in its file.

import Tarn

/// Finds the lines of entities, fields and endpoints of a description.
struct DescriptionPlaces {
    private let root: YAMLValue?

    /// Reads the text of a description again; a description of code has no locations.
    init(_ description: Description) {
        root = description.origin.flatMap { try? YAMLDocument.parse($0.text, file: description.file) }
    }

    /// The dotted path and the location of an entity, or of its field or index.
    func place(entity: String?, field: String?) -> (field: String, mark: YAMLValue.Mark?) {
        guard let entity else { return ("entities", key(["entities"])) }
        guard let field else { return ("entities.\(entity)", key(["entities", entity])) }
        for section in ["attributes", "relationships", "indexes"] {
            let path = ["entities", entity, section, field]
            if let mark = key(path) { return (path.joined(separator: "."), mark) }
        }
        return ("entities.\(entity).\(field)", key(["entities", entity]))
    }

    /// The dotted path and the location of an endpoint.
    func place(endpoint: String) -> (field: String, mark: YAMLValue.Mark?) {
        ("endpoints.\(endpoint)", key(["endpoints", endpoint]))
    }

    /// The location of the key at the end of a path.
    private func key(_ path: [String]) -> YAMLValue.Mark? {
        var value = root, mark: YAMLValue.Mark?
        for name in path {
            guard case .mapping(let entries)? = value?.content, let entry = entries.first(where: { $0.key == name })
            else { return nil }
            mark = entry.keyMark
            value = entry.value
        }
        return mark
    }
}
