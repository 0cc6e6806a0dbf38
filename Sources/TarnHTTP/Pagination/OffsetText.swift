/// The text of a parameter that has an offset in it: `select * from Item startposition {value}`.
struct OffsetText: Sendable, Hashable {
    private let before: String, after: String

    /// - Returns: nil if the text does not have `{value}` once.
    init?(_ text: String) {
        let parts = text.split(separator: "{value}", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        (before, after) = (String(parts[0]), String(parts[1]))
    }

    func text(_ offset: Int) -> String { "\(before)\(offset)\(after)" }

    /// The offset in a text of ``text(_:)``; nil if it is another text.
    func offset(in text: String) -> Int? {
        guard text.hasPrefix(before), text.hasSuffix(after) else { return nil }
        return Int(text.dropFirst(before.count).dropLast(after.count))
    }
}
