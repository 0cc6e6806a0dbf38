// The outbox, the progress of syncs and missing targets in a browser.

import Foundation
import TarnStore
import TestSupport
import Testing

@Suite(
    "Inspector: outbox, progress and missing targets in a browser",
    .enabled(if: BrowserPage.isInstalled, "chromium is not installed: tools/test installs it"))
struct WebUnsentBrowserTests {
    /// Runs the closure with a page that is served, and a browser; checks that no script failed.
    private func browse(_ store: String, _ body: (BrowserPage, String) async throws -> Void) async throws {
        let outside = try ScriptedServer { _ in .init(status: "502 Bad Gateway") }
        try await visit(store, proxy: outside.base, body)
    }

    /// Opens a view, and returns its text as it is shown.
    private func text(_ browser: BrowserPage, _ url: String) async throws -> String {
        try await browser.open(url)
        let document = try await browser.document()
        #expect(
            !document.contains("This view failed") && !document.contains("[object"), "\(url): \(document.suffix(3000))")
        #expect(!document.contains("<img") && document.components(separatedBy: "<script").count == 2, "\(url)")
        #expect(document.contains("Tarn inspector</title>") && !document.contains("<title>run"))
        return try await browser.value("document.getElementById('view').innerText")
    }

    @Test("the outbox lists operations with values, state and failure as text, filters them, and opens one by key")
    func outbox() async throws {
        let unsent = try UnsentStore()
        try await browse(unsent.path) { browser, url in
            let all = try await text(browser, url + "#/outbox")
            for part in [
                "9 operations of 9 read", "failed", "waits for 1", "waits for 5", "absent → \"null\"", "title 3",
                "→ null",
                UnsentStore.refusal, "422", "503", "<script>", "\\u001b", "\\u202e", "temporary key", "missing",
                "These are the last operations.",
            ] {
                #expect(all.contains(part), "\(part) in \(all)")
            }
            #expect(try await browser.value("document.querySelectorAll('tbody tr').length") == "9")
            _ = try await browser.value("document.querySelector('.filters a[href*=\"state=dead\"]').click()")
            try await browser.wait(
                "location.hash === '#/outbox?state=dead' && document.querySelectorAll('tbody tr').length === 1")
            #expect(try await browser.value("document.querySelector('.filters [aria-current]').innerText") == "dead 1")
            try await browser.press("j")
            try await browser.press("Enter")
            try await browser.wait(
                "location.hash === '#/operation?id=3' && document.getElementById('view').dataset.run == 3")
            let third = try await browser.value("document.getElementById('view').innerText")
            for part in [
                "Changed fields", "title 3", "null", "Idempotency key", "Last failure", UnsentStore.refusal, "422",
            ] {
                #expect(third.contains(part), "\(part) in \(third)")
            }
            #expect(
                try await browser.value(
                    "[...document.querySelectorAll('nav [aria-current=page]')].map((one) => one.innerText).join()")
                    == "Outbox")
            let sixth = try await text(browser, url + "#/operation?id=6")
            #expect(sixth.contains("it creates a record that this one refers to"))
            #expect(try await text(browser, url + "#/operation?id=99").contains("no such operation"))
            let overview = try await text(browser, url + "#/")
            #expect(overview.contains("Unsent") && overview.contains("1 failed, 1 dead"))
        }
        withExtendedLifetime(unsent.store) {}
    }

    @Test("a record's view marks local fields, lists its unsent changes, and marks missing targets in the graph")
    func record() async throws {
        let unsent = try UnsentStore()
        try await browse(unsent.path) { browser, url in
            let record = url + "#/record?entity=Issue&key="
            let first = try await text(browser, record + UnsentStore.place(RecordKey(1)))
            #expect(first.contains("It has local changes") && first.contains("Unsent changes"), "\(first)")
            let marked = "[...document.querySelectorAll('dt')].filter((one) => one.innerText.includes('local')).length"
            #expect(try await browser.value(marked) == "2")
            let deleted = try await text(browser, record + UnsentStore.place(RecordKey(6)))
            #expect(deleted.contains("It was deleted locally: the server still has it."), "\(deleted)")
            _ = try await text(browser, record + UnsentStore.place(RecordKey(7)))
            let nodes = "[...document.querySelectorAll('.graph a.node')].map((one) => one.innerText).join('|')"
            let graph = try await browser.value(nodes).split(separator: "|")
            #expect(graph.contains { $0.contains("gone") && $0.contains("missing") }, "\(graph)")
            #expect(graph.contains { $0.contains("bug") && !$0.contains("missing") }, "\(graph)")
            // In the fields, too, and in the list of records.
            #expect(try await browser.value("document.querySelector('dd .tag').innerText") == "missing")
            let list = try await text(browser, url + "#/records?entity=Issue")
            #expect(list.contains("gone") && list.contains("missing") && list.contains("\"null\""), "\(list)")
        }
        withExtendedLifetime(unsent.store) {}
    }

    @Test("the progress of syncs is shown, from the endpoints to the lists of one; a duration has no negative zero")
    func progress() async throws {
        try await browse(Forge.store) { browser, url in
            let all = try await text(browser, url + "#/progress")
            #expect(all.contains("issues") && all.contains("complete") && all.contains("These are the last endpoints."))
            #expect(all.contains("12 of 12 lists complete"), "\(all)")
            _ = try await browser.value("document.querySelector('a[href*=\"name=checklist\"]').click()")
            try await browser.wait("document.getElementById('view').dataset.run == 2")
            #expect(try await browser.value("document.querySelectorAll('tbody tr').length") == "12")
            #expect(try await browser.value("document.body.innerText.includes('These are the last lists.')") == "true")
            let script = """
                (import(new URL('elements.js', location.href).href)
                  .then((page) => (window.zero = [-0, -0.4, 0, 90].map(page.duration).join('|'))), '')
                """
            _ = try await browser.value(script)
            try await browser.wait("window.zero === '0 s|0 s|0 s|90 s'")
        }
    }
}
