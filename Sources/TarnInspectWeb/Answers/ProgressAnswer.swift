import Tarn
import TarnHTTP
import TarnInspect
import TarnStore

/// The progress of syncs: of some endpoints, and what belongs to no endpoint.
struct ProgressAnswer: Encodable {
    struct Failure: Encodable { var at: String, age: Int, message: String }
    struct Unfinished: Encodable { var startedAt: String, pages: Int, records: Int }

    /// The progress of an endpoint, as `tarn status` sums up its lists.
    struct Endpoint: Encodable {
        /// The name, and the place of its lists for a question about them.
        var name: String, id: String
        /// The number of lists that were read, whether these are all of the store, and those
        /// complete at least once.
        var lists: Int, isWhole: Bool, completeLists: Int
        /// The earliest time of the last complete scans, and the seconds since then; nil until all
        /// lists are complete, and unless all were read.
        var completedAt: String?, age: Int?
        /// The sums of the last complete scans; nil if a further scan has taken the place of one.
        var pages: Int?, records: Int?
        /// The sum of the scans that have not reached their end.
        var unfinished: Unfinished?
        /// The lists that ended at a limit of the description, where the server may have one, and
        /// those that the last sync has passed by because of a failure.
        var cutOffLists: Int, doubtfulLists: Int, passedLists: Int
        /// The only list, if there is one.
        var list: ListAnswer?
    }

    /// A failure of the last attempt to scan an endpoint, or to send a request outside of scans.
    struct Outcome: Encodable { var name: String, isOfScan: Bool, failure: Failure }

    /// The most lists of an endpoint that are summed up, and of all endpoints of an answer.
    private static let lists = 1000, most = 5000
    /// The most syncs, and the most failures of a kind.
    private static let notes = 200

    var endpoints: [Endpoint]
    /// The position at which the next page begins; nil after the last endpoint.
    var next: String?
    var syncs: [ListAnswer]
    var failures: [Outcome]
    /// Whether these are all syncs and failures.
    var areNotesWhole: Bool
    /// The number of records that the scans of all lists have noted.
    var members: Int?
    /// The limits of servers, and the number of servers that are not listed.
    var servers: [ServerLimits], moreServers: Int
    var damages: [String]
    /// The number of damages that are not listed.
    var moreDamages: Int

    init(_ inspector: StoreInspector, after position: [UInt8]?) throws {
        let now = Timestamp.now
        let page = try inspector.progress(after: position, lists: Self.lists, most: Self.most)
        let notes = try inspector.syncNotes(most: Self.notes)
        endpoints = page.endpoints.map { Self.endpoint($0, now) }
        next = page.next.map(Hexadecimal.text)
        syncs = notes.syncs.map { ListAnswer($0, at: now) }
        func outcomes(_ failures: [String: Checkpoint.LastFailure], isOfScan: Bool) -> [Outcome] {
            failures.sorted { $0.key < $1.key }.map { name, failure in
                let age = ListAnswer.age(of: failure.at, at: now), text = failure.text.cut(to: 1000)
                return Outcome(
                    name: name, isOfScan: isOfScan,
                    failure: Failure(at: failure.at.description, age: age, message: text))
            }
        }
        failures =
            outcomes(notes.failures, isOfScan: true) + outcomes(notes.requestFailures, isOfScan: false)
        areNotesWhole = notes.isWhole
        members = notes.members
        var found = DamageTexts(page.damages)
        for damage in notes.damages where !page.damages.contains(damage) { found.append(damage) }
        let servers = notes.budgets.map { ServerLimits.all($0, at: now) } ?? []
        if servers == nil { found.append("the limits of servers: no JSON object of limits by server") }
        self.servers = Array((servers ?? []).prefix(ServerLimits.most))
        moreServers = max(0, (servers ?? []).count - ServerLimits.most)
        (damages, moreDamages) = (found.texts, found.more)
    }

    private static func endpoint(_ progress: EndpointProgress, _ now: Timestamp) -> Endpoint {
        var status = EndpointStatus(named: progress.name)
        for list in progress.lists { status.add(list.checkpoint) }
        if !progress.isWhole || status.completeLists < progress.lists.count { status.completedAt = nil }
        status.setAge(at: now)
        // The pages and records of these scans are no longer known.
        let complete = status.rescannedLists > 0 ? nil : status.complete
        return Endpoint(
            name: progress.name, id: Hexadecimal.text(progress.id), lists: progress.lists.count,
            isWhole: progress.isWhole, completeLists: status.completeLists,
            completedAt: status.completedAt?.description, age: status.age, pages: complete?.pages,
            records: complete?.records,
            unfinished: status.unfinished.map {
                Unfinished(startedAt: $0.startedAt.description, pages: $0.pages, records: $0.records)
            },
            cutOffLists: status.cutOffLists, doubtfulLists: status.doubtfulLists,
            passedLists: progress.lists.count(where: \.hasFailed),
            list: progress.isWhole && progress.lists.count == 1 ? ListAnswer(progress.lists[0], at: now) : nil)
    }
}
