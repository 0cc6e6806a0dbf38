/// The reason why a path template cannot be parsed or expanded.
package enum PathTemplateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A brace has no partner.
    case unbalanced(template: String, brace: String)
    /// A placeholder is malformed.
    case malformed(template: String, placeholder: String)
    /// A placeholder has no value.
    case missing(template: String, variable: String)
    /// A value belongs to no placeholder.
    case unknown(template: String, variable: String, variables: [String])
    /// A value is empty, `.` or `..`.
    case unusable(template: String, variable: String, value: String)

    package var description: String {
        switch self {
        case .unbalanced(let template, let brace):
            "\(template): unmatched \(brace); write a placeholder as {name}"
        case .malformed(let template, let placeholder):
            "\(template): \(placeholder) is not a placeholder; write {name} or {name.field}, in ASCII letters, digits and _"
        case .missing(let template, let variable):
            "\(template): no value for {\(variable)}"
        case .unknown(let template, let variable, let variables):
            "\(template): unknown placeholder {\(variable)}; known: "
                + (variables.isEmpty ? "none" : variables.map { "{\($0)}" }.joined(separator: ", "))
        case .unusable(let template, let variable, let value):
            "\(template): \"\(value)\" cannot replace {\(variable)} in a path"
        }
    }
}
