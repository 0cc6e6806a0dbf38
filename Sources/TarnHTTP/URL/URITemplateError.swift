/// The reason why a text is not a URI template.
package enum URITemplateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A brace has no partner.
    case unbalanced(template: String, brace: String)
    /// An expression is malformed.
    case malformed(template: String, expression: String)

    package var description: String {
        switch self {
        case .unbalanced(let template, let brace):
            "\(template): unmatched \(brace); write an expression as {name}"
        case .malformed(let template, let expression):
            "\(template): \(expression) is not an expression of RFC 6570, such as {name}, {+path} or {?q,page*}"
        }
    }
}
