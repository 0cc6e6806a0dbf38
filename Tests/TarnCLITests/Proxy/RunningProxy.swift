// `tarn proxy` as a child process.

import Foundation
import Glibc
import TestSupport
import Testing

/// A proxy that runs, and its address.
final class RunningProxy: Sendable {
    let process: TarnProcess
    let base: String
    private let folder: TemporaryFolder

    convenience init(_ upstream: String, _ arguments: String...) async throws {
        try await self.init(upstream, arguments)
    }

    init(_ upstream: String, _ arguments: [String]) async throws {
        let folder = try TemporaryFolder()
        let process = try TarnProcess(
            ["proxy", "--upstream", upstream, "--listen", "127.0.0.1:0", "--store", folder.path + "/cache.tarn"]
                + arguments)
        try await eventually { process.output.contains("\n") }
        base = String(process.output.dropFirst("listening on ".count).prefix { $0 != "\n" })
        self.process = process
        self.folder = folder
    }

    var port: Int {
        get throws { try #require(base.split(separator: ":").last.flatMap { Int($0) }) }
    }

    /// A client's connection to it.
    func connection() throws -> RawConnection { try RawConnection(port: port) }

    func end() async -> TarnProcess.Result {
        process.send(SIGTERM)
        return await process.end()
    }
}
