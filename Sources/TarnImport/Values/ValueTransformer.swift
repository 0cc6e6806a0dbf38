// Transformers between the JSON of an API and the JSON that an attribute accepts, in both
// directions.

import Foundation
internal import TarnStore

/// A conversion between the JSON of an API and the JSON that an attribute accepts.
public struct ValueTransformer: Sendable, Hashable, CustomStringConvertible {
    /// The name in mappings and descriptions. Transformers of the same name are equal.
    package var name: String { named.name }
    private let named: NamedCode<Conversions>

    private struct Conversions: Sendable {
        let decode: @Sendable (JSONValue) -> JSONValue?
        let encode: @Sendable (JSONValue) -> JSONValue?
    }

    /// Creates a transformer. Both closures are pure functions; several threads may call them.
    ///
    /// - Parameters:
    ///   - decode: converts the JSON of a response; not called for null. Nil refuses the value: it
    ///     is reported, and the stored value is kept.
    ///   - encode: converts the attribute's value, as JSON, to the JSON that is sent. Nil sends
    ///     nothing.
    public init(
        _ name: String, decode: @escaping @Sendable (JSONValue) -> JSONValue?,
        encode: @escaping @Sendable (JSONValue) -> JSONValue? = { $0 }
    ) {
        named = NamedCode(name, Conversions(decode: decode, encode: encode))
    }

    /// Converts a value of a response; nil if the value is refused.
    package func decode(_ value: JSONValue) -> JSONValue? { named.code.decode(value) }

    /// Converts an attribute's value to the JSON that is sent; nil if there is none.
    package func encode(_ value: JSONValue) -> JSONValue? { named.code.encode(value) }

    public var description: String { name }

    /// The names that ``builtIn(_:)`` accepts.
    static let builtInNames = ["trim", "lowercased", "uppercased", "number", "base64url", "json", "null(…)", "url(…)"]

    /// Returns the built-in transformer of a name; nil if there is none.
    ///
    /// | name | JSON → value | value → JSON |
    /// |---|---|---|
    /// | `trim` | text without white space around it | the same |
    /// | `lowercased`, `uppercased` | text in that case | the same |
    /// | `number` | text with separators, such as `1,234.50`, as a number | the number's text |
    /// | `base64url` | RFC 4648 §5 text as the text that it holds | back |
    /// | `json` | text that is JSON as that JSON | its text |
    /// | `null(text)` | null in place of this text, number or boolean | the same |
    /// | `url(base)` | a reference, resolved against a base (RFC 3986 §5) | the same |
    static func builtIn(_ name: String) -> ValueTransformer? {
        func text(_ change: @escaping @Sendable (String) -> JSONValue?) -> @Sendable (JSONValue) -> JSONValue? {
            { value in
                guard case .string(let text) = value else { return nil }
                return change(text)
            }
        }
        switch name {
        case "trim":
            return ValueTransformer(name, decode: text { .string($0.trimmingCharacters(in: .whitespacesAndNewlines)) })
        case "lowercased": return ValueTransformer(name, decode: text { .string($0.lowercased()) })
        case "uppercased": return ValueTransformer(name, decode: text { .string($0.uppercased()) })
        case "number":
            return ValueTransformer(
                name,
                decode: { value in
                    if case .number = value { return value }
                    guard case .string(let text) = value else { return nil }
                    return number(text).map(JSONValue.number)
                },
                encode: { value in
                    guard case .number(let digits) = value else { return value }
                    return positional(digits).map(JSONValue.string)
                })
        case "base64url":
            return ValueTransformer(
                name,
                decode: text { text in
                    var standard = text.replacing("-", with: "+").replacing("_", with: "/")
                    while standard.hasSuffix("=") { standard.removeLast() }
                    standard += String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
                    guard let data = Data(base64Encoded: standard), let held = String(validating: data, as: UTF8.self)
                    else {
                        return nil
                    }
                    return .string(held)
                },
                encode: text { text in
                    var encoded = Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing(
                        "/", with: "_")
                    while encoded.hasSuffix("=") { encoded.removeLast() }
                    return .string(encoded)
                })
        case "json":
            return ValueTransformer(name, decode: text { try? JSONValue($0) }, encode: { .string($0.text) })
        default:
            if name.hasPrefix("null("), name.hasSuffix(")") {
                return null(for: String(name.dropFirst(5).dropLast()), name)
            }
            guard name.hasPrefix("url("), name.hasSuffix(")"),
                let base = URL(string: String(name.dropFirst(4).dropLast())),
                base.scheme != nil
            else { return nil }
            return ValueTransformer(
                name,
                decode: text { reference in
                    // RFC 3986 §5.2.2: an empty reference is the base without its fragment.
                    guard !reference.isEmpty else {
                        return .string(String(base.absoluteString.prefix { $0 != "#" }))
                    }
                    return URL(string: reference, relativeTo: base).map { .string($0.absoluteString) }
                })
        }
    }

    /// The transformer that has null in place of a text, or of a number or boolean written so.
    private static func null(for word: String, _ name: String) -> ValueTransformer {
        ValueTransformer(
            name,
            decode: { value in
                switch value {
                case .string(let text), .number(let text): text.utf8.elementsEqual(word.utf8) ? .null : value
                case .bool(let isTrue): (isTrue ? "true" : "false") == word ? .null : value
                default: value
                }
            })
    }

    /// Returns a JSON number without an exponent; nil if it has more than some 1,000 zeros.
    private static func positional(_ number: String) -> String? {
        var text = number
        guard text.utf8.contains(where: { $0 | 0x20 == 0x65 }) else { return number }
        // The value is 0.d₁d₂… × 10^point.
        guard let value = text.withUTF8({ ExactDecimal(ascii: Bytes($0)) }), abs(Int(value.exponent)) <= 1100 else {
            return nil
        }
        let digits = value.digits.map { String($0) }, point = Int(value.exponent)
        let zeros = String(repeating: "0", count: max(0, point - digits.count))
        let whole = digits.prefix(max(0, point)).joined() + zeros
        let fraction = String(repeating: "0", count: max(0, -point)) + digits.dropFirst(max(0, point)).joined()
        return (value.isNegative ? "-" : "") + (whole.isEmpty ? "0" : whole) + (fraction.isEmpty ? "" : "." + fraction)
    }

    /// Normalizes a decimal number with grouped digits; nil if the text is none.
    ///
    /// Groups of three digits are separated by one of `,`, space, no-break space, narrow no-break
    /// space, `'` and `_`. The decimal separator is a point.
    private static func number(_ text: String) -> String? {
        let text = text.trimmingCharacters(in: .whitespaces)
        let isNegative = text.hasPrefix("-")
        let parts = (isNegative ? text.dropFirst() : text[...]).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let whole = parts.first else { return nil }
        let separators: Set<Unicode.Scalar> = [",", " ", "\u{A0}", "\u{202F}", "'", "_"]
        var divisor: Unicode.Scalar?, groups = [""]
        for scalar in whole.unicodeScalars {
            if ("0"..."9").contains(scalar) {
                groups[groups.count - 1].unicodeScalars.append(scalar)
            } else {
                guard separators.contains(scalar), divisor == nil || divisor == scalar else { return nil }
                divisor = scalar
                groups.append("")
            }
        }
        guard
            groups.count == 1 || ((1...3).contains(groups[0].count) && groups.dropFirst().allSatisfy { $0.count == 3 })
        else {
            return nil
        }
        var digits = groups.joined()
        guard !digits.isEmpty else { return nil }
        // JSON has no leading zeros.
        let zeros = digits.utf8.prefix { $0 == UInt8(ascii: "0") }.count
        digits.removeFirst(min(zeros, digits.utf8.count - 1))
        if parts.count == 2 {
            guard !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            digits += "." + parts[1]
        }
        return (isNegative ? "-" : "") + digits
    }
}

extension [ValueTransformer] {
    /// Applies the transformers in order; nil if one refuses the value. Null is never transformed.
    func decode(_ value: JSONValue) -> JSONValue? {
        var value = value
        for transformer in self {
            if value == .null { return value }
            guard let next = transformer.decode(value) else { return nil }
            value = next
        }
        return value
    }
}

extension Mapping {
    /// Returns a transformer by name: one of ``transformers``, else a built-in one, else nil.
    func transformer(_ name: String) -> ValueTransformer? {
        transformers.first { $0.name == name } ?? ValueTransformer.builtIn(name)
    }
}
