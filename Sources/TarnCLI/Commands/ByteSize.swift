import ArgumentParser

/// A number of bytes as an argument: `1048576`, `64MiB`, `1.5 GiB`.
struct ByteSize: ExpressibleByArgument {
    var bytes: Int

    init?(argument: String) {
        let text = argument.lowercased().filter { $0 != " " }
        let units = [("tib", 1 << 40), ("gib", 1 << 30), ("mib", 1 << 20), ("kib", 1 << 10), ("b", 1), ("", 1)]
        guard let (unit, size) = units.first(where: { text.hasSuffix($0.0) }),
            let number = Double(text.dropLast(unit.utf8.count)),
            number > 0, number * Double(size) < Double(1 << 50)
        else { return nil }
        bytes = Int(number * Double(size))
    }
}
