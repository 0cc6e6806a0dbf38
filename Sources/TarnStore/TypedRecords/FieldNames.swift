// A cache of the names of structs' fields. The name of a case comes from the metadata of its type,
// and that takes longer than reading a record.

import Locking

enum FieldNames {
    private static let known = Guarded<[ObjectIdentifier: [String]]>([:])

    static func name<Field: RecordField>(_ field: Field) -> String {
        let position = field.rawValue, names = known.withLock { $0[ObjectIdentifier(Field.self)] } ?? learn(Field.self)
        return names.indices.contains(position) ? names[position] : field.name
    }

    private static func learn<Field: RecordField>(_ type: Field.Type) -> [String] {
        let cases = Array(Field.allCases)
        // Raw values that are not positions are reported when the struct is resolved against a
        // catalog.
        let names = cases.indices.allSatisfy { cases[$0].rawValue == $0 } ? cases.map(\.name) : []
        known.withLock { $0[ObjectIdentifier(type)] = names }
        return names
    }
}
