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

    /// The number of records that another page does not have.
    func countOfOthers(than known: PageIdentities) -> Int {
        let known = Set(known.ids)
        return ids.count { !known.contains($0) }
    }

    /// Returns how these records relate to those of a page before.
    func relation(to known: PageIdentities) -> PageRelation {
        if ids.isEmpty { return .empty }
        let others = countOfOthers(than: known)
        if others == ids.count || known.hasOthers(than: self) { return .other }
        if ids == known.ids { return .same }
        if others == 0, ids.count == known.ids.count { return .reordered }
        return others * 2 > ids.count || isBehind(known, others) ? .other : .overlapping
    }

    /// Whether the page begins with the last one or two records of the page before, and goes on
    /// with others.
    private func isBehind(_ known: PageIdentities, _ others: Int) -> Bool {
        (1...2).contains { count in
            others > 0 && others == ids.count - count && known.ids.count > count
                && known.ids.suffix(count).elementsEqual(ids.prefix(count))
        }
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
