// The reader of a description's YAML. It continues after a problem, so that all are reported at
// once. This file has the steps that every section needs; the sections are in
// `DescriptionReader+….swift`.

import TarnHTTP
import TarnImport
import TarnStore

struct DescriptionReader {
    typealias Mark = YAMLValue.Mark

    /// A mapping with known keys.
    struct Section {
        var field: String
        /// The location of the section's key: missing keys are reported there.
        var mark: Mark
        var values: [String: YAMLValue]

        subscript(_ key: String) -> YAMLValue? { values[key] }
        func path(_ key: String) -> String { field.isEmpty ? key : "\(field).\(key)" }
    }

    let file: String
    private(set) var problems: [DescriptionError.Problem] = []
    /// The fields of the problems.
    private var reportedFields: Set<String> = []
    /// The fields that contain those of the problems.
    private var fieldsAboveReported: Set<String> = []
    /// The names of the endpoints that were read.
    var endpointNames: Set<String> = []
    /// The locations of keys and values, by dotted path.
    private var places: [String: (key: Mark, value: Mark)] = [:]

    /// The keys that were accepted in each mapping, by its dotted path.
    private(set) var acceptedKeys: [String: [String]] = [:]

    /// The transformers that code has registered.
    let transformers: [ValueTransformer]
    /// The pagination styles that the file may name.
    let paginationStyles: PaginationStyles

    /// The templates of the records' web pages, by entity.
    var pages: [String: String] = [:]
    /// The names of the APIs that have the records, for entities of further APIs.
    var entityAPIs: [String: String] = [:]
    /// The APIs, in the order of the file.
    var apis: [ReadAPI] = []
    /// The API of the endpoint that is being read.
    var currentAPI = ReadAPI(name: nil, field: "api")
    /// The requests that send local changes, by entity.
    var writeRequests: [String: WriteRequests] = [:]

    init(file: String, transformers: [ValueTransformer], paginationStyles: PaginationStyles) {
        self.file = file
        self.transformers = transformers
        self.paginationStyles = paginationStyles
    }

    /// Reads a description; nil or incomplete only if ``problems`` is not empty.
    mutating func description(_ document: YAMLValue) -> Description? {
        guard
            let top = section(
                document, "", keys: ["store", "api", "apis", "entities", "endpoints", "templates", "include"],
                required: document.hasKey("apis") ? ["entities"] : ["api", "entities"],
                example: ["api": "api: { base: 'https://api.example.org' }", "entities": "entities: { User: … }"])
        else { return nil }
        let store = storePath(top)
        apis = apis(top)
        currentAPI = apis.first ?? currentAPI
        let (schema, mapping) = entities(top)
        let endpoints = endpoints(top, schema)
        checkPositions(endpoints, schema, mapping)
        checkFeeds(endpoints)
        guard let first = apis.first, let api = first.description else { return nil }
        var description = Description(
            file: file, storePath: store, api: api, schema: schema, mapping: mapping, endpoints: endpoints)
        description.pages = pages
        description.apiName = first.name
        description.furtherAPIs = apis.dropFirst().compactMap { further in
            guard let name = further.name, let api = further.description else { return nil }
            return NamedAPI(name, api)
        }
        description.entityAPIs = entityAPIs
        description.writes = writeRequests
        return description
    }

    private mutating func storePath(_ top: Section) -> String {
        guard top["store"] != nil else { return DescriptionFolder.store(of: file) }
        guard let path = variableText(top, "store") else { return "" }
        if path.hasPrefix("~") {
            report(
                top, "store",
                "~ is not expanded: write an absolute path, or one relative to this file")
        }
        return DescriptionFolder.path(path, besides: file)
    }

    // MARK: Problems

    mutating func report(_ field: String, _ mark: Mark?, _ message: String) {
        problems.append(.init(file: mark?.file ?? file, line: mark?.line, column: mark?.column, field: field, message))
        if reportedFields.insert(field).inserted {
            fieldsAboveReported.formUnion(DescriptionReader.fields(above: field))
        }
    }

    /// Reports a problem at the value of a key.
    mutating func report(_ section: Section, _ key: String, _ message: String) {
        report(section.path(key), section[key]?.mark ?? section.mark, message)
    }

    /// Records the location of a value whose short form lacks the last key of its dotted path.
    mutating func record(_ field: String, of entry: YAMLValue.Entry) {
        places[field] = (entry.keyMark, entry.value.mark)
    }

    /// Whether a key or value of this dotted path was read.
    func isRecorded(_ field: String) -> Bool { places[field] != nil }

    /// Reports a problem at the value of a dotted path, else at the nearest key above it.
    mutating func report(at field: String, _ message: String) {
        if let place = places[field] { return report(field, place.value, message) }
        report(field, keyMark(field), message)
    }

    /// The location of a path's own key, else of the nearest key above it.
    func keyMark(_ field: String) -> Mark {
        var path = field[...]
        while true {
            if let place = places[String(path)] { return place.key }
            guard let dot = path.lastIndex(of: ".") else { return Mark(line: 1, column: 1) }
            path = path[..<dot]
        }
    }

    /// Whether a problem of this field, or of one that contains it, is reported.
    ///
    /// Problems that follow from it are not worth reporting.
    func isReported(_ field: String) -> Bool {
        !reportedFields.isEmpty
            && (reportedFields.contains(field)
                || DescriptionReader.fields(above: field).contains(where: reportedFields.contains))
    }

    /// Whether a problem of this field, of one that contains it, or of one within it is reported.
    func isReported(in field: String) -> Bool {
        isReported(field) || fieldsAboveReported.contains(field)
    }

    /// The dotted paths that contain a field.
    private static func fields(above field: String) -> [String] {
        // Only names that are refused have more dots.
        field.indices.lazy.filter { field[$0] == "." }.prefix(64).map { String(field[..<$0]) }
    }

    // MARK: Values

    /// Reads a mapping with a fixed set of keys; nil if it is no mapping, with a problem reported.
    ///
    /// - Parameters:
    ///   - instead: messages for other keys that authors are likely to write.
    ///   - example: the syntax of required keys.
    mutating func section(
        _ value: YAMLValue, _ field: String, keys: [String], required: [String] = [], instead: [String: String] = [:],
        example: [String: String] = [:]
    ) -> Section? {
        guard case .mapping(let entries) = value.content else {
            let found = value.kind(in: field)
            report(field, value.mark, "expected a mapping (\(keys.joined(separator: ", "))), found \(found)")
            return nil
        }
        acceptedKeys[field] = keys
        var section = Section(field: field, mark: field.isEmpty ? value.mark : keyMark(field), values: [:])
        for entry in entries {
            let path = section.path(entry.key)
            places[path] = (entry.keyMark, entry.value.mark)
            if let message = instead[entry.key] {
                report(path, entry.keyMark, message)
            } else if keys.contains(entry.key) {
                section.values[entry.key] = entry.value
            } else {
                report(path, entry.keyMark, Spelling.unknown("key", entry.key, among: keys))
            }
        }
        for key in required where section[key] == nil && instead[key] == nil {
            let hint = example[key].map { ": write \($0)" } ?? ""
            report(section.path(key), section.mark, "missing\(hint)")
        }
        return section
    }

    /// Reads a mapping from names, in its order. A key without a value has no entries.
    mutating func entries(_ section: Section, _ key: String, of what: String) -> [YAMLValue.Entry] {
        guard let value = section[key], !value.isNull else { return [] }
        guard case .mapping(let entries) = value.content else {
            report(section, key, "expected a mapping from \(what), found \(value.kind)")
            return []
        }
        for entry in entries { places["\(section.path(key)).\(entry.key)"] = (entry.keyMark, entry.value.mark) }
        return entries
    }

    /// Reads a non-null scalar, as it is written.
    mutating func text(_ value: YAMLValue, _ field: String) -> String? {
        guard case .scalar(let text, _) = value.content else {
            report(field, value.mark, "expected a single value, found \(value.kind)")
            return nil
        }
        guard !value.isNull else {
            report(
                field, value.mark,
                "missing value: write one (quote \"\(text)\" if the text is meant), or remove the line")
            return nil
        }
        return text
    }

    /// Reads a non-empty scalar of a section; nil without a report if the key is absent.
    mutating func text(_ section: Section, _ key: String) -> String? {
        guard let value = section[key], let text = text(value, section.path(key)) else { return nil }
        guard !text.isEmpty else {
            report(section, key, "must not be empty")
            return nil
        }
        return text
    }

    /// Reads a non-empty scalar of a section, in which environment variables are replaced.
    mutating func variableText(_ section: Section, _ key: String) -> String? {
        guard let text = text(section, key) else { return nil }
        return variables(in: text, section.path(key), section[key]?.mark)
    }

    /// Replaces the environment variables of a text; nil with a report if one is not set.
    mutating func variables(in text: String, _ field: String, _ mark: Mark?) -> String? {
        switch EnvironmentText.expanded(text) {
        case .success(let text): return text
        case .failure(let problem):
            report(field, mark, problem.message)
            return nil
        }
    }

    /// Reads one text or a list of texts, with their locations. A key without a value has none.
    mutating func texts(_ section: Section, _ key: String) -> [(text: String, mark: Mark)] {
        guard let value = section[key], !value.isNull else { return [] }
        let values = if case .list(let list) = value.content { list } else { [value] }
        return values.compactMap { element in text(element, section.path(key)).map { ($0, element.mark) } }
    }

    mutating func flag(_ section: Section, _ key: String) -> Bool {
        guard let value = section[key] else { return false }
        switch value.content {
        case .scalar("true", plain: true): return true
        case .scalar("false", plain: true): return false
        default:
            report(section, key, "expected true or false, found \(value.kind)")
            return false
        }
    }

    /// Reads an integer of at least `minimum`; nil if it is invalid, with a problem reported.
    mutating func integer(_ value: YAMLValue, _ field: String, minimum: Int) -> Int? {
        if case .scalar(let text, plain: true) = value.content, let number = Int(text), number >= minimum {
            return number
        }
        report(field, value.mark, "expected a whole number of at least \(minimum), found \(value.kind)")
        return nil
    }
}
