import ArgumentParser
import Foundation
import Tarn

struct DescriptionOption: ParsableArguments {
    @Option(name: [.short, .long], help: ArgumentHelp("The description file.", valueName: "path"))
    var file = "tarn.yaml"

    func load() throws -> Description { try Description.load(path: file) }

    /// Opens a store with the catalog that stands in it.
    ///
    /// - Parameters:
    ///   - path: nil for the store of the description.
    ///   - way: how a user names one here, for the error that there is none.
    ///   - isImmutable: whether it is read without locks.
    func openStore(_ path: String?, forWriting: Bool, way: String, isImmutable: Bool = false) throws -> Store {
        if forWriting, isImmutable { throw Failure(.usage, "--immutable is for commands that read: without locks nothing can be written") }
        let options = Store.Options(isReadOnly: !forWriting, isImmutable: isImmutable)
        if let path { return try Store.open(at: path, options: options) }
        guard FileManager.default.fileExists(atPath: file) else {
            throw Failure(.usage, "there is no \(file) here: name the store\(way), or the description with --file")
        }
        return try Store.open(at: try load().storePath, options: options)
    }
}
