// The facts about the scalars at one place of the samples.

/// Counts and bounds of the numbers and texts of an attribute.
struct ScalarFacts {
    /// Integers that fit a signed 64-bit integer.
    var integers = 0
    /// Integers that fit an unsigned 64-bit integer only.
    var unsigned = 0
    /// Integers beyond 64 bits.
    var hugeIntegers = 0
    /// Numbers with a fraction or an exponent.
    var fractions = 0
    /// Fractions with more digits than a double keeps.
    var longFractions = 0
    /// The bounds of ``integers``.
    var smallest = Int64.max
    var largest = Int64.min
    var texts = 0
    /// Texts without a character.
    var emptyTexts = 0
    /// The length of the longest text, in bytes.
    var longestText = 0
    /// The forms that all texts have; nil if there is no text.
    var forms: Set<TextForm>?
    /// The numbers of occurrences of the values, up to ``distinctLimit`` of them.
    private(set) var counts: [String: Int] = [:]
    /// Whether there are more distinct values than ``counts`` has.
    private(set) var isOverflowing = false

    static let distinctLimit = 20_000

    var numbers: Int { integers + unsigned + hugeIntegers + fractions }

    mutating func add(number: String) {
        note(number)
        if let value = Int64(number) {
            integers += 1
            smallest = min(smallest, value)
            largest = max(largest, value)
        } else if UInt64(number) != nil {
            unsigned += 1
        } else if number.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }) {
            hugeIntegers += 1
        } else {
            fractions += 1
            let mantissa = number.prefix { $0 != "e" && $0 != "E" }
            let digits = mantissa.drop { "-0.".contains($0) }.count { $0 != "." && $0 != "-" }
            if digits > 17 { longFractions += 1 }
        }
    }

    mutating func add(text: String) {
        texts += 1
        if text.isEmpty { emptyTexts += 1 }
        longestText = max(longestText, text.utf8.count)
        if text.utf8.count <= 200 { note(text) } else { isOverflowing = true }
        let found = TextForm.forms(of: text)
        forms = forms.map { $0.intersection(found) } ?? found
    }

    private mutating func note(_ value: String) {
        if counts[value] != nil || counts.count < ScalarFacts.distinctLimit {
            counts[value, default: 0] += 1
        } else {
            isOverflowing = true
        }
    }
}
