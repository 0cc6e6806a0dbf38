import ArgumentParser
import TarnInspect

/// A command that asks about one store file. The shell runs it on the snapshot that it holds.
protocol InspectingCommand: ParsableCommand {
    /// The path of the file.
    var store: String { get }

    func run(on inspector: StoreInspector) throws
}

extension InspectingCommand {
    func run() throws { try run(on: StoreInspector(at: store)) }
}
