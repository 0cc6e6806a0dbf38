// Overlays: files that change the mapping of a description, for an API that is still changing.
//
// An overlay is merged into the text, not into the values read from it. So the result is validated
// like any description, and an error names the file that it is in.

public import Tarn

extension Description {
    /// Returns this description with the mapping of an overlay. Everything else is unchanged.
    ///
    /// - Parameter path: the path of a file in the form of a description. It has `api` and
    ///   `entities` with only the keys of the mapping. Each key replaces the description's; a key
    ///   without a value removes it.
    /// - Throws: `DescriptionError` with every problem: the file cannot be read, names something
    ///   that the description does not have, or sets a key that an overlay must not set. Problems
    ///   in the overlay name its file.
    public func applying(overlay path: String) throws(DescriptionError) -> Description {
        try applying(
            overlay: try Description.text(ofFile: path, remedy: "correct the path of the overlay, or create it"),
            file: path)
    }

    /// Returns this description with the mapping of an overlay's text.
    ///
    /// - Parameters:
    ///   - text: the YAML text of the overlay.
    ///   - file: the path for errors.
    /// - Throws: `DescriptionError` with every problem.
    public func applying(overlay text: String, file: String) throws(DescriptionError) -> Description {
        guard var origin else {
            throw DescriptionError([
                .init(
                    file: file,
                    "overlays need a description that was read from a file: change the mapping in code instead")
            ])
        }
        origin.overlays.append(DescriptionOrigin.Overlay(text: text, file: file))
        let read = try Description.parse(origin, file: self.file, transformers: mapping.transformers)
        var result = self
        result.mapping = read.mapping
        result.origin = origin
        return result
    }
}

extension YAMLValue {
    /// Returns the value with the file's path in every mark.
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
