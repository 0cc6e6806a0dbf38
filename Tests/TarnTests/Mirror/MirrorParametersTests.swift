// Lists whose answers have the parameters of the next request in an object: `continue` of MediaWiki.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: parameters of the next request in the answer", .timeLimit(.minutes(5)))
struct MirrorParametersTests {
    /// A wiki with pages two at a time, and the extract of one page an answer: for the second one,
    /// the same two pages are requested again.
    private final class Wiki: Sendable {
        static let titles = ["A", "B", "C", "D", "E"]
        private let state = Mutex((log: [[String]](), failsAt: Int?.none, isStuck: false))

        var transport: ClosureTransport {
            ClosureTransport { [self] request in
                let values = URLComponents(string: request.url)?.queryItems ?? []
                func value(_ name: String) -> String? { values.first { $0.name == name }?.value }
                let sent = values.filter { $0.name.hasSuffix("continue") }.map { "\($0.name)=\($0.value ?? "")" }
                let (fails, isStuck) = state.withLock { state in
                    state.log.append(sent.sorted())
                    return (state.log.count == state.failsAt, state.isStuck)
                }
                if fails { return TransportResponse(status: 500) }
                let first = value("gapcontinue").flatMap { Wiki.titles.firstIndex(of: $0) } ?? 0
                let extract = value("excontinue").flatMap { Int($0) } ?? 0
                let body = Wiki.answer(first, isStuck ? 0 : extract)
                return TransportResponse(status: 200, body: Array(body.utf8))
            }
        }

        private static func answer(_ first: Int, _ extract: Int) -> String {
            let shown = titles.indices[first..<min(first + 2, titles.count)]
            let pages = shown.map { index in
                let part = index - first == extract ? #","extract":"about \#(titles[index])""# : ""
                return #"{"pageid":\#(index + 1),"title":"\#(titles[index])"\#(part)}"#
            }
            var rest = #","batchcomplete":true"#
            if extract + 1 < shown.count {
                // The generator's own parameter is repeated, so that the answer has the same pages.
                let same = first > 0 ? #""gapcontinue":"\#(titles[first])","# : ""
                rest = #","continue":{\#(same)"excontinue":\#(extract + 1),"continue":"||"}"#
            } else if first + 2 < titles.count {
                rest += #","continue":{"gapcontinue":"\#(titles[first + 2])","continue":"gapcontinue||"}"#
            }
            return #"{"query":{"pages":[\#(pages.joined(separator: ","))]}\#(rest)}"#
        }

        func fail(atRequest number: Int?) { state.withLock { ($0.log, $0.failsAt) = ([], number) } }

        func getStuck() { state.withLock { $0.isStuck = true } }

        /// The parameters of the requests with which they continue.
        var log: [[String]] { state.withLock { $0.log } }
    }

    private static let requests = [
        [], ["continue=||", "excontinue=1"], ["continue=gapcontinue||", "gapcontinue=C"],
        ["continue=||", "excontinue=1", "gapcontinue=C"], ["continue=gapcontinue||", "gapcontinue=E"],
    ]

    private static func yaml(_ paginate: String, more: String = "") -> String {
        """
        api: { base: 'https://api.test.example' }
        entities:
          Page: { key: pageid, attributes: { pageid: int, title: string, extract: string? } }
        endpoints:
          pages:
            path: /api.php
            with: { action: query, generator: allpages, gaplimit: 2, prop: extracts, exlimit: 1, formatversion: 2 }
            records: query.pages
            entity: Page
            orphans: after_one_scan
            paginate: \(paginate)
        \(more)
        """
    }

    @Test(
        "all parameters are sent, those that an answer leaves out are not, and pages come in parts",
        arguments: ["{ parameters: { path: continue } }", "auto"])
    func walk(paginate: String) async throws {
        let wiki = Wiki(), store = try MirrorStore(yaml: Self.yaml(paginate))
        for _ in 0..<2 {
            wiki.fail(atRequest: nil)
            let report = try await store.sync(nil, transport: wiki.transport)
            #expect(report.failures.isEmpty && report.endpoint("pages")?.repeated == nil, "\(report.texts)")
            #expect(wiki.log == Self.requests)
            #expect(try store.count("Page") == 5)
            for (index, title) in Wiki.titles.enumerated() {
                #expect(try store.record("Page", Int64(index + 1))["extract"] == .string("about \(title)"))
            }
        }
        #expect(try store.checkpoint("pages")?.whole != nil)
    }

    @Test("a scan that was interrupted goes on with all parameters", arguments: 2...5)
    func resume(request: Int) async throws {
        let wiki = Wiki(), store = try MirrorStore(yaml: Self.yaml("{ parameters: { path: continue } }"))
        wiki.fail(atRequest: request)
        #expect(try await store.sync(nil, transport: wiki.transport).failures.count == 1)
        wiki.fail(atRequest: nil)
        let report = try await store.sync(nil, transport: wiki.transport)
        #expect(report.failures.isEmpty && report.endpoint("pages")?.isResumed == true, "\(report.texts)")
        #expect(wiki.log == Array(Self.requests.dropFirst(request - 1)))
        #expect(try store.count("Page") == 5)
        #expect(try store.record("Page", 4)["extract"] == .string("about D"))
    }

    @Test("parameters that were sent already are an error, and no loop")
    func loop() async throws {
        let wiki = Wiki(), store = try MirrorStore(yaml: Self.yaml("{ parameters: { path: continue } }"))
        wiki.getStuck()
        let report = try await store.sync(nil, transport: wiki.transport)
        #expect(report.texts.count == 1 && wiki.log.count == 2)
        #expect(report.texts.first?.contains("excontinue=1") == true, "\(report.texts)")
    }

    @Test("the style needs the path of the object, and goes on behind no record")
    func keys() {
        for (paginate, more, problem) in [
            ("parameters", "", "parameters needs path: write { parameters: { path: continue } }"),
            (
                "{ parameters: { path: continue } }", "    restart: { param: from, field: title, status: 422 }",
                "remove restart"
            ),
        ] {
            let error = #expect(throws: DescriptionError.self) {
                try Description.parse(Self.yaml(paginate, more: more), file: "tarn.yaml")
            }
            #expect(error?.description.contains(problem) == true, "\(String(describing: error))")
        }
    }
}
