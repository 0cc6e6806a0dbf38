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

    /// `/dev/shm` has files and folders in memory.
    private static func isStream(_ file: String) -> Bool {
        file.hasPrefix("/dev/") && !file.hasPrefix("/dev/shm/") || file.hasPrefix("/proc/")
    }
}
