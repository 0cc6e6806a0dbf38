// The catalog's JSON in the store: readable in a plain dump, without anything derived.

/// A catalog as JSON.
struct CatalogJSON: Codable {
    let catalog: Catalog

    init(_ catalog: Catalog) { self.catalog = catalog }

    init(from decoder: any Decoder) throws { catalog = try Catalog(decoding: decoder) }

    func encode(to encoder: any Encoder) throws { try catalog.encode(into: encoder) }
}

extension Catalog {
    private enum CodingKeys: String, CodingKey { case entities, nextEntity, nextIndex }

    fileprivate init(decoding decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        entities = try container.decode([Entity].self, forKey: .entities)
        nextEntity = try container.decode(UInt16.self, forKey: .nextEntity)
        nextIndex = try container.decode(UInt32.self, forKey: .nextIndex)
        resolve()
    }

    fileprivate func encode(into encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(entities, forKey: .entities)
        try container.encode(nextEntity, forKey: .nextEntity)
        try container.encode(nextIndex, forKey: .nextIndex)
    }
}

extension Catalog.Entity: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, name, parent, key, fields, indexes, joins, members, nextField, compression, was, removed
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(UInt16.self, forKey: .id)
        name = try container.decode(String.self, forKey: .name)
        parent = try container.decodeIfPresent(UInt16.self, forKey: .parent)
        root = id
        key = try container.decode([UInt16].self, forKey: .key)
        fields = try container.decode([Catalog.Field].self, forKey: .fields)
        indexes = try container.decodeIfPresent([Catalog.Index].self, forKey: .indexes) ?? []
        joins = try container.decodeIfPresent([Catalog.Join].self, forKey: .joins) ?? []
        members = try container.decodeIfPresent(UInt32.self, forKey: .members)
        nextField = try container.decode(UInt16.self, forKey: .nextField)
        compression = try container.decodeIfPresent(EntityDefinition.Compression.self, forKey: .compression)
        was = try container.decodeIfPresent([String].self, forKey: .was)
        removed = try container.decodeIfPresent([UInt16].self, forKey: .removed)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encodeIfPresent(parent, forKey: .parent)
        try container.encode(key, forKey: .key)
        try container.encode(fields, forKey: .fields)
        if !indexes.isEmpty { try container.encode(indexes, forKey: .indexes) }
        if !joins.isEmpty { try container.encode(joins, forKey: .joins) }
        try container.encodeIfPresent(members, forKey: .members)
        try container.encode(nextField, forKey: .nextField)
        try container.encodeIfPresent(compression, forKey: .compression)
        try container.encodeIfPresent(was, forKey: .was)
        try container.encodeIfPresent(removed, forKey: .removed)
    }
}

extension Catalog.Kind: Codable {
    private enum CodingKeys: String, CodingKey { case type, values, of, reference }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let reference = try container.decodeIfPresent(Catalog.Reference.self, forKey: .reference) {
            self = .reference(reference)
            return
        }
        func type(_ name: String) throws -> AttributeType {
            if name == "enum" { return .enumeration(try container.decode([String].self, forKey: .values)) }
            guard let type = AttributeType(named: name) else {
                throw DecodingError.dataCorruptedError(forKey: .type, in: container, debugDescription: "type \(name)")
            }
            return type
        }
        let name = try container.decode(String.self, forKey: .type)
        self = .attribute(
            name == "array" ? .array(try type(try container.decode(String.self, forKey: .of))) : try type(name))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .reference(let reference): try container.encode(reference, forKey: .reference)
        case .attribute(let type):
            var element = type
            if case .array(let inner) = type {
                try container.encode("array", forKey: .type)
                element = inner
            }
            try container.encode(element.name, forKey: type == element ? .type : .of)
            if case .enumeration(let values) = element { try container.encode(values, forKey: .values) }
        }
    }
}
