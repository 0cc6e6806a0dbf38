/// LMDB files of another program: scripts for Python's `lmdb` of Debian.
package enum ForeignTables {
    /// Returns a script that makes the environment `env` at the path of its first argument: a file
    /// if that ends with `.mdb`.
    ///
    /// - Parameter lines: lines that run in a transaction `t`. `fill` puts entries into a table.
    package static func script(_ lines: String) -> String {
        let lines = lines.split(separator: "\n", omittingEmptySubsequences: false).map { "    " + $0 }
        return """
            import lmdb, struct, sys
            env = lmdb.open(sys.argv[1], map_size=1 << 26, max_dbs=16, subdir=not sys.argv[1].endswith('.mdb'))
            with env.begin(write=True) as t:
                def fill(name, entries, **flags):
                    db = env.open_db(name if isinstance(name, bytes) else name.encode(), txn=t, **flags)
                    for k, v in entries: t.put(k, v, db=db)
            \(lines.joined(separator: "\n"))

            """
    }
}
