import TarnInspect
import TarnStore

/// Consecutive operations of the outbox.
struct OutboxAnswer: Encodable {
    /// The numbers of all operations; nil if they are unreadable.
    var counts: OutboxNumbers?
    var operations: [OperationAnswer]
    /// The place after which the next page begins; nil after the last operation.
    var next: String?
    var examined: Int
    var damages: [String]
    /// The number of damages that are not listed.
    var moreDamages: Int

    init(_ page: OutboxPage, _ catalog: Catalog) {
        counts = page.counts.map(OutboxNumbers.init)
        operations = page.operations.map { OperationAnswer($0, .short, page.targets, catalog) }
        next = page.last.map(Hexadecimal.text)
        examined = page.examined
        let found = DamageTexts(page.damages)
        (damages, moreDamages) = (found.texts, found.more)
    }
}
