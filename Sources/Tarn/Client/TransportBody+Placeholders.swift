// The placeholders of a request body: strings that are `{name}`, replaced by values.

package import TarnHTTP

extension TransportBody {
    /// The names in strings that are `{name}` and nothing else.
    package var placeholders: [String] {
        switch self {
        case .json(let value): value.placeholders
        case .form(let fields): fields.compactMap { TransportBody.placeholder($0.value) }
        }
    }

    /// Returns the body with placeholders replaced by values.
    func filled(_ values: [String: String]) -> TransportBody {
        switch self {
        case .json(let value): .json(value.filled(values))
        case .form(let fields):
            .form(fields.map { .init($0.name, TransportBody.placeholder($0.value).flatMap { values[$0] } ?? $0.value) })
        }
    }

    static func placeholder(_ text: String) -> String? {
        guard text.hasPrefix("{"), text.hasSuffix("}"), text.utf8.count > 2 else { return nil }
        let name = text.dropFirst().dropLast()
        let isName = name.utf8.allSatisfy {
            (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_")
                || $0 == UInt8(ascii: ".")
        }
        return isName ? String(name) : nil
    }
}

extension JSONBody {
    fileprivate var placeholders: [String] {
        switch self {
        case .string(let text): TransportBody.placeholder(text).map { [$0] } ?? []
        case .array(let values): values.flatMap(\.placeholders)
        case .object(let members): members.flatMap(\.value.placeholders)
        case .null, .bool, .number: []
        }
    }

    fileprivate func filled(_ values: [String: String]) -> JSONBody {
        switch self {
        case .string(let text): TransportBody.placeholder(text).flatMap { values[$0] }.map(JSONBody.string) ?? self
        case .array(let elements): .array(elements.map { $0.filled(values) })
        case .object(let members): .object(members.map { .init($0.key, $0.value.filled(values)) })
        case .null, .bool, .number: self
        }
    }
}
