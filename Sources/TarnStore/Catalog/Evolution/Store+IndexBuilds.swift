// Incomplete indexes: the loop that builds them in steps, and their state.

internal import LMDB

extension Store {
    /// Every index of attributes, stored relationships and declared ones, with its state.
    public var indexStates: [IndexState] {
        get throws {
            try read { reader in
                let access = reader.access, marks = try IndexMark.all(access.raw, access.state.meta)
                return try access.catalog.indexIDs.compactMap { id in
                    guard let place = access.catalog.place(ofIndex: id),
                        let entity = access.catalog.entity(id: place.entity)
                    else { return nil }
                    let name = access.catalog.name(ofIndex: id),
                        entries = try access.raw.statistics(access.state.index(id)).entries
                    guard let mark = marks[id] else {
                        return IndexState(
                            entity: entity.name, name: name, state: .complete, done: entries, total: entries)
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

    /// Continues the build of every incomplete index, in steps of one write each.
    ///
    /// Other processes may do so at the same time. Indexes whose values are not unique are taken
    /// back.
    ///
    /// - Throws: the error that stops it; at the end, the violation of the last index taken back.
    func finishIndexes(_ options: IndexBuildOptions, progress: ((IndexBuildProgress) -> Void)? = nil) throws {
        var violation: StoreWriteError?
        while state.hasIndexWork {
            let step = try write(alone: true) { writer in try writer.indexStep(options) }
            guard let step else {
                // Another process has finished the work.
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
    /// The result of a step, for its caller.
    struct FinishedIndexStep {
        var progress: [IndexBuildProgress]
        var violation: StoreWriteError?
        var isTransition: Bool
    }

    /// Takes a step if there is one, and moves the marks.
    ///
    /// An index whose values are not unique is taken back.
    func indexStep(_ options: IndexBuildOptions) throws -> FinishedIndexStep? {
        let raw = access.raw, state = access.state
        let build = IndexBuild(access: access, catalog: catalog, records: state.records(of:), table: state.index)
        // The marks are read from the store: another process may have moved them.
        guard let step = try build.step(try IndexMark.all(raw, state.meta), options) else { return nil }
        let progress = try step.indexes.compactMap { id, mark -> IndexBuildProgress? in
            guard let entity = catalog.place(ofIndex: id).flatMap({ catalog.entity(id: $0.entity) }) else { return nil }
            let rows = try raw.statistics(state.records(of: entity.root)).entries
            let wasBuilding = try IndexMark.of(id, raw, state.meta)?.phase == .building
            let total = wasBuilding ? rows : try raw.statistics(state.index(id)).entries
            return IndexBuildProgress(
                entity: entity.name, index: catalog.name(ofIndex: id),
                done: step.isTransition ? total : mark?.count ?? total,
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
