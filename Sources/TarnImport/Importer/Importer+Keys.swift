package import TarnStore

extension Importer {
    /// Returns the key of a record that the unit has; nil if it does not have it.
    ///
    /// A key that is too long for its storage key comes from the draft.
    package func key(of listed: ListedRecord) -> RecordKey? {
        listed.storageKey.withUnsafeBytes { bytes in
            if let key = RecordKey(storageKey: bytes) { return key }
            guard let root = plan.plans.firstIndex(where: { $0.entity.id == listed.entity }),
                let index = drafter.list.find(root, bytes)
            else { return nil }
            let draft = drafter.list.drafts[index]
            return drafter.list.body(draft)?.key(of: plan.plans[Int(draft.plan)].entity)
        }
    }
}
