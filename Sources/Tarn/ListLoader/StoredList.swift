// The durable part of a list: an entry of the store with the keys of its pages, in their order.

import Foundation
import TarnHTTP
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
    /// The number of changes of the list, by any process.
    var revision = 0
    var loadedAt: Timestamp
    /// Records that the list had before it was loaded anew, and that its pages so far lack.
    var earlier: [ListedRecord] = []
    /// Records that the list had, and that the complete list of the server lacks.
    var dropped: [ListedRecord] = []

    init(loadedAt: Timestamp) { self.loadedAt = loadedAt }

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

    /// Notes the records that the list lacks since it was loaded.
    ///
    /// - Parameters:
    ///   - old: the list before the load.
    ///   - isStored: whether a record is stored; others are forgotten.
    mutating func noteLack(since old: StoredList?, isStored: (ListedRecord) throws -> Bool) rethrows {
        let listed = Set(records)
        var known = Set<ListedRecord>()
        let candidates = ((old?.earlier ?? []) + (old?.records ?? [])).filter {
            !listed.contains($0) && known.insert($0).inserted
        }
        var gone = (old?.dropped ?? []).filter { !listed.contains($0) && !known.contains($0) }
        earlier = candidates
        if isComplete {
            gone += candidates
            earlier = []
        }
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
        /// Entity and storage key.
        var earlier: [String]
        var dropped: [String]
    }

    /// The entry of the list.
    func entry(_ key: RequestKey) throws -> ResponseEntry {
        let metadata = Metadata(
            pages: pages.map(\.position), counts: pages.map(\.records.count), next: next, previous: previous,
            noPrevious: noPrevious, isFromStart: isFromStart, hasUnknown: hasUnknown, revision: revision,
            earlier: earlier.map(\.text), dropped: dropped.map(\.text))
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
        loadedAt = entry.validation.validatedAt
        earlier = metadata.earlier.compactMap(ListedRecord.init(text:))
        dropped = metadata.dropped.compactMap(ListedRecord.init(text:))
    }
}

extension ListedRecord {
    /// The entity and the storage key as text.
    fileprivate var text: String { "\(entity) " + Data(storageKey).base64EncodedString() }

    fileprivate init?(text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let entity = UInt16(parts[0]), let key = Data(base64Encoded: String(parts[1])) else {
            return nil
        }
        self.init(entity: entity, storageKey: Array(key))
    }
}
