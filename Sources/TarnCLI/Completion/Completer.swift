// `tarn ---complete`: the completions of a word on a command line, for the scripts of shells.

import TarnInspect

/// The completions of the word at the cursor.
struct Completer {
    /// The first argument of such a request.
    static let argument = "---complete"

    /// The use that the shell makes of the completions.
    enum Kind: String {
        /// Offers them, and adds a space behind the only one.
        case words
        /// Offers them without a space: more may follow.
        case open
        /// Offers names of files.
        case files
        /// Offers names of directories.
        case directories
    }

    struct Completion {
        var text: String
        var about = ""
    }

    private let program: CommandOutline
    private let shell: CompletionScript
    /// The words before the cursor, without the name of the program.
    private var before: [String]
    /// The word at the cursor, up to the cursor.
    private var word: String
    /// The text before the completion in the word, such as `--format=`.
    private var prefix = ""
    /// The quote of bash that is open at the cursor; nil if none is.
    private var quote: Character?
    /// The part of the word that bash takes for earlier words: up to its last colon.
    private var taken = ""
    /// The names to offer; nil for those of the store and the description on the command line.
    private var known: KnownNames?

    /// The lines of an answer: the kind, then the completions.
    ///
    /// - Parameter arguments: `---complete`, the shell, the index of the word, and all words.
    static func lines(for arguments: [String]) -> [String] {
        guard arguments.count >= 4, let shell = CompletionScript(rawValue: arguments[1]), let index = Int(arguments[2]),
            index > 0, let program = CommandOutline.program()
        else { return [Kind.words.rawValue] }
        let words = Array(arguments.dropFirst(3))
        var completer = Completer(program, shell, words, index)
        let (kind, completions) = completer.answer()
        return [kind.rawValue]
            + completions.compactMap(completer.inserted).map { $0.text + "\t" + $0.about.replacing("\n", with: " ") }
    }

    /// Returns a completion as the shell is to insert it; nil for one that no line can hold.
    private func inserted(_ completion: Completion) -> Completion? {
        guard !completion.text.unicodeScalars.contains(where: { VisibleText.acts($0.value) }) else { return nil }
        guard shell == .bash else { return completion }
        return Completer.quoted(completion.text, in: quote).map { Completion(text: $0, about: completion.about) }
    }

    /// Returns the completions of the last of the words in a program's own shell.
    ///
    /// - Parameter words: The words of the line, the name of the program first.
    static func completions(
        of words: [String], _ program: CommandOutline, _ names: KnownNames
    ) -> (kind: Kind, completions: [Completion]) {
        var completer = Completer(program, .zsh, words, words.count - 1)
        completer.known = names
        return completer.answer()
    }

    private init(_ program: CommandOutline, _ shell: CompletionScript, _ words: [String], _ index: Int) {
        self.program = program
        self.shell = shell
        before = Array(words.prefix(index).dropFirst())
        word = index < words.count ? words[index] : ""
        // bash splits `--format=json` into three words, and `http://host:80` into five.
        if shell == .bash {
            joinAroundColons()
            if word == "=" { word = "" }
            before.removeAll { $0 == "=" }
            before = before.map(Completer.unquoted)
            quote = Completer.openQuote(of: word)
            word = Completer.unquoted(word)
        }
    }

    /// Returns a word without the quotes and backslashes of a shell (POSIX, Shell Command Language
    /// §2.2). Quotes that are still open end with the word.
    static func unquoted(_ word: String) -> String {
        var result = "", quote: Character?, rest = word[...]
        while let character = rest.popFirst() {
            if let open = quote, character == open {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
            } else if character == "\\", quote != "'", let next = rest.first {
                // Between quotation marks, a backslash is one before other characters.
                if quote == nil || "$`\"\\".contains(next) { rest.removeFirst() }
                result.append(quote == nil || "$`\"\\".contains(next) ? next : character)
            } else {
                result.append(character)
            }
        }
        return result
    }

    private mutating func joinAroundColons() {
        func isColon(_ word: String) -> Bool { !word.isEmpty && word.allSatisfy { $0 == ":" } }
        var joined: [String] = [], isOpen = false
        for word in before + [word] {
            let joins = isColon(word)
            if joins || isOpen && !word.isEmpty, let last = joined.popLast() {
                joined.append(last + word)
            } else {
                joined.append(word)
            }
            isOpen = joins
        }
        let own = isColon(word) ? "" : word
        word = joined.popLast() ?? ""
        before = joined
        taken = String(word.dropLast(own.count))
    }

    private mutating func answer() -> (Kind, [Completion]) {
        var command = program, positionals: [String] = [], pending: CommandOutline.Argument?, isOpen = true
        for word in before {
            if pending != nil {
                pending = nil
            } else if isOpen, word == "--" {
                isOpen = false
            } else if isOpen, word.hasPrefix("-") {
                guard !word.contains("=") else { continue }
                pending = command.option(word).flatMap { $0.kind == .option ? $0 : nil }
            } else if let subcommand = command.subcommand(word) {
                command = subcommand
            } else {
                positionals.append(word)
            }
        }
        if let pending { return values(of: pending, command, positionals) }
        if isOpen, word.hasPrefix("-") {
            if let equals = word.firstIndex(of: "="), let option = command.option(String(word[..<equals])) {
                prefix = String(word[...equals])
                word = String(word[word.index(after: equals)...])
                return values(of: option, command, positionals)
            }
            return options(of: command)
        }
        if command.commandName == "help" { return helpPages(positionals) }
        if let subcommands = command.subcommands, !subcommands.isEmpty {
            guard positionals.isEmpty else { return (.words, []) }
            return matching(command.shownSubcommands.map { Completion(text: $0.commandName, about: $0.abstract ?? "") })
        }
        let arguments = command.positionals
        let argument = positionals.count < arguments.count ? arguments[positionals.count] : arguments.last
        guard let argument, positionals.count < arguments.count || argument.isRepeating else { return (.words, []) }
        return values(of: argument, command, positionals)
    }

    private func options(of command: CommandOutline) -> (Kind, [Completion]) {
        let used = Set(before)
        return matching(
            command.shownOptions.filter { $0.isRepeating || used.isDisjoint(with: $0.texts) }.flatMap { option in
                option.texts.filter { $0.hasPrefix("--") }.map { Completion(text: $0, about: option.abstract ?? "") }
            })
    }

    private func helpPages(_ path: [String]) -> (Kind, [Completion]) {
        var command = program
        for name in path { if let subcommand = command.subcommand(name) { command = subcommand } }
        let topics = path.isEmpty ? HelpTopic.allCases.map { Completion(text: $0.rawValue) } : []
        return matching(
            command.shownSubcommands.map { Completion(text: $0.commandName, about: $0.abstract ?? "") } + topics)
    }

    // MARK: Values

    private func values(
        of argument: CommandOutline.Argument, _ command: CommandOutline, _ positionals: [String]
    ) -> (Kind, [Completion]) {
        if let values = argument.allValues { return matching(values.map { Completion(text: $0) }) }
        let name = argument.names?.first { $0.kind == "long" }?.name
        switch name ?? argument.valueName ?? "" {
        case "store", "record", "replay", "backup", "damaged", "new", "copy": return (.directories, [])
        case "file", "overlay", "openapi": return (.files, [])
        case "tables": return tables(positionals)
        case "base": return bases(command, positionals)
        case "api": return matching(names(command, positionals).apis.map { Completion(text: $0.name, about: $0.base) })
        case "policy": return policies()
        case "through": return pathsOfEntities(command, positionals)
        case "entity", "entities", "roots": return entities(command, positionals)
        case "endpoint", "endpoints", "target": return endpoints(command, positionals)
        case "relationship", "include": return relationships(command, positionals)
        case "fields": return lists(command, positionals)
        case "by", "where", "sort", "field": return paths(command, positionals)
        default:
            switch argument.valueName {
            case "path": return (.files, [])
            // A description is also made from files of answers.
            case "url" where name == nil: return (.files, [])
            case "field=value": return assignments(command, positionals)
            case "relationship=key": return members(command, positionals)
            default: return (.words, [])
            }
        }
    }

    /// The tables of the store that the command line names.
    private func tables(_ positionals: [String]) -> (Kind, [Completion]) {
        guard let store = positionals.first, let statistics = try? StoreInspector(at: store).statistics() else {
            return (.words, [])
        }
        let used = Set(positionals.dropFirst())
        return matching(
            statistics.tables.filter { !used.contains($0.name) }.map { Completion(text: $0.name, about: $0.meaning) })
    }

    /// `people=` for each API of a description with several ones; a URL follows.
    private func bases(_ command: CommandOutline, _ positionals: [String]) -> (Kind, [Completion]) {
        let known = names(command, positionals)
        return (.open, matching(known.apis.map { Completion(text: "\($0.name)=", about: $0.base) }).1)
    }

    private func policies() -> (Kind, [Completion]) {
        let words = ["cache-first", "network-first", "cache-only", "network-only"].map { Completion(text: $0) }
        return matching(words + [Completion(text: "older-than=", about: "seconds")])
    }

    /// `name=` for each attribute; a value follows.
    private func assignments(_ command: CommandOutline, _ positionals: [String]) -> (Kind, [Completion]) {
        let entity = entity(command, positionals, names(command, positionals))
        return (.open, matching(entity?.attributes.map { Completion(text: "\($0)=", about: "attribute") } ?? []).1)
    }

    /// `name=` for each relationship; a key follows.
    private func members(_ command: CommandOutline, _ positionals: [String]) -> (Kind, [Completion]) {
        let entity = entity(command, positionals, names(command, positionals))
        let lists = entity?.relationships.filter { entity?.toMany.contains($0.name) == true }
        let names = lists?.map { Completion(text: "\($0.name)=", about: $0.destination) }
        return (.open, matching(names ?? []).1)
    }

    /// `Issue.comments`: an entity, then one of its relationships.
    private func pathsOfEntities(_ command: CommandOutline, _ positionals: [String]) -> (Kind, [Completion]) {
        let known = names(command, positionals)
        guard let dot = word.firstIndex(of: "."), let entity = known.entity(String(word[..<dot])) else {
            return (.open, matching(known.entities.map { Completion(text: "\($0.name).", about: "entity") }).1)
        }
        return matching(
            entity.relationships.map { Completion(text: "\(entity.name).\($0.name)", about: $0.destination) })
    }

    private func entities(_ command: CommandOutline, _ positionals: [String]) -> (Kind, [Completion]) {
        matching(names(command, positionals).entities.map { Completion(text: $0.name, about: "entity") })
    }

    private func endpoints(_ command: CommandOutline, _ positionals: [String]) -> (Kind, [Completion]) {
        let used = Set(positionals)
        return matching(
            names(command, positionals).endpoints.filter { !used.contains($0.name) }.map {
                Completion(text: $0.name, about: $0.path)
            })
    }

    private func relationships(_ command: CommandOutline, _ positionals: [String]) -> (Kind, [Completion]) {
        let known = names(command, positionals)
        let entity = entity(command, positionals, known)
        return matching(entity?.relationships.map { Completion(text: $0.name, about: $0.destination) } ?? [])
    }

    /// A list of paths with commas: the last one is completed.
    private func lists(_ command: CommandOutline, _ positionals: [String]) -> (Kind, [Completion]) {
        var inner = self
        if let comma = word.lastIndex(of: ",") {
            inner.prefix = prefix + word[...comma]
            inner.word = String(word[word.index(after: comma)...])
        }
        return inner.paths(command, positionals)
    }

    /// A path: fields of the entity, behind a `.` those of the entity that a relationship leads to.
    private func paths(_ command: CommandOutline, _ positionals: [String]) -> (Kind, [Completion]) {
        let known = names(command, positionals)
        guard var entity = entity(command, positionals, known) else { return (.words, []) }
        var parts = word.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let last = parts.popLast() ?? ""
        for part in parts {
            guard let relationship = entity.relationships.first(where: { $0.name == part }),
                let next = known.entity(relationship.destination)
            else { return (.words, []) }
            entity = next
        }
        var inner = self
        inner.prefix = prefix + parts.map { "\($0)." }.joined()
        inner.word = last
        let attributes = entity.attributes.map { Completion(text: $0, about: "attribute") }
        return (
            .open,
            inner.matching(attributes + entity.relationships.map { Completion(text: $0.name, about: $0.destination) }).1
        )
    }

    /// The value of an option on the command line.
    private func value(_ names: [String]) -> String? {
        for (index, word) in before.enumerated() {
            if names.contains(word), index + 1 < before.count { return before[index + 1] }
            for name in names where word.hasPrefix(name + "=") { return String(word.dropFirst(name.count + 1)) }
        }
        return nil
    }

    /// The entity that the command line names, in an option or as an argument.
    private func entity(_ command: CommandOutline, _ positionals: [String], _ known: KnownNames) -> KnownNames.Entity? {
        let position = command.positionals.firstIndex { $0.valueName == "entity" } ?? 0
        let argument = position < positionals.count ? positionals[position] : nil
        return (value(["--entity"]) ?? argument).flatMap(known.entity)
    }

    /// The names of the description and store that the command line names.
    private func names(_ command: CommandOutline, _ positionals: [String]) -> KnownNames {
        if let known { return known }
        let position = command.positionals.firstIndex { $0.valueName == "store" }
        let argument = position.flatMap { $0 < positionals.count ? positionals[$0] : nil }
        return KnownNames(file: value(["--file", "-f"]) ?? "tarn.yaml", store: value(["--store"]) ?? argument)
    }

    /// The completions that begin with the word, with what stands before it.
    private func matching(_ completions: [Completion]) -> (Kind, [Completion]) {
        // bash has taken `--format=` off the word, but not the part of a list or path.
        var prefix = prefix
        if shell == .bash, prefix.hasPrefix("--"), let equals = prefix.firstIndex(of: "=") {
            prefix = String(prefix[prefix.index(after: equals)...])
        }
        let found = completions.filter { $0.text.hasPrefix(word) }.map { completion in
            let text = prefix + completion.text
            return Completion(
                text: text.hasPrefix(taken) ? String(text.dropFirst(taken.count)) : text, about: completion.about)
        }
        return (.words, found)
    }
}
