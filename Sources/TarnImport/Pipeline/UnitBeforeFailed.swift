internal import TarnStore

/// What a unit ends with that builds on one which has failed. Nobody is told: the failure before it is.
struct UnitBeforeFailed: Error {}
