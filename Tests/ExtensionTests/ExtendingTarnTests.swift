// swift-format-ignore-file
// (The page "Extending Tarn" has parts of this file.)
// A pagination style of a program, which the sources do not know: read from a description, walked, interrupted, resumed.

import ExtensionSample
import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("The page Extending Tarn", .timeLimit(.minutes(2)))
struct ExtendingTarnTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    private static let page = "Sources/Tarn/Tarn.docc/ExtendingTarn.md"

    private static func yaml(_ paginate: String, _ more: String = "") -> String {
        """
        api: { base: 'https://api.test.example/v1' }
        entities:
          Item: { key: id, attributes: { id: int } }
        endpoints:
          items:
            path: /items
            records: items
            entity: Item
            paginate: \(paginate)
        \(more)
        """
    }

    private static func parse(_ yaml: String) throws -> Description {
        let styles = PaginationStyles.standard.adding(RangePagination.syntax)
        let description = try Description.parse(yaml, file: "tarn.yaml", paginationStyles: styles)
        return description
    }

    private static func problem(_ yaml: String) -> String {
        do {
            _ = try parse(yaml)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test("a style of the program is read from a description, with the defaults of its keys")
    func reading() throws {
        let read = try Self.parse(Self.yaml("{ range: { from: first, to: last, width: 2, total: meta.total } }"))
        #expect(
            read.endpoints[0].pagination
                == Pagination(RangePagination(from: "first", to: "last", width: 2, total: "meta.total")))
        #expect(
            try Self.parse(Self.yaml("{ range: { from: a, to: b } }")).endpoints[0].pagination
                == Pagination(RangePagination(from: "a", to: "b")))
        #expect(try Self.parse(Self.yaml("header_link")).endpoints[0].pagination == .headerLink())
        let overlay = try read.applying(overlay: "entities: { Item: { ignore: [node_id] } }", file: "overlay.yaml")
        #expect(overlay.endpoints[0].pagination == read.endpoints[0].pagination)
    }

    @Test("a style of the program replaces a built-in one of the same name")
    func replacing() throws {
        let own = RangePagination(from: "first", to: "last")
        let styles = PaginationStyles.standard.adding(PaginationSyntax("auto", own))
        let read = try Description.parse(Self.yaml("auto"), file: "tarn.yaml", paginationStyles: styles)
        #expect(read.endpoints[0].pagination == Pagination(own))
    }

    @Test(
        "a mistake in the keys of a style of the program is an error with its place, as in those of the library",
        arguments: [
            ("range", "9:15: endpoints.items.paginate: range needs from and to: write { range: { from: first, to: last } }"),
            ("rang", "9:15: endpoints.items.paginate: unknown pagination \"rang\": did you mean \"range\"?"),
            ("{ range: { from: a } }", "9:17: endpoints.items.paginate.range.to: missing: write to: last"),
            (
                "{ range: { from: a, to: b, size: 2 } }",
                "9:42: endpoints.items.paginate.range.size: unknown key \"size\": expected one of from, to, width, total"
            ),
            (
                "{ range: { from: a, to: b, width: 0 } }",
                "9:49: endpoints.items.paginate.range.width: expected a whole number of at least 1, found \"0\""
            ),
            (
                "{ range: { from: a, to: b, total: 'a.*' } }",
                "9:49: endpoints.items.paginate.range.total: \"a.*\" is not a path to one value"
            ),
            ("{ range: { from: a, to: a } }", "9:39: endpoints.items.paginate.range.to: from has this name already"),
        ])
    func mistakes(written: String, expected: String) {
        let problem = Self.problem(Self.yaml(written))
        #expect(problem.hasPrefix("tarn.yaml:\(expected)"), "\(problem)")
    }

    @Test("a parameter that a style of the program sends cannot be sent by the endpoint too")
    func parameters() {
        let problem = Self.problem(Self.yaml("{ range: { from: a, to: b } }", "    with: { a: 1 }"))
        #expect(problem.contains("endpoints.items.with.a: paginate sends this parameter"), "\(problem)")
    }

    /// A server of five items. It fails at ranges that begin at `failing`.
    private static func server(_ failing: Set<Int>) throws -> ScriptedServer {
        try ScriptedServer { request in
            let numbers = request.target.split { !$0.isNumber }.compactMap { Int($0) }.suffix(2)
            guard let first = numbers.first, let last = numbers.last, !failing.contains(first) else {
                return .init(status: "500 Out of order")
            }
            let items = (0..<5).filter { (first...last).contains($0) }.map { "{\"id\":\($0)}" }.joined(separator: ",")
            return .tagged("\(first)", request, "{\"items\":[\(items)],\"meta\":{\"total\":5}}")
        }
    }

    private static func sync(_ description: Description, _ store: String, _ base: String) async throws -> SyncReport {
        var options = APIClient.Options()
        options.base = base + "/v1"
        options.retry = .never
        let mirror = try APIMirror(
            description, store: try Store.open(at: store, schema: description.schema), transport: CurlTransport(),
            client: options)
        return await mirror.sync()
    }

    @Test(
        "a style of the program walks a list, goes on where it was interrupted, and is answered 304 the next time",
        arguments: ["{ range: { from: first, to: last, width: 2 } }", "{ range: { from: first, to: last, width: 2, total: meta.total } }"])
    func walk(_ paginate: String) async throws {
        let folder = try TemporaryFolder(), store = folder.path + "/store"
        let description = try Self.parse(Self.yaml(paginate))
        let failing = try Self.server([4])
        let interrupted = try await Self.sync(description, store, failing.base)
        #expect(interrupted.failures.count == 1)
        #expect(
            failing.targets == ["/v1/items?first=0&last=1", "/v1/items?first=2&last=3", "/v1/items?first=4&last=5"])
        let server = try Self.server([])
        let resumed = try await Self.sync(description, store, server.base)
        #expect(resumed.failures.isEmpty, "\(resumed.failures)")
        #expect(resumed.endpoints[0].isResumed)
        #expect(server.targets == ["/v1/items?first=4&last=5"])
        let ids = try Store.open(at: store).read { reader in
            var ids: [Int64] = []
            try reader.forEach("Item") { record in
                if case .int(let id)? = record["id"] { ids.append(id) }
                return true
            }
            return ids
        }
        #expect(ids == [0, 1, 2, 3, 4])
        let again = try await Self.sync(description, store, server.base)
        #expect(again.failures.isEmpty && again.notModified == 3, "\(again.failures)")
    }

    @Test("a style of the program is tested without a server, and wrapped for an endpoint in Swift")
    func pure() throws {
        let style = RangePagination(from: "first", to: "last", width: 2)
        let first = style.firstPage(of: PageRequest(url: "https://api.example.org/items"))
        #expect(first.url == "https://api.example.org/items?first=0&last=1")
        let full = FetchedPage(first, PageFacts(recordCount: 2))
        #expect(try style.next(after: full) == .next("https://api.example.org/items?first=2&last=3"))
        let short = FetchedPage(first, PageFacts(recordCount: 1))
        #expect(try style.next(after: short) == .end)
        let endpoint = Endpoint(name: "items", path: "/items", entity: "Item", pagination: Pagination(style))
        #expect(endpoint.pagination == Pagination(style) && endpoint.pagination != .headerLink())
        #expect(Set([Pagination(style), .headerLink(), .headerLink(), .automatic]).count == 3)
    }

    @Test("every example of the page stands in a file that is compiled")
    func examples() throws {
        func lines(_ text: String) -> String {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
        }
        let blocks = try Self.text(Self.page).components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
        #expect(blocks.count == 6)
        let compiled = try [
            "Tests/ExtensionSample/RangePagination.swift", "Tests/ExtensionTests/ExtendingTarnTests.swift",
            "Sources/TarnCLI/Commands/InspectCommand.swift", "Sources/TarnStore/Schema/Types/UUIDType.swift",
        ].map { lines(try Self.text($0)) }
        for block in blocks { #expect(compiled.contains { $0.contains(lines(block)) }, "\(block)") }
        let yaml = try #require(try Self.text(Self.page).components(separatedBy: "```yaml\n").dropFirst().first)
        let endpoint = yaml.components(separatedBy: "```")[0].trimmingCharacters(in: .whitespacesAndNewlines)
        let read = try Self.parse(Self.yaml(String(endpoint.dropFirst("paginate: ".count))))
        #expect(read.endpoints[0].pagination == Pagination(RangePagination(from: "first", to: "last", width: 100)))
    }

    @Test("every file that the page names is there")
    func files() throws {
        let paths = try Self.text(Self.page).components(separatedBy: "`").filter {
            ($0.hasPrefix("Sources/") || $0.hasPrefix("Tests/")) && !$0.contains(" ") && !$0.contains("NAME")
        }
        #expect(paths.count > 20)
        for path in paths {
            #expect(FileManager.default.fileExists(atPath: Self.root.appendingPathComponent(path).path), "\(path)")
        }
    }

    @Test("every built-in style has a file of its own, and one line of registration")
    func styles() throws {
        let folder = "Sources/TarnHTTP/Pagination/Styles"
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.root.appendingPathComponent(folder).path)
        let registry = try Self.text("Sources/TarnHTTP/Pagination/PaginationStyles.swift")
        for file in files {
            let type = file.dropLast(".swift".count)
            // A closure of the program cannot be named by a description.
            #expect(registry.contains("        \(type).") || type == "CustomPagination", "\(file)")
            let text = try Self.text("\(folder)/\(file)")
            #expect(["PaginationStyle", "LastingStyle"].contains { text.contains("struct \(type): \($0)") }, "\(file)")
        }
        #expect(files.count == 11)
    }

    @Test("every attribute type has a descriptor in a file of its own, and a line of registration")
    func attributeTypes() throws {
        let folder = "Sources/TarnStore/Schema/Types"
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.root.appendingPathComponent(folder).path)
        let registry = try Self.text("Sources/TarnStore/Schema/AttributeType.swift")
        let types = files.map { String($0.dropLast(".swift".count)) }.filter { $0.hasSuffix("Type") }
        for type in types {
            #expect(registry.contains(": \(type)("), "\(type)")
            let text = try Self.text("\(folder)/\(type).swift")
            #expect(text.contains("struct \(type): AttributeTypeDescriptor"), "\(type)")
        }
        #expect(types.count == 13)
    }
}
