import Glibc

/// A text with environment variables: `${NAME}`, `${NAME:-default}`.
enum EnvironmentText {
    struct Problem: Error {
        var message: String
    }

    /// Returns the text with the values of its variables. `$${` stands for `${`.
    ///
    /// A default applies if the variable is not set or empty. Values are not expanded again.
    static func expanded(_ text: String) -> Result<String, Problem> {
        guard text.contains("${") else { return .success(text) }
        var result = "", rest = text[...]
        while let dollar = rest.firstIndex(of: "$") {
            result += rest[..<dollar]
            rest = rest[dollar...]
            if rest.hasPrefix("$${") {
                result += "${"
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix("${") {
                guard let close = rest.firstIndex(of: "}") else {
                    return .failure(Problem(message: "${ without }: close the brace, or write $${ for the text ${"))
                }
                let inner = rest[..<close].dropFirst(2)
                rest = rest[close...].dropFirst()
                switch value(inner) {
                case .success(let value): result += value
                case .failure(let problem): return .failure(problem)
                }
            } else {
                result += "$"
                rest = rest.dropFirst()
            }
        }
        return .success(result + rest)
    }

    private static func value(_ text: Substring) -> Result<String, Problem> {
        let name = text.prefix { $0 != ":" }, rest = text.dropFirst(name.count)
        guard isName(name), rest.isEmpty || rest.hasPrefix(":-") else {
            return .failure(
                Problem(message: "\"${\(text)}\" is not an environment variable: write ${NAME} or ${NAME:-default}"))
        }
        guard !rest.contains("${") else {
            return .failure(
                Problem(
                    message: "the default of ${\(name):-…} cannot have variables: write a text without ${"))
        }
        let bytes = getenv(String(name)), set = bytes.flatMap { String(validatingCString: $0) }
        // Its text would be another path.
        guard bytes == nil || set != nil else {
            return .failure(Problem(message: "the environment variable \(name) is not valid UTF-8"))
        }
        if let set, !set.isEmpty || rest.isEmpty { return .success(set) }
        if rest.isEmpty {
            return .failure(
                Problem(
                    message: "the environment variable \(name) is not set: set it, or write a default: ${\(name):-…}"))
        }
        return .success(String(rest.dropFirst(2)))
    }

    private static func isName(_ text: Substring) -> Bool {
        text.first?.isNumber == false
            && text.utf8.allSatisfy {
                (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_")
            }
    }
}
