// A sound description that the tests break in one place at a time, and the row of a table of such
// breaks.

import Tarn
import TarnDescription
import Testing

let soundDescription = """
    store: forge.tarn
    api:
      base: https://api.example.org
      aliases: [https://www.example.org/api/]
      headers: { Accept: application/json }
      auth: { bearer: { env: FORGE_TOKEN } }
      naming: { id: identifier }
    entities:
      User:
        key: id
        attributes:
          id: int
          login: string
          name: string?
      Label: { key: id, attributes: { id: int, name: string } }
      Milestone:
        key: id
        attributes: { id: int, number: int, title: string }
      Issue:
        key: id
        attributes:
          id: int
          state: { type: enum, values: [open, closed] }
          createdAt: { type: date, from: [created_at, inserted_at], index: true }
          seenAt: { type: date?, epoch: milliseconds }
          thumbsUp: { type: int?, from: 'reactions.+1' }
          tags: [string]
        relationships:
          author: { to: User, from: user, inverse: issues }
          labels: { to: [Label], ordered: true, inverse: issues }
          milestone: Milestone
        ignore: [node_id, '*_url', 'reactions.*']
    endpoints:
      issues:
        path: /repos/{owner}/{repo}/issues
        with: { owner: acme, repo: anvil, per_page: 100, state: all }
        records: $
        entity: Issue
        paginate: header_link
      ofMilestone:
        path: /milestones/{milestone.number}/issues
        entity: Issue
        for_each: { entity: Milestone, parent: milestone }
        paginate: { page_number: { param: page, start: 1, per_page: { size: 10 } } }
    """

/// One way to break the sound description, and the expected message.
struct BrokenDescription: Sendable, CustomTestStringConvertible {
    var old: String
    var new: String
    /// For each problem, in order: its line up to a point, such as `13:18:
    /// entities.User.attributes.login.type: unknown`.
    var expected: [String]

    init(_ old: String, _ new: String, _ expected: String...) {
        self.old = old
        self.new = new
        self.expected = expected
    }

    var testDescription: String { new }

    func check(_ location: SourceLocation = #_sourceLocation) {
        let occurrences = soundDescription.ranges(of: old).count
        #expect(occurrences == 1, "\"\(old)\" must occur once in the sound description", sourceLocation: location)
        let lines = problems(soundDescription.replacing(old, with: new))
        let begins = zip(lines, expected).allSatisfy { $0.hasPrefix("forge.yaml:\($1)") }
        #expect(begins && lines.count == expected.count, "\(lines)", sourceLocation: location)
    }
}

/// The lines of the error that a text gives as `forge.yaml`; empty if it is sound.
func problems(_ text: String) -> [String] {
    do {
        _ = try Description.parse(text, file: "forge.yaml")
        return []
    } catch {
        return error.description.split(separator: "\n").map(String.init)
    }
}

/// A description of one entity with a key and one attribute, and lines for its API and its entity.
func thingDescription(_ api: String, _ entity: String, _ attribute: String) -> String {
    """
    api:
      base: https://a.example
    \(api.isEmpty ? "" : "  \(api)")
    entities:
      Thing:
        key: id
    \(entity.isEmpty ? "" : "    \(entity)")
        attributes:
          id: int
          v: \(attribute)
    """
}
