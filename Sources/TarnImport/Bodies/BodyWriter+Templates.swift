// References in a form that the API has for itself: `{ type: users, id: '{id}' }`.

internal import TarnStore

extension BodyWriter {
    /// Fills a template of references with the attributes of a record.
    ///
    /// A text that is one variable becomes the attribute's value, a text with variables a text.
    ///
    /// - Parameters:
    ///   - key: the key of the record, which may be missing in the store: then the template may
    ///     only have the attributes of the key.
    ///   - server: returns a stored record as the server has it, which does not know local changes.
    /// - Throws: `BodyError.value`; whatever `server` throws.
    func filled(
        _ template: JSONValue, for key: RecordKey, _ destination: Catalog.Entity, from entity: Catalog.Entity,
        _ field: String, _ server: (String, RecordKey) throws -> Record?
    ) throws -> JSONValue {
        try checkIsKnown(key, from: entity, field)
        let values = destination.keyValues(key)
        func value(_ name: String) throws -> Value {
            let found: Value?
            if let id = destination.field(name)?.id, let value = values[id] {
                found = value
            } else {
                found = try server(destination.name, key)?[name]
            }
            if let found, found != .null { return found }
            throw BodyError.value(
                entity: entity.name, field: field, reason: "\(destination.name) \(key) has no \(name), which it needs")
        }
        return try template.filled { name in
            let value = try value(name)
            if case .reference = value { return nil }
            return try json(of: value, attribute: name, of: destination)
        } text: { name in
            try urlText(of: try value(name), field: name, of: destination)
        } or: { reason in
            BodyError.value(entity: entity.name, field: field, reason: reason)
        }
    }
}

extension JSONValue {
    /// The names of the variables in a template of references.
    package var templateVariables: [String] {
        switch self {
        case .string(let text): TextTemplate(text)?.paths.map(\.description) ?? []
        case .array(let values): values.flatMap(\.templateVariables)
        case .object(let members): members.flatMap(\.value.templateVariables)
        case .null, .bool, .number: []
        }
    }

    /// Replaces the variables of all texts.
    ///
    /// - Parameters:
    ///   - json: returns the value of a variable that is a whole text; nil if it has none as JSON.
    ///   - text: returns the value of a variable as a text; nil if it has none.
    ///   - failure: returns the error for a reason.
    fileprivate func filled(
        json: (String) throws -> JSONValue?, text: (String) throws -> String?, or failure: (String) -> BodyError
    ) throws -> JSONValue {
        switch self {
        case .null, .bool, .number: return self
        case .array(let values):
            return .array(try values.map { try $0.filled(json: json, text: text, or: failure) })
        case .object(let members):
            return .object(
                try members.map { Member($0.key, try $0.value.filled(json: json, text: text, or: failure)) })
        case .string(let pattern):
            guard let template = TextTemplate(pattern) else { return self }
            func textValue(_ name: String) throws -> String {
                guard let value = try text(name) else { throw failure("{\(name)} has no text") }
                return value
            }
            if template.parts.count == 1, case .path(let path) = template.parts[0] {
                let name = path.description
                return try json(name) ?? .string(textValue(name))
            }
            return .string(
                try template.parts.map { part in
                    switch part {
                    case .literal(let text): text
                    case .path(let path): try textValue(path.description)
                    }
                }.joined())
        }
    }
}
