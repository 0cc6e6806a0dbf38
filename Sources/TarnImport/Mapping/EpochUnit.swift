/// The unit of dates that are numbers, counted since 1970.
public enum EpochUnit: String, Sendable, Hashable, CaseIterable {
    case seconds, milliseconds, microseconds
}
