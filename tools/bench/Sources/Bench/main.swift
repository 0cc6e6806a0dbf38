// Runs one contender of one case once and prints what it measured as one line of JSON.

import Foundation

do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments == ["--list"] {
        for contender in Contender.all { print(contender.benchmark, contender.name) }
    } else {
        let options = try Options(arguments)
        guard let contender = Contender.all.first(where: { $0.benchmark == options.benchmark && $0.name == options.contender })
        else { throw BenchmarkError("No contender \(options.contender) in case \(options.benchmark); Bench --list shows all") }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        print(String(decoding: try encoder.encode(try contender.measure(options)), as: UTF8.self))
    }
} catch {
    FileHandle.standardError.write(Data("Bench: \(error)\n".utf8))
    exit(1)
}
