public import TarnHTTP
public import TarnImport
import TarnStore

/// One page of a request's answer: its records, and where they come from.
public struct ResponsePage<Value: MappedRecord>: Sendable {
    /// The records that the page lists, in its order.
    public var records: [Value]
    /// The source of the answer.
    public var source: CachedAnswer.Source
    /// The decision of the cache, with its reasons; nil for a request that is not cached.
    public var decision: CacheDecision?
    /// The age in seconds, since the server generated or confirmed the response.
    public var age: Int
    /// The values that the request declares as metadata, as JSON, by name.
    public var metadata: [String: String]
    /// The report of the import; nil if nothing was imported.
    public var report: ImportReport?
    /// The reason why the server did not answer; nil if it did or was not needed.
    ///
    /// If the page was fetched, the error that the server has stated beside the records: some of
    /// them, or parts of them, are missing.
    public var failure: CacheError?
    /// The following page; nil after the last one.
    public var next: NextPage?
    /// The findings about records that the complete list lacks; nil before its last page, and if
    /// the request does not remove them.
    public var orphans: OrphanReport?
    /// The predecessor of the page, if the request asks for it.
    var previous = PageSequence.Preceding.none
    /// Whether the response and its records are stored.
    var isStored = true
    /// Whether another call has brought the answer, in this process or in another one.
    package internal(set) var isShared = false
    /// The time before the request was sent that the server has answered; nil if it is unknown.
    var requestedAt: Timestamp?
    /// The status of the response, or of the stored one; nil if it is unknown.
    var status: Int?
    /// The body of the response, if the request asks for it.
    var body: [UInt8]?
    /// The records that the page lists, of all entities.
    var listing = PageListing()
    /// The numbers of imported records with a list that the server has cut off, by its flag.
    var cutLists: [String: Int] = [:]
    /// The names of the values that the request declares as metadata.
    var declared: Set<String> = []
    /// The request, for errors.
    var place = ""

    /// The number of records that the page lists, of all entities.
    package var listedCount: Int { listing.records.count }

    /// The number of elements of the page whose records are unknown.
    package var skippedCount: Int { listing.skipped }

    /// Whether the list ends at the page because of a limit or a rule of the request.
    package var endsAtLimit: Bool { listing.isCutOff && listing.doubt == nil }

    /// The reason why the server may have cut the list off at the page; nil if it has not.
    package var cutOffFinding: String? { listing.cutOffFinding }

    /// A page that follows another one, for ``RecordClient/page(_:at:)``.
    public struct NextPage: Sendable {
        enum Place: Sendable {
            case cached(CacheRequest)
            case sequence(PageSequence)
        }

        var place: Place
    }
}

extension ResponsePage {
    /// Creates the page of an answer to a request.
    init(_ answer: CachedAnswer, _ records: [Value], _ request: RecordRequest<Value>) {
        self.init(
            records: records, source: answer.source, decision: answer.decision, age: answer.age,
            metadata: answer.metadata, report: answer.report, failure: answer.failure)
        next = answer.next.map { NextPage(place: .cached($0)) }
        isStored = answer.isStored
        isShared = answer.isShared
        requestedAt = answer.requestedAt
        status = answer.status
        body = answer.body
        cutLists = answer.cutLists
        listing = PageListing(
            records: answer.listed, skipped: answer.skipped, isCutOff: answer.isCutOff, doubt: answer.doubt)
        declare(request)
    }

    /// Creates the page of a response that the server has sent.
    init(_ transfer: Transfer, _ records: [Value], _ request: RecordRequest<Value>) {
        self.init(
            records: records, source: .fetched, age: 0, metadata: transfer.metadata, report: transfer.report,
            failure: transfer.partialFailure.map { .request($0, nil) })
        isStored = transfer.isStored
        status = transfer.status
        body = transfer.body
        cutLists = transfer.cutLists
        listing = PageListing(records: transfer.listed, skipped: transfer.skipped)
        declare(request)
    }

    private mutating func declare(_ request: RecordRequest<Value>) {
        declared = Set(request.endpoint.metadata.map(\.name))
        place = request.endpoint.place
    }

    /// The error that the server has stated beside the records of the page; nil if it has not.
    var partialFailure: CacheError? { source == .fetched ? failure : nil }

    /// Checks that the page has all of its records, and does not end a list that goes on.
    ///
    /// - Throws: the error that the server has stated beside the records; as
    ///   ``PageListing/checkEnd(place:)``.
    func checkWhole() throws {
        if let partialFailure { throw partialFailure }
        try listing.checkEnd(place: place)
    }

    /// The only record of the page.
    ///
    /// - Throws: `MirrorError.endpoint` if there is none, or several; the error that the server has
    ///   stated beside it.
    func theOne(_ request: RecordRequest<Value>) throws -> Value {
        if let partialFailure { throw partialFailure }
        guard let record = records.first, records.count == 1 else {
            throw MirrorError.endpoint(
                place: request.endpoint.place,
                message: "one record was expected, but the response has \(records.count): use all, or name its key path"
            )
        }
        return record
    }
}
