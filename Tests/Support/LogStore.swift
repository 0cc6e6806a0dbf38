#if canImport(Logging)
    // The tests of the lower layers are also built without dependencies: nothing logs there.
    package import Logging
    import Synchronization

    /// A logger that keeps its lines: `LEVEL MESSAGE KEY=VALUE …`, with the keys in order.
    package final class LogStore: Sendable {
        private let kept = Mutex<[String]>([])

        package init() {}

        package var lines: [String] { kept.withLock(\.self) }
        package var text: String { lines.joined(separator: "\n") }
        /// A logger of every level.
        package var logger: Logger { logger(.trace) }

        package func logger(_ level: Logger.Level) -> Logger {
            var logger = Logger(label: "test") { _ in Handler(store: self) }
            logger.logLevel = level
            return logger
        }

        private struct Handler: LogHandler {
            let store: LogStore
            var metadata: Logger.Metadata = [:]
            var logLevel: Logger.Level = .trace

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) {
                let all = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
                store.kept.withLock { $0.append("\(event.level) \(event.message) \(all)") }
            }
        }
    }
#endif
