// Every form of condition, on a store with indexes and on one without.

import Foundation
import LMDB
import Testing

@testable import TarnStore

struct ConditionTests {
    /// Six issues that differ in every attribute.
    private func filled(_ indexed: Bool) throws -> QueryStore {
        let store = try QueryStore(indexed: indexed)
        try store.store.put("User", 1, ["login": .string("ada"), "city": .string("London")])
        try store.store.put("User", 2, ["login": .string("Bob"), "boss": .reference(1)])
        try store.put(
            1,
            [
                "title": .string("Zażółć"), "updatedAt": date("2026-01-02T03:04:05Z"), "comments": .int(-5),
                "price": .decimal(ExactDecimal("1.50")!),
                "tags": .array([.string("a"), .string("B")]), "author": .reference(1),
                "labels": .references(["bug", "ui"]),
                "ratio": .double(-0.0), "big": .uint(.max),
                "token": .uuid(UUID(uuidString: "00000000-0000-0000-0000-000000000001")!),
            ])
        try store.put(
            2,
            [
                "title": .string("zebra"), "state": .string("closed"), "updatedAt": date("2026-01-02T00:00:00Z"),
                "comments": .int(300),
                "price": .decimal(ExactDecimal("-12")!), "author": .reference(2), "labels": .references(["ui"]),
                "ratio": .double(.nan),
                "big": .int(7),
            ])
        try store.put(
            3, ["title": .string("Zebra crossing"), "comments": .null, "author": .reference(99), "tags": .array([])])
        try store.put(
            4,
            [
                "title": .string("z%_\\x"), "comments": .int(0), "price": .decimal(ExactDecimal("1.5e-3")!),
                "labels": .references([]),
            ])
        try store.put(
            5, entity: "Bug",
            ["title": .string(""), "severity": .int(3), "ratio": .double(2.5), "author": .reference(1)])
        try store.put(6, ["title": .string("a\u{0}b"), "ratio": .double(-.infinity)])
        return store
    }

    private static let cases: [(Condition, [Int64])] = [
        (.all, [1, 2, 3, 4, 5, 6]),
        (.not(.all), []),
        (.compare("state", .equal, .string("closed")), [2]),
        (.compare("state", .notEqual, .string("closed")), [1, 3, 4, 5, 6]),
        (.compare("comments", .less, .int(1)), [1, 4]),
        (.compare("comments", .greaterOrEqual, .int(0)), [2, 4]),
        (.compare("comments", .notEqual, .int(0)), [1, 2, 3, 5, 6]),
        (.not(.compare("comments", .less, .int(1))), [2, 3, 5, 6]),
        (.compare("comments", .equal, .null), [3, 5, 6]),
        (.compare("comments", .notEqual, .null), [1, 2, 4]),
        (.compare("comments", .less, .null), []),
        (.compare("comments", .lessOrEqual, .double(300)), [1, 2, 4]),
        (.isMissing("comments"), [3, 5, 6]),
        (.isIn("comments", [.int(0), .int(300), .int(0)]), [2, 4]),
        (.isIn("comments", [.int(0), .null]), [3, 4, 5, 6]),
        (.not(.isIn("comments", [.int(0), .null])), [1, 2]),
        (.isIn("comments", []), []),
        (.between("comments", .int(-5), .int(0)), [1, 4]),
        (.between("comments", .int(1), .int(-1)), []),
        (.compare("big", .greater, .int(7)), [1]),
        (.compare("big", .greater, .int(-1)), [1, 2]),
        (.compare("big", .equal, .uint(.max)), [1]),
        (.compare("ratio", .equal, .double(0)), [1]),
        (.compare("ratio", .equal, .double(.nan)), [2]),
        (.compare("ratio", .greater, .int(0)), [2, 5]),
        (.compare("ratio", .less, .int(0)), [6]),
        (.compare("price", .equal, .string("1.5")), [1]),
        (.compare("price", .less, .int(1)), [2, 4]),
        (.compare("price", .greater, .string("0.0014999")), [1, 4]),
        (.compare("updatedAt", .equal, .string("2026-01-02")), [2]),
        (.compare("updatedAt", .greater, .string("2026-01-02T03:04:05+01:00")), [1]),
        (.compare("token", .equal, .string("00000000-0000-0000-0000-000000000001")), [1]),
        (.compare("title", .equal, .string("zebra")), [2]),
        (.compare(FieldPath("title", ignoringCase: true), .equal, .string("ZEBRA")), [2]),
        (.compare("title", .equal, .string("a\u{0}b")), [6]),
        (.compare("title", .greater, .string("a")), [1, 2, 3, 4, 6].filter { ![1, 3].contains($0) }),
        (.hasPrefix("title", "z"), [2, 4]),
        (.hasPrefix("title", "a\u{0}"), [6]),
        (.hasPrefix("title", ""), [1, 2, 3, 4, 5, 6]),
        (.hasPrefix(FieldPath("title", ignoringCase: true), "ZEB"), [2, 3]),
        (.contains("title", .string("ebra")), [2, 3]),
        (.contains(FieldPath("title", ignoringCase: true), .string("ŻÓŁ")), [1]),
        (.like("title", "z%"), [2, 4]),
        (.like("title", "_ebra%"), [2, 3]),
        (.like("title", "z\\%\\_\\\\x"), [4]),
        (.like("title", "%a_r%n%"), []),
        (.like("title", "%e_ra%"), [2, 3]),
        (.like("title", "Za____"), [1]),
        (.like(FieldPath("title", ignoringCase: true), "%RA C%G"), [3]),
        (.contains("tags", .string("B")), [1]),
        (.contains("tags", .string("b")), []),
        (.contains(FieldPath("tags", ignoringCase: true), .string("b")), [1]),
        (.anyContains("ebra", ignoringCase: false), [2, 3]),
        (.anyContains("EBRA", ignoringCase: false), []),
        (.anyContains("EBRA", ignoringCase: true), [2, 3]),
        (.anyContains("ŻÓŁ", ignoringCase: true), [1]),
        (.anyContains("close", ignoringCase: false), [2]),
        (.anyContains("B", ignoringCase: false), [1]),
        (.and([.anyContains("b", ignoringCase: true), .not(.anyContains("ebra", ignoringCase: true))]), [1, 6]),
        // Elements of a list are texts of their own: none spans two, and no encoding is searched.
        (.anyContains("aB", ignoringCase: true), []),
        (.not(.anyContains("ope", ignoringCase: false)), [2]),
        (.anyContains("ada", ignoringCase: false), []),
        (.isMissing("tags"), [2, 4, 5, 6]),
        (.contains("labels", .string("ui")), [1, 2]),
        (.contains("labels", .reference("bug")), [1]),
        (.isMissing("labels"), [3, 4, 5, 6]),
        (.compare("author", .equal, .int(1)), [1, 5]),
        (.compare("author", .notEqual, .reference(1)), [2, 3, 4, 6]),
        (.isMissing("author"), [4, 6]),
        (.compare("author.login", .equal, .string("ada")), [1, 5]),
        (.isMissing("author.login"), [3, 4, 6]),
        (.compare("author.boss.city", .equal, .string("London")), [2]),
        (.compare("author.boss", .equal, .int(1)), [2]),
        (.hasPrefix(FieldPath("author.login", ignoringCase: true), "b"), [2]),
        (.compare("id", .greater, .int(4)), [5, 6]),
        (.isIn("id", [.int(6), .int(2), .int(77)]), [2, 6]),
        (
            .and([
                .compare("state", .equal, .string("open")),
                .or([.compare("comments", .equal, .int(0)), .isMissing("price")]),
            ]), [3, 4, 5, 6]
        ),
        (
            .or([
                .compare("comments", .equal, .int(300)), .compare("ratio", .equal, .double(2.5)),
                .compare("id", .equal, .int(2)),
            ]), [2, 5]
        ),
        (.not(.and([.compare("state", .equal, .string("open")), .isMissing("comments")])), [1, 2, 4]),
        (.and([]), [1, 2, 3, 4, 5, 6]),
        (.or([]), []),
    ]

    @Test(arguments: [true, false])
    func everyFormFindsWhatItSays(indexed: Bool) throws {
        let store = try filled(indexed)
        for (condition, expected) in ConditionTests.cases {
            #expect(try store.ids(condition) == expected, "\(condition)")
            #expect(
                try store.store.read { r in try r.count(Query("Issue", where: condition)) } == expected.count,
                "\(condition)")
            #expect(
                try store.ids(.not(condition)) == [1, 2, 3, 4, 5, 6].filter { !expected.contains($0) },
                "not \(condition)")
        }
    }

    @Test func derivedRelationshipsAreAskedFromTheOtherSide() throws {
        let store = try filled(true)
        func users(_ condition: Condition) throws -> [RecordKey] {
            try store.fetch(Query("User", where: condition)).map(\.key)
        }
        #expect(try users(.contains("issues", .int(5))) == [1])
        #expect(try users(.isMissing("staff")) == [2])
        #expect(try users(.not(.isMissing("issues"))) == [1, 2])
    }

    @Test func whatDoesNotFitTheCatalogIsAnErrorThatNamesIt() throws {
        let store = try filled(true)
        func error(_ condition: Condition) -> (any StoreFailure)? { storeError { _ = try store.ids(condition) } }
        #expect(error(.isMissing("titel"))?.description.contains("Issue has no titel: did you mean title?") == true)
        #expect(
            error(.isMissing("author.nam"))
                == StoreError.unknownField(
                    entity: "User", name: "nam", known: ["id", "login", "city", "boss", "issues", "staff"]))
        #expect(error(.isMissing("labels.name")) == StoreError.leadsToSeveral(entity: "Issue", relationship: "labels"))
        #expect(
            error(.compare("title.length", .equal, .int(1)))
                == StoreError.wrongType(entity: "Issue", field: "title", expected: "a relationship", found: "string"))
        #expect(
            error(.compare("state", .equal, .string("opne")))
                == StoreError.wrongType(
                    entity: "Issue", field: "state", expected: "one of open, closed", found: "\"opne\""))
        #expect(
            error(.compare("comments", .equal, .double(1.5)))
                == StoreError.wrongType(entity: "Issue", field: "comments", expected: "int", found: "double"))
        #expect(error(.compare("updatedAt", .equal, .string("2026-02-30"))) != nil)
        #expect(
            error(.compare("author", .equal, .string("ada")))
                == StoreError.wrongType(
                    entity: "Issue", field: "author", expected: "a key of User (int)", found: "\"ada\""))
        #expect(error(.compare("tags", .equal, .string("a"))) != nil)
        #expect(error(.compare("labels", .equal, .string("ui"))) != nil)
        #expect(error(.hasPrefix("comments", "1")) != nil)
        #expect(error(.compare(FieldPath("comments", ignoringCase: true), .equal, .int(1))) != nil)
        #expect(
            storeError { _ = try store.fetch(Query("Issues")) }
                == StoreError.unknownEntity(name: "Issues", known: ["User", "Label", "Issue", "Bug"]))
        #expect(storeError { _ = try store.fetch(Query("Issue", sortedBy: [.ascending("tags")])) } != nil)
    }
}
