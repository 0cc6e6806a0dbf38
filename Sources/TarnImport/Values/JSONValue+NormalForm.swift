internal import TarnStore

extension JSONValue {
    /// The value in a form that equal values share, however a server writes them.
    ///
    /// Members are in the order of their keys, the last one of a key that occurs twice, and numbers
    /// have one text. A server may store JSON parsed, and return it in another order.
    package var normalForm: JSONValue {
        switch self {
        case .null, .bool, .string: return self
        case .number(let text): return .number(ExactDecimal(text)?.description ?? text)
        case .array(let values): return .array(values.map(\.normalForm))
        case .object(let members):
            // Keys are compared by their bytes, never by canonical equivalence.
            var values: [[UInt8]: JSONValue] = [:]
            for member in members { values[Array(member.key.utf8)] = member.value }
            return .object(
                values.sorted { $0.key.lexicographicallyPrecedes($1.key) }
                    .map { Member(String(decoding: $0.key, as: UTF8.self), $0.value.normalForm) })
        }
    }
}
