// The plan of a query, and its explanation.

import Foundation
import LMDB
import Testing

@testable import TarnStore

struct QueryPlanTests {
    private let store: QueryStore

    init() throws {
        store = try QueryStore(indexes: [
            IndexDefinition("stateUpdated", on: "state", "updatedAt"),
            IndexDefinition("openPrice", on: "price", where: [.init("state", .equal, .string("open"))]),
            IndexDefinition("folded", on: [.init("title", ignoringCase: true)]),
        ])
        let start = Timestamp("2026-01-01T00:00:00Z")!.microseconds
        try store.store.write { writer in
            for id in 1...2000 as ClosedRange<Int64> {
                try writer.put(
                    "Issue", RecordKey(id),
                    [
                        .init("title", .string("issue \(id % 100)")),
                        .init("state", .string(id % 4 == 0 ? "closed" : "open")),
                        .init("updatedAt", .date(Timestamp(microseconds: start + id * 1_000_000))),
                        .init("comments", .int(id % 50)),
                        .init("author", .reference(RecordKey(id % 20))),
                    ])
            }
        }
    }

    private func plan(_ query: Query) throws -> QueryPlan { try store.store.read { r in try r.explain(query) } }

    private func plan(_ condition: Condition, _ order: Query.Order..., limit: Int? = nil) throws -> QueryPlan {
        try plan(Query("Issue", where: condition, sortedBy: order, limit: limit))
    }

    @Test func aKeyIsLookedUp() throws {
        #expect(try plan(.compare("id", .equal, .int(7))).access == ["Issue by key: 7"])
        let several = try plan(.isIn("id", [.int(9), .int(7), .int(5000)]))
        #expect(several.access == ["Issue by key: 7, 9, 5000"])
        #expect(several.estimatedRows == 3 && several.filter == nil && several.sort == .none)
        #expect(try store.ids(.isIn("id", [.int(9), .int(7), .int(5000)])) == [7, 9])
        #expect(try plan(.compare("id", .less, .int(10))).access == ["Issue by key, < 10"])
    }

    @Test func aRangeOfAnIndexGivesTheOrder() throws {
        let query = Query(
            "Issue", where: .compare("updatedAt", .greaterOrEqual, .string("2026-01-01T00:10:00Z")),
            sortedBy: [.descending("updatedAt")], limit: 50)
        let plan = try plan(query)
        #expect(plan.access[0].hasPrefix("index updatedAt of Issue, >= "))
        #expect(plan.access[0].hasSuffix(", backwards"))
        #expect(plan.sort == .byIndex && plan.filter == nil && plan.estimatedRows == 50 && plan.totalRows == 2000)
        #expect(try store.ids(query) == (1951...2000).reversed())
    }

    @Test func equalValuesAndThenAnOrderTakeTheCombinedIndex() throws {
        let plan = try plan(.compare("state", .equal, .string("closed")), .descending("updatedAt"), limit: 3)
        #expect(plan.access == ["index stateUpdated of Issue, = \"closed\", backwards"])
        #expect(plan.sort == .byIndex && plan.filter == nil)
        #expect(
            try store.ids(.compare("state", .equal, .string("closed")), .descending("updatedAt"), limit: 3) == [
                2000, 1996, 1992,
            ])
    }

    @Test func aPartialIndexServesOnlyWhereItsConditionIsImplied() throws {
        let open = Condition.compare("state", .equal, .string("open"))
        #expect(try plan(.and([open, .compare("price", .greater, .int(1))])).access[0].hasPrefix("index openPrice"))
        #expect(try plan(.compare("price", .greater, .int(1))).access[0].hasPrefix("index price"))
        #expect(
            try plan(.and([.compare("state", .notEqual, .string("open")), .compare("price", .greater, .int(1))]))
                .access[0].hasPrefix("index price"))
    }

    @Test func aTextWhoseCaseDoesNotCountIsFoundByTheFoldedIndex() throws {
        let condition = Condition.compare(FieldPath("title", ignoringCase: true), .equal, .string("ISSUE 7"))
        #expect(try plan(condition).access == ["index folded of Issue, = \"issue 7\""])
        #expect(try store.ids(condition).count == 20)
    }

    @Test func aReferenceIsFollowedBackThroughItsIndex() throws {
        #expect(try plan(.compare("author", .equal, .int(3))).access == ["Issue by author, = 3"])
        #expect(try plan(.compare("author", .equal, .int(3))).filter == nil)
    }

    @Test func aConditionBehindARelationshipIsAnsweredThereFirst() throws {
        try store.store.put("User", 3, ["login": .string("ada"), "boss": .reference(4)])
        try store.store.put("User", 4, ["login": .string("bob")])
        let ada = Condition.compare("author.login", .equal, .string("ada"))
        #expect(try plan(ada).access == ["Issue by author, = 3"])
        #expect(try plan(ada).filter == nil)
        #expect(try plan(.compare("author.boss.login", .equal, .string("bob"))).access == ["Issue by author, = 3"])
        #expect(
            try plan(.compare("author.login", .equal, .string("eve"))).access == [
                "nothing: no record can meet the condition"
            ])
        // There are few users: they are looked at one by one.
        #expect(try plan(.contains("author.login", .string("ad"))).access == ["Issue by author, = 3"])
        #expect(try plan(.not(ada)).access == ["all records of Issue"])
        for condition in [
            ada, .compare("author.boss.login", .equal, .string("bob")), .contains("author.login", .string("ad")),
        ] {
            #expect(try store.ids(condition) == (1...2000).filter { $0 % 20 == 3 })
        }
    }

    @Test func branchesOfAnOrAreUnited() throws {
        let condition = Condition.or([
            .compare("id", .equal, .int(7)), .compare("title", .equal, .string("issue 7")),
            .compare("author", .equal, .int(7)),
        ])
        let plan = try plan(condition)
        #expect(plan.access.count == 3)
        #expect(plan.description.contains("    or: index title of Issue, = \"issue 7\""))
        #expect(try store.ids(condition) == (1...2000).filter { $0 % 100 == 7 || $0 % 20 == 7 })
    }

    @Test func withoutAnIndexAllRecordsAreLookedAtAndAnIndexIsAdvised() throws {
        let plan = try plan(
            .and([
                .isMissing("author.city"), .contains("title", .string("x")),
                .compare("token", .equal, .string("00000000-0000-0000-0000-000000000001")),
            ]),
            .ascending("comments"), .descending("ratio"))
        #expect(plan.sort == .inMemory)
        let scan = try self.plan(
            Query(
                "Issue", where: .compare("token", .equal, .string("00000000-0000-0000-0000-000000000001")),
                sortedBy: [.ascending("comments")]))
        #expect(scan.access == ["all records of Issue"] || scan.access == ["index comments of Issue"])
        #expect(scan.advice == "an index on (token, comments) would avoid reading up to 2000 rows")
        #expect(scan.filter == "token = \"00000000-0000-0000-0000-000000000001\"")
        #expect(scan.description.hasPrefix("access: "))
    }

    @Test func whatNothingCanMeetReadsNothing() throws {
        #expect(
            try plan(.and([.compare("comments", .less, .int(3)), .compare("comments", .greater, .int(5))])).access == [
                "nothing: no record can meet the condition"
            ])
        #expect(
            try store.ids(.and([.compare("comments", .less, .int(3)), .compare("comments", .greater, .int(5))])) == [])
    }
}
