import CCrypto
import CCurl
import Foundation

/// A queued request and its completion handler. A class, so that queues move a reference.
final class CurlSubmission: Sendable {
    private let direct: DirectRequest
    private let settings: CurlSettings
    let timeout: Duration
    let ticket: CurlTicket
    let receiver: Receiver
    private let queuedAt = SuspendingClock.now

    var request: TransportRequest { direct.request }
    var url: HTTPURL { direct.url }
    var origin: String { direct.origin }
    var options: CurlTransport.Options { settings.options }

    /// Whether the URL of the proxy is one that libcurl would read as another one, or ignore.
    var hasUnusableProxy: Bool { settings.unusableProxies.contains(url.scheme) }

    /// Whether content codings are removed, or only checked, by ``ContentDecoder``; otherwise
    /// libcurl removes them, or they stay.
    var decodesContent: Bool { options.decodesContent && ContentDecoder.accepted != nil }

    /// Whether the options of the request differ only in its URL, its header fields and its timeout
    /// from those of others.
    var isPlain: Bool { request.method == "GET" && request.body == nil && !request.keepsCoding }

    /// The time that is left for the transfer.
    var remainingTime: Duration { options.countsWaits ? timeout - (SuspendingClock.now - queuedAt) : timeout }

    /// Whether the request has waited too long for a free slot.
    var isOverdue: Bool { options.countsWaits && remainingTime <= .zero }

    /// The failure of a request that has waited too long.
    var overdueFailure: CurlFailure {
        CurlFailure(
            kind: .timeout, detail: "no free connection to \(url.host):\(url.port) within \(options.totalTimeout)")
    }

    /// The functions that are called with the responses.
    struct Receiver: Sendable {
        /// The handler of interim responses.
        var interim: (@Sendable (InterimResponse) -> Void)?
        /// The completion handler, called exactly once.
        var completion: @Sendable (Result<CurlAnswer, CurlFailure>) -> Void
    }

    init(
        request: DirectRequest, settings: CurlSettings, timeout: Duration, ticket: CurlTicket, receiver: Receiver
    ) {
        direct = request
        self.settings = settings
        self.timeout = timeout
        self.ticket = ticket
        self.receiver = receiver
    }
}

/// The options of a transport. A class: submissions share it.
final class CurlSettings: Sendable {
    let options: CurlTransport.Options
    /// The schemes of requests whose proxy cannot be used: see ``ProxySetting/isUsable``.
    let unusableProxies: [String]

    init(_ options: CurlTransport.Options) {
        self.options = options
        unusableProxies = ["http", "https"].filter { scheme in
            ProxySetting(forScheme: scheme, option: options.proxy).map { !$0.isUsable } ?? false
        }
    }
}
