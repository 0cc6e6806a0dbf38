// What the tests of the command line share: folders, recordings as text, and stores that `tarn sync` makes.

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
    /// Whether a sanitizer watches: everything takes several times as long, and as much memory.
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

    /// How many records of an entity a store has at the moment, while another process may write to it; 0 if there is no store yet.
    static func count(_ entity: String, _ store: String) -> Int {
        (try? Store.open(at: store).read { try $0.count(entity) }) ?? 0
    }

    static func sync(_ store: String, _ server: LocalServer, _ more: String...) async throws -> TarnProcess.Result {
        try await tarn(arguments(store, server.base, more))
    }

    /// The records of a store without the commits that changed them: what two stores have in common.
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

/// An API of one list of items, whose store lies beside the description.
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
