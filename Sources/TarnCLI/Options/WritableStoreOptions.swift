import ArgumentParser
import Tarn

/// The store that a command changes: named by an option, or by a description file.
struct WritableStoreOptions: ParsableArguments {
    @OptionGroup var description: DescriptionOption

    @Option(help: ArgumentHelp("Store directory (default: from the description).", valueName: "path"))
    var store: String?

    /// Opens the store with the catalog that is stored in it.
    ///
    /// - Parameters:
    ///   - isReadOnly: whether nothing is written.
    ///   - isImmutable: whether the store is read without locks.
    func open(isReadOnly: Bool = false, isImmutable: Bool = false) throws -> Store {
        try description.openStore(store, forWriting: !isReadOnly, way: " with --store", isImmutable: isImmutable)
    }
}
