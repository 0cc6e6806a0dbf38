public enum EpochUnit: String, Sendable, Hashable, CaseIterable {
    case seconds, milliseconds, microseconds
}
