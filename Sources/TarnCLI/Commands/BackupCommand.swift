import ArgumentParser
import Foundation
import Tarn
import TarnInspect

/// The command `tarn store backup`.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write a copy of a store that may be in use.",
        discussion: """
            The copy is as of one commit, complete when it gets its name, and a store of its own: to restore it, put it where
            the store was. It leaves free pages out, unless --as-it-is is given.

            Examples:
              tarn store backup forge.tarn backups/forge.tarn
              tarn store backup forge.tarn backups/forge.tarn --verify
            """)

    @Argument(help: "The store's directory.") var store: String
    @Argument(help: "The copy's directory, which must not exist.") var copy: String
    @Flag(help: "Copy the file as it is, with its free pages.") var asItIs = false
    @Flag(help: "Look at everything in the copy afterwards.") var verify = false
    @OptionGroup var immutable: ImmutableOption

    func run() throws {
        let options = Store.Options(isReadOnly: true, isImmutable: immutable.immutable)
        let report = try Store.open(at: store, options: options).backup(to: copy, isCompacted: !asItIs)
        Output.line("\(copy): commit \(report.sequence), \(byteText(report.bytes)), incarnation \(report.incarnation)")
        guard verify else { return }
        let found = try StoreVerification(ofStoreAt: copy)
        guard found.isSound else {
            throw Failure(
                .store,
                "\(copy): the copy is not sound (\(found.total) findings), since the store is not: tarn inspect verify \(store)"
            )
        }
        Output.line("\(copy): sound")
    }
}
