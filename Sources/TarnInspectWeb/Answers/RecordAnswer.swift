import TarnHTTP
import TarnInspect
import TarnStore

/// One record and everything that concerns it.
struct RecordAnswer: Encodable {
    struct Referrers: Encodable {
        var relationship: String, count: Int, isCountWhole: Bool
        var records: [FieldText.Target]
    }
    struct Listing: Encodable { var request: String, validatedAt: String?, index: Int? }
    struct Change: Encodable { var sequence: String, operation: String, fields: [String] }
    struct Row: Encodable {
        var version: String, checksum: String, isChecksumRight: Bool, compression: String
        var storedSize: Int, wholeSize: Int?, isPartial: Bool
    }

    var entity: String, key: String
    var isStored: Bool, isChangedLocally: Bool
    var damage: String?
    var row: Row?
    var fields: [FieldText]
    var referrers: [Referrers]
    var listings: [Listing]
    var changes: [Change]
    /// Whether the whole change log was searched for them, or as much as they needed.
    var isLogWhole: Bool
    var missingIndexEntries: [String]

    init(_ found: RecordInspection, _ catalog: Catalog) {
        let entity = catalog.entity(found.record?.entity ?? found.entity)
        self.entity = found.entity
        key = found.key.description
        (isStored, isChangedLocally, damage) = (found.isStored, found.isChangedLocally, found.damage)
        row = found.header.map {
            Row(
                version: String($0.version), checksum: String($0.checksum, radix: 16),
                isChecksumRight: $0.isChecksumRight, compression: $0.compression, storedSize: $0.storedSize,
                wholeSize: $0.wholeSize, isPartial: $0.isPartial)
        }
        fields = found.record?.fields.map { FieldText($0, entity, catalog) } ?? []
        referrers = found.referrers.map { referrers in
            let owner = String(referrers.relationship.prefix { $0 != "." })
            return Referrers(
                relationship: referrers.relationship, count: referrers.count, isCountWhole: referrers.isCountWhole,
                records: zip(referrers.keys, referrers.storageKeys).map {
                    FieldText.Target(entity: owner, key: $0, id: Hexadecimal.text($1))
                })
        }
        listings = found.listings.map { listing in
            Listing(
                request: listing.request.map { "\($0.method) \(Redaction.url($0.url))" }
                    ?? "response \(listing.response), unreadable",
                validatedAt: listing.validatedAt?.description, index: listing.index)
        }
        changes = found.changes.map {
            Change(sequence: String($0.sequence), operation: $0.operation, fields: $0.fields?.map(\.name) ?? [])
        }
        isLogWhole = found.isLogWhole
        missingIndexEntries = found.indexEntries.filter { !$0.isPresent && !$0.isUnreadable && !$0.isBuilding }.map(
            \.index)
    }
}
