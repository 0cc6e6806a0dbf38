// Names of values in the parameters of an endpoint, and in the text of `since`.

import TarnHTTP
import TarnStore

extension DescriptionReader {
    /// Checks the names in braces in parameters, and completes those of the record of `for_each`.
    ///
    /// Other braces belong to the text.
    mutating func parameters(
        _ parameters: [Endpoint.Parameter], of forEach: Endpoint.ForEach?, _ section: Section, _ schema: Schema
    ) -> [Endpoint.Parameter] {
        if isReported(in: section.path("for_each")) { return parameters }
        return parameters.map { parameter in
            let field = "\(section.path("with")).\(parameter.name)"
            var text = parameter.value
            for name in Set(Endpoint.variables(in: text)).sorted() {
                let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                if let forEach, parts[0] == forEach.variable {
                    let attribute = parts.count == 2 ? parts[1] : nil
                    if let problem = problem(ofVariable: name, attribute: attribute, forEach, schema) {
                        report(at: field, problem)
                    }
                } else if let forEach, text == "{\(name)}",
                    case .attribute = DescriptionReader.attribute(
                        at: name.split(separator: ".").map(String.init)[...], of: forEach.entity, schema)
                {
                    // Short form: a name without the variable is an attribute of the record. In a
                    // text, such as `comments{message}`, braces may have another meaning.
                    text = "{\(forEach.variable).\(name)}"
                    if let problem = problem(ofVariable: name, attribute: name, forEach, schema) {
                        report(at: field, problem)
                    }
                } else if parts.count == 2,
                    let entity = schema.entities.first(where: { Endpoint.ForEach.variable(of: $0.name) == parts[0] })
                {
                    let wayOut =
                        forEach.map {
                            "the record of for_each is called \($0.variable) here: write {\($0.variable).\(parts[1])}"
                        } ?? "write for_each: \(entity.name) to request this endpoint for every \(entity.name)"
                    report(at: field, "no value for {\(name)}: \(wayOut)")
                }
            }
            return Endpoint.Parameter(parameter.name, text)
        }
    }

    /// Checks that every name in the text of `since`, or in the path of its `start`, has a value.
    mutating func check(
        _ incremental: Incremental?, _ parameters: [Endpoint.Parameter], _ forEach: Endpoint.ForEach?,
        _ section: Section, _ schema: Schema
    ) {
        let field = section.path(incremental?.text == nil ? "since.start.path" : "since.text")
        let names = incremental.map { $0.variables + $0.startVariables } ?? []
        for name in names where !parameters.contains(where: { $0.name == name }) {
            let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
            if let forEach, parts[0] == forEach.variable {
                let attribute = parts.count == 2 ? parts[1] : nil
                if let problem = problem(ofVariable: name, attribute: attribute, forEach, schema) {
                    report(at: field, problem)
                }
            } else {
                report(at: field, "no value for {\(name)}: write with: { \(name): … }")
            }
        }
    }

    /// Checks that a body has the elements of lists in which values are sent.
    mutating func checkPlaces(
        _ incremental: Incremental?, _ deep: DeepPages?, _ pagination: Pagination?, _ body: TransportBody?,
        _ section: Section
    ) {
        let places =
            [("since.body", incremental?.sends), ("restart.body", deep?.sends)]
            + (pagination?.style.parameters ?? []).map { ("paginate", $0) }
        for (key, place) in places {
            guard case .body(let keys)? = place, keys.contains(where: { $0.hasPrefix("[") }) else { continue }
            if case .json(let json)? = body, json[keys] != nil { continue }
            report(
                at: section.path(key),
                "the body has no \(keys.joined(separator: ".")): write it there, with any value, such as ~")
        }
    }
}
