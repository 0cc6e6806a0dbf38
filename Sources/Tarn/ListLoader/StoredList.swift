// The durable part of a list: an entry of the store with the keys of its pages, in their order.

import Foundation
import TarnStore

/// A list as the store keeps it: the listed records in order, page by page, and its edges.
///
/// It is an entry beside those of its pages, which a cache may evict. Like them, it names records
/// by their keys. A record that is deleted locally keeps its place: a rollback brings it back.
struct StoredList: Sendable {
    /// A page's place in the list of the server.
    struct Position: Codable, Sendable, Hashable {
        /// The position as a page sequence writes it.
        var text: String
        /// The ordinal of the page, counted from 1.
        var ordinal: Int
        /// The number of records on the pages before it.
        var listed: Int
        /// The reason why the page cannot be requested; nil if it can.
        var problem: String?
    }

    /// A page of the list.
    struct Page: Sendable {
        var position: Position
        /// The records of the page; one that a newer page lists, too, belongs to that one.
        var records: [ListedRecord]
    }

    var pages: [Page] = []
    var next: Position?
    var previous: Position?
    /// The reason why there is no page before the list.
    var noPrevious: String?
    /// Whether the list begins with the first page of its request.
    var isFromStart = true
    /// Whether elements without a usable key, or a limit, leave records unknown.
    var hasUnknown = false
    /// A random number that each change of the list replaces: none comes twice.
    var revision = 0
    /// A random number that each load replaces by which the list was loaded anew.
    var generation = 0
    /// Whether the list was loaded. If not, the entry only has the records that pages have brought.
    var isLoaded = true
    /// A digest of the request's additions to the mapping; nil if it is unknown.
    var variant: String?
    var loadedAt: Timestamp
    /// Records that the list or a page of it had, and that its pages lack.
    var earlier: [ListedRecord] = []
    /// Records that the list had, and that the complete list of the server lacks.
    var dropped: [ListedRecord] = []

    /// The method in the key of the entry: no request has it.
    static let method = "LIST"
    /// The largest number of earlier records: older ones are forgotten.
    static let mostEarlier = 10_000

    init(loadedAt: Timestamp) { self.loadedAt = loadedAt }

    static func random() -> Int { Int.random(in: 1..<1 << 53) }

    /// The listed records, in order.
    var records: [ListedRecord] { pages.flatMap(\.records) }

    /// Whether the list is all that the server lists.
    var isComplete: Bool { isFromStart && next == nil && !hasUnknown }

    // MARK: Changes

    /// Adds a page after the list. Records that it lists, too, move there: it is newer.
    mutating func append(_ page: Page) {
        remove(page.records)
        pages.append(page)
    }

    /// Adds a page before the list.
    mutating func prepend(_ page: Page) {
        remove(page.records)
        pages.insert(page, at: 0)
    }

    private mutating func remove(_ records: [ListedRecord]) {
        let listed = Set(records)
        for index in pages.indices { pages[index].records.removeAll { listed.contains($0) } }
    }

    /// Notes the records of a page that is not in the list yet, and may never be.
    ///
    /// - Returns: whether the list did not know them all.
    mutating func note(_ page: [ListedRecord]) -> Bool {
        var known = Set(records).union(earlier)
        let new = page.filter { known.insert($0).inserted }
        guard !new.isEmpty else { return false }
        earlier += new
        // The server has them again.
        dropped.removeAll { known.contains($0) }
        return true
    }

    /// The records that the list has or had, so far as the server may still have them.
    var known: Set<ListedRecord> { Set(records).union(earlier) }

    /// Notes the records that the list lacks since it was loaded.
    ///
    /// - Parameters:
    ///   - old: the list as it is stored.
    ///   - judged: the records that the server has dropped if the list lacks them; nil if it is not
    ///     all that the server had at one time.
    ///   - isStored: whether a record is stored; others are forgotten.
    mutating func noteLack(
        since old: StoredList?, judging judged: Set<ListedRecord>?, isStored: (ListedRecord) throws -> Bool
    ) rethrows {
        let listed = Set(records)
        var known = Set<ListedRecord>()
        let candidates = ((old?.earlier ?? []) + (old?.records ?? [])).filter {
            !listed.contains($0) && known.insert($0).inserted
        }
        var gone = (old?.dropped ?? []).filter { !listed.contains($0) && !known.contains($0) }
        earlier = candidates
        if let judged {
            gone += candidates.filter(judged.contains)
            earlier.removeAll(where: judged.contains)
        }
        earlier = Array(try earlier.filter(isStored).suffix(StoredList.mostEarlier))
        dropped = try gone.filter(isStored)
    }

    // MARK: The entry

    /// The part of the entry that is stored as JSON.
    private struct Metadata: Codable {
        var pages: [Position]
        var counts: [Int]
        var next: Position?
        var previous: Position?
        var noPrevious: String?
        var isFromStart: Bool
        var hasUnknown: Bool
        var revision: Int
        var generation: Int?
        var isLoaded: Bool?
        var variant: String?
        /// Entity and storage key of each record: in lists written before there were generations.
        var earlier: [String]?
        var dropped: [String]?
        /// The same as bytes in base64, which are read faster.
        var earlierKeys: Data?
        var droppedKeys: Data?
    }

    /// The entry of the list.
    func entry(_ key: RequestKey) throws -> ResponseEntry {
        let metadata = Metadata(
            pages: pages.map(\.position), counts: pages.map(\.records.count), next: next, previous: previous,
            noPrevious: noPrevious, isFromStart: isFromStart, hasUnknown: hasUnknown, revision: revision,
            generation: generation, isLoaded: isLoaded ? nil : false, variant: variant,
            earlierKeys: ListedRecord.data(of: earlier), droppedKeys: ListedRecord.data(of: dropped))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let records = records
        return ResponseEntry(
            request: key, validation: .init(status: 200, fetchedAt: loadedAt, validatedAt: loadedAt),
            listing: .init(
                records, count: records.count, metadata: String(decoding: try encoder.encode(metadata), as: UTF8.self),
                identity: ResponseEntry.Listing.listIdentity + key.endpoint))
    }

    /// Reads the entry of a list; nil if it is damaged or of another version: it is loaded anew.
    init?(_ entry: ResponseEntry) {
        guard let text = entry.listing.metadata,
            let metadata = try? JSONDecoder().decode(Metadata.self, from: Data(text.utf8)),
            metadata.pages.count == metadata.counts.count
        else { return nil }
        var rest = entry.listing.listed[...]
        for (position, count) in zip(metadata.pages, metadata.counts) {
            guard count >= 0, count <= rest.count else { return nil }
            pages.append(Page(position: position, records: Array(rest.prefix(count))))
            rest = rest.dropFirst(count)
        }
        (next, previous, noPrevious) = (metadata.next, metadata.previous, metadata.noPrevious)
        (isFromStart, hasUnknown, revision) = (metadata.isFromStart, metadata.hasUnknown, metadata.revision)
        (generation, isLoaded, variant) = (metadata.generation ?? 0, metadata.isLoaded ?? true, metadata.variant)
        loadedAt = entry.validation.validatedAt
        earlier = ListedRecord.records(metadata.earlierKeys, metadata.earlier)
        dropped = ListedRecord.records(metadata.droppedKeys, metadata.dropped)
    }
}

extension ListedRecord {
    /// Records as bytes: of each the entity and the length of the storage key, with two bytes
    /// each, and the key; nil without records.
    fileprivate static func data(of records: [ListedRecord]) -> Data? {
        guard !records.isEmpty else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(records.reduce(0) { $0 + 4 + $1.storageKey.count })
        for record in records {
            let count = UInt16(clamping: record.storageKey.count)
            bytes.append(UInt8(record.entity >> 8))
            bytes.append(UInt8(record.entity & 0xFF))
            bytes.append(UInt8(count >> 8))
            bytes.append(UInt8(count & 0xFF))
            bytes.append(contentsOf: record.storageKey)
        }
        return Data(bytes)
    }

    /// Reads records, up to the first that is damaged.
    fileprivate static func records(_ data: Data?, _ texts: [String]?) -> [ListedRecord] {
        guard let data else { return (texts ?? []).compactMap(ListedRecord.init(text:)) }
        let bytes = Array(data)
        var records: [ListedRecord] = [], start = 0
        while start + 4 <= bytes.count {
            let entity = UInt16(bytes[start]) << 8 | UInt16(bytes[start + 1])
            let end = start + 4 + (Int(bytes[start + 2]) << 8 | Int(bytes[start + 3]))
            guard end <= bytes.count else { break }
            records.append(ListedRecord(entity: entity, storageKey: Array(bytes[(start + 4)..<end])))
            start = end
        }
        return records
    }

    fileprivate init?(text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let entity = UInt16(parts[0]), let key = Data(base64Encoded: String(parts[1])) else {
            return nil
        }
        self.init(entity: entity, storageKey: Array(key))
    }
}
