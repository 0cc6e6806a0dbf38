// The `write` of an entity: the requests that send local changes.

import TarnHTTP
import TarnImport
import TarnStore

extension DescriptionReader {
    /// Reads `write` of an entity; nil if it is absent.
    mutating func writes(_ entity: Section) -> WriteRequests? {
        guard let value = entity["write"],
            let section = section(
                value, entity.path("write"),
                keys: [
                    "create", "update", "delete", "fields", "relationships", "read", "base", "idempotency",
                    "conflicts", "overlap",
                ])
        else { return nil }
        var writes = WriteRequests()
        writes.create = writeRequest(section, "create", example: "POST /issues")
        writes.update = writeRequest(section, "update", example: "PATCH /issues/{id}")
        writes.delete = writeRequest(section, "delete", example: "DELETE /issues/{id}")
        writes.fields = fieldRequests(section)
        for entry in entries(section, "relationships", of: "to-many relationships to requests") {
            let field = "\(section.path("relationships")).\(entry.key)"
            guard let inner = self.section(entry.value, field, keys: ["add", "remove", "base"]) else { continue }
            writes.relationships[entry.key] = WriteRequests.MemberRequests(
                add: writeRequest(inner, "add", example: "PUT /issues/{id}/labels/{member.id}"),
                remove: writeRequest(inner, "remove", example: "DELETE /issues/{id}/labels/{member.id}"),
                base: writeBase(inner))
        }
        if let text = text(section, "read"), urlTemplate(text, section, "read") { writes.read = text }
        writes.base = writeBase(section)
        if let name = text(section, "idempotency") {
            writes.idempotency = name == "none" ? nil : name
            if !name.utf8.allSatisfy(DescriptionReader.isTokenByte) {
                report(section, "idempotency", "expected the name of a header field, or none")
            }
        }
        writes.conflicts = conflictRule(section)
        return writes
    }

    /// The words of `conflicts`.
    enum ConflictWord: String, CaseIterable {
        case server, client
        case perField = "per_field"
    }

    private mutating func conflictRule(_ section: Section) -> ConflictRule? {
        let word: ConflictWord? = word(section, "conflicts", "conflict rule")
        let overlap: ConflictRule.Overlap? = self.word(section, "overlap", "rule for overlapping changes")
        if section["overlap"] != nil, word != .perField, !isReported(section.path("conflicts")) {
            report(
                section, "overlap", "overlap is part of a rule by field: add conflicts: per_field, or remove the line")
        }
        return switch word {
        case .server: .server
        case .client: .client
        case .perField: .perField(overlap: overlap ?? .hold)
        case nil: nil
        }
    }

    private mutating func writeBase(_ section: Section) -> String? {
        guard let text = variableText(section, "base") else { return nil }
        do throws(HTTPURLError) {
            let url = try HTTPURL(text)
            if url.query != nil { report(section, "base", "a base URL has no query: remove it") }
        } catch {
            report(section, "base", "\(error)")
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    // MARK: Requests

    /// The keys of a request in its long form.
    private static let requestKeys = [
        "request", "body", "format", "envelope", "fields", "mask", "set", "places", "references", "records", "headers",
    ]

    /// Reads `POST /issues`, or the same with options.
    mutating func writeRequest(_ owner: Section, _ key: String, example: String) -> WriteRequest? {
        guard let value = owner[key] else { return nil }
        let field = owner.path(key)
        guard case .mapping = value.content else { return requestLine(owner, key, example) }
        guard
            let section = section(
                value, field, keys: DescriptionReader.requestKeys, required: ["request"],
                example: ["request": "request: \(example)"]),
            var request = requestLine(section, "request", example)
        else { return nil }
        request.body = word(section, "body", "content of a body")
        if let format: WriteRequest.Format = word(section, "format", "format") { request.format = format }
        if let text = text(section, "envelope"),
            let path = place(text, section.path("envelope"), section["envelope"]?.mark ?? section.mark)
        {
            request.envelope = path
            checkPatch(path, request, section.path("envelope"), section["envelope"]?.mark ?? section.mark)
            // An answer has the record where the body has it, unless `records` names another place.
            if path.isPlain { request.records = path }
        }
        if section["fields"] != nil { request.fields = Set(texts(section, "fields").map(\.text)) }
        if let name = text(section, "mask") {
            request.mask = name
            if key != "update" { report(section, "mask", "only an update has a mask of the fields that it changes") }
        }
        for entry in entries(section, "set", of: "key paths to values") {
            let inner = "\(section.path("set")).\(entry.key)"
            guard let path = place(entry.key, inner, entry.keyMark) else { continue }
            checkPatch(path, request, inner, entry.keyMark)
            // A plain word that is no JSON is a text.
            var json = DescriptionReader.json(entry.value)
            if json == nil, case .scalar(let text, _) = entry.value.content { json = .string(text) }
            request.values.append(.init(path, json ?? .null))
        }
        for entry in entries(section, "places", of: "fields to key paths") {
            let inner = "\(section.path("places")).\(entry.key)"
            guard let text = text(entry.value, inner) else { continue }
            guard let path = plainKeyPath(text, inner, entry.value.mark) else { continue }
            if path.isPlaceOfField {
                request.places[entry.key] = path
            } else {
                report(
                    inner, entry.value.mark,
                    "\"\(text)\" is no place in a body: use keys, such as author.id, and behind them [0] or * for a list"
                )
            }
        }
        references(section, into: &request)
        if let text = text(section, "records"),
            let path = plainKeyPath(text, section.path("records"), section["records"]?.mark ?? section.mark)
        {
            request.records = path
        }
        request.headers = headers(section)
        return request
    }

    /// Reads a form for all relationships, or a form or a template for each.
    private mutating func references(_ section: Section, into request: inout WriteRequest) {
        guard let value = section["references"] else { return }
        guard case .mapping = value.content else {
            if let form: ReferenceForm = word(section, "references", "form of references") { request.references = form }
            return
        }
        for entry in entries(section, "references", of: "relationships to forms") {
            let field = "\(section.path("references")).\(entry.key)"
            if let template = referenceTemplate(entry.value, field) {
                request.referenceTemplates[entry.key] = template
                continue
            }
            guard let text = text(entry.value, field) else { continue }
            if let form = ReferenceForm(rawValue: text) {
                request.referenceForms[entry.key] = form
            } else {
                let known = ReferenceForm.allCases.map(\.rawValue)
                report(field, entry.value.mark, Spelling.unknown("form of references", text, among: known))
            }
        }
    }

    /// Reads a template of references, `{ type: users, id: '{id}' }` or `'Users({id})'`; nil for
    /// another value.
    private mutating func referenceTemplate(_ value: YAMLValue, _ field: String) -> JSONValue? {
        let json: JSONValue
        switch value.content {
        case .scalar(let text, _) where !text.contains("{"): return nil
        case .scalar(let text, _): json = .string(text)
        case .list, .mapping: json = DescriptionReader.json(value) ?? .null
        }
        if json.templateVariables.isEmpty {
            report(
                field, value.mark,
                "the template has no variable: write an attribute of the other entity in braces, such as '{id}'")
        }
        return json
    }

    /// Reads a key path in a body: keys, and `[0]` behind them.
    private mutating func place(_ text: String, _ field: String, _ mark: Mark) -> JSONPath? {
        guard let path = plainKeyPath(text, field, mark) else { return nil }
        guard path.isPlaceOfField, !path.hasWildcard else {
            report(
                field, mark,
                "\"\(text)\" is no place in a body: use keys, such as author.id, and behind them [0] for a list")
            return nil
        }
        return path
    }

    /// Reports a place in a list of a JSON patch, whose pointers cannot create the list.
    private mutating func checkPatch(_ path: JSONPath, _ request: WriteRequest, _ field: String, _ mark: Mark) {
        guard request.format == .jsonPatch, !path.isPlain else { return }
        report(field, mark, "a json_patch creates no list: write keys only, or another format")
    }

    /// Reads a method and a URL template.
    private mutating func requestLine(_ section: Section, _ key: String, _ example: String) -> WriteRequest? {
        guard let line = text(section, key) else { return nil }
        let words = line.split(separator: " ", omittingEmptySubsequences: true).map(String.init)
        guard words.count == 2 else {
            report(section, key, "expected a method and a URL, such as \(example), found \"\(line)\"")
            return nil
        }
        let methods = ["POST", "PUT", "PATCH", "DELETE"]
        guard methods.contains(words[0]) else {
            report(section, key, Spelling.unknown("method", words[0], among: methods))
            return nil
        }
        guard urlTemplate(words[1], section, key) else { return nil }
        var request = WriteRequest(words[0], words[1])
        let mark = section[key]?.mark ?? section.mark
        request.place = "\(mark.file ?? file):\(mark.line)"
        return request
    }

    private mutating func urlTemplate(_ text: String, _ section: Section, _ key: String) -> Bool {
        guard text.hasPrefix("/") || text.hasPrefix("https://") || text.hasPrefix("http://") else {
            report(section, key, "\"\(text)\" is no URL: begin it with /, it is appended to the base URL")
            return false
        }
        do { _ = try PathTemplate(text) } catch {
            report(section, key, "\(error)")
            return false
        }
        return true
    }

    // MARK: Names

    /// Reports fields, relationships and variables of `write` that the schema does not have.
    mutating func checkWrites(_ schema: Schema) {
        for (name, writes) in writeRequests.sorted(by: { $0.key < $1.key }) {
            let field = "entities.\(name).write", fields = DescriptionReader.fields(of: name, schema)
            for (key, request) in [("create", writes.create), ("update", writes.update), ("delete", writes.delete)] {
                if let request { check(request, "\(field).\(key)", name, nil, schema) }
            }
            checkFields(writes.fields, "\(field).fields", name, schema)
            if let read = writes.read { check(read, "\(field).read", name, nil, schema) }
            for (relationship, requests) in writes.relationships.sorted(by: { $0.key < $1.key }) {
                let inner = "\(field).relationships.\(relationship)"
                let many = fields.compactMap { $0.value.isToMany ? $0.key : nil }.sorted()
                guard many.contains(relationship), let member = fields[relationship]?.destination else {
                    report(inner, keyMark(inner), Spelling.unknown("to-many relationship", relationship, among: many))
                    continue
                }
                for (key, request) in [("add", requests.add), ("remove", requests.remove)] {
                    if let request { check(request, "\(inner).\(key)", name, member, schema) }
                }
            }
        }
    }

    mutating func check(
        _ request: WriteRequest, _ field: String, _ entity: String, _ member: String?, _ schema: Schema
    ) {
        let line = isRecorded("\(field).request") ? "\(field).request" : field
        check(request.url, line, entity, member, schema)
        // The body of a request for a member is the member's.
        let known = DescriptionReader.fields(of: member ?? entity, schema)
        let named: [(String, Set<String>)] = [
            ("fields", request.fields ?? []), ("places", Set(request.places.keys)),
            ("references", Set(request.referenceForms.keys).union(request.referenceTemplates.keys)),
        ]
        for (key, names) in named {
            for name in names.sorted() where known[name] == nil {
                report(at: "\(field).\(key)", Spelling.unknown("field", name, among: known.keys.sorted()))
            }
        }
        for (name, template) in request.referenceTemplates.sorted(by: { $0.key < $1.key }) {
            guard let found = known[name] else { continue }
            guard let destination = found.destination else {
                report(at: "\(field).references", "\(name) is an attribute: only relationships have references")
                continue
            }
            for variable in template.templateVariables {
                if variable.contains(".") {
                    report(
                        at: "\(field).references",
                        "{\(variable)}: a template of references has attributes of \(destination) itself")
                } else if let message = DescriptionReader.problem(ofVariable: variable, destination, nil, schema) {
                    report(at: "\(field).references", message)
                }
            }
        }
        // A list has a form in a body, but none in a header field.
        let variables = request.bodyVariables.map { ($0, false) } + request.headerVariables.map { ($0, true) }
        for (variable, needsOneValue) in variables {
            if let message = DescriptionReader.problem(
                ofVariable: variable, entity, member, schema, needsOneValue: needsOneValue)
            {
                report(at: field, message)
            }
        }
    }

    private mutating func check(
        _ url: String, _ field: String, _ entity: String, _ member: String?, _ schema: Schema
    ) {
        guard let template = try? PathTemplate(url) else { return }
        for variable in template.variables {
            if let message = DescriptionReader.problem(ofVariable: variable, entity, member, schema) {
                report(at: field, message)
            }
        }
    }

    private static func problem(
        ofVariable variable: String, _ entity: String, _ member: String?, _ schema: Schema, needsOneValue: Bool = true
    ) -> String? {
        var names = variable.split(separator: ".").map(String.init)[...], entity = entity
        if let member, names.first == "member", names.count > 1 {
            names.removeFirst()
            entity = member
        }
        while let name = names.popFirst() {
            let known = fields(of: entity, schema)
            guard let found = known[name] else {
                return Spelling.unknown("field of \(entity)", name, among: known.keys.sorted()) + " (in {\(variable)})"
            }
            if found.isToMany, needsOneValue || !names.isEmpty {
                return "{\(variable)}: \(name) is to-many: one value is needed"
            }
            guard let destination = found.destination else {
                return names.isEmpty ? nil : "{\(variable)}: \(name) is an attribute, and has no fields"
            }
            entity = destination
        }
        return nil
    }

    /// A field of an entity.
    struct KnownField {
        /// The entity of a relationship; nil for an attribute.
        var destination: String?
        var isToMany = false
        /// The type of an attribute; nil for a relationship.
        var type: AttributeType?
    }

    /// The fields of an entity and of its ancestors.
    static func fields(of entity: String, _ schema: Schema) -> [String: KnownField] {
        var fields: [String: KnownField] = [:], name: String? = entity, seen: Set<String> = []
        while let next = name, seen.insert(next).inserted, let found = schema.entities.first(where: { $0.name == next })
        {
            for attribute in found.attributes { fields[attribute.name] = KnownField(type: attribute.type) }
            for relationship in found.relationships {
                fields[relationship.name] = KnownField(
                    destination: relationship.destination, isToMany: relationship.isToMany)
            }
            name = found.parent
        }
        return fields
    }
}
