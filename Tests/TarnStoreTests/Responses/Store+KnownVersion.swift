// Versions that the responses of a record give its next write.

import Testing

@testable import TarnStore

extension Store {
    private func listed(_ entity: String, _ key: RecordKey) throws -> ListedRecord {
        ListedRecord(entity: try #require(catalog.entity(entity)).root, storageKey: key.storageKey)
    }

    /// Stores a response with an entity tag that lists a record.
    func putResponse(listing entity: String, _ key: RecordKey, tag: String) throws {
        let time = Timestamp(microseconds: 1)
        let entry = ResponseEntry(
            request: RequestKey(url: "https://api.example.org/\(entity)/\(key)", endpoint: "records"),
            validation: .init(status: 200, headers: ["etag", tag], fetchedAt: time, validatedAt: time),
            listing: .init([try listed(entity, key)], count: 1))
        try write { try $0.putResponse(entry) }
    }

    /// The header fields of the responses that list a record: those that a 304 needs, and those that
    /// the next write requires.
    func versions(listing entity: String, _ key: RecordKey) throws -> (confirmed: [String], written: [String]) {
        let record = try listed(entity, key)
        return try read { reader in
            let responses = reader.access.responses
            var versions: (confirmed: [String], written: [String]) = ([], [])
            for id in try responses.ids(listing: record) {
                guard let view = try responses.view(id: id) else { continue }
                versions.confirmed += view.headers
                versions.written += try responses.version(of: view)
            }
            return versions
        }
    }
}
