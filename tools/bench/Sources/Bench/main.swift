// Runs one contender of one program once, and prints its figures as one line of JSON.

import Foundation

do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments == ["--list"] {
        for contender in Contender.all { print(contender.benchmark, contender.name) }
    } else if arguments.count == 2, arguments[0] == "--observer" {
        // The other process of `observe`.
        try await TarnObserving.observe(arguments[1])
    } else {
        let options = try Options(arguments)
        let contender = Contender.all.first { ($0.benchmark, $0.name) == (options.benchmark, options.contender) }
        guard let contender else {
            throw BenchmarkError("No \(options.contender) in \(options.benchmark); Bench --list shows who is where")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        print(String(decoding: try encoder.encode(try await contender.measure(options)), as: UTF8.self))
    }
} catch {
    FileHandle.standardError.write(Data("Bench: \(error)\n".utf8))
    exit(1)
}
