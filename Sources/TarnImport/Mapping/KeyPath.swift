// Where a value stands, as a path: from the record, from what is around it, or beside the document.

/// A path to a JSON value: keys with a `.` between them, `reactions.+1`; `photos[0]` for an element of an array, `[-1]` for the
/// last one; `groups.*.items` for every element.
///
/// A path leads on from the record, unless it begins with another ``Origin``: `@parent.id`. In a key, `.`, `[`, `{`, `}` and a
/// backslash are written with a backslash before them; a key that is only `*` as `\*`, and one that begins with `@` at the
/// beginning of a path may be written `\@…`, and has to be if it is the word of an origin.
public struct KeyPath: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// What a path leads on from.
    public enum Origin: String, Sendable, Hashable, CaseIterable {
        /// The record's own object: what a path without a word for it means.
        case record = ""
        /// The object of the record that this one is nested in. By itself, for a to-one relationship: that record.
        case parent = "@parent"
        /// The whole document.
        case root = "@root"
        /// A header field of the response, whatever its case: `@header.ETag`.
        case header = "@header"
        /// A parameter of the request: `@param.page`.
        case parameter = "@param"
        /// The place in the list that the record stands in, from 0.
        case position = "@position"
        /// The name of the relationship by which the record is nested in another one.
        case relationship = "@relationship"

        /// Whether it is followed by the name of what is meant, as a whole.
        var isNamed: Bool { self == .header || self == .parameter }
        /// Whether nothing follows it.
        var isWhole: Bool { self == .position || self == .relationship }
    }

    /// One way further in.
    public enum Step: Sendable, Hashable {
        /// The value of a key of an object.
        case key(String)
        /// An element of an array, from 0; from the end if it is negative.
        case index(Int)
        /// Every element of an array.
        case each
    }

    /// Where the path begins.
    public var origin: Origin
    /// Outermost first. None means the origin itself (that of a record is written `$`).
    public var steps: [Step]

    public init(_ origin: Origin, steps: [Step]) {
        self.origin = origin
        self.steps = steps
    }

    /// A path of keys alone.
    public init(keys: [String]) {
        self.init(.record, steps: keys.map(Step.key))
    }

    /// The unescaped keys, outermost first, without what is not a key.
    public var keys: [String] {
        steps.compactMap { if case .key(let key) = $0 { key } else { nil } }
    }

    /// Whether there is nothing but keys of the record.
    public var isPlain: Bool { origin == .record && steps.allSatisfy { if case .key = $0 { true } else { false } } }

    /// Whether it may lead to several values.
    public var hasWildcard: Bool { steps.contains(.each) }

    /// Nil if the text is empty, has an empty key or something that is no index in brackets, or ends in an unfinished escape.
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

    /// Misuse (a malformed literal) is a programmer's error and traps.
    public init(stringLiteral text: String) {
        guard let path = KeyPath(text) else { preconditionFailure("not a key path: \(text)") }
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
                text += KeyPath.escaped(key, isFirst: text.isEmpty)
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

extension KeyPath {
    private struct Scanner {
        private var rest: Substring.UnicodeScalarView

        init(_ text: String.UnicodeScalarView) { rest = text[...] }

        var isAtEnd: Bool { rest.isEmpty }

        /// A `@` that begins no word for an origin begins a key.
        mutating func origin() -> Origin {
            let word = String(Substring(rest.prefix { $0 != "." && $0 != "[" }))
            guard !word.isEmpty, let origin = Origin(rawValue: word) else { return .record }
            rest = rest.dropFirst(word.unicodeScalars.count)
            return origin
        }

        /// What follows `@header` or `@param`: it is not divided.
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
            // Behind an origin there is a dot before the first key.
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
