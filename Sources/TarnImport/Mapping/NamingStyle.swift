/// The way in which the words of a name are joined in JSON.
public enum NamingStyle: String, Sendable, Hashable, CaseIterable {
    case snakeCase = "snake_case"
    case camelCase = "camelCase"
    case pascalCase = "PascalCase"
    case kebabCase = "kebab-case"
    /// Names are used unchanged; no words are replaced.
    case none

    func join(_ words: [String]) -> String {
        switch self {
        case .snakeCase: words.joined(separator: "_")
        case .kebabCase: words.joined(separator: "-")
        case .pascalCase: words.map(NamingConvention.capitalized).joined()
        case .camelCase, .none: words.prefix(1).joined() + words.dropFirst().map(NamingConvention.capitalized).joined()
        }
    }
}
