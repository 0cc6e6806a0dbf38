import SwiftSyntax
import SwiftSyntaxBuilder

// The reading and writing of a record, in an extension: the struct keeps its memberwise
// initializer.
extension RecordSyntax {
    func conformance(of type: some TypeSyntaxProtocol) throws -> ExtensionDeclSyntax {
        try ExtensionDeclSyntax(
            """
            extension \(type.trimmed): Tarn.MappedRecord {
                \(raw: access)static var entity: Swift.String { \(raw: entity) }
                \(raw: reading)
                \(raw: writing)
            }
            """)
    }

    // MARK: Rows

    private var reading: String {
        let properties = properties.filter { !($0.isInverse && $0.hasValue) }
        // The memberwise initializer may take the wrapper itself.
        if hasMemberwiseInitializer, !properties.contains(where: \.isWrapped) {
            // All at once: a struct that is set field by field is copied once it is complete.
            let arguments = properties.map { "\($0.label): \($0.read)" }.joined(separator: ", ")
            return """
                \(access)init(_ row: Tarn.Row<Self>) throws(Tarn.StoreError) {
                    try self.init(\(arguments))
                }
                """
        }
        let assignments = properties.map { "self.\($0.identifier) = \($0.isInverse ? "" : "try ")\($0.read)" }
        return """
            \(access)init(_ row: Tarn.Row<Self>) throws(Tarn.StoreError) {
            \(assignments.joined(separator: "\n"))
            }
            """
    }

    private var writing: String {
        let fields = fields.map { "row.set(.\($0.identifier), \($0.written))" }
        return """
            \(access)func encode(into row: inout Tarn.RowEncoder<Self>) {
            \(fields.joined(separator: "\n"))
            }
            """
    }
}

extension FieldSyntax {
    /// The expression that reads the field from a row.
    fileprivate var read: String {
        if isInverse { return "Tarn.Inverse()" }
        if let storedDefault {
            let value = "row.get(.\(identifier), default: \(storedDefault))"
            return isCodable ? "\(value)\(type.isOptional ? "?" : "").content" : value
        }
        guard isCodable else { return "row.get(.\(identifier))" }
        return type.isOptional ? "row.jsonIfPresent(.\(identifier))" : "row.json(.\(identifier))"
    }

    /// The expression that is written into a row.
    fileprivate var written: String {
        guard isCodable else { return "self.\(identifier)" }
        return type.isOptional
            ? "self.\(identifier).map { Tarn.StoredJSON($0) }" : "Tarn.StoredJSON(self.\(identifier))"
    }
}
