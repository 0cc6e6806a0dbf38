/// The error of a unit that follows a failed one. It is not reported: the earlier failure is.
struct UnitBeforeFailed: Error {}
