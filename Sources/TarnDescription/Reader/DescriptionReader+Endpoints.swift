// The `endpoints` section: named requests, their paths, parameters and parents.

import TarnHTTP
import TarnImport
import TarnStore

extension DescriptionReader {
    mutating func endpoints(_ top: Section, _ schema: Schema) -> [Endpoint] {
        var endpoints: [Endpoint] = []
        for entry in entries(top, "endpoints", of: "names to endpoints") {
            add(entry, "endpoints.\(entry.key)", schema, to: &endpoints)
        }
        return endpoints
    }

    /// Adds an endpoint, and then its children, which follow it in the order of the requests.
    private mutating func add(
        _ entry: YAMLValue.Entry, _ field: String, _ schema: Schema, to endpoints: inout [Endpoint]
    ) {
        if endpointNames.contains(entry.key) {
            report(field, entry.keyMark, "another endpoint has this name: write a different one")
        }
        if let endpoint = endpoint(entry, field, schema) {
            endpoints.append(endpoint)
            endpointNames.insert(endpoint.name)
        }
        for (child, itsField) in children(of: entry, field) { add(child, itsField, schema, to: &endpoints) }
    }

    private mutating func endpoint(_ entry: YAMLValue.Entry, _ field: String, _ schema: Schema) -> Endpoint? {
        checkName(entry, field, of: "endpoint")
        guard let section = endpointSection(entry, field, schema) else { return nil }
        let api = apiName(section)
        currentAPI = readAPI(api)
        if section["parent"] != nil {
            report(section, "parent", "only a child has a parent: write for_each: { entity: …, parent: … }")
        }
        if section["only"] != nil {
            report(section, "only", "only a child has it here: write for_each: { entity: …, only: changed }")
        }
        let envelope = envelope(section, schema)
        let entity = envelope.map { $0.first?.entity } ?? entityName(section, "entity", schema)
        let forEach = forEach(section, listing: entity, schema)
        let own = parameters(parameters(section, "with"), of: forEach, section, schema), headers = headers(section)
        let names = Set(own.map(\.name)), parameters = own + currentAPI.parameters.filter { !names.contains($0.name) }
        let records = envelope == nil ? recordsPath(section) : nil
        let columns = columns(section, isEnvelope: envelope != nil, records ?? JSONPath(keys: []))
        let pagination = pagination(section), deep = deepPages(section, pagination), limits = limits(section),
            more = more(section)
        let (method, body) = requestBody(section), incremental = incremental(section, parameters, pagination),
            partitions = partitions(section, parameters, pagination)
        let all = parameters + partitions.compactMap { part in part.values.first.map { .init(part.name, $0) } }
        let template = endpointPath(section, all, forEach, schema)
        let commitUnit = commitUnit(section),
            orphans = orphans(section, entity: entity, isEnvelope: envelope != nil, forEach, schema)
        if envelope != nil, forEach?.parent != nil {
            report(
                at: section.path("for_each.parent"),
                "for_each.parent needs records of a single entity: use a key path, such as '@param.milestone.id'")
        }
        if let template {
            check(template, Endpoint.variables(in: own, body, incremental), all, forEach, section, schema)
            check(pagination, parameters, template, section)
            check(body, all, forEach, section, schema)
            check(partitions, own, incremental, deep, template, section)
        }
        check(incremental, all, forEach, section, schema)
        checkPlaces(incremental, deep, pagination, body, section)
        let responses = responses(section), metadata = metadata(section)
        let format: BodyForm? = word(section, "format", "format"), wait = answerWait(section)
        guard let path = template?.description, let entity else { return nil }
        var endpoint = Endpoint(
            name: entry.key, path: path, parameters: own, records: records ?? JSONPath(keys: []),
            entity: entity, pagination: pagination ?? .automatic)
        endpoint.api = api
        endpoint.headers = headers
        endpoint.method = method
        endpoint.body = body
        endpoint.format = format ?? .json
        endpoint.wait = wait
        endpoint.envelope = envelope ?? []
        endpoint.columns = columns
        endpoint.deep = deep
        endpoint.limits = limits
        endpoint.more = more
        endpoint.incremental = incremental
        endpoint.partitions = partitions
        endpoint.forEach = forEach
        endpoint.commitUnit = commitUnit
        endpoint.prefetches = section["prefetch"] == nil || flag(section, "prefetch")
        if !endpoint.prefetches, section["commit"] != nil {
            report(section, "commit", "prefetch: false commits each page before the next request: remove the line")
        }
        endpoint.orphans = orphans
        endpoint.schedule = schedule(section)
        endpoint.responses = responses
        endpoint.metadata = metadata
        endpoint.followsURL = section["url"] != nil
        endpoint.listsExcerpts =
            section["excerpts"] != nil ? flag(section, "excerpts") : listsExcerpts(section, entity)
        endpoint.place = "\(entry.keyMark.file ?? file):\(entry.keyMark.line)"
        return endpoint
    }

    /// Reports a name that could be mistaken on a command line.
    mutating func checkName(_ entry: YAMLValue.Entry, _ field: String, of what: String) {
        let isName = entry.key.utf8.allSatisfy {
            (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x5F || $0 == 0x2D
        }
        if !isName || entry.key.isEmpty {
            report(field, entry.keyMark, "invalid \(what) name: use the letters a–z and A–Z, digits, _ and -")
        }
    }

    private mutating func endpointSection(
        _ entry: YAMLValue.Entry, _ field: String, _ schema: Schema
    ) -> Section? {
        let value = entry.value, names = schema.entities.map(\.name)
        let singular = entry.key.hasSuffix("s") ? String(entry.key.dropLast()) : entry.key
        let entity = names.first { $0.lowercased() == singular.lowercased() } ?? names.first ?? "Issue"
        return section(
            value, field,
            keys: [
                "path", "with", "headers", "method", "body", "form", "format", "wait", "records", "columns", "entity",
                "paginate", "restart", "limit", "more", "for_each", "commit", "orphans",
                "responses", "metadata", "since", "partitions", "url", "excerpts", "children",
                "parent", "only", "api", "every", "at", "like", "each", "prefetch",
            ],
            required: (value.hasKey("url") ? [] : ["path"])
                + (DescriptionReader.hasEnvelope(value) ? [] : ["entity"]),
            example: ["path": "path: /issues", "entity": "entity: \(entity)"])
    }

    /// Reads the key path of the records of one entity.
    private mutating func recordsPath(_ section: Section) -> JSONPath? {
        guard let text = text(section, "records") else { return nil }
        return plainKeyPath(text, section.path("records"), section["records"]?.mark ?? section.mark)
    }

    /// Reads names and key paths from the root of a response.
    private mutating func metadata(_ section: Section) -> [Endpoint.Metadata] {
        entries(section, "metadata", of: "names to key paths").compactMap { entry in
            let field = "\(section.path("metadata")).\(entry.key)"
            if entry.key.isEmpty { report(field, entry.keyMark, "metadata needs a name") }
            guard let text = text(entry.value, field) else { return nil }
            return plainKeyPath(text, field, entry.value.mark).map { Endpoint.Metadata(entry.key, $0) }
        }
    }

    private static func hasEnvelope(_ endpoint: YAMLValue) -> Bool {
        guard case .mapping(let entries) = endpoint.content, let records = entries.first(where: { $0.key == "records" })
        else { return false }
        if case .mapping = records.value.content { return true }
        return false
    }

    mutating func entityName(_ section: Section, _ key: String, _ schema: Schema) -> String? {
        guard let name = text(section, key) else { return nil }
        // The missing entities are reported already.
        if schema.entities.isEmpty { return name }
        if !schema.entities.contains(where: { $0.name == name }) {
            report(section, key, Spelling.unknown("entity", name, among: schema.entities.map(\.name)))
            return nil
        }
        return name
    }

    /// Reads parameters. A list becomes several parameters of one name.
    mutating func parameters(_ section: Section, _ key: String) -> [Endpoint.Parameter] {
        entries(section, key, of: "names to values").flatMap { entry -> [Endpoint.Parameter] in
            let field = "\(section.path(key)).\(entry.key)"
            if entry.key.isEmpty { report(field, entry.keyMark, "a parameter needs a name") }
            guard case .list(let list) = entry.value.content else {
                return parameterText(entry.value, field).map { [Endpoint.Parameter(entry.key, $0)] } ?? []
            }
            return list.compactMap { value in parameterText(value, field).map { Endpoint.Parameter(entry.key, $0) } }
        }
    }

    private mutating func parameterText(_ value: YAMLValue, _ field: String) -> String? {
        text(value, field).flatMap { variables(in: $0, field, value.mark) }
    }

    /// The field that declares a parameter: of the endpoint, else of the API.
    func field(ofParameter name: String, _ section: Section) -> String {
        let own = "\(section.path("with")).\(name)"
        return isRecorded(own) || !currentAPI.parameters.contains { $0.name == name }
            ? own : "\(currentAPI.field).parameters.\(name)"
    }

    // MARK: Path

    /// Checks that every variable of the path has a value, from `with` or from the parent record.
    ///
    /// - Parameter others: the variables of other parts of the request.
    private mutating func check(
        _ template: PathTemplate, _ others: [String], _ parameters: [Endpoint.Parameter],
        _ forEach: Endpoint.ForEach?, _ section: Section, _ schema: Schema
    ) {
        // If `for_each` is unreadable, its variables cannot be checked.
        if isReported(in: section.path("for_each")) { return }
        var usesRecord = others.contains { name in forEach.map { name.hasPrefix($0.variable + ".") } ?? false }
        for name in template.variables {
            let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if let forEach, parts[0] == forEach.variable {
                usesRecord = true
                checkVariable(
                    name, attribute: parts.count == 2 ? parts[1] : nil, forEach, section, section.requestKey, schema)
                if parameters.contains(where: { $0.name == name }) {
                    report(at: field(ofParameter: name, section), "for_each sets this parameter: remove the line")
                }
            } else if let value = parameters.first(where: { $0.name == name })?.value {
                // Such a value would name another resource: RFC 3986 §5.2.4 removes these segments.
                if ["", ".", ".."].contains(value) {
                    report(at: field(ofParameter: name, section), "a value in the path cannot be \"\(value)\"")
                }
            } else if !isReported(field(ofParameter: name, section)), !isReported("\(currentAPI.field).parameters") {
                reportWithoutValue(name, parts, parameters, forEach, section, schema)
            }
        }
        if let forEach, !usesRecord {
            report(
                section, "for_each",
                "the path does not use {\(forEach.variable).…}, so every request would be the same: use it there, "
                    + "under with or in the body, or remove for_each"
            )
        }
    }

    /// Checks that every variable of the body has a value.
    private mutating func check(
        _ body: TransportBody?, _ parameters: [Endpoint.Parameter], _ forEach: Endpoint.ForEach?, _ section: Section,
        _ schema: Schema
    ) {
        let key = section["body"] == nil ? "form" : "body"
        for name in body?.placeholders ?? [] where !parameters.contains(where: { $0.name == name }) {
            if let forEach, name.hasPrefix(forEach.variable + ".") {
                let attribute = String(name.dropFirst(forEach.variable.count + 1))
                checkVariable(name, attribute: attribute, forEach, section, key, schema)
            } else {
                report(section, key, "no value for {\(name)}: write with: { \(name): … }")
            }
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
            message = "write for_each: \(entity.name) to request this endpoint for every \(entity.name)"
        } else if let forEach, parts.count == 2 {
            message =
                "the record of for_each is called \(forEach.variable) here: write {\(forEach.variable).\(parts[1])}"
        } else if let near = Spelling.nearest(to: name, among: parameters.map(\.name)) {
            message = "did you mean {\(near)}?"
        } else {
            message = "write with: { \(name): … }"
        }
        report(section, section.requestKey, "no value for {\(name)}: \(message)")
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
                value, endpoint.path("for_each"), keys: ["entity", "parent", "only"], required: ["entity"],
                example: ["entity": "entity: Milestone"]),
            let name = entityName(section, "entity", schema)
        else { return nil }
        let parent = text(section, "parent")
        if let parent, let entity, let listed = schema.entities.first(where: { $0.name == entity }),
            !isReported(in: "entities.\(entity).relationships.\(parent)")
        {
            checkParent(parent, of: listed, to: name, section)
        }
        var forEach = Endpoint.ForEach(entity: name, parent: parent, variable: variable(of: name))
        if let only = text(section, "only") {
            if only != "changed" { report(section, "only", "expected changed, found \"\(only)\"") }
            forEach.onlyChanged = only == "changed"
            if endpoint["orphans"] != nil {
                report(
                    section, "only",
                    "orphans need the lists of all records, also of those that have not changed: remove one of the two")
            }
        }
        return forEach
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
                "\(listed.name).\(parent) refers to \(relationship.destination): use a relationship to \(entity)")
        } else if relationship.isToMany {
            report(section, "parent", "\(listed.name).\(parent) is to-many: use a to-one relationship")
        }
    }
}
