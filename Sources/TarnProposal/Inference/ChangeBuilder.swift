// From the changing operations of a specification to the `write` of an entity.

import Tarn

/// Builds the requests that send changes of the records of one list.
struct ChangeBuilder {
    private let entity: ProposedEntity
    private let endpoint: ProposedEndpoint
    /// The shape of the listed records.
    private let records: ObjectShape
    private let naming: NamingConvention
    /// The types of single keys, by the names of entities.
    private let keyTypes: [String: String]

    /// - Parameters:
    ///   - endpoint: the endpoint of the list.
    ///   - style: the style of the keys.
    ///   - keyTypes: the types of single keys, by the names of entities.
    init(
        _ entity: ProposedEntity, _ endpoint: ProposedEndpoint, _ records: ObjectShape, _ style: NamingStyle,
        keyTypes: [String: String] = [:]
    ) {
        self.entity = entity
        self.endpoint = endpoint
        self.records = records
        naming = NamingConvention(style)
        self.keyTypes = keyTypes
    }

    /// Adds the requests of a source that an entity does not have yet.
    func add(_ source: Source, to writes: inout ProposedWrites) {
        for change in source.changes {
            let key = change.kind.rawValue, operation = change.operation
            guard !writes.requests.contains(where: { $0.key == key }) else { continue }
            let name = "\(operation.method) \(YAMLText.comment(operation.path, limit: 120))"
            do throws(Problem) {
                let request = try request(change)
                writes.requests.append(request)
                if operation.method == "PUT", operation.isRead, let url = request.line.split(separator: " ").last {
                    writes.read = String(url)
                }
                writes.idempotency = writes.idempotency ?? operation.idempotencyField
            } catch {
                writes.remarks.append("\(name) is not described: \(error.reason).")
            }
        }
    }

    /// The reason why a description cannot have a request.
    private struct Problem: Error {
        let reason: String
    }

    // MARK: Requests

    private func request(_ change: Source.Change) throws(Problem) -> ProposedWrites.Request {
        let operation = change.operation
        if let problem = operation.problem { throw Problem(reason: problem) }
        let url = try url(of: change)
        var request = ProposedWrites.Request(key: change.kind.rawValue, line: "\(operation.method) \(url)")
        request.comments = ["\(operation.method) \(YAMLText.comment(operation.path, limit: 120)) of the specification"]
        request.comments += doubts(change, url)
        guard change.kind != .delete else { return request }
        if operation.format != .json { request.options.append(("format", operation.format.rawValue)) }
        if operation.method == "POST", change.kind == .update { request.options.append(("body", "changed")) }
        guard let body = operation.body else {
            guard operation.mediaType != nil else { throw Problem(reason: "it declares no body") }
            if operation.format == .json { request.comments.append("UNCERTAIN: it declares no fields: all are sent.") }
            addRecords(of: operation, nil, to: &request)
            return addingHeaders(request, operation)
        }
        try add(body, change, to: &request)
        return addingHeaders(request, operation)
    }

    /// Remarks about the URL of a request.
    private func doubts(_ change: Source.Change, _ url: String) -> [String] {
        var doubts: [String] = []
        if url.contains("CHANGE_ME") {
            doubts.append("UNCERTAIN: write the value for CHANGE_ME, as in the endpoint \(endpoint.name).")
        }
        // `/tags/{tag}` does not say which field names a tag.
        if let field = change.field, let variable = change.operation.segments.last.flatMap(Operation.variable),
            EnglishName.words(of: variable).last != EnglishName.words(of: field).last
        {
            let names = [variable, field].map { YAMLText.comment($0, limit: 40) }
            doubts.append("UNCERTAIN: `{\(names[0])}` of the path is taken for `\(names[1])`.")
        }
        return doubts
    }

    private func addingHeaders(
        _ request: ProposedWrites.Request, _ operation: ChangeOperation
    ) -> ProposedWrites.Request {
        guard operation.format == .json, let type = operation.mediaType, type != "application/json", !type.contains("*")
        else { return request }
        var request = request
        request.options.append(("headers", "{ Content-Type: \(YAMLText.scalar(type)) }"))
        return request
    }

    /// Adds the fields that a body has, in their places.
    private func add(
        _ body: ObjectShape, _ change: Source.Change, to request: inout ProposedWrites.Request
    ) throws(Problem) {
        let envelope = envelope(of: body), inner = envelope.flatMap { body.fields[$0]?.object } ?? body
        if let envelope {
            request.options.append(("envelope", YAMLText.scalar(JSONPath(keys: [envelope]).description)))
        }
        addRecords(of: change.operation, envelope, to: &request)
        var fields: [String] = [], places: [(String, [String])] = [], references: [(String, String)] = []
        var covered: Set<String> = []
        let constants = constants(in: inner, change)
        for attribute in entity.attributes where attribute.constant == nil && attribute.source == nil {
            let path = path(of: attribute)
            guard let value = inner.value(at: path), constants.allSatisfy({ [$0.key] != path }) else { continue }
            if value.declared?.types.contains("object") == true, attribute.type != "json" { continue }
            if entity.key.contains(attribute.name), change.kind == .update { continue }
            fields.append(attribute.name)
            covered.insert(path[0])
            if attribute.from == nil, naming.jsonKeys(for: attribute.name).first != path[0] {
                places.append((attribute.name, path))
            }
        }
        for relationship in entity.relationships where relationship.source == nil {
            guard let place = place(of: relationship, in: inner) else { continue }
            guard fits(place, relationship) else {
                request.comments.append(
                    "UNCERTAIN: `\(relationship.name)` is not sent: its values are no keys of \(relationship.target). "
                        + "A template under `references` may send an attribute.")
                continue
            }
            fields.append(relationship.name)
            covered.insert(place.path[0])
            if place.isOwn { places.append((relationship.name, place.path)) }
            if place.isObject { references.append((relationship.name, "object")) }
        }
        guard !fields.isEmpty else { throw Problem(reason: "its body has no field of \(entity.name)") }
        request.fields = fields
        addOptions(constants, envelope, places, references, to: &request)
        let needed = inner.names.filter { name in
            inner.fields[name]?.declared?.isRequired == true && !covered.contains(name)
                && !constants.contains { $0.key == name }
        }
        for name in needed.prefix(5) {
            let shown = YAMLText.comment(YAMLText.scalar(name), limit: 40)
            request.comments.append("UNCERTAIN: `\(shown)` is required, and no field has it: write it under `set`.")
        }
    }

    private func addOptions(
        _ constants: [(key: String, text: String)], _ envelope: String?, _ places: [(String, [String])],
        _ references: [(String, String)], to request: inout ProposedWrites.Request
    ) {
        if !constants.isEmpty {
            let texts = constants.map { constant in
                let path = JSONPath(keys: (envelope.map { [$0] } ?? []) + [constant.key])
                return "\(YAMLText.scalar(path.description)): \(constant.text)"
            }
            request.options.append(("set", "{ \(texts.joined(separator: ", ")) }"))
        }
        if !places.isEmpty {
            let texts = places.map { "\($0.0): \(YAMLText.scalar(JSONPath(keys: $0.1).description))" }
            request.options.append(("places", "{ \(texts.joined(separator: ", ")) }"))
        }
        if !references.isEmpty {
            let texts = references.map { "\($0.0): \($0.1)" }
            request.options.append(("references", "{ \(texts.joined(separator: ", ")) }"))
        }
    }

    // MARK: Bodies

    /// The name of the object in a body that has the fields, if the body itself has fewer of them.
    private func envelope(of body: ObjectShape) -> String? {
        let own = score(body)
        let inner = body.names.compactMap { name -> (name: String, score: Int)? in
            guard let object = body.fields[name]?.object, FieldNames.canBeWritten([name]) else { return nil }
            // Another record beside fields has the names of most of them.
            let isRecord = entity.relationships.contains { place(of: $0, in: body)?.path == [name] }
            return isRecord && body.names.count > 1 ? nil : (name, score(object))
        }
        guard let best = inner.max(by: { $0.score < $1.score }), best.score > own else { return nil }
        return best.name
    }

    /// The number of fields of the entity that an object has.
    private func score(_ object: ObjectShape) -> Int {
        entity.attributes.count { $0.source == nil && object.value(at: path(of: $0)) != nil }
            + entity.relationships.count { $0.source == nil && place(of: $0, in: object) != nil }
    }

    /// Adds the place of the record in the answer, if that is not the envelope.
    private func addRecords(
        of operation: ChangeOperation, _ envelope: String?, to request: inout ProposedWrites.Request
    ) {
        guard let keys = operation.answer.flatMap(keysToRecord), keys != (envelope.map { [$0] } ?? []) else { return }
        request.options.append(("records", YAMLText.scalar(JSONPath(keys: keys).description)))
    }

    /// Returns the keys that lead to the record in an answer; nil if it may have none.
    private func keysToRecord(in answer: ObjectShape) -> [String]? {
        var objects: [(keys: [String], object: ObjectShape)] = [([], answer)]
        for depth in 0..<2 {
            for (keys, object) in objects where keys.count == depth && objects.count < 500 {
                for name in object.names where FieldNames.canBeWritten([name]) {
                    if let inner = object.fields[name]?.object { objects.append((keys + [name], inner)) }
                }
            }
        }
        let same = objects.first { $0.object.schemaName != nil && $0.object.schemaName == records.schemaName }
        let keys = entity.attributes.filter { entity.key.contains($0.name) && $0.source == nil && $0.constant == nil }
        guard same == nil, !keys.isEmpty else { return same?.keys }
        // Another record in the answer may have the key, too.
        let found = objects.filter { object in keys.allSatisfy { object.object.value(at: path(of: $0)) != nil } }
        return found.first { $0.keys.isEmpty }?.keys ?? (found.count == 1 ? found[0].keys : nil)
    }

    /// The members of a body that always have one value: required constants, and the key.
    private func constants(in body: ObjectShape, _ change: Source.Change) -> [(key: String, text: String)] {
        body.names.compactMap { name in
            guard let facts = body.fields[name]?.declared, facts.isRequired, FieldNames.canBeWritten([name]) else {
                return nil
            }
            // A text in braces would be a variable.
            if facts.values.count == 1, !facts.values[0].contains("{") {
                return (name, YAMLText.string(facts.values[0]))
            }
            guard change.kind == .update, name == change.field, let attribute = attribute(for: name) else { return nil }
            return (name, "'{\(attribute)}'")
        }
    }

    /// The keys that lead to the value of an attribute in responses.
    private func path(of attribute: ProposedAttribute) -> [String] {
        if let from = attribute.from?.first { return from }
        let keys = naming.jsonKeys(for: attribute.name)
        return [keys.first { records.fields[$0] != nil } ?? keys.first ?? attribute.name]
    }

    /// The place of a relationship in a body.
    private struct Place {
        var path: [String]
        /// Whether it is another one than in responses.
        var isOwn = false
        var isObject = false
        /// The declared types of a single value.
        var types: Set<String> = []
    }

    /// Whether the values of a place may be keys of a relationship's target.
    private func fits(_ place: Place, _ relationship: ProposedRelationship) -> Bool {
        guard !place.isObject, !place.types.isEmpty, let type = keyTypes[relationship.target] else { return true }
        let known: Set = ["int", "uint"].contains(type) ? ["integer", "number"] : ["string"]
        return !place.types.isDisjoint(with: known)
    }

    private func place(of relationship: ProposedRelationship, in body: ObjectShape) -> Place? {
        let paths = relationship.from ?? naming.jsonKeys(for: relationship.name).map { [$0] }
        for path in paths where !path.isEmpty {
            guard let value = body.value(at: path) else { continue }
            let element = relationship.isToMany ? value.element ?? value : value
            return Place(
                path: path, isOwn: relationship.from.map { $0.first != path } ?? (path != paths.first),
                isObject: element.object != nil, types: element.declared?.types ?? [])
        }
        guard let name = paths.first?.last, paths.first?.count == 1 else { return nil }
        let suffixes = relationship.isToMany ? ["_ids", "Ids"] : ["_id", "Id"]
        let stem = relationship.isToMany ? EnglishName.singular(name) : name
        for suffix in suffixes {
            guard let value = body.fields[stem + suffix], value.object == nil else { continue }
            let element = relationship.isToMany ? value.element ?? value : value
            return Place(path: [stem + suffix], isOwn: true, types: element.declared?.types ?? [])
        }
        return nil
    }

    // MARK: URLs

    private func url(of change: Source.Change) throws(Problem) -> String {
        var last = ""
        if let field = change.field {
            guard let attribute = attribute(for: field) else {
                throw Problem(reason: "no attribute of \(entity.name) has the value of its path")
            }
            last = "{\(attribute)}"
        }
        // The list of an API may be `/issues.json`, and its records `/issues/7.json`.
        if let name = change.operation.segments.last, name.hasSuffix(".json") {
            throw Problem(reason: "its path ends in .json")
        }
        var segments =
            try change.isBelowList
            ? listSegments() : change.operation.segments.map { Operation.variable($0) == nil ? $0 : last }
        if change.isBelowList, !last.isEmpty { segments.append(last) }
        // `/issues/` is another path than `/issues`.
        let end = change.operation.path.hasSuffix("/") && !segments.isEmpty ? "/" : ""
        return "/" + segments.joined(separator: "/") + end
    }

    /// The attribute that has the value of a key.
    private func attribute(for field: String) -> String? {
        entity.attributes.first { $0.source == nil && $0.constant == nil && path(of: $0) == [field] }?.name
    }

    /// The path of the list with variables of its records.
    private func listSegments() throws(Problem) -> [String] {
        var segments: [String] = []
        for segment in endpoint.path.split(separator: "/").map(String.init) {
            guard let variable = Operation.variable(segment) else {
                segments.append(segment)
                continue
            }
            if let value = endpoint.parameters.first(where: { $0.name == variable })?.value {
                segments.append(PercentEncoding.encode(value))
                continue
            }
            // `{milestone.number}` of the endpoint's parent is `{milestone.number}` of the
            // relationship to it, which may have another name.
            let names = variable.split(separator: ".").map(String.init)
            guard names.count > 1, let parent = endpoint.forEach?.parent else {
                throw Problem(
                    reason: "the value of {\(YAMLText.comment(variable, limit: 60))} in its path is not stored")
            }
            segments.append("{" + ([parent] + names.dropFirst()).joined(separator: ".") + "}")
        }
        if let last = segments.last, last.hasSuffix(".json") { throw Problem(reason: "its path ends in .json") }
        return segments
    }
}

extension ObjectShape {
    /// The shape of the value at keys; nil if there is none.
    fileprivate func value(at keys: [String]) -> ValueShape? {
        var object: ObjectShape? = self, value: ValueShape?
        for key in keys {
            value = object?.fields[key]
            object = value?.object
        }
        return value
    }
}
