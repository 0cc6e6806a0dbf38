// The log of imports: one line with counts at `info`, and one for each group of diagnostics at
// `notice`.

import Logging
import TarnHTTP
import TarnImport
import TarnStore

/// The facts about an import that its report does not have.
struct ImportLog {
    /// The names of the endpoints or requests.
    private(set) var endpoints: [String]
    /// The URL of the first page, without secrets.
    let url: String
    var pages: Int
    /// The size of the bodies.
    var bytes: Int
    /// The time that drafting and committing took.
    var duration: Duration
    /// Whether the records are kept in the store.
    var isStored = true

    init(_ request: RequestKey, pages: Int = 1, bytes: Int, duration: Duration) {
        endpoints = [String(RequestKey.name(ofEndpoint: request.endpoint))]
        url = Redaction.shown(request.url)
        self.pages = pages
        self.bytes = bytes
        self.duration = duration
    }

    mutating func add(endpointOf request: RequestKey) {
        let name = String(RequestKey.name(ofEndpoint: request.endpoint))
        if !endpoints.contains(name) { endpoints.append(name) }
    }

    /// The maximum number of groups of diagnostics that one import logs.
    fileprivate static let groupLimit = 20
}

extension APIClient {
    /// Whether imports are logged: otherwise nothing is gathered for it.
    var logsImports: Bool { options.logger.map { $0.logLevel <= .notice } ?? false }

    /// Logs a committed import.
    func log(_ report: ImportReport, _ log: @autoclosure () -> ImportLog) {
        guard logsImports, let logger = options.logger else { return }
        let log = log()
        let source: Logger.Metadata = ["endpoint": "\(log.endpoints.joined(separator: ", "))", "url": "\(log.url)"]
        logger.info(
            log.isStored ? "imported" : "imported without storing",
            metadata: source.merging([
                "pages": "\(log.pages)", "bytes": "\(log.bytes)", "listed": "\(report.listed)",
                "created": "\(report.created)", "updated": "\(report.updated)",
                "unchanged": "\(report.unchanged)", "deleted": "\(report.deleted)",
                "skipped": "\(report.skipped)", "diagnostics": "\(report.diagnosticCount)",
                "milliseconds": "\(log.duration.milliseconds)",
            ]) { $1 })
        self.log(diagnosticsOf: report, source)
    }

    /// Logs that an orphan pass has removed records.
    func log(orphansOf endpoint: Endpoint, _ report: OrphanReport, _ imported: ImportReport) {
        guard logsImports, let logger = options.logger else { return }
        let source: Logger.Metadata = ["endpoint": "\(endpoint.name)"]
        if report.deleted + report.unlinked > 0 {
            logger.info(
                "removed orphans",
                metadata: source.merging(["deleted": "\(report.deleted)", "unlinked": "\(report.unlinked)"]) { $1 })
        }
        log(diagnosticsOf: imported, source)
    }

    private func log(diagnosticsOf report: ImportReport, _ source: Logger.Metadata) {
        guard let logger = options.logger else { return }
        for group in report.diagnosticGroups.prefix(ImportLog.groupLimit) {
            logger.notice(
                "\(group.code.rawValue): \(group.first.message.singleLine)",
                metadata: source.merging([
                    "entity": "\(group.entity)", "count": "\(group.count)", "path": "\(group.first.path.singleLine)",
                ]) { $1 }.merging(
                    [("field", group.field), ("key", group.first.key), ("url", group.first.source)].compactMap {
                        name, value in
                        value.map { (name, "\($0.singleLine)") }
                    }
                ) { $1 })
        }
        let further = report.diagnosticGroups.count - ImportLog.groupLimit
        if further > 0 {
            logger.notice("further kinds of diagnostics: \(further)", metadata: source)
        }
    }
}

extension Duration {
    /// The duration in milliseconds, with microseconds as decimals.
    fileprivate var milliseconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) * 1000 + Double(attoseconds / 1_000_000_000_000) / 1000
    }
}
