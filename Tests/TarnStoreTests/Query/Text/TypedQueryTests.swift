// Queries built from the fields of a struct: their meaning, and their results.

import Foundation
import TarnStore
import Testing

@Suite("Typed queries")
struct TypedQueryTests {
    private func store() throws -> TypedStore {
        let store = try TypedStore()
        try store.put([Person("ada", isAdmin: true), Person("bob"), Person("Eve", isAdmin: false)])
        var tickets: [Ticket] = []
        for id in 1...30 {
            var ticket = Ticket(Int64(id), "Ticket \(id)")
            ticket.state = id % 3 == 0 ? .closed : .open
            ticket.author = id % 5 == 0 ? nil : Reference(["ada", "bob", "nobody"][id % 3])
            ticket.comments = id % 7
            ticket.closedAt = ticket.state == .closed ? Timestamp(microseconds: Int64(id) * 1_000_000) : nil
            ticket.scores = id % 2 == 0 ? [Double(id), 0.5] : nil
            tickets.append(ticket)
        }
        try store.put(tickets)
        return store
    }

    private func ids(_ query: TypedQuery<Ticket>, _ store: TypedStore) throws -> [Int64] {
        try store.store.read { r in try r.fetch(query).map(\.id) }
    }

    @Test("every operator says its condition")
    func operators() throws {
        func condition(_ body: (QueryFields<Ticket>) -> Condition) -> String { Ticket.where(body).query.condition.text }
        #expect(condition { $0[.state] == TicketState.open } == "state = \"open\"")
        #expect(condition { $0[.comments] != 3 } == "comments != 3")
        #expect(
            condition { $0[.comments] < 3 || $0[.comments] >= 5 || $0[.id] <= Int64(2) }
                == "comments < 3 or comments >= 5 or id <= 2")
        #expect(
            condition { $0[.comments] > 3 && !($0[.title] == "x" || $0[.closedAt].isMissing) }
                == "comments > 3 and not (title = \"x\" or closedAt is missing)")
        #expect(condition { 1...3 ~= $0[.comments] } == "comments between 1 and 3")
        #expect(condition { 1..<3 ~= $0[.comments] } == "comments >= 1 and comments < 3")
        #expect(condition { $0[.comments].between(1, 3) } == "comments between 1 and 3")
        #expect(condition { $0[.comments].isIn([1, 3]) } == "comments in (1, 3)")
        #expect(
            condition { $0[.title].hasPrefix("a\"") && $0[.title].ignoringCase.contains("B") && $0[.title].like("%c") }
                == "title begins with \"a\\\"\" and nocase(title) contains \"B\" and title like \"%c\"")
        #expect(condition { $0[.scores].contains(0.5) } == "scores contains double(0.5)")
        #expect(condition { $0.through(.author, Person.self)[.login] == "ada" } == "author.login = \"ada\"")
        #expect(condition { $0[.author] == Reference<Person>("ada") } == "author = key(\"ada\")")
        #expect(condition { $0[.author] == nil as Reference<Person>? } == "author = null")
        #expect(condition { $0[.closedAt] > Timestamp(microseconds: 0) } == "closedAt > date(\"1970-01-01T00:00:00Z\")")
        #expect(condition { $0["unnamed"] == "x" } == "unnamed = \"x\"")
        let pages = Page.where {
            $0[.hits] == UInt64.max && $0[.price] == ExactDecimal("1.50") && $0[.digest] == Data([1])
        }
        #expect(
            pages.query.condition.text == "hits = 18446744073709551615 and price = 1.5 and digest = bytes(\"AQ==\")")
        let person = Person.where { $0.through("tickets", Ticket.self)[.id] == Int64(1) }
        #expect(person.query.condition.text == "tickets.id = 1")
    }

    @Test("what is said after the condition is in the query, and two that say the same are equal")
    func values() {
        let query = Ticket.where { $0[.comments] > 1 }.filter { $0[.state] == TicketState.open }.sorted(
            by: .comments, .descending
        )
        .sorted(by: { $0.through(.author, Person.self)[.login].ignoringCase }).dropFirst(2).dropFirst().prefix(5)
        .prefix(9).partials(.excluded)
        #expect(
            query.query
                == Query(
                    "Ticket",
                    where: .and([.compare("comments", .greater, .int(1)), .compare("state", .equal, .string("open"))]),
                    sortedBy: [.descending("comments"), .ascending(FieldPath("author.login", ignoringCase: true))],
                    limit: 5, offset: 3,
                    partials: .excluded))
        #expect(Ticket.all.filter { $0[.comments] > 1 } == Ticket.where { $0[.comments] > 1 })
        #expect(Set([query, query.prefix(5), query.prefix(4)]).count == 2)
        #expect(Ticket.all.dropFirst().dropFirst(.max).query.offset == .max)
    }

    @Test("a query is answered with structs, lent rows, counts, the first, and pages")
    func answers() throws {
        let store = try store()
        let open = Ticket.where { $0[.state] == TicketState.open && $0.through(.author, Person.self)[.login] == "bob" }
        #expect(try ids(open, store) == [1, 4, 7, 13, 16, 19, 22, 28])
        #expect(try ids(open.sorted(by: .comments, .descending).prefix(3), store) == [13, 19, 4])
        #expect(
            try ids(Ticket.where { $0[.scores].contains(0.5) && $0[.closedAt].isMissing }.dropFirst().prefix(2), store)
                == [4, 8])
        #expect(
            try ids(Ticket.where { $0[.author] == "nobody" && $0[.comments].isIn([1, 2]) }, store) == [2, 8, 23, 29])
        // A target that is missing has no fields; a reference to it is one.
        #expect(
            try ids(
                Ticket.where {
                    $0.through(.author, Person.self)[.login].isMissing && !$0[.author].isMissing && $0[.id] < 6
                }, store) == [2])
        try store.store.read { r in
            #expect(try r.count(open) == 8 && r.exists(open) && !r.exists(Ticket.where { $0[.comments] > 6 }))
            #expect(try r.first(open.sorted(by: .id, .descending))?.id == 28)
            #expect(try r.first(Ticket.where { $0[.comments] > 6 }) == nil)
            var titles = 0, seen: [Int64] = []
            try r.forEach(open) { row in titles += try row.text(.title)?.count ?? 0 }
            #expect(titles == 3 * 8 + 5 * 9)
            try r.forEach(open) { row in
                seen.append(try row.get(.id))
                return seen.count < 2
            }
            #expect(seen == [1, 4])
            var pages: [[Int64]] = [], next: ContinuationToken?
            repeat {
                let page = try r.page(open.sorted(by: .comments).prefix(3).after(next))
                pages.append(page.records.map(\.id))
                next = page.next
            } while next != nil
            #expect(pages == [[7, 28, 1], [22, 16, 4], [19, 13]])
        }
    }

    @Test("the entity of a typed query stays that of its struct: another one stops the program")
    func entity() async {
        var query = Ticket.all
        query.query.limit = 3
        #expect(query == Ticket.all.prefix(3))
        await #expect(processExitsWith: .failure) {
            var query = Ticket.all
            query.query.entity = "Person"
            _ = query
        }
    }

    @Test("a value of another type is the error wrongType when the query is used")
    func wrongTypes() throws {
        let store = try store()
        let error = try TypedStore.error { _ = try ids(Ticket.where { $0[.comments] == "many" }, store) }
        guard case StoreError.wrongType(entity: "Ticket", field: "comments", _, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
