import ArgumentParser
import Foundation
import Tarn

/// The command `tarn cache collect`.
struct CacheCollectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect",
        abstract:
            "Remove unreachable records: no cached response lists them, and no reachable record refers to them.",
        discussion: """
            A record is reachable if a cached response lists it, if its entity is one of --roots, if it has local \
            changes, or if a reachable record refers to it. Stored references are followed; a derived relationship, \
            such as from a user to its issues, is followed only with --through.

            Examples:
              tarn cache collect forge.tarn --roots Issue,Project --dry-run
              tarn cache collect forge.tarn --roots Issue --through Issue.comments
              tarn cache collect forge.tarn --roots ''                             keep only what responses list
            """)

    @OptionGroup var store: StoreArgument
    @Option(help: ArgumentHelp("Entities whose records all stay, separated by commas.", valueName: "entities"))
    var roots: String
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Derived relationship to follow, as Entity.name. May be repeated.", valueName: "relationship"))
    var through: [String] = []
    @Flag(help: "Count the records, but remove nothing.") var dryRun = false
    @OptionGroup var format: ReportFormatOption

    func run() async throws {
        let roots = Set(
            roots.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty })
        let report = try await store.openCache().collect(roots: roots, through: Set(through), isDryRun: dryRun)
        switch format.format {
        case .json:
            // After a deletion, the remaining unreachable records are not a result.
            try Output.json([
                "reached": report.reached, "unreachable": dryRun ? report.unreachable : nil, "deleted": report.deleted,
                "denied": report.denied,
            ])
        case .table:
            let entities = report.unreachable.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(
                separator: ", ")
            if dryRun {
                let unreachable = report.unreachable.values.reduce(0, +)
                Output.line(
                    "\(countText(unreachable, "unreachable record"))\(entities.isEmpty ? "" : " (\(entities))"), "
                        + "\(report.reached) reachable; nothing was removed"
                )
            } else {
                Output.line(
                    "\(countText(report.deleted, "record")) removed, \(report.reached) reachable"
                        + (report.denied > 0 ? "; \(report.denied) kept by a delete rule" : ""))
            }
        }
    }
}
