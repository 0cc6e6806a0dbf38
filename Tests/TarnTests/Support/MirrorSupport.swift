// Shared helpers of the mirror tests: descriptions, recordings as text, a store in a temporary
// folder, and its content.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

/// Paths of this checkout, found from this file.
enum Repository {
    static let root: String = {
        var url = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { url.deleteLastPathComponent() }
        return url.path
    }()
    static var forge: String { root + "/fixtures/forge/responses" }
    /// Real captured data is beside the checkout and not part of it.
    static let realData: String? = {
        var url = URL(fileURLWithPath: root)
        for _ in 0..<3 {
            url.deleteLastPathComponent()
            let folder = url.path + "/shared/data"
            if FileManager.default.fileExists(atPath: folder + "/github-paginate-issues.json") { return folder }
        }
        return nil
    }()

    static func description(_ name: String) throws -> Description {
        try Description.load(path: root + "/fixtures/\(name)/tarn.yaml")
    }

    static func expected() throws -> [String: Any] {
        let data = try Data(contentsOf: URL(fileURLWithPath: root + "/fixtures/forge/expected.json"))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }
}

/// A recorded answer as text, as in a `.http` file.
func recording(_ target: String, _ body: String, status: String = "200 OK", _ fields: String...) -> String {
    "GET \(target)\nHTTP/1.1 \(status)\n" + fields.map { $0 + "\n" }.joined() + "\n" + body
}

/// A store in a temporary folder. It is opened again for every sync and every check, as by
/// short-lived processes.
struct MirrorStore {
    let folder: TemporaryFolder
    var description: Description

    init(_ description: Description) throws {
        folder = try TemporaryFolder()
        self.description = description
        self.description.storePath = folder.path + "/store.tarn"
    }

    init(yaml: String) throws {
        try self.init(try Description.parse(yaml, file: "tarn.yaml"))
    }

    var path: String { description.storePath }

    /// The store of a mirror whose description was replaced.
    func edited(_ yaml: String) throws -> MirrorStore {
        var store = self
        store.description = try Description.parse(yaml, file: "tarn.yaml")
        store.description.storePath = path
        return store
    }

    func open() throws -> Store {
        try Store.open(at: path, schema: description.schema, options: Store.Options(durability: .relaxed))
    }

    @discardableResult
    func sync(
        _ base: String?, transport: (any Transport)? = nil, names: Set<String>? = nil,
        environment: [String: String] = [:],
        options change: (inout SyncOptions) -> Void = { _ in },
        progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async throws -> SyncReport {
        var options = SyncOptions()
        options.base = base
        // Most tests are about failures: the first one counts.
        options.retry = .never
        change(&options)
        let mirror = try APIMirror(
            description, store: try open(), transport: transport ?? MirrorStore.impatient(),
            client: options.client, options: options.mirror, environment: environment)
        return await mirror.sync(names, progress: progress)
    }

    /// Gives up long before a test does, and long after a loaded machine has answered.
    static func impatient(idle: Duration = .seconds(60)) -> CurlTransport {
        var options = CurlTransport.Options()
        options.idleTimeout = idle
        return CurlTransport(options)
    }

    func read<Result>(_ body: (StoreReader) throws -> Result) throws -> Result { try open().read(body) }

    func count(_ entity: String) throws -> Int { try read { try $0.count(entity) } }

    func record(_ entity: String, _ key: Int64) throws -> Record {
        try #require(try read { try $0.record(entity, RecordKey(key)) })
    }

    func related(_ entity: String, _ key: Int64, _ relationship: String) throws -> [StoreReader.Target] {
        try read { reader in
            var targets: [StoreReader.Target] = []
            try reader.forEachRelated(entity, RecordKey(key), relationship) {
                targets.append($0)
                return true
            }
            return targets
        }
    }

    func keys(_ entity: String, _ key: Int64, _ relationship: String) throws -> [Int64] {
        try related(entity, key, relationship).map { target in
            guard case .int(let value)? = target.key?.components.first else {
                throw LocalServer.Failure(description: "no integer key")
            }
            return value
        }
    }

    func checkpoint(_ name: String) throws -> Checkpoint? { try read { try $0.checkpoint(name) } }

    /// Every record with its fields and its derived relationships: rows and indexes alike.
    func dump(versions: Bool = false) throws -> [String] {
        try read { reader in
            var lines: [String] = []
            for entity in reader.catalog.entities {
                let derived = reader.catalog.relationships(of: entity).filter { !$0.isStored }.map(\.name)
                try reader.forEach(entity.name) { record in
                    var line = "\(entity.name) \(record.key)\(record.isPartial ? " partial" : "") "
                    if versions { line += "version \(record.version) " }
                    record.appendFieldsJSON(to: &line)
                    for name in derived {
                        line += " \(name):"
                        try reader.forEachRelated(entity.name, record.key, name) {
                            line += " \($0.key.map(\.description) ?? "?")"
                            return true
                        }
                    }
                    lines.append(line)
                    return true
                }
            }
            return lines
        }
    }
}

extension SyncReport {
    func endpoint(_ name: String) -> Endpoint? { endpoints.first { $0.name == name } }
    var texts: [String] { failures.map(\.description) }
}

/// An API of one list, `GET /items`, whose records have an id and a name.
func itemsYAML(_ endpoint: String = "paginate: header_link", api: String = "", attributes: String = "") -> String {
    """
    api:
      base: https://api.test.example/v1
    \(api)
    entities:
      Item:
        key: id
        attributes:
          id: int
          name: string
    \(attributes)
    endpoints:
      items:
        path: /items
        entity: Item
        \(endpoint)
    """
}

/// Pages of two items each that follow each other by `Link`.
func itemPages(_ count: Int, tag: String = "a") -> [String] {
    (1...count).map { page in
        let target = page == 1 ? "/items" : "/items?page=\(page)"
        let items = [2 * page - 1, 2 * page].map { #"{"id":\#($0),"name":"item \#($0)"}"# }.joined(separator: ",")
        let link = "Link: <https://api.test.example/v1/items?page=\(page + 1)>; rel=\"next\""
        return page < count
            ? recording(target, "[\(items)]", "ETag: \"\(tag)\(page)\"", link)
            : recording(target, "[\(items)]", "ETag: \"\(tag)\(page)\"")
    }
}

/// The options of a mirror and of its client, as one.
@dynamicMemberLookup
struct SyncOptions {
    var client = APIClient.Options()
    var mirror = APIMirror.Options()

    subscript<Value>(dynamicMember path: WritableKeyPath<APIClient.Options, Value>) -> Value {
        get { client[keyPath: path] }
        set { client[keyPath: path] = newValue }
    }

    subscript<Value>(dynamicMember path: WritableKeyPath<APIMirror.Options, Value>) -> Value {
        get { mirror[keyPath: path] }
        set { mirror[keyPath: path] = newValue }
    }
}
