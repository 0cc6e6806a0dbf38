internal import TarnStore

/// The compiled coercion rule of one attribute.
final class ValueRule: Sendable {
    let type: AttributeType
    let isStrict: Bool
    let accepted: JSONKinds
    /// The formats of dates, in the order in which they are tried; never empty.
    let dates: [DateFormat]
    /// Whether RFC 3339 is the first format, as for nearly every API.
    let beginsWithRFC3339: Bool
    /// The rule of a list's elements.
    let element: ValueRule?
    /// The replacement for a text that is no value of an `enum`.
    let fallback: String?
    let transformers: [ValueTransformer]
    let hasTransformers: Bool

    /// Compiles a rule.
    ///
    /// - Parameter dates: the declared formats.
    init(
        _ type: AttributeType, _ mode: CoercionMode = .lenient, dates declared: [DateFormat] = [],
        fallback: String? = nil,
        transformers: [ValueTransformer] = []
    ) {
        if case .enumeration = type { self.fallback = fallback } else { self.fallback = nil }
        self.transformers = transformers
        hasTransformers = !transformers.isEmpty
        self.type = type
        isStrict = mode == .strict
        var dates = declared
        if dates.isEmpty || (mode == .lenient && !dates.contains(.rfc3339)) { dates.append(.rfc3339) }
        self.dates = dates
        beginsWithRFC3339 = dates.first == .rfc3339
        accepted = type.accepted(mode, dates: dates)
        if case .array(let element) = type {
            self.element = ValueRule(element, mode, dates: declared)
        } else {
            element = nil
        }
    }
}
