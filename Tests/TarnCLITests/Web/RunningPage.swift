// `tarn inspect web` as a child process.

import Foundation
import Glibc
import TestSupport
import Testing

/// A page that is served, and its address.
final class RunningPage: Sendable {
    let process: TarnProcess
    let url: String

    init(_ store: String) async throws {
        let process = try TarnProcess(["inspect", "web", store])
        try await eventually { process.output.contains("\n") }
        url = String(process.output.prefix { $0 != "\n" })
        self.process = process
    }

    var port: Int {
        get throws { try #require(URL(string: url)?.port) }
    }

    func end() async -> TarnProcess.Result {
        process.send(SIGTERM)
        return await process.end()
    }
}
