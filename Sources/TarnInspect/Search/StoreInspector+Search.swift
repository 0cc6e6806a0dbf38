// The search for a text in all records.

import TarnStore

/// The options of a search.
package struct SearchOptions: Sendable {
    /// Only records of this entity and of those below it; nil for all.
    package var entity: String?
    /// Only these fields; nil for all.
    package var fields: Set<String>?
    /// Whether case is ignored, by Unicode's full case folding.
    package var ignoresCase = false
    /// The most matching fields.
    package var limit = Int.max
    /// The way to read the rows.
    package var reading = Reading.onTwoThreads

    /// The ways to read the rows of a large table. The result is the same.
    package enum Reading: Sendable, CaseIterable {
        /// Every leaf is looked at in the order of the keys.
        case plain
        /// Leaves without the text are passed over; see `LeafFilter`.
        case filtered
        /// A second thread reads ahead.
        case onTwoThreads
    }

    package init() {}
}

/// The result of a search.
package struct SearchSummary: Sendable {
    /// The number of records with a match.
    package var records = 0
    /// The number of fields with a match.
    package var fields = 0
    /// The reason why no read transaction held the state; nil if one did.
    package var aloneBecause: String?
}

extension StoreInspector {
    /// Calls `match` with every field whose value has a text, entity by entity, in key order.
    ///
    /// A row is decoded only if its bytes may have the text. Damaged rows are reported to
    /// `damaged`, and the search continues.
    ///
    /// - Parameter text: The text; it must not be empty.
    /// - Throws: The error of `match`; `StoreError.unknownEntity`, `.unknownField`, and of all
    ///   entities `RecordSelectionError.unknownField`; otherwise as
    ///   ``dumpRecords(of:withVersions:line:damaged:)``.
    package func search(
        for text: String, _ options: SearchOptions = SearchOptions(), progress: ((Progress) -> Void)? = nil,
        damaged: (Damage) -> Void, match: (SearchMatch) throws -> Void
    ) throws -> SearchSummary {
        guard !text.isEmpty else { return SearchSummary() }
        return try open(progress: progress) { file in
            try checkIsReadable(file)
            let entities = try file.entities(named: options.entity)
            try StoreInspector.check(options.fields, entities, file.catalog)
            let search = RecordSearch(file, TextPattern(text, ignoresCase: options.ignoresCase), options)
            do {
                for entity in entities { try search.run(entity, damaged: damaged, match: match) }
            } catch is RecordSearch.Finished {}
            file.reportFindings(to: damaged)
            search.summary.aloneBecause = file.aloneBecause
            return search.summary
        }
    }

    /// Checks that each field is one of an entity or of those below it.
    private static func check(_ fields: Set<String>?, _ entities: [Catalog.Entity], _ catalog: Catalog) throws {
        guard let fields else { return }
        let all = catalog.entities.filter { entity in entities.contains { catalog.isKind(entity.id, of: $0.id) } }
        let known = Set(all.flatMap { $0.fields.map(\.name) })
        guard let unknown = fields.sorted().first(where: { !known.contains($0) && !$0.hasPrefix("#") }) else { return }
        guard entities.count == 1 else {
            throw RecordSelectionError.unknownField(name: unknown, known: known.sorted())
        }
        throw StoreError.unknownField(entity: entities[0].name, name: unknown, known: known.sorted())
    }
}

/// A search through the rows of one file.
private final class RecordSearch {
    /// The end of the search at its limit.
    struct Finished: Error {}

    private let file: StoreFile
    private let pattern: TextPattern
    private let options: SearchOptions
    var summary = SearchSummary()

    init(_ file: StoreFile, _ pattern: TextPattern, _ options: SearchOptions) {
        (self.file, self.pattern, self.options) = (file, pattern, options)
    }

    func run(
        _ entity: Catalog.Entity, damaged: (StoreInspector.Damage) -> Void, match: (SearchMatch) throws -> Void
    ) throws {
        let hasReferences = file.catalog.entities.contains { other in
            other.root == entity.root
                && other.fields.contains { if case .reference = $0.kind { true } else { false } }
        }
        guard options.limit > 0 else { return }
        let question = RowQuestion(file, entity, pattern, hasReferences: hasReferences)
        let record = options.reading == .plain ? nil : file.snapshot.tables[TableName.records(entity.root)]
        let filter = record.flatMap { record in
            LeafFilter(file, record, inParallel: options.reading == .onTwoThreads) {
                RowQuestion($0, entity, pattern, hasReferences: hasReferences)
            }
        }
        if let filter { file.scan.passed = filter.answer }
        defer {
            file.scan.passed = nil
            filter?.stop()
        }
        try file.forEachRow(of: entity, damaged: damaged) { key, row in
            try file.withDecoded(row, key, entity, damaged: damaged) { decoded in
                guard try question.mayMatch(decoded) else { return }
                guard let record = try? file.record(entity, key, decoded) else {
                    return damaged(file.damage(key, entity, "undecodable value"))
                }
                try visit(record, match)
            }
        }
    }

    private func visit(_ record: Record, _ match: (SearchMatch) throws -> Void) throws {
        var isCounted = false
        for field in record.fields where options.fields?.contains(field.name) ?? true {
            guard let (text, range) = field.value.firstMatch(pattern) else { continue }
            if !isCounted { summary.records += 1 }
            isCounted = true
            summary.fields += 1
            try match(
                SearchMatch(entity: record.entity, key: record.key, field: field.name, text: text, range: range))
            if summary.fields >= options.limit { throw Finished() }
        }
    }
}
