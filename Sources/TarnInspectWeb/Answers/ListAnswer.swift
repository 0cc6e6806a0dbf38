import Tarn
import TarnHTTP
import TarnInspect
import TarnStore

/// The progress of one list.
struct ListAnswer: Encodable {
    struct Failure: Encodable { var kind: String, text: String }

    /// The longest text, in characters.
    private static let longest = 1000

    /// The name of the checkpoint, and whether it is only the beginning of it.
    var name: String, isNameCut: Bool
    /// `underWay` or `complete`.
    var state: String
    var startedAt: String, continuedAt: String?
    /// The time of the last complete scan, and the seconds since then.
    var completedAt: String?, age: Int?
    /// The committed pages and records of the scan, and its elements without a usable key.
    var pages: Int, records: Int, skipped: Int
    /// The URL of the next page, without secrets.
    var position: String?
    /// The values of incremental scans: the one that the next scan sends, the one that this scan
    /// has begun with, the one that it has found so far, and the one at its first interruption.
    var since: String?, begunSince: String?, seen: String?, heldSince: String?
    /// The reason why the last sync has passed by the list. Without a text it is no failure: the
    /// kind is `lacking`, or `ignored` with a status.
    var failure: Failure?
    /// The number of noted records, and whether it is the whole number.
    var members: Int?, areMembersWhole: Bool
    /// Whether the last complete scan ended at a limit of the description, or where the server may
    /// have one; whether it found no records; whether orphans are still to be looked for.
    var isCutOff: Bool, mayEndAtLimit: Bool, isKnownEmpty: Bool, hasOrphans: Bool

    init(_ list: ListProgress, at now: Timestamp) {
        let checkpoint = list.checkpoint
        (name, isNameCut) = (list.name, list.isNameCut)
        state = checkpoint.state.rawValue
        (startedAt, continuedAt) = (checkpoint.startedAt.description, checkpoint.continuedAt?.description)
        completedAt = checkpoint.completedAt?.description
        age = checkpoint.completedAt.map { ListAnswer.age(of: $0, at: now) }
        (pages, records, skipped) = (checkpoint.pages, checkpoint.records, checkpoint.skipped)
        if checkpoint.state == .underWay { position = checkpoint.nextURL.map(Redaction.shown) }
        func text(_ text: String?) -> String? { text?.cut(to: ListAnswer.longest) }
        (since, begunSince) = (text(checkpoint.since), text(checkpoint.begunSince))
        (seen, heldSince) = (text(checkpoint.seen), text(checkpoint.heldSince))
        failure = checkpoint.failure.map { Failure(kind: $0.kind, text: $0.text.cut(to: ListAnswer.longest)) }
        (members, areMembersWhole) = (list.members, list.areMembersWhole)
        (isCutOff, mayEndAtLimit) = (checkpoint.isCutOff, checkpoint.mayEndAtLimit)
        (isKnownEmpty, hasOrphans) = (checkpoint.isKnownEmpty, checkpoint.hasOrphans)
    }

    /// The seconds since a time. A time of the future was noted before the clock was set back.
    static func age(of time: Timestamp, at now: Timestamp) -> Int { Int(max(0, now.elapsed(since: time) / 1_000_000)) }
}
