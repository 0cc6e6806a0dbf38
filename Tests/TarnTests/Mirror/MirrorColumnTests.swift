// Mirrors of lists whose records are rows or columns.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Tarn

@Suite("Mirror: rows and columns with names", .timeLimit(.minutes(5)))
struct MirrorColumnTests {
    private static func yaml(_ endpoint: String) -> String {
        """
        api: { base: https://api.test.example/v1 }
        entities:
          Count: { key: day, attributes: { day: string, n: int } }
        endpoints:
          counts: { path: /counts, \(endpoint) }
        """
    }

    private func counts(_ store: MirrorStore) throws -> [String] {
        try store.read { reader in
            try reader.fetch(Query("Count")).map { record in
                guard case .string(let day)? = record["day"], case .int(let n)? = record["n"] else { return "?" }
                return "\(day) \(n)"
            }
        }
    }

    @Test("each page has the names in its first row: a column that comes or moves changes no record")
    func header() async throws {
        let bodies = Mutex([
            #"[["day","n"],["a",1],["b",2]]"#, #"[["n","day"],[3,"c"],[4,"d"]]"#, #"[["day","n"]]"#,
        ])
        let transport = ClosureTransport { request in
            let page = Int(request.url.suffix(1)) ?? 1
            return TransportResponse(status: 200, body: Array(bodies.withLock { $0[page - 1] }.utf8))
        }
        let store = try MirrorStore(
            yaml: Self.yaml("columns: '[0]', entity: Count, paginate: { page_number: { param: page } }"))
        let first = try await store.sync(nil, transport: transport)
        #expect(first.failures.isEmpty && first.pages == 3, "\(first.texts)")
        #expect(try counts(store) == ["a 1", "b 2", "c 3", "d 4"])
        bodies.withLock { $0[0] = #"[["day","zone","n"],["a",9,1],["b",9,2]]"# }
        let second = try await store.sync(nil, transport: transport)
        #expect(second.failures.isEmpty, "\(second.texts)")
        #expect(try counts(store) == ["a 1", "b 2", "c 3", "d 4"])
        // The names are gone: an error, and nothing is stored.
        bodies.withLock { $0[0] = #"[["a",5],["b",6]]"# }
        let third = try await store.sync(nil, transport: transport)
        #expect(third.failures.count == 1, "\(third.texts)")
        #expect(try counts(store) == ["a 1", "b 2", "c 3", "d 4"])
    }

    @Test(
        "names in the first row of the first page only are an error of the next page, unless the description has them")
    func firstPage() async throws {
        let isDown = Mutex(false)
        let transport = ClosureTransport { request in
            let page = Int(request.url.suffix(1)) ?? 1
            if page == 2, isDown.withLock(\.self) { return TransportResponse(status: 404, body: []) }
            var headers = TransportHeaders()
            headers["ETag"] = "\"\(page)\""
            guard request.headers["If-None-Match"] == nil else {
                return TransportResponse(status: 304, headers: headers)
            }
            let bodies = [#"[["day","n"],["a",1],["b",2]]"#, #"[["c",3]]"#, "[]"]
            return TransportResponse(status: 200, headers: headers, body: Array(bodies[page - 1].utf8))
        }
        let paging = "entity: Count, paginate: { page_number: { param: page } }"
        let read = try MirrorStore(yaml: Self.yaml("columns: '[0]', \(paging)"))
        let failed = try await read.sync(nil, transport: transport)
        #expect(failed.texts.contains { $0.contains("the first row has `c`, `3`") }, "\(failed.texts)")
        #expect(try counts(read).allSatisfy { ["a 1", "b 2"].contains($0) })

        let written = try MirrorStore(yaml: Self.yaml("columns: [day, n], \(paging)"))
        isDown.withLock { $0 = true }
        #expect(try await written.sync(nil, transport: transport).failures.count == 1)
        isDown.withLock { $0 = false }
        for _ in 1...2 {
            let report = try await written.sync(nil, transport: transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(report.report.diagnosticGroups.isEmpty)
            #expect(try counts(written) == ["a 1", "b 2", "c 3"])
        }
    }

    @Test("columns, and several lists in one answer with names of their own")
    func columns() async throws {
        let body = Mutex(#"{"hourly":{"day":["a","b"],"n":[1,2]},"names":["day","n"],"rows":[["c",3]]}"#)
        let transport = ClosureTransport { _ in
            TransportResponse(status: 200, body: Array(body.withLock(\.self).utf8))
        }
        let one = try MirrorStore(
            yaml: Self.yaml("records: hourly, columns: '@memberName', entity: Count, paginate: single_page"))
        #expect(try await one.sync(nil, transport: transport).failures.isEmpty)
        #expect(try counts(one) == ["a 1", "b 2"])
        let several = try MirrorStore(
            yaml: Self.yaml(
                "records: { hourly: Count, rows: Count }, columns: { hourly: '@memberName', rows: names }, paginate: single_page"
            ))
        #expect(try await several.sync(nil, transport: transport).failures.isEmpty)
        #expect(try counts(several) == ["a 1", "b 2", "c 3"])
        body.withLock { $0 = #"{"hourly":{"day":["a","b"],"n":[5]},"rows":[]}"# }
        let report = try await one.sync(nil, transport: transport)
        #expect(report.texts.contains { $0.contains("`day` has 2, `n` has 1") }, "\(report.texts)")
        #expect(try counts(one) == ["a 1", "b 2"])
    }

    @Test("rows that are nested in records are objects by the names beside them")
    func nested() async throws {
        let transport = ClosureTransport { _ in
            let body =
                #"{"series":[{"name":"x","of":["day","n"],"values":[["a",1]]},{"name":"y","of":["n","day"],"values":[[2,"b"]]}]}"#
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities:
                  Series:
                    key: name
                    attributes: { name: string }
                    relationships: { counts: { to: [Count], from: values } }
                  Count: { key: day, attributes: { day: string, n: int, of: { type: string, from: '@parent.name' } } }
                endpoints:
                  series:
                    path: /series
                    records: series
                    entity: Series
                    columns: { 'series.*.values': 'series.*.of' }
                    paginate: single_page
                """)
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try counts(store) == ["a 1", "b 2"])
        #expect(try store.read { try $0.fetch(Query("Count")).map { $0["of"] } } == [.string("x"), .string("y")])
    }

    @Test("a description with other columns reads a stored response again")
    func changed() async throws {
        let transport = ClosureTransport { request in
            var headers = TransportHeaders()
            headers["ETag"] = "\"1\""
            guard request.headers["If-None-Match"] == nil else {
                return TransportResponse(status: 304, headers: headers)
            }
            let body = #"{"x":["day","n"],"y":["n","day"],"rows":[["1","2"]]}"#
            return TransportResponse(status: 200, headers: headers, body: Array(body.utf8))
        }
        let store = try MirrorStore(
            yaml: Self.yaml("records: rows, columns: x, entity: Count, paginate: single_page"))
        #expect(try await store.sync(nil, transport: transport).failures.isEmpty)
        #expect(try counts(store) == ["1 2"])
        let other = try Description.parse(
            Self.yaml("records: rows, columns: y, entity: Count, paginate: single_page"), file: "tarn.yaml")
        #expect(
            other.fingerprint(of: other.endpoints[0])
                != store.description.fingerprint(of: store.description.endpoints[0]))
        // Typed requests with other columns are lists of their own.
        let names = [store.description, other].map { SiblingLists.name(of: $0.endpoints[0], RequestHooks()) }
        #expect(Set(names).count == 2, "\(names)")
        // A 304 does not confirm what was read otherwise.
        var changed = store
        changed.description.endpoints = other.endpoints
        #expect(try await changed.sync(nil, transport: transport).failures.isEmpty)
        #expect(try counts(changed) == ["1 2", "2 1"])
    }

    @Test(
        "columns that cannot be those of the records are reported with the way out",
        arguments: [
            ("records: rows, columns: rows, entity: Count", "'rows[0]' for the first row"),
            ("columns: $, entity: Count", "or '[0]' for the first row"),
            ("records: { rows: Count }, columns: names", "such as columns: { rows: names }"),
            ("records: rows, columns: '@position', entity: Count", "@position is not allowed here"),
            ("records: rows, columns: [day, day], entity: Count", "each of them once, such as [time, value]"),
            ("records: rows, columns: [], entity: Count", "expected the names of all columns"),
        ])
    func problems(endpoint: String, message: String) {
        #expect {
            _ = try Description.parse(Self.yaml(endpoint), file: "tarn.yaml")
        } throws: {
            "\($0)".contains(message)
        }
    }
}
