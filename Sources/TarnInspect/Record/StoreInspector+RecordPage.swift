// Some records of an entity at a time, for a reader that pages through them.

import TarnStore

extension StoreInspector {
    /// Reads some records of an entity, as of one snapshot.
    ///
    /// - Parameters:
    ///   - name: The name of the entity.
    ///   - attribute: The attribute that gives the order; nil for the order of keys.
    ///   - after: The position that the page before it names; nil for the beginning.
    ///   - reversed: Whether the order is reversed.
    ///   - limit: The most records.
    ///   - most: The most rows that are read. With a condition that few records meet, the page may
    ///     have fewer records than the limit, or none, and still not be the last.
    ///   - time: The time after which no further row is read; nil for any time.
    ///   - targets: The most targets of each relationship that are looked up.
    ///   - condition: A condition as `tarn list --where` takes it; empty for none.
    ///   - isWanted: A further condition.
    /// - Throws: `RecordSelectionError.noOrder`; `QueryTextError` or `StoreError` for a condition
    ///   that is not valid; otherwise as ``dumpRecords(of:withVersions:line:damaged:)``.
    package func recordPage(
        of name: String, by attribute: String? = nil, after: [UInt8]? = nil, reversed: Bool = false, limit: Int = 50,
        most: Int = 20_000, time: Duration? = nil, targets: Int = 0, condition: String = "",
        where isWanted: (Record) -> Bool = { _ in true }
    ) throws -> RecordPage {
        try open { file in
            try checkIsReadable(file)
            guard let entity = file.catalog.entity(name) else {
                throw StoreError.unknownEntity(name: name, known: file.catalog.entities.map(\.name))
            }
            var order = RecordOrder.key
            if let attribute {
                guard let sorted = RecordOrder(by: attribute, of: entity),
                    sorted.index.map({ file.marks[$0]?.phase != .building }) ?? true
                else {
                    throw RecordSelectionError.noOrder(field: attribute, sorted: RecordOrder.fields(of: entity))
                }
                order = sorted
            }
            let filter =
                condition.isEmpty
                ? nil
                : try RecordFilter(Condition(text: condition, entity: name, catalog: file.catalog), of: entity, file)
            return RecordPageReader(file: file, entity: entity, order: order, filter: filter, targets: targets)
                .page(after: after, reversed: reversed, limit: limit, most: most, time: time, where: isWanted)
        }
    }
}
