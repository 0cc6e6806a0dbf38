// An overlay: a second file, laid over what a description says about where values come from, for an API that is still moving.
//
// It is laid over the text, not over what became of it: so everything that is checked in a description is checked in the two
// together, and an error names the file that it is in.

import TarnImport
import TarnStore

extension Description {
    /// What was read, so that it can be read again with overlays. Says nothing about what a description is.
    struct Origin: Sendable, Hashable {
        var text: String
        var overlays: [Overlay] = []

        struct Overlay: Sendable {
            var text: String
            var file: String
        }

        static func == (a: Origin, b: Origin) -> Bool { true }

        func hash(into hasher: inout Hasher) {}
    }

    /// This description with the mapping that an overlay makes of it. Everything else stays as it is.
    ///
    /// - Parameter path: of a file in the form of a description, with `api` and `entities`, and in them only what says where values
    ///   come from and how they are taken. Each key takes the place of the description's own; one without a value removes it.
    /// - Throws: `DescriptionError` with every problem found, those in the overlay with its file: the file cannot be read, names what
    ///   the description does not have, or says what an overlay cannot.
    public func applying(overlay path: String) throws(DescriptionError) -> Description {
        try applying(overlay: try Description.text(ofFile: path), file: path)
    }

    /// The same with the text of an overlay.
    ///
    /// - Parameter file: to be named in errors.
    public func applying(overlay text: String, file: String) throws(DescriptionError) -> Description {
        guard var origin else {
            throw DescriptionError([.init(file: file, "this description was made by code, not read: change its mapping instead")])
        }
        origin.overlays.append(Origin.Overlay(text: text, file: file))
        let read = try Description.parse(origin, file: self.file, transformers: mapping.transformers)
        var result = self
        result.mapping = read.mapping
        result.origin = origin
        return result
    }
}

extension YAMLValue {
    /// The same with the file that it is from in every mark.
    func from(_ file: String) -> YAMLValue {
        func marked(_ mark: Mark) -> Mark { Mark(line: mark.line, column: mark.column, file: file) }
        let content: Content =
            switch content {
            case .scalar: content
            case .list(let values): .list(values.map { $0.from(file) })
            case .mapping(let entries):
                .mapping(entries.map { Entry(key: $0.key, keyMark: marked($0.keyMark), value: $0.value.from(file)) })
            }
        return YAMLValue(mark: marked(mark), content: content)
    }
}
