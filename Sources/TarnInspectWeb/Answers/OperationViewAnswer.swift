import TarnInspect
import TarnStore

/// The view of one operation.
struct OperationViewAnswer: Encodable {
    var id: String
    /// The operation; nil if it is not queued, or unreadable.
    var operation: OperationAnswer?
    /// Whether a damaged page is on the way to it, or it is damaged itself.
    var isUnreadable: Bool
    var damages: [String]
    /// The number of damages that are not listed.
    var moreDamages: Int

    init(_ id: UInt64, _ found: OperationInspection, _ catalog: Catalog) {
        self.id = String(id)
        operation = found.operation.map { OperationAnswer($0, .whole, found.targets, catalog) }
        isUnreadable = found.isUnreadable
        let texts = DamageTexts(found.damages)
        (damages, moreDamages) = (texts.texts, texts.more)
    }
}
