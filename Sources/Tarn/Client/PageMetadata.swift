// The facts that a stored response keeps for pagination: a 304 has no body to read them from.

import TarnHTTP
import TarnImport
import TarnStore

/// The metadata of a response's entry, stored as JSON.
package struct PageMetadata {
    private var values: [String: String]?
    /// The last, the smallest and the largest value of the page's records.
    private var records: [String]?
    /// The numbers of records with a list that the server has cut off, by its flag.
    private var cutLists: [String: Int]
    /// The smallest and the largest value by which changes are requested.
    private var least: String?, increment: String?
    /// The number of elements of the first of several lists, which pagination counts.
    private var firstCount: Int?
    /// A digest of the elements of the page, if some of them are not listed.
    private var read: UInt64?
    /// The metadata that the endpoint declares, as JSON.
    private var kept: [String: String]?

    /// Creates the metadata of a page; nil if there is nothing to keep.
    init?(
        _ facts: DocumentFacts, _ wants: PageWants, _ names: [Endpoint.Metadata] = [],
        _ increments: IncrementalValues? = nil, firstCount: Int? = nil, read: UInt64? = nil
    ) {
        self.firstCount = firstCount
        self.read = read
        cutLists = facts.cutLists
        least = increments?.smallest(facts.increments)
        increment = increments?.largest(facts.increments)
        let own = zip(names, facts.documents).compactMap { metadata, text in text.map { (metadata.name, $0) } }
        kept = own.isEmpty ? nil : Dictionary(own) { first, _ in first }
        let found =
            wants.values.indices.compactMap { index -> (String, String)? in
                guard index < facts.values.count else { return nil }
                let path = wants.values[index]
                if let value = facts.values[index] { return (path, value) }
                guard wants.scalars.contains(path) else { return nil }
                // The documents are those of the metadata, and then those of composites.
                let composite = wants.composites.firstIndex(of: path).map { names.count + $0 }
                return PageMetadata.container(facts, index, composite).map { (path, $0) }
            }
            + facts.members.filter { PageEvidence.isOfEnvelope($0.path) }.map { ($0.path, $0.text) }
        values = found.isEmpty ? nil : Dictionary(found) { first, _ in first }
        records = PageFacts.RecordValues(facts.records).map { [$0.last, $0.smallest, $0.largest] }
        if values == nil, records == nil, kept == nil, increment == nil, firstCount == nil, read == nil,
            cutLists.isEmpty
        {
            return nil
        }
    }

    /// A digest of the names of the signs of further pages that this version looks for, and of
    /// lists in records that are cut off (`cut`).
    ///
    /// An entry of a version with fewer signs may lack some that its body had, and a 304 would
    /// confirm it without them.
    static let signs: String = {
        let names = PageEvidence.memberNames
        let lists = [PageEvidence.fields, names.scalars, names.nested, names.objects, names.open]
        // The names of a table are in no order.
        let text = (["cut"] + lists.map { $0.sorted().joined(separator: " ") }).joined(separator: "\n")
        return String(SHA256.shortHexadecimal(text).prefix(8))
    }()

    /// Returns the value of an object or a list for pagination; nil for one without values.
    ///
    /// - Parameters:
    ///   - index: the position of the value.
    ///   - composite: its position among the documents, if it may be an object or a list.
    private static func container(_ facts: DocumentFacts, _ index: Int, _ composite: Int?) -> String? {
        let isContainer = facts.containers.contains(index)
        guard let composite, facts.documents.indices.contains(composite), let text = facts.documents[composite],
            text.utf8.count <= PageSequence.linkLimit
        else { return isContainer ? PageFacts.container : nil }
        // The sort values of a record may all be null.
        let isList = text.hasPrefix("[") && text != "[]"
        return isContainer || isList ? PageFacts.json + text : nil
    }

    /// The metadata that an endpoint declares, in the stored metadata of a response: JSON by name.
    package static func declared(in text: String?) -> [String: String] { read(text).kept }

    /// The metadata as a JSON object: members without a value are left out.
    var text: String {
        var text = "{"
        func begin(_ name: String) {
            text += text.utf8.count == 1 ? "\"" : ",\""
            text += name
            text += "\":"
        }
        func append(_ values: [String: String]) {
            var separator = "{"
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                text += separator
                text.appendJSONString(key)
                text += ":"
                text.appendJSONString(value)
                separator = ","
            }
            text += "}"
        }
        if !cutLists.isEmpty {
            begin("cut")
            append(cutLists.mapValues(String.init))
        }
        if let firstCount {
            begin("first")
            text.appendJSONString(String(firstCount))
        }
        if let increment {
            begin("increment")
            text.appendJSONString(increment)
        }
        if let kept {
            begin("kept")
            append(kept)
        }
        if let least {
            begin("least")
            text.appendJSONString(least)
        }
        if let read {
            begin("read")
            text.appendJSONString(String(read))
        }
        if let records {
            begin("records")
            for (index, value) in records.enumerated() {
                text += index == 0 ? "[" : ","
                text.appendJSONString(value)
            }
            text += "]"
        }
        if let values {
            begin("values")
            append(values)
        }
        return text + "}"
    }

    /// Decodes a text of ``text``.
    ///
    /// - Returns: the values and record values for pagination, the endpoint's metadata as JSON, by
    ///   name, the number of elements of the first of several lists, and the digest of a page with
    ///   elements that are not listed.
    static func read(_ text: String?) -> (
        values: [String: String], records: PageFacts.RecordValues?, kept: [String: String], firstCount: Int?,
        digest: UInt64?
    ) {
        guard let metadata = text.flatMap({ JSONBody(parsing: $0) }) else { return ([:], nil, [:], nil, nil) }
        var firstCount: Int?, digest: UInt64?
        if case .string(let text)? = metadata[["first"]] { firstCount = Int(text) }
        if case .string(let text)? = metadata[["read"]] { digest = UInt64(text) }
        var records: [String] = []
        if case .array(let values)? = metadata[["records"]] {
            records = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
        }
        return (
            texts(metadata[["values"]]),
            records.count == 3
                ? PageFacts.RecordValues(last: records[0], smallest: records[1], largest: records[2]) : nil,
            texts(metadata[["kept"]]), firstCount, digest
        )
    }

    /// The numbers of a page's records with a list that the server has cut off, by its flag, in a
    /// text of ``text``.
    static func cutLists(_ text: String?) -> [String: Int] {
        guard let text, text.hasPrefix("{\"cut\":"), let metadata = JSONBody(parsing: text) else { return [:] }
        return texts(metadata[["cut"]]).compactMapValues { Int($0) }.filter { 1...Int(Int32.max) ~= $0.value }
    }

    /// The largest value by which changes are requested, in a text of ``text``.
    static func increment(_ text: String?) -> String? { member("increment", of: text) }

    /// The smallest value by which changes are requested, in a text of ``text``.
    static func least(_ text: String?) -> String? { member("least", of: text) }

    private static func member(_ name: String, of text: String?) -> String? {
        guard let metadata = text.flatMap({ JSONBody(parsing: $0) }), case .string(let value)? = metadata[[name]]
        else { return nil }
        return value
    }

    private static func texts(_ value: JSONBody?) -> [String: String] {
        guard case .object(let members)? = value else { return [:] }
        let texts = members.compactMap { member -> (String, String)? in
            if case .string(let text) = member.value { (member.key, text) } else { nil }
        }
        return Dictionary(texts) { _, last in last }
    }

    /// A hash that is equal for pages that list the same records in the same order.
    ///
    /// - Parameter read: the stored digest of a page with elements that are not listed.
    /// - Returns: nil if not all elements of the page are known.
    static func digest(_ read: UInt64?, of listed: [ListedRecord], count: Int, skipped: Int) -> Int? {
        if let read { return Int(truncatingIfNeeded: read) }
        guard skipped == 0, count > 0, listed.count == count else { return nil }
        var hasher = Hasher()
        for record in listed { hasher.combine(record) }
        return hasher.finalize()
    }
}

extension ResponseEntry {
    /// The facts from which pagination finds the next page, fresh or stored.
    var pageFacts: PageFacts {
        let metadata = PageMetadata.read(listing.metadata), count = metadata.firstCount ?? listing.count
        var facts = PageFacts(
            headers: TransportHeaders(flat: validation.headers), recordCount: count, values: metadata.values,
            records: metadata.records,
            digest: PageMetadata.digest(
                metadata.digest, of: listing.listed, count: listing.count, skipped: listing.skipped))
        facts.otherRecords = listing.count - count
        return facts
    }
}

extension TransportHeaders {
    /// The fields that a later request or page needs: validators, links, freshness.
    private static let keptNames = [
        "ETag", "Last-Modified", "Link", "Cache-Control", "Expires", "Date", "Age", "Vary", "Content-Type",
    ]

    /// The names by their lengths.
    private static let keptByLength = Dictionary(grouping: keptNames + PageEvidence.fields) { $0.utf8.count }

    private static func isKept(_ name: String) -> Bool {
        keptByLength[name.utf8.count]?.contains { same($0, name) } ?? false
    }

    /// The fields of a response that are stored, as a flat list.
    func kept(also others: [String]) -> [String] {
        var kept: [String] = []
        for field in fields {
            guard
                TransportHeaders.isKept(field.name) || others.contains(where: { TransportHeaders.same($0, field.name) })
            else { continue }
            kept.append(field.name)
            kept.append(field.value)
        }
        return kept
    }

    init(flat: [String]) {
        self.init(stride(from: 0, to: flat.count - 1, by: 2).map { Field(flat[$0], flat[$0 + 1]) })
    }
}
