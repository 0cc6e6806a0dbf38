// Records as the bodies of requests: the mapping of an import, read backwards.

package import TarnStore

/// A writer of request bodies.
///
/// A body has the names, paths, formats, transformers and key forms that the mapping declares for
/// responses: importing it gives the fields of the record again. A field takes the first of its
/// alternates that is a path of keys, or a text with one value. Values from outside of the record
/// (`@parent`, `@param`, constants) have no place in a body.
package struct BodyWriter: Sendable {
    private let mapping: Mapping
    let catalog: Catalog
    private let plans: BodyPlanCache?

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - mapping: the mapping of the API.
    ///   - catalog: the catalog of the store whose records are sent.
    ///   - plans: the compiled bodies of the mapping; nil to compile them for each body.
    package init(_ mapping: Mapping, _ catalog: Catalog, plans: BodyPlanCache? = nil) {
        self.mapping = mapping
        self.catalog = catalog
        self.plans = plans
    }

    /// Returns a record as a JSON object.
    ///
    /// - Parameters:
    ///   - record: the record. Absent fields are left out, unless the options name them.
    ///   - options: the fields and their forms.
    ///   - target: returns a stored record, for references in the form `nested`.
    ///   - server: returns a stored record as the server has it, for templates and URLs.
    /// - Throws: `BodyError`; whatever `target` and `server` throw.
    package func body(
        of record: Record, _ options: BodyOptions = BodyOptions(),
        target: (_ entity: String, _ key: RecordKey) throws -> Record? = { _, _ in nil },
        server: (_ entity: String, _ key: RecordKey) throws -> Record? = { _, _ in nil }
    ) throws -> JSONValue {
        guard let entity = catalog.entity(record.entity) else { throw BodyError.unknownEntity(record.entity) }
        let named = (options.fields ?? []).union(options.omitted).union(options.places.keys)
            .union(options.referenceForms.keys).union(options.referenceTemplates.keys)
        if let unknown = named.sorted().first(where: { entity.field($0) == nil }) {
            throw BodyError.unknownField(entity: entity.name, field: unknown)
        }
        let plan = try plan(entity, options)
        var body = JSONValue.object([]), rest: JSONValue?, lists: Set<[String]> = []
        for field in plan.fields where !options.omitted.contains(field.name) {
            let isNamed = options.fields?.contains(field.name) ?? false
            guard options.fields == nil || isNamed, let value = record[field.name] ?? (isNamed ? .null : nil) else {
                continue
            }
            if case .none(let reason) = field.place {
                guard isNamed else { continue }
                throw BodyError.unsendable(entity: entity.name, field: field.name, reason: reason)
            }
            var json = try json(of: value, field, entity, options, target, server)
            if case .list(_, let steps) = field.place {
                guard let list = json.listed(steps[...]) else {
                    throw BodyError.value(
                        entity: entity.name, field: field.name, reason: "\(json.text) is no list, as its place needs")
                }
                json = list
            }
            guard let keys = field.keys else {
                rest = json
                continue
            }
            // Fields that have places in the elements of one list.
            if field.isInList, !lists.insert(keys).inserted, let known = body.value(at: keys),
                let merged = known.merged(with: json)
            {
                body.force(merged, at: JSONPath(keys: keys).steps[...])
                continue
            }
            guard body.insert(json, at: keys) else {
                throw BodyError.conflict(
                    entity: entity.name, field: field.name, place: JSONPath(keys: keys).description)
            }
        }
        if case .object(let members)? = rest {
            body.fill(with: members, around: plan.fields.compactMap(\.keys))
        }
        return body
    }

    func plan(_ entity: Catalog.Entity, _ options: BodyOptions) throws -> BodyPlan {
        try plans?.plan(entity, mapping, catalog, options) ?? BodyPlan(entity, mapping, catalog, options)
    }

    private func json(
        of value: Value, _ field: BodyField, _ entity: Catalog.Entity, _ options: BodyOptions,
        _ target: (String, RecordKey) throws -> Record?, _ server: (String, RecordKey) throws -> Record?
    ) throws -> JSONValue {
        switch field.content {
        case .attribute(let rule):
            let json: JSONValue
            do throws(AttributeRule.Refusal) { json = try rule.json(of: value) } catch {
                throw BodyError.value(entity: entity.name, field: field.name, reason: error.reason)
            }
            guard case .part(_, let prefix, let suffix) = field.place, json != .null else { return json }
            guard let part = BodyWriter.part(of: json, prefix, suffix) else {
                throw BodyError.value(
                    entity: entity.name, field: field.name,
                    reason: "\(json.text) does not have the form \(prefix)…\(suffix)")
            }
            return .string(part)
        case .reference(let destination, _):
            guard let destination = catalog.entity(id: destination) else { return .null }
            let form = options.form(of: field.name), template = options.referenceTemplates[field.name]
            func reference(_ key: RecordKey) throws -> JSONValue {
                if let template {
                    return try filled(template, for: key, destination, from: entity, field.name, server)
                }
                if form == .nested, let record = try target(destination.name, key) {
                    return try body(of: record)
                }
                if form == .url { return .string(try url(of: key, destination, from: entity, field.name, server)) }
                return try self.reference(to: key, destination, isObject: form != .key, from: entity, field.name)
            }
            switch value {
            case .reference(let key): return try reference(key)
            case .references(let keys): return .array(try keys.map(reference))
            default: return .null
            }
        }
    }

    /// Returns the text between a prefix and a suffix, compared byte by byte.
    private static func part(of json: JSONValue, _ prefix: String, _ suffix: String) -> String? {
        let text: String
        switch json {
        case .string(let value), .number(let value): text = value
        case .bool(let value): text = value ? "true" : "false"
        case .null, .array, .object: return nil
        }
        let bytes = Array(text.utf8), before = Array(prefix.utf8), after = Array(suffix.utf8)
        guard bytes.count >= before.count + after.count, bytes.starts(with: before),
            bytes.suffix(after.count).elementsEqual(after)
        else { return nil }
        return String(decoding: bytes[before.count..<(bytes.count - after.count)], as: UTF8.self)
    }

    /// Returns the URL of a record, by the first template of its entity.
    ///
    /// The variables are attributes of the key, or of the record as the server has it.
    private func url(
        of key: RecordKey, _ destination: Catalog.Entity, from entity: Catalog.Entity, _ field: String,
        _ server: (String, RecordKey) throws -> Record?
    ) throws -> String {
        func failure(_ reason: String) -> BodyError { .value(entity: entity.name, field: field, reason: reason) }
        try checkIsKnown(key, from: entity, field)
        guard let template = mapping.effective(destination, in: catalog).url?.templates.first else {
            throw failure("\(destination.name) declares no url, by which a body could refer to it")
        }
        guard template.origin != nil || !mapping.bases.isEmpty else {
            throw failure("the API has no base URL, to which \(template) is relative")
        }
        let values = destination.keyValues(key)
        do {
            return try template.expanded(base: mapping.bases.first ?? "") { name in
                if let id = destination.field(name)?.id, let value = values[id] { return value.urlText }
                return try server(destination.name, key)?[name].flatMap {
                    try urlText(of: $0, field: name, of: destination)
                }
            }
        } catch let problem as URLTemplate.Problem {
            throw failure(problem.message)
        }
    }

    /// Requires that a referenced key is not known by its digest alone.
    func checkIsKnown(_ key: RecordKey, from entity: Catalog.Entity, _ field: String) throws(BodyError) {
        guard key.isDigest else { return }
        throw .value(
            entity: entity.name, field: field,
            reason: "it refers to a missing record whose key is too long to be known")
    }

    /// Returns a reference: a bare key, or an object with the attributes of the key.
    private func reference(
        to key: RecordKey, _ destination: Catalog.Entity, isObject: Bool, from entity: Catalog.Entity, _ field: String
    ) throws -> JSONValue {
        try checkIsKnown(key, from: entity, field)
        if !isObject, key.components.count == 1, !destination.hasOwner, let component = key.components.first {
            return component.json
        }
        var options = BodyOptions()
        let values = destination.keyValues(key)
        let fields = destination.key.compactMap { id in
            destination.field(id: id).flatMap { field in values[id].map { Record.Field(field.name, $0) } }
        }
        options.fields = Set(fields.map(\.name))
        return try body(of: Record(entity: destination.name, key: key, fields: fields), options)
    }
}

extension KeyComponent {
    /// The component as JSON.
    fileprivate var json: JSONValue {
        switch self {
        case .int(let value): .number(String(value))
        case .string(let value): .string(value)
        case .uuid, .digest: .string(description)
        }
    }
}

extension Value {
    /// The value as a part of a URL; nil if it has several parts, or none.
    package var urlText: String? {
        switch self {
        case .null, .array, .references, .json: nil
        // The server does not know a digest.
        case .reference(let key):
            key.components.count == 1 && !key.isDigest ? key.components[0].description : nil
        case .string(let text), .url(let text): text
        default: plainText
        }
    }
}
