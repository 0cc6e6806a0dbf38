// JSON with secrets in it: the body of a login, and the claims of a token. Pure.

/// A JSON value in which texts may be secrets.
public indirect enum SecretValue: Sendable, Hashable {
    /// A value without secrets.
    case json(JSONBody)
    /// A text that is a secret.
    case secret(SecretSource)
    /// An array.
    case array([SecretValue])
    /// An object.
    case object([String: SecretValue])

    /// The secrets, in the order in which ``filled(_:)`` takes them.
    var sources: [SecretSource] {
        switch self {
        case .json: []
        case .secret(let source): [source]
        case .array(let values): values.flatMap(\.sources)
        case .object(let members): SecretValue.sorted(members).flatMap(\.value.sources)
        }
    }

    /// Returns the value with secrets in their places.
    ///
    /// - Parameter secrets: the secrets of ``sources``, which are removed from its beginning.
    func filled(_ secrets: inout ArraySlice<Secret>) -> JSONBody {
        switch self {
        case .json(let value): return value
        case .secret: return .string(secrets.popFirst()?.exposed ?? "")
        case .array(let values): return .array(values.map { $0.filled(&secrets) })
        case .object(let members):
            return .object(SecretValue.sorted(members).map { .init($0.key, $0.value.filled(&secrets)) })
        }
    }

    /// Returns the value with these texts in place of its secrets.
    func filled(_ secrets: [Secret]) -> JSONBody {
        var rest = secrets[...]
        return filled(&rest)
    }

    /// Returns the fields of a form with these texts in place of their secrets.
    static func fields(_ members: [String: SecretValue], _ secrets: [Secret]) -> [TransportBody.FormField] {
        var rest = secrets[...]
        return sorted(members).map { name, value in
            let value = value.filled(&rest)
            return .init(name, value.scalarText ?? value.text)
        }
    }

    private static func sorted(_ members: [String: SecretValue]) -> [(key: String, value: SecretValue)] {
        members.sorted { $0.key < $1.key }
    }
}
