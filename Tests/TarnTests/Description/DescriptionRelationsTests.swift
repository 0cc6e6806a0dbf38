// Delete rules, joins and keys that hold a relationship, in a description file.

import Tarn
import TarnDescription
import TarnStore
import Testing

@Suite("Description file: delete rules, joins, owned keys")
struct DescriptionRelationsTests {
    private func parse(_ entities: String) throws -> Schema {
        try Description.parse("api: { base: 'https://a.example' }\nentities:\n" + entities, file: "forge.yaml").schema
    }

    @Test("every delete rule is read, and none is the default")
    func rules() throws {
        let schema = try parse(
            """
              User: { key: id, attributes: { id: int }, relationships: { c: { to: [Issue], inverse: ofC, on_delete: cascade }, d: { to: [Issue], inverse: ofD, on_delete: deny }, n: { to: [Issue], inverse: ofN, on_delete: nullify } } }
              Issue: { key: id, attributes: { id: int }, relationships: { ofC: { to: User, inverse: c, on_delete: none }, ofD: { to: User, inverse: d }, ofN: { to: User, inverse: n }, plain: User } }
            """)
        #expect(schema.entities[0].relationships.map(\.deleteRule) == [.cascade, .deny, .nullify])
        #expect(schema.entities[1].relationships.map(\.deleteRule) == [.none, .none, .none, .none])
    }

    @Test("a join is read on both sides")
    func joins() throws {
        let schema = try parse(
            """
              User: { key: id, attributes: { id: int }, relationships: { posts: { to: [Post], join: { id: userId }, inverse: user } } }
              Post: { key: id, attributes: { id: int, userId: { type: int?, index: true } }, relationships: { user: { to: User, join: { userId: id }, inverse: posts } } }
            """.replacing(
                "{ key: id, attributes: { id: int }, relationships: { posts",
                with: "{ key: id, attributes: { id: { type: int, index: true } }, relationships: { posts"))
        #expect(schema.entities[0].relationships[0].join == .init("id", equals: "userId"))
        #expect(schema.entities[1].relationships[0].join == .init("userId", equals: "id"))
        #expect(schema.problems() == [])
    }

    @Test("a key may hold a relationship")
    func ownedKey() throws {
        let schema = try parse(
            """
              Issue: { key: number, attributes: { number: int } }
              Comment: { key: [issue, number], attributes: { number: int }, relationships: { issue: Issue } }
            """)
        #expect(schema.entities[1].key == ["issue", "number"])
    }

    @Test(
        "what cannot be is an error with its line, column and field",
        arguments: [
            .init(
                "inverse: issues }\n      labels", "inverse: issues, on_delete: cascde }\n      labels",
                "29:67: entities.Issue.relationships.author.on_delete: unknown delete rule \"cascde\": did you mean \"cascade\"?"
            ),
            .init(
                "milestone: Milestone\n    ignore", "milestone: { to: Milestone, on_delete: [deny] }\n    ignore",
                "31:46: entities.Issue.relationships.milestone.on_delete: expected a single value, found a list"),
            .init(
                "milestone: Milestone\n    ignore", "milestone: { to: Milestone, join: number }\n    ignore",
                "31:41: entities.Issue.relationships.milestone.join: expected one attribute and its counterpart"),
            .init(
                "milestone: Milestone\n    ignore",
                "milestone: { to: Milestone, join: { thumbsUp: number, id: id } }\n    ignore",
                "31:41: entities.Issue.relationships.milestone.join: expected one attribute and its counterpart"),
            .init(
                "milestone: Milestone\n    ignore", "milestone: { to: Milestone, join: { thumbUp: id } }\n    ignore",
                "31:41: entities.Issue.relationships.milestone.join: unknown attribute \"thumbUp\": did you mean \"thumbsUp\"?"
            ),
            .init(
                "milestone: Milestone\n    ignore", "milestone: { to: Milestone, join: { thumbsUp: id } }\n    ignore",
                "31:41: entities.Issue.relationships.milestone.join: the attribute thumbsUp needs an index"),
            .init(
                "milestone: Milestone\n    ignore",
                "milestone: { to: Milestone, from: m, join: { createdAt: id }, on_delete: cascade }\n    ignore",
                "31:41: entities.Issue.relationships.milestone.from: a joined relationship has no value in JSON",
                "31:50: entities.Issue.relationships.milestone.join: createdAt is date and Milestone.id is int",
                "31:80: entities.Issue.relationships.milestone.on_delete: the delete rule of a joined relationship must be none or deny"
            ),
            .init(
                "Label: { key: id, attributes", "Label: { key: [id, issues], attributes",
                "15:17: entities.Label.key: unknown attribute \"issues\""),
            .init(
                "  Issue:\n    key: id", "  Issue:\n    key: [id, labels]",
                "20:10: entities.Issue.key: \"labels\" is to-many and cannot be part of a key"),
        ] as [BrokenDescription])
    func problemsHaveTheirPlace(row: BrokenDescription) { row.check() }
}
