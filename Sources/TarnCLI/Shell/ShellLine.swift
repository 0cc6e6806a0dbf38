import ArgumentParser

/// The commands of the shell: those of `tarn inspect` about one file, and three of its own.
struct ShellLine: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell", abstract: "The commands of the shell.",
        subcommands: [
            InspectGetCommand.self, ShellListCommand.self, ShellCountCommand.self, ShellRelatedCommand.self,
            InspectKeysCommand.self, InspectGrepCommand.self, InspectSchemaCommand.self, StatCommand.self,
            InspectTopCommand.self, InspectPagesCommand.self, InspectCacheCommand.self, InspectChangesCommand.self,
            DumpCommand.self, DiffCommand.self, ExportCommand.self, VerifyCommand.self,
        ])
}
