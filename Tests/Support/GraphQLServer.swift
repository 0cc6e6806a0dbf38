// A local GraphQL server over HTTP, hand-written: it parses the documents that it is sent, and
// answers with the fields that they select. `GraphQLDocument` says what of the language it knows.

import Foundation

/// A value of a GraphQL server.
package indirect enum GraphQLValue: Sendable {
    case null
    case bool(Bool)
    case int(Int)
    case string(String)
    case list([GraphQLValue])
    case object([(String, GraphQLValue)])
    /// A variable of the document.
    case variable(String)
    /// A field with arguments.
    case field(@Sendable (_ arguments: [String: GraphQLValue]) throws -> GraphQLValue)

    package var text: String? { if case .string(let text) = self { text } else { nil } }
    package var number: Int? { if case .int(let number) = self { number } else { nil } }

    package subscript(name: String) -> GraphQLValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.0 == name }?.1
    }

    /// A connection over items: `nodes`, `edges`, `pageInfo`, `totalCount`, by `first` and `after`.
    package static func connection(_ items: @escaping @Sendable () -> [GraphQLValue]) -> GraphQLValue {
        .field { arguments in
            let items = items(), start = arguments["after"]?.text.flatMap { Int($0.dropFirst(2)) } ?? 0
            let page = items.dropFirst(start).prefix(arguments["first"]?.number ?? items.count)
            let end = start + page.count
            return .object([
                ("totalCount", .int(items.count)), ("nodes", .list(Array(page))),
                ("edges", .list(page.map { .object([("node", $0)]) })),
                (
                    "pageInfo",
                    .object([
                        ("hasNextPage", .bool(end < items.count)),
                        ("endCursor", page.isEmpty ? .null : .string("c:\(end)")),
                    ])
                ),
            ])
        }
    }

    /// Creates the value of parsed JSON.
    init(json: Any) {
        switch json {
        case let text as String: self = .string(text)
        case let values as [Any]: self = .list(values.map { GraphQLValue(json: $0) })
        case let members as [String: Any]:
            self = .object(members.sorted { $0.key < $1.key }.map { ($0.key, GraphQLValue(json: $0.value)) })
        case let number as NSNumber:
            let isBool = String(cString: number.objCType) == "c"
            self = isBool ? .bool(number.boolValue) : .int(number.intValue)
        default: self = .null
        }
    }
}

/// An error of a field: the field is null, and the error stands beside the data.
package struct GraphQLFieldError: Error {
    package var message: String
    package var code: String?

    package init(_ message: String, code: String? = nil) {
        self.message = message
        self.code = code
    }
}

/// A schema as its root fields. A document that is invalid gets errors without data. A null does not
/// propagate to its parents: all fields are nullable.
package struct GraphQLSchema: Sendable {
    package var query: [(String, GraphQLValue)]
    package var mutation: [(String, GraphQLValue)]

    package init(query: [(String, GraphQLValue)], mutation: [(String, GraphQLValue)] = []) {
        self.query = query
        self.mutation = mutation
    }

    /// Answers a request with `query` and `variables`.
    package func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
        let type = "Content-Type: application/graphql-response+json"
        do {
            guard request.method == "POST", request.field("Content-Type") == "application/json",
                let json = try JSONSerialization.jsonObject(with: Data(request.body.utf8)) as? [String: Any],
                let text = json["query"] as? String
            else { return .init(status: "400 Bad Request", fields: [type], body: Execution.refusal("no query")) }
            var execution = Execution(variables: GraphQLValue(json: json["variables"] ?? [:]))
            let document = try GraphQLDocument(text)
            execution.declared = document.variables
            let root = GraphQLValue.object(document.isMutation ? mutation : query)
            let data = try execution.project(root, document.selections, at: [])
            return .init(fields: [type], body: execution.body(data))
        } catch {
            return .init(status: "400 Bad Request", fields: [type], body: Execution.refusal("\(error)"))
        }
    }

    private struct Execution {
        var variables: GraphQLValue
        var declared: Set<String> = []
        var errors: [[String: Any]] = []

        init(variables: GraphQLValue) { self.variables = variables }

        static func refusal(_ message: String) -> String { text(["errors": [["message": message]]]) }

        static func text(_ json: [String: Any]) -> String {
            let data = (try? JSONSerialization.data(withJSONObject: json, options: [.sortedKeys])) ?? Data()
            return String(decoding: data, as: UTF8.self)
        }

        func body(_ data: Any) -> String {
            Execution.text(errors.isEmpty ? ["data": data] : ["data": data, "errors": errors])
        }

        private func resolved(_ value: GraphQLValue) throws -> GraphQLValue {
            switch value {
            case .variable(let name):
                guard declared.contains(name) else {
                    throw GraphQLDocument.Failure(description: "Variable $\(name) is not defined")
                }
                return variables[name] ?? .null
            case .list(let values): return .list(try values.map(resolved))
            case .object(let members): return .object(try members.map { ($0.0, try resolved($0.1)) })
            default: return value
            }
        }

        /// Returns the selected fields of a value as JSON.
        mutating func project(
            _ value: GraphQLValue, _ selections: [GraphQLDocument.Selection], at path: [Any]
        ) throws -> Any {
            switch value {
            case .null, .variable, .field: return NSNull()
            case .bool(let value): return value
            case .int(let number): return number
            case .string(let text): return text
            case .list(let values):
                var found: [Any] = []
                for (index, value) in values.enumerated() {
                    found.append(try project(value, selections, at: path + [index]))
                }
                return found
            case .object:
                guard !selections.isEmpty else {
                    throw GraphQLDocument.Failure(description: "\(path) must have a selection of subfields")
                }
                var found: [String: Any] = [:]
                try add(selections, of: value, to: &found, at: path)
                return found
            }
        }

        private mutating func add(
            _ selections: [GraphQLDocument.Selection], of value: GraphQLValue, to found: inout [String: Any],
            at path: [Any]
        ) throws {
            for selection in selections {
                switch selection {
                case .fragment(let type, let nested):
                    guard value["__typename"]?.text == type else { continue }
                    try add(nested, of: value, to: &found, at: path)
                case .field(let alias, let name, let arguments, let nested):
                    guard var field = value[name] else {
                        throw GraphQLDocument.Failure(description: "Cannot query field \"\(name)\"")
                    }
                    do {
                        if case .field(let resolve) = field {
                            var values: [String: GraphQLValue] = [:]
                            for (name, argument) in arguments { values[name] = try resolved(argument) }
                            field = try resolve(values)
                        }
                        found[alias] = try project(field, nested, at: path + [alias])
                    } catch let error as GraphQLFieldError {
                        var json: [String: Any] = ["message": error.message, "path": path + [alias]]
                        if let code = error.code { json["extensions"] = ["code": code] }
                        errors.append(json)
                        found[alias] = NSNull()
                    }
                }
            }
        }
    }
}
