// Bodies as forms, by the names that servers of forms have for inner values.

import TarnHTTP
import TarnImport

extension JSONValue {
    /// The members of an object as fields of a form.
    ///
    /// Inner values are named `address[city]`, elements of a list `tags[]`, and values in elements
    /// `lines[0][text]`. Null, an empty list and an empty object are an empty text, which clears a
    /// field.
    var formFields: [TransportBody.FormField] {
        guard case .object(let members) = self else { return [] }
        return members.flatMap { $0.value.formFields(named: $0.key) }
    }

    private func formFields(named name: String) -> [TransportBody.FormField] {
        switch self {
        case .null: [.init(name, "")]
        case .bool(let value): [.init(name, value ? "true" : "false")]
        case .number(let text), .string(let text): [.init(name, text)]
        case .array(let values) where values.isEmpty: [.init(name, "")]
        case .object(let members) where members.isEmpty: [.init(name, "")]
        case .object(let members): members.flatMap { $0.value.formFields(named: "\(name)[\($0.key)]") }
        case .array(let values):
            values.enumerated().flatMap { index, value in
                switch value {
                case .array, .object: value.formFields(named: "\(name)[\(index)]")
                case .null, .bool, .number, .string: value.formFields(named: "\(name)[]")
                }
            }
        }
    }
}
