// The inspector's page in a browser.

import Foundation
import TarnStore
import TestSupport
import Testing

@Suite(
    "Inspector: page in a browser",
    .enabled(if: BrowserPage.isInstalled, "chromium is not installed: tools/test installs it"))
struct WebBrowserTests {
    /// A proxy for all addresses that are not of this machine, which nobody may use.
    private let outside: ScriptedServer
    init() throws { outside = try ScriptedServer { _ in .init(status: "502 Bad Gateway") } }

    /// The requests to other machines, without those that the browser sends of its own accord.
    private var proxied: [String] {
        outside.targets.filter { target in
            !["google.com", "googleapis.com", "gvt1.com"].contains {
                target.contains($0 + "/") || target.contains($0 + ":")
            }
        }
    }

    /// Runs the closure with a page that is served, and a browser.
    private func browse(_ store: String, _ body: (BrowserPage, String) async throws -> Void) async throws {
        // The browser logs each refused condition; the page shows it.
        try await visit(
            store, proxy: outside.base, except: { $0.contains("responded with a status of 400") }, body)
        #expect(proxied == [])
    }

    private func document(_ browser: BrowserPage, _ url: String) async throws -> String {
        try await browser.open(url)
        let text = try await browser.document()
        #expect(!text.contains("This view failed") && !text.contains("[object"), "\(url): \(text.suffix(3000))")
        return text
    }

    @Test("every view of the forge loads, without an error and without a request to another machine")
    func views() async throws {
        try await browse(Forge.store) { browser, url in
            let overview = try await document(browser, url + "#/")
            #expect(overview.contains("data-view=\"overview\"") && overview.contains("Size by entity"))
            #expect(overview.contains("#/records?entity=Milestone"))
            try await browser.wait("document.querySelectorAll('svg.map rect').length > 100")
            let records = try await document(browser, url + "#/records?entity=Issue")
            #expect(records.contains("50 records of 50 read") && records.contains("id=\"next\""))
            let link = try #require(records.firstMatch(of: /#\/record\?entity=Issue&amp;key=[0-9a-f]+/))
            let record = try await document(browser, url + String(link.output).replacing("&amp;", with: "&"))
            #expect(record.contains("data-view=\"record\"") && record.contains("Comment.issue"))
            #expect(record.contains("#/record?entity=User") && record.contains("Responses that list it"))
            // A line of the graph for each record in it.
            try await browser.wait("document.querySelector('.graph path').getAttribute('d')")
            #expect(try await browser.value("document.querySelectorAll('.graph path').length") != "0")
            #expect(
                try await browser.value(
                    "document.querySelectorAll('.graph a.node').length === document.querySelectorAll('.graph path').length"
                ) == "true")
            let schema = try await document(browser, url + "#/schema")
            #expect(schema.contains("Entities and relationships") && schema.contains("assignees"))
            #expect(Int(try await browser.value("document.querySelectorAll('.diagram path').length")) ?? 0 >= 10)
            #expect(try await document(browser, url + "#/responses").contains("stale for"))
            #expect(try await document(browser, url + "#/changes").contains("created"))
            #expect(try await document(browser, url + "#/pages").contains("data-view=\"pages\""))
            try await browser.wait("document.body.innerText.includes('Fragmentation')")
        }
        // A request would have been seen, by the browser and by the proxy.
        let browser = try await BrowserPage(proxy: outside.base)
        try await browser.navigate("data:text/html,<img src='http://outside.example/seen'>")
        #expect(await browser.requests.contains("http://outside.example/seen"))
        #expect(proxied == ["http://outside.example/seen"])
        await browser.close()
    }

    @Test("records are filtered by a text and by a condition, and sorted by an index, from the page itself")
    func records() async throws {
        try await browse(Forge.store) { browser, url in
            try await browser.open(url + "#/records?entity=Issue")
            _ = try await browser.value(
                "(document.querySelector('[name=where]').value = 'state = closed', document.querySelector('form[role=search]').requestSubmit())"
            )
            try await browser.wait(
                "location.hash.includes('where=') && document.getElementById('view').dataset.run == 2")
            #expect(try await browser.value("document.body.innerText.includes('50 records of')") == "true")
            // The head of a column that an index sorts is a link; a second click reverses the order.
            for order in ["up", "down"] {
                let run = try await browser.value("document.getElementById('view').dataset.run")
                _ = try await browser.value("document.querySelector(\"[aria-label='Sort by number']\").click()")
                try await browser.wait("document.getElementById('view').dataset.run > \(run)")
                let numbers = try await browser.value(
                    "[...document.querySelectorAll('tbody tr')].map((row) => row.cells[1].innerText.replace(',', ''))")
                let found = numbers.split(separator: ",").compactMap { Int($0) }
                #expect(found.count == 50 && found == found.sorted(by: order == "up" ? (<) : (>)), "\(found)")
            }
            #expect(try await browser.value("document.querySelector(\"[aria-label='Sort by title']\")") == "null")
            // The key has one column.
            let heads = try await browser.value(
                "[...document.querySelectorAll('thead th')].map((head) => head.innerText).join()")
            #expect(!heads.split(separator: ",").contains("id"), "\(heads)")
            let hash = try await browser.value("location.hash")
            let key = "choice.dispatchEvent(new KeyboardEvent('keydown', { key: '%' }))"
            _ = try await browser.value(
                "(choice = document.querySelector('select'), \(key.replacing("%", with: "ArrowDown")), choice.value = 'User', choice.dispatchEvent(new Event('change')))"
            )
            #expect(try await browser.value("location.hash") == hash)
            _ = try await browser.value(key.replacing("%", with: "Enter"))
            try await browser.wait("location.hash === '#/records?entity=User'")
            try await browser.open(url + "#/records?entity=Issue&where=state%20%3D")
            #expect(try await browser.value("document.getElementById('refused').innerText").contains("column"))
        }
    }

    @Test("every view is reached, paged and left with keys alone")
    func keyboard() async throws {
        try await browse(Forge.store) { browser, url in
            func press(_ key: String, shows view: String) async throws {
                let run = try await browser.value("document.getElementById('view').dataset.run")
                try await browser.press(key)
                try await browser.wait(
                    "document.getElementById('view').dataset.run > \(run) && document.getElementById('view').dataset.view === '\(view)'"
                )
            }
            try await browser.open(url)
            for (key, view) in [
                ("s", "schema"), ("x", "outbox"), ("g", "progress"), ("r", "responses"), ("c", "changes"),
                ("p", "pages"), ("v", "verify"),
                ("o", "overview"), ("e", "records"),
            ] {
                try await press(key, shows: view)
            }
            try await browser.open(url + "#/records?entity=Issue")
            for key in ["j", "j", "j", "k"] { try await browser.press(key) }
            let key = try await browser.value("document.querySelectorAll('tbody tr')[1].querySelector('a').hash")
            try await press("Enter", shows: "record")
            #expect(try await browser.value("location.hash") == key)
            try await press("u", shows: "records")
            try await press("n", shows: "records")
            #expect(try await browser.value("location.hash").contains("after="))
            try await browser.press("/")
            // In a field, a key is a character.
            try await browser.press("s")
            #expect(try await browser.value("document.activeElement.value") == "s")
            #expect(try await browser.value("document.getElementById('view').dataset.view") == "records")
            try await browser.open(url)
            try await browser.press("?")
            try await browser.wait("document.getElementById('keys').open")
        }
    }

    @Test("no view is wider than a phone, and texts have a contrast of 4.5 in light and in dark")
    func phone() async throws {
        let contrast = """
            (() => {
              const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
              const light = (color) => {
                canvas.fillStyle = color;
                canvas.fillRect(0, 0, 1, 1);
                const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((one) => one / 255)
                  .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
              };
              const back = light(getComputedStyle(document.body).backgroundColor);
              return Math.min(...[...document.querySelectorAll("h1, .quiet, main a, th, .good, dt")].map((one) => {
                const text = light(getComputedStyle(one).color);
                return (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
              }));
            })()
            """
        try await browse(Forge.store) { browser, url in
            let issues = try await document(browser, url + "#/records?entity=Issue")
            let link = try #require(issues.firstMatch(of: /#\/record\?entity=Issue&amp;key=[0-9a-f]+/))
            let record = String(link.output).replacing("&amp;", with: "&")
            let views = [
                "#/", "#/records?entity=Issue", record, "#/outbox", "#/progress", "#/responses", "#/changes",
                "#/schema",
                "#/pages", "#/verify",
            ]
            var backs: Set<String> = []
            for isDark in [false, true] {
                try await browser.show(width: 390, isDark: isDark)
                for view in views {
                    try await browser.open(url + view)
                    let width = try await browser.value("document.documentElement.scrollWidth")
                    #expect(width == "390", "\(view)")
                    let least = Double(try await browser.value(contrast)) ?? 0
                    #expect(least >= 4.5, "\(view), \(isDark ? "dark" : "light"): \(least)")
                }
                backs.insert(try await browser.value("getComputedStyle(document.body).backgroundColor"))
            }
            #expect(backs.count == 2)
        }
    }

    @Test("a commit appears in the change log without a reload, and a check shows its result")
    func live() async throws {
        let folder = try TemporaryFolder(), path = folder("s.tarn")
        let schema = Schema([
            EntityDefinition("Thing", key: ["id"], attributes: [.init("id", .int), .init("name", .string)])
        ])
        let store = try Store.open(at: path, schema: schema)
        try await store.write { try $0.put("Thing", RecordKey(1), [.init("name", .string("first"))]) }
        try await browse(path) { browser, url in
            try await browser.open(url + "#/changes")
            #expect(try await browser.value("document.querySelectorAll('tbody tr').length") == "1")
            try await browser.press("j")
            try await store.write { try $0.put("Thing", RecordKey(4711), [.init("name", .string("second"))]) }
            try await browser.wait("document.querySelector('tbody tr').innerText.includes('4711')")
            #expect(try await browser.value("document.querySelectorAll('tbody tr').length") == "2")
            #expect(try await browser.value("document.getElementById('view').dataset.run") == "1")
            #expect(try await browser.value("document.querySelector('tr.current').rowIndex") == "2")
            try await browser.open(url + "#/verify")
            _ = try await browser.value("document.querySelector('main button').click()")
            try await browser.wait("document.getElementById('result')?.innerText.includes('The store is sound')")
            #expect(try await browser.value("document.querySelector('tbody').innerText").contains("2"))
        }
        withExtendedLifetime(store) {}
    }

    @Test("markup, escape sequences and marks of direction in names and values stay text")
    func hostile() async throws {
        let markup = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
        let text = markup + HostileTextTests.argument + "\u{AD}", folder = try TemporaryFolder()
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
        try await browse(folder("s.tarn")) { browser, url in
            let list = try await document(browser, url + "#/records?entity=Thing")
            let link = try #require(list.firstMatch(of: /#\/record\?entity=Thing&amp;key=[0-9a-f]+/))
            let record = String(link.output).replacing("&amp;", with: "&")
            // A text in the address is as foreign as one in the store.
            let wanted = markup.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let filtered = "#/records?entity=Thing&text=\(wanted)"
            let others = ["#/schema", "#/outbox", "#/progress", "#/changes", "#/responses"]
            for view in ["#/", "#/records?entity=Thing", filtered, record] + others {
                let found = try await document(browser, url + view)
                #expect(found.contains("Tarn inspector</title>") && !found.contains("<img"), "\(view)")
                #expect(!found.contains("<title>run"))
                #expect(found.components(separatedBy: "<script").count == 2 && !found.contains("href=\"javascript:"))
                if view.contains("entity") {
                    #expect(found.contains("&lt;script&gt;") && found.contains("\\u001b") && found.contains("\\u202e"))
                    let hidden: Set<Unicode.Scalar> = ["\u{1B}", "\u{202E}", "\u{61C}", "\u{AD}"]
                    #expect(!found.unicodeScalars.contains { hidden.contains($0) })
                }
            }
        }
    }

    @Test("the current view, the order of a list, and the record of a tab are told to assistive programs and in titles")
    func names() async throws {
        try await browse(Forge.store) { browser, url in
            let current = "[...document.querySelectorAll('nav [aria-current=page]')].map((one) => one.innerText).join()"
            try await browser.open(url + "#/records?entity=Issue&order=number&reversed=yes")
            #expect(try await browser.value(current) == "Records")
            let sorted =
                "[...document.querySelectorAll('th[aria-sort]')].map((one) => one.innerText + one.ariaSort).join()"
            #expect(try await browser.value(sorted) == "numberdescending")
            let name = (try await Forge.store as NSString).lastPathComponent
            try await browser.wait("document.title === 'Issue · \(name) · Tarn inspector'")
            let link = try await browser.value("document.querySelector('td.first a').hash")
            let key = try await browser.value("document.querySelector('td.first a').innerText")
            try await browser.open(url + link)
            try await browser.wait("document.title === 'Issue \(key) · \(name) · Tarn inspector'")
            #expect(try await browser.value(current) == "Records")
            try await browser.open(url + "#/verify")
            try await browser.wait("document.title === 'Verify · \(name) · Tarn inspector'")
            #expect(try await browser.value(current) == "Verify")
        }
        let page = try await RunningPage(Forge.store), port = try page.port
        let connection = try RawConnection(port: port)
        let path = page.url.replacing("http://127.0.0.1:\(port)", with: "")
        try connection.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
        #expect(String(decoding: try connection.message().body, as: UTF8.self).contains("<noscript>"))
        #expect(await page.end().status == 143)
    }

    @Test("a link of the live change log keeps the focus when new changes come in")
    func focus() async throws {
        let folder = try TemporaryFolder(), path = folder("s.tarn")
        let schema = Schema([EntityDefinition("Thing", key: ["id"], attributes: [.init("id", .int)])])
        let store = try Store.open(at: path, schema: schema, options: .init(durability: .relaxed))
        try await store.write { writer in
            for number: Int64 in 1...300 { try writer.put("Thing", RecordKey(number), []) }
        }
        try await browse(path) { browser, url in
            try await browser.open(url + "#/changes")
            for (script, focused) in [
                ("document.getElementById('next')", "document.activeElement.id === 'next'"),
                (
                    "document.querySelectorAll('tbody a')[1]",
                    "document.activeElement === document.querySelectorAll('tbody a')[2]"
                ),
            ] {
                _ = try await browser.value("\(script).focus()")
                let shown = try await browser.value("document.querySelector('td').innerText")
                let number = 1000 + (Int64(shown) ?? 0)
                try await store.write { try $0.put("Thing", RecordKey(number), []) }
                try await browser.wait("document.querySelector('tbody tr').innerText.includes('\(number)')")
                #expect(try await browser.value(focused) == "true", "\(script)")
            }
        }
        withExtendedLifetime(store) {}
    }

    @Test("an empty text is not shown as a missing value; a kind with few of many rows is read on without a click")
    func sparse() async throws {
        let folder = try TemporaryFolder(), path = folder("s.tarn")
        let schema = Schema([
            EntityDefinition(
                "Event", key: ["id"], attributes: [.init("id", .int), .init("note", .string, optional: true)]),
            EntityDefinition("Push", parent: "Event", attributes: [.init("branch", .string, optional: true)]),
        ])
        let store = try Store.open(at: path, schema: schema, options: .init(durability: .relaxed))
        try await store.write { writer in
            for number: Int64 in 1...5200 { try writer.put("Event", RecordKey(number), []) }
            try writer.put("Push", RecordKey(9998), [.init("note", .string(""))])
            try writer.put("Push", RecordKey(9999), [.init("branch", .string("main"))])
        }
        try await browse(path) { browser, url in
            try await browser.open(url + "#/records?entity=Push")
            try await browser.wait("document.body.innerText.includes('2 records of 5,202 read.')")
            let cells = "[...document.querySelectorAll('tbody tr')].map((row) => row.cells[1].innerText).join('|')"
            #expect(try await browser.value(cells) == "\"\"|")
            #expect(
                try await browser.value("document.body.innerText.includes('These are the last records.')") == "true")
        }
        withExtendedLifetime(store) {}
    }

    @Test("a list keeps the column that gives its order, also if no record of the page has a value in it")
    func orderWithoutValues() async throws {
        let folder = try TemporaryFolder(), path = folder("s.tarn")
        let schema = Schema([
            EntityDefinition(
                "Thing", key: ["id"],
                attributes: [
                    .init("id", .int), .init("name", .string), .init("closed", .string, optional: true, indexed: true),
                ])
        ])
        let store = try Store.open(at: path, schema: schema, options: .init(durability: .relaxed))
        try await store.write { writer in
            for number: Int64 in 1...60 { try writer.put("Thing", RecordKey(number), [.init("name", .string("n"))]) }
            try writer.put("Thing", RecordKey(61), [.init("name", .string("n")), .init("closed", .string("yes"))])
        }
        try await browse(path) { browser, url in
            try await browser.open(url + "#/records?entity=Thing&order=closed")
            let sorted = "document.querySelector('th[aria-sort=ascending]').innerText"
            #expect(try await browser.value(sorted) == "closed")
            _ = try await browser.value("document.querySelector(\"[aria-label='Sort by closed']\").click()")
            try await browser.wait("document.querySelector('tbody tr').innerText.includes('yes')")
            #expect(try await browser.value("document.querySelector('td.first').innerText") == "61")
        }
        withExtendedLifetime(store) {}
    }
}
