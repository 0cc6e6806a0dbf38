// Versions of records that are kept for writes, although no 304 may confirm their responses.

import TestSupport
import Testing

@testable import TarnStore

@Suite("Responses: versions that are kept for writes")
struct KnownVersionTests {
    let folder: TemporaryFolder
    let store: Store
    private let record = ListedRecord(entity: 3, storageKey: RecordKey(1).storageKey)

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"))
    }

    private func url(_ page: Int) -> String { "https://api.example.org/issues/\(page)" }

    /// Stores a response that lists the record.
    private func put(_ page: Int, tag: String?, at time: Int64 = 1, known: [String] = []) throws {
        let time = Timestamp(microseconds: time)
        var entry = ResponseEntry(
            request: RequestKey(url: url(page), endpoint: "issue"),
            validation: .init(
                status: 200, headers: tag.map { ["etag", $0] } ?? [], fetchedAt: time, validatedAt: time),
            listing: .init([record], count: 1))
        entry.validation.knownVersion = known
        let stored = entry
        try store.write { try $0.putResponse(stored) }
    }

    private func removeValidators(keepingVersion: Bool...) throws {
        try store.write { writer in
            for isKept in keepingVersion {
                try writer.responses.removeValidators(ofResponsesListing: record, keepingVersion: isKept)
            }
        }
    }

    /// The header fields that the next write requires.
    private func version(_ page: Int = 1) throws -> [String] {
        try store.read { reader in
            let responses = reader.access.responses
            var version: [String] = []
            for id in try responses.ids(listing: record) {
                guard let view = try responses.view(id: id), let entry = view.entry, entry.request.url == url(page)
                else { continue }
                version += try responses.version(of: view)
            }
            return version
        }
    }

    @Test("a later response hides a kept version, unless it has left the record out")
    func leftOutLater() throws {
        func keep() throws {
            try store.write { writer in
                let response = try #require(
                    try writer.access.responses.view(RequestKey(url: url(2), endpoint: "issue").digest)?.entry)
                try writer.responses.keepVersions(of: [record], besides: [response])
            }
        }
        try put(1, tag: "a")
        try removeValidators(keepingVersion: true)
        try put(2, tag: nil, at: 2)
        #expect(try version() == [])
        try keep()
        #expect(try version() == ["etag", "a"])
        // A third one has brought another version.
        try put(3, tag: nil, at: 3)
        #expect(try version() == [])
        try put(2, tag: nil, at: 4)
        try keep()
        #expect(try version() == [])
    }

    @Test("a kept version survives another removal that keeps it, and another change of its response")
    func kept() throws {
        try put(1, tag: "a")
        try removeValidators(keepingVersion: true)
        #expect(try version() == ["etag", "a"])
        try removeValidators(keepingVersion: true)
        #expect(try version() == ["etag", "a"])
        let request = RequestKey(url: url(1), endpoint: "issue")
        var entry = try #require(try store.read { try $0.response(to: request) })
        #expect(entry.validation.headers.isEmpty)
        entry.validation.validatedAt = Timestamp(microseconds: 2)
        let changed = entry
        try store.write { try $0.putResponse(changed) }
        #expect(try version() == ["etag", "a"])
    }

    @Test("a removal that keeps no version takes the kept one, too, in the same transaction and in a later one")
    func removed() throws {
        try put(1, tag: "a")
        try removeValidators(keepingVersion: true, false)
        #expect(try version() == [])
        try put(1, tag: "b")
        try removeValidators(keepingVersion: true)
        #expect(try version() == ["etag", "b"])
        try removeValidators(keepingVersion: false)
        #expect(try version() == [])
        try put(1, tag: "c")
        try removeValidators(keepingVersion: false, true)
        #expect(try version() == [])
    }

    @Test(
        "a response that is invalidated gives no version, even if it has kept one, or was outdated before",
        arguments: [false, true])
    func invalidated(isOutdated: Bool) throws {
        try put(1, tag: "a")
        try removeValidators(keepingVersion: true)
        let request = RequestKey(url: url(1), endpoint: "issue")
        if isOutdated {
            var entry = try #require(try store.read { try $0.response(to: request) })
            entry.validation.outdate(keepingVersion: true)
            let outdated = entry
            try store.write { try $0.putResponse(outdated) }
        }
        #expect(try version() == ["etag", "a"])
        try store.write { try $0.responses.invalidate(listing: "Issue", 1) }
        #expect(try version() == [])
        #expect(try store.read { try $0.response(to: request) }?.validation.isInvalidated == true)
    }

    @Test("the validators of a response count before a kept version, and so does a later response")
    func newer() throws {
        try put(1, tag: "b", known: ["etag", "a"])
        #expect(try version() == ["etag", "b"])
        try removeValidators(keepingVersion: true)
        try put(2, tag: nil, at: 0)
        #expect(try version() == ["etag", "b"])
        try put(2, tag: nil, at: 2)
        #expect(try version() == [])
    }

    @Test("a second removal of validators keeps the version of the first, unless it keeps none")
    func twice() {
        let time = Timestamp(microseconds: 1)
        var validation = ResponseEntry.Validation(
            status: 200, headers: ["link", "", "etag", "a"], fetchedAt: time, validatedAt: time)
        for _ in 1...2 {
            validation.removeValidators(keepingVersion: true)
            #expect(validation.knownVersion == ["etag", "a"] && validation.headers == ["link", ""])
        }
        validation.removeValidators()
        #expect(validation.knownVersion.isEmpty)
    }
}
