// `tarn inspect top`: what takes the most space.

import ArgumentParser
import Tarn
import TarnInspect

struct InspectTopCommand: InspectingCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Show the largest records, the longest lists and the fullest tables.",
        discussion: """
            Sizes are those of rows: as they are stored, and without compression. Lists are to-many relationships, \
            also those that are derived from the other side. Damaged rows are reported on standard error and left \
            out; the exit code is then 6. For an LMDB file of another program, the largest entries are shown, at most \
            1,000, and --entity names a table.

            Examples:
              tarn inspect top forge.tarn
              tarn inspect top forge.tarn --entity Issue --limit 3
              tarn inspect top forge.tarn --json | jq '.lists[0]'
            """)

    @Argument(help: "Store directory, or its data.mdb.") var store: String
    @Option(help: "Only records, lists and tables of this entity.") var entity: String?
    @Option(help: "Number of entries of each kind (1 to 10,000).") var limit = 10
    @Flag(help: "Print one JSON object.") var json = false
    @Flag(help: "Show progress on standard error (default: only on a terminal).") var progress = false

    func validate() throws {
        if !(1...10_000).contains(limit) { throw ValidationError("--limit must be from 1 to 10000") }
    }

    func run(on inspector: StoreInspector) throws {
        if let tables = try TableQuestions(store, inspector, unfit: []) {
            return try tables.top(of: entity, limit: limit, json: json)
        }
        let meter = ProgressMeter(isShown: progress || Output.errorIsDrawable), damage = DamageReport(store, meter)
        let top = try inspector.extremes(
            limit: limit, of: entity, progress: { meter.show($0.pages, of: $0.total, "pages") }, damaged: damage.add)
        meter.clear()
        noteWithoutLocks(store, top.aloneBecause)
        json ? try show(json: top) : show(top)
        try damage.end("read")
    }

    private func show(_ top: StoreExtremes) {
        func show(_ title: String, _ table: Table, isLast: Bool = false) {
            Output.line(title)
            let lines = table.lines(width: Output.width - 2)
            for line in lines.count > 1 ? lines : ["none"] { Output.line("  " + line) }
            if !isLast { Output.line("") }
        }
        for (title, sizes) in [
            ("largest records, as they are stored", top.stored), ("largest records, without compression", top.unpacked),
        ] {
            var table = Table(["stored", "unpacked", "entity", "key"], rightAligned: [0, 1])
            for size in sizes {
                table.add([byteText(size.stored), byteText(size.unpacked), size.entity, size.key.description])
            }
            show(title, table)
        }
        var lists = Table(["references", "list", "key"], rightAligned: [0])
        for list in top.lists {
            lists.add(["\(list.count)", "\(list.entity).\(list.relationship)", list.key.description])
        }
        show("longest lists", lists)
        var tables = Table(["size", "entries", "table", "what"], rightAligned: [0, 1])
        for table in top.tables { tables.add([byteText(table.bytes), "\(table.entries)", table.name, table.meaning]) }
        show("fullest tables", tables, isLast: true)
    }

    private func show(json top: StoreExtremes) throws {
        func sizes(_ sizes: [StoreExtremes.Size]) -> [[String: Any]] {
            sizes.map {
                ["entity": $0.entity, "key": $0.key.jsonObject, "stored": $0.stored, "unpacked": $0.unpacked]
            }
        }
        let values: [String: Any?] = [
            "stored": sizes(top.stored), "unpacked": sizes(top.unpacked),
            "lists": top.lists.map {
                [
                    "entity": $0.entity, "key": $0.key.jsonObject, "relationship": $0.relationship,
                    "count": $0.count,
                ]
                    as [String: Any]
            },
            "tables": top.tables.map {
                ["table": $0.name, "what": $0.meaning, "entries": $0.entries, "bytes": $0.bytes] as [String: Any]
            },
        ]
        try Output.json(values)
    }
}
