// `was` in a description: the names that entities, attributes, relationships and indexes had
// before.

import TarnDescription
import TarnStore
import Testing

@testable import Tarn

@Suite("Description: other names")
struct DescriptionRenamingTests {
    private static let start = "api: { base: 'https://a.example' }\nentities:\n"

    @Test("was is read for entities, attributes, relationships and indexes")
    func wasIsRead() throws {
        let text =
            Self.start + """
                  Person:
                    was: Author
                    key: id
                    attributes: { id: int, handle: { type: string, was: login } }
                    relationships: { chief: { to: Person, was: boss } }
                    indexes: { byHandle: { on: handle, was: byLogin } }
                """
        let entity = try #require(try Description.parse(text, file: "tarn.yaml").schema.entities.first)
        #expect(entity.renamedFrom == "Author")
        #expect(entity.attributes.map(\.renamedFrom) == [nil, "login"])
        #expect(entity.relationships.map(\.renamedFrom) == ["boss"])
        #expect(entity.indexes.map(\.renamedFrom) == ["byLogin"])
    }

    @Test("a name of before that is still there is an error at its line")
    func wasIsInUse() {
        let text =
            Self.start + """
                  Person:
                    key: id
                    attributes:
                      id: int
                      login: string
                      handle: { type: string, was: login }
                """
        let found = problems(text)
        #expect(found.count == 1)
        #expect(
            found.first?.contains(":8:") == true
                && found.first?.contains("entities.Person.attributes.handle.was") == true, "\(found)")
    }
}
