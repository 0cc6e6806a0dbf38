// Values of the record of `for_each` in the parameters of an endpoint: `{ issue: '{issue.id}' }`.

import TarnHTTP

extension Endpoint {
    /// The names of values of the parent record in the parameters, each once, in order.
    var parameterVariables: [String] {
        guard let forEach else { return [] }
        var names: [String] = []
        for parameter in parameters {
            for name in Endpoint.variables(in: parameter.value) {
                if name.hasPrefix(forEach.variable + "."), !names.contains(name) { names.append(name) }
            }
        }
        return names
    }

    /// The names in braces in the parts of a request beside its path.
    package static func variables(
        in parameters: [Parameter], _ body: TransportBody?, _ incremental: Incremental?
    ) -> [String] {
        parameters.flatMap { variables(in: $0.value) } + (body?.placeholders ?? []) + (incremental?.variables ?? [])
    }

    /// The names in braces in a text. Other braces belong to the text.
    package static func variables(in text: String) -> [String] {
        var names: [String] = [], rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            rest = rest[rest.index(after: open)...]
            let name = rest.prefix { $0 != "}" && $0 != "{" }
            if rest[name.endIndex...].first == "}", TransportBody.placeholder("{\(name)}") != nil {
                names.append(String(name))
            }
        }
        return names
    }

    /// Returns a text with values in place of the names in braces that have one.
    static func filled(_ text: String, _ values: [String: String]) -> String {
        guard text.utf8.contains(UInt8(ascii: "{")) else { return text }
        var output = "", rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            output += rest[..<open]
            rest = rest[open...]
            let name = rest.dropFirst().prefix { $0 != "}" && $0 != "{" }
            if rest[name.endIndex...].first == "}", let value = values[String(name)] {
                output += value
                rest = rest[name.endIndex...].dropFirst()
            } else {
                output.append("{")
                rest = rest.dropFirst()
            }
        }
        return output + rest
    }
}
