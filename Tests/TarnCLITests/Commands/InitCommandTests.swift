// `tarn init` as a user runs it: against real servers, with files, and what it refuses.

import Foundation
import TestSupport
import Testing

@Suite("tarn init")
struct InitCommandTests {
    private func server() throws -> LocalServer {
        try LocalServer([
            recording("/api/items", #"[{"id":1,"name":"a","box_id":7},{"id":2,"name":"b","box_id":8}]"#),
            recording("/api/boxes", #"{"data":[{"id":7,"color":"red"},{"id":8,"color":"blue"}]}"#),
            recording("/api/secret", #"{"message":"no"}"#, status: "401 Unauthorized"),
            recording(
                "/api/strict", #"{"message":"name a project for 5ecret-token"}"#, status: "400 Bad Request"),
            recording("/api/text", "hello"), recording("/api/empty", "[]"),
            recording(
                "/api/limited", #"{"message":"slow down"}"#, status: "403 Forbidden", "X-RateLimit-Remaining: 0",
                "X-RateLimit-Reset: 4102444800"),
            recording("/api/later", #"{"message":"slow down"}"#, status: "429 Too Many Requests", "Retry-After: 3000"),
            recording("/api/more", #"{"items":[{"id":1}],"has_more":true}"#),
            recording("/api/map", #"{"a":{"id":1,"n":1},"b":{"id":2,"n":2},"c":{"id":3,"n":3}}"#),
            recording("/api/odd", "[{\"id\":1,\"a\\u001b[31m\":\"\\u0007\"}]"),
        ])
    }

    @Test("the written file syncs as it is; a second run does not overwrite it")
    func sync() async throws {
        let server = try server(), folder = try TemporaryFolder(), file = folder("tarn.yaml")
        let urls = [server.base + "/api/items", server.base + "/api/boxes"]
        let result = try await tarn(["init", "--output", file] + urls)
        #expect(result.status == 0, "\(result.error)")
        #expect(result.output.isEmpty)
        #expect(result.error.contains("the samples import as: 2 Box, 2 Item"), "\(result.error)")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.contains("box: { to: Box, from: box_id, inverse: items }"), "\(text)")
        let synced = try await tarn("sync", "--file", file, "--quiet")
        #expect(synced.status == 0, "\(synced.error)")
        let boxes = try await tarn("related", "Box", "7", "items", "--file", file, "--format", "json")
        #expect(boxes.output.contains("\"name\":\"a\""), "\(boxes.output)\(boxes.error)")
        let again = try await tarn(["init", "--output", file] + urls)
        #expect(again.status == 2 && again.error.contains("--force"), "\(again.error)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
        let forced = try await tarn(["init", "--force", "--output", file, urls[0]])
        #expect(forced.status == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8) != text)
    }

    @Test("records of a map become records, and their names stay")
    func map() async throws {
        let server = try server(), folder = try TemporaryFolder(), file = folder("tarn.yaml")
        let result = try await tarn("init", server.base + "/api/map", "--output", file)
        #expect(result.status == 0 && result.error.contains("the samples import as: 3 Map"), "\(result.error)")
        let synced = try await tarn("sync", "--file", file, "--quiet")
        #expect(synced.status == 0, "\(synced.error)")
        let listed = try await tarn("list", "Map", "--file", file, "--format", "ndjson")
        #expect(
            listed.lines == [
                #"{"id":1,"n":1,"memberName":"a"}"#, #"{"id":2,"n":2,"memberName":"b"}"#,
                #"{"id":3,"n":3,"memberName":"c"}"#,
            ], "\(listed)")
    }

    @Test("without a directory of temporary files, no proposal is written, and the directory is not made")
    func missingTemporaryDirectory() async throws {
        let folder = try TemporaryFolder(), samples = try folder.write("samples.json", #"[{"id":1,"name":"a"}]"#)
        let result = try await tarn(
            ["init", samples, "--output", folder("tarn.yaml")], environment: ["TMPDIR": folder("none")])
        #expect(result.status == 1, "\(result)")
        for path in [folder("none"), folder("tarn.yaml")] { #expect(!FileManager.default.fileExists(atPath: path)) }
        let line = result.errorLines.first { $0.contains("cannot be checked") } ?? ""
        #expect(line.contains(folder("none") + ":") && !line.contains("Error Domain"), "\(result.error)")
    }

    @Test("--force keeps the link to the file, its mode and owner, and writes into what is no file")
    func forcedOntoLinks() async throws {
        let folder = try TemporaryFolder(), samples = try folder.write("samples.json", #"[{"id":1,"name":"a"}]"#)
        let file = try folder.write("real.yaml", "mine"), link = folder("link.yaml"), dangling = folder("new.yaml")
        try #require(chmod(file, 0o640) == 0)
        let isRoot = geteuid() == 0
        if isRoot { try #require(chown(file, 65534, 65533) == 0) }
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "real.yaml")
        try FileManager.default.createSymbolicLink(atPath: dangling, withDestinationPath: "later.yaml")
        for path in [link, dangling] {
            expectSuccess(try await tarn("init", samples, "--force", "--quiet", "--output", path))
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path).hasSuffix(".yaml"))
        }
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(try text.contains("Sample") && String(contentsOfFile: folder("later.yaml"), encoding: .utf8) == text)
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o640)
        if isRoot { #expect(status.st_uid == 65534 && status.st_gid == 65533) }
        #expect(mkfifo(folder("pipe"), 0o600) == 0)
        let piped = try await shell(
            "cat '\(folder("pipe"))' & \"$TARN\" init '\(samples)' --force --quiet --output '\(folder("pipe"))'; wait")
        #expect(piped.output == text, "\(piped)")
        #expect(stat(folder("pipe"), &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["later.yaml", "link.yaml", "new.yaml", "pipe", "real.yaml", "samples.json"])
    }

    @Test("on a terminal, a name that no entity can have is asked again, and a file that exists is not proposed")
    func questions() async throws {
        let server = try LocalServer([recording("/api/items", #"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#)])
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", "mine")
        let result = try await TypedSession.run(
            ["init", server.base + "/api/items", "--output", file],
            [
                ("tarn-2.yaml\\] ", file + "\r"), ("exists: name another file.*tarn-2.yaml\\] ", "\r"),
                ("Item\\] ", "my Item!\r"), ("a name has letters.*\\] ", "Thing\r"),
            ])
        #expect(result.status == 0 && !result.output.contains("MISSING"), "\(result.output)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
        #expect(try String(contentsOfFile: folder("tarn-2.yaml"), encoding: .utf8).contains("Thing:"))
    }

    @Test("a credential of the command line is not written, and its variable is named")
    func variable() async throws {
        let server = try server(), folder = try TemporaryFolder(), file = folder("tarn.yaml")
        let result = try await tarn([
            "init", server.base + "/api/items", "--header", "X-Api-Key: 5ecret", "--output", file,
        ])
        #expect(result.status == 0 && result.error.contains("put the credentials into API_TOKEN"), "\(result.error)")
        #expect(try !String(contentsOfFile: file, encoding: .utf8).contains("5ecret"))
        let without = try await tarn(["init", server.base + "/api/items", "--force", "--output", file])
        #expect(without.status == 0 && !without.error.contains("put the credentials"), "\(without.error)")
        // A variable that is set needs no advice.
        let set = try await shell(
            "API_TOKEN=5ecret \"$TARN\" init '\(server.base)/api/items' --header 'X-Api-Key: 5ecret' --force "
                + "--output '\(file)'")
        #expect(set.status == 0 && !set.error.contains("put the credentials"), "\(set.error)")
    }

    @Test("where no file can grow, nothing is written and nothing is left, so that the next attempt succeeds")
    func failedWrite() async throws {
        let server = try server(), folder = try TemporaryFolder(), file = folder("tarn.yaml")
        let command = "\"$TARN\" init '\(server.base)/api/items' --quiet --output '\(file)'"
        // No file can grow: the output of the program is a pipe.
        for option in ["", "--force"] {
            let failed = try await shell("set -o pipefail; (ulimit -f 0; \(command) \(option) 2>&1) | cat")
            #expect(failed.status == 1 && failed.output.contains("is not written"), "\(failed)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
        expectSuccess(try await shell(command))
    }

    @Test("--output - prints the file only, without control characters of the data")
    func standardOutput() async throws {
        let server = try server()
        let result = try await tarn("init", server.base + "/api/odd", "--output", "-", "--quiet")
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        #expect(result.output.hasPrefix("# Proposed by `tarn init`"))
        #expect(!(result.output + result.error).unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    }

    @Test(
        "failures have their exit codes",
        arguments: [
            ("/api/secret", 4, "the server returned 401: no; name the variable with a token by --auth-env"),
            ("/api/text", 1, "no JSON"), ("/api/none", 1, "404"),
            ("/api/empty", 1, "has an empty list: name one with records"),
            ("/api/limited", 7, "the server returned 403: slow down; wait until "),
            ("/api/later", 7, "the server returned 429: slow down; wait until "),
        ])
    func failures(path: String, status: Int32, text: String) async throws {
        let server = try server()
        let result = try await tarn("init", server.base + path, "--output", "-")
        #expect(result.status == status, "\(result.error)")
        #expect(result.error.contains(text) && result.output.isEmpty, "\(result.error)")
    }

    @Test("a refusal has the server's message, without the credentials that it repeats")
    func refusalMessage() async throws {
        let server = try server()
        let result = try await tarn(
            ["init", server.base + "/api/strict", "--auth-env", "API_TOKEN", "--output", "-"],
            environment: ["API_TOKEN": "5ecret-token"])
        #expect(result.status == 1, "\(result.error)")
        #expect(result.error.contains("the server returned 400: name a project for ***"), "\(result.error)")
        #expect(!result.error.contains("5ecret"), "\(result.error)")
    }

    @Test("a file without content and a folder are named as such")
    func unreadable() async throws {
        let folder = try TemporaryFolder(), file = try folder.write("empty.json", "")
        let empty = try await tarn("init", file, "--output", "-")
        #expect(empty.status == 2 && empty.error.contains("the file is empty"), "\(empty.error)")
        let parent = try await tarn("init", (file as NSString).deletingLastPathComponent, "--output", "-")
        #expect(parent.status == 2 && parent.error.contains("is a directory"), "\(parent.error)")
    }

    @Test("a list that goes on by an unknown parameter is reported as uncertain, and the sync of the file fails")
    func uncertain() async throws {
        let server = try server(), folder = try TemporaryFolder(), file = folder("tarn.yaml")
        let result = try await tarn("init", server.base + "/api/more", "--output", file)
        #expect(
            result.status == 0 && result.error.contains("UNCERTAIN: endpoint more: has_more is true"), "\(result.error)"
        )
        let printed = try await tarn("init", server.base + "/api/more", "--output", "-")
        #expect(printed.error.contains("UNCERTAIN: ") && printed.output.contains("# or paginate: "), "\(printed.error)")
        let synced = try await tarn("sync", "--file", file)
        #expect(synced.status == 3 && synced.error.contains("has_more is true"), "\(synced.error)")
    }

    @Test("a file of JSON needs a base URL, or says that it must be changed")
    func files() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("answer.json", #"[{"id":1,"name":"x"}]"#)
        let result = try await tarn("init", file, "--output", "-", "--quiet")
        #expect(result.status == 0 && result.output.contains("# CHANGE THIS"), "\(result.output)\(result.error)")
        let based = try await tarn("init", file, "--base", "https://api.test.example/v2", "--output", "-", "--quiet")
        #expect(based.output.contains("base: https://api.test.example/v2\n"))
        let missing = try await tarn("init", folder("nothing.json"), "--output", "-")
        #expect(missing.status == 2 && missing.error.contains("no such file"), "\(missing.error)")
    }

    @Test("the token goes to the server of the URL, and not to the one that a specification names")
    func tokenAndServers() async throws {
        let server = try server(), other = try ScriptedServer { _ in .init(body: #"[{"id":1}]"#) }
        let folder = try TemporaryFolder()
        let specification = try folder.write(
            "openapi.json",
            #"{"openapi":"3.0.0","info":{},"servers":[{"url":"\#(other.base)/api"}],"paths":{"/items":{"get":{"responses":"#
                + #"{"200":{"content":{"application/json":{"schema":{"type":"array","items":{"type":"object","#
                + #""properties":{"id":{"type":"integer"}}}}}}}}}}}}"#)
        let result = try await tarn(
            [
                "init", server.base + "/api/items", "--openapi", specification, "--live", "--auth-env", "ITEMS_TOKEN",
                "--output", "-", "--quiet",
            ], environment: ["ITEMS_TOKEN": "s3cret-token"])
        #expect(result.status == 0 && result.output.contains("base: \(server.base)/api"), "\(result.error)")
        #expect(result.output.contains("the specification names \(other.base)/api"), "\(result.output)")
        #expect(other.requests.isEmpty)
    }

    @Test("URLs of several servers are refused before a request, unless a base is named; a wrong base is not repeated")
    func severalServers() async throws {
        let server = try server(), other = try ScriptedServer { _ in .init(body: #"[{"id":1}]"#) }
        let urls = [server.base + "/api/items", other.base + "/things"]
        let refused = try await tarn(["init"] + urls + ["--output", "-"])
        #expect(refused.status == 2 && refused.output == "" && refused.error.contains("several servers"))
        #expect(refused.error.contains(server.base) && refused.error.contains(other.base) && other.requests.isEmpty)
        let based = try await tarn(["init"] + urls + ["--base", server.base, "--output", "-", "--quiet"])
        #expect(based.status == 0 && based.output.contains("base: \(server.base)"), "\(based.error)")
        for base in ["user:pa55@host", "https://user:pa55@host/", "ftp://user:pa55@host"] {
            let wrong = try await tarn("init", urls[0], "--base", base, "--output", "-")
            #expect(wrong.status == 2 && wrong.error.contains("--base") && !wrong.error.contains("pa55"))
        }
    }

    @Test("a URL with a password is refused, and the password is not repeated")
    func password() async throws {
        for arguments in [["http://ada:pa55word@127.0.0.1:9/things"], ["--openapi", "HTTPS://ada:pa55word@host/x"]] {
            let result = try await tarn(["init"] + arguments + ["--output", "-"])
            #expect(result.status == 2 && result.error.contains("must not contain a user or password: "))
            #expect(result.error.contains("--header 'Authorization: Basic …'"), "\(result.error)")
            #expect(!(result.output + result.error).contains("pa55word"), "\(result.error)")
        }
    }

    @Test("a token is read from the environment and not written")
    func token() async throws {
        let server = try server()
        let unset = try await tarn(
            "init", server.base + "/api/items", "--auth-env", "NO_SUCH_VARIABLE_X", "--output", "-")
        #expect(unset.status == 4, "\(unset.error)")
        let result = try await tarn(
            ["init", server.base + "/api/items", "--auth-env", "ITEMS_TOKEN", "--output", "-", "--quiet"],
            environment: ["ITEMS_TOKEN": "s3cret-token"])
        #expect(
            result.status == 0 && result.output.contains("auth: { bearer: { env: ITEMS_TOKEN } }"), "\(result.error)")
        #expect(!result.output.contains("s3cret-token"))
    }
}
