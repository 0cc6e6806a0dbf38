/// The endpoints of an API that the server has forbidden (403), and whether it has answered
/// another.
///
/// A token may lack the right to one resource. But some servers answer a wrong token with 403, and
/// then they forbid everything.
struct ForbiddenEndpoints: Sendable {
    /// The number of forbidden endpoints after which no other begins, unless one was answered.
    private static let most = 3

    private var count = 0
    private var hasAnswer = false

    /// Whether other endpoints would probably be forbidden, too.
    var areAll: Bool { !hasAnswer && count >= ForbiddenEndpoints.most }

    /// Notes the result of an endpoint.
    mutating func note(_ report: SyncReport.Endpoint) {
        // An earlier part of the sync may have had the answer.
        if report.pages > 0 || report.wasFinished || report.finishedParents > 0 { hasAnswer = true }
        if report.failures.contains(where: \.isForbidden) { count += 1 }
    }
}
