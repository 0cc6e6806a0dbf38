import Logging
import ServiceLifecycle
import TarnService

/// A service in a real group, for the duration of a closure.
struct RunningService: Sendable {
    let service: RefreshService
    let group: ServiceGroup
    private let task: Task<Void, any Error>

    init(_ refreshes: [ScheduledRefresh], _ options: RefreshService.Options = .init()) throws {
        let service = try RefreshService(refreshes, options: options)
        let group = ServiceGroup(services: [service], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        self.service = service
        self.group = group
        task = Task { try await group.run() }
    }

    /// Begins a graceful shutdown, and returns at once.
    func beginShutdown() async { await group.triggerGracefulShutdown() }

    /// Shuts down, and waits for the end.
    func end() async throws {
        await group.triggerGracefulShutdown()
        try await task.value
    }

    /// Cancels the group, and waits for the end.
    func cancel() async -> Result<Void, any Error> {
        task.cancel()
        return await task.result
    }

    func item(_ name: String) -> RefreshHealth.Item? { service.health.refreshes.first { $0.name == name } }
}

extension RefreshService.Options {
    /// The first refresh at once, and short waits after failures.
    static var quick: RefreshService.Options {
        var options = RefreshService.Options()
        options.start = .immediately
        options.retry = .init(first: .milliseconds(10), maximum: .milliseconds(40))
        return options
    }
}
