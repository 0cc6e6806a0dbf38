// Endpoints that follow URLs, and the `children` of an endpoint: sugar for `for_each`.

extension DescriptionReader.Section {
    /// The key that declares the request of an endpoint: `url` or `path`.
    var requestKey: String { self["url"] == nil ? "path" : "url" }
}

extension DescriptionReader {
    /// Reads `url: '{item.url}'`, one attribute of the record of `for_each`, as a path template.
    mutating func urlVariable(_ section: Section, _ forEach: Endpoint.ForEach?) -> String? {
        guard let text = text(section, "url") else { return nil }
        if section["path"] != nil {
            report(section, "url", "path and url exclude each other: remove one of the two")
            return nil
        }
        let name = text.dropFirst().dropLast()
        guard text.hasPrefix("{"), text.hasSuffix("}"), !name.isEmpty,
            !name.contains(where: { "{}+/?#,:*".contains($0) })
        else {
            report(
                section, "url",
                "\"\(text)\" is not one attribute in braces, such as '{item.url}'; write other URLs under path")
            return nil
        }
        if forEach == nil, !isReported(in: section.path("for_each")) {
            report(section, "url", "{\(name)} is a value of no record: write for_each with the entity that has the URL")
            return nil
        }
        return "/{+\(name)}"
    }

    /// The children of an endpoint as endpoints with `for_each`, and their dotted paths.
    ///
    /// The entity of the parent is that of its list. The default entity and the default API of a
    /// child are the same.
    mutating func children(of entry: YAMLValue.Entry, _ field: String) -> [(YAMLValue.Entry, field: String)] {
        guard case .mapping(let keys) = entry.value.content, let children = keys.first(where: { $0.key == "children" })
        else { return [] }
        let field = "\(field).children"
        guard let entity = keys.first(where: { $0.key == "entity" }) else {
            report(field, children.keyMark, "children need the entity of the list: write entity")
            return []
        }
        let section = Section(
            field: String(field.dropLast(".children".count)), mark: children.keyMark,
            values: ["children": children.value])
        return entries(section, "children", of: "names to endpoints").map { child in
            (child.asChild(of: entity, api: keys.first { $0.key == "api" }), "\(field).\(child.key)")
        }
    }

    /// Whether the records of a list are excerpts by default: a child requests them as a whole.
    func listsExcerpts(_ section: Section, _ entity: String?) -> Bool {
        guard case .mapping(let children)? = section["children"]?.content, let entity else { return false }
        return children.contains { child in
            guard case .mapping(let keys) = child.value.content else { return false }
            guard let own = keys.first(where: { $0.key == "entity" })?.value.content else { return true }
            if case .scalar(entity, _) = own { return true }
            return false
        }
    }
}

extension YAMLValue.Entry {
    /// The endpoint of a child, with `for_each` and the default entity.
    ///
    /// `parent`, a relationship, and `only` become parts of `for_each`.
    fileprivate func asChild(of entity: YAMLValue.Entry, api: YAMLValue.Entry?) -> YAMLValue.Entry {
        guard case .mapping(var keys) = value.content else { return self }
        let own = keys.filter { $0.key == "parent" || $0.key == "only" }
        if !keys.contains(where: { $0.key == "for_each" }) {
            keys.removeAll { $0.key == "parent" || $0.key == "only" }
            let forEach = [YAMLValue.Entry(key: "entity", keyMark: entity.keyMark, value: entity.value)] + own
            keys.append(
                YAMLValue.Entry(
                    key: "for_each", keyMark: keyMark, value: YAMLValue(mark: value.mark, content: .mapping(forEach))))
        }
        if let api, !keys.contains(where: { $0.key == "api" }) { keys.append(api) }
        if !keys.contains(where: { $0.key == "entity" }), !value.hasRecordsOfSeveralEntities { keys.append(entity) }
        return YAMLValue.Entry(key: key, keyMark: keyMark, value: YAMLValue(mark: value.mark, content: .mapping(keys)))
    }
}

extension YAMLValue {
    /// Whether it is an endpoint whose `records` names an entity for each key path.
    fileprivate var hasRecordsOfSeveralEntities: Bool {
        guard case .mapping(let keys) = content, let records = keys.first(where: { $0.key == "records" }) else {
            return false
        }
        if case .mapping = records.value.content { return true }
        return false
    }
}
