// `tarn doctor`: each line with its verdict and the way out, and the exit code of the first failure.

import Foundation
import TestSupport
import Testing

@Suite("Command line: doctor")
struct DoctorCommandTests {
    private func verdicts(_ result: TarnProcess.Result) throws -> [String: String] {
        try result.lines.reduce(into: [:]) { verdicts, line in
            let finding = try json(line)
            verdicts[try #require(finding["check"] as? String)] = finding["verdict"] as? String
        }
    }

    @Test("a mirror in order is ok in every line, and nothing is changed")
    func sound() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer(itemPages)
        expectSuccess(try await tarn("sync", "--file", file, "--base", server.base))
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/tarn.tarn/data.mdb"))
        let result = try await tarn("doctor", "--file", file, "--base", server.base, "--json")
        #expect(result.status == 0, "\(result.output)\(result.error)")
        let verdicts = try verdicts(result)
        for subject in [
            "versions", "description", "file_system", "store", "quick_check", "processes", "credentials", "server",
        ] {
            #expect(verdicts[subject] == "ok", "\(subject): \(result.output)")
        }
        let text = try await tarn("doctor", "--file", file, "--base", server.base)
        #expect(text.output.contains("ok    store        \(folder.path)/tarn.tarn: opens, 3 records"), "\(text.output)")
        #expect(text.output.contains(" answered 404 in "), "\(text.output)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/tarn.tarn/data.mdb")) == before)
    }

    @Test("a redirect is the answer of the server: no other one is asked")
    func redirect() async throws {
        let other = try ScriptedServer { _ in .init(fields: ["Date: Thu, 01 Jan 2015 00:00:00 GMT"]) }
        let server = try ScriptedServer { _ in .init(status: "302 Found", fields: ["Location: \(other.base)/"]) }
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", itemsYAML())
        let result = try await tarn("doctor", "--file", file, "--base", server.base)
        #expect(result.status == 0 && result.output.contains("\(server.base) answered 302 in "), "\(result.output)")
        #expect(!result.output.contains("clock") && other.requests.isEmpty)
    }

    @Test("each failure names the way out, and is the exit code: 2, 4, 5 or 6")
    func failures() async throws {
        let folder = try TemporaryFolder()
        let none = try await tarn("doctor", "--file", folder.path + "/none.yaml")
        #expect(none.status == 2 && none.output.contains("tarn init"), "\(none.output)")
        let broken = try await tarn("doctor", "--file", try folder.write("broken.yaml", itemsYAML("x: 1")))
        #expect(broken.status == 2 && broken.output.contains("fail  description"), "\(broken.output)")
        #expect(broken.output.contains("`tarn check --file \(folder.path)/broken.yaml`"))

        let token = try folder.write("token.yaml", itemsYAML(api: "  auth: { bearer: { env: TARN_TEST_NO_TOKEN } }"))
        let unset = try await tarn("doctor", "--file", token, "--offline")
        #expect(unset.status == 4 && unset.output.contains("TARN_TEST_NO_TOKEN is not set"), "\(unset.output)")
        let set = try await tarn(
            ["doctor", "--file", token, "--offline"], environment: ["TARN_TEST_NO_TOKEN": "hush-hush"])
        #expect(set.status == 0 && set.output.contains("TARN_TEST_NO_TOKEN is set"), "\(set.output)")
        #expect(!set.output.contains("hush"))

        let file = try folder.write("tarn.yaml", itemsYAML()), dead = DeadPort()
        let offline = try await tarn("doctor", "--file", file, "--base", "http://127.0.0.1:\(dead.port)")
        #expect(offline.status == 5 && offline.output.contains("fail  server"), "\(offline.output)")

        let wrong = folder.path + "/wrong"
        try FileManager.default.createDirectory(atPath: wrong, withIntermediateDirectories: false)
        try Data("this is not LMDB".utf8).write(to: URL(fileURLWithPath: wrong + "/data.mdb"))
        let store = try await tarn("doctor", "--file", file, "--store", wrong, "--offline")
        #expect(store.status == 6 && store.output.contains("fail  store"), "\(store.output)")
    }

    @Test("a store that cannot be is a failure with its reason, and damage is named only where there may be some")
    func unusableStores() async throws {
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", itemsYAML())
        func line(_ store: String) async throws -> (finding: [String: String], status: Int32) {
            let result = try await tarn("doctor", "--file", file, "--offline", "--json", "--store", store)
            let lines = try result.lines.map { try json($0).compactMapValues { $0 as? String } }
            return (try #require(lines.first { $0["check"] == "store" }, "\(result.output)"), result.status)
        }
        let orphan = try await line(folder("none/s"))
        #expect(orphan.status == 6 && orphan.finding["verdict"] == "fail", "\(orphan)")
        #expect(orphan.finding["text"] == "\(folder("none")): No such file or directory", "\(orphan)")
        let inFile = try await line(file + "/s")
        #expect(inFile.status == 6, "\(inFile)")
        #expect(inFile.finding["text"] == "\(file)/s: Not a directory", "\(inFile)")
        let new = try await line(folder("s"))
        #expect(new.status == 0 && new.finding["verdict"] == "ok", "\(new)")

        try FileManager.default.createDirectory(atPath: folder("other"), withIntermediateDirectories: false)
        _ = try folder.write("other/notes.txt", "not a store")
        let other = try await line(folder("other"))
        let remedy = other.finding["remedy"] ?? ""
        #expect(other.status == 6 && remedy.hasPrefix("name the directory of a store"), "\(other)")
    }

    @Test("an invalid description is the finding, also if a base URL is named by an API")
    func invalidDescription() async throws {
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", "api: {}")
        let result = try await tarn("doctor", "--file", file, "--base", "forge=http://127.0.0.1:1")
        #expect(result.status == 2 && result.output.contains("fail  description"), "\(result.output)\(result.error)")
    }

    @Test("a file of a secret that others may read is a warning; a clock that is wrong is one too")
    func warnings() async throws {
        let folder = try TemporaryFolder()
        let secret = try folder.write("secret", "hush-hush")
        chmod(secret, 0o644)
        let file = try folder.write("tarn.yaml", itemsYAML(api: "  auth: { bearer: { file: secret } }"))
        let open = try await tarn("doctor", "--file", file, "--offline")
        #expect(open.status == 0 && open.output.contains("warn  credentials"), "\(open.output)")
        #expect(open.output.contains("chmod 600 \(secret)") && !open.output.contains("hush"))
        chmod(secret, 0o600)
        let server = try LocalServer([
            recording("/items", "[]", "Date: Mon, 01 Jan 2024 00:00:00 GMT")
        ])
        let late = try await tarn("doctor", "--file", file, "--base", server.base + "/items")
        #expect(late.output.contains("ok    credentials"), "\(late.output)")
        #expect(late.status == 0 && late.output.contains("warn  clock"), "\(late.output)")
        #expect(late.output.contains("s ahead of the server's"), "\(late.output)")
    }
}
