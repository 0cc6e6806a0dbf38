import Testing

@testable import TarnImport
@testable import TarnStore

/// A store whose importer recognises bodies, as a mirror does.
final class RecognizingStore {
    static let schema = Schema([
        EntityDefinition(
            "Issue", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("title", .string),
                AttributeDefinition("text", .string, optional: true),
            ],
            relationships: [
                RelationshipDefinition("author", to: "User", inverse: "issues"),
                RelationshipDefinition("labels", to: "Label", many: true, ordered: true),
            ]),
        EntityDefinition(
            "User", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("login", .string),
                AttributeDefinition("name", .string, optional: true),
            ]),
        EntityDefinition(
            "Label", key: ["id"], attributes: [AttributeDefinition("id", .int), AttributeDefinition("name", .string)]),
    ])

    let bed: TestStore
    private var responses: [ResponseEntry] = []
    private(set) var repeatedBodies = 0

    init(_ mapping: Mapping = Mapping(), secret: String = "s") throws {
        bed = try TestStore(RecognizingStore.schema, mapping)
        bed.importer.bodyDigest = KeyedDigest(secret: secret)
    }

    /// Adds a page, whose entry is stored with the unit.
    @discardableResult
    func add(_ page: String, of url: String, position: Int = 0) throws -> Importer.Added {
        let request = RequestKey(url: url, endpoint: "issues")
        let added = try bed.importer.add(
            Array(page.utf8), .list("items", entity: "Issue"), context: ImportContext(firstPosition: position),
            asking: DocumentQuestions(), known: bed.store.read { try $0.response(to: request) })
        if added.isRepeated { repeatedBodies += 1 }
        let moment = Timestamp(microseconds: 1)
        var entry = ResponseEntry(
            request: request, validation: .init(status: 200, fetchedAt: moment, validatedAt: moment),
            listing: .init(added.listed, count: added.count, skipped: added.skipped))
        entry.imported = added.imported
        responses.append(entry)
        return added
    }

    @discardableResult
    func commit() throws -> ImportReport {
        bed.importer.unit.responses = responses
        responses = []
        return try bed.commit()
    }

    @discardableResult
    func take(_ page: String, of url: String = "/1") throws -> ImportReport {
        try add(page, of: url)
        return try commit()
    }

    func entry(_ url: String = "/1") throws -> ResponseEntry? {
        try bed.store.read { try $0.response(to: RequestKey(url: url, endpoint: "issues")) }
    }
}
