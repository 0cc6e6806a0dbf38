// The imports of the worker. Every document is a function of its number: equal numbers of units
// give equal stores, independent of interruptions.
//
// Unit n is a page of issues with their authors and labels. Most issues are new, some are of the
// previous page, and one is old, so that a unit creates, updates and leaves records unchanged. The
// unit's transaction also has the response's entry and a checkpoint, which counts the units.

import TarnImport
import TarnStore

struct ImportWorkload {
    static let schema = Schema([
        EntityDefinition(
            "Issue", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("title", .string, indexed: true),
                AttributeDefinition("state", .enumeration(["open", "closed"]), optional: true, indexed: true),
                AttributeDefinition("text", .string, optional: true),
                AttributeDefinition("amount", .decimal, optional: true),
            ],
            relationships: [
                RelationshipDefinition("author", to: "User", inverse: "issues"),
                RelationshipDefinition("labels", to: "Label", many: true, ordered: true, inverse: "issues"),
                RelationshipDefinition("mentions", to: "Issue", many: true, inverse: "mentionedBy"),
            ]),
        EntityDefinition(
            "User", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("login", .string, unique: true),
                AttributeDefinition("seen", .int, optional: true),
            ]),
        EntityDefinition("Label", key: ["name"], attributes: [AttributeDefinition("name", .string)]),
    ])
    static let name = "import"
    private static let new = 8

    let store: Store
    private let importer: Importer

    init(_ store: Store) throws {
        self.store = store
        importer = try Importer(Mapping(), store.catalog)
    }

    /// Returns the number of units in a store.
    static func count(_ reader: StoreReader) throws -> Int { try reader.checkpoint(name)?.pages ?? 0 }

    /// Imports a unit.
    func run(_ number: Int) throws {
        importer.discard()
        try ImportWorkload.add(number, to: importer)
        _ = try store.write(alone: true) { writer in
            try importer.commit(into: &writer)
        }
    }

    /// The maximum number of units in progress in ``runAhead(_:to:acknowledged:)``.
    static let depth = 4

    /// Imports units up to a number with a pipeline.
    ///
    /// The pipeline processes several units at a time and lets them share transactions.
    static func runAhead(_ store: Store, to last: Int, acknowledged: (Int) -> Void) async throws {
        let pipeline = try ImportPipeline(Mapping(), store.catalog, depth: depth),
            done = try store.read { try count($0) }
        var reported = done
        for number in done + 1..<max(done, last) + 1 {
            try add(number, to: pipeline.importer)
            while pipeline.isFull, try await pipeline.finish() != nil {
                reported += 1
                acknowledged(reported)
            }
            await pipeline.start(to: store, trains: false)
        }
        while try await pipeline.finish() != nil {
            reported += 1
            acknowledged(reported)
        }
    }

    /// Adds the document of a unit, with its entry and the progress.
    private static func add(_ number: Int, to importer: Importer) throws {
        let added = try importer.add(Array(document(number).utf8), entity: "Issue")
        let time = Timestamp(microseconds: Int64(number))
        let entry = ResponseEntry(
            request: RequestKey(url: "https://api.example.org/issues?page=\(number % 40)", endpoint: name),
            validation: .init(status: 200, headers: ["etag", "\"\(number)\""], fetchedAt: time, validatedAt: time),
            listing: .init(added.listed, count: added.count, scan: 1))
        importer.unit.responses = [entry]
        importer.unit.checkpoints[ExactText(name)] = Checkpoint(
            state: .underWay, plan: "p", nextURL: "\(number + 1)", scan: 1, startedAt: time
        ).counting(pages: number, records: 0)
    }

    static func document(_ number: Int) -> String {
        let first = number * new
        let ids = Array(first..<first + new) + [max(0, first - 2), max(0, first - 1)] + [number * 5 % max(1, first)]
        return "[" + ids.enumerated().map { issue($1, place: $0, number) }.joined(separator: ",") + "]"
    }

    private static func issue(_ id: Int, place: Int, _ number: Int) -> String {
        // Some texts are longer than a page, and one is removed.
        let length = id % 23 == 0 ? 300 : id % 7
        let text =
            place == new ? "null" : "\"\(String(repeating: "text of issue \(id) in unit \(number); ", count: length))\""
        let labels = (0..<(id + number) % 4).map { #"{"name":"label \#((id + $0 * 3) % 11)"}"# }.joined(separator: ",")
        let author = (id + number) % 17
        let mentions = (1...1 + id % 3).map { "\(max(0, id - $0 * number % 13))" }.joined(separator: ",")
        return """
            {"id":\(id),"title":"issue \(id % 37)","state":"\((id + number) % 3 == 0 ? "closed" : "open")","text":\(text),\
            "amount":\(id).\(number % 10)0,"author":{"id":\(author),"login":"user\(author)","seen":\(number)},"labels":[\(labels)],\
            "mentions":[\(mentions)]}
            """
    }
}
