// Kinds of records, envelopes, and records without a key in a description.

import TarnDescription
import TarnImport
import TarnStore
import TestSupport
import Testing

@testable import Tarn

@Suite("Description: kinds and envelopes")
struct DescriptionKindsTests {
    private static func text(_ api: String = "", _ event: String = "", _ endpoint: String = "entity: Event") -> String {
        """
        api: { base: 'https://a.example'\(api.isEmpty ? "" : ", \(api)") }
        entities:
          Event:
            key: id
        \(event.isEmpty ? "" : "    \(event)")
            attributes: { id: int, type: string? }
          Push: { parent: Event, attributes: { branch: string? } }
          Release: { parent: Event }
          User: { key: id, attributes: { id: int } }
        endpoints:
          events:
            path: /events
            \(endpoint)
        """
    }

    @Test(
        "kinds are rules in the order of the file: values, patterns, lists, presence, absence, comparisons, and all of them together"
    )
    func kinds() throws {
        let description = try Description.parse(
            Self.text(
                "",
                """
                kinds:
                      Release: { type: 'Release*', 'payload.tags[0]': '*' }
                      Push: { type: [PushEvent, Force], draft: ~, size: '>= 10', name: '== a*' }
                      Event: {}
                    otherwise: skip
                """), file: "f.yaml")
        #expect(
            description.mapping.entities["Event"]?.choice
                == EntityChoice(
                    [
                        .entity(
                            "Release",
                            when: [
                                RecordCondition("type", .matches(["Release*"])),
                                RecordCondition("payload.tags[0]", .isPresent),
                            ]),
                        .entity(
                            "Push",
                            when: [
                                RecordCondition("type", .matches(["PushEvent", "Force"])),
                                RecordCondition("draft", .isAbsent),
                                RecordCondition("size", .compares(.greaterOrEqual, "10")),
                                RecordCondition("name", .compares(.equal, "a*")),
                            ]),
                        .entity("Event", when: []),
                    ], otherwise: .skip))
        #expect(try Description.parse(Self.text(), file: "f.yaml").mapping.entities["Event"]?.choice == nil)
    }

    @Test("an envelope has an entity for each key path, and some of them may be missing")
    func envelopes() throws {
        let endpoint = try #require(
            try Description.parse(
                Self.text(
                    "", "", "records: { data.events: Event, users: { entity: User, optional: true }, 'x[0]': Push }"),
                file: "f.yaml"
            ).endpoints.first)
        #expect(
            endpoint.envelope == [
                EnvelopePart("data.events", "Event"), EnvelopePart("users", "User", optional: true),
                EnvelopePart("x[0]", "Push"),
            ])
        #expect(endpoint.entity == "Event")
    }

    @Test("records without a key may be skipped or fail, for the API and an entity")
    func keyless() throws {
        let mapping = try Description.parse(Self.text("keyless: fail", "keyless: skip"), file: "f.yaml").mapping
        #expect(
            mapping.keyless == .fail && mapping.entities["Event"]?.keyless == .skip
                && mapping.entities["User"]?.keyless == nil)
    }

    @Test("the fingerprint changes with kinds, envelopes, parents and the rule for records without a key")
    func fingerprints() throws {
        func fingerprint(_ api: String, _ event: String, _ endpoint: String = "entity: Event") throws -> String {
            let description = try Description.parse(Self.text(api, event, endpoint), file: "f.yaml")
            return description.fingerprint(of: try #require(description.endpoints.first))
        }
        var seen: Set = [try fingerprint("", "")]
        for (api, event) in [
            ("keyless: fail", ""), ("", "keyless: fail"), ("", "kinds: { Push: { type: a } }"),
            ("", "kinds: { Release: { type: a } }"),
            ("", "kinds: { Push: { type: b } }"), ("", "kinds: { Push: { type: '*' } }"),
            ("", "kinds: { Push: { type: ~ } }"),
            ("", "kinds: { Push: { type: '> a' } }"), ("", "kinds: { Push: { type: a } }\n    otherwise: skip"),
            ("", "kinds: { Push: { type: a }, Release: {} }"), ("", "kinds: { Release: {}, Push: { type: a } }"),
        ] {
            #expect(seen.insert(try fingerprint(api, event)).inserted, "\(api) \(event)")
        }
        for records in [
            "{ a: Event }", "{ b: Event }", "{ a: { entity: Event, optional: true } }", "{ a: Event, b: User }",
        ] {
            #expect(seen.insert(try fingerprint("", "", "records: \(records)")).inserted, "\(records)")
        }
        let plain = try Description.parse(Self.text(), file: "f.yaml").fingerprint
        let flat = Self.text().replacing("Release: { parent: Event }", with: "Release: { parent: Push }")
        #expect(try Description.parse(flat, file: "f.yaml").fingerprint != plain)
    }

    @Test(
        "what is wrong about kinds and envelopes is reported at its line with the way out",
        arguments: [
            (
                "", "kinds: { User: { type: a } }", "entity: Event",
                "5:14: entities.Event.kinds.User: User does not descend from Event"
            ),
            (
                "", "kinds: { Puhs: { type: a } }", "entity: Event",
                "5:14: entities.Event.kinds.Puhs: unknown entity \"Puhs\": did you mean \"Push\"?"
            ),
            (
                "", "kinds: { Push: PushEvent }", "entity: Event",
                "5:20: entities.Event.kinds.Push: expected a mapping from key paths to values"
            ),
            (
                "", "kinds: { Push: { 'a.*': x } }", "entity: Event",
                "5:22: entities.Event.kinds.Push: a.* is not a single value of the record"
            ),
            (
                "", "kinds: { Push: { '@root.a': x } }", "entity: Event",
                "5:22: entities.Event.kinds.Push: @root is not allowed here"
            ),
            ("", "kinds: { Push: { a: [] } }", "entity: Event", "5:25: entities.Event.kinds.Push.a: missing value"),
            (
                "", "kinds: { Push: { a: { b: c } } }", "entity: Event",
                "5:25: entities.Event.kinds.Push.a: expected a single value"
            ),
            ("", "kinds: {}", "entity: Event", "5:12: entities.Event.kinds: missing entity"),
            ("", "otherwise: skip", "entity: Event", "5:16: entities.Event.otherwise: otherwise needs kinds"),
            (
                "", "kinds: { Push: { a: b } }\n    otherwise: drop", "entity: Event",
                "6:16: entities.Event.otherwise: unknown rule for other records \"drop\""
            ),
            (
                "keyless: drop", "", "entity: Event",
                "1:44: api.keyless: unknown rule for records without a key \"drop\""
            ),
            (
                "", "", "records: { a: Evnt }",
                "13:19: endpoints.events.records.a.entity: unknown entity \"Evnt\": did you mean \"Event\"?"
            ),
            (
                "", "", "records: { a: Event }\n    entity: Event",
                "14:13: endpoints.events.entity: the key paths under records"
            ),
            ("", "", "records: {}", "13:14: endpoints.events.records: missing key path"),
            (
                "", "", "records: { a: { entity: Event, optionl: true } }",
                "13:36: endpoints.events.records.a.optionl: unknown key \"optionl\""
            ),
            (
                "", "", "records: { '@root.a': Event }",
                "13:16: endpoints.events.records.@root.a: @root is not allowed here"
            ),
            ("", "", "records: a", "11:3: endpoints.events.entity: missing"),
        ])
    func problems(_ api: String, _ event: String, _ endpoint: String, _ expected: String) throws {
        let error = try #require(throws: DescriptionError.self) {
            try Description.parse(Self.text(api, event, endpoint), file: "f.yaml")
        }
        #expect(error.problems.count == 1 && error.description.hasPrefix("f.yaml:" + expected), "\(error)")
    }

    @Test(
        "an answer with records of several entities and kinds is mirrored in one commit, and an empty page ends the walk"
    )
    func mirrored() async throws {
        let store = try MirrorStore(
            yaml: Self.text(
                "", "kinds: { Push: { type: PushEvent }, Release: { type: 'Rel*' } }",
                "records: { events: Event, users: { entity: User, optional: true } }\n    paginate: { page_number: { param: page } }"
            ))
        let server = try LocalServer([
            recording(
                "/events?page=1",
                #"{"events":[{"id":1,"type":"PushEvent","branch":"b"},{"id":2,"type":"Release"}],"users":[{"id":7}]}"#),
            recording("/events?page=2", #"{"events":[]}"#),
        ])
        let report = try await store.sync(server.base)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(report.pages == 2 && report.listed == 3)
        #expect(
            try [store.count("Event"), store.count("Push"), store.count("Release"), store.count("User")] == [
                2, 1, 1, 1,
            ])
    }

    @Test("a record without a key that fails the unit fails the walk, and nothing of the page is stored")
    func failing() async throws {
        let store = try MirrorStore(yaml: Self.text("keyless: fail"))
        let server = try LocalServer([recording("/events", #"[{"id":1},{"type":"x"}]"#)])
        let report = try await store.sync(server.base)
        #expect(
            report.texts.count == 1 && report.texts[0].contains("the Event at $[1] has no usable key"),
            "\(report.texts)")
        #expect(try store.count("Event") == 0)
    }
}
