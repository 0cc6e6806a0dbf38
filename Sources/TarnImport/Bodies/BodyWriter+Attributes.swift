package import TarnStore

extension BodyWriter {
    /// Returns an attribute's value as the JSON that the server has of it, in the declared form.
    ///
    /// - Returns: nil if the entity has no such attribute.
    /// - Throws: `BodyError.value` if the declared form cannot express the value.
    package func json(of value: Value, attribute name: String, of entity: Catalog.Entity) throws -> JSONValue? {
        guard let field = try plan(entity, BodyOptions()).fields.first(where: { $0.name == name }),
            case .attribute(let rule) = field.content
        else { return nil }
        do throws(AttributeRule.Refusal) { return try rule.json(of: value) } catch {
            throw BodyError.value(entity: entity.name, field: name, reason: error.reason)
        }
    }

    /// Returns a field's value as a part of a URL: an attribute's in its declared form.
    ///
    /// - Returns: nil if the value has several parts, or none.
    /// - Throws: `BodyError.value` if the declared form cannot express the value.
    package func urlText(of value: Value, field name: String, of entity: Catalog.Entity) throws -> String? {
        guard let text = value.urlText else { return nil }
        return switch try json(of: value, attribute: name, of: entity) {
        case .string(let declared)?, .number(let declared)?: declared
        default: text
        }
    }
}
