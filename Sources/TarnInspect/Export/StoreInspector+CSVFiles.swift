// CSV in files.

import Foundation
import TarnStore

extension StoreInspector {
    /// Writes the files of ``exportCSV(text:damaged:)`` into a new directory, `TABLE.csv` each.
    ///
    /// The directory gets its name when all files are complete. In the names of files, characters
    /// other than letters, digits, `_`, `-` and `.` are written as `%XX`.
    ///
    /// - Parameter path: A path at which nothing exists.
    /// - Throws: As ``exportCSV(text:damaged:)``; `StoreMaintenanceError.destinationExists`; errors
    ///   of the file system.
    public func exportCSV(toDirectory path: String, damaged: (Damage) -> Void) throws -> StoreExport {
        try exportCSV(toDirectory: path, isSpreadsheetSafe: false, damaged: damaged)
    }

    /// Writes the files of ``exportCSV(toDirectory:damaged:)``.
    ///
    /// - Parameter isSpreadsheetSafe: whether texts that a spreadsheet would run are marked with an
    ///   apostrophe.
    package func exportCSV(
        toDirectory path: String, isSpreadsheetSafe: Bool, damaged: (Damage) -> Void
    ) throws -> StoreExport {
        // A trailing slash would put the unfinished directory inside of it.
        var path = path
        while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        var status = stat()
        guard lstat(path, &status) != 0 else { throw StoreMaintenanceError.destinationExists(path: path) }
        // An existing directory belongs to another attempt. A process id alone is not unique: the
        // main process of each container has the same one.
        let unfinished = StoreInspector.unfinishedName(path), files = FileManager.default
        try files.createDirectory(atPath: unfinished, withIntermediateDirectories: false)
        defer { try? files.removeItem(atPath: unfinished) }
        func file(_ table: String) -> URL {
            URL(fileURLWithPath: "\(unfinished)/\(StoreInspector.fileName(table)).csv")
        }
        // No file stays open: there may be more tables than a process may have descriptors.
        var buffers: [String: [UInt8]] = [:], created: Set<String> = [], waiting = 0
        func flush(_ table: String) throws {
            guard let bytes = buffers.removeValue(forKey: table) else { return }
            waiting -= bytes.count
            try StoreInspector.naming(path) {
                let handle = try FileHandle(forWritingTo: file(table))
                try handle.seekToEnd()
                try handle.write(contentsOf: bytes)
                try handle.close()
            }
        }
        let result = try exportCSV(
            text: { table, text in
                // Two cut names with one hash would share a file.
                if created.insert(table).inserted { try Data().write(to: file(table), options: .withoutOverwriting) }
                let count = text.utf8.count
                buffers[table, default: []] += text.utf8
                waiting += count
                if buffers[table, default: []].count > 1 << 16 { try flush(table) }
                if waiting > 1 << 24 { for table in Array(buffers.keys) { try flush(table) } }
            }, isSpreadsheetSafe: isSpreadsheetSafe, damaged: damaged)
        for table in Array(buffers.keys) { try flush(table) }
        try files.moveItem(atPath: unfinished, toPath: path)
        return result
    }

    /// Returns a unique name for a file or directory that gets its own name when it is complete.
    static func unfinishedName(_ path: String) -> String {
        "\(path).unfinished-\(getpid())-" + String(UInt32.random(in: 0 ... .max), radix: 16)
    }

    /// Runs a closure, and adds a path to its error of the file system: `FileHandle` gives none.
    private static func naming(_ path: String, _ body: () throws -> Void) throws {
        do { try body() } catch {
            let reason = error as NSError
            var information = reason.userInfo
            information[NSFilePathErrorKey] = path
            throw NSError(domain: reason.domain, code: reason.code, userInfo: information)
        }
    }

    /// Returns the name of a table's file, without its extension.
    ///
    /// A long name, for which file systems have no room, is cut, and ends with a hash (FNV-1a).
    private static func fileName(_ table: String) -> String {
        var name = ""
        for byte in table.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ".") where !name.isEmpty: name += "."
            default: name += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        guard name.utf8.count > 200 else { return name }
        let hash = table.utf8.reduce(2_166_136_261 as UInt32) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return name.prefix(180) + "-" + String(hash, radix: 16)
    }
}
