import ArgumentParser
import Foundation
import Tarn

/// The command `tarn cache collect`.
struct CacheCollectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect",
        abstract:
            "Remove records that nothing reaches: no answer lists them, and no record that is reached refers to them.",
        discussion: """
            What is listed by an answer that is kept, is of an entity of --roots, or was changed here stays, and what these refer to. References are
            followed as they are stored; a derived relationship, such as from a user to its issues, only with --through.

            Examples:
              tarn cache collect forge.tarn --roots Issue,Project --dry-run
              tarn cache collect forge.tarn --roots Issue --through Issue.comments
              tarn cache collect forge.tarn --roots ''                             nothing stays but what answers list
            """)

    @OptionGroup var store: StoreArgument
    @Option(help: ArgumentHelp("Entities all of whose records stay, with commas between them.", valueName: "entities"))
    var roots: String
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A derived relationship that is followed too, Entity.name. May be repeated.", valueName: "relationship"))
    var through: [String] = []
    @Flag(help: "Count, and remove nothing.") var dryRun = false
    @OptionGroup var format: FormatOption

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
                Output.line(
                    "\(report.unreachable.values.reduce(0, +)) records are not reached\(entities.isEmpty ? "" : " (\(entities))"), \(report.reached) are; nothing was removed"
                )
            } else {
                Output.line(
                    "\(report.deleted) records removed, \(report.reached) are reached"
                        + (report.denied > 0 ? "; \(report.denied) kept by a delete rule" : ""))
            }
        }
    }
}
