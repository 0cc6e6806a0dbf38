// A description file as values: an API, its entities and its endpoints, read by
// `DescriptionReader`.

import Glibc
import TarnHTTP
import TarnImport
import TarnStore

/// A validated description file: the store, the API, its entities, their mapping, the endpoints.
///
/// <doc:DescriptionFile> is the reference of the format.
public struct Description: Sendable, Hashable {
    /// The path of the file, as the caller has passed it.
    public var file: String
    /// The path of the store. A relative path in the file is resolved against the file's directory.
    public var storePath: String
    /// The description of the API.
    public var api: APIDescription
    /// The schema of the records. It is valid: `schema.problems()` is empty.
    public var schema: Schema {
        didSet { declareRelationships() }
    }
    /// The mapping from JSON to records, for an `Importer`.
    ///
    /// It has the declared attributes and relationships. For each entity it also names the
    /// relationships that the other side stores and that may be listed here
    /// (`EntityMapping.declared`).
    ///
    ///     let importer = try Importer(description.mapping, store.catalog)
    public var mapping: Mapping {
        didSet { declareRelationships() }
    }
    /// The endpoints, in the order of the file; may be empty.
    public var endpoints: [Endpoint]
    /// The text it was read from; nil if it was created by code.
    var origin: Origin?

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
        declareRelationships()
    }

    /// Adds every relationship of the schema to the mapping.
    ///
    /// A list may be at the side that does not store the relationship.
    private mutating func declareRelationships() {
        var completed = mapping
        for entity in schema.entities where !entity.relationships.isEmpty {
            completed.entities[entity.name, default: EntityMapping()].declared.formUnion(
                entity.relationships.map(\.name))
        }
        if completed != mapping { mapping = completed }
    }

    /// The maximum size of a file, in bytes.
    package static let sizeLimit = 10_000_000

    /// Reads and validates a description file.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - transformers: transformers that the file may name in addition to the built-in ones.
    ///   - paginationStyles: the pagination styles that the file may name.
    /// - Throws: `DescriptionError` with every problem: the file cannot be read, is not YAML in
    ///   UTF-8, or breaks a rule of the format.
    public static func load(
        path: String, transformers: [ValueTransformer] = [], paginationStyles: PaginationStyles = .standard
    ) throws(DescriptionError) -> Description {
        try parse(
            try text(ofFile: path), file: path, transformers: transformers, paginationStyles: paginationStyles)
    }

    /// The text of a file in UTF-8.
    static func text(ofFile path: String) throws(DescriptionError) -> String {
        let bytes = try read(path)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            // Lines are split only after a failure: a valid file does not pay for it.
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }.map { $0 + 1 }
            throw DescriptionError([.init(file: path, line: line, "not valid UTF-8: save the file as UTF-8 text")])
        }
        return text
    }

    /// Validates the text of a description file.
    ///
    /// - Parameters:
    ///   - text: the YAML text.
    ///   - file: the path for errors; a relative store path is resolved against it. It is not read.
    ///   - transformers: transformers that the text may name in addition to the built-in ones.
    ///   - paginationStyles: the pagination styles that the text may name.
    /// - Throws: `DescriptionError` with every problem found.
    public static func parse(
        _ text: String, file: String, transformers: [ValueTransformer] = [],
        paginationStyles: PaginationStyles = .standard
    ) throws(DescriptionError) -> Description {
        try parse(
            Origin(text: text, paginationStyles: paginationStyles), file: file, transformers: transformers)
    }

    /// Validates the text of a description file, with overlays applied in order.
    static func parse(
        _ origin: Origin, file: String, transformers: [ValueTransformer]
    ) throws(DescriptionError) -> Description {
        guard origin.text.utf8.count <= sizeLimit else { throw tooLarge(file) }
        var document = try YAMLDocument.parse(origin.text, file: file)
        for overlay in origin.overlays {
            guard overlay.text.utf8.count <= sizeLimit else { throw tooLarge(overlay.file) }
            var reader = OverlayReader(file: overlay.file)
            document = reader.lay(
                try YAMLDocument.parse(overlay.text, file: overlay.file).from(overlay.file), over: document)
            guard reader.problems.isEmpty else { throw DescriptionError(reader.problems) }
        }
        var reader = DescriptionReader(
            file: file, transformers: transformers, paginationStyles: origin.paginationStyles)
        let description = reader.description(document)
        guard var description, reader.problems.isEmpty else { throw DescriptionError(reader.problems) }
        description.origin = origin
        return description
    }

    private static func tooLarge(_ file: String) -> DescriptionError {
        DescriptionError([.init(file: file, "larger than 10 MB: not a description file")])
    }

    private static func read(_ path: String) throws(DescriptionError) -> [UInt8] {
        func failure(_ message: String) -> DescriptionError { DescriptionError([.init(file: path, message)]) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR: throw failure("no such file: name the description with --file, or create it")
            case EACCES: throw failure("permission denied")
            default: throw failure("cannot open the file: \(String(cString: strerror(errno)))")
            }
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            guard count > 0 else {
                switch errno {
                case EINTR: continue
                case EISDIR: throw failure("is a directory: name the description file in it")
                default: throw failure("cannot read the file: \(String(cString: strerror(errno)))")
                }
            }
            bytes += chunk[..<count]
            // Checked while reading, not before: a device or a pipe has no size.
            guard bytes.count <= sizeLimit else { throw tooLarge(path) }
        }
    }
}

extension Description: CustomStringConvertible {
    /// One line: the file, its API and the counts of what it declares.
    public var description: String {
        "\(file): \(Redaction.url(api.base)), \(schema.entities.count) entities, \(endpoints.count) endpoints"
    }
}
