import TarnInspect

/// The first damages that an answer has met as texts, and the number of the others.
struct DamageTexts {
    /// The most texts of an answer: a damaged file may have any number.
    private static let most = 100

    private(set) var texts: [String] = []
    /// The number of damages that are not among the texts.
    private(set) var more = 0

    init(_ damages: [StoreInspector.Damage] = []) {
        for damage in damages { append(damage) }
    }

    mutating func append(_ damage: StoreInspector.Damage) {
        // One with a count stands for others of its kind.
        if damage.count == 1 { append(damage.description) } else { more += damage.count }
    }

    mutating func append(_ text: String) {
        if texts.count < DamageTexts.most { texts.append(text) } else { more += 1 }
    }
}
