// Bodies that come again: recognised, and never at the price of a change.

import TestSupport
import Testing

@testable import TarnImport
@testable import TarnStore

/// An issue with its author and labels, padded to the size from which elements are recognised.
private func issue(_ id: Int, title: String = "t", author: String = #"{"id":1,"login":"ada"}"#, labels: String = "[]")
    -> String
{
    let padding = String(repeating: "x", count: ElementRecognition.smallestElement)
    return #"{"id":\#(id),"title":"\#(title)","text":"\#(padding)","author":\#(author),"labels":\#(labels)}"#
}

private func page(_ issues: [String], more: String = "true") -> String {
    #"{"more":\#(more),"items":[\#(issues.joined(separator: ","))],"total":7}"#
}

@Suite("Import: bodies that come again")
struct RepeatedBodiesTests {
    @Test("an equal body is not drafted: its records count as unchanged, and nothing is written but the entry")
    func equalBody() throws {
        let store = try RecognizingStore(), body = page([issue(1), issue(2, author: #"{"id":2,"login":"bob"}"#)])
        #expect(try store.take(body).created == 4)
        let lines = try store.bed.lines(), sequence = try store.bed.sequence, first = try #require(try store.entry())
        let added = try store.add(body, of: "/1")
        #expect(added.isRepeated && added.listed.count == 2 && added.count == 2)
        #expect(store.bed.importer.drafter.list.count == 0)
        let report = try store.commit()
        #expect(report.entities == ["Issue": .init(unchanged: 2), "User": .init(unchanged: 2)])
        #expect(report.listed == 2)
        #expect(try store.bed.lines() == lines && store.bed.sequence == sequence)
        #expect(try store.entry() == first && first.imported?.sequence == 1)
    }

    @Test("a body at another position of its list, with another key of the digest, or of another request is drafted")
    func otherCircumstances() throws {
        let store = try RecognizingStore(), body = page([issue(1)])
        try store.take(body)
        #expect(try !store.add(body, of: "/1", position: 20).isRepeated)
        store.bed.importer.discard()
        #expect(try !store.add(body, of: "/2").isRepeated)
        store.bed.importer.discard()
        store.bed.importer.bodyDigest = KeyedDigest(secret: "another store")
        let added = try store.add(body, of: "/1")
        #expect(!added.isRepeated && store.bed.importer.drafter.list.count == 2)
    }

    /// The changes by others after which an equal body is drafted.
    private static let edits: [(String, @Sendable (inout StoreWriter) throws -> Void)] = [
        ("a field of a listed record", { try $0.put("Issue", RecordKey(1), [.init("title", .string("x"))]) }),
        ("a field of a nested record", { try $0.put("User", RecordKey(1), [.init("login", .string("x"))]) }),
        ("a list", { try $0.put("Issue", RecordKey(1), [.init("labels", .references([]))]) }),
        ("a deleted record", { _ = try $0.delete("Issue", RecordKey(1)) }),
        ("a deleted nested record", { _ = try $0.delete("Label", RecordKey(4)) }),
    ]

    @Test("after a change by others the body is drafted at the commit, and its records are as it has them again")
    func editedByOthers() throws {
        for (what, edit) in Self.edits {
            let store = try RecognizingStore()
            let body = page([issue(1, labels: #"[{"id":4,"name":"bug"},{"id":5,"name":"new"}]"#), issue(2)])
            try store.take(body)
            let lines = try store.bed.lines()
            try store.bed.store.write { try edit(&$0) }
            #expect(try store.bed.lines() != lines, "\(what)")
            let report = try store.take(body)
            #expect(report.created + report.updated > 0, "\(what)")
            #expect(try store.bed.lines() == lines, "\(what)")
            // From now on it is recognised again.
            #expect(try store.add(body, of: "/1").isRepeated, "\(what)")
            #expect(try store.commit().unchanged > 0 && store.bed.lines() == lines, "\(what)")
            #expect(store.bed.importer.draftedAgain <= 1, "\(what)")
        }
    }

    @Test("a later change of another page to a nested record is undone by an equal body, as without recognition")
    func pagesThatContradict() throws {
        let store = try RecognizingStore(), old = page([issue(1)])
        try store.take(old, of: "/1")
        try store.take(page([issue(2, author: #"{"id":1,"login":"new"}"#)]), of: "/2")
        #expect(try store.bed.value("User", 1, "login") == .string("new"))
        #expect(try store.take(old, of: "/1").updated == 1)
        #expect(try store.bed.value("User", 1, "login") == .string("ada"))
    }

    @Test("pages of one unit that contradict each other are not recognised")
    func contradictionInUnit() throws {
        let store = try RecognizingStore()
        try store.add(page([issue(1)]), of: "/1")
        try store.add(page([issue(2, author: #"{"id":1,"login":"new"}"#)]), of: "/2")
        try store.commit()
        #expect(try store.entry("/1")?.imported == nil && store.entry("/2")?.imported == nil)
        #expect(try !store.add(page([issue(1)]), of: "/1").isRepeated)
    }

    @Test("of a page with one changed element only that element is drafted")
    func changedElement() throws {
        let store = try RecognizingStore(), issues = (1...8).map { issue($0) }
        try store.take(page(issues))
        var changed = issues
        changed[4] = issue(5, title: "changed")
        // Another record appears at the front: all elements move.
        changed.insert(issue(9), at: 0)
        let added = try store.add(page(changed, more: "false"), of: "/1")
        #expect(added.listed.map(\.storageKey) == [9, 1, 2, 3, 4, 5, 6, 7, 8].map { RecordKey($0).storageKey })
        // Two issues and their author.
        #expect(store.bed.importer.drafter.list.count == 3)
        let report = try store.commit()
        #expect(report.entities["Issue"] == .init(created: 1, updated: 1, unchanged: 7))
        #expect(report.entities["User"] == .init(unchanged: 1))
        #expect(try store.bed.value("Issue", 5, "title") == .string("changed"))
        #expect(try store.add(page(changed, more: "false"), of: "/1").isRepeated)
        try store.commit()
        // The elements of a reduced page are known as well.
        changed[8] = issue(8, title: "again")
        try store.add(page(changed), of: "/1")
        #expect(store.bed.importer.drafter.list.count == 2)
        #expect(try store.commit().updated == 1 && store.bed.importer.draftedAgain == 0)
        // The known elements were found by their lengths.
        #expect(store.bed.importer.parser.indexings == 0)
    }

    @Test("elements that were removed, added, moved or doubled are found by their lengths or by their tokens")
    func movedElements() throws {
        let issues = (1...12).map { issue($0, title: String(repeating: "t", count: $0)) }
        let pages: [(String, [String], walks: Bool)] = [
            ("first removed", Array(issues.dropFirst()), true), ("last removed", Array(issues.dropLast()), true),
            ("one removed", Array(issues[..<5] + issues[6...]), true),
            ("three removed", Array(issues[..<5] + issues[8...]), true),
            ("two added", [issue(20), issue(21)] + issues, true),
            ("one doubled", [issues[3]] + issues, true), ("reversed", issues.reversed(), false),
            ("white space", issues.map { "\n \($0)\t" }, true),
        ]
        for (what, list, walks) in pages {
            let store = try RecognizingStore()
            try store.take(page(issues))
            let added = try store.add(page(list), of: "/1")
            #expect(added.listed.count == list.count && store.bed.importer.drafter.list.count <= 4, "\(what)")
            #expect((store.bed.importer.parser.indexings == 0) == walks, "\(what)")
            try store.commit()
            // An entry of an earlier version does not have the lengths.
            var entry = try #require(try store.entry())
            #expect(entry.imported?.lengths.count == 4 * list.count, "\(what)")
            entry.imported?.lengths = []
            try store.bed.store.write { try $0.putResponse(entry) }
            try store.add(page(list, more: "0"), of: "/1")
            #expect(store.bed.importer.drafter.list.count == 0, "\(what)")
            #expect(store.bed.importer.parser.indexings == (walks ? 1 : 2), "\(what)")
        }
    }

    @Test("texts that look like the known list, but are not the list, are drafted as without recognition")
    func imitations() throws {
        let issues = (1...6).map { issue($0) }, changed = [issue(1, title: "changed")] + issues.dropFirst()
        let known = issues.joined(separator: ","), list = changed.joined(separator: ",")
        let text = known.replacing("\"", with: "\\\"")
        for body in [
            #"{"items":[\#(list)],"items":[]}"#, #"{"items":[\#(list)],"\u0069tems":[]}"#,
            #"{"\u0069tems":[],"items":[\#(list)]}"#, #"{"items":[],"items":[\#(list)]}"#,
            #"{"\u0069tems":[\#(list)]}"#, #"{"more":{"items":[\#(known)]},"items":[\#(issue(9))]}"#,
            #"{"more":[{"items":[\#(known)]}],"items":[]}"#, #"{"more":"\"items\":[\#(text)]","items":[\#(issue(9))]}"#,
            #"{"more":"[\#(text)]","items":[\#(list)],"total":{"items":[\#(known)]}}"#,
            #"{"items":[\#(list)],"more":{"items":[]}}"#,
            #"{"items":[\#(list),{"id":7,"title":"]}\"","author":null}]}"#,
            #"{"items":[\#(list),]}"#, #"{"items":[\#(list)}"#, #"{"items":[\#(list)]"#, #"{"items":[\#(list)]]}"#,
            #"{"items":[\#(list) \#(issue(9))]}"#, #"{"items":[,\#(list)]}"#, #"{"items":[\#(list),1]}"#,
            #"{"items":{"items":[\#(list)]}}"#, #"{"x" "items":[\#(list)]}"#, #"{"x":tru,"items":[\#(list)]}"#,
            #"{"x":[1,2}],"items":[\#(list)]}"#, #"{"x":1 2,"items":[\#(list)]}"#, #"{"x":1,,"items":[\#(list)]}"#,
            "\u{FEFF}" + #"{"items":[\#(list)]}"#, #" {"items" : [ \#(list) ] } "#, #"{"items":[\#(list)]}x"#,
        ] {
            let store = try RecognizingStore(), plain = try RecognizingStore()
            plain.bed.importer.bodyDigest = nil
            for store in [store, plain] { try store.take(page(issues)) }
            func take(_ store: RecognizingStore) throws -> String {
                do {
                    let added = try store.add(body, of: "/1")
                    return "\(added.listed) \(added.count) \(try store.commit().diagnostics)"
                } catch let error as ImportError {
                    return "\(error)"
                }
            }
            #expect(try take(store) == take(plain), "\(body)")
            #expect(try store.bed.lines() == plain.bed.lines(), "\(body)")
        }
    }

    @Test("if a changed element changes a record that an unchanged one has, the order of the page decides")
    func changedNested() throws {
        let store = try RecognizingStore()
        let stale = issue(3), renamed = #"{"id":1,"login":"new"}"#
        try store.take(page([issue(1), issue(2), stale, issue(4), issue(5)]))
        // Issue 3 still has the old author, and comes later: its values win.
        let report = try store.take(page([issue(1, author: renamed), issue(2), stale, issue(4), issue(5)]))
        #expect(try store.bed.value("User", 1, "login") == .string("ada") && store.bed.importer.draftedAgain == 1)
        #expect(report.entities == ["Issue": .init(unchanged: 5), "User": .init(updated: 1)] && report.listed == 5)
        #expect(report.keys(.updated).map(\.key) == [RecordKey(1)])
        let last = try RecognizingStore()
        try last.take(page([issue(1), issue(2), stale, issue(4), issue(5)]))
        try last.take(page([issue(1), issue(2), stale, issue(4), issue(5, author: renamed)]))
        #expect(try last.bed.value("User", 1, "login") == .string("new") && last.bed.importer.draftedAgain == 1)
        // Only the first of both merges changes the title.
        let other = try RecognizingStore()
        try other.take(page([issue(1), issue(2), stale, issue(4), issue(5)]))
        let changed = issue(2, title: "changed", author: renamed)
        let both = try other.take(page([issue(1, author: renamed), changed, stale, issue(4), issue(5)]))
        #expect(other.bed.importer.draftedAgain == 1 && both.keys(.updated, of: "Issue") == [RecordKey(2)])
    }

    @Test(
        "a page of which an unchanged element contradicts a changed one is stored with its new list, and not recognised"
    )
    func contradictionInPage() throws {
        let store = try RecognizingStore(), rest = (2...5).map { issue($0) }
        try store.take(page([issue(1)] + rest))
        let new = issue(6, author: #"{"id":2,"login":"bob"}"#)
        let contradictory = page([issue(1, author: #"{"id":1,"login":"new"}"#)] + rest + [new])
        for _ in 1...2 {
            try store.take(contradictory)
            let entry = try #require(try store.entry())
            #expect(entry.listing.listed.count == 6 && entry.imported == nil)
            #expect(try store.bed.value("User", 1, "login") == .string("ada") && store.bed.importer.draftedAgain == 1)
        }
    }

    @Test("a record that both merges of a unit have changed counts once beside one that neither has changed")
    func changedTwice() throws {
        let store = try RecognizingStore()
        let rest = [issue(2, author: #"{"id":2,"login":"bob"}"#), issue(3), issue(4), issue(5)]
        try store.take(page([issue(1)] + rest))
        let report = try store.take(page([issue(1, author: #"{"id":1,"login":"new"}"#)] + rest))
        #expect(try store.bed.value("User", 1, "login") == .string("ada") && store.bed.importer.draftedAgain == 1)
        #expect(report.entities["User"] == .init(updated: 1, unchanged: 1), "\(report)")
        #expect(report.keys(.updated).map(\.key) == [RecordKey(1)])
    }

    @Test("the report of a unit that is merged again has what the first merge has changed and left out")
    func mergedAgain() {
        var first = ImportReport(), second = ImportReport()
        var counts = ImportReport.Counts(created: 1, updated: 1)
        counts.partial = 1
        first.entities["User"] = counts
        first.leftOut = [ListedRecord(entity: 1, storageKey: [1])]
        first.note([0x15, 1], of: "User", .created, whole: RecordKey(1))
        second.entities["User"] = .init(unchanged: 2)
        let report = second.following(first)
        #expect(report.entities == ["User": counts])
        #expect(report.leftOut == first.leftOut && report.keys(.created, of: "User") == [RecordKey(1)])
    }

    @Test("invalid JSON beside known elements is an error with its place in the whole body")
    func invalid() throws {
        let store = try RecognizingStore(), issues = (1...6).map { issue($0) }
        try store.take(page(issues))
        var damaged = issues
        damaged[3] = #"{"id":4,"title":tru}"#
        let body = page(damaged)
        let offset = try #require(body.range(of: "tru}")).lowerBound.utf16Offset(in: body)
        #expect {
            try store.add(body, of: "/1")
        } throws: { error in
            guard case .invalidJSON(_, let found, let path, _)? = error as? ImportError else { return false }
            return (offset...offset + 4).contains(found) && path == "$.items[3].title"
        }
        for body in [
            page(issues).replacing("},{\"id\":3", with: "}{\"id\":3"),
            page(issues).replacing("}],\"total", with: "},],\"total"),
            String(page(issues).dropLast()), page(issues) + "]",
        ] {
            #expect(throws: ImportError.self) { try store.add(body, of: "/1") }
        }
        #expect(try store.take(page(issues)).unchanged == 7)
    }

    @Test("local marks, hooks and policies about stored records turn recognition off")
    func off() throws {
        let store = try RecognizingStore(), body = page([issue(1)])
        try store.take(body)
        store.bed.importer.hooks.afterMerge = { _, _ in }
        #expect(try !store.add(body, of: "/1").isRepeated)
        store.bed.importer.discard()
        store.bed.importer.hooks = ImportHooks()
        try store.bed.store.write { writer in
            try writer.put("Issue", RecordKey(1), [.init("title", .string("mine"))])
            try writer.markLocal("Issue", RecordKey(1), fields: ["title"])
        }
        #expect(try store.take(body).entities["Issue"]?.created == 0)
        #expect(try store.bed.value("Issue", 1, "title") == .string("mine"))
        let versioned = try RecognizingStore(Mapping(entities: ["Issue": EntityMapping { $0.version = "title" }]))
        #expect(!versioned.bed.importer.canRecognizeBodies)
    }
}
