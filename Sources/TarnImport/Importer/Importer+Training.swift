// Dictionaries from drafts: rows are compressed from the first one on.

internal import TarnStore

extension Importer {
    /// Whether the drafts may suffice for a dictionary.
    var mayTrain: Bool { Store.isEnoughToTrain(rows: drafter.list.count, bytes: drafter.list.byteCount) }

    /// Trains dictionaries from the drafts, for entities that have enough of them and no dictionary
    /// yet.
    ///
    /// Without it, the rows of the first unit stay uncompressed until a rewrite.
    func trainDictionaries(_ store: Store) throws {
        let roots = try store.rootsToTrain()
        guard !roots.isEmpty else { return }
        for root in roots {
            var indexes: [Int] = [], bytes = 0
            for (index, draft) in drafter.list.drafts.enumerated() {
                guard plan.plans[Int(draft.plan)].entity.root == root else { continue }
                indexes.append(index)
                bytes += draft.bodyLength
            }
            _ = try store.trainDictionary(ofRoot: root, count: indexes.count, bytes: bytes) { index in
                drafter.list.body(drafter.list.drafts[indexes[index]])
            }
        }
    }
}
