// Recognition never hides a change: random pages and edits, with it and without.

import Foundation
import TestSupport
import Testing

@testable import TarnImport
@testable import TarnStore

/// A made API of pages of issues, which changes at random and sometimes contradicts itself.
private struct ModelAPI {
    var random: SeededRandom
    private var titles: [Int: Int] = [:], authors: [Int: Int] = [:], labels: [Int: [Int]] = [:]
    private var logins: [Int: Int] = [:], names: [Int: Int] = [:]
    private var pages: [[Int]] = [[], [], [], []]
    private var nextIssue = 1
    private let padding: String

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        // Some runs have elements that are too small to be recognised one by one.
        padding = String(repeating: "x", count: seed % 4 == 0 ? 10 : ElementRecognition.smallestElement)
        for page in pages.indices { for _ in 0..<6 { addIssue(to: page) } }
    }

    var pageCount: Int { pages.count }

    private mutating func addIssue(to page: Int) {
        let id = nextIssue
        nextIssue += 1
        authors[id] = random.roll(1..<6)
        labels[id] = (0..<random.roll(0..<3)).map { _ in random.roll(1..<5) }
        pages[page].insert(id, at: random.roll(0..<pages[page].count + 1))
    }

    mutating func change() {
        let page = random.roll(0..<pages.count)
        switch random.roll(0..<8) {
        case 0: addIssue(to: page)
        case 1 where pages[page].count > 2: pages[page].remove(at: random.roll(0..<pages[page].count))
        case 2: logins[random.roll(1..<6), default: 0] += 1
        case 3: names[random.roll(1..<6), default: 0] += 1
        case 4:
            if let id = pages[page].randomElement(using: &random) { authors[id] = random.roll(1..<6) }
        case 5:
            // An issue moves to another page.
            guard pages[page].count > 2 else { return }
            let id = pages[page].remove(at: random.roll(0..<pages[page].count))
            pages[random.roll(0..<pages.count)].append(id)
        default:
            if let id = pages[page].randomElement(using: &random) { titles[id, default: 0] += 1 }
        }
    }

    private func user(_ id: Int, isOld: Bool) -> String {
        let login = max(0, logins[id, default: 0] - (isOld ? 1 : 0)), name = names[id, default: 0]
        // A name that is absent keeps the stored one.
        let text = name % 3 == 2 ? "" : #","name":\#(name % 3 == 1 ? "null" : "\"n\(name)\"")"#
        return #"{"id":\#(id),"login":"u\#(login)"\#(text)}"#
    }

    /// The body of a page; now and then with an old state of an author, or with an issue twice.
    mutating func body(_ page: Int) -> String {
        var ids = pages[page]
        if random.roll(0..<12) == 0, let first = ids.first { ids.append(first) }
        let isInconsistent = random.roll(0..<4) == 0
        let issues = ids.map { id in
            let author = user(authors[id] ?? 1, isOld: isInconsistent && random.roll(0..<3) == 0)
            let labels = (labels[id] ?? []).map { #"{"id":\#($0),"name":"l\#($0)"}"# }.joined(separator: ",")
            return
                #"{"id":\#(id),"title":"t\#(titles[id, default: 0])","text":"\#(padding)","author":\#(author),"labels":[\#(labels)]}"#
        }
        return #"{"items":[\#(issues.joined(separator: ","))],"page":\#(page)}"#
    }

    /// A change of the store by others.
    mutating func edit() -> @Sendable (inout StoreWriter) throws -> Void {
        let user = RecordKey(Int64(random.roll(1..<6))), issue = RecordKey(Int64(random.roll(1..<nextIssue)))
        let value = random.roll(0..<4)
        switch random.roll(0..<5) {
        case 0: return { _ = try $0.delete("Issue", issue) }
        case 1: return { _ = try $0.delete("User", user) }
        case 2:
            return { try $0.put("User", user, [.init("login", .string("u\(value)"))], isComplete: false) }
        case 3:
            return { try $0.put("Issue", issue, [.init("labels", .references([]))], isComplete: false) }
        default:
            return { try $0.put("Issue", issue, [.init("title", .string("t\(value)"))], isComplete: false) }
        }
    }
}

@Suite("Import: bodies that come again, against a model", .timeLimit(.minutes(10)))
struct RepeatedBodiesModelTests {
    private static let runs = ProcessInfo.processInfo.environment["TARN_RECOGNITION_RUNS"].flatMap { Int($0) } ?? 48

    @Test(
        "with random pages and edits by others between, a store that recognises bodies has the records of one that drafts all"
    )
    func agreement() throws {
        var bodies = 0, elements = 0, units = 0, again = 0
        for seed in 1...UInt64(Self.runs) {
            var api = ModelAPI(seed: seed)
            let own = try RecognizingStore(), plain = try TestStore(RecognizingStore.schema)
            for step in 0..<(isSanitized ? 12 : 40) {
                for _ in 0..<api.random.roll(0..<3) { api.change() }
                if api.random.roll(0..<3) == 0 {
                    let edit = api.edit()
                    for store in [own.bed.store, plain.store] { try store.write { try edit(&$0) } }
                }
                for _ in 0..<api.random.roll(1..<5) {
                    let page = api.random.roll(0..<api.pageCount), body = api.body(page)
                    try own.add(body, of: "/\(page)")
                    elements += own.bed.importer.kept.bodies.last?.repeated?.elements?.count ?? 0
                    try plain.add(body, "Issue", records: "items")
                }
                let report = try own.commit(), expected = try plain.commit()
                units += 1
                try #require(try own.bed.lines() == plain.lines(), "seed \(seed), step \(step)")
                try #require(report.created >= expected.created, "seed \(seed), step \(step)")
            }
            bodies += own.repeatedBodies
            again += own.bed.importer.draftedAgain
        }
        // Each way was taken often.
        let isExercised = bodies > units / 10 && elements > units && again > units / 50
        #expect(isExercised, "\(bodies) bodies, \(elements) elements, \(again) units again of \(units)")
    }
}
