import Testing

@testable import TarnProposal

@Suite("Names of a proposal")
struct EnglishNameTests {
    @Test(
        "the singular of English plurals",
        arguments: [
            ("issues", "issue"), ("categories", "category"), ("boxes", "box"), ("statuses", "status"),
            ("releases", "release"), ("address", "address"), ("addresses", "address"), ("people", "person"),
            ("status", "status"), ("series", "series"), ("branches", "branch"), ("houses", "house"), ("news", "news"),
            ("classes", "class"), ("movies", "movie"), ("bus", "bus"), ("as", "as"),
        ])
    func singulars(plural: String, singular: String) {
        #expect(EnglishName.singular(plural) == singular)
    }

    @Test(
        "keys of APIs become valid names",
        arguments: [
            ("updated_at", "updatedAt"), ("userId", "userId"), ("+1", "plus1"), ("-1", "minus1"), ("@type", "type"),
            ("", "field"), ("日本", "field"), ("2fa", "field2fa"), ("a b", "aB"), ("x\u{1B}[31m", "x31m"),
        ])
    func fields(key: String, name: String) {
        #expect(EnglishName.field(key) == name)
        #expect(EnglishName.isValid(EnglishName.field(key)))
    }

    @Test("entities are singular and capitalised")
    func entities() {
        #expect(EnglishName.entity("open_issues") == "OpenIssue")
        #expect(EnglishName.entity("labels") == "Label")
        #expect(EnglishName.entity("42") == "Record42")
        #expect(EnglishName.entity("…") == "Record")
    }
}
