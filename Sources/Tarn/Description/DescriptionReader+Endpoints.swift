// The `endpoints` section: the named requests, how their pages follow each other, and what they are walked for.

import TarnHTTP
import TarnImport
import TarnStore

extension DescriptionReader {
    mutating func endpoints(_ top: Section, _ schema: Schema) -> [Endpoint] {
        var endpoints: [Endpoint] = []
        for entry in entries(top, "endpoints", of: "names to endpoints") {
            if let endpoint = endpoint(entry, schema) { endpoints.append(endpoint) }
        }
        return endpoints
    }

    private mutating func endpoint(_ entry: YAMLValue.Entry, _ schema: Schema) -> Endpoint? {
        let field = "endpoints.\(entry.key)"
        let isName = entry.key.utf8.allSatisfy {
            (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x5F || $0 == 0x2D
        }
        if !isName || entry.key.isEmpty {
            report(field, entry.keyMark, "an endpoint's name has only the letters a–z and A–Z, digits, _ and -")
        }
        guard
            let section = section(
                entry.value, field, keys: ["path", "with", "records", "entity", "paginate", "for_each", "commit", "orphans"],
                required: DescriptionReader.hasEnvelope(entry.value) ? ["path"] : ["path", "entity"],
                instead: ["since": DescriptionReader.unsupported],
                example: ["path": "path: /issues", "entity": "entity: Issue"])
        else { return nil }
        let path = text(section, "path")
        let template = path.flatMap { pathTemplate($0, section) }
        let parameters = parameters(section)
        let envelope = envelope(section, schema)
        let records = envelope != nil ? nil : text(section, "records").flatMap {
            plainKeyPath($0, section.path("records"), section["records"]?.mark ?? section.mark)
        }
        let entity = envelope.map { $0.first?.entity } ?? entityName(section, "entity", schema)
        let pagination = pagination(section)
        let forEach = forEach(section, listing: entity, schema)
        let commitUnit = commitUnit(section), orphans = orphans(section, entity: entity, isEnvelope: envelope != nil, forEach, schema)
        if envelope != nil, forEach?.parent != nil {
            report(at: section.path("for_each.parent"), "the records are of several entities: take the parent by a key path, such as '@param.milestone.id'")
        }
        if let template {
            check(template, parameters, forEach, section, schema)
            check(pagination, parameters, template, section)
        }
        guard let path, let entity else { return nil }
        return Endpoint(
            name: entry.key, path: path, parameters: parameters, records: records ?? KeyPath(keys: []), entity: entity,
            envelope: envelope ?? [], pagination: pagination ?? .singlePage, forEach: forEach, commitUnit: commitUnit, orphans: orphans,
            place: "\(file):\(entry.keyMark.line)")
    }

    private static func hasEnvelope(_ endpoint: YAMLValue) -> Bool {
        guard case .mapping(let entries) = endpoint.content, let records = entries.first(where: { $0.key == "records" }) else { return false }
        if case .mapping = records.value.content { return true }
        return false
    }

    mutating func entityName(_ section: Section, _ key: String, _ schema: Schema) -> String? {
        guard let name = text(section, key) else { return nil }
        // That there are no entities has been reported.
        if schema.entities.isEmpty { return name }
        if !schema.entities.contains(where: { $0.name == name }) {
            report(section, key, Spelling.unknown("entity", name, among: schema.entities.map(\.name)))
            return nil
        }
        return name
    }

    private mutating func parameters(_ section: Section) -> [Endpoint.Parameter] {
        entries(section, "with", of: "names to values").compactMap { entry in
            let field = "\(section.path("with")).\(entry.key)"
            guard let value = text(entry.value, field) else { return nil }
            if entry.key.isEmpty { report(field, entry.keyMark, "a parameter needs a name") }
            return Endpoint.Parameter(entry.key, value)
        }
    }

    // MARK: Path

    mutating func pathTemplate(_ path: String, _ section: Section, _ key: String = "path") -> PathTemplate? {
        if let message = DescriptionReader.problem(ofPath: path) {
            report(section, key, message)
            return nil
        }
        do {
            return try PathTemplate(path)
        } catch {
            // The field says already which template it is.
            report(section, key, error.description.replacing("\(path): ", with: "", maxReplacements: 1))
            return nil
        }
    }

    /// What a template may hold and the path of an endpoint may not.
    private static func problem(ofPath path: String) -> String? {
        if !path.hasPrefix("/") { return "a path begins with /: the base URL goes before it" }
        if path.contains("?") { return "a path has no query: write its parameters under with" }
        if path.contains("#") { return "a path has no fragment: remove the # and what follows" }
        if path.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7F }) {
            return "a path has no spaces or control characters: write them percent-encoded"
        }
        return nil
    }

    /// Every name of the path has a value, from `with` or from the record of `for_each`.
    private mutating func check(
        _ template: PathTemplate, _ parameters: [Endpoint.Parameter], _ forEach: Endpoint.ForEach?, _ section: Section,
        _ schema: Schema
    ) {
        // Without a readable for_each, its names cannot be judged.
        if isReported(in: section.path("for_each")) { return }
        var usesRecord = false
        for name in template.variables {
            let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if let forEach, parts[0] == forEach.variable {
                usesRecord = true
                checkVariable(name, attribute: parts.count == 2 ? parts[1] : nil, forEach, section, "path", schema)
                if parameters.contains(where: { $0.name == name }) {
                    report(at: "\(section.path("with")).\(name)", "for_each gives this its value: remove the line")
                }
            } else if let value = parameters.first(where: { $0.name == name })?.value {
                // They would name another resource: RFC 3986 §5.2.4 removes such segments.
                if ["", ".", ".."].contains(value) {
                    report(at: "\(section.path("with")).\(name)", "stands in the path and cannot be \"\(value)\" there")
                }
            } else if !isReported("\(section.path("with")).\(name)") {
                reportWithoutValue(name, parts, parameters, forEach, section, schema)
            }
        }
        if let forEach, !usesRecord {
            report(
                section, "for_each",
                "the path does not use {\(forEach.variable).…}, so every request would be the same: use it, or remove for_each"
            )
        }
    }

    mutating func checkVariable(
        _ name: String, attribute: String?, _ forEach: Endpoint.ForEach, _ section: Section, _ key: String,
        _ schema: Schema
    ) {
        let attributes = schema.entities.first { $0.name == forEach.entity }?.attributes ?? []
        if attributes.isEmpty, isReported("entities.\(forEach.entity).attributes") || schema.entities.isEmpty { return }
        guard let attribute else {
            let example = attributes.first?.name ?? "id"
            report(
                section, key, "{\(name)} is a whole record: name one of its attributes, such as {\(name).\(example)}"
            )
            return
        }
        guard let definition = attributes.first(where: { $0.name == attribute }) else {
            let message = Spelling.unknown("attribute", attribute, among: attributes.map(\.name))
            report(section, key, "{\(name)}: \(message)")
            return
        }
        switch definition.type {
        case .json, .array:
            report(
                section, key,
                "{\(name)} is of type \(definition.type.word) and cannot stand in a path: use another attribute")
        default: break
        }
    }

    private mutating func reportWithoutValue(
        _ name: String, _ parts: [String], _ parameters: [Endpoint.Parameter], _ forEach: Endpoint.ForEach?,
        _ section: Section,
        _ schema: Schema
    ) {
        let message: String
        if parts.count == 2, let entity = schema.entities.first(where: { variable(of: $0.name) == parts[0] }),
            forEach == nil
        {
            message = "write for_each: \(entity.name) to walk this endpoint for every \(entity.name)"
        } else if let forEach, parts.count == 2 {
            message =
                "the record of for_each is called \(forEach.variable) here: write {\(forEach.variable).\(parts[1])}"
        } else if let near = Spelling.nearest(to: name, among: parameters.map(\.name)) {
            message = "did you mean {\(near)}?"
        } else {
            message = "write with: { \(name): … }"
        }
        report(section, "path", "{\(name)} has no value: \(message)")
    }

    // MARK: Pagination

    private static let knownPaginations = ["single_page", "header_link", "page_number"]
    /// Planned, and not there yet.
    private static let laterPaginations = ["json_link", "header_cursor", "cursor", "offset", "max_id", "auto"]

    private mutating func pagination(_ endpoint: Section) -> Pagination? {
        guard let value = endpoint["paginate"] else { return nil }
        let field = endpoint.path("paginate")
        guard case .mapping(let entries) = value.content else {
            guard let name = text(value, field) else { return nil }
            switch name {
            case "single_page": return .singlePage
            case "header_link": return .headerLink()
            case "page_number":
                report(field, value.mark, "page_number needs its parameter: write { page_number: { param: page } }")
            default: reportUnknownPagination(name, field, value.mark)
            }
            return nil
        }
        guard entries.count == 1, let entry = entries.first else {
            report(
                field, value.mark, "expected one style, such as { header_link: { rel: next } }, found \(entries.count)")
            return nil
        }
        // Its key is recorded as a section's, so that what is missing below it is reported there.
        let styles = DescriptionReader.knownPaginations + DescriptionReader.laterPaginations
        guard styles.contains(entry.key), let style = section(value, field, keys: styles)?[entry.key] else {
            reportUnknownPagination(entry.key, field, entry.keyMark)
            return nil
        }
        switch entry.key {
        case "header_link": return headerLink(style, "\(field).header_link")
        case "page_number": return pageNumber(style, "\(field).page_number")
        case "single_page":
            report("\(field).single_page", entry.keyMark, "single_page has no options: write paginate: single_page")
        default: reportUnknownPagination(entry.key, field, entry.keyMark)
        }
        return nil
    }

    private mutating func reportUnknownPagination(_ name: String, _ field: String, _ mark: Mark) {
        let known = DescriptionReader.knownPaginations
        if DescriptionReader.laterPaginations.contains(name) {
            report(
                field, mark, "\"\(name)\" is not supported by this version; there are \(known.joined(separator: ", "))")
        } else {
            report(field, mark, Spelling.unknown("pagination", name, among: known))
        }
    }

    private mutating func headerLink(_ value: YAMLValue, _ field: String) -> Pagination? {
        guard let section = section(value, field, keys: ["rel"], required: ["rel"], example: ["rel": "rel: next"]),
            let relation = text(section, "rel")
        else { return nil }
        guard !relation.contains(where: \.isWhitespace) else {
            report(section, "rel", "a link relation has no spaces: name one (RFC 8288 §3.3)")
            return nil
        }
        return .headerLink(relation: relation)
    }

    private mutating func pageNumber(_ value: YAMLValue, _ field: String) -> Pagination? {
        guard
            let section = section(
                value, field, keys: ["param", "start", "per_page"], required: ["param"],
                example: ["param": "param: page"])
        else { return nil }
        let parameter = text(section, "param")
        let start = section["start"].map { integer($0, section.path("start"), minimum: 0) } ?? 1
        var size: Pagination.PageSize?
        if let perPage = section["per_page"] {
            let path = section.path("per_page")
            guard case .mapping(let entries) = perPage.content, entries.count == 1, let entry = entries.first,
                !entry.key.isEmpty
            else {
                report(
                    path, perPage.mark,
                    "expected one parameter and its value, such as { per_page: 100 }, found \(perPage.kind)")
                return nil
            }
            guard let number = integer(entry.value, "\(path).\(entry.key)", minimum: 1) else { return nil }
            size = .init(parameter: entry.key, value: number)
            if entry.key == parameter {
                report(
                    "\(path).\(entry.key)", entry.keyMark,
                    "param has this name already: the page and its size are two parameters")
            }
        }
        guard let parameter, let start else { return nil }
        return .pageNumber(parameter: parameter, start: start, size: size)
    }

    /// What the pagination sends cannot be set by `with` too.
    private mutating func check(
        _ pagination: Pagination?, _ parameters: [Endpoint.Parameter], _ template: PathTemplate, _ section: Section
    ) {
        guard case .pageNumber(let parameter, _, let size) = pagination else { return }
        for name in [parameter, size?.parameter].compactMap(\.self) {
            if template.variables.contains(name) {
                report(section, "path", "{\(name)} is what paginate sends as a query parameter: choose another name")
            } else if parameters.contains(where: { $0.name == name }) {
                report(at: "\(section.path("with")).\(name)", "paginate sends this parameter: remove the line")
            }
        }
    }

    // MARK: for_each

    private func variable(of entity: String) -> String { Endpoint.ForEach.variable(of: entity) }

    private mutating func forEach(_ endpoint: Section, listing entity: String?, _ schema: Schema) -> Endpoint.ForEach? {
        guard let value = endpoint["for_each"] else { return nil }
        guard case .mapping = value.content else {
            guard let name = entityName(endpoint, "for_each", schema) else { return nil }
            return .init(entity: name, parent: nil, variable: variable(of: name))
        }
        guard
            let section = section(
                value, endpoint.path("for_each"), keys: ["entity", "parent"], required: ["entity"],
                example: ["entity": "entity: Milestone"]),
            let name = entityName(section, "entity", schema)
        else { return nil }
        let parent = text(section, "parent")
        if let parent, let entity, let listed = schema.entities.first(where: { $0.name == entity }),
            !isReported(in: "entities.\(entity).relationships.\(parent)")
        {
            checkParent(parent, of: listed, to: name, section)
        }
        return .init(entity: name, parent: parent, variable: variable(of: name))
    }

    private mutating func checkParent(
        _ parent: String, of listed: EntityDefinition, to entity: String, _ section: Section
    ) {
        guard let relationship = listed.relationships.first(where: { $0.name == parent }) else {
            let names = listed.relationships.filter { !$0.isToMany && $0.destination == entity }.map(\.name)
            report(
                section, "parent",
                "\(Spelling.unknown("relationship", parent, among: names)) (of \(listed.name), to \(entity))")
            return
        }
        if relationship.destination != entity {
            report(
                section, "parent",
                "\(listed.name).\(parent) leads to \(relationship.destination), not to \(entity): name one that does")
        } else if relationship.isToMany {
            report(section, "parent", "\(listed.name).\(parent) is to-many: only a to-one relationship has one parent")
        }
    }
}
