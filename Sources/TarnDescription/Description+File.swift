// Reading a description file: the functions of `Description` that need YAML.

import Glibc
public import Tarn

extension Description {
    /// The maximum size of a file, in bytes.
    static let sizeLimit = 10_000_000

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
    ///
    /// - Parameter remedy: the remedy if there is no such file.
    static func text(
        ofFile path: String, remedy: String = "name the description with --file, or create it"
    ) throws(DescriptionError) -> String {
        let bytes = try read(path, remedy)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            // Lines are split only after a failure: a valid file does not pay for it.
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
            let column = line.map { validScalars(lines[$0]) + 1 }
            throw DescriptionError([
                .init(
                    file: path, line: line.map { $0 + 1 }, column: column,
                    "not valid UTF-8: save the file as UTF-8 text")
            ])
        }
        return text
    }

    /// The number of scalars before the first bytes that are not UTF-8.
    private static func validScalars(_ bytes: ArraySlice<UInt8>) -> Int {
        var bytes = bytes.makeIterator(), decoder = UTF8(), count = 0
        while case .scalarValue = decoder.decode(&bytes) { count += 1 }
        return count
    }

    /// Validates the text of a description file.
    ///
    /// - Parameters:
    ///   - text: the YAML text.
    ///   - file: the path for errors; a relative store path and included files are resolved against
    ///     it. It is not read.
    ///   - transformers: transformers that the text may name in addition to the built-in ones.
    ///   - paginationStyles: the pagination styles that the text may name.
    /// - Throws: `DescriptionError` with every problem found.
    public static func parse(
        _ text: String, file: String, transformers: [ValueTransformer] = [],
        paginationStyles: PaginationStyles = .standard
    ) throws(DescriptionError) -> Description {
        try parse(
            DescriptionOrigin(text: text, paginationStyles: paginationStyles), file: file, transformers: transformers)
    }

    /// Validates the text of a description file, with overlays applied in order.
    static func parse(
        _ origin: DescriptionOrigin, file: String, transformers: [ValueTransformer]
    ) throws(DescriptionError) -> Description {
        var document = try Description.document(of: origin, file: file)
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
        guard var description, reader.problems.isEmpty else { throw DescriptionError(distinct: reader.problems) }
        description.origin = origin
        return description
    }

    /// Returns the document of a description with its included files and templates, without
    /// overlays.
    static func document(of origin: DescriptionOrigin, file: String) throws(DescriptionError) -> YAMLValue {
        guard origin.text.utf8.count <= sizeLimit else { throw tooLarge(file) }
        var includes = IncludeReader()
        let merged = includes.merge(try YAMLDocument.parse(origin.text, file: file), file: file)
        guard includes.problems.isEmpty else { throw DescriptionError(includes.problems) }
        var templates = TemplateExpander(file: file)
        let document = templates.expand(merged)
        guard templates.problems.isEmpty else { throw DescriptionError(distinct: templates.problems) }
        return document
    }

    private static func tooLarge(_ file: String) -> DescriptionError {
        DescriptionError([.init(file: file, "larger than 10 MB: not a description file")])
    }

    private static func read(_ path: String, _ remedy: String) throws(DescriptionError) -> [UInt8] {
        func failure(_ message: String) -> DescriptionError { DescriptionError([.init(file: path, message)]) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR: throw failure("no such file: \(remedy)")
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
