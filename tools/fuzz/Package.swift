// swift-tools-version: 6.2
import PackageDescription

// A package of its own: what libFuzzer drives links only with its flags, which `run` gives.
let package = Package(
    name: "fuzz",
    dependencies: [.package(name: "tarn", path: "../..")],
    targets: [
        .executableTarget(
            name: "ImportFuzz", dependencies: [.product(name: "Tarn", package: "tarn")],
            // The parsers are not public: the fuzzer looks inside, as the tests do.
            swiftSettings: [.unsafeFlags(["-package-name", "tarn"])])
    ],
    swiftLanguageModes: [.v6]
)
