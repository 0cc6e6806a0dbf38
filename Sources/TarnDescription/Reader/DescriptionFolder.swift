/// The folder of a description file, which relative paths begin at.
enum DescriptionFolder {
    /// Returns a path below the folder of a file; an absolute path stays.
    ///
    /// A description in a pipe (`/dev/stdin`, or `/dev/fd/63` of a shell's `<(…)`) has no folder:
    /// its paths are those of a `tarn.yaml` in the working directory.
    static func path(_ path: String, besides file: String) -> String {
        guard !path.hasPrefix("/"), !isStream(file), let slash = file.lastIndex(of: "/") else { return path }
        return file[...slash] + path
    }

    /// Returns the path of the store that a description does not name: that of the file, with
    /// `.tarn` in place of its suffix.
    static func store(of file: String) -> String {
        guard !isStream(file) else { return "tarn.tarn" }
        var name = file.lastIndex(of: "/").map { file[file.index(after: $0)...] } ?? file[...]
        for suffix in [".yaml", ".yml"] where name.hasSuffix(suffix) && name != suffix {
            name = name.dropLast(suffix.count)
        }
        return path("\(name).tarn", besides: file)
    }

    /// Returns the path by which a description is known: that of its file, or `tarn.yaml` for one
    /// in a pipe.
    static func named(_ file: String) -> String { isStream(file) ? "tarn.yaml" : file }

    /// Whether a path is that of a device or of a descriptor: `/dev/fd/0`, `/proc/self/fd/0`.
    ///
    /// `/dev/shm` has files and folders in memory, and `/proc/self/root` those of the file system.
    /// A descriptor may be one of a folder, which then has further segments.
    private static func isStream(_ file: String) -> Bool {
        let segments = file.split(separator: "/")
        guard file.hasPrefix("/") else { return false }
        switch segments.first {
        case "dev": return segments.count < 4 && segments.dropFirst().first != "shm"
        case "proc":
            return segments.count > 2 && segments[segments.count - 2] == "fd"
                && Int(segments[segments.count - 1]) != nil
        default: return false
        }
    }
}
