// Shared helpers of the command line tests: folders, recordings as text, and stores of `tarn sync`.

import Foundation
import Glibc
import Synchronization
import TarnStore
import TestSupport
import Testing

enum Repository {
    static let root: String = {
        var url = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { url.deleteLastPathComponent() }
        return url.path
    }()
    static var forge: String { root + "/fixtures/forge/responses" }
    static var forgeFile: String { root + "/fixtures/forge/tarn.yaml" }
}

/// The forge, mirrored once for all tests that only read.
enum Forge {
    /// Whether a sanitizer is on. Everything then takes several times the time and memory.
    static let isSanitized = TestSupport.isSanitized

    private static let mirrored = Task { () -> (folder: TemporaryFolder, store: String) in
        let folder = try TemporaryFolder()
        let server = try LocalServer(directory: Repository.forge)
        let result = try await Forge.sync(folder.path + "/forge.tarn", server)
        guard result.status == 0 else { throw LocalServer.Failure(description: result.error) }
        return (folder, folder.path + "/forge.tarn")
    }

    static var store: String {
        get async throws { try await mirrored.value.store }
    }

    static func arguments(_ store: String, _ base: String, _ more: [String]) -> [String] {
        ["sync", "--file", Repository.forgeFile, "--store", store, "--base", base] + more
    }

    /// The number of records of an entity in a store that another process may write to; 0 if there
    /// is no store yet.
    static func count(_ entity: String, _ store: String) -> Int {
        (try? Store.open(at: store).read { try $0.count(entity) }) ?? 0
    }

    static func sync(_ store: String, _ server: LocalServer, _ more: String...) async throws -> TarnProcess.Result {
        try await tarn(arguments(store, server.base, more))
    }

    /// The records of a store without their versions, for comparing two stores.
    static func dump(_ store: String) async throws -> [String] {
        let result = try await tarn("inspect", "dump", store, "--no-versions")
        try #require(result.status == 0, "\(result.error)")
        return result.lines
    }
}

func json(_ line: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
}

/// A recorded answer as text, as in a `.http` file.
func recording(_ target: String, _ body: String, status: String = "200 OK", _ fields: String...) -> String {
    "GET \(target)\nHTTP/1.1 \(status)\n" + fields.map { $0 + "\n" }.joined() + "\n" + body
}

/// An API with one list of items, whose store is beside the description.
func itemsYAML(_ endpoint: String = "paginate: header_link", api: String = "", key: String = "id") -> String {
    """
    api:
      base: https://api.test.example
    \(api)
    entities:
      Item:
        key: \(key)
        attributes:
          id: int
          name: string
    endpoints:
      items:
        path: /items
        entity: Item
        \(endpoint)
    """
}

/// Three pages of one item each.
let itemPages = (1...3).map { page in
    let target = page == 1 ? "/items" : "/items?page=\(page)"
    let body = #"[{"id":\#(page),"name":"item \#(page)"}]"#
    return page < 3
        ? recording(
            target, body, "ETag: \"\(page)\"", "Link: <https://api.test.example/items?page=\(page + 1)>; rel=\"next\"")
        : recording(target, body, "ETag: \"\(page)\"")
}
