// `tarn check`: values that no response has, and endpoints that no sync requests.

import TestSupport
import Testing

@Suite("Command line: check of what a sync cannot have")
struct CheckReachTests {
    /// Returns the warnings of a description, without the name of the file.
    private func warnings(
        _ player: String, team: String = "", _ endpoints: String = "players: { path: /p, entity: Player }"
    ) async throws -> [String] {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: 'https://api.test.example', parameters: { region: eu } }
            entities:
              Player: { \(player) }
              Team: { key: id, attributes: { id: int }\(team) }
            endpoints:
              teams: { path: /teams, entity: Team }
              \(endpoints.replacing("\n", with: "\n  "))
            """)
        let result = try await tarn("check", "--file", file)
        #expect(result.status == 0, "\(result.output)")
        return result.lines.filter { $0.contains(": warning: ") }.map { String($0.dropFirst(file.utf8.count)) }
    }

    private static func key(_ source: String) -> String {
        "key: id, attributes: { id: { type: string, from: \(source) }, n: int? }"
    }

    @Test(
        "a source outside of the record that nothing gives is a warning at its line",
        arguments: [
            ("'@memberName'", "@memberName has no value: neither `records` of an endpoint"),
            ("'x-{@memberName}'", "@memberName has no value: neither `records` of an endpoint"),
            ("'@param.tenant'", "@param.tenant has no value: no endpoint sends tenant"),
            ("['@param.tenant', '@memberName']", "@param.tenant has no value: no endpoint sends tenant"),
            ("'@relationship'", "@relationship has no value: no relationship leads to"),
            ("'@parent.name'", "@parent.name has no value: no relationship leads to"),
        ])
    func sources(source: String, expected: String) async throws {
        let key = try await warnings(Self.key(source))
        #expect(key.count == 1, "\(key)")
        #expect(
            key.first?.hasPrefix(":3:36: warning: entities.Player.attributes.id: \(expected)") == true
                && key.first?.hasSuffix("has no key, and is skipped") == true, "\(key)")
        let other = try await warnings(
            Self.key("id").replacing("n: int?", with: "n: { type: string?, from: \(source) }"))
        #expect(other.count == 1 && other.first?.hasSuffix("in the record itself is stored") == true, "\(other)")
    }

    @Test(
        "a source that an endpoint, a relationship, or another alternate gives has no warning",
        arguments: [
            ("'@memberName'", "", "players: { path: /p, records: 'data.*', entity: Player }"),
            ("'@memberName'", "", "players: { path: /p, records: { 'a.*': Player, b: Team } }"),
            (
                "'@memberName'", ", relationships: { players: { to: [Player], from: 'members.*' } }",
                "players: { path: /p, entity: Player }"
            ),
            ("['@memberName', name]", "", "players: { path: /p, entity: Player }"),
            ("'@param.region'", "", "players: { path: /p, entity: Player }"),
            ("'@param.tenant'", "", "players: { path: '/{tenant}/p', with: { tenant: a }, entity: Player }"),
            ("'@param.tenant'", "", "players: { path: /p, partitions: { tenant: [a, b] }, entity: Player }"),
            ("'@param.team.id'", "", "players: { path: '/teams/{team.id}/p', for_each: Team, entity: Player }"),
            ("'@param.id'", "", "players: { path: '/teams/{team.id}/p', for_each: Team, entity: Player }"),
            (
                "'@param.team.id'", ", relationships: { best: Player }",
                "players: { path: '/p/{team.best.id}', for_each: Team, entity: Player }"
            ),
            ("'@param.page'", "", "players: { path: /p, paginate: { page_number: { param: page } }, entity: Player }"),
            ("'@parent.id'", ", relationships: { best: Player }", "players: { path: /p, entity: Player }"),
            ("'@relationship'", ", relationships: { best: Player }", "players: { path: /p, entity: Player }"),
            // A record of a kind is one of the entity.
            ("'@memberName'", " }\n  Star: { parent: Player", "players: { path: /p, records: 'data.*', entity: Star }"),
        ])
    func given(source: String, team: String, endpoint: String) async throws {
        let warnings = try await warnings(Self.key(source), team: team, endpoint)
        #expect(warnings == [])
    }

    @Test("records that an endpoint lists for each parent are nested in it, and those of a join in nothing")
    func parents() async throws {
        let ofTeam = "players: { path: '/teams/{team.id}/p', for_each: { entity: Team, parent: team }, entity: Player }"
        let player = Self.key("'@parent.id'")
        #expect(try await warnings(player + ", relationships: { team: Team }", ofTeam) == [])
        let joined = try await warnings(
            player.replacing("n: int?", with: "n: { type: int?, index: true }")
                + ", relationships: { peers: { to: [Player], join: { n: n } } }")
        #expect(joined.count == 1 && joined[0].contains("@parent.id has no value: no relationship"), "\(joined)")
    }

    @Test(
        "an endpoint whose parents no other one stores is a warning: a sync never requests it",
        arguments: [
            "players: { path: '/p/{player.id}/players', for_each: Player, entity: Player }",
            """
            players: { path: '/coaches/{coach.id}/players', for_each: Coach, entity: Player }
            coaches: { path: '/players/{player.id}/coaches', for_each: Player, entity: Coach }
            """,
        ])
    func unrequested(endpoints: String) async throws {
        let entities = "key: id, attributes: { id: int } }\n  Coach: { key: id, attributes: { id: int }"
        let found = try await warnings(entities, endpoints).filter { $0.contains("warning: endpoints.") }
        #expect(found.count == endpoints.split(separator: "\n").count, "\(found)")
        #expect(found.allSatisfy { $0.contains("and no endpoint stores one before") }, "\(found)")
        let nested = try await warnings(entities, team: ", relationships: { best: Player }", endpoints)
        #expect(!nested.contains { $0.contains("warning: endpoints.") }, "\(nested)")
    }
}
