// The path of a value: from the record, from its surroundings, or from outside of the document.

/// A path to a JSON value.
///
/// Keys are joined with `.`: `reactions.+1`. `photos[0]` is an element of an array, `[-1]` the last
/// one. `groups.*.items` covers every element of an array, and the value of every member of an
/// object (RFC 9535 §2.3.2).
///
/// A path starts at the record, unless it begins with another ``Origin``: `@parent.id`. In a key,
/// the characters `.`, `[`, `{`, `}` and backslash are escaped with a backslash. A key that is only
/// `*` is written `\*`. At the beginning of a path, a key that begins with `@` may be written
/// `\@…`, and must be if it is the word of an origin.
public struct JSONPath: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The starting point of a path.
    package enum Origin: String, Sendable, Hashable, CaseIterable {
        /// The record's own object: the origin of a path without an origin word.
        case record = ""
        /// The object of the enclosing record. Alone, in a to-one relationship: that record.
        case parent = "@parent"
        /// The whole document.
        case root = "@root"
        /// A header field of the response; case-insensitive: `@header.ETag`.
        case header = "@header"
        /// A parameter of the request: `@param.page`.
        case parameter = "@param"
        /// The record's position in its list, from 0.
        case position = "@position"
        /// The name of the relationship by which the record is nested in the enclosing one.
        case relationship = "@relationship"
        /// The name of the member of an object in which a `*` has found the record, or its list.
        case memberName = "@memberName"

        /// Whether the rest of the path is one name, not divided into steps.
        var isNamed: Bool { self == .header || self == .parameter }
        /// Whether nothing follows the origin.
        var isWhole: Bool { self == .position || self == .relationship || self == .memberName }
    }

    /// One step of a path.
    package enum Step: Sendable, Hashable {
        /// The value of a key of an object.
        case key(String)
        /// An element of an array, from 0. Negative: from the end.
        case index(Int)
        /// Every element of an array, or the value of every member of an object (RFC 9535 §2.3.2).
        case each
    }

    /// The starting point.
    package var origin: Origin
    /// The steps, outermost first. Empty: the origin itself (written `$` for the record).
    package var steps: [Step]

    /// Creates a path from its parts.
    package init(_ origin: Origin, steps: [Step]) {
        self.origin = origin
        self.steps = steps
    }

    /// Creates a path that consists of keys of the record.
    public init(keys: [String]) {
        self.init(.record, steps: keys.map(Step.key))
    }

    /// The unescaped keys, outermost first, without the other steps.
    package var keys: [String] {
        steps.compactMap { if case .key(let key) = $0 { key } else { nil } }
    }

    /// Whether the path consists of keys of the record only.
    package var isPlain: Bool { origin == .record && steps.allSatisfy { if case .key = $0 { true } else { false } } }

    /// Whether the path may lead to several values.
    package var hasWildcard: Bool { steps.contains(.each) }

    /// Parses a path.
    ///
    /// - Returns: nil if the text is empty, or has an empty key, an invalid index in brackets, or
    ///   an invalid or unfinished escape.
    public init?(_ text: String) {
        if text == "$" {
            self.init(.record, steps: [])
            return
        }
        var scanner = Scanner(text.unicodeScalars)
        let origin = scanner.origin()
        if origin.isNamed {
            guard let name = scanner.name() else { return nil }
            self.init(origin, steps: [.key(name)])
            return
        }
        if origin.isWhole {
            guard scanner.isAtEnd else { return nil }
            self.init(origin, steps: [])
            return
        }
        guard let steps = scanner.steps(mayBeEmpty: origin != .record) else { return nil }
        self.init(origin, steps: steps)
    }

    /// Creates a path from a literal. A malformed one is a programmer error and traps.
    public init(stringLiteral text: String) {
        guard let path = JSONPath(text) else { preconditionFailure("not a key path: \(text)") }
        self = path
    }

    public var description: String {
        if origin == .record, steps.isEmpty { return "$" }
        if origin.isNamed { return "\(origin.rawValue).\(keys.joined())" }
        var text = origin.rawValue
        for (index, step) in steps.enumerated() {
            switch step {
            case .key(let key):
                if index > 0 || origin != .record { text += "." }
                text += JSONPath.escaped(key, isFirst: text.isEmpty)
            case .each: text += index > 0 || origin != .record ? ".*" : "*"
            case .index(let number): text += "[\(number)]"
            }
        }
        return text
    }

    private static func escaped(_ key: String, isFirst: Bool) -> String {
        if key == "*" { return "\\*" }
        var text = ""
        for scalar in key.unicodeScalars {
            if "\\.[{}".unicodeScalars.contains(scalar) || (isFirst && text.isEmpty && scalar == "@") { text += "\\" }
            text.unicodeScalars.append(scalar)
        }
        return text
    }
}

extension JSONPath {
    private struct Scanner {
        private var rest: Substring.UnicodeScalarView

        init(_ text: String.UnicodeScalarView) { rest = text[...] }

        var isAtEnd: Bool { rest.isEmpty }

        /// Reads the origin. A `@` that begins no origin word begins a key.
        mutating func origin() -> Origin {
            let word = String(Substring(rest.prefix { $0 != "." && $0 != "[" }))
            guard !word.isEmpty, let origin = Origin(rawValue: word) else { return .record }
            rest = rest.dropFirst(word.unicodeScalars.count)
            return origin
        }

        /// Reads the name after `@header` or `@param`, which is not divided into steps.
        mutating func name() -> String? {
            guard rest.popFirst() == "." else { return nil }
            var name = ""
            while let scalar = rest.popFirst() {
                if scalar == "\\" {
                    guard let next = rest.popFirst(), "\\.[]{}*@".unicodeScalars.contains(next) else { return nil }
                    name.unicodeScalars.append(next)
                } else {
                    name.unicodeScalars.append(scalar)
                }
            }
            return name.isEmpty ? nil : name
        }

        mutating func steps(mayBeEmpty: Bool) -> [Step]? {
            if rest.isEmpty { return mayBeEmpty ? [] : nil }
            var steps: [Step] = []
            // After an origin, a dot precedes the first key.
            if mayBeEmpty, rest.first == "." {
                rest.removeFirst()
                guard let step = key() else { return nil }
                steps.append(step)
            } else if rest.first != "[" {
                guard let step = key() else { return nil }
                steps.append(step)
            }
            while let scalar = rest.popFirst() {
                guard let step = scalar == "[" ? index() : scalar == "." ? key() : nil else { return nil }
                steps.append(step)
            }
            return steps
        }

        private mutating func key() -> Step? {
            var key = "", isEscaped = false
            while let scalar = rest.first, scalar != ".", scalar != "[" {
                rest.removeFirst()
                guard scalar == "\\" else {
                    key.unicodeScalars.append(scalar)
                    continue
                }
                guard let next = rest.popFirst(), "\\.[]{}*@".unicodeScalars.contains(next) else { return nil }
                key.unicodeScalars.append(next)
                isEscaped = true
            }
            if key == "*", !isEscaped { return .each }
            return key.isEmpty ? nil : .key(key)
        }

        private mutating func index() -> Step? {
            let digits = String(Substring(rest.prefix { $0 != "]" }))
            rest = rest.dropFirst(digits.unicodeScalars.count)
            guard rest.popFirst() == "]", !digits.hasPrefix("+"), let number = Int(digits) else { return nil }
            return .index(number)
        }
    }
}
