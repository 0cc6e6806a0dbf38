// Transfers of several processes: one sends a request, the others wait for its response.

import Foundation
import TarnHTTP

extension RecordCache {
    /// Runs a transfer while no other process has one of the same response under way.
    func claimed(_ prepared: PreparedRequest, _ body: () async throws -> Transfer) async throws -> Transfer {
        guard let claims else { return try await body() }
        let began = client.options.time.now(), start = ContinuousClock.now
        var hasWaited = false, isClaimed = true, isNoted = false
        while claims.claim(prepared.digest) == .isAnothers {
            let waited = ContinuousClock.now - start
            // The other process may be stopped, or be waiting for a limit of its own.
            guard waited < options.longestClaim else {
                isClaimed = false
                break
            }
            if !isNoted, waited > .seconds(2) {
                isNoted = true
                noteWait(prepared, for: claims.holder(of: prepared.digest), until: options.longestClaim - waited)
            }
            hasWaited = true
            try await Task.sleep(for: .milliseconds(10))
        }
        defer { if isClaimed { claims.release(prepared.digest) } }
        // If another process has fetched the response meanwhile, it is the answer. Otherwise this
        // one tries.
        if hasWaited, let transfer = try fetched(prepared, since: began) { return transfer }
        return try await body()
    }

    /// Reports a wait for another process.
    private func noteWait(_ prepared: PreparedRequest, for process: Int32?, until rest: Duration) {
        let client = prepared.request.client
        client.options.logger?.notice(
            "waiting for another process",
            metadata: ["url": "\(prepared.shownURL)", "process": "\(process.map { "\($0)" } ?? "unknown")"])
        guard let onWait = client.options.onWait, let url = try? HTTPURL(prepared.message.url) else { return }
        var wait = RequestWait(origin: url.origin, until: Date() + rest.inSeconds, reason: .process)
        wait.processID = process
        wait.endpoint = prepared.endpoint.name
        onWait(wait)
    }
}
