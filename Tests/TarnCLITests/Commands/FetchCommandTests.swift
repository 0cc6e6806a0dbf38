// `tarn fetch` as a user runs it: real processes, a real server, and an unreachable one.

import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("Command line: fetch", .timeLimit(.minutes(5)))
struct FetchCommandTests {
    private static let items = #"[{"id":1,"name":"one"},{"id":2,"name":"two"}]"#

    /// A description beside its store, and a server.
    private struct Forge {
        let folder: TemporaryFolder
        let file: String
        var store: String { folder.path + "/store.tarn" }

        init() throws {
            folder = try TemporaryFolder()
            file = try folder.write("tarn.yaml", "store: store.tarn\n" + itemsYAML())
        }

        func fetch(_ base: String, _ arguments: String...) async throws -> TarnProcess.Result {
            try await tarn(["fetch", "items", "--file", file, "--base", base] + arguments)
        }
    }

    private func server(_ fields: [String], _ arguments: String...) throws -> LocalServer {
        let text = "GET /items\nHTTP/1.1 200 OK\n" + fields.map { $0 + "\n" }.joined() + "\n" + Self.items
        // One option at most.
        return arguments.count == 2 ? try LocalServer([text], arguments[0], arguments[1]) : try LocalServer([text])
    }

    @Test("a list that ends at a limit of the description does not pass for the whole")
    func limited() async throws {
        let folder = try TemporaryFolder(), server = try LocalServer(itemPages)
        let file = try folder.write(
            "tarn.yaml", itemsYAML("paginate: header_link\n    limit: { pages: 1, then: stop }"))
        let result = try await tarn("fetch", "items", "--file", file, "--base", server.base)
        #expect(result.lines == [#"{"id":1,"name":"item 1"}"#], "\(result.output)")
        #expect(result.error.contains("the list ends here, at a limit of the description"), "\(result.error)")
    }

    @Test(
        "records are printed as JSON lines, and where they come from on standard error: fetched, fresh, and off line stale"
    )
    func sources() async throws {
        let forge = try Forge()
        do {
            let server = try server(["Cache-Control: max-age=600", "ETag: \"a\""])
            let first = try await forge.fetch(server.base)
            expectSuccess(first)
            #expect(first.lines == [#"{"id":1,"name":"one"}"#, #"{"id":2,"name":"two"}"#])
            #expect(first.error.hasPrefix("fetched (no stored response for this request, RFC 9111 §4): 2 records"))
            let second = try await forge.fetch(server.base)
            #expect(second.lines == first.lines && second.error.hasPrefix("fresh, "))
            #expect(server.requests.count == 1)
            let third = try await forge.fetch(server.base, "--policy", "network-first")
            #expect(third.lines == first.lines && third.error.hasPrefix("revalidated"))
            #expect(server.requests.count == 2)
        }
        let gone = "http://127.0.0.1:9"
        let offline = try await forge.fetch(gone, "--policy", "network-first")
        expectSuccess(offline)
        #expect(offline.lines.count == 2 && offline.error.contains("offline: "))
        expectSuccess(try await forge.fetch(gone, "--offline"))
        let none = try await forge.fetch(gone, "--policy", "network-only")
        #expect(none.status == 5 && none.output.isEmpty)
    }

    @Test("records without a key are named, and the exit code is 3, also if the response comes from the store")
    func skipped() async throws {
        let forge = try Forge()
        let body = #"[{"id":1,"name":"one"},{"name":"x"},{"id":2,"name":"two"}]"#
        let server = try LocalServer([recording("/items", body, "Cache-Control: max-age=600")])
        let first = try await forge.fetch(server.base)
        #expect(first.status == 3 && first.lines.count == 2, "\(first.output)\(first.error)")
        #expect(first.error.contains("Not imported as received:") && first.error.contains("[1]"), "\(first.error)")
        #expect(first.error.contains("tarn: skipped 1 record: without a usable key"), "\(first.error)")
        let second = try await forge.fetch(server.base, "--quiet")
        #expect(second.status == 3 && second.lines == first.lines, "\(second.output)\(second.error)")
        #expect(second.error == "tarn: skipped 1 record of the response\n", "\(second.error)")
        #expect(server.requests.count == 1)
    }

    @Test("a part of a list does not pass for the whole: errors beside records, and cut, unfit and left out records")
    func parts() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: 'https://api.test.example/v1' }
            entities:
              Label: { key: id, attributes: { id: int } }
              Item:
                key: id
                attributes: { id: int, slug: { type: string?, unique: true }, count: int? }
                relationships: { labels: { to: [Label], from: labels.nodes } }
                ignore: ['labels.*']
            endpoints:
              search: { path: /search, records: items, entity: Item, paginate: single_page }
              cut: { path: /cut, entity: Item, paginate: single_page }
              unfit: { path: /unfit, entity: Item, paginate: single_page }
              unique: { path: /unique, entity: Item, paginate: single_page }
              kinds: { path: /kinds, entity: Item, partitions: { kind: [a, b] }, paginate: single_page }
            """)
        let server = try LocalServer([
            recording("/search", #"{"incomplete_results":true,"items":[{"id":1}]}"#, "Cache-Control: max-age=600"),
            recording("/cut", #"[{"id":2,"labels":{"nodes":[{"id":1}],"pageInfo":{"hasNextPage":true}}}]"#),
            recording("/unfit", #"[{"id":3,"count":"many"}]"#),
            recording("/unique", #"[{"id":4,"slug":"x"},{"id":5,"slug":"x"}]"#),
        ])
        func fetch(_ name: String) async throws -> TarnProcess.Result {
            try await tarn("fetch", name, "--file", file, "--base", server.base)
        }
        // It answers no second request, either.
        for _ in 0..<2 {
            let part = try await fetch("search")
            #expect(part.status == 3 && part.lines == [#"{"id":1}"#], "\(part.output)\(part.error)")
            #expect(part.error.contains("`incomplete_results` says"), "\(part.error)")
        }
        let cut = try await fetch("cut")
        #expect(cut.error.contains("had only a part of a list (labels.pageInfo.hasNextPage is true)"), "\(cut.error)")
        for (name, reason) in [
            ("unfit", "that does not fit Item.count"), ("unique", "with a unique value of another record"),
        ] {
            let result = try await fetch(name)
            #expect(result.status == 3 && result.lines.count == 1, "\(result.output)\(result.error)")
            #expect(result.error.contains(reason), "\(result.error)")
        }
        let kinds = try await fetch("kinds")
        #expect(kinds.status == 2 && kinds.error.contains("for each value of kind"), "\(kinds.error)")
        #expect(server.requests.count == 5)
    }

    @Test("--explain names every rule, and sends nothing")
    func explain() async throws {
        let forge = try Forge(), server = try server(["Cache-Control: max-age=600"])
        #expect(
            try await forge.fetch(server.base, "--explain").lines.last
                == "  no stored response for this request (RFC 9111 §4)")
        expectSuccess(try await forge.fetch(server.base))
        let lines = try await forge.fetch(server.base, "--explain").lines
        #expect(
            lines.contains("fresh: answered from the store")
                && lines.contains("  the lifetime is max-age: 600 s (RFC 9111 §5.2.2.1)"))
        #expect(server.requests.count == 1)
    }

    @Test("the real clock: what is stale after a second is revalidated then, and --max-stale takes it as it is")
    func realClock() async throws {
        let forge = try Forge(), server = try server(["Cache-Control: max-age=1", "ETag: \"a\""])
        expectSuccess(try await forge.fetch(server.base))
        var last = try await forge.fetch(server.base, "--max-stale", "100000")
        let deadline = ContinuousClock.now + .seconds(60)
        while !last.error.hasPrefix("stale"), ContinuousClock.now < deadline {
            last = try await forge.fetch(server.base, "--max-stale", "100000")
        }
        #expect(last.error.contains("stale within the request's max-stale"))
        #expect(server.requests.count == 1)
        #expect(try await forge.fetch(server.base).error.hasPrefix("revalidated"))
        #expect(server.requests.count == 2)
    }

    @Test("an endpoint of each record is fetched by its URL, and its name is a usage error that tells so")
    func forEach() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: https://api.test.example }
            entities: { Item: { key: id, attributes: { id: int, name: string? } } }
            endpoints:
              items: { path: /items, entity: Item, paginate: single_page }
              parts: { path: "/items/{item.id}/parts", for_each: Item, entity: Item, paginate: single_page }
            """)
        let server = try LocalServer([
            "GET /items\nHTTP/1.1 200 OK\n\n[{\"id\":1}]", "GET /items/1/parts\nHTTP/1.1 200 OK\n\n[{\"id\":2}]",
        ])
        let store = folder.path + "/s.tarn"
        func fetch(_ target: String) async throws -> TarnProcess.Result {
            try await tarn("fetch", target, "--file", file, "--store", store, "--base", server.base)
        }
        expectSuccess(try await fetch("items"))
        let refused = try await fetch("parts")
        #expect(refused.status == 2 && refused.error.contains("fetch its URL for one of them"), "\(refused.error)")
        #expect(refused.error.contains("/items/{item.id}/parts"))
        let part = try await fetch("https://api.test.example/items/1/parts")
        expectSuccess(part)
        #expect(part.lines.count == 1 && part.lines.first?.contains("2") == true)
    }

    @Test("--raw refuses a URL with a password without showing it")
    func password() async throws {
        let result = try await tarn("fetch", "--raw", "http://ada:SECRET@h/", "--store", "s")
        #expect(result.status == 2 && !result.error.contains("SECRET"), "\(result.error)")
        #expect(result.error.contains("http://***@h/: a URL must not contain a user or password"))
    }

    @Test("--raw needs no description, but one that is named has to be there")
    func rawDescription() async throws {
        let folder = try TemporaryFolder(), raw = ["fetch", "--raw", "http://127.0.0.1:9/"]
        let none = try await tarn(raw)
        #expect(
            none.status == 2 && none.error.contains("name the store with --store, or the description with --file"),
            "\(none.error)")
        let missing = try await tarn(
            raw + ["--store", folder.path + "/cache.tarn", "--file", folder.path + "/other.yaml"])
        #expect(missing.status == 2 && missing.error.contains("other.yaml: no such file"), "\(missing.error)")
    }

    @Test("--raw stores and prints any body, byte by byte, in a store of its own")
    func raw() async throws {
        let folder = try TemporaryFolder(), store = folder.path + "/cache.tarn"
        let server = try LocalServer([
            "GET /logo\nHTTP/1.1 200 OK\nContent-Type: image/png\nCache-Control: max-age=600\n\nP\u{1}NG\n\n"
        ])
        let first = try await tarn("fetch", "--raw", server.base + "/logo", "--store", store)
        expectSuccess(first)
        #expect(first.output.hasPrefix("P\u{1}NG") && first.error.hasPrefix("fetched"))
        let second = try await tarn("fetch", "--raw", server.base + "/logo", "--store", store)
        #expect(second.output == first.output && second.error.hasPrefix("fresh"))
        #expect(server.requests.count == 1)
        let check = try await tarn("inspect", "verify", store)
        #expect(check.status == 0, "\(check.output)\(check.error)")
        #expect(try await tarn("fetch", "--raw", server.base + "/none", "--store", store, "--offline").status == 5)
    }

    @Test(
        "--raw obeys policies, sends the fields that it is given, explains without sending, and fails where the server refuses"
    )
    func rawPolicies() async throws {
        let folder = try TemporaryFolder(), store = folder.path + "/cache.tarn",
            seen = Mutex<[RawConnection.Message]>([])
        let server = try ConnectionServer { request, connection in
            seen.withLock { $0.append(request) }
            let status = request.start.contains("/none") ? "404 Not Found" : "200 OK"
            try connection.send(
                "HTTP/1.1 \(status)\r\nCache-Control: max-age=600\r\nVary: X-One\r\nContent-Length: 2\r\n\r\nok")
        }
        func fetch(_ target: String, _ arguments: String...) async throws -> TarnProcess.Result {
            try await tarn(["fetch", "--raw", server.base + target, "--store", store] + arguments)
        }
        var count: Int { seen.withLock { $0.count } }
        let explained = try await fetch("/a", "--explain")
        #expect(explained.status == 0 && explained.output.contains("no stored response for this request") && count == 0)
        let first = try await fetch("/a", "--header", "X-One: 1", "--header", "X-Two:2 ")
        #expect(first.output == "ok" && first.error.hasPrefix("fetched") && first.error.contains("200, 2 bytes"))
        #expect(
            seen.withLock { $0.first?.values("x-one") } == ["1"] && seen.withLock { $0.first?.values("x-two") } == ["2"]
        )
        #expect(try await fetch("/a", "--header", "X-One: 1").error.hasPrefix("fresh") && count == 1)
        #expect(
            try await fetch("/a", "--header", "X-One: 1", "--policy", "older-than=1000").error.hasPrefix("fresh")
                && count == 1)
        #expect(try await fetch("/a", "--header", "X-One: 1", "--policy", "cache-only").status == 0 && count == 1)
        #expect(try await fetch("/a", "--header", "X-One: 2", "--policy", "cache-only").status == 5 && count == 1)
        let quiet = try await fetch("/a", "--header", "X-One: 1", "--policy", "network-first", "--quiet")
        #expect(quiet.output == "ok" && quiet.error.isEmpty && count == 2)
        #expect(try await fetch("/a", "--header", ": 1").status == 2 && count == 2)
        // Also where the store would answer.
        let malformed = try await fetch("/a", "--header", "X-One: 1", "--header", "X Two: 2")
        #expect(malformed.status == 2 && malformed.error.contains("--header 'X Two: 2'") && count == 2)
        let refused = try await fetch("/none")
        #expect(refused.status == 1 && refused.output == "ok" && refused.error.contains("the server returned 404"))
    }

    @Test("--raw with network-first answers from the store when the server is gone, and with network-only it does not")
    func rawNetworkFirst() async throws {
        let folder = try TemporaryFolder(), store = folder.path + "/cache.tarn"
        var server: LocalServer? = try LocalServer([recording("/logo", "image", "Cache-Control: max-age=600")])
        let url = (server?.base ?? "") + "/logo"
        expectSuccess(try await tarn("fetch", "--raw", url, "--store", store))
        server = nil
        let first = try await tarn("fetch", "--raw", url, "--store", store, "--policy", "network-first")
        #expect(first.status == 0 && first.output.hasPrefix("image"), "\(first.error)")
        let only = try await tarn("fetch", "--raw", url, "--store", store, "--policy", "network-only")
        #expect(only.status == 5 && only.output.isEmpty, "\(only.error)")
        let explained = try await tarn("fetch", "--raw", url, "--store", store, "--policy", "network-only", "--explain")
        #expect(explained.status == 0 && explained.output.contains("miss: request to the server"))
    }

    @Test("--raw in a store of records leaves them, and takes the cache's rules from the description")
    func rawBesideRecords() async throws {
        let forge = try Forge()
        _ = try forge.folder.write("tarn.yaml", "store: store.tarn\n" + itemsYAML(api: "  cache: { shared: true }"))
        let server = try LocalServer([recording("/items", Self.items, "Cache-Control: private, max-age=600")])
        expectSuccess(try await forge.fetch(server.base))
        for _ in 0..<2 {
            let raw = try await tarn(["fetch", "--raw", server.base + "/items", "--file", forge.file])
            #expect(raw.output == Self.items && raw.error.hasPrefix("fetched"), "\(raw.error)")
        }
        // Not stored: a shared cache does not keep private responses.
        #expect(server.requests.count == 3)
        #expect(try await tarn(["list", "Item", "--store", forge.store]).status == 0)
    }

    @Test(
        "the next page is named, and can be fetched as it is named; --quiet says nothing; older-than takes what is young enough"
    )
    func nextPage() async throws {
        let forge = try Forge(), server = try LocalServer(itemPages)
        let first = try await forge.fetch(server.base)
        #expect(first.errorLines.last == "next page: https://api.test.example/items?page=2", "\(first.error)")
        let second = try await tarn([
            "fetch", "https://api.test.example/items?page=2", "--file", forge.file, "--base", server.base,
        ])
        #expect(second.lines == [#"{"id":2,"name":"item 2"}"#])
        let quiet = try await forge.fetch(server.base, "--policy", "older-than=1000", "--quiet")
        #expect(quiet.lines == first.lines && quiet.error.isEmpty && server.requests.count == 2)
        #expect(
            try await forge.fetch(server.base, "--policy", "network-only").error.hasPrefix("fetched")
                && server.requests.count == 3)
    }

    @Test("two processes that ask for the same share one transfer")
    func collapsed() async throws {
        let forge = try Forge(), server = try server(["Cache-Control: max-age=600"], "--latency", "700")
        async let first = forge.fetch(server.base)
        async let second = forge.fetch(server.base)
        async let third = forge.fetch(server.base)
        for result in try await [first, second, third] {
            expectSuccess(result)
            #expect(result.lines.count == 2)
        }
        #expect(server.requests.count == 1)
    }

    @Test("a process that is killed while it fetches blocks nobody, and leaves all or nothing")
    func killed() async throws {
        let forge = try Forge(), server = try server(["Cache-Control: max-age=600"], "--latency", "5000")
        let stuck = try TarnProcess(["fetch", "items", "--file", forge.file, "--base", server.base])
        // It has its claim when the kernel knows its lock.
        try await eventually {
            var information = stat()
            guard stat(forge.store + "/claims.lock", &information) == 0 else { return false }
            return try String(contentsOfFile: "/proc/locks", encoding: .utf8).contains(":\(information.st_ino) ")
        }
        let waiting = try TarnProcess(["fetch", "items", "--file", forge.file, "--base", server.base])
        stuck.send(SIGKILL)
        #expect(await stuck.end().status == -SIGKILL)
        let result = await waiting.end()
        expectSuccess(result)
        #expect(result.lines.count == 2)
        let check = try await tarn("inspect", "verify", forge.store)
        #expect(check.status == 0, "\(check.output)")
    }

    @Test(
        "arguments that make no sense are refused",
        arguments: [
            ["fetch", "items", "--policy", "sometimes"], ["fetch", "items", "--max-stale", "-1"],
            ["fetch", "items", "--offline", "--policy", "cache-first"],
            ["fetch", "nothing"], ["fetch", "--raw", "ftp://x"], ["fetch", "items", "--header", "A: b"],
            ["fetch", "items", "--policy", "older-than=x"],
            ["fetch", "items", "--base", "nonsense"],
            ["fetch", "--raw", "http://127.0.0.1:9/", "--header", "nonsense"],
        ])
    func usage(_ arguments: [String]) async throws {
        let forge = try Forge()
        let result = try await tarn(arguments + ["--file", forge.file])
        #expect(result.status == 2, "\(result.error)")
    }
}
