// A GET of a specification that returns records.

import Tarn

/// A GET operation: its path, parameters, and the shape of its response.
struct Operation {
    /// A parameter of the path or the query.
    struct Parameter {
        var name: String
        var isInPath: Bool
        var isRequired: Bool
        var schema: JSONValue
        var example: String?

        /// The value for a request, if the specification has one.
        var value: String? {
            example ?? schema["default"]?.scalarText ?? schema["example"]?.scalarText
                ?? schema["examples"]?.elements.first?.scalarText ?? schema["enum"]?.elements.first?.scalarText
        }
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
    /// The steps to a single object; empty at the root.
    var objectSteps: [ListStep] = []
    /// Whether the operation is deprecated.
    var isDeprecated: Bool

    /// Creates the operation of a path item; nil if its response has no objects in JSON.
    init?(_ path: String, _ item: JSONValue, _ document: OpenAPIDocument, _ shapes: SchemaShapes) {
        guard path.hasPrefix("/"), let get = item["get"], path.utf8.count <= 500 else { return nil }
        self.path = path
        segments = path.split(separator: "/").map(String.init)
        parameters = Operation.parameters(
            (item["parameters"]?.elements ?? []) + (get["parameters"]?.elements ?? []), document)
        isDeprecated = get["deprecated"] == .bool(true)
        let responses = get["responses"]?.members ?? []
        let success = responses.first { $0.key == "200" } ?? responses.first { $0.key.hasPrefix("2") }
        guard let member = success ?? responses.first(where: { $0.key == "default" }),
            let (response, _) = document.resolve(member.value)
        else { return nil }
        headers = Set(response["headers"]?.members.map { $0.key.lowercased() } ?? [])
        let content = response["content"]?.members ?? []
        let isJSON: (String) -> Bool = { $0.hasPrefix("application/json") || $0.hasSuffix("+json") || $0 == "*/*" }
        guard let schema = (content.first { isJSON($0.key) })?.value["schema"] else { return nil }
        let value = shapes.value(schema)
        self.response = value
        if value.isListOfObjects, let object = value.element?.object {
            (list, records) = (FoundList(steps: [], isList: true), object)
        } else if let object = value.object {
            // A path that ends in a variable names one record, whatever lists that has.
            let isNamed = segments.last.map { Operation.variable($0) != nil } ?? false
            if let found = Operation.list(in: object), !isNamed || found.0.steps.count <= 1 {
                (list, records) = found
            } else if let inner = Operation.wrapped(object) {
                (list, records) = (nil, inner.shape)
                objectSteps = [.key(inner.name)]
            } else {
                (list, records) = (nil, object)
            }
        } else {
            return nil
        }
    }

    private static func parameters(_ values: [JSONValue], _ document: OpenAPIDocument) -> [Parameter] {
        var parameters: [Parameter] = []
        for value in values.prefix(200) {
            guard let (parameter, _) = document.resolve(value), let name = parameter["name"]?.scalarText,
                let place = parameter["in"]?.scalarText, place == "path" || place == "query"
            else { continue }
            let schema = parameter["schema"].flatMap { document.resolve($0)?.value } ?? .object([])
            parameters.removeAll { $0.name == name && $0.isInPath == (place == "path") }
            parameters.append(
                Parameter(
                    name: name, isInPath: place == "path",
                    isRequired: place == "path" || parameter["required"] == .bool(true), schema: schema,
                    example: parameter["example"]?.scalarText
                        ?? parameter["examples"]?.members.first?.value["value"]?.scalarText))
        }
        return parameters
    }

    // MARK: Lists

    /// Returns the list in an envelope: the only list of objects, or the one in a wrapper.
    private static func list(in object: ObjectShape) -> (FoundList, ObjectShape)? {
        guard object.fields["id"]?.isScalar != true, object.fields["uuid"]?.isScalar != true else { return nil }
        var found: [(FoundList, ObjectShape)] = []
        search(object, [], &found)
        let named = found.filter { ListFinder.wrappers.contains($0.0.name.lowercased()) }
        let others = found.filter { !["errors", "warnings", "links", "messages", "included"].contains($0.0.name) }
        let outermost = others.map(\.0.steps.count).min() ?? 0
        return named.first ?? others.first { $0.0.steps.count == outermost }
    }

    private static func search(_ object: ObjectShape, _ steps: [ListStep], _ found: inout [(FoundList, ObjectShape)]) {
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
            } else if value.isObject, let inner = value.object, inner.fields["id"]?.isScalar != true {
                search(inner, path, &found)
            }
        }
    }

    /// Returns the single record in a wrapper: `{"data": {…}}`.
    private static func wrapped(_ object: ObjectShape) -> (shape: ObjectShape, name: String)? {
        let objects = object.names.filter { object.fields[$0]?.isObject == true }
        guard object.fields["id"] == nil, objects.count == 1, let name = objects.first,
            ListFinder.wrappers.contains(name.lowercased())
        else { return nil }
        return object.fields[name]?.object.map { ($0, name) }
    }

    /// Whether it returns one object that the last segment of the path names.
    var isDetail: Bool { list == nil && segments.last?.hasPrefix("{") == true }
    /// The name of a variable segment; nil for a plain one.
    static func variable(_ segment: String) -> String? {
        segment.hasPrefix("{") && segment.hasSuffix("}") ? String(segment.dropFirst().dropLast()) : nil
    }
}
