// Large specifications: ten times as many paths take about ten times as long, and not a hundred times.

import Glibc
import Tarn
import Testing

@testable import TarnProposal

@Suite("Proposals of large specifications")
struct SpecificationSizeTests {
    /// Returns a specification of lists with details, and of records with many enums.
    private func specification(_ count: Int) throws -> OpenAPIDocument {
        let states = (0..<20).map { #""state\#($0)":{"type":"string","enum":["a\#($0)","b\#($0)"]}"# }
        var specification = TestSpecification(paths: [], schemas: [:], server: "https://api.test.example")
        for index in 0..<count {
            let name = "Thing\(index)"
            let id = #""id":{"type":"string","format":"uuid"},"name":{"type":"string"},"#
            specification.schemas[name] = TestSpecification.object(id + states.joined(separator: ","))
            specification.paths.append(("/things\(index)", TestSpecification.get(TestSpecification.list(name))))
            let detail = TestSpecification.get(TestSpecification.reference(name), TestSpecification.path("thingId"))
            specification.paths.append(("/things\(index)/{thingId}", detail))
        }
        return try specification.document()
    }

    /// Returns the time of the processor for this thread that a proposal takes.
    private func time(_ count: Int) throws -> Double {
        func threadTime() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let document = try specification(count), start = threadTime()
        _ = try Proposal([], specification: document)
        return threadTime() - start
    }

    @Test("the time for a specification grows with its paths, and not with their square")
    func growth() throws {
        _ = try time(10)
        let few = try time(15), many = try time(150)
        #expect(many / few < 20, "\(few) s, \(many) s")
    }
}
