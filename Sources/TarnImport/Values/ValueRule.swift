internal import TarnStore

/// How the values of one attribute are coerced, compiled.
final class ValueRule: Sendable {
    let type: AttributeType
    let isStrict: Bool
    let accepted: JSONKinds
    /// For dates, in the order in which they are tried; never empty for them.
    let dates: [DateFormat]
    /// Whether RFC 3339 is the first of them: what nearly every API sends.
    let beginsWithRFC3339: Bool
    /// For lists.
    let element: ValueRule?
    /// Of an `enum`.
    let fallback: String?
    let transformers: [ValueTransformer]
    let hasTransformers: Bool

    /// - Parameter dates: those that are declared.
    init(
        _ type: AttributeType, _ mode: CoercionMode = .lenient, dates declared: [DateFormat] = [], fallback: String? = nil,
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
