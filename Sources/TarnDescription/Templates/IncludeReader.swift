// Included files: parts of a description in files of their own, shared by several descriptions.

import Glibc
import Tarn

/// The reader of `include`: merges a document over those of the files that it includes.
struct IncludeReader {
    typealias Entry = YAMLValue.Entry

    /// The maximum number of files that include one another, and of all included files.
    static let depthLimit = 8, fileLimit = 64
    /// The sections of an included file.
    private static let sections = ["include", "api", "apis", "templates", "entities", "endpoints"]

    private(set) var problems: [DescriptionError.Problem] = []
    /// The canonical paths of all included files, and of the files that are being included.
    private var included: Set<String> = [], chain: [String] = []

    /// Returns a document with everything of the files that it includes.
    ///
    /// The document's own keys of `api`, and its whole entities, endpoints and templates, replace
    /// those of an included file. Two included files cannot have the same one.
    ///
    /// - Parameter file: the path of the document, to which the included paths are relative.
    mutating func merge(_ document: YAMLValue, file: String) -> YAMLValue {
        chain = [IncludeReader.canonical(file)]
        return merged(document, file: file)
    }

    private mutating func merged(_ document: YAMLValue, file: String) -> YAMLValue {
        guard case .mapping(var sections) = document.content,
            let index = sections.firstIndex(where: { $0.key == "include" })
        else { return document }
        let include = sections.remove(at: index)
        var base: [Entry] = []
        for (path, mark) in paths(include.value, file) {
            guard let value = read(path, mark, file), case .mapping(let entries) = value.content else { continue }
            base = add(entries, to: base)
        }
        return YAMLValue(mark: document.mark, content: .mapping(IncludeReader.lay(sections, over: base)))
    }

    private mutating func report(_ mark: YAMLValue.Mark, _ file: String, _ message: String, field: String = "include") {
        problems.append(
            .init(file: mark.file ?? file, line: mark.line, column: mark.column, field: field, message))
    }

    // MARK: Files

    private mutating func paths(_ value: YAMLValue, _ file: String) -> [(path: String, mark: YAMLValue.Mark)] {
        let values = if case .list(let list) = value.content { list } else { [value] }
        var paths: [(String, YAMLValue.Mark)] = []
        for value in values {
            guard case .scalar(let text, _) = value.content, !value.isNull, !text.isEmpty, !text.hasPrefix("~") else {
                report(value.mark, file, "expected the path of a file, relative to this one, found \(value.kind)")
                continue
            }
            switch EnvironmentText.expanded(text) {
            case .success(let path): paths.append((path, value.mark))
            case .failure(let problem): report(value.mark, file, problem.message)
            }
        }
        return paths
    }

    /// Reads an included file; nil if it was included already, or with a problem reported.
    private mutating func read(_ path: String, _ mark: YAMLValue.Mark, _ file: String) -> YAMLValue? {
        let path = DescriptionFolder.path(path, besides: file)
        let canonical = IncludeReader.canonical(path)
        if chain.contains(canonical) {
            report(mark, file, "\(path) includes itself: remove one of the lines")
            return nil
        }
        guard chain.count <= IncludeReader.depthLimit else {
            report(mark, file, "more than \(IncludeReader.depthLimit) files include one another")
            return nil
        }
        guard included.insert(canonical).inserted else { return nil }
        guard included.count <= IncludeReader.fileLimit else {
            report(mark, file, "more than \(IncludeReader.fileLimit) included files")
            return nil
        }
        guard !IncludeReader.mayWait(path) else {
            report(mark, file, "\(path) is a device or a pipe, and is not read: write the text to a file")
            return nil
        }
        do throws(DescriptionError) {
            let text = try Description.text(
                ofFile: path, remedy: "correct the path, which is relative to \(file), or create the file")
            let document = try YAMLDocument.parse(text, file: path).from(path)
            guard isPart(document, path) else { return nil }
            chain.append(canonical)
            defer { chain.removeLast() }
            return merged(document, file: path)
        } catch {
            problems += error.problems.map { problem in
                // A file that cannot be read is a problem of the line that names it.
                guard problem.line == nil else { return problem }
                return .init(
                    file: mark.file ?? file, line: mark.line, column: mark.column, field: "include",
                    "\(problem.file): \(problem.message)")
            }
            return nil
        }
    }

    /// Whether a path leads to a device or a pipe. To read it may take for ever, or what a person
    /// types: in `tarn check`, and in completions.
    private static func mayWait(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    private static func canonical(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Whether a document has only the sections that may be included; others are reported.
    private mutating func isPart(_ document: YAMLValue, _ path: String) -> Bool {
        guard case .mapping(let entries) = document.content else {
            report(document.mark, path, "expected a mapping, found \(document.kind)", field: "")
            return false
        }
        for entry in entries where !IncludeReader.sections.contains(entry.key) {
            let message =
                entry.key == "store"
                ? "an included file cannot name the store: write it in the file that includes it"
                : Spelling.unknown("key", entry.key, among: IncludeReader.sections)
            report(entry.keyMark, path, message, field: entry.key)
        }
        return entries.allSatisfy { IncludeReader.sections.contains($0.key) }
    }

    // MARK: Merging

    /// Adds the sections of an included file to those of other ones.
    private mutating func add(_ sections: [Entry], to base: [Entry]) -> [Entry] {
        for section in sections {
            guard case .mapping(let names) = section.value.content,
                let known = base.first(where: { $0.key == section.key }),
                case .mapping(let others) = known.value.content
            else { continue }
            for name in names {
                guard let other = others.first(where: { $0.key == name.key }) else { continue }
                let place = "\(other.keyMark.file ?? ""):\(other.keyMark.line)"
                report(
                    name.keyMark, name.keyMark.file ?? "", "\(place) has it, too: write it in one included file",
                    field: "\(section.key).\(name.key)")
            }
        }
        return IncludeReader.lay(sections, over: base, isPart: true)
    }

    /// Lays sections over others, name by name.
    ///
    /// Included names come first. Of APIs, the file's own come first: the first of them is the
    /// default, whatever the included files declare.
    ///
    /// - Parameter isPart: whether the sections are those of another included file, which come
    ///   behind the others.
    private static func lay(_ own: [Entry], over base: [Entry], isPart: Bool = false) -> [Entry] {
        var result = base
        for section in own {
            guard let index = result.firstIndex(where: { $0.key == section.key }) else {
                result.append(section)
                continue
            }
            guard case .mapping(let names) = section.value.content,
                case .mapping(var known) = result[index].value.content
            else {
                if !section.value.isNull { result[index] = section }
                continue
            }
            if section.key == "apis", !isPart {
                known = names + known.filter { other in !names.contains { $0.key == other.key } }
            } else {
                known = replaced(known, by: names)
            }
            result[index].keyMark = section.keyMark
            result[index].value = YAMLValue(mark: section.value.mark, content: .mapping(known))
        }
        return result
    }

    /// The entries, with others in the places of those with the same keys, or behind all.
    private static func replaced(_ entries: [Entry], by others: [Entry]) -> [Entry] {
        var result = entries
        for other in others {
            if let place = result.firstIndex(where: { $0.key == other.key }) {
                result[place] = other
            } else {
                result.append(other)
            }
        }
        return result
    }
}
