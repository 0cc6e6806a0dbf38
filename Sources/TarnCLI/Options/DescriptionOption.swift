import ArgumentParser
import Foundation
import Tarn

/// The option `--file`, and opening the store that the description names.
struct DescriptionOption: ParsableArguments {
    @Option(name: [.short, .long], help: ArgumentHelp("Description file.", valueName: "path"))
    var file = "tarn.yaml"

    /// Whether there is a description, or one is named that there is not.
    var isThere: Bool { file != "tarn.yaml" || FileManager.default.fileExists(atPath: file) }

    func load() throws -> Description { try Description.load(path: file) }

    /// Opens a store with the catalog that is stored in it.
    ///
    /// - Parameters:
    ///   - path: The store directory; nil for the store of the description.
    ///   - way: The way to name a store in this command, for the error if there is none.
    ///   - isImmutable: Whether the store is read without locks.
    /// - Throws: `Failure` with `.usage` if there is no store to open.
    func openStore(_ path: String?, forWriting: Bool, way: String, isImmutable: Bool = false) throws -> Store {
        if forWriting, isImmutable {
            throw Failure(.usage, "--immutable is only for reading: a write needs locks")
        }
        let options = Store.Options(isReadOnly: !forWriting, isImmutable: isImmutable)
        func open(_ path: String) throws -> Store {
            guard forWriting else { return try Store.open(at: path, options: options) }
            return try Failure.ofLocking { try Store.open(at: path, options: options) }
        }
        if let path { return try open(path) }
        guard isThere else { throw failure(way: way) }
        return try open(try load().storePath)
    }

    /// Returns the failure of a command that is told neither a store nor a description.
    func failure(way: String) -> Failure {
        Failure(.usage, "there is no \(file) in this directory: name the store\(way), or the description with --file")
    }
}
