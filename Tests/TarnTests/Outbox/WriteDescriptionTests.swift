// The `write` of an entity in a description.

import TarnDescription
import TarnImport
import TestSupport
import Testing

@testable import Tarn

@Suite("Description: the requests of writes")
struct WriteDescriptionTests {
    private static func text(_ write: String) -> String {
        """
        api: { base: 'https://a.example/v1' }
        entities:
          Repo: { key: id, attributes: { id: int, fullName: string } }
          Label: { key: id, attributes: { id: int, name: string } }
          Issue:
            key: id
            attributes: { id: int, number: int, title: string }
            relationships: { repo: Repo, labels: { to: [Label] } }
            write:
        \(write.split(separator: "\n", omittingEmptySubsequences: false).map { "      \($0)" }.joined(separator: "\n"))
        """
    }

    private func parse(_ write: String) throws -> WriteRequests {
        try #require(try Description.parse(Self.text(write), file: "a.yaml").writes["Issue"])
    }

    @Test("the short form is a method and a URL; the defaults follow from both")
    func short() throws {
        let writes = try parse(
            """
            create: POST /repos/{repo.fullName}/issues
            update: PATCH /repos/{repo.fullName}/issues/{number}
            delete: DELETE https://b.example/issues/{id}
            """)
        #expect(writes.create?.method == "POST" && writes.create?.url == "/repos/{repo.fullName}/issues")
        #expect(writes.create?.content(for: .create) == .all && writes.update?.content(for: .update) == .changed)
        #expect(writes.delete?.content(for: .delete) == WriteRequest.Body.none)
        #expect(writes.idempotency == "Idempotency-Key" && writes.conflicts == nil && writes.base == nil)
        #expect(writes.create?.place == "a.yaml:10")
    }

    @Test("an answer has the record where the body has it, but not in a list")
    func placeOfAnswer() throws {
        let writes = try parse(
            """
            create: { request: POST /issues, envelope: data.issue }
            update: { request: 'PATCH /issues/{id}', envelope: 'data.issues[0]' }
            """)
        #expect(writes.create?.records.description == "data.issue" && writes.update?.records == JSONPath(keys: []))
        #expect(writes.update?.envelope.description == "data.issues[0]")
    }

    @Test("the long form has every option")
    func long() throws {
        let writes = try parse(
            """
            create:
              request: PUT /issues/{id}
              body: all
              format: merge_patch
              fields: [title, repo]
              set: { source: tarn, 'meta.count': 2, who: '{repo.id}' }
              places: { title: data.title }
              references: { repo: url }
              records: data
              headers: { X-A: b }
            update: { request: 'PATCH /issues/{id}', references: nested }
            relationships:
              labels:
                add: PUT /issues/{id}/labels/{member.name}
                remove: DELETE /issues/{id}/labels/{member.name}
                base: https://labels.example/v2/
            read: /issues/{id}
            base: https://write.example
            idempotency: none
            conflicts: per_field
            overlap: local
            """)
        let create = try #require(writes.create)
        #expect(create.body == .all && create.format == .mergePatch && create.fields == ["title", "repo"])
        #expect(create.values.map(\.place.description) == ["source", "meta.count", "who"])
        #expect(create.values.map(\.value) == [.string("tarn"), .number("2"), .string("{repo.id}")])
        #expect(create.places["title"]?.description == "data.title" && create.records.description == "data")
        #expect(create.referenceForms == ["repo": .url] && create.headers.map(\.name) == ["X-A"])
        #expect(writes.update?.references == .nested)
        #expect(writes.relationships["labels"]?.base == "https://labels.example/v2")
        #expect(writes.relationships["labels"]?.add?.url == "/issues/{id}/labels/{member.name}")
        #expect(writes.read == "/issues/{id}" && writes.base == "https://write.example" && writes.idempotency == nil)
        #expect(writes.conflicts == .perField(overlap: .local))
    }

    @Test(
        "an error names the line, the column, the field and the way out",
        arguments: [
            ("creat: POST /issues", "a.yaml:10:7: ", "did you mean \"create\"?"),
            ("create: /issues", "a.yaml:10:15: ", "expected a method and a URL, such as POST /issues"),
            ("create: PSOT /issues", "a.yaml:10:15: ", "did you mean \"POST\"?"),
            ("create: POST issues", "a.yaml:10:15: ", "begin it with /"),
            ("create: POST /issues/{id", "a.yaml:10:15: ", "{"),
            ("update: PATCH /issues/{nmber}", "a.yaml:10:15: ", "did you mean \"number\"?"),
            ("update: PATCH /r/{repo.fullname}/{id}", "a.yaml:10:15: ", "did you mean \"fullName\"?"),
            ("update: PATCH /r/{labels.name}", "a.yaml:10:15: ", "labels is to-many"),
            ("update: PATCH /r/{title.length}", "a.yaml:10:15: ", "title is an attribute"),
            ("relationships: { label: { add: POST /l } }", "a.yaml:10:24: ", "did you mean \"labels\"?"),
            ("relationships: { repo: { add: POST /l } }", "a.yaml:10:24: ", "to-many relationship"),
            (
                "relationships: { labels: { add: 'POST /l/{member.nam}' } }", "a.yaml:10:39: ",
                "did you mean \"name\"?"
            ),
            ("create: { request: POST /i, fields: [titel] }", "a.yaml:10:43: ", "did you mean \"title\"?"),
            ("create: { request: POST /i, body: every }", "a.yaml:10:41: ", "unknown content of a body"),
            ("create: { request: POST /i, references: { repo: link } }", "a.yaml:10:55: ", "form of references"),
            ("create: { body: all }", "a.yaml:10:7: ", "missing: write request: POST /issues"),
            (
                "update: { request: PATCH /i, format: json_patch, envelope: 'items[0]' }", "a.yaml:10:66: ",
                "a json_patch creates no list"
            ),
            (
                "update: { request: PATCH /i, set: { 'a[0].id': 1 }, format: json_patch }", "a.yaml:10:43: ",
                "a json_patch creates no list"
            ),
            ("conflicts: perfield", "a.yaml:10:18: ", "did you mean \"per_field\"?"),
            ("overlap: hold", "a.yaml:10:16: ", "add conflicts: per_field"),
            ("base: /v2", "a.yaml:10:13: ", "http"),
            ("idempotency: Idempotency Key", "a.yaml:10:20: ", "the name of a header field"),
        ])
    func problems(write: String, place: String, message: String) throws {
        let error = #expect(throws: DescriptionError.self) { try parse(write) }
        let text = error?.description ?? ""
        #expect(text.contains(place) && text.contains(message), "\(text)")
    }
}
