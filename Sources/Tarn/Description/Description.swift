// A description as values: an API, its entities and its endpoints. `TarnDescription` reads it from
// a file.

import TarnHTTP
import TarnImport
import TarnStore

/// A description of an API: the store, the API, its entities, their mapping, the endpoints.
///
/// A program creates one, or reads a description file with the module `TarnDescription`;
/// <doc:DescriptionFile> is the reference of the format.
public struct Description: Sendable, Hashable {
    /// The path of the file, as the caller has passed it.
    public var file: String
    /// The path of the store. A relative path in the file is resolved against the file's directory.
    public var storePath: String
    /// The description of the API; of several ones, the first.
    public var api: APIDescription {
        didSet { setBases() }
    }
    /// The name of ``api``, if the description has several APIs; nil for the only one.
    package var apiName: String?
    /// The APIs after the first one, in the order of the file.
    package var furtherAPIs: [NamedAPI] = [] {
        didSet { setBases() }
    }
    /// The names of the APIs that have the records, by root entity; the first API has the others.
    package var entityAPIs: [String: String] = [:] {
        didSet { setBases() }
    }
    /// The schema of the records. It is valid: `schema.problems()` is empty.
    public var schema: Schema {
        didSet { declareFields() }
    }
    /// The mapping from JSON to records, for an `Importer`.
    ///
    /// It has the declared attributes and relationships. An import writes no others: a store may
    /// have those of other descriptions, too. For each entity it also names the relationships that
    /// the other side stores and that may be listed here (`EntityMapping.declared`).
    ///
    ///     let importer = try Importer(description.mapping, store.catalog)
    public var mapping: Mapping {
        didSet {
            declareFields()
            setBases()
        }
    }
    /// The endpoints, in the order of the file; may be empty.
    public var endpoints: [Endpoint]
    /// The requests that send local changes, by entity: see <doc:WritingBack>.
    public var writes: [String: WriteRequests] = [:]
    /// The templates of the records' web pages, by entity: see <doc:CommandLine>.
    package var pages: [String: String] = [:]
    /// The text it was read from; nil if it was created by code. It does not affect equality.
    package var origin: DescriptionOrigin?
    /// The plan of the mapping, for the syncs of this value and of its copies.
    package let plans = ImportPlanKeeper()

    /// Creates a description from values.
    public init(
        file: String, storePath: String, api: APIDescription, schema: Schema, mapping: Mapping, endpoints: [Endpoint]
    ) {
        self.file = file
        self.storePath = storePath
        self.api = api
        self.schema = schema
        self.mapping = mapping
        self.endpoints = endpoints
        declareFields()
        setBases()
    }

    /// Sets the base URLs of records, if an entity declares URLs.
    private mutating func setBases() {
        let entities = mapping.entities.values
        let hasURLs = entities.contains { $0.url != nil || !$0.referenceURLs.isEmpty }
        // Nothing to set: hundreds of APIs would copy the mapping for each change.
        if !hasURLs, mapping.bases.isEmpty, entities.allSatisfy({ $0.bases == nil }) { return }
        var completed = mapping
        completed.bases = hasURLs ? [api.base] + api.aliases : []
        for (entity, name) in entityAPIs where mapping.entities[entity] != nil {
            guard let other = furtherAPIs.first(where: { $0.name == name })?.api else { continue }
            completed.entities[entity]?.bases = hasURLs ? [other.base] + other.aliases : nil
        }
        if completed != mapping { mapping = completed }
    }

    /// Adds the fields of the schema to the mapping: an import writes no others.
    ///
    /// Relationships are added to the entities, too: a list may be at the side that does not store
    /// the relationship.
    private mutating func declareFields() {
        var completed = mapping
        completed.declaredFields = [:]
        for entity in schema.entities {
            let names = entity.attributes.map(\.name) + entity.relationships.map(\.name)
            completed.declaredFields[entity.name] = Set(names)
        }
        for entity in schema.entities where !entity.relationships.isEmpty {
            completed.entities[entity.name, default: EntityMapping()].declared.formUnion(
                entity.relationships.map(\.name))
        }
        if completed != mapping { mapping = completed }
    }
}

extension Description: CustomStringConvertible {
    /// One line: the file, its API and the counts of what it declares.
    public var description: String {
        let bases = ([api] + furtherAPIs.map(\.api)).map { Redaction.url($0.base) }.joined(separator: " and ")
        return "\(file): \(bases), \(schema.entities.count) entities, \(endpoints.count) endpoints"
    }
}
