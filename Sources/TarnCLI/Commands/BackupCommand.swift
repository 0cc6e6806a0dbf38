import ArgumentParser
import Foundation
import Tarn
import TarnInspect

/// The command `tarn store backup`.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a store, also while it is in use.",
        discussion: """
            The copy is a complete store with the content of one commit. It gets its name only when it is complete. To \
            restore it, move it to the place of the store. Free pages are left out, unless --as-it-is is given.

            Examples:
              tarn store backup forge.tarn backups/forge.tarn
              tarn store backup forge.tarn backups/forge.tarn --verify
            """)

    @Argument(help: "Store directory.") var store: String
    @Argument(help: "Directory of the copy; must not exist.") var copy: String
    @Flag(help: "Copy the file unchanged, with its free pages.") var asItIs = false
    @Flag(help: "Verify the copy afterwards.") var verify = false
    @OptionGroup var immutable: ImmutableOption

    func run() throws {
        let options = Store.Options(isReadOnly: true, isImmutable: immutable.immutable)
        let report = try Store.open(at: store, options: options).backup(to: copy, isCompacted: !asItIs)
        Output.line("\(copy): commit \(report.sequence), \(byteText(report.bytes)), incarnation \(report.incarnation)")
        guard verify else { return }
        let found = try StoreInspector(at: copy).verification()
        guard found.isSound else { throw Failure(.store, try problem(found.total)) }
        Output.line("\(copy): sound")
    }

    /// Returns the description of a damaged copy: the store may be sound.
    private func problem(_ findings: Int) throws -> String {
        let text = countText(findings, "finding")
        if try StoreInspector(at: store).verification().isSound {
            return "\(copy): the copy is damaged (\(text)), and the store is sound; "
                + "see `tarn inspect verify \(copy)`, and repeat the backup"
        }
        return "\(copy): the copy is damaged (\(text)), and so is the store; see `tarn inspect verify \(store)`"
    }
}
