/// The occurrence whose values win if a unit contains a record several times.
///
/// Only fields that several occurrences have are affected: a field of one occurrence is always
/// taken.
public enum DuplicatePolicy: String, Sendable, Hashable, CaseIterable {
    case lastWins = "last_wins"
    case firstWins = "first_wins"
}
