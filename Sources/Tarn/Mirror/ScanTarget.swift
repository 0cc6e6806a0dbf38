import TarnStore

/// The scan of an endpoint's list, as a whole or for one parent record, with its progress.
struct ScanTarget {
    var request: EndpointRequest
    let pages: PageImporter
    /// The name of the checkpoint.
    let name: String
    let identity: ScanIdentity
    /// The progress at the beginning, with the failure of an earlier sync.
    let beginning: Checkpoint
    /// The progress up to the last page.
    var checkpoint: Checkpoint

    /// The name under which listed records are noted; nil if no orphans are looked for.
    var members: String? { request.endpoint.orphans == nil ? nil : identity.members }
}
