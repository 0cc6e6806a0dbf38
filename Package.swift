// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// Data moves one way through the layers; a layer imports only those below it. `tools/check-layers` proves it.
//
//   TarnCLI → TarnProposal → TarnDescription → Tarn → TarnHTTP, TarnImport → TarnStore → LMDB → CLMDB;   TarnCLI → TarnInspectWeb → Tarn, TarnInspect → TarnStore
//   LMDB, TarnInspect → LMDBPages;   all → Locking;   TarnDescription, TarnService, TarnMacros → Tarn
//   (the macros are expanded by TarnMacrosPlugin, inside of the compiler)

/// Targets that *declare* borrowing API (`@_lifetime`) need the feature; their clients do not.
let lifetimes: [SwiftSetting] = [.enableExperimentalFeature("Lifetimes")]

/// The condition of dependencies that only the program `tarn` and the product TarnService need. A trait of its own for the latter is
/// out of the question: with two, SwiftPM orders their defines at random, and builds everything anew.
let program: TargetDependencyCondition? = .when(traits: ["CommandLine"])

/// `TARN_PART` leaves out targets, since tools/sanitize builds all of them anew: `store` has the lower layers, without any dependency,
/// and `mirror` those above them up to the mirror, without the program.
let part = Context.environment["TARN_PART"] ?? ""
let isStoreOnly = part == "store"
let lowerTargets: Set = [
    "CLMDB", "CCrypto", "CZstd", "CChecksum", "CByteSearch", "CSimdJSON", "Locking", "LMDBPages", "LMDB", "TarnStore", "TarnImport", "TestSupport",
]
let storeTargets = lowerTargets.union(["TarnInspect", "StoreWorker", "LMDBPagesTests", "LMDBTests", "TarnStoreTests", "TarnImportTests", "TarnInspectTests"])
let mirrorTargets = lowerTargets.union(["CCurl", "TarnHTTP", "Tarn", "TarnDescription", "FixtureServer", "OutboxWorker", "TarnHTTPTests", "TarnTests"])

let package = Package(
    name: "tarn",
    products: [
        .library(name: "Tarn", targets: ["Tarn"]),
        .library(name: "TarnDescription", targets: ["TarnDescription"]),
        .library(name: "TarnMacros", targets: ["TarnMacros"]),
        .library(name: "TarnService", targets: ["TarnService"]),
        .library(name: "TarnInspect", targets: ["TarnInspect"]),
        .executable(name: "tarn", targets: ["TarnCLI"]),
    ],
    traits: [
        .trait(
            name: "CommandLine",
            description: """
                The program `tarn`, with swift-argument-parser and SwiftNIO, and the product TarnService, with swift-service-lifecycle and \
                swift-distributed-tracing. The other products need none of them.
                """),
        .default(enabledTraits: ["CommandLine"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    ],
    targets: [
        // The C libraries: Debian's, reached through the smallest possible shims; and instructions of the processor.
        .systemLibrary(name: "CLMDB", providers: [.apt(["liblmdb-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CCrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZstd", providers: [.apt(["libzstd-dev"])]),
        .target(name: "CChecksum"),
        .target(name: "CByteSearch"),
        .target(name: "CFaults"),
        .target(name: "CSimdJSON", linkerSettings: [.linkedLibrary("simdjson")]),

        .target(name: "Locking"),
        .target(name: "LMDBPages"),
        .target(name: "LMDB", dependencies: ["LMDBPages", "CLMDB", "Locking"], swiftSettings: lifetimes),
        .target(
            name: "TarnStore", dependencies: ["LMDB", "Locking", "CByteSearch", "CChecksum", "CCrypto", "CZstd"],
            swiftSettings: lifetimes),
        .target(name: "TarnImport", dependencies: ["TarnStore", "Locking", "CSimdJSON"], swiftSettings: lifetimes),
        .target(
            name: "TarnHTTP",
            dependencies: [
                "Locking", "CCrypto", "CCurl", .product(name: "Logging", package: "swift-log"), .product(name: "Metrics", package: "swift-metrics"),
            ]),
        .target(
            name: "Tarn",
            dependencies: [
                "TarnHTTP", "TarnImport", "TarnStore", "Locking", .product(name: "Logging", package: "swift-log"),
            ]),
        // `tarn.yaml` in a module of its own: who declares records in Swift builds no reader of YAML.
        .target(name: "TarnDescription", dependencies: ["Tarn", "TarnHTTP", "TarnImport", "TarnStore", .product(name: "Yams", package: "Yams")]),
        // `tarn init`: descriptions inferred from responses and OpenAPI documents.
        .target(
            name: "TarnProposal",
            dependencies: ["Tarn", "TarnDescription", "TarnHTTP", "TarnImport", "TarnStore", .product(name: "Yams", package: "Yams")]),
        .macro(
            name: "TarnMacrosPlugin",
            dependencies: [
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
            ]),
        .target(name: "TarnMacros", dependencies: ["Tarn", "TarnMacrosPlugin"]),
        .target(
            name: "TarnService",
            dependencies: [
                "Tarn", "Locking", .product(name: "Logging", package: "swift-log"), .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: program),
                .product(name: "Tracing", package: "swift-distributed-tracing", condition: program),
            ]),
        .target(name: "TarnInspect", dependencies: ["TarnStore", "LMDB", "LMDBPages", "Locking"]),
        .target(name: "TarnInspectWeb", dependencies: ["Tarn", "TarnHTTP", "TarnInspect", "TarnStore", "Locking"], resources: [.embedInCode("Assets")]),
        .executableTarget(
            name: "TarnCLI",
            dependencies: [
                "Tarn", "TarnDescription", "TarnProposal", "TarnInspect", "TarnInspectWeb", "Locking", "CFaults", .product(name: "ArgumentParser", package: "swift-argument-parser", condition: program),
                // The server of `tarn proxy`; the library has none.
                .product(name: "NIOCore", package: "swift-nio", condition: program), .product(name: "NIOPosix", package: "swift-nio", condition: program),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: program),
            ]),

        // A local API server on raw sockets, for the demo, the tests and the benchmarks. Not part of any product.
        .executableTarget(name: "FixtureServer", dependencies: ["TarnHTTP", "Locking"]),
        // A process on a store that tests kill, give faults to, and let check a store. Not part of any product.
        .executableTarget(name: "StoreWorker", dependencies: ["TarnStore", "TarnImport", "TarnInspect", "LMDB"]),

        // A process that syncs from a server that sends anything. Not part of any product.
        .executableTarget(name: "HostileSync", dependencies: ["Tarn", "TarnDescription", "TarnInspect", "Locking", "CZstd"]),

        // A process that queues and sends local changes until it is killed. Not part of any product.
        .executableTarget(name: "OutboxWorker", dependencies: ["Tarn", "TarnDescription"]),

        // Shared by all tests: local servers, folders, waiting, random numbers.
        .target(
            name: "TestSupport", dependencies: isStoreOnly ? ["Locking"] : ["Locking", .product(name: "Logging", package: "swift-log")], path: "Tests/Support"),
        .testTarget(name: "LMDBPagesTests", dependencies: ["LMDBPages", "TestSupport"]),
        .testTarget(name: "LMDBTests", dependencies: ["LMDB", "TestSupport"]),
        .testTarget(name: "TarnStoreTests", dependencies: ["TarnStore", "StoreWorker", "CZstd", "TestSupport"], exclude: ["Golden"]),
        .testTarget(
            name: "TarnImportTests", dependencies: ["TarnImport", "TestSupport"],
            exclude: ["depth", "keys", "literals", "numbers", "strings", "structure", "utf8"].map { "JSONSuite/\($0).tsv" }),
        .testTarget(
            name: "TarnHTTPTests",
            dependencies: [
                "TarnHTTP", "FixtureServer", "Locking", "TestSupport", .product(name: "Logging", package: "swift-log"), .product(name: "Metrics", package: "swift-metrics"),
            ]),
        .testTarget(name: "TarnTests", dependencies: ["Tarn", "TarnDescription", "FixtureServer", "OutboxWorker", "Locking", "TestSupport", .product(name: "Logging", package: "swift-log")]),
        .testTarget(name: "TarnProposalTests", dependencies: ["TarnProposal", "Tarn", "TarnDescription", "FixtureServer", "TestSupport"]),
        .testTarget(name: "TarnMacrosTests", dependencies: ["TarnMacros", "TestSupport", .product(name: "Logging", package: "swift-log")]),
        .testTarget(
            name: "TarnServiceTests",
            dependencies: [
                "TarnService", "TarnMacros", "TarnDescription", "TestSupport", .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing", condition: program),
            ]),
        // The calls of other libraries, each done with this one. The pages "Coming from …" are generated from the tests' names.
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "TarnMacros", "Tarn", "TarnDescription", "FixtureServer", "TestSupport", .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Conformance",
            exclude: ["BMO", "MMRecord", "RestKit", "SLRESTfulCoreData"].map { "\($0)/page.md" }
                + ["Apollo", "GRDB", "SwiftData"].map { "Rivals/\($0).md" }),
        // An extension as users of the library write it: without access to `package` declarations.
        .target(name: "ExtensionSample", dependencies: ["Tarn"], path: "Tests/ExtensionSample", packageAccess: false),
        .testTarget(name: "ExtensionTests", dependencies: ["ExtensionSample", "Tarn", "TarnDescription", "TestSupport"]),
        .testTarget(name: "TarnInspectTests", dependencies: ["TarnInspect", "TarnStore", "LMDB", "LMDBPages", "CZstd", "TestSupport"]),
        .testTarget(
            name: "TarnCLITests", dependencies: ["TarnCLI", "Tarn", "TarnDescription", "TarnInspect", "TarnInspectWeb", "TarnStore", "LMDB", "FixtureServer", "HostileSync", "TestSupport"]),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

if isStoreOnly {
    package.targets.removeAll { !storeTargets.contains($0.name) }
    package.products = [.library(name: "TarnInspect", targets: ["TarnInspect"])]
    package.dependencies = []
    package.traits = []
} else if part == "mirror" {
    package.targets.removeAll { !mirrorTargets.contains($0.name) }
    package.products = [.library(name: "TarnDescription", targets: ["TarnDescription"])]
    package.dependencies = [
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    ]
    package.traits = []
}

// Most of the tests' time is spent in these modules, which are several times as slow without optimization.
// No source has an `assert`, so the checks are the same. Only tools sets it: SwiftPM refuses unsafe flags of
// a dependency that is not local.
if Context.environment["TARN_OPTIMIZED"] == "1" {
    let optimized: Set = ["Locking", "LMDBPages", "LMDB", "TarnStore", "TarnImport", "TarnInspect"]
    for target in package.targets where optimized.contains(target.name) {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O"])]
    }
}
