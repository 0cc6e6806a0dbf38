// Schemas of a specification as shapes.

import Tarn

/// Converts schemas to shapes. A named schema has one shape, however often it is referred to.
final class SchemaShapes {
    private let document: OpenAPIDocument
    /// The keyword of properties that the bodies do not have: what only requests or only responses
    /// have.
    private let omitted: String
    private var named: [String: ObjectShape] = [:]
    private var count = 0
    /// Whether values beyond the limit are without a type.
    var isTruncated: Bool { count > SchemaShapes.countLimit }
    /// The schemas that refer to a schema by `allOf`, by its name.
    private lazy var heirs = SchemaShapes.heirs(in: document)
    /// The named parts of the value that is described. Parts may refer to each other any number of
    /// times.
    private var partsOfValue: Set<String> = []
    /// The schemas whose alternatives are added: these may extend the schema itself.
    private var open: Set<String> = []

    /// The maximum number of values of all schemas.
    static let countLimit = 500_000
    private static let depthLimit = 24
    /// The maximum number of alternatives, or of kinds, of a schema.
    private static let kindLimit = 60
    /// The maximum number of schemas that are looked at for the type of another one.
    private static let partLimit = 500

    /// - Parameter areOfRequests: whether the bodies are those of requests.
    init(_ document: OpenAPIDocument, areOfRequests: Bool = false) {
        self.document = document
        omitted = areOfRequests ? "readOnly" : "writeOnly"
    }

    /// Returns the shape of the values of a schema.
    func value(_ schema: JSONValue, isRequired: Bool = true, depth: Int = 0) -> ValueShape {
        let shape = ValueShape()
        var facts = DeclaredFacts()
        facts.isRequired = isRequired
        count += 1
        let others = partsOfValue
        partsOfValue = []
        defer { partsOfValue = others }
        if count <= SchemaShapes.countLimit, depth < SchemaShapes.depthLimit {
            describe(schema, shape, &facts, depth: depth)
        }
        shape.declared = facts
        return shape
    }

    private func describe(_ schema: JSONValue, _ shape: ValueShape, _ facts: inout DeclaredFacts, depth: Int) {
        // Schemas may refer to each other in a circle.
        guard depth < SchemaShapes.depthLimit, let (schema, name) = document.resolve(schema) else { return }
        let parts = schema["allOf"]?.elements ?? []
        if ([schema] + parts).contains(where: { $0["nullable"] == .bool(true) }) { facts.isNullable = true }
        let alternatives = alternatives(of: schema, &facts)
        // Beside `properties` or `allOf`, alternatives are parts of the same object.
        if let alternatives, schema["properties"] == nil, parts.isEmpty || !isObject(schema) {
            if alternatives.count == 1 {
                return describe(alternatives[0], shape, &facts, depth: depth + 1)
            }
            return combine(alternatives, of: schema, name, shape, &facts, depth: depth)
        }
        if let name, schema["discriminator"] != nil {
            // A known shape may still be without fields: kinds refer to their own base.
            let inheritors = named[name] == nil ? inheritors(of: name) : []
            if let object = inheritors.isEmpty ? named[name] : kinds(inheritors, of: schema, name, depth: depth) {
                facts.types = ["object"]
                shape.object = object
                return
            }
        }
        // `allOf` around one reference only adds a description, or makes it nullable.
        if schema["properties"] == nil, alternatives == nil, parts.count == 1 {
            return describe(parts[0], shape, &facts, depth: depth + 1)
        }
        if isObject(schema) {
            addTypes(of: schema, &facts)
            facts.types.insert("object")
            let object = object(schema, name, depth: depth)
            if !object.names.isEmpty {
                shape.object = object
            } else if let values = schema["additionalProperties"], case .object = values {
                shape.mapped = value(values, depth: depth + 1)
            }
        } else {
            // Parts of a text, a number or a list: one of them has the type.
            for part in parts.prefix(SchemaShapes.kindLimit) {
                if let name = document.resolve(part)?.name, !partsOfValue.insert(name).inserted { continue }
                describe(part, shape, &facts, depth: depth + 1)
            }
            addTypes(of: schema, &facts)
            if facts.types.contains("array"), let items = schema["items"] {
                shape.element = value(items, depth: depth + 1)
            }
        }
        facts.format = schema["format"]?.scalarText ?? facts.format
        addValues(of: schema, &facts)
    }

    private func addTypes(of schema: JSONValue, _ facts: inout DeclaredFacts) {
        let types = schema["type"].map { $0.scalarText.map { [$0] } ?? $0.elements.compactMap(\.scalarText) } ?? []
        for type in types { type == "null" ? facts.isNullable = true : { _ = facts.types.insert(type) }() }
    }

    /// Adds the values of `enum` or `const`: all of them are texts, or there are none.
    private func addValues(of schema: JSONValue, _ facts: inout DeclaredFacts) {
        if let all = schema["enum"]?.elements {
            let values = all.filter { $0 != .null }
            if values.count < all.count { facts.isNullable = true }
            let texts = values.compactMap { value -> String? in
                if case .string(let text) = value { return text }
                // Without quotes, YAML has a number or a boolean for a text such as `1.0`.
                return facts.types == ["string"] ? value.text : nil
            }
            facts.values = texts.count == values.count ? texts : []
        }
        if case .string(let text)? = schema["const"] { facts.values = [text] }
        if !facts.values.isEmpty, facts.types.isEmpty { facts.types = ["string"] }
        if facts.values.count > 200 || facts.values.contains("") { facts.values = [] }
    }

    /// Whether the values of a schema are objects, by its own keywords or by those of its parts.
    private func isObject(_ schema: JSONValue) -> Bool {
        var seen: Set<String> = []
        return isObject(schema, &seen, depth: 0)
    }

    private func isObject(_ schema: JSONValue, _ seen: inout Set<String>, depth: Int) -> Bool {
        if schema["properties"] != nil { return true }
        if let type = schema["type"] {
            return type.scalarText == "object" || type.elements.contains(.string("object"))
        }
        // Any number of schemas may refer to each other.
        guard depth < SchemaShapes.depthLimit, seen.count < SchemaShapes.partLimit else { return false }
        let parts = ["allOf", "oneOf", "anyOf"].flatMap { schema[$0]?.elements.prefix(SchemaShapes.kindLimit) ?? [] }
        for part in parts {
            guard let (inner, name) = document.resolve(part), name.map({ seen.insert($0).inserted }) ?? true else {
                continue
            }
            if isObject(inner, &seen, depth: depth + 1) { return true }
        }
        return false
    }

    /// Returns the alternatives of `oneOf` or `anyOf` without null; nil without these keywords.
    private func alternatives(of schema: JSONValue, _ facts: inout DeclaredFacts) -> [JSONValue]? {
        guard let all = (schema["oneOf"] ?? schema["anyOf"])?.elements, !all.isEmpty else { return nil }
        let others = all.filter { !isNull($0) }
        if others.count < all.count { facts.isNullable = true }
        return others.isEmpty ? nil : Array(others.prefix(SchemaShapes.kindLimit))
    }

    /// Whether null is the only value of a schema.
    private func isNull(_ schema: JSONValue) -> Bool {
        guard let (schema, _) = document.resolve(schema) else { return false }
        return schema["type"] == .string("null") || schema["type"]?.elements == [.string("null")]
            || schema["enum"]?.elements == [.null] || schema["const"] == JSONValue.null
    }

    // MARK: Alternatives

    /// Combines alternatives: kinds of one entity, an object or its key, or scalars.
    private func combine(
        _ alternatives: [JSONValue], of schema: JSONValue, _ name: String?, _ shape: ValueShape,
        _ facts: inout DeclaredFacts, depth: Int
    ) {
        var objects: [(schema: JSONValue, name: String?)] = [], others: [DeclaredFacts] = []
        for (inner, innerName) in flattened(alternatives, &facts) {
            if isObject(inner) {
                objects.append((inner, innerName))
            } else {
                var other = DeclaredFacts()
                describe(inner, ValueShape(), &other, depth: depth + 1)
                if other.isNullable { facts.isNullable = true }
                facts.types.formUnion(other.types)
                others.append(other)
            }
        }
        guard !objects.isEmpty else {
            // The format of one alternative is not that of the others.
            let formats = Set(others.map(\.format))
            if formats.count == 1, let format = formats.first { facts.format = format }
            if facts.types.isEmpty { addTypes(of: schema, &facts) }
            return
        }
        // A list of objects, or a single one: no relationship takes both.
        guard !facts.types.contains("array") else {
            facts.types.insert("object")
            return
        }
        facts.types = ["object"]
        guard objects.count > 1 else {
            // An object, or its bare key.
            let object = object(objects[0].schema, objects[0].name, depth: depth + 1)
            if !object.names.isEmpty { shape.object = object }
            return
        }
        shape.object = kinds(objects, of: schema, name, depth: depth)
    }

    /// Resolves alternatives, with those of alternatives that have nothing else.
    private func flattened(
        _ alternatives: [JSONValue], _ facts: inout DeclaredFacts
    ) -> [(schema: JSONValue, name: String?)] {
        var found: [(schema: JSONValue, name: String?)] = [], seen: Set<String> = []
        var waiting = Array(alternatives.reversed())
        while let next = waiting.popLast(), found.count < SchemaShapes.kindLimit {
            guard let (inner, name) = document.resolve(next), name.map({ seen.insert($0).inserted }) ?? true else {
                continue
            }
            if inner["properties"] == nil, inner["allOf"] == nil, let more = self.alternatives(of: inner, &facts) {
                waiting += more.reversed()
            } else {
                found.append((inner, name))
            }
        }
        return found
    }

    /// Returns the shape of objects of several kinds.
    private func kinds(
        _ objects: [(schema: JSONValue, name: String?)], of schema: JSONValue, _ name: String?, depth: Int
    ) -> ObjectShape {
        if let name, let known = named[name] { return known }
        let shape = ObjectShape()
        shape.schemaName = name
        if let name { named[name] = shape }
        addKinds(objects, of: schema, to: shape, depth: depth)
        return shape
    }

    /// Adds the properties of objects of several kinds. Those that the shape has are common.
    private func addKinds(
        _ objects: [(schema: JSONValue, name: String?)], of schema: JSONValue, to shape: ObjectShape, depth: Int
    ) {
        let common = Set(shape.names)
        var property = schema.value(at: ["discriminator", "propertyName"])?.scalarText
        // Fields of a second discriminator are those of some records.
        if shape.discriminator != nil { property = nil }
        let mapping = schema.value(at: ["discriminator", "mapping"])?.members ?? []
        if !common.contains("id"), hasSeparateKeys(objects) { shape.hasSeparateKeys = true }
        var values: [String] = [], present: [String: Set<String>] = [:], counts: [String: Int] = [:]
        for (index, (inner, innerName)) in objects.enumerated() {
            let object = object(inner, innerName, depth: depth + 1)
            // The values of the discriminator: of the mapping, a constant, or the schema's name.
            let mapped = mapping.filter { member in
                let target = member.value.scalarText ?? ""
                if let name = document.schemaName(at: target) { return name == innerName }
                return target == innerName || target.hasSuffix("/\(innerName ?? "?")")
            }.map(\.key)
            let constant = property.flatMap { object.fields[$0]?.declared?.values }.flatMap {
                $0.count == 1 ? $0[0] : nil
            }
            let own = mapped.isEmpty ? [constant ?? innerName ?? "kind\(index + 1)"] : mapped
            values += own.filter { !values.contains($0) }
            for field in object.names {
                present[field, default: []].formUnion(own)
                counts[field, default: 0] += 1
                guard let theirs = object.fields[field] else { continue }
                shape.shape(of: field)?.addDeclarations(of: theirs)
            }
        }
        if values.count < 2 { property = nil }
        for (field, count) in counts where count < objects.count && !common.contains(field) {
            guard let known = shape.fields[field], field != property else { continue }
            if property != nil {
                known.declared?.kinds = present[field] ?? []
            } else {
                known.declared?.isRequired = false
            }
        }
        if let property { declare(property, values, in: shape) }
    }

    /// Declares the property that names the kinds of an object. Some schemas leave it out.
    private func declare(_ property: String, _ values: [String], in shape: ObjectShape) {
        if shape.fields[property] == nil {
            var facts = DeclaredFacts()
            facts.types = ["string"]
            facts.isRequired = true
            shape.shape(of: property)?.declared = facts
        }
        guard let known = shape.fields[property] else { return }
        // Each kind declares its own constant: together they are plain text.
        known.declared?.values = []
        shape.discriminator = (property, values)
    }

    /// Returns the schemas that have a schema under `allOf`, directly or through others.
    private func inheritors(of name: String) -> [(schema: JSONValue, name: String?)] {
        var found: [String] = [], waiting = [name]
        while let next = waiting.popLast() {
            for heir in heirs[next] ?? [] where heir != name && !found.contains(heir) {
                guard found.count < SchemaShapes.kindLimit else { break }
                found.append(heir)
                waiting.append(heir)
            }
        }
        return found.compactMap { heir in
            document.schemas[heir].flatMap { document.resolve($0) }.map { ($0.value, $0.name ?? heir) }
        }
    }

    private static func heirs(in document: OpenAPIDocument) -> [String: [String]] {
        var heirs: [String: [String]] = [:]
        for schema in document.root.value(at: ["components", "schemas"])?.members.prefix(20_000) ?? [] {
            // The schema may be in a file of its own. Another name of a schema is no schema.
            guard let (value, name) = document.resolve(schema.value),
                name == nil || name == schema.key
            else { continue }
            for part in value["allOf"]?.elements.prefix(60) ?? [] {
                guard let name = document.resolve(part)?.name, part["$ref"] != nil else { continue }
                heirs[name, default: []].append(schema.key)
            }
        }
        return heirs
    }

    /// Whether alternatives declare their `id` separately: then records of two of them may have the
    /// same one.
    private func hasSeparateKeys(_ objects: [(schema: JSONValue, name: String?)]) -> Bool {
        let owners = objects.enumerated().compactMap { index, object -> String? in
            var seen: Set<String> = []
            return owner(of: "id", object.schema, object.name ?? "#\(index)", &seen, depth: 0)
        }
        return Set(owners).count > 1
    }

    /// Returns the name of the schema that declares a property.
    private func owner(
        of property: String, _ schema: JSONValue, _ name: String, _ seen: inout Set<String>, depth: Int
    ) -> String? {
        if schema["properties"]?[property] != nil { return name }
        guard depth < SchemaShapes.depthLimit else { return nil }
        for part in schema["allOf"]?.elements.prefix(60) ?? [] {
            guard let (inner, innerName) = document.resolve(part) else { continue }
            if let innerName, !seen.insert(innerName).inserted { continue }
            if let found = owner(of: property, inner, innerName ?? name, &seen, depth: depth + 1) { return found }
        }
        return nil
    }

    // MARK: Objects

    /// Returns the shape of the objects of a schema, with the properties of `allOf`.
    private func object(_ schema: JSONValue, _ name: String?, depth: Int) -> ObjectShape {
        if let name, let known = named[name] { return known }
        let shape = ObjectShape()
        shape.schemaName = name
        // Before its properties: schemas may contain themselves.
        if let name { named[name] = shape }
        var parts = name.map { [$0] as Set } ?? []
        add(schema, name, to: shape, &parts, depth: depth)
        shape.bases = parts.subtracting(name.map { [$0] } ?? [])
        return shape
    }

    /// Adds the properties of a schema and of its parts, of each named part once.
    private func add(
        _ schema: JSONValue, _ name: String?, to shape: ObjectShape, _ parts: inout Set<String>, depth: Int
    ) {
        count += 1
        guard count <= SchemaShapes.countLimit, depth < SchemaShapes.depthLimit else { return }
        for part in schema["allOf"]?.elements ?? [] {
            guard let (inner, name) = document.resolve(part) else { continue }
            if let name, !parts.insert(name).inserted { continue }
            add(inner, name, to: shape, &parts, depth: depth + 1)
        }
        let required = Set(schema["required"]?.elements.compactMap(\.scalarText) ?? [])
        for property in schema["properties"]?.members.prefix(ObjectShape.fieldLimit) ?? [] {
            guard !isOmitted(property.value) else { continue }
            let inner = value(property.value, isRequired: required.contains(property.key), depth: depth + 1)
            shape.shape(of: property.key)?.addDeclarations(of: inner)
        }
        if name.map({ open.insert($0).inserted }) ?? true {
            addAlternatives(of: schema, to: shape, parts, depth: depth)
            if let name { open.remove(name) }
        }
        // `required` may be beside the `allOf` that has the properties.
        for name in required { shape.fields[name]?.declared?.isRequired = true }
    }

    /// Whether the bodies have no value of a schema, which says so itself or is a reference to one.
    private func isOmitted(_ schema: JSONValue) -> Bool {
        let parts = schema["allOf"]?.elements ?? []
        return ([schema] + parts).contains { part in
            part[omitted] == .bool(true) || document.resolve(part)?.value[omitted] == .bool(true)
        }
    }

    /// Adds the properties of the alternatives beside those that all objects have.
    ///
    /// - Parameter parts: the names of the schemas that the shape is made of. A base may list its
    ///   kinds, and one of these is the shape itself.
    private func addAlternatives(of schema: JSONValue, to shape: ObjectShape, _ parts: Set<String>, depth: Int) {
        var facts = DeclaredFacts()
        guard let alternatives = alternatives(of: schema, &facts) else { return }
        let objects = flattened(alternatives, &facts).filter { isObject($0.schema) }
        guard !objects.isEmpty, !objects.contains(where: { $0.name.map(parts.contains) ?? false }) else { return }
        addKinds(objects, of: schema, to: shape, depth: depth)
    }
}
