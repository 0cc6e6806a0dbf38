// The rewrite of all rows of an entity: with a newly trained dictionary, and in full pages.

internal import LMDB

extension Store {
    /// Rewrites all rows in key order, so that pages are full.
    ///
    /// The rows are compressed with a dictionary that is trained from a sample of the whole table,
    /// or plain if the compression of their entity is `none`. Content, versions and change log are
    /// unchanged. Dictionaries that no row uses any more are dropped.
    ///
    /// A rewrite of all entities also upgrades a store of an earlier format, in one transaction at
    /// its beginning: formats 1 and 2 have no checksums of dictionaries, settings, changes and
    /// bodies. In a store of the current format the rows get packed directories, which programs of
    /// earlier versions do not read.
    ///
    /// A rewrite is worth it in three cases: rows differ in kind from those that the dictionary was
    /// trained with (the first 1,000), the compression of an entity was changed, or rows were
    /// inserted in random order. The file does not shrink; the saved space is free for later
    /// writes.
    ///
    /// Each step is a write of its own, so readers and other writers continue. If a rewrite is
    /// interrupted, by an error or the end of its process, the next call continues it, in any
    /// process. While a long read lasts, the pages of its snapshot are not reused, and the file
    /// grows by them.
    ///
    /// - Parameters:
    ///   - entity: the name of an entity; nil for all.
    ///   - batch: the approximate number of rows per step; a step ends with a page of the file, and
    ///     before its rows exceed 4 MiB.
    ///   - progress: called after each step, on the calling thread.
    /// - Returns: the number and the sizes of the rewritten rows.
    /// - Throws: `StoreError.unknownEntity`; `.damagedRow`, `.damagedDictionary` with the key of an
    ///   unreadable row, before which all rows are rewritten; errors of `write`.
    @discardableResult
    package func rewrite(
        _ entity: String? = nil, batch: Int = 2000, progress: ((RewriteReport) -> Void)? = nil
    ) throws -> RewriteReport {
        try rewrite(entity, batch: batch, progress: progress) { false }
    }

    /// Rewrites all rows step by step, until it is cancelled.
    ///
    /// - Parameter isCancelled: called before each step.
    func rewrite(
        _ name: String?, batch: Int, progress: ((RewriteReport) -> Void)? = nil, isCancelled: () -> Bool
    ) throws -> RewriteReport {
        var report = RewriteReport()
        if name == nil { report.isUpgraded = try upgradeFormat() }
        try addFeatures()
        // Entities of one root share its table and its dictionary.
        let roots =
            try name.map { [try state.entity($0).root] } ?? catalog.entities.filter { $0.root == $0.id }.map(\.id)
        report.total = try read { reader in
            try roots.reduce(0) { try $0 + reader.access.raw.statistics(reader.access.state.records(of: $1)).entries }
        }
        for entity in catalog.entities where roots.contains(entity.id) {
            if isCancelled() { throw CancellationError() }
            try beginRewrite(of: entity.id)
            var goesOn = true
            while goesOn {
                if isCancelled() { throw CancellationError() }
                let step = try write(alone: true) { writer in try writer.rewriteStep(entity.id, rows: max(1, batch)) }
                guard let step else { break }
                report.rows += step.rows
                report.rewritten += step.rewritten
                report.bytesBefore += step.bytesBefore
                report.bytesAfter += step.bytesAfter
                progress?(report)
                goesOn = !step.isLast
            }
            report.dictionariesDropped += try endRewrite(of: entity.id)
        }
        return report
    }

    /// Trains and adds a dictionary, unless a rewrite with the current one is under way.
    private func beginRewrite(of id: UInt16) throws {
        while true {
            let (generation, dictionary): (UInt64, [UInt8]?) = try read { reader in
                let access = reader.access
                guard let entity = access.catalog.entity(id: id), try access.settings.rewriteMark(of: entity) == nil,
                    entity.isCompressed
                else { return (access.state.generation, nil) }
                return (access.state.generation, try access.records.sample(of: entity).dictionary(.thorough))
            }
            var isBegun = false, isNew = false
            try inWriteTransaction { transaction, state in
                // Another process may have trained a dictionary since, or begun a rewrite.
                guard state.generation == generation, let entity = state.catalog.entity(id: id) else { return }
                isBegun = true
                let access = StoreAccess(transaction.raw, state, nil)
                guard try access.settings.rewriteMark(of: entity) == nil else { return }
                var current = state.currentDictionary(of: entity)?.id ?? 0
                if let dictionary, let added = try RowDictionary.add(dictionary, of: id, transaction.raw, state.meta) {
                    current = added
                    isNew = true
                }
                try access.settings.setRewriteMark(of: id, RewriteMark(dictionary: current, key: []))
            }
            if isNew { try reload() }
            if isBegun { return }
        }
    }

    /// Drops unused dictionaries, and removes the mark of the rewrite.
    ///
    /// Rows are examined in a snapshot, and dictionaries are dropped later. This is safe: rows
    /// written in between use the dictionary that is current at that generation. It is not dropped,
    /// and the generation is compared.
    private func endRewrite(of id: UInt16) throws -> Int {
        while true {
            let (generation, used) = try read { reader in
                (reader.access.state.generation, try reader.access.records.usedDictionaries(id))
            }
            var dropped: Int?
            try inWriteTransaction { transaction, state in
                guard state.generation == generation, let entity = state.catalog.entity(id: id) else { return }
                let raw = transaction.raw, current = state.currentDictionary(of: entity)?.id
                let unused = try RowDictionary.ids(raw, state.meta, of: id).filter {
                    $0 != current && !used.contains($0)
                }
                for dictionary in unused {
                    _ = try raw.delete(state.meta, RowDictionary.key(dictionary))
                }
                _ = try raw.delete(state.meta, RewriteMark.metaKey(id))
                if !unused.isEmpty { try raw.advanceGeneration(state.meta) }
                dropped = unused.count
            }
            guard let dropped else { continue }
            if dropped > 0 { try reload() }
            return dropped
        }
    }
}
