// The reading of secrets, which may wait for programs and pipes.

import Locking

extension Authorizer {
    /// Reads secrets for the renewal.
    func read(
        _ sources: [SecretSource], _ request: TransportRequest
    ) async throws(TransportError) -> [Secret] {
        try await result(ofReading: sources, request, commands).get()
    }

    /// Reads secrets for one caller. A wait for them ends with its task.
    ///
    /// The commands are none of the renewal's, which end when nobody waits for that any more.
    func readApart(
        _ sources: [SecretSource], _ request: TransportRequest
    ) async throws(TransportError) -> [Secret] {
        let commands = SecretCommands()
        guard sources.contains(where: \.mayBlock) else {
            return try await result(ofReading: sources, request, commands).get()
        }
        let outcome = SettledOnce<Result<[Secret], TransportError>?>()
        Task { outcome.settle(await result(ofReading: sources, request, commands, endsWaits: true)) }
        let secrets = await withTaskCancellationHandler {
            await outcome.value()
        } onCancel: {
            outcome.settle(nil)
            commands.close()
        }
        guard let secrets else { throw Authorizer.cancelled(request) }
        return try secrets.get()
    }

    /// Reads secrets: on a thread of its own if a source may block.
    ///
    /// - Parameters:
    ///   - commands: the commands that end together.
    ///   - endsWaits: whether waits for pipes end with them. Each keeps a thread. That of a renewal
    ///     goes on for the next request.
    private func result(
        ofReading sources: [SecretSource], _ request: TransportRequest, _ commands: SecretCommands,
        endsWaits: Bool = false
    ) async -> Result<[Secret], TransportError> {
        let environment = environment, keys = authentication.keySources
        @Sendable func read() -> Result<[Secret], SecretError> {
            do throws(SecretError) {
                var secrets: [Secret] = []
                for source in sources {
                    let command = SecretCommand()
                    if source.isCommand || endsWaits { commands.begin(command) }
                    defer { commands.finish(command) }
                    secrets.append(
                        try source.read(environment: environment, command, lines: keys.contains(source)))
                }
                return .success(secrets)
            } catch {
                return .failure(error)
            }
        }
        let result: Result<[Secret], SecretError>? =
            sources.contains(where: \.mayBlock)
            ? await withCheckedContinuation { done in
                if SystemThread.start({ done.resume(returning: read()) }) != 0 { done.resume(returning: nil) }
            } : read()
        func error(_ kind: TransportError.Kind, _ detail: String) -> TransportError {
            TransportError(kind, method: request.method, url: request.url, detail: detail)
        }
        guard let result else { return .failure(error(.resources, SystemThread.refusal)) }
        return result.mapError { error(.credentials, $0.description) }
    }
}
