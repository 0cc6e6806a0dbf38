// A description with several APIs on the command line: each line names its API.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Command line: several APIs", .timeLimit(.minutes(5)))
struct SeveralAPIsCommandTests {
    private static let yaml = """
        apis:
          forge: { base: 'https://forge.test.example' }
          people: { base: 'https://people.test.example', auth: { bearer: { env: TARN_NO_SUCH } } }
        entities:
          Item: { key: id, attributes: { id: int, name: string } }
          Person: { api: people, key: id, attributes: { id: int, name: string }, open: '/who/{id}' }
        endpoints:
          items: { path: /items, entity: Item, paginate: single_page }
          people: { api: people, path: /people, entity: Person, paginate: single_page }
        """

    @Test("sync, status, check, doctor, fetch and open name the API, and need no credentials of the others")
    func commands() async throws {
        let folder = try TemporaryFolder()
        let forge = try ScriptedServer { _ in .init(body: #"[{"id":1,"name":"a"}]"#) }
        let people = try ScriptedServer { _ in .init(body: #"[{"id":7,"name":"p"}]"#) }
        let file = try folder.write("tarn.yaml", Self.yaml)
        let bases = ["--base", "forge=\(forge.base)", "--base", "people=\(people.base)"]
        let token = ["TARN_NO_SUCH": "t0ken"]

        let lacking = try await tarn(["sync", "--file", file] + bases)
        #expect(
            lacking.status == 4 && lacking.error.contains("people: the environment variable TARN_NO_SUCH"),
            "\(lacking.error)")
        let own = try await tarn(["sync", "items", "--file", file] + bases)
        #expect(own.status == 0, "the token of the other API is not needed: \(own.error)")
        let missing = try await tarn(["sync", "--missing", "--file", file] + bases)
        #expect(missing.status == 0, "no endpoint of the other API requests single records: \(missing.error)")
        let both = try await tarn(["sync", "--file", file] + bases, environment: token)
        #expect(both.status == 0, "\(both.error)")
        #expect(try both.line(0).split(separator: " ").prefix(2) == ["api", "endpoint"])
        #expect(both.lines.contains { $0.split(separator: " ").prefix(2) == ["people", "people"] }, "\(both.output)")
        #expect(forge.requests.allSatisfy { $0.field("Authorization") == nil })
        #expect(people.requests.map { $0.field("Authorization") } == ["Bearer t0ken"])
        let events = try await tarn(["sync", "--file", file, "--json"] + bases, environment: token)
        let summary = try json(try #require(events.lines.last))
        #expect((summary["endpoints"] as? [[String: Any]])?.map { $0["api"] as? String } == ["forge", "people"])

        let status = try await tarn("status", "--file", file)
        #expect(status.lines.contains { $0.split(separator: " ").prefix(3) == ["forge", "items", "complete"] })
        let object = try json(try await tarn("status", "--file", file, "--json").output)
        #expect(
            object["apis"] as? [String: String] == [
                "forge": "https://forge.test.example", "people": "https://people.test.example",
            ])
        #expect((object["endpoints"] as? [[String: Any]])?.map { $0["api"] as? String } == ["forge", "people"])

        let doctor = try await tarn(["doctor", "--file", file] + bases)
        #expect(doctor.output.contains("forge: \(forge.base) answered 200"), "\(doctor.output)")
        #expect(doctor.status == 4 && doctor.output.contains("people: the environment variable TARN_NO_SUCH"))
        let check = try await tarn(["check", "items", "--online", "--file", file] + bases)
        #expect(check.status == 0 && check.output.contains("lists 1 record"), "\(check.output)\(check.error)")
        let all = try await tarn(["check", "--online", "--file", file] + bases)
        #expect(all.status == 2 && all.output.contains("lists 1 record"), "\(all.output)\(all.error)")
        #expect(all.output.contains("endpoints.people: people: "), "\(all.output)")
        #expect(all.output.contains("the environment variable TARN_NO_SUCH is not set"), "\(all.output)")
        let fetch = try await tarn(["fetch", "items", "--file", file] + bases)
        #expect(fetch.status == 0, "\(fetch.error)")
        #expect(
            try await tarn("open", "Person", "7", "--print", "--file", file).lines == [
                "https://people.test.example/who/7"
            ])
        let wrong = try await tarn("sync", "--file", file, "--base", forge.base)
        #expect(wrong.status == 2 && wrong.error.contains("several APIs: write forge=URL"), "\(wrong.error)")
    }

    @Test("push replaces the base URL of each API, and takes no URL for all of them")
    func push() async throws {
        let folder = try TemporaryFolder()
        let forge = try ScriptedServer { _ in .init(status: "201 Created", body: #"{"id":1,"name":"a"}"#) }
        let people = try ScriptedServer { _ in .init(status: "201 Created", body: #"{"id":7,"name":"p"}"#) }
        let file = try folder.write(
            "tarn.yaml",
            """
            apis:
              forge: { base: 'https://forge.test.example' }
              people: { base: 'https://people.test.example' }
            entities:
              Item: { key: id, attributes: { id: int, name: string }, write: { create: 'POST /items' } }
              Person:
                api: people
                key: id
                attributes: { id: int, name: string }
                write: { create: 'POST /people' }
            """)
        expectSuccess(try await tarn("create", "Item", "--file", file, "--set", "name=a"))
        expectSuccess(try await tarn("create", "Person", "--file", file, "--set", "name=p"))
        let wrong = try await tarn("push", "--file", file, "--base", forge.base)
        #expect(wrong.status == 2 && wrong.error.contains("several APIs: write forge=URL"), "\(wrong.error)")
        #expect(forge.requests.isEmpty && people.requests.isEmpty)
        let sent = try await tarn(
            "push", "--file", file, "--base", "forge=\(forge.base)", "--base", "people=\(people.base)")
        #expect(sent.status == 0 && sent.output == "2 sent\n", "\(sent.output)\(sent.error)")
        #expect(forge.requests.map(\.target) == ["/items"] && people.requests.map(\.target) == ["/people"])
    }

    @Test(
        "--watch goes on for one API if the credentials of another one are missing or refused",
        arguments: [true, false])
    func watch(isMissing: Bool) async throws {
        let folder = try TemporaryFolder()
        let forge = try ScriptedServer { _ in .init(body: #"[{"id":1,"name":"a"}]"#) }
        let people = try ScriptedServer { _ in .init(status: "401 Unauthorized", body: "{}") }
        let file = try folder.write("tarn.yaml", Self.yaml)
        let process = try TarnProcess(
            [
                "sync", "--file", file, "--base", "forge=\(forge.base)", "--base", "people=\(people.base)", "--watch",
                "1s",
            ], environment: isMissing ? [:] : ["TARN_NO_SUCH": "t0ken"])
        // The endpoint of the refused API is tried every second, at times alone.
        try await eventually { forge.requests.count >= 5 }
        process.send(SIGINT)
        let result = await process.end()
        #expect(result.status == 130, "\(result.error)")
        #expect(result.error.contains("tarn: people: "), "\(result.error)")
        #expect(result.error.contains(isMissing ? "TARN_NO_SUCH is not set" : "401"), "\(result.error)")
        #expect(isMissing == people.requests.isEmpty)

        // With this API alone, nothing is left to watch.
        let alone = try await tarn(
            ["sync", "people", "--file", file, "--base", "people=\(people.base)", "--watch", "1s"],
            environment: isMissing ? [:] : ["TARN_NO_SUCH": "t0ken"])
        #expect(alone.status == 4, "\(alone.error)")
    }

    @Test("lines of two APIs do not mix in a pipe whose reader is slow")
    func wholeLines() async throws {
        let folder = try TemporaryFolder()
        // Lines that no pipe takes at once.
        let blob = String(repeating: "b", count: 200_000)
        @Sendable func page(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
            let number = request.target.split(separator: "=").last.flatMap { Int($0) } ?? 1
            let next = number < 8 ? ["Link: </list?page=\(number + 1)>; rel=\"next\""] : []
            return .init(fields: next, body: #"{"blob":"\#(blob)","items":[{"id":\#(number)}]}"#)
        }
        let one = try ScriptedServer(page), two = try ScriptedServer(page)
        let file = try folder.write(
            "tarn.yaml",
            """
            apis: { one: { base: '\(one.base)' }, two: { base: '\(two.base)' } }
            entities:
              A: { key: id, attributes: { id: int } }
              B: { key: id, attributes: { id: int } }
            endpoints:
              a: { api: one, path: /list, entity: A, records: items, paginate: header_link, metadata: { blob: blob } }
              b: { api: two, path: /list, entity: B, records: items, paginate: header_link, metadata: { blob: blob } }
            """)
        let pipe = folder.path + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        let process = try TarnProcess(
            ["-c", "exec \"$TARN\" sync --watch 1s --json --file '\(file)' > '\(pipe)'"],
            environment: ["TARN": TarnProcess.executable], program: "/bin/bash")
        let descriptor = await Task.detached { open(pipe, O_RDONLY) }.value
        try #require(descriptor >= 0)
        let reader = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let output = try await Task.detached {
            var output = Data(), isStopped = false
            while let bytes = try reader.read(upToCount: 30_000), !bytes.isEmpty {
                output += bytes
                // About two passes over both lists.
                if !isStopped, output.count >= 6_000_000 {
                    process.send(SIGINT)
                    isStopped = true
                }
                usleep(2000)
            }
            return output
        }.value
        let result = await process.end()
        #expect(result.status == 130, "\(result.error)")
        let lines = output.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count { $0.count > blob.utf8.count } >= 25)
        #expect(lines.allSatisfy { (try? JSONSerialization.jsonObject(with: Data($0))) != nil })
    }
}
