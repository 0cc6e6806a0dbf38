// `tarn inspect web` as a child process, and a browser that opens its page.

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

/// Debian's Chromium without a window.
enum Browser {
    static let path = "/usr/bin/chromium"
    static var isInstalled: Bool { access(path, X_OK) == 0 }

    /// Opens an address, waits until its scripts have nothing left to do, and returns the document.
    ///
    /// - Parameters:
    ///   - proxy: The proxy for every address that is not of this machine.
    ///   - arguments: Further arguments.
    static func document(_ url: String, proxy: String, _ arguments: String...) async throws -> String {
        let profile = try TemporaryFolder()
        let process = try TarnProcess(
            [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--disable-default-apps", "--disable-extensions", "--disable-domain-reliability",
                "--user-data-dir=\(profile.path)", "--proxy-server=\(proxy)", "--virtual-time-budget=20000",
                "--dump-dom",
            ] + arguments + [url], program: path)
        let result = await process.end()
        try #require(result.status == 0, "\(result.error.suffix(2000))")
        return result.output
    }
}
