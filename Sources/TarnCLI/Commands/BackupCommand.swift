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

            A damaged page is copied like any other: --verify finds it. Without it, only the meta pages, the number of \
            pages and its size are checked.

            Examples:
              tarn store backup forge.tarn backups/forge.tarn
              tarn store backup forge.tarn backups/forge.tarn --verify
            """)

    @Argument(help: "Store directory.") var store: String
    @Argument(help: "Directory of the copy; must not exist, but the one above it must.") var copy: String
    @Flag(help: "Copy the file unchanged, with its free pages.") var asItIs = false
    @Flag(help: "Verify the copy afterwards.") var verify = false
    @OptionGroup var immutable: ImmutableOption

    func run() throws {
        let options = Store.Options(isReadOnly: true, isImmutable: immutable.immutable)
        // The copy gets meta pages of its own, which would hide the damage. A file that has none is
        // refused when it is opened.
        let findings = (try? StoreInspector(at: store).metaPageFindings()) ?? []
        let report = try FileSizeLimit.ofCopy(store) {
            try Store.open(at: store, options: options).backup(to: copy, isCompacted: !asItIs)
        }
        Output.line("\(copy): commit \(report.sequence), \(byteText(report.bytes)), incarnation \(report.incarnation)")
        if verify {
            let found = try StoreInspector(at: copy).verification()
            guard found.isSound else { throw Failure(.store, try problem(found.total)) }
            Output.line("\(copy): sound")
        } else {
            Output.line("\(copy): not verified; --verify reads all of the copy")
        }
        if let finding = findings.first {
            throw Failure(
                .store,
                "\(store): \(finding.place): \(finding.detail). The copy is of commit \(report.sequence); "
                    + "see `tarn inspect verify \(store)`")
        }
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
