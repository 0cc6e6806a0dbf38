// The inspector's page in a browser.

import Foundation
import TestSupport
import Testing

@Suite(
    "Inspector: page in a browser",
    .enabled(if: Browser.isInstalled, "chromium is not installed: tools/test installs it"))
struct WebBrowserTests {
    /// A proxy for all addresses that are not of this machine, which nobody may use.
    private let outside: ScriptedServer
    init() throws { outside = try ScriptedServer { _ in .init(status: "502 Bad Gateway") } }

    /// The requests to other machines, without those that the browser sends of its own accord.
    private var requests: [String] {
        outside.targets.filter { target in
            !["google.com", "googleapis.com", "gvt1.com"].contains {
                target.contains($0 + "/") || target.contains($0 + ":")
            }
        }
    }

    private func document(_ page: RunningPage, _ view: String, _ arguments: String...) async throws -> String {
        let text = try await Browser.document(page.url + view, proxy: outside.base)
        #expect(!text.contains("This view failed") && !text.contains("[object"), "\(view): \(text.suffix(3000))")
        return text
    }

    @Test("every view of the forge loads, without an error and without a request to another machine")
    func views() async throws {
        let page = try await RunningPage(Forge.store)
        let overview = try await document(page, "#/")
        #expect(overview.contains("data-view=\"overview\"") && overview.contains("records of Issue"))
        #expect(overview.contains("#/records?entity=Milestone"))
        let records = try await document(page, "#/records?entity=Issue")
        #expect(records.contains("50 records of 50 read") && records.contains("id=\"next\""))
        let link = try #require(records.firstMatch(of: /#\/record\?entity=Issue&amp;key=[0-9a-f]+/))
        let record = try await document(page, String(link.output).replacing("&amp;", with: "&"))
        #expect(record.contains("data-view=\"record\"") && record.contains("<svg") && record.contains("Comment.issue"))
        #expect(record.contains("#/record?entity=User") && record.contains("Responses that list it"))
        let schema = try await document(page, "#/schema")
        #expect(schema.contains("Entities and relationships") && schema.contains("assignees: [User]"))
        #expect(try await document(page, "#/verify").contains("Check the whole store"))
        let wrong = try await Browser.document(page.url + "#/records?entity=Nothing", proxy: outside.base)
        #expect(wrong.contains("This view failed") && wrong.contains("Nothing"))
        #expect(requests == [])
        #expect(await page.end().status == 0)
        // A request would have been seen.
        _ = try await Browser.document("data:text/html,<img src='http://outside.example/seen'>", proxy: outside.base)
        #expect(requests == ["http://outside.example/seen"])
    }

    @Test("markup, escape sequences and marks of direction in names and values stay text")
    func hostile() async throws {
        let markup = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
        let text = markup + HostileTextTests.argument, folder = try TemporaryFolder()
        var quoted = ""
        quoted.appendJSONString(text)
        let body = "[{\"id\":1,\"name\":\(quoted),\"link\":\"javascript:document.title='run'\"}]"
        let server = try ScriptedServer { _ in .init(fields: ["Content-Type: application/json"], body: body) }
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: '\(server.base)' }
            entities:
              Thing: { key: id, attributes: { id: int, name: string, link: url } }
            endpoints:
              things: { path: /things, entity: Thing }
            """)
        try await expectSuccess(tarn("sync", "--file", file, "--store", folder("s.tarn"), "--quiet"))
        let page = try await RunningPage(folder("s.tarn"))
        let list = try await document(page, "#/records?entity=Thing")
        let link = try #require(list.firstMatch(of: /#\/record\?entity=Thing&amp;key=[0-9a-f]+/))
        let record = String(link.output).replacing("&amp;", with: "&")
        for view in ["#/", "#/records?entity=Thing", record, "#/schema"] {
            let found = try await document(page, view)
            #expect(found.contains("<title>Tarn inspector</title>") && !found.contains("<img"), "\(view)")
            #expect(found.components(separatedBy: "<script").count == 2 && !found.contains("href=\"javascript:"))
            if view.contains("entity") {
                #expect(found.contains("&lt;script&gt;") && found.contains("\\u001b") && found.contains("\\u202e"))
                #expect(!found.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" || $0 == "\u{61C}" })
            }
        }
        #expect(requests == [])
        _ = await page.end()
    }
}
