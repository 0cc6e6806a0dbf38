// swift-tools-version: 6.2
import PackageDescription

// A program that fetches with async-http-client, and hands the responses over to Tarn.
let package = Package(
    name: "handover",
    dependencies: [
        .package(name: "tarn", path: "../../.."),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        .target(
            name: "Handover",
            dependencies: [
                .product(name: "TarnMacros", package: "tarn"), .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ]),
        .testTarget(name: "HandoverTests", dependencies: ["Handover"]),
    ],
    swiftLanguageModes: [.v6]
)
