// `fields` of `write`: the requests for the changes of single fields.

import TarnStore

extension DescriptionReader {
    /// Reads the requests for the changes of single fields.
    mutating func fieldRequests(_ writes: Section) -> [String: FieldRequests] {
        var fields: [String: FieldRequests] = [:]
        let entries = entries(writes, "fields", of: "fields to requests"), all = section(of: entries, writes, "fields")
        for entry in entries {
            let field = all.path(entry.key)
            var requests = FieldRequests()
            guard case .mapping(let inner) = entry.value.content,
                inner.contains(where: { $0.key == "values" || $0.key == "otherwise" })
            else {
                let request = writeRequest(all, entry.key, example: "POST /issues/{id}/state")
                requests.otherwise = request.map { apart($0, entry.key, isOfValue: false) }
                fields[entry.key] = requests
                continue
            }
            guard let section = section(entry.value, field, keys: ["values", "otherwise"], required: ["values"]) else {
                continue
            }
            let values = self.entries(section, "values", of: "values to requests")
            let each = self.section(of: values, section, "values")
            for value in values {
                let request = writeRequest(each, value.key, example: "PUT /issues/{id}/lock")
                requests.values[value.key] = request.map { apart($0, entry.key, isOfValue: true) }
            }
            let request = writeRequest(section, "otherwise", example: "POST /issues/{id}/state")
            requests.otherwise = request.map { apart($0, entry.key, isOfValue: false) }
            fields[entry.key] = requests
        }
        return fields
    }

    /// The request for the change of a field. Its body has that field, or nothing.
    ///
    /// - Parameter isOfValue: whether the request is for one value, which its URL or `set` states.
    ///   A `PATCH` with neither fields nor `set` would change nothing.
    private func apart(_ request: WriteRequest, _ field: String, isOfValue: Bool) -> WriteRequest {
        var request = request
        request.field = field
        let isStated = isOfValue && (request.method != "PATCH" || !request.values.isEmpty)
        let isEmpty = request.method == "DELETE" || isStated && request.places.isEmpty && request.fields == nil
        request.body = request.body ?? (isEmpty ? WriteRequest.Body.none : .changed)
        return request
    }

    /// A mapping from names that the author chooses, as a section.
    private func section(of entries: [YAMLValue.Entry], _ owner: Section, _ key: String) -> Section {
        Section(
            field: owner.path(key), mark: owner[key]?.mark ?? owner.mark,
            values: Dictionary(entries.map { ($0.key, $0.value) }) { $1 })
    }

    /// Reports fields and values that the schema does not have.
    mutating func checkFields(_ fields: [String: FieldRequests], _ field: String, _ entity: String, _ schema: Schema) {
        let known = DescriptionReader.fields(of: entity, schema)
        for (name, requests) in fields.sorted(by: { $0.key < $1.key }) {
            let inner = "\(field).\(name)"
            guard let found = known[name] else {
                report(inner, keyMark(inner), Spelling.unknown("field", name, among: known.keys.sorted()))
                continue
            }
            for (value, request) in requests.values.sorted(by: { $0.key < $1.key }) {
                let place = "\(inner).values.\(value)"
                if let values = found.type?.words, !values.contains(value), value != "null" {
                    report(place, keyMark(place), Spelling.unknown("value of \(name)", value, among: values))
                }
                check(request, place, entity, nil, schema)
            }
            guard let request = requests.otherwise else { continue }
            check(request, requests.values.isEmpty ? inner : "\(inner).otherwise", entity, nil, schema)
        }
    }
}

extension AttributeType {
    /// The texts of all values; nil if these are not known.
    fileprivate var words: [String]? {
        switch self {
        case .bool: ["true", "false"]
        case .enumeration(let values): values
        default: nil
        }
    }
}
