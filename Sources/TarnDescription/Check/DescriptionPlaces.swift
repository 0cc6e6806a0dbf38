// The locations of a description's parts in its file.

import Tarn

/// Finds the lines of entities, fields and endpoints of a description.
struct DescriptionPlaces {
    private let root: YAMLValue?

    /// Reads the text of a description again; a description of code has no locations.
    init(_ description: Description) {
        root = description.origin.flatMap { try? Description.document(of: $0, file: description.file) }
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

    /// The dotted path and the location of the authentication of an API; nil for the only one.
    func place(authenticationOf api: String?) -> (field: String, mark: YAMLValue.Mark?) {
        let path = (api.map { ["apis", $0] } ?? ["api"]) + ["auth"]
        return (path.joined(separator: "."), key(path))
    }

    /// The dotted path and the location of an endpoint.
    func place(endpoint: String) -> (field: String, mark: YAMLValue.Mark?) {
        guard case .mapping(let sections)? = root?.content,
            let endpoints = sections.first(where: { $0.key == "endpoints" }),
            let found = DescriptionPlaces.place(endpoint, among: endpoints.value, "endpoints")
        else { return ("endpoints.\(endpoint)", nil) }
        return found
    }

    /// The place of an endpoint, or of a child of one.
    private static func place(
        _ endpoint: String, among endpoints: YAMLValue, _ field: String
    ) -> (field: String, mark: YAMLValue.Mark?)? {
        guard case .mapping(let entries) = endpoints.content else { return nil }
        for entry in entries {
            if entry.key == endpoint { return ("\(field).\(entry.key)", entry.keyMark) }
            guard case .mapping(let keys) = entry.value.content,
                let children = keys.first(where: { $0.key == "children" }),
                let found = place(endpoint, among: children.value, "\(field).\(entry.key).children")
            else { continue }
            return found
        }
        return nil
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
