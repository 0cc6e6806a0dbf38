import Foundation
import Metrics
import Tarn

/// The metrics of refreshes (swift-metrics).
///
/// - `tarn_refreshes` by refresh and outcome: `complete`, `failed`, `interrupted`;
/// - `tarn_refresh_duration` by refresh;
/// - `tarn_refresh_pages` by refresh and source: `fetched`, `revalidated`;
/// - `tarn_refresh_records` by refresh, entity and change: `created`, `updated`, `deleted`;
/// - `tarn_refresh_findings` by refresh and finding: `skipped` records, lists that ended at a limit
///   of their request (`cut_off`), or where the server may have more (`in_doubt`), records without
///   a value for the path of their list (`without_value`);
/// - `tarn_refresh_age_seconds` by refresh: the time since the last complete one.
struct RefreshMetrics: Sendable {
    let factory: any MetricsFactory

    func note(_ name: String, outcome: String, _ totals: RefreshRun.Totals, _ duration: Duration) {
        count("tarn_refreshes", [("refresh", name), ("outcome", outcome)], 1)
        Metrics.Timer(label: "tarn_refresh_duration", dimensions: [("refresh", name)], factory: factory)
            .recordNanoseconds(Int64(duration.inSeconds * 1e9))
        for (source, pages) in totals.pages {
            count("tarn_refresh_pages", [("refresh", name), ("source", source)], pages)
        }
        let findings = [
            ("skipped", totals.skipped), ("cut_off", totals.cutOff), ("in_doubt", totals.doubts.values.reduce(0, +)),
            ("without_value", totals.withoutValue),
        ]
        for (finding, number) in findings {
            count("tarn_refresh_findings", [("refresh", name), ("finding", finding)], number)
        }
        for (entity, counts) in totals.entities {
            let changes = [("created", counts.created), ("updated", counts.updated), ("deleted", counts.deleted)]
            for (change, number) in changes {
                count("tarn_refresh_records", [("refresh", name), ("entity", entity), ("change", change)], number)
            }
        }
    }

    func note(ages health: RefreshHealth) {
        for item in health.refreshes {
            guard let age = item.age else { continue }
            Gauge(label: "tarn_refresh_age_seconds", dimensions: [("refresh", item.name)], factory: factory).record(age)
        }
    }

    private func count(_ label: String, _ dimensions: [(String, String)], _ number: Int) {
        guard number > 0 else { return }
        Counter(label: label, dimensions: dimensions, factory: factory).increment(by: number)
    }
}
