import TarnHTTP
import TarnInspect
import TarnStore

/// One record and everything that concerns it.
struct RecordAnswer: Encodable {
    struct Referrers: Encodable {
        var relationship: String, count: Int, isCountWhole: Bool
        var records: [FieldText.Target]
    }
    /// The local change of the record as a whole.
    struct Local: Encodable {
        var operation: String, since: String, isGoneAtServer: Bool
        /// The changed fields; empty for all.
        var fields: [String]
        /// The server's values, from later responses, of fields that kept their local value.
        var server: [FieldText]
    }
    struct Listing: Encodable { var request: String, validatedAt: String?, index: Int? }
    struct Change: Encodable { var sequence: String, operation: String, fields: [String] }
    struct Row: Encodable {
        var version: String, checksum: String, isChecksumRight: Bool, compression: String
        var storedSize: Int, wholeSize: Int?, isPartial: Bool
    }

    var entity: String, key: String
    var isStored: Bool, isChangedLocally: Bool
    /// Whether a damaged page is on the way to the row, or to the mark of local changes. Both may
    /// exist.
    var isUnreadable: Bool, isMarkUnreadable: Bool
    /// The local change; nil if there is none, or if its mark is unreadable.
    var local: Local?
    /// The first operations of the outbox that change it, and whether there may be others.
    var operations: [OperationAnswer], mayHaveMoreOperations: Bool
    var damage: String?
    var row: Row?
    var fields: [FieldText]
    var referrers: [Referrers]
    /// The oldest responses that list it, and whether others do.
    var listings: [Listing], hasMoreListings: Bool
    /// The newest changes, and whether the searched part of the log has others.
    var changes: [Change], hasMoreChanges: Bool
    /// Whether the whole change log was searched for them, or as much as they needed.
    var isLogWhole: Bool
    var missingIndexEntries: [String]
    /// The indexes with a damaged page on the way to the record's entry, which may exist.
    var unreadableIndexEntries: [String]

    /// - Parameters:
    ///   - found: The record, looked up with a higher limit.
    ///   - limit: The most referrers of each relationship, responses and changes.
    init(_ found: RecordInspection, limit: Int, _ catalog: Catalog) {
        let entity = catalog.entity(found.record?.entity ?? found.entity)
        self.entity = found.entity
        key = found.key.description
        (isStored, isChangedLocally, damage) = (found.isStored, found.isChangedLocally, found.damage)
        (isUnreadable, isMarkUnreadable) = (found.isUnreadable, found.isMarkUnreadable)
        row = found.header.map {
            Row(
                version: String($0.version), checksum: RecordInspection.hexadecimal($0.checksum),
                isChecksumRight: $0.isChecksumRight, compression: $0.compression, storedSize: $0.storedSize,
                wholeSize: $0.wholeSize, isPartial: $0.isPartial)
        }
        fields = found.record?.fields.map { FieldText($0, entity, catalog, found.targets) } ?? []
        local = found.localChange.map { change in
            Local(
                operation: change.operation.rawValue, since: change.since.description,
                isGoneAtServer: change.isGoneAtServer, fields: change.fields,
                server: change.server.map {
                    FieldText($0, catalog.entity(change.entity), catalog, longest: 200, most: 3, found.targets)
                })
        }
        operations = found.operations.prefix(limit).map { OperationAnswer($0, .short, found.targets, catalog) }
        mayHaveMoreOperations = found.mayHaveMoreOperations || found.operations.count > limit
        referrers = found.referrers.map { referrers in
            let owner = String(referrers.relationship.prefix { $0 != "." })
            return Referrers(
                relationship: referrers.relationship, count: referrers.count, isCountWhole: referrers.isCountWhole,
                records: zip(referrers.keys, referrers.storageKeys).prefix(limit).map {
                    FieldText.Target(entity: owner, key: $0, id: Hexadecimal.text($1))
                })
        }
        (hasMoreListings, hasMoreChanges) = (found.listings.count > limit, found.changes.count > limit)
        listings = found.listings.prefix(limit).map { listing in
            Listing(
                request: listing.request.map { "\($0.method) \(Redaction.url($0.url))" }
                    ?? "response \(listing.response), unreadable",
                validatedAt: listing.validatedAt?.description, index: listing.index)
        }
        changes = found.changes.prefix(limit).map {
            Change(sequence: String($0.sequence), operation: $0.operation, fields: $0.fields?.map(\.name) ?? [])
        }
        isLogWhole = found.isLogWhole
        missingIndexEntries = found.indexEntries.filter { !$0.isPresent && !$0.isUnreadable && !$0.isBuilding }.map(
            \.index)
        unreadableIndexEntries = found.indexEntries.filter(\.isUnreadable).map(\.index)
    }
}
