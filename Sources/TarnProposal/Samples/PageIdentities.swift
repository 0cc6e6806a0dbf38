// The records of a page, to be compared with those of another page.

import Tarn

/// The records of a page, by their identifiers.
///
/// Equal identifiers do not suffice: a list of measurements has the same stations on every page.
struct PageIdentities {
    /// The identifiers, or the records without one.
    private let ids: [JSONValue]
    private let objects: [JSONValue]

    private static let names = ["id", "_id", "uuid", "key", "url"]

    init(_ objects: [JSONValue]) {
        self.objects = objects
        ids = objects.map { object in PageIdentities.names.lazy.compactMap { object[$0] }.first ?? object }
    }

    var count: Int { ids.count }
    var isEmpty: Bool { ids.isEmpty }

    /// Whether another page has the same records in the same order.
    func isSame(as other: PageIdentities) -> Bool { ids == other.ids && !hasOthers(than: other) }

    /// Whether another page has some of the records.
    func overlaps(_ other: PageIdentities) -> Bool {
        !Set(ids).isDisjoint(with: other.ids) && !hasOthers(than: other)
    }

    /// Whether the records of another page with the same identifiers are others: a date differs for
    /// most, or other fields do and few agree.
    ///
    /// Numbers alone may be those of the moment, such as a score, if anything else agrees.
    private func hasOthers(than other: PageIdentities) -> Bool {
        guard objects != other.objects else { return false }
        var known: [JSONValue: JSONValue] = [:], pairs: [[JSONValue]] = []
        for (id, object) in zip(ids, objects) { known[id] = object }
        for (id, object) in zip(other.ids, other.objects) {
            if let first = known[id] { pairs.append([first, object]) }
        }
        guard pairs.count > 1 else { return false }
        let consistency = KeyConsistency(pairs, except: Set(PageIdentities.names))
        if consistency.contradicting.contains(where: KeyChoice.isPart) { return true }
        return consistency.isRefuted() && (consistency.confirming == 0 || !consistency.areNumbersOnly)
    }
}
