import TarnInspect
import TarnStore

/// The progress of some lists of an endpoint.
struct ListsAnswer: Encodable {
    /// The most lists of an answer, and the most members of a list that are counted.
    private static let limit = 100, members = 1000

    var lists: [ListAnswer]
    /// The position at which the next page begins; nil after the last list.
    var next: String?
    var damages: [String]
    /// The number of damages that are not listed.
    var moreDamages: Int

    init(_ inspector: StoreInspector, of endpoint: [UInt8], after position: [UInt8]?) throws {
        let now = Timestamp.now
        let page = try inspector.lists(of: endpoint, after: position, limit: Self.limit, members: Self.members)
        lists = page.lists.map { ListAnswer($0, at: now) }
        next = page.next.map(Hexadecimal.text)
        let found = DamageTexts(page.damages)
        (damages, moreDamages) = (found.texts, found.more)
    }
}
