import TarnStore

/// The scan of an endpoint's list, as a whole or for one parent record, with its progress.
struct ScanTarget {
    /// The index of the list among those of all parents.
    let index: Int
    var request: EndpointRequest
    private let constants: Constants
    /// The progress up to the last page.
    var checkpoint: Checkpoint
    /// Whether all pages of the scan are known to be in the order of the field of `since`.
    var isInOrder: Bool
    /// Whether this run has requested a page that an earlier scan of the whole list has not stored.
    var hasNewPages = false

    /// The parts that do not change. The copies of a target share them.
    private final class Constants: Sendable {
        let pages: PageImporter
        let name: String
        let identity: ScanIdentity
        let beginning: Checkpoint
        let previous: Timestamp?
        let wasEmpty: Bool
        let hadObject: Bool
        let skippedBefore: Int

        init(
            _ pages: PageImporter, _ name: String, _ identity: ScanIdentity, _ beginning: Checkpoint,
            _ previous: Timestamp?, wasEmpty: Bool, hadObject: Bool, skippedBefore: Int
        ) {
            self.pages = pages
            self.name = name
            self.identity = identity
            self.beginning = beginning
            self.previous = previous
            self.wasEmpty = wasEmpty
            self.hadObject = hadObject
            self.skippedBefore = skippedBefore
        }
    }

    init(
        index: Int, request: EndpointRequest, pages: PageImporter, name: String, identity: ScanIdentity,
        beginning: Checkpoint,
        previous: Timestamp?, wasEmpty: Bool, hadObject: Bool, skippedBefore: Int, checkpoint: Checkpoint
    ) {
        self.index = index
        self.request = request
        constants = Constants(
            pages, name, identity, beginning, previous, wasEmpty: wasEmpty, hadObject: hadObject,
            skippedBefore: skippedBefore)
        self.checkpoint = checkpoint
        // Of the pages before an interruption it is unknown.
        isInOrder = checkpoint.pages == 0
    }

    var pages: PageImporter { constants.pages }
    /// The name of the checkpoint.
    var name: String { constants.name }
    var identity: ScanIdentity { constants.identity }
    /// The progress at the beginning, with the failure of an earlier sync.
    var beginning: Checkpoint { constants.beginning }
    /// The time when the complete scan before this one began; nil if there is none.
    var previous: Timestamp? { constants.previous }
    /// Whether the list is new, or had no records in the last complete scan.
    var wasEmpty: Bool { constants.wasEmpty }
    /// Whether the last scan had a single object in the place of an array.
    var hadObject: Bool { constants.hadObject }
    /// The unreadable records of the last complete scan.
    var skippedBefore: Int { constants.skippedBefore }

    /// The name under which listed records are noted; nil if no orphans are looked for.
    var members: String? { request.endpoint.orphans == nil ? nil : identity.members }
}
