// Path templates of endpoints. `:name` and names without a record become `{record.name}`.

import TarnHTTP
import TarnStore

extension DescriptionReader {
    /// Reads the path of an endpoint as a template in its canonical form.
    mutating func endpointPath(
        _ section: Section, _ parameters: [Endpoint.Parameter], _ forEach: Endpoint.ForEach?, _ schema: Schema
    ) -> PathTemplate? {
        guard let path = section["url"] == nil ? text(section, "path") : urlVariable(section, forEach),
            let template = pathTemplate(
                path, section, section.requestKey,
                isKnown: { DescriptionReader.isKnown($0, parameters, forEach, schema) })
        else { return nil }
        guard let forEach else { return template }
        // Short form: a name without the variable is an attribute of the record.
        var text = template.description
        for name in template.variables {
            let isNamed = name == forEach.variable || name.hasPrefix(forEach.variable + ".")
            guard !isNamed, !parameters.contains(where: { $0.name == name }),
                case .attribute = DescriptionReader.attribute(
                    at: name.split(separator: ".").map(String.init)[...], of: forEach.entity, schema)
            else { continue }
            text = DescriptionReader.renaming(name, to: "\(forEach.variable).\(name)", in: text)
        }
        return text == template.description ? template : try? PathTemplate(text)
    }

    /// Reads a path template.
    ///
    /// - Parameter isKnown: see `PathTemplate`.
    mutating func pathTemplate(
        _ path: String, _ section: Section, _ key: String = "path", isKnown: ((String) -> Bool)? = nil
    ) -> PathTemplate? {
        if let message = DescriptionReader.problem(ofPath: path) {
            report(section, key, message)
            return nil
        }
        do {
            return try PathTemplate(path, isKnown: isKnown)
        } catch {
            // The field names the template already.
            report(section, key, error.description.replacing("\(path): ", with: "", maxReplacements: 1))
            return nil
        }
    }

    /// The problem of a path that is a valid template but not a valid path of an endpoint.
    private static func problem(ofPath path: String) -> String? {
        if !path.hasPrefix("/") { return "a path must begin with /: it is appended to the base URL" }
        // Within braces, ? and # are operators of RFC 6570.
        var outside = "", depth = 0
        for character in path {
            if character == "{" { depth += 1 }
            if depth == 0 { outside.append(character) }
            if character == "}" { depth -= 1 }
        }
        if outside.contains("?") { return "a path cannot have a query: write its parameters under with" }
        if outside.contains("#") || path.contains("{#") {
            return "a path cannot have a fragment: remove the # and everything after it"
        }
        if path.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7F }) {
            return "a path cannot contain spaces or control characters: percent-encode them"
        }
        return nil
    }

    /// Whether a name with dots has a value as a whole.
    private static func isKnown(
        _ name: String, _ parameters: [Endpoint.Parameter], _ forEach: Endpoint.ForEach?, _ schema: Schema
    ) -> Bool {
        if parameters.contains(where: { $0.name == name }) { return true }
        guard let forEach else { return false }
        var path = name.split(separator: ".").map(String.init)[...]
        if path.first == forEach.variable { path = path.dropFirst() }
        if case .attribute = attribute(at: path, of: forEach.entity, schema) { return true }
        return false
    }

    /// Renames a variable in all expressions of a template.
    private static func renaming(_ name: String, to other: String, in text: String) -> String {
        var output = "", rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            output += rest[...open]
            let parts = rest[rest.index(after: open)..<close].split(separator: ",", omittingEmptySubsequences: false)
                .map { part -> String in
                    let start =
                        part.first.map { "+#./;?&".contains($0) } == true
                        ? part.index(after: part.startIndex) : part.startIndex
                    let end = part[start...].firstIndex { $0 == ":" || $0 == "*" } ?? part.endIndex
                    return part[start..<end] == name ? part[..<start] + other + part[end...] : String(part)
                }
            output += parts.joined(separator: ",") + "}"
            rest = rest[rest.index(after: close)...]
        }
        return output + rest
    }

    // MARK: Attributes

    enum Found {
        case attribute(AttributeType)
        /// The reason why there is no attribute, as messages state it.
        case nothing(String)
    }

    /// The attribute at a path through to-one relationships.
    static func attribute(at path: ArraySlice<String>, of entity: String, _ schema: Schema) -> Found {
        // An entity inherits the attributes and relationships of its parents.
        var attributes: [AttributeDefinition] = [], relationships: [RelationshipDefinition] = [],
            next: String? = entity, seen: Set<String> = []
        while let name = next, seen.insert(name).inserted,
            let definition = schema.entities.first(where: { $0.name == name })
        {
            attributes += definition.attributes
            relationships += definition.relationships
            next = definition.parent
        }
        guard let name = path.first else { return .nothing("missing name") }
        guard path.count > 1 else {
            if let attribute = attributes.first(where: { $0.name == name }) { return .attribute(attribute.type) }
            return .nothing(Spelling.unknown("attribute", name, among: attributes.map(\.name)))
        }
        let toOne = relationships.filter { !$0.isToMany }
        guard let relationship = toOne.first(where: { $0.name == name }) else {
            return .nothing(Spelling.unknown("to-one relationship", name, among: toOne.map(\.name)) + " (of \(entity))")
        }
        return attribute(at: path.dropFirst(), of: relationship.destination, schema)
    }

    mutating func checkVariable(
        _ name: String, attribute: String?, _ forEach: Endpoint.ForEach, _ section: Section, _ key: String,
        _ schema: Schema
    ) {
        if let problem = problem(ofVariable: name, attribute: attribute, forEach, schema) {
            report(section, key, problem)
        }
    }

    /// Returns the problem of a name that stands for a value of the record of `for_each`.
    func problem(
        ofVariable name: String, attribute: String?, _ forEach: Endpoint.ForEach, _ schema: Schema
    ) -> String? {
        let attributes = schema.entities.first { $0.name == forEach.entity }?.attributes ?? []
        if attributes.isEmpty, isReported("entities.\(forEach.entity).attributes") || schema.entities.isEmpty {
            return nil
        }
        guard let attribute else {
            let example = attributes.first?.name ?? "id"
            return "{\(name)} is a whole record: use one of its attributes, such as {\(name).\(example)}"
        }
        switch DescriptionReader.attribute(
            at: attribute.split(separator: ".").map(String.init)[...], of: forEach.entity, schema)
        {
        case .nothing(let message): return "{\(name)}: \(message)"
        case .attribute(let type):
            switch type {
            case .json, .array:
                return "{\(name)} is of type \(type), which cannot be used in a path: use another attribute"
            default: return nil
            }
        }
    }
}
