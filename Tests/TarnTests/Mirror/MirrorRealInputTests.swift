// Captured answers of two real services, mirrored over a local socket. Skipped where the captures
// are not there.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Mirror: real input", .enabled(if: Repository.realData != nil, "the captured data is not beside this checkout"))
struct MirrorRealInputTests {
    /// Converts the captures into recordings; the folder is removed with the value.
    private func recordings() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "python3", Repository.root + "/tools/record-real-inputs", folder.path, try #require(Repository.realData),
        ]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return folder
    }

    @Test(
        "GitHub's recorded session becomes 13 issues by one user; Link is followed to the end; a second sync is all 304"
    )
    func gitHub() async throws {
        let folder = try recordings()
        let server = try LocalServer(directory: folder.path + "/github")
        let store = try MirrorStore(try Repository.description("github"))
        let report = try await store.sync(server.base)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(report.pages == 5 && report.listed == 13)
        #expect(report.report.unmapped == [])
        #expect(report.report.diagnosticCount == 0, "\(report.report.diagnostics)")
        #expect(try store.count("Issue") == 13)
        #expect(try store.count("User") == 1)
        #expect(server.requests.count == 5)
        #expect(server.requests.last?.contains("page=5") == true)
        let before = try store.dump(versions: true)
        #expect(before.filter { $0.hasPrefix("Issue ") && $0.contains(" partial ") } == [])
        let second = try await store.sync(server.base)
        #expect(second.pages == 5 && second.notModified == 5 && second.listed == 13)
        #expect(server.requests.dropFirst(5).filter { $0.contains(" 304 conditional") }.count == 5)
        #expect(try store.dump(versions: true) == before)
    }

    @Test("JSONPlaceholder's records are all there, and users and posts lead to each other")
    func jsonPlaceholder() async throws {
        let folder = try recordings()
        let server = try LocalServer(directory: folder.path + "/jsonplaceholder")
        let store = try MirrorStore(try Repository.description("jsonplaceholder"))
        let report = try await store.sync(server.base)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(report.report.unmapped == [])
        #expect(report.report.diagnosticCount == 0, "\(report.report.diagnostics)")
        let counts = ["Post": 100, "Comment": 500, "Album": 100, "Photo": 5000, "Todo": 200, "User": 10]
        for (entity, count) in counts { #expect(try store.count(entity) == count, "\(entity)") }
        // From posts to users and back, all of them.
        var written: [Int64: [Int64]] = [:]
        for post in 1...100 {
            let authors = try store.related("Post", Int64(post), "author")
            let author = try #require(authors.first?.record)
            #expect(authors.count == 1)
            guard case .int(let id)? = author["id"] else { continue }
            written[id, default: []].append(Int64(post))
        }
        #expect(written.count == 10)
        for (user, posts) in written { #expect(try store.keys("User", user, "posts") == posts) }
        #expect(try store.keys("User", 1, "posts") == Array(1...10))
        for (entity, relationship, total) in [
            ("Post", "comments", 500), ("Album", "photos", 5000), ("User", "albums", 100), ("User", "todos", 200),
        ] {
            let found = try store.read { reader in
                var found = 0
                try reader.forEach(entity) { record in
                    try reader.forEachRelated(entity, record.key, relationship) { target in
                        if target.record != nil { found += 1 }
                        return true
                    }
                    return true
                }
                return found
            }
            #expect(found == total, "\(entity).\(relationship)")
        }
        let before = try store.dump(versions: true)
        let second = try await store.sync(server.base)
        #expect(second.pages == report.pages && second.notModified == report.pages && second.listed == 5910)
        #expect(try store.dump(versions: true) == before)
    }
}
