// A GET of a specification that returns records.

import Tarn

/// A GET operation: its path, parameters, and the shape of its response.
struct Operation {
    /// A parameter of the path, the query, or the header.
    struct Parameter {
        enum Place: String { case path, query, header, cookie }

        var name: String
        var place: Place
        var isRequired: Bool
        var schema: JSONValue
        var example: JSONValue?
        /// The description, for hints.
        var text = ""
        /// The separator of the values of a list in one text; nil if each is sent by itself.
        var separator: String?

        var isInPath: Bool { place == .path }

        /// The values of a path parameter with an `enum`; empty without.
        var choices: [String] { schema["enum"]?.elements.compactMap(\.scalarText) ?? [] }

        /// The value for a request, if the specification has one.
        var value: String? {
            values.count == 1 ? values[0] : separator.flatMap { values.joined(separator: $0).nonEmpty }
        }

        /// The values for a request: several of a list.
        var values: [String] {
            let items = schema["items"]
            let candidates = [
                example, schema["default"], schema["example"], schema["examples"]?.elements.first,
                schema["enum"]?.elements.first, items?["default"], items?["example"], items?["enum"]?.elements.first,
            ]
            let found = candidates.lazy.compactMap { value in
                guard let value else { return [String]?.none }
                let texts = (value.scalarText.map { [$0] } ?? value.elements.compactMap(\.scalarText)).prefix(100)
                return texts.isEmpty ? nil : Array(texts)
            }
            return found.first ?? []
        }
    }

    /// An operation that is not described, with the reason.
    struct Omitted: Error {
        /// The reason in words; nil without a GET.
        var reason: String?
        /// Whether the response may have a list.
        var isList = true
    }

    var path: String
    var segments: [String]
    var parameters: [Parameter]
    var response: ValueShape
    /// The names of the declared header fields of the response, in lower case.
    var headers: Set<String>
    /// The list of records in the response; nil for a single object.
    var list: FoundList?
    /// The shape of the listed records, or of the single object.
    var records: ObjectShape
    /// The names of other lists and members of the response, which the endpoint does not describe.
    var besides: [String] = []
    /// The steps to a single object; empty at the root.
    var objectSteps: [ListStep] = []
    /// Whether the operation is deprecated.
    var isDeprecated: Bool
    /// The servers of the operation or of its path; empty for those of the specification.
    var servers: [JSONValue]

    /// Creates the operation of a path item.
    ///
    /// - Throws: `Omitted` if its response has no objects in JSON.
    init(
        _ path: String, _ item: JSONValue, _ document: OpenAPIDocument, _ shapes: SchemaShapes
    ) throws(Omitted) {
        guard let get = item["get"], case .object = get else { throw Omitted() }
        guard path.hasPrefix("/"), path.utf8.count <= 500, !path.unicodeScalars.contains(where: YAMLText.isUnsafe)
        else {
            throw Omitted(reason: "its path is not one of a URL")
        }
        parameters = Operation.parameters(
            (item["parameters"]?.elements ?? []) + (get["parameters"]?.elements ?? []), document)
        self.path = Operation.renamingVariables(path, &parameters)
        segments = self.path.split(separator: "/").map(String.init)
        isDeprecated = get["deprecated"] == .bool(true)
        servers = (get["servers"] ?? item["servers"])?.elements ?? []
        let responses = get["responses"]?.members ?? []
        let success = responses.first { $0.key == "200" } ?? responses.first { $0.key.hasPrefix("2") }
        guard let member = success ?? responses.first(where: { $0.key == "default" }) else {
            throw Omitted(reason: "it declares no response")
        }
        guard let (response, _) = document.resolve(member.value) else {
            throw Omitted(reason: Operation.unresolved(member.value, document))
        }
        headers = Set(response["headers"]?.members.map { $0.key.lowercased() } ?? [])
        let content = response["content"]?.members ?? []
        guard let media = content.first(where: { Operation.isJSON($0.key) }) else {
            let types = content.prefix(3).map { YAMLText.comment($0.key, limit: 60) }.joined(separator: ", ")
            throw Omitted(
                reason: types.isEmpty ? "its response declares no content" : "its response is \(types), and no JSON")
        }
        guard let schema = media.value["schema"] else { throw Omitted(reason: "its response declares no schema") }
        let value = shapes.value(schema)
        self.response = value
        if value.isListOfObjects, let object = value.element?.object {
            (list, records) = (FoundList(steps: [], isList: true), object)
        } else if let object = value.recordsOfMap {
            (list, records) = (FoundList(steps: [.each], isList: true), object)
        } else if let object = value.object {
            // A path that ends in a variable names one record, whatever lists that has.
            let isNamed = segments.last.map { Operation.variable($0) != nil } ?? false
            if let found = Operation.list(in: object, segments), !isNamed || found.list.steps.count <= 1 {
                (list, records, besides) = found
            } else if let inner = Operation.wrapped(object, segments) {
                (list, records) = (nil, inner.shape)
                objectSteps = [.key(inner.name)]
            } else {
                (list, records) = (nil, object)
            }
        } else {
            let external = Operation.external(schema, document)
            throw Omitted(reason: external ?? "its response has no objects", isList: external != nil)
        }
        if let problem = Operation.problem(ofPath: self.path) {
            throw Omitted(reason: problem, isList: list != nil)
        }
        guard list == nil, !isDetail, records.fields["id"]?.isScalar != true,
            let reason = Operation.external(schema, document)
        else { return }
        throw Omitted(reason: reason)
    }

    /// Whether a media type is that of JSON, or has it among others.
    static func isJSON(_ type: String) -> Bool {
        let name = type.lowercased().prefix { $0 != ";" && $0 != " " }
        return name == "application/json" || name == "text/json" || name.hasSuffix("+json") || name == "*/*"
            || name == "application/*"
    }

    /// Returns the reason why a reference has no target; nil if it has one.
    private static func unresolved(_ value: JSONValue, _ document: OpenAPIDocument) -> String? {
        document.unresolved(value).map { "its schema " + $0 }
    }

    /// Returns the reason why a schema has no list, if that is a reference without a target.
    private static func external(_ schema: JSONValue, _ document: OpenAPIDocument, depth: Int = 0) -> String? {
        if let reason = unresolved(schema, document) { return reason }
        guard depth < 4, let (schema, _) = document.resolve(schema) else { return nil }
        if let items = schema["items"] { return external(items, document, depth: depth + 1) }
        let parts = ["allOf", "oneOf", "anyOf"].flatMap { schema[$0]?.elements.prefix(20) ?? [] }
        // Of an object, the lists in it: what else refers to other documents may be missing.
        let lists = (schema["properties"]?.members.prefix(100) ?? []).filter { $0.value["items"] != nil }.map(\.value)
        return (parts + lists).lazy.compactMap { external($0, document, depth: depth + 1) }.first
    }

    static func parameters(_ values: [JSONValue], _ document: OpenAPIDocument) -> [Parameter] {
        var parameters: [Parameter] = []
        for value in values.prefix(200) {
            guard let (parameter, _) = document.resolve(value), let name = parameter["name"]?.scalarText,
                let place = parameter["in"]?.scalarText.flatMap(Parameter.Place.init(rawValue:))
            else { continue }
            let schema = parameter["schema"].flatMap { document.resolve($0)?.value } ?? .object([])
            parameters.removeAll { $0.name == name && $0.place == place }
            var result = Parameter(
                name: name, place: place, isRequired: place == .path || parameter["required"] == .bool(true),
                schema: schema, example: parameter["example"] ?? parameter["examples"]?.members.first?.value["value"])
            result.text = parameter["description"]?.scalarText ?? schema["description"]?.scalarText ?? ""
            result.separator = separator(of: parameter, place)
            parameters.append(result)
        }
        return parameters
    }

    /// Returns what is between the values of a list; nil if each is a parameter of its own.
    ///
    /// OpenAPI 3: so it is in a query, unless `explode` or another style says otherwise.
    private static func separator(of parameter: JSONValue, _ place: Parameter.Place) -> String? {
        let styles = ["pipeDelimited": "|", "spaceDelimited": " "]
        if place == .query, let separator = parameter["style"]?.scalarText.flatMap({ styles[$0] }) {
            return parameter["explode"] == .bool(true) ? nil : separator
        }
        return place != .query || parameter["explode"] == .bool(false) ? "," : nil
    }

    // MARK: Lists

    /// Returns the list in an envelope: the one named like the path, the one in a wrapper, or one
    /// whose records have an id; and the names of what else the envelope has.
    private static func list(
        in object: ObjectShape, _ segments: [String]
    ) -> (list: FoundList, records: ObjectShape, besides: [String])? {
        guard object.fields["id"]?.isScalar != true, object.fields["uuid"]?.isScalar != true else { return nil }
        var found: [(list: FoundList, records: ObjectShape)] = []
        search(object, [], &found)
        func isOwn(_ list: FoundList) -> Bool { isNamed(list.name, likeLastOf: segments) }
        found.removeAll { ListFinder.isCompanion($0.list.name) && !isOwn($0.list) }
        let outermost = found.map(\.list.steps.count).min() ?? 0
        let top = found.filter { $0.list.steps.count == outermost }
        let members = object.names.filter { object.fields[$0]?.isScalar == true && !ListFinder.isEnvelope($0) }
        // An object with members of its own is a record, to which its maps belong.
        if members.count > 1, found.allSatisfy({ $0.list.isMap && !isOwn($0.list) }) { return nil }
        let named =
            top.first { isOwn($0.list) } ?? found.first { ListFinder.wrappers.contains($0.list.name.lowercased()) }
        guard let best = named ?? top.first(where: { $0.records.hasOwnKey }) ?? top.first else { return nil }
        var besides = top.map(\.list).filter { $0 != best.list && best.list.steps.count == outermost }.map(\.name)
        // An object with members of its own may be a record, and the list a part of it.
        if named == nil, best.list.steps.count == 1, members.count > 1 { besides += members }
        return (best.list, best.records, besides)
    }

    /// Whether a name is that of the last segment of a path without variables.
    private static func isNamed(_ name: String, likeLastOf segments: [String]) -> Bool {
        guard let last = segments.last(where: { variable($0) == nil }) else { return false }
        let own = EnglishName.singularWords(of: last.hasSuffix(".json") ? String(last.dropLast(5)) : last)
        return own.last != nil && EnglishName.singularWords(of: name).last == own.last
    }

    private static func search(
        _ object: ObjectShape, _ steps: [ListStep], _ found: inout [(list: FoundList, records: ObjectShape)]
    ) {
        guard steps.count < 3 else { return }
        for name in object.names where FieldNames.canBeWritten([name]) {
            guard let value = object.fields[name] else { continue }
            let path = steps + [.key(name)]
            if value.isListOfObjects, let element = value.element?.object {
                if let node = element.fields["node"]?.object {
                    found.append((FoundList(steps: path + [.each, .key("node")], isList: true), node))
                } else {
                    found.append((FoundList(steps: path, isList: true), element))
                }
            } else if let element = value.recordsOfMap {
                found.append((FoundList(steps: path + [.each], isList: true), element))
            } else if value.isObject, let inner = value.object, inner.fields["id"]?.isScalar != true {
                search(inner, path, &found)
            }
        }
    }

    /// Returns the single record in a wrapper: `{"data": {…}}`, or `{"user": {…}}` of a user.
    private static func wrapped(_ object: ObjectShape, _ segments: [String]) -> (shape: ObjectShape, name: String)? {
        let objects = object.names.filter { object.fields[$0]?.isObject == true }
        guard object.fields["id"] == nil, objects.count == 1, let name = objects.first,
            ListFinder.wrappers.contains(name.lowercased()) || object.names.count == 1
                || isNamed(name, likeLastOf: segments)
        else { return nil }
        return object.fields[name]?.object.map { ($0, name) }
    }

    /// Takes the response as a single record if its schema is that of listed ones: a list in it is
    /// a part of the record.
    mutating func readAsRecord(ofSchemas listed: Set<String>) {
        guard let found = list, let object = response.object else { return }
        if let name = object.schemaName, listed.contains(name) {
            (list, records, objectSteps, besides) = (nil, object, [], [])
        } else if found.steps.count > 1, case .key(let key)? = found.steps.first,
            let inner = object.fields[key]?.object,
            let name = inner.schemaName, listed.contains(name)
        {
            (list, records, objectSteps, besides) = (nil, inner, [.key(key)], [])
        }
    }

    /// Whether the response has the schema of the records in its list: a node with its children.
    var isSelfNested: Bool { records.schemaName != nil && response.object?.schemaName == records.schemaName }

    /// Whether it returns one object that the last segment of the path names.
    var isDetail: Bool { list == nil && segments.last?.hasPrefix("{") == true }
    /// The name of a variable segment; nil for a plain one.
    static func variable(_ segment: String) -> String? {
        guard segment.hasPrefix("{"), segment.hasSuffix("}"), segment.utf8.count > 1 else { return nil }
        let name = segment.dropFirst().dropLast()
        // `{owner}{name}` is two variables.
        return name.contains("{") || name.contains("}") ? nil : String(name)
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
