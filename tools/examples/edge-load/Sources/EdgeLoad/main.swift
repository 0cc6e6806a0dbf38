// EdgeLoad forge PORT                  the forge
// EdgeLoad fill FOLDER FORGE           a store with all issues, through the service's own refresh, and a GRDB database with the same
// EdgeLoad serve FOLDER PORT [FORGE]   the service, with a constant answer and GRDB's beside Tarn's; refreshes from a forge

import Edge
import Foundation
import Hummingbird
import TarnMacros

let arguments = Array(CommandLine.arguments.dropFirst())
func edge(_ folder: String, _ forge: String, every interval: Duration, perSecond: Double?) throws -> Edge {
    try Edge(api: forge, repositories: ["acme/anvil"], store: folder + "/edge.tarn", every: interval) { api in
        api.pace = Pace(perSecond: perSecond)
    }
}

switch arguments.first {
case "forge" where arguments.count == 2:
    let forge = try LocalForge()
    try await forge.application(port: Int(arguments[1]) ?? 8081).runService()
case "fill" where arguments.count == 3:
    let edge = try edge(arguments[1], arguments[2], every: .seconds(3600), perSecond: nil)
    let task = Task { try await edge.refreshes.run() }
    while edge.refreshes.health.status != .healthy { try await Task.sleep(for: .milliseconds(50)) }
    task.cancel()
    _ = await task.result
    let issues = (1...LocalForge.count).map { LocalForge.answer($0) }
    try Peer(path: arguments[1] + "/peer.sqlite").fill(issues)
    print("filled: \(issues.count) issues")
case "serve" where arguments.count == 3 || arguments.count == 4:
    // With a forge, all issues change again and again: 10 pages a second.
    let edge = try edge(arguments[1], arguments.count == 4 ? arguments[3] : "http://127.0.0.1:1", every: .milliseconds(100), perSecond: 10)
    let peer = try Peer(path: arguments[1] + "/peer.sqlite"), router = edge.router
    router.get("constant/:id") { _, context in
        _ = try context.parameters.require("id", as: Int64.self)
        return IssueAnswer.constant
    }
    router.get("grdb/:id") { _, context in
        guard let answer = try await peer.answer(context.parameters.require("id", as: Int64.self)) else { throw HTTPError(.notFound) }
        return answer
    }
    let configuration = ApplicationConfiguration(address: .hostname("127.0.0.1", port: Int(arguments[2]) ?? 8080))
    let services = arguments.count == 4 ? [edge.refreshes] : []
    try await Application(router: router, configuration: configuration, services: services).runService()
default:
    FileHandle.standardError.write(Data("usage: EdgeLoad forge PORT | fill FOLDER FORGE | serve FOLDER PORT [FORGE]\n".utf8))
    exit(2)
}
