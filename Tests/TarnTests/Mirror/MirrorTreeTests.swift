// Endpoints that list the records of their own `for_each`: trees, such as folders in folders.

import Foundation
import Synchronization
import TarnDescription
import TestSupport
import Testing

@testable import Tarn

@Suite("Mirror: trees", .timeLimit(.minutes(5)))
struct MirrorTreeTests {
    /// A server with the children of each block, that logs the requests.
    private final class Tree: Sendable {
        private let state: Mutex<(children: [String: [String]], log: [String], failsAt: String?)>

        init(_ children: [String: [String]]) { state = Mutex((children, [], nil)) }

        func set(_ children: [String: [String]], failsAt: String? = nil) {
            state.withLock { ($0.children, $0.failsAt) = (children, failsAt) }
        }

        var transport: ClosureTransport {
            ClosureTransport { [self] request in
                let parent = request.url.split(separator: "/").dropLast().last.map(String.init) ?? ""
                let (children, fails) = state.withLock { state in
                    state.log.append(parent)
                    return (state.children[parent] ?? [], state.failsAt == parent)
                }
                if fails { throw TransportError(.connect, method: "GET", url: request.url, detail: "no connection") }
                let body = "[" + children.map { #"{"id":"\#($0)"}"# }.joined(separator: ",") + "]"
                return TransportResponse(status: 200, body: Array(body.utf8))
            }
        }

        /// The blocks whose children were requested since the last call.
        var requested: [String] {
            state.withLock { state in
                defer { state.log = [] }
                return state.log
            }
        }
    }

    private func store(_ rule: String = "", top: String = "") throws -> MirrorStore {
        try MirrorStore(
            yaml: """
                api: { base: 'https://api.test.example' }
                entities: { Block: { key: id, attributes: { id: string }, relationships: { parent: Block } } }
                endpoints:
                  top: { path: /blocks/root/children, entity: Block, paginate: single_page\(top) }
                  below:
                    path: '/blocks/{block.id}/children'
                    for_each: { entity: Block, parent: parent }
                    entity: Block
                    paginate: single_page
                \(rule)
                """)
    }

    @Test("one sync requests the lists of a tree to its end, each once, and counts them")
    func wholeTree() async throws {
        let tree = Tree(["root": ["a", "b"], "a": ["aa", "ab"], "aa": ["aaa"], "aaa": ["aaaa"]]), store = try store()
        for _ in 0..<2 {
            let lists = Mutex(0)
            let report = try await store.sync(
                nil, transport: tree.transport,
                progress: { progress in
                    if progress.endpoint == "below" { lists.withLock { $0 = max($0, progress.lists) } }
                })
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(tree.requested.sorted() == ["a", "aa", "aaa", "aaaa", "ab", "b", "root"])
            #expect(try store.count("Block") == 6)
            #expect(report.endpoint("below")?.newParents == 0 && lists.withLock { $0 } == 6)
        }
    }

    @Test("a cycle ends, and a list that brings only known records brings no further request")
    func cycle() async throws {
        let tree = Tree(["root": ["a"], "a": ["b"], "b": ["c", "a"], "c": ["a", "c"]]), store = try store()
        let report = try await store.sync(nil, transport: tree.transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(tree.requested == ["root", "a", "b", "c"])
        #expect(try store.count("Block") == 3)
    }

    @Test("a sync that was cut off within a tree goes on there, and with what it had not found yet")
    func interrupted() async throws {
        let children = ["root": ["a"], "a": ["b"], "b": ["c"], "c": ["d"]]
        let tree = Tree(children), store = try store()
        tree.set(children, failsAt: "c")
        let first = try await store.sync(nil, transport: tree.transport)
        #expect(first.failures.count == 1 && tree.requested == ["root", "a", "b", "c"])
        tree.set(children)
        let second = try await store.sync(nil, transport: tree.transport)
        #expect(second.failures.isEmpty && second.resumed != nil, "\(second.texts)")
        #expect(tree.requested == ["c", "d"])
        #expect(try store.count("Block") == 4)
    }

    @Test("a record that has moved into a new record of the tree is no orphan")
    func moved() async throws {
        let tree = Tree(["root": ["a", "b"], "a": ["x", "y"]])
        let store = try store("    orphans: after_one_scan")
        try await store.sync(nil, transport: tree.transport)
        #expect(try store.count("Block") == 4)
        tree.set(["root": ["a", "b"], "a": ["y", "c"], "c": ["x"]])
        let report = try await store.sync(nil, transport: tree.transport)
        #expect(report.failures.isEmpty && report.report.deleted == 0, "\(report.texts)")
        #expect(try store.count("Block") == 5)
        #expect(try store.read { try $0.record("Block", RecordKey([.string("x")])) } != nil)
    }

    @Test("a record that has moved from another list into the tree is no orphan, and one that is gone goes at last")
    func movedFromAbove() async throws {
        let tree = Tree(["root": ["a", "x", "z"]]), store = try store(top: ", orphans: after_one_scan")
        for _ in 0..<3 { try await store.sync(nil, transport: tree.transport) }
        tree.set(["root": ["a"], "a": ["x"]])
        var report = try await store.sync(nil, transport: tree.transport)
        #expect(report.failures.isEmpty && report.report.deleted == 0, "\(report.texts)")
        #expect(try store.count("Block") == 3)
        for _ in 0..<4 {
            report = try await store.sync(nil, transport: tree.transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
        }
        #expect(try store.read { try $0.record("Block", RecordKey([.string("x")])) } != nil)
        #expect(try store.count("Block") == 2)
    }

    /// A tree whose root is a record of another endpoint, and that has links between its records.
    private func linked(_ rule: String = "") throws -> MirrorStore {
        try MirrorStore(
            yaml: """
                api: { base: 'https://api.test.example' }
                entities:
                  Space: { key: id, attributes: { id: int }, relationships: { root: Block } }
                  Block:
                    key: id
                    attributes: { id: string, name: string }
                    relationships: { parent: Block, link: Block }
                endpoints:
                  spaces: { path: /spaces, entity: Space, paginate: single_page }
                  below:
                    path: '/blocks/{block.id}/children'
                    for_each: { entity: Block, parent: parent }
                    entity: Block
                    paginate: single_page
                \(rule)
                """)
    }

    /// Syncs the lists of blocks with these children; a link follows a colon.
    private func sync(_ store: MirrorStore, _ children: [String: [String]]) async throws -> SyncReport {
        let transport = ClosureTransport { request in
            let parent = request.url.split(separator: "/").dropLast().last.map(String.init) ?? ""
            let blocks = (children[parent] ?? []).map { child in
                let parts = child.split(separator: ":"), link = parts.count > 1 ? #","link":{"id":"\#(parts[1])"}"# : ""
                return #"{"id":"\#(parts[0])","name":"n"\#(link)}"#
            }
            let isSpaces = request.url.hasSuffix("/spaces")
            let body = isSpaces ? #"[{"id":1,"root":{"id":"r"}}]"# : "[" + blocks.joined(separator: ",") + "]"
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        return try await store.sync(nil, transport: transport)
    }

    @Test("a record that has moved to one whose list waits for the next sync is no orphan")
    func movedToPartial() async throws {
        let store = try linked("    orphans: after_one_scan")
        for _ in 0..<2 { #expect(try await sync(store, ["r": ["x", "y"]]).failures.isEmpty) }
        for (waiting, blocks) in [(1, 4), (0, 4)] {
            let report = try await sync(store, ["r": ["y:q"], "q": ["x"]])
            #expect(report.failures.isEmpty && report.report.deleted == 0, "\(report.texts)")
            #expect(report.endpoint("below")?.newParents == waiting)
            #expect(try store.count("Block") == blocks)
        }
    }

    @Test("a record that an answer refers to before a list has it is requested in the same sync")
    func completed() async throws {
        let store = try linked()
        let report = try await sync(store, ["r": ["b:c"], "b": ["c"], "c": ["d"]])
        #expect(report.failures.isEmpty && report.endpoint("below")?.newParents == 0, "\(report.texts)")
        #expect(try store.count("Block") == 4)
    }

    @Test("records to which an answer only refers wait for the next sync, which is told")
    func references() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: 'https://api.test.example' }
                entities:
                  User: { key: id, attributes: { id: int, name: string }, relationships: { friend: User } }
                endpoints:
                  users: { path: /users, entity: User, paginate: single_page }
                  user: { path: '/users/{user.id}', for_each: User, entity: User, paginate: single_page }
                """)
        let transport = ClosureTransport { request in
            let id = request.url.split(separator: "/").last.flatMap { Int($0) }
            let user = #"{"id":\#(id ?? 1),"name":"n","friend":{"id":\#((id ?? 0) + 1)}}"#
            return TransportResponse(status: 200, body: Array((id == nil ? "[\(user)]" : user).utf8))
        }
        for users in [2, 3, 4] {
            let report = try await store.sync(nil, transport: transport)
            #expect(report.failures.isEmpty && report.endpoint("user")?.newParents == 1, "\(report.texts)")
            #expect(try store.count("User") == users)
        }
    }

    @Test("a record to which only an early level refers is named at the end, also behind deeper levels")
    func earlyReference() async throws {
        let store = try linked("    orphans: after_one_scan")
        let report = try await sync(store, ["r": ["b:q"], "b": ["c"], "c": ["d"]])
        #expect(report.failures.isEmpty && report.endpoint("below")?.newParents == 1, "\(report.texts)")
        #expect(try store.count("Block") == 5)
    }

    @Test("a deep tree is requested level by level, each record once, also if the log of changes is gone")
    func deep() async throws {
        let depth = 120
        var children = ["root": ["n0"]]
        for level in 0..<depth { children["n\(level)"] = ["n\(level + 1)"] }
        for trimmed in [false, true] {
            let tree = Tree(children), store = try store()
            if trimmed { try store.open().setChangeRetention(.nothing) }
            let report = try await store.sync(nil, transport: tree.transport)
            #expect(report.failures.isEmpty && report.endpoint("below")?.newParents == 0, "\(report.texts)")
            #expect(tree.requested == ["root"] + (0...depth).map { "n\($0)" })
            #expect(try store.count("Block") == depth + 1)
        }
    }

    @Test("of two endpoints that list the records of each other's for_each, the sync names what is left")
    func eachOther() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: 'https://api.test.example' }
                entities: { A: { key: id, attributes: { id: int } }, B: { key: id, attributes: { id: int } } }
                endpoints:
                  first: { path: /a, entity: A, paginate: single_page }
                  below: { path: '/a/{a.id}/b', for_each: A, entity: B, paginate: single_page }
                  above: { path: '/b/{b.id}/a', for_each: B, entity: A, paginate: single_page }
                """)
        let transport = ClosureTransport { request in
            let parts = request.url.split(separator: "/").suffix(3), id = Int(parts.dropFirst().first ?? "") ?? 0
            let ids = parts.last == "b" ? [id].filter { $0 < 2 } : request.url.hasSuffix("example/a") ? [0] : [id + 1]
            let body = "[" + ids.map { #"{"id":\#($0)}"# }.joined(separator: ",") + "]"
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        for (left, records) in [(1, 3), (1, 5), (0, 5)] {
            let report = try await store.sync(nil, transport: transport)
            #expect(report.failures.isEmpty && report.endpoint("below")?.newParents == left, "\(report.texts)")
            #expect(report.endpoint("above")?.newParents == 0)
            #expect(try store.count("A") + store.count("B") == records)
        }
    }

    @Test("a sync with a limit of lists names those that are left, and the next ones request them")
    func limited() async throws {
        let tree = Tree(["root": ["a"], "a": ["b", "c"], "b": ["d"]]), store = try store()
        let first = try await store.sync(nil, transport: tree.transport) { $0.mirror.limit = 2 }
        #expect(first.failures.isEmpty && first.endpoint("below")?.leftOut == 1, "\(first.texts)")
        #expect(tree.requested.count == 3)
        for _ in 0..<4 { try await store.sync(nil, transport: tree.transport) { $0.mirror.limit = 2 } }
        #expect(try store.count("Block") == 4)
        #expect(Set(tree.requested) == ["root", "a", "b", "c", "d"])
    }

    @Test("new records beyond the number that one sync requests are told, and the next sync requests their lists")
    func manyNewRecords() async throws {
        let tree = Tree(["root": ["a"], "a": ["b", "c", "d"], "c": ["e"], "d": ["f"]]), store = try store()
        let first = try await store.sync(nil, transport: tree.transport) { $0.mirror.mostNewParents = 1 }
        #expect(first.failures.isEmpty && first.endpoint("below")?.newParents == 2, "\(first.texts)")
        #expect(tree.requested == ["root", "a", "b"])
        let second = try await store.sync(nil, transport: tree.transport) { $0.mirror.mostNewParents = 9 }
        #expect(second.endpoint("below")?.newParents == 0)
        #expect(Set(tree.requested) == ["root", "a", "b", "c", "d", "e", "f"])
        #expect(try store.count("Block") == 6)
    }
}
