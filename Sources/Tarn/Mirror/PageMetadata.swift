// What a stored answer keeps for the page after it, beside its header fields: a page that is answered 304 has no body to ask.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

/// The metadata of a response's entry.
struct PageMetadata: Codable {
    private var values: [String: String]?
    /// Last, smallest and largest.
    private var records: [String]?
    /// What the endpoint wants to keep, as JSON.
    private var kept: [String: String]?

    /// Nil if there is nothing to keep.
    init?(_ facts: DocumentFacts, _ wants: PageWants, _ names: [Endpoint.Metadata] = []) {
        let own = zip(names, facts.documents).compactMap { metadata, text in text.map { (metadata.name, $0) } }
        kept = own.isEmpty ? nil : Dictionary(own) { first, _ in first }
        let found = zip(wants.values, facts.values).compactMap { path, value in value.map { (path, $0) } }
        values = found.isEmpty ? nil : Dictionary(found) { first, _ in first }
        records = PageFacts.RecordValues(facts.records).map { [$0.last, $0.smallest, $0.largest] }
        if values == nil, records == nil, kept == nil { return nil }
    }

    var text: String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// What an endpoint wanted to keep, as JSON by its name.
    static func kept(_ text: String?) -> [String: String] {
        guard let text, let metadata = try? JSONDecoder().decode(PageMetadata.self, from: Data(text.utf8)) else { return [:] }
        return metadata.kept ?? [:]
    }

    static func facts(_ text: String?) -> (values: [String: String], records: PageFacts.RecordValues?) {
        guard let text, let metadata = try? JSONDecoder().decode(PageMetadata.self, from: Data(text.utf8)) else { return ([:], nil) }
        let records = metadata.records ?? []
        return (
            metadata.values ?? [:],
            records.count == 3 ? PageFacts.RecordValues(last: records[0], smallest: records[1], largest: records[2]) : nil
        )
    }
}

extension ResponseEntry {
    /// What the page says about its successor, now or when it was answered last.
    var pageFacts: PageFacts {
        let (values, records) = PageMetadata.facts(metadata)
        var digest: Int?
        if skipped == 0, count > 0, listed.count == count {
            var hasher = Hasher()
            for record in listed { hasher.combine(record) }
            digest = hasher.finalize()
        }
        return PageFacts(headers: HTTPHeaders(flat: headers), recordCount: count, values: values, records: records, digest: digest)
    }
}

extension HTTPHeaders {
    /// Fields that a later request or page needs: validators, links, freshness.
    private static let keptNames = [
        "ETag", "Last-Modified", "Link", "Cache-Control", "Expires", "Date", "Age", "Vary", "Content-Type",
    ]

    /// The fields that are kept of a response, as a flat list.
    func kept(also others: [String]) -> [String] {
        let names = Set((HTTPHeaders.keptNames + others).map { $0.lowercased() })
        return fields.filter { names.contains($0.name.lowercased()) }.flatMap { [$0.name, $0.value] }
    }

    init(flat: [String]) {
        self.init(stride(from: 0, to: flat.count - 1, by: 2).map { Field(flat[$0], flat[$0 + 1]) })
    }
}
