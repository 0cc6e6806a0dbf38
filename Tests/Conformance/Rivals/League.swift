// A made-up league, for what users of other libraries do every day.

import Foundation
import TarnMacros
import TestSupport

enum League {
    enum Position: String, AttributeValue, CaseIterable { case goal, defence, attack }

    @Record struct Player: Equatable {
        @Key var id: Int
        @Index var name: String
        @Index(unique: true, ignoringCase: true) var email: String?
        @Attribute(default: 0) var score: Int
        var position: Position?
        var joinedAt: Date?
        @Relationship(inverse: \Team.players) var team: Reference<Team>?

        static var indexes: [RecordIndex<Player>] {
            [RecordIndex(\.team, \.score), RecordIndex(\.score, where: { $0.position == .attack })]
        }
    }

    @Record struct Team: Equatable {
        @Key var id: Int
        var name: String
        @Attribute(type: .json) var colors: [String]?
        var players = Inverse<Player>()
    }

    static let players = [
        Player(id: 1, name: "Ada", email: "ada@e.example", score: 30, position: .attack, team: Reference(1)),
        Player(id: 2, name: "Bo", score: 10, position: .goal, team: Reference(1)),
        Player(id: 3, name: "Cy", email: "cy@e.example", score: 20, team: Reference(2)),
        Player(id: 4, name: "Di", score: 40, position: .attack),
    ]

    /// A store of four players and two teams.
    static func store(_ folder: TemporaryFolder) throws -> Store {
        let store = try Store.open(at: folder("league.tarn"), schema: Schema(records: [Player.self, Team.self]))
        try store.write { writer in
            for player in players { try writer.put(player) }
            try writer.put(contentsOf: [Team(id: 1, name: "Reds", colors: ["red"]), Team(id: 2, name: "Blues")])
        }
        return store
    }
}
