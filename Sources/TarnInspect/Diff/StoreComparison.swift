// The merge of the record tables of two files, in key order.

import TarnStore

/// The state of a comparison of two stores. For one run.
final class StoreComparison {
    let first: StoreFile
    let second: StoreFile
    private var counts: [String: StoreDifferences.Entity] = [:]
    private var order: [String] = []
    private var isComplete = true

    init(_ first: StoreFile, _ second: StoreFile) {
        (self.first, self.second) = (first, second)
        for entity in first.catalog.entities + second.catalog.entities where counts[entity.name] == nil {
            counts[entity.name] = StoreDifferences.Entity(name: entity.name)
            order.append(entity.name)
        }
    }

    /// The closures that a run reports to.
    struct Reports {
        let difference: (RecordDifference) throws -> Void
        let damaged: (Int, StoreInspector.Damage) -> Void
        let progress: () -> Void
    }

    func run(
        of name: String?, progress: ((StoreInspector.Progress) -> Void)?,
        difference: (RecordDifference) throws -> Void, damaged: (Int, StoreInspector.Damage) -> Void
    ) throws -> StoreDifferences {
        try withoutActuallyEscaping(difference) { difference in
            try withoutActuallyEscaping(damaged) { damaged in
                let reports = Reports(difference: difference, damaged: damaged) { [self] in report(progress) }
                for root in roots(of: name) { try compare(root, of: name, reports) }
                reportFindings(reports)
            }
        }
        return StoreDifferences(
            entities: order.compactMap { counts[$0] }.filter { isWanted($0.name, name) },
            schema: SchemaDifference.all(between: first.catalog, and: second.catalog).filter { part in
                isWanted(String(part.path.prefix { $0 != "." && $0 != " " }), name)
            },
            isComplete: isComplete, aloneBecause: [first.aloneBecause, second.aloneBecause])
    }

    private func report(_ progress: ((StoreInspector.Progress) -> Void)?) {
        guard let progress else { return }
        let files = [first, second].map(\.snapshot)
        let all = files.reduce(0) { $0 + Int(clamping: min($1.meta.lastPage, $1.file.pageCount) / 2) }
        progress(StoreInspector.Progress(pages: files.reduce(0) { $0 + $1.file.readCount / 2 }, total: all))
    }

    /// Returns whether an entity is compared: all are, or one and those below it.
    private func isWanted(_ name: String, _ wanted: String?) -> Bool {
        guard let wanted else { return true }
        return [first.catalog, second.catalog].contains { catalog in
            guard let entity = catalog.entity(name), let parent = catalog.entity(wanted) else { return false }
            return catalog.isKind(entity.id, of: parent.id)
        }
    }

    /// Returns the names of the root entities to compare.
    private func roots(of name: String?) -> [String] {
        var names: [String] = []
        for catalog in [first.catalog, second.catalog] {
            for entity in catalog.entities where entity.root == entity.id && !names.contains(entity.name) {
                guard name.map({ catalog.entity($0)?.root == entity.id }) ?? true else { continue }
                names.append(entity.name)
            }
        }
        return names
    }

    private func reportFindings(_ reports: Reports) {
        for (number, file) in [first, second].enumerated() {
            file.reportFindings { damage in
                isComplete = false
                reports.damaged(number, damage)
            }
        }
    }

    // MARK: - Tables

    private func compare(_ root: String, of name: String?, _ reports: Reports) throws {
        let a = RowSide(0, first, root), b = RowSide(1, second, root)
        let rows = RowComparison(a, b, name)
        a?.advance()
        b?.advance()
        var seen = 0
        while a?.hasEntry ?? false || b?.hasEntry ?? false {
            seen += 1
            if seen % 4096 == 0 { reports.progress() }
            let (result, order) = try rows.compare()
            try take(result, of: name, reports)
            if order <= 0 { a?.advance() }
            if order >= 0 { b?.advance() }
        }
        for (id, count) in rows.sameCounts {
            if let name = first.catalog.entity(id: id)?.name { counts[name]?.same += count }
        }
    }

    private func take(_ result: RowComparison.Result, of name: String?, _ reports: Reports) throws {
        switch result {
        case .same, .left: break
        case .different(let difference):
            switch difference.kind {
            case .added: counts[difference.entity]?.added += 1
            case .removed: counts[difference.entity]?.removed += 1
            case .changed:
                // A record that is no longer of the compared entity is one of its differences.
                let entity = isWanted(difference.entity, name) ? difference.entity : difference.formerEntity
                counts[entity ?? difference.entity]?.changed += 1
            }
            try reports.difference(difference)
        case .damaged(let entity, let store, let damage):
            isComplete = false
            counts[entity]?.unreadable += 1
            reports.damaged(store, damage)
        }
    }
}
