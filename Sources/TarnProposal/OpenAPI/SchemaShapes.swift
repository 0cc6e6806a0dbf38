// Schemas of a specification as shapes.

import Tarn

/// Converts schemas to shapes. A named schema has one shape, however often it is referred to.
final class SchemaShapes {
    private let document: OpenAPIDocument
    private var named: [String: ObjectShape] = [:]
    private var count = 0
    /// The schemas that refer to a schema by `allOf`, by its name.
    private lazy var heirs = SchemaShapes.heirs(in: document)

    private static let countLimit = 100_000
    private static let depthLimit = 24
    /// The maximum number of alternatives, or of kinds, of a schema.
    private static let kindLimit = 60

    init(_ document: OpenAPIDocument) { self.document = document }

    /// Returns the shape of the values of a schema.
    func value(_ schema: JSONValue, isRequired: Bool = true, depth: Int = 0) -> ValueShape {
        let shape = ValueShape()
        var facts = DeclaredFacts()
        facts.isRequired = isRequired
        count += 1
        if count <= SchemaShapes.countLimit, depth < SchemaShapes.depthLimit {
            describe(schema, shape, &facts, depth: depth)
        }
        shape.declared = facts
        return shape
    }

    private func describe(_ schema: JSONValue, _ shape: ValueShape, _ facts: inout DeclaredFacts, depth: Int) {
        // Schemas may refer to each other in a circle.
        guard depth < SchemaShapes.depthLimit, let (schema, name) = document.resolve(schema) else { return }
        if schema["nullable"] == .bool(true) { facts.isNullable = true }
        if let alternatives = alternatives(of: schema, &facts) {
            if alternatives.count == 1 {
                return describe(alternatives[0], shape, &facts, depth: depth + 1)
            }
            if schema["properties"] == nil {
                return combine(alternatives, of: schema, name, shape, &facts, depth: depth)
            }
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
        if schema["properties"] == nil, let parts = schema["allOf"]?.elements, parts.count == 1 {
            return describe(parts[0], shape, &facts, depth: depth + 1)
        }
        addTypes(of: schema, &facts)
        if isObject(schema) {
            facts.types.insert("object")
            let object = object(schema, name, depth: depth)
            if !object.names.isEmpty {
                shape.object = object
            } else if let values = schema["additionalProperties"], case .object = values {
                shape.mapped = value(values, depth: depth + 1)
            }
        } else if facts.types.contains("array"), let items = schema["items"] {
            shape.element = value(items, depth: depth + 1)
        }
        facts.format = schema["format"]?.scalarText ?? facts.format
        facts.values =
            schema["enum"]?.elements.compactMap { if case .string(let text) = $0 { text } else { nil } } ?? []
        if schema["enum"]?.elements.contains(.null) == true { facts.isNullable = true }
        if case .string(let text)? = schema["const"] { facts.values = [text] }
        if !facts.values.isEmpty, facts.types.isEmpty { facts.types = ["string"] }
        if facts.values.count > 200 || facts.values.contains("") { facts.values = [] }
    }

    private func addTypes(of schema: JSONValue, _ facts: inout DeclaredFacts) {
        let types = schema["type"].map { $0.scalarText.map { [$0] } ?? $0.elements.compactMap(\.scalarText) } ?? []
        for type in types { type == "null" ? facts.isNullable = true : { _ = facts.types.insert(type) }() }
    }

    private func isObject(_ schema: JSONValue) -> Bool {
        schema["properties"] != nil || schema["allOf"] != nil || schema["type"]?.scalarText == "object"
            || schema["type"]?.elements.contains(.string("object")) == true
    }

    /// Returns the alternatives of `oneOf` or `anyOf` without null; nil without these keywords.
    private func alternatives(of schema: JSONValue, _ facts: inout DeclaredFacts) -> [JSONValue]? {
        guard let all = (schema["oneOf"] ?? schema["anyOf"])?.elements, !all.isEmpty else { return nil }
        let others = all.filter { $0["type"]?.scalarText != "null" }
        if others.count < all.count { facts.isNullable = true }
        return others.isEmpty ? nil : Array(others.prefix(SchemaShapes.kindLimit))
    }

    // MARK: Alternatives

    /// Combines alternatives: kinds of one entity, an object or its key, or scalars.
    private func combine(
        _ alternatives: [JSONValue], of schema: JSONValue, _ name: String?, _ shape: ValueShape,
        _ facts: inout DeclaredFacts, depth: Int
    ) {
        var objects: [(schema: JSONValue, name: String?)] = []
        for alternative in alternatives {
            guard let (inner, innerName) = document.resolve(alternative) else { continue }
            if isObject(inner) {
                objects.append((inner, innerName))
            } else {
                addTypes(of: inner, &facts)
                facts.format = inner["format"]?.scalarText ?? facts.format
            }
        }
        guard !objects.isEmpty else { return }
        guard objects.count > 1 else {
            // An object, or its bare key.
            facts.types = ["object"]
            let object = object(objects[0].schema, objects[0].name, depth: depth + 1)
            if !object.names.isEmpty { shape.object = object }
            return
        }
        facts.types = ["object"]
        shape.object = kinds(objects, of: schema, name, depth: depth)
    }

    /// Returns the shape of objects of several kinds.
    private func kinds(
        _ objects: [(schema: JSONValue, name: String?)], of schema: JSONValue, _ name: String?, depth: Int
    ) -> ObjectShape {
        if let name, let known = named[name] { return known }
        let shape = ObjectShape()
        shape.schemaName = name
        if let name { named[name] = shape }
        let property = schema.value(at: ["discriminator", "propertyName"])?.scalarText
        let mapping = schema.value(at: ["discriminator", "mapping"])?.members ?? []
        shape.hasSeparateKeys = hasSeparateKeys(objects)
        var values: [String] = [], present: [String: Set<String>] = [:], total = 0
        for (inner, innerName) in objects {
            let object = object(inner, innerName, depth: depth + 1)
            // The value of the discriminator: of the mapping, a constant, or the schema's name.
            let mapped = mapping.first { member in
                let target = member.value.scalarText ?? ""
                if let name = document.schemaName(at: target) { return name == innerName }
                return target == innerName || target.hasSuffix("/\(innerName ?? "?")")
            }?.key
            let constant = property.flatMap { object.fields[$0]?.declared?.values }.flatMap {
                $0.count == 1 ? $0[0] : nil
            }
            let value = mapped ?? constant ?? innerName ?? "kind\(total + 1)"
            values.append(value)
            total += 1
            for field in object.names {
                present[field, default: []].insert(value)
                guard let theirs = object.fields[field] else { continue }
                shape.shape(of: field)?.addDeclarations(of: theirs)
            }
        }
        for field in shape.names {
            guard let kinds = present[field], kinds.count < total, let known = shape.fields[field] else { continue }
            if property != nil { known.declared?.kinds = kinds } else { known.declared?.isRequired = false }
        }
        if let property, shape.fields[property] != nil {
            // Each kind declares its own constant: together they are plain text.
            shape.fields[property]?.declared?.values = []
            shape.discriminator = (property, values)
        }
        return shape
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
        add(schema, to: shape, &parts, depth: depth)
        shape.bases = parts.subtracting(name.map { [$0] } ?? [])
        return shape
    }

    /// Adds the properties of a schema and of its parts, of each named part once.
    private func add(_ schema: JSONValue, to shape: ObjectShape, _ parts: inout Set<String>, depth: Int) {
        count += 1
        guard count <= SchemaShapes.countLimit, depth < SchemaShapes.depthLimit else { return }
        for part in schema["allOf"]?.elements ?? [] {
            guard let (inner, name) = document.resolve(part) else { continue }
            if let name, !parts.insert(name).inserted { continue }
            add(inner, to: shape, &parts, depth: depth + 1)
        }
        let required = Set(schema["required"]?.elements.compactMap(\.scalarText) ?? [])
        for property in schema["properties"]?.members.prefix(ObjectShape.fieldLimit) ?? [] {
            guard property.value["writeOnly"] != .bool(true) else { continue }
            let inner = value(property.value, isRequired: required.contains(property.key), depth: depth + 1)
            shape.shape(of: property.key)?.addDeclarations(of: inner)
        }
        // `required` may be beside the `allOf` that has the properties.
        for name in required { shape.fields[name]?.declared?.isRequired = true }
    }
}
