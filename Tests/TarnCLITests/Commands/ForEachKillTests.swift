// A `for_each` sync that is killed repeatedly: each sync resumes after the committed parents, and
// sends little more than an undisturbed one.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Killed for_each", .timeLimit(.minutes(10)))
struct ForEachKillTests {
    static let seed =
        ProcessInfo.processInfo.environment["TARN_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)
    private static let parents = 300, kills = 10

    private static let yaml = """
        store: store.tarn
        api: { base: https://api.test.example }
        entities:
          Board: { key: id, attributes: { id: int } }
          Card: { key: id, attributes: { id: int, text: string } }
        endpoints:
          boards: { path: /boards, entity: Board }
          cards: { path: '/boards/{board.id}/cards', for_each: Board, entity: Card, commit: COMMIT }
        """

    /// Without validators: every requested page is sent.
    private static func server(_ broken: Set<Int> = []) throws -> ScriptedServer {
        try ScriptedServer { request in
            if request.target == "/boards" {
                return .init(body: "[" + (1...parents).map { #"{"id":\#($0)}"# }.joined(separator: ",") + "]")
            }
            let board = Int(request.target.split(separator: "/")[1]) ?? 0
            // A sync must not end before it is killed.
            usleep(40_000)
            if broken.contains(board) { return .init(status: "403 Forbidden", body: #"{"message":"private"}"#) }
            return .init(body: #"[{"id":\#(2 * board),"text":"a"},{"id":\#(2 * board + 1),"text":"b"}]"#)
        }
    }

    @Test(
        "ten kills of a for_each over 300 parents cost a few requests each, those of the units in flight, whatever makes a commit",
        arguments: [1, 5])
    func kills(unit: Int) async throws {
        let folder = try TemporaryFolder(), server = try Self.server()
        let file = try folder.write(
            "tarn.yaml", Self.yaml.replacing("COMMIT", with: unit == 1 ? "page" : "{ every: \(unit) }"))
        var dice = SeededRandom(seed: Self.seed &+ UInt64(unit)), kills = 0
        let arguments = ["sync", "--file", file, "--base", server.base, "--quiet"]
        while kills < Self.kills {
            let process = try TarnProcess(arguments), wanted = server.requests.count + 3 + dice.roll(0..<15)
            try await eventually { server.requests.count >= wanted || Self.hasEnded(process.processID) }
            process.send(SIGKILL)
            let status = await process.end().status
            #expect(status == -SIGKILL, "seed \(Self.seed), kill \(kills): \(status)")
            guard status == -SIGKILL else { break }
            kills += 1
        }
        let last = try await tarn("sync", "--file", file, "--base", server.base)
        #expect(
            last.status == 0 && last.output.contains("not requested again: 1 endpoint"),
            "seed \(Self.seed): \(last.output)\(last.error)")
        let extra = server.requests.count - (1 + Self.parents)
        // A unit that is committed, one that is fetched, and the lists that are begun.
        #expect(
            extra <= kills * (2 * max(unit, 8) + 8),
            "seed \(Self.seed): \(extra) requests too many after \(kills) kills")
        #expect(Forge.count("Card", folder.path + "/store.tarn") == 2 * Self.parents)
        print(
            "\(kills) kills of a for_each over \(Self.parents) parents, \(unit) pages a commit: \(extra) requests more than undisturbed, seed \(Self.seed)"
        )
        // It was complete: the next sync requests everything.
        let asked = server.requests.count
        try await expectSuccess(tarn(arguments))
        #expect(server.requests.count - asked == 1 + Self.parents)
    }

    @Test(
        "ten kills of a first sync of 2,000 details with eight requests in progress, and the store ends as that of an undisturbed one"
    )
    func details() async throws {
        let count = 2000,
            yaml = """
                api: { base: https://api.test.example, pace: { concurrent: 8 } }
                entities:
                  User: { key: id, attributes: { id: int, name: string } }
                  Item:
                    key: id
                    attributes: { id: int, name: string, text: string? }
                    relationships: { owner: { to: User, inverse: items } }
                endpoints:
                  items: { path: /items, entity: Item, paginate: header_link }
                  details: { path: '/items/{item.id}', for_each: Item, entity: Item, paginate: single_page }
                """
        let server = try ScriptedServer { request in
            if request.target.hasPrefix("/items/") {
                let id = Int(request.target.dropFirst(7)) ?? 0
                usleep(15_000)
                return .init(
                    body: #"{"id":\#(id),"name":"n\#(id)","text":"t\#(id % 7)","owner":{"id":\#(id % 50),"name":"u"}}"#)
            }
            let page = request.target.split(separator: "=").last.flatMap { Int($0) } ?? 1
            let items = (100 * page - 99...100 * page).map { #"{"id":\#($0),"name":"n\#($0)"}"# }
            let link = "Link: <https://api.test.example/items?page=\(page + 1)>; rel=\"next\""
            return .init(fields: page < count / 100 ? [link] : [], body: "[" + items.joined(separator: ",") + "]")
        }
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", yaml)
        func arguments(_ store: String) -> [String] {
            ["sync", "--file", file, "--base", server.base, "--quiet", "--store", folder.path + "/" + store]
        }
        try await expectSuccess(tarn(arguments("undisturbed")))
        let undisturbed = server.requests.count
        var dice = SeededRandom(seed: Self.seed), kills = 0
        while kills < Self.kills {
            let process = try TarnProcess(arguments("killed")), wanted = server.requests.count + 10 + dice.roll(0..<130)
            try await eventually { server.requests.count >= wanted || Self.hasEnded(process.processID) }
            process.send(SIGKILL)
            guard await process.end().status == -SIGKILL else { break }
            kills += 1
        }
        try await expectSuccess(tarn(arguments("killed")))
        #expect(kills == Self.kills, "seed \(Self.seed)")
        let reference = try await Forge.dump(folder.path + "/undisturbed")
        #expect(reference.count >= 2050)
        #expect(try await Forge.dump(folder.path + "/killed") == reference, "seed \(Self.seed)")
        try await expectSuccess(tarn("inspect", "verify", folder.path + "/killed"))
        print(
            "\(kills) kills of a first sync of \(count) details: \(server.requests.count - 2 * undisturbed) requests more than undisturbed, seed \(Self.seed)"
        )
    }

    @Test("a time limit that ends each sync after some parents lets them come to an end all the same")
    func timeLimit() async throws {
        let folder = try TemporaryFolder(), server = try Self.server()
        let file = try folder.write("tarn.yaml", Self.yaml.replacing("COMMIT", with: "page"))
        var ends = 0
        while true {
            let process = try TarnProcess(["sync", "--file", file, "--base", server.base, "--quiet"]),
                wanted = server.requests.count + 60
            try await eventually { server.requests.count >= wanted || Self.hasEnded(process.processID) }
            process.send(SIGTERM)
            let status = await process.end().status
            ends += 1
            if status == 0 { break }
            #expect(status == 143 && ends < 20, "\(status)")
            guard ends < 20 else { break }
        }
        #expect(ends > 2 && server.requests.count <= 1 + Self.parents + 24 * ends)
        #expect(Forge.count("Card", folder.path + "/store.tarn") == 2 * Self.parents)
    }

    @Test(
        "parents whose requests are refused are passed by: one line with their number and an example, and exit code 3, each time"
    )
    func passedBy() async throws {
        let folder = try TemporaryFolder(), server = try Self.server([1, 7, 8, 300])
        let file = try folder.write("tarn.yaml", Self.yaml.replacing("COMMIT", with: "page"))
        for _ in 0..<2 {
            let asked = server.requests.count
            let result = try await tarn("sync", "--file", file, "--base", server.base)
            #expect(result.status == 3 && server.requests.count - asked == 1 + Self.parents)
            let lines = result.errorLines.filter { $0.contains("403") }
            #expect(
                lines.count == 1 && lines[0].contains("skipped 4 records of Board")
                    && lines[0].contains("/boards/1/cards"),
                "\(result.error)")
        }
        #expect(Forge.count("Card", folder.path + "/store.tarn") == 2 * (Self.parents - 4))
    }

    @Test("a second tarn sync ends with 8 and names the process that is at work; a killed one is in nobody's way")
    func busy() async throws {
        let gate = ThreadGate(), folder = try TemporaryFolder()
        let server = try ScriptedServer { _ in
            gate.wait()
            return .init(body: "[]")
        }
        let file = try folder.write("tarn.yaml", Self.yaml.replacing("COMMIT", with: "page"))
        let arguments = ["sync", "--file", file, "--base", server.base]
        let first = try TarnProcess(arguments)
        try await gate.reached()
        let second = try await tarn(arguments)
        #expect(
            second.status == 8 && second.error.contains("boards: process \(first.processID) is syncing it"),
            "\(second.error)")
        let waiting = try TarnProcess(arguments + ["--wait"])
        try await Task.sleep(for: .milliseconds(300))
        #expect(server.requests.count == 1)
        first.send(SIGKILL)
        #expect(await first.end().status == -SIGKILL)
        gate.open()
        try await gate.reached(2)
        gate.open()
        #expect(await waiting.end().status == 0)
    }

    /// Whether a child has ended and was not yet reaped.
    private static func hasEnded(_ processID: pid_t) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8) else { return true }
        return text.contains(") Z ")
    }
}
