/// The requests to one origin. They stay on the engine's thread.
final class CurlLine {
    let origin: String
    /// The number of active transfers.
    var activeCount = 0
    /// The submissions that wait for a free slot, in order of priority and arrival.
    ///
    /// libcurl's own queue (CURLMOPT_MAX_HOST_CONNECTIONS) is unsuitable: its time limits run while
    /// a request waits. A slice retains its removed elements: an empty one is replaced.
    var waiting: ArraySlice<CurlSubmission> = [] {
        didSet { if waiting.isEmpty, waiting.startIndex > 0 { waiting = [] } }
    }

    init(_ origin: String) { self.origin = origin }
}
