// The examination of the server: whether it answers, over which protocol, and its clock.

import Foundation
import Tarn
import TarnHTTP

extension Doctor {
    /// The limits of the one request that is sent.
    private static let timeout = Duration.seconds(15)
    /// The difference of two clocks that is worth a warning, in seconds.
    static let clockTolerance = 30

    /// Requests the base URL without credentials, and compares the clocks.
    func server(_ api: APIDescription, _ base: String?) async -> [DoctorFinding] {
        var settings = api.transport
        settings.totalTimeout = min(settings.totalTimeout, Doctor.timeout)
        settings.namesSettings = settings.totalTimeout < Doctor.timeout
        // The answer of another server, and its clock, would pass for those of this one.
        settings.followsRedirects = false
        let url = base ?? api.base, shown = Redaction.url(url)
        let begin = ContinuousClock.now
        do throws(TransportError) {
            let response = try await CurlTransport(settings).send(TransportRequest(url: url))
            let elapsed = ContinuousClock.now - begin
            let milliseconds =
                elapsed.components.seconds * 1000 + elapsed.components.attoseconds / 1_000_000_000_000_000
            let isEncrypted = url.lowercased().hasPrefix("https:")
            let text = "\(shown) answered \(response.status) in \(milliseconds) ms"
            // Any status is an answer: few APIs have a resource at their base URL.
            var finding = DoctorFinding(.server, .ok, text + (isEncrypted ? ", its certificate is trusted" : ""))
            if !isEncrypted, !Doctor.isLocal(url) {
                finding.verdict = .warn
                finding.text = text + ", not encrypted"
                finding.remedy = "credentials can be read on the way: use https, if the server has it"
            } else if response.status >= 500 {
                finding.verdict = .warn
                finding.remedy = "the server has a problem of its own: a sync may fail"
            }
            return [finding] + [Doctor.clock(response.headers["Date"], at: Date())].compactMap(\.self)
        } catch {
            let remedy =
                switch error.kind {
                case .resolve: "check the name of the server, and the name server of this machine"
                case .connect: "check the network, the proxy and the port; `tarn list` and `get` work offline"
                case .tls:
                    "check the certificate and the clock; `transport: { authorities: … }` names a file of private certificate authorities"
                case .resources: "free descriptors or threads of this process, or raise its limits"
                default: "try again, or check the network"
                }
            return [DoctorFinding(.server, .fail, "\(error)", remedy: remedy)]
        }
    }

    /// Compares the clock of this machine with a server's; nil without a readable date.
    static func clock(_ date: String?, at now: Date) -> DoctorFinding? {
        guard let theirs = date.flatMap({ HTTPDate.parse($0, now: now) }) else { return nil }
        let difference = now.timeIntervalSince(theirs).rounded()
        guard difference.magnitude < 1e9 else {
            return DoctorFinding(.clock, .fail, "the clocks differ by decades", remedy: "set the clock of this machine")
        }
        let seconds = Int(difference)
        guard seconds.magnitude > UInt(clockTolerance) else {
            return DoctorFinding(.clock, .ok, "within \(clockTolerance) s of the server's")
        }
        return DoctorFinding(
            .clock, .warn, "\(seconds.magnitude) s \(seconds > 0 ? "ahead of" : "behind") the server's",
            remedy: "set the clock: the age of responses and the times of tokens depend on it")
    }

    private static func isLocal(_ url: String) -> Bool {
        guard let host = URLComponents(string: url)?.host else { return false }
        return host == "localhost" || host.hasPrefix("127.") || host == "::1" || host == "[::1]"
    }
}
