// The description file as values: an API, its entities and its endpoints. `DescriptionReader` fills them from YAML.

import Glibc
import TarnHTTP
import TarnImport
import TarnStore

/// A description file, read and checked: where the store is, how to reach the API, what its records are and how its
/// JSON becomes records, and what to fetch.
///
/// <doc:DescriptionFile> is the reference of the format.
public struct Description: Sendable, Hashable {
    /// The path of the file, as it was given.
    public var file: String
    /// The path of the store; a relative one in the file has been resolved beside the file.
    public var storePath: String
    public var api: APIDescription
    /// Sound: `schema.problems()` is empty.
    public var schema: Schema {
        didSet { declareRelationships() }
    }
    /// What an `Importer` takes: the attributes and relationships as declared, and for each entity
    /// the relationships that are stored at the other side and may be listed here
    /// (`EntityMapping.declared`).
    ///
    ///     let importer = try Importer(description.mapping, store.catalog)
    public var mapping: Mapping {
        didSet { declareRelationships() }
    }
    /// In the order of the file. May be empty.
    public var endpoints: [Endpoint]
    /// Nil if it was made by code.
    var origin: Origin?

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

    /// Completes the mapping with every relationship of the schema: a list may be at the side that
    /// does not store it.
    private mutating func declareRelationships() {
        var completed = mapping
        for entity in schema.entities where !entity.relationships.isEmpty {
            completed.entities[entity.name, default: EntityMapping()].declared.formUnion(
                entity.relationships.map(\.name))
        }
        if completed != mapping { mapping = completed }
    }

    /// The largest file that is read.
    public static let sizeLimit = 10_000_000

    /// Reads and checks a description file.
    ///
    /// - Parameter transformers: those that the file may name beside the built-in ones.
    /// - Throws: `DescriptionError` with every problem found: the file cannot be read, is not YAML in UTF-8, or breaks
    ///   a rule of the format.
    public static func load(path: String, transformers: [ValueTransformer] = []) throws(DescriptionError) -> Description {
        try parse(try text(ofFile: path), file: path, transformers: transformers)
    }

    /// The text of a file, which has to be UTF-8.
    static func text(ofFile path: String) throws(DescriptionError) -> String {
        let bytes = try read(path)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            // Lines are searched only now: a valid file pays nothing for them.
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }.map { $0 + 1 }
            throw DescriptionError([.init(file: path, line: line, "not valid UTF-8: save the file as UTF-8 text")])
        }
        return text
    }

    /// Checks the text of a description file.
    ///
    /// - Parameters:
    ///   - text: YAML.
    ///   - file: The path to name in errors; a relative store lies beside it. Nothing is read from it.
    ///   - transformers: those that the text may name beside the built-in ones.
    /// - Throws: `DescriptionError` with every problem found.
    public static func parse(
        _ text: String, file: String, transformers: [ValueTransformer] = []
    ) throws(DescriptionError) -> Description {
        try parse(Origin(text: text), file: file, transformers: transformers)
    }

    /// The same with overlays, one over the other.
    static func parse(
        _ origin: Origin, file: String, transformers: [ValueTransformer]
    ) throws(DescriptionError) -> Description {
        guard origin.text.utf8.count <= sizeLimit else { throw tooLarge(file) }
        var document = try YAMLDocument.parse(origin.text, file: file)
        for overlay in origin.overlays {
            guard overlay.text.utf8.count <= sizeLimit else { throw tooLarge(overlay.file) }
            var reader = OverlayReader(file: overlay.file)
            document = reader.lay(try YAMLDocument.parse(overlay.text, file: overlay.file).from(overlay.file), over: document)
            guard reader.problems.isEmpty else { throw DescriptionError(reader.problems) }
        }
        var reader = DescriptionReader(file: file, transformers: transformers)
        let description = reader.description(document)
        guard var description, reader.problems.isEmpty else { throw DescriptionError(reader.problems) }
        description.origin = origin
        return description
    }

    private static func tooLarge(_ file: String) -> DescriptionError {
        DescriptionError([.init(file: file, "larger than 10 MB: this is not a description file")])
    }

    private static func read(_ path: String) throws(DescriptionError) -> [UInt8] {
        func failure(_ message: String) -> DescriptionError { DescriptionError([.init(file: path, message)]) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR: throw failure("there is no such file: name the description with --file, or create it")
            case EACCES: throw failure("no permission to read this file")
            default: throw failure("cannot be opened: \(String(cString: strerror(errno)))")
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
                case EISDIR: throw failure("this is a directory: name the description file in it")
                default: throw failure("cannot be read: \(String(cString: strerror(errno)))")
                }
            }
            bytes += chunk[..<count]
            // Checked while reading, not before: a device or a pipe has no size to ask for.
            guard bytes.count <= sizeLimit else { throw tooLarge(path) }
        }
    }
}
