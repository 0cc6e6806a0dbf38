/// Which values count if a record is met several times in a unit: fields that only one of them has are taken from each.
public enum DuplicatePolicy: String, Sendable, Hashable, CaseIterable {
    case lastWins = "last_wins"
    case firstWins = "first_wins"
}
