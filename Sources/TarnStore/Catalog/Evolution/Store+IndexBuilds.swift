// Indexes that are not complete yet: the loop that builds them in steps, and what can be asked about them.

internal import LMDB

extension Store {
    /// Every index of the store, of attributes, of stored relationships and declared ones, and whether it is complete.
    public var indexStates: [IndexState] {
        get throws {
            try read { reader in
                let access = reader.access, marks = try IndexMark.all(access.raw, access.state.meta)
                return try access.catalog.indexIDs.compactMap { id in
                    guard let place = access.catalog.place(ofIndex: id), let entity = access.catalog.entity(id: place.entity)
                    else { return nil }
                    let name = access.catalog.name(ofIndex: id), entries = try access.raw.statistics(access.state.index(id)).entries
                    guard let mark = marks[id] else {
                        return IndexState(entity: entity.name, name: name, state: .complete, done: entries, total: entries)
                    }
                    let rows = try access.raw.statistics(access.state.records(of: entity.root)).entries
                    let isBuilding = mark.phase == .building
                    return IndexState(
                        entity: entity.name, name: name, state: isBuilding ? .building : .checking, done: mark.count,
                        total: isBuilding ? rows : entries)
                }
            }
        }
    }

    /// Goes on with every index that is not complete, in steps, each a write of its own; other processes may do the same.
    ///
    /// - Throws: what ends it. Indexes whose values are not unique are taken back, and the last one's error is thrown at the end.
    func finishIndexes(_ options: IndexBuildOptions, progress: ((IndexBuildProgress) -> Void)? = nil) throws {
        var violation: StoreError?
        while state.hasIndexWork {
            let step = try write(alone: true) { writer in try writer.indexStep(options) }
            guard let step else {
                // Another process has done the rest.
                try reload()
                continue
            }
            violation = step.violation ?? violation
            if let progress { for told in step.progress { progress(told) } }
            if step.isTransition { try reload() }
        }
        if let violation { throw violation }
    }
}

extension StoreWriter {
    /// What a step has done, for who waits for it.
    struct FinishedIndexStep {
        var progress: [IndexBuildProgress]
        var violation: StoreError?
        var isTransition: Bool
    }

    /// Takes a step, if there is one to take, and moves the marks. An index whose values are not unique is taken back.
    func indexStep(_ options: IndexBuildOptions) throws -> FinishedIndexStep? {
        let raw = access.raw, state = access.state
        let build = IndexBuild(access: access, catalog: catalog, records: state.records(of:), table: state.index)
        // What the store says, not what this process knows: another one may have moved a mark since.
        guard let step = try build.step(try IndexMark.all(raw, state.meta), options) else { return nil }
        let progress = try step.indexes.compactMap { id, mark -> IndexBuildProgress? in
            guard let entity = catalog.place(ofIndex: id).flatMap({ catalog.entity(id: $0.entity) }) else { return nil }
            let rows = try raw.statistics(state.records(of: entity.root)).entries
            let wasBuilding = try IndexMark.of(id, raw, state.meta)?.phase == .building
            let total = wasBuilding ? rows : try raw.statistics(state.index(id)).entries
            return IndexBuildProgress(
                entity: entity.name, index: catalog.name(ofIndex: id), done: step.isTransition ? total : mark?.count ?? total,
                total: total)
        }
        if step.violation != nil {
            var changed = catalog
            for (id, _) in step.indexes {
                let isNew = try IndexMark.of(id, raw, state.meta)?.isNew ?? false
                changed = changed.takingBack(id, isNew: isNew)
                if isNew { try raw.removeAll(state.index(id)) }
            }
            try raw.willAdd()
            try raw.put(state.meta, key: MetaKey.catalog, text: try StoredCatalog.text(of: changed))
        }
        for (id, mark) in step.indexes {
            if let mark { try mark.put(id, raw, state.meta) } else { try IndexMark.remove(id, raw, state.meta) }
        }
        if step.isTransition {
            try raw.advanceGeneration(state.meta)
        }
        return FinishedIndexStep(progress: progress, violation: step.violation, isTransition: step.isTransition)
    }
}
