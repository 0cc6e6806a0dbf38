// `tarn completions`: the script that makes a shell ask `tarn` for completions.

import ArgumentParser

struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print the completion script of a shell.",
        discussion: """
            The script asks tarn itself: it completes commands, options and their values, and the entities, fields, \
            relationships and endpoints of the description or store that the command line names.

            Examples:
              source <(tarn completions bash)                                   in ~/.bashrc
              tarn completions zsh > ~/.zfunc/_tarn                             with fpath+=~/.zfunc before compinit
              tarn completions fish > ~/.config/fish/completions/tarn.fish
            """)

    @Argument(help: "Shell: bash, zsh or fish.") var shell: CompletionScript

    func run() { Output.lines(shell.text) }
}

extension CompletionScript: ExpressibleByArgument {}
