// The connections of RestKit: relationships by the values of attributes.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("From RestKit: connections")
struct RKConnectionTests {
    private static let entities = """
        Employee:
          key: id
          attributes: { id: int, departmentCode: { type: string?, index: true } }
          relationships:
            manager: { to: Employee, from: manager_id, inverse: reports }
            friends: { to: [Employee], from: friend_ids, ordered: true }
            department: { to: Department, join: { departmentCode: code }, inverse: employees }
        Department: { key: id, attributes: { id: int, code: { type: string, unique: true }, name: string? } }
        """

    private func company(_ documents: String...) throws -> ImportFixture {
        let company = try ImportFixture(entities: Self.entities)
        for document in documents { try company.add(document, "Employee") }
        return company
    }

    @Test(
        "RKConnectionDescription -initWithRelationship:attributes: on an identifier → @Relationship(from: \"manager_id\"): the id is the reference, without an attribute for it"
    )
    func byIdentifier() throws {
        let company = try company(#"[{"id": 1, "manager_id": 2}, {"id": 2}]"#)
        #expect(
            try company.related("Employee", 1, "manager") == ["2"] && company.related("Employee", 2, "reports") == ["1"]
        )
    }

    // A child before its parent, or on an earlier page, stayed without it.
    @Test(
        "RestKit connection to an object that is mapped later (testShouldConnectRelationshipsByPrimaryKeyRegardlessOfOrder) → Reference: it resolves when the target comes, in any order and from any response"
    )
    func anyOrder() throws {
        let company = try company(#"[{"id": 1, "manager_id": 9, "friend_ids": [8, 7]}]"#)
        let targets = try company.store.read { reader in
            var found: [Bool] = []
            try reader.forEachRelated("Employee", RecordKey(1), "friends") { target in
                found.append(target.record != nil)
                return true
            }
            return found
        }
        // No stub was made of an id.
        #expect(targets == [false, false])
        #expect(try company.count("Employee") == 1)
        try company.add(#"[{"id": 7}, {"id": 8}, {"id": 9}]"#, "Employee")
        #expect(try company.related("Employee", 1, "friends") == ["8", "7"])
    }

    // A foreign key that became null, or vanished, never cleared the relationship.
    @Test(
        "RestKit connection whose source value is null → Importer: the reference is cleared; a missing value keeps it")
    func nullify() throws {
        let company = try company(#"{"id": 1, "manager_id": 2}"#, #"{"id": 1}"#)
        #expect(try company.related("Employee", 1, "manager") == ["2"])
        try company.add(#"{"id": 1, "manager_id": null}"#, "Employee")
        #expect(try company.related("Employee", 1, "manager") == [])
    }

    @Test(
        "RKConnectionDescription with a collection of values → @Relationship(from: \"friend_ids\") var friends: References: a list of ids, in its order"
    )
    func collections() throws {
        #expect(try company(#"{"id": 1, "friend_ids": [3, "2"]}"#).related("Employee", 1, "friends") == ["3", "2"])
    }

    @Test(
        "RKConnectionDescription -initWithRelationship:attributes: on other attributes → `join`: the relationship follows the current values of both attributes"
    )
    func joins() throws {
        let company = try company(#"[{"id": 1, "department_code": "x"}, {"id": 2, "department_code": "y"}]"#)
        try company.add(#"[{"id": 10, "code": "x"}, {"id": 11, "code": "y"}]"#, "Department")
        #expect(
            try company.related("Employee", 1, "department") == ["10"]
                && company.related("Department", 11, "employees") == ["2"])
        try company.add(#"{"id": 1, "department_code": "y"}"#, "Employee")
        #expect(
            try company.related("Department", 11, "employees") == ["1", "2"]
                && company.related("Department", 10, "employees") == [])
    }

    @Test(
        "RKConnectionDescription sourcePredicate → ImportHooks.beforeDraft: code that decides which records are connected"
    )
    func sourcePredicate() throws {
        var company = try company()
        company.hooks.beforeDraft = { _, json in
            if json["contractor"] == .bool(true) { json["manager_id"] = .null }
            return true
        }
        try company.add(
            #"[{"id": 1, "manager_id": 9}, {"id": 2, "manager_id": 9, "contractor": true}, {"id": 9}]"#, "Employee")
        #expect(try company.related("Employee", 9, "reports") == ["1"])
        #expect(try company.related("Employee", 2, "manager") == [])
    }

    @Test(
        "RKConnectionDescription includesSubentities → EntityDefinition.parent: a reference to an entity leads to records of its kinds"
    )
    func subentities() throws {
        let zoo = try ImportFixture(
            entities: """
                Animal: { key: id, attributes: { id: int, kind: string? }, kinds: { Cat: { kind: cat } } }
                Cat: { parent: Animal }
                Keeper: { key: id, attributes: { id: int }, relationships: { animal: { to: Animal, from: animal_id } } }
                """)
        try zoo.add(#"{"id": 1, "animal_id": 4}"#, "Keeper")
        try zoo.add(#"{"id": 4, "kind": "cat"}"#, "Animal")
        #expect(try zoo.related("Keeper", 1, "animal") == ["4"])
    }

    @Record struct Indexed: Equatable {
        @Key var id: Int
        @Index var code: Int?
    }

    @Test(
        "RKEntityByAttributeCache and RKManagedObjectCaching → @Index: records by the value of an attribute, several of one value, without those that are deleted"
    )
    func byAttribute() throws {
        let records = try ImportFixture(Indexed.self)
        try records.add(#"[{"id": 1, "code": "5"}, {"id": 2, "code": 5}, {"id": 3, "code": 6}, {"id": 4}]"#, "Indexed")
        let five = Indexed.where { $0.code == 5 }
        #expect(try records.fetch(five).map(\.id) == [1, 2])
        #expect(try records.fetch(Indexed.where { $0.code.isIn([5, 6]) }).map(\.id) == [1, 2, 3])
        _ = try records.store.delete("Indexed", RecordKey(1))
        #expect(try records.fetch(five).map(\.id) == [2])
        let plan = try records.store.read { try $0.explain(five.query) }
        #expect("\(plan)".contains("code"))
    }

    @Test(
        "RKConnectionDescription -initWithRelationship:keyPath: → `inverse`: the other side of a relationship is derived, and need not be connected"
    )
    func derived() throws {
        let company = try company(#"[{"id": 1, "manager_id": 3}, {"id": 2, "manager_id": 3}]"#)
        #expect(try company.related("Employee", 3, "reports") == ["1", "2"])
    }
}
