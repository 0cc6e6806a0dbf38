// A mapping compiled against a catalog.

internal import TarnStore

/// The plans of all entities.
struct ImportPlan {
    let plans: [EntityPlan]
    /// The values that the plans take from a document, outside of its records.
    let documentSources: [DocumentSource]
    /// Whether a source is a header field or a parameter.
    let readsContext: Bool
    /// Whether a policy depends on what else is in a unit.
    let dependsOnUnits: Bool
    /// Whether no policy of an entity depends on the stored record or on the rest of a unit.
    let isIndependent: Bool
    /// The inheritance trees that the plans belong to.
    let kinds: PlanKinds
    /// Whether any entity chooses among its descendants.
    let hasChoices: Bool
    /// Whether a source of any entity depends on a record's surroundings.
    let takesSurroundings: Bool
    /// Whether a source is the name of the member in which a record is found.
    let takesNames: Bool
    /// Whether records of any entity may be lists, or values without keys; and whether these are
    /// values that are no lists, too.
    let takesItself: Bool, takesValue: Bool
    /// The attributes that no object had, before any.
    let presence: SlotPresence

    /// Compiles a mapping.
    ///
    /// - Throws: `.unknownEntity`, `.unknownField`, `.unknownTransformer` or `.noKind` if the
    ///   mapping names what the catalog does not have.
    init(_ mapping: Mapping, _ catalog: Catalog) throws(ImportError) {
        for (name, entityMapping) in mapping.entities { try ImportPlan.check(name, entityMapping, mapping, catalog) }
        var builder = PlanBuilder(mapping, catalog)
        var plans: [EntityPlan] = []
        for entity in catalog.entities { plans.append(builder.plan(of: entity)) }
        self.plans = plans
        let kinds = PlanKinds(catalog)
        for (position, entity) in catalog.entities.enumerated() {
            guard let choice = mapping.entities[entity.name]?.choice else { continue }
            let names = catalog.entities.enumerated().filter { kinds.isKind($0.offset, of: position) }.map {
                ($1.name, $0)
            }
            plans[position].set(
                CompiledChoice(choice, entity.name, Dictionary(uniqueKeysWithValues: names), url: plans[position].url))
        }
        self.kinds = kinds
        takesSurroundings = plans.contains(where: \.isContextual)
        takesNames = plans.contains { $0.extras.contains(where: \.takesName) }
        takesItself = plans.contains(where: \.takesItself)
        takesValue = plans.contains(where: \.takesValue)
        hasChoices = plans.contains(where: \.hasChoice)
        documentSources = builder.documentSources
        readsContext = documentSources.contains(where: \.isOfContext)
        isIndependent = plans.allSatisfy { $0.policies.isPlain && !$0.policies.failsKeyless }
        dependsOnUnits = plans.contains { $0.policies.failsKeyless || $0.policies.firstWins }
        presence = SlotPresence(plans)
    }

    /// Creates a plan for an importer of another one, which no importer uses.
    init(copying other: ImportPlan) {
        plans = other.plans.map { EntityPlan(copying: $0) }
        documentSources = other.documentSources
        readsContext = other.readsContext
        dependsOnUnits = other.dependsOnUnits
        isIndependent = other.isIndependent
        kinds = other.kinds
        hasChoices = other.hasChoices
        takesSurroundings = other.takesSurroundings
        takesNames = other.takesNames
        takesItself = other.takesItself
        takesValue = other.takesValue
        presence = other.presence
    }

    private static func check(
        _ name: String, _ entityMapping: EntityMapping, _ mapping: Mapping, _ catalog: Catalog
    ) throws(ImportError) {
        guard let entity = catalog.entity(name) else { throw .unknownEntity(name) }
        if let version = entityMapping.version, entity.field(version) == nil {
            throw .unknownField(entity: name, field: version)
        }
        if let rest = entityMapping.rest, entity.field(rest) == nil { throw .unknownField(entity: name, field: rest) }
        for chosen in entityMapping.choice?.entities ?? [] {
            guard let kind = catalog.entity(chosen), catalog.isKind(kind.id, of: entity.id) else {
                throw .noKind(chosen, of: name)
            }
        }
        for (field, rules) in entityMapping.fields {
            for transformer in rules.transformers ?? [] where mapping.transformer(transformer) == nil {
                throw .unknownTransformer(entity: name, field: field, name: transformer)
            }
        }
        let fields =
            entityMapping.paths.keys.sorted() + entityMapping.epochs.keys.sorted() + entityMapping.fields.keys.sorted()
            + entityMapping.declared.sorted()
        for field in fields {
            guard entity.field(field) != nil || catalog.relationship(field, of: entity) != nil else {
                throw .unknownField(entity: name, field: field)
            }
        }
    }

    /// Returns whether only the position in the list tells the keys of records with equal JSON
    /// apart.
    func distinguishesPositionsOnly(_ position: Int) -> Bool {
        guard takesSurroundings else { return false }
        let extras = plans.indices.filter { kinds.isKind($0, of: position) }.flatMap { plans[$0].extras }
            .filter(\.isKey)
        return extras.contains(where: \.takesPosition)
            && !extras.flatMap(\.documentValues).contains { documentSources[$0].isOfAnswer }
    }

    /// Returns whether a value may be a record: an object, or what the entity, or a kind that its
    /// rules choose, takes values from.
    func mayBeRecord(_ kind: Tape.Kind?, of position: Int) -> Bool {
        if kind == .object { return true }
        let own = plans[position]
        return switch kind {
        case .array: own.takesItself || own.hasChoice && takesItself
        case .null, nil: false
        default: own.takesValue || own.hasChoice && takesValue
        }
    }

    func position(of entity: String) -> Int? { plans.firstIndex { $0.entity.name == entity } }

    /// Returns whether records of an entity, or nested ones, take values from the document's root.
    func takesRoot(_ position: Int) -> Bool {
        guard documentSources.contains(where: \.isOfRoot) else { return false }
        var seen: Set<Int> = [], pending = [position]
        while let next = pending.popLast() {
            guard seen.insert(next).inserted else { continue }
            let plan = plans[next]
            let values =
                plan.extras.flatMap(\.documentValues) + plan.slots.map { Int($0.absentValue) }.filter { $0 >= 0 }
            if values.contains(where: { documentSources[$0].isOfRoot }) { return true }
            for (slot, details) in zip(plan.slots, plan.details) {
                switch slot.kind {
                case .attribute: continue
                case .toOne(let destination), .toMany(let destination): pending.append(destination)
                case .derived: pending.append(details.derived?.owner ?? next)
                }
            }
            pending += plans.indices.filter { kinds.isKind($0, of: next) }
        }
        return false
    }
}

/// The compiler of the plans, which numbers the values that they take from a document.
private struct PlanBuilder {
    let mapping: Mapping
    let catalog: Catalog
    let positions: [UInt16: Int]
    var documentSources: [DocumentSource] = []

    init(_ mapping: Mapping, _ catalog: Catalog) {
        self.mapping = mapping
        self.catalog = catalog
        positions = Dictionary(uniqueKeysWithValues: catalog.entities.enumerated().map { ($1.id, $0) })
    }

    mutating func plan(of entity: Catalog.Entity) -> EntityPlan {
        let entityMapping = mapping.effective(entity, in: catalog)
        let declared = mapping.declaredFields(of: entity, in: catalog)
        var slots: [Slot] = [], details: [SlotDetails] = []
        for field in entity.fields {
            guard case (var slot, let itsDetails)? = slot(of: field, entity, entityMapping) else { continue }
            if !slot.isKey, let declared, !declared.contains(field.name) { slot.setUndeclared() }
            slots.append(slot)
            details.append(itsDetails)
        }
        for relationship in catalog.relationships(of: entity) where !relationship.isStored {
            guard let (slot, itsDetails) = derivedSlot(relationship, entityMapping) else { continue }
            slots.append(slot)
            details.append(itsDetails)
        }
        let plan = EntityPlan(
            entity, slots, details, ignored: entityMapping.ignored,
            policies: EntityPolicies(mapping, entityMapping, entity, slots))
        var places: [PlaceName: Int] = [:]
        let matcher = entityMapping.url.map { URLMatcher($0, bases: entityMapping.bases ?? mapping.bases) }
        if let matcher { set(matcher, of: entity, details, to: plan) }
        for (index, slot) in slots.enumerated() {
            guard let url = entityMapping.referenceURLs[details[index].name] else { continue }
            if let matcher = referenceMatcher(url, slot) { plan.set(matcher, ofReference: index) }
        }
        // The attribute that keeps unmapped keys has no source of its own.
        for (index, slot) in slots.enumerated() where slot.isDeclared && details[index].name != entityMapping.rest {
            let variable = matcher?.variable(of: details[index].name, slot, catalog)
            var sources = sources(of: details[index], slot, entityMapping)
            // Where the URL is, there is no value of its variables.
            if variable != nil, let paths = matcher?.url.sources {
                sources.removeAll { if case .path(let path) = $0 { paths.contains(path) } else { false } }
            }
            for (rank, source) in sources.enumerated() {
                add(source, rank: 2 * rank, index, slot, details[index], to: plan, &places)
            }
            if let matcher, let variable {
                // A key's absent value comes last.
                let hasLast = slot.isKey && mapping.rules(of: entityMapping, details[index].name).absentValue != nil
                let kinds = matcher.url.sources.compactMap { kind(of: $0, .first, slot, plan, &places) }
                plan.add(
                    ExtraSource(
                        slot: index, rank: 2 * (sources.count - (hasLast ? 1 : 0)) - 1, isKey: slot.isKey,
                        kind: .url(matcher, variable: variable, kinds)))
            }
            if slot.isKey, plan.keySlots == [index] { plan.excerptKey = sources.lazy.compactMap(\.singleKey).first }
        }
        if entityMapping.rest == nil {
            for keys in testedKeys(of: entity, entityMapping) where places[PlaceName(keys: keys, isKey: false)] == nil {
                _ = plan.addPlace(keys, isKey: false)
            }
        }
        plan.coverNodes()
        return plan
    }

    /// Returns the paths that decide whether a record is deleted and of which kind it is.
    ///
    /// They are used, although no field takes them: they are no unmapped paths.
    private func testedKeys(of entity: Catalog.Entity, _ entityMapping: EntityMapping) -> Set<[String]> {
        var paths = entityMapping.tombstone.map { [$0.path] } ?? []
        for id in [entity.id] + catalog.ancestors(of: entity.id) {
            guard let name = catalog.entity(id: id)?.name, let choice = mapping.entities[name]?.choice else { continue }
            for case .entity(_, let conditions) in choice.rules { paths += conditions.map(\.path) }
        }
        return Set(paths.filter { $0.isPlain && !$0.keys.isEmpty }.map(\.keys))
    }

    /// Sets the URLs of an entity, from which keys of bare references are taken.
    private func set(
        _ matcher: URLMatcher, of entity: Catalog.Entity, _ details: [SlotDetails], to plan: EntityPlan
    ) {
        // A part of the key may be a reference to a record whose own key is one attribute.
        if entity.keyTypes.count == plan.keySlots.count {
            matcher.setKey(zip(plan.keySlots, entity.keyTypes).map { (details[$0].name, $1) })
        }
        plan.set(matcher)
        plan.excerptURL = matcher.url.sources.lazy.compactMap { ValueSource.path($0).singleKey }.first
    }

    /// Returns the URLs of a relationship's targets; nil if a URL cannot name them.
    private func referenceMatcher(_ url: RecordURL, _ slot: Slot) -> URLMatcher? {
        let destination: Int
        switch slot.kind {
        case .attribute: return nil
        case .toOne(let position), .toMany(let position): destination = position
        case .derived(let derived): destination = Int(derived.owner)
        }
        let target = catalog.entities[destination]
        let names = target.key.compactMap { id in target.field(id: id)?.name }
        guard names.count == target.keyTypes.count else { return nil }
        let matcher = URLMatcher(url, bases: mapping.effective(target, in: catalog).bases ?? mapping.bases)
        matcher.setKey(zip(names, target.keyTypes).map { ($0, $1) })
        return matcher
    }

    // MARK: Slots

    private mutating func slot(
        of field: Catalog.Field, _ entity: Catalog.Entity, _ entityMapping: EntityMapping
    ) -> (Slot, SlotDetails)? {
        var slot = Slot(field: field.id, kind: .attribute, isOptional: field.isOptional)
        slot.hasDefault = field.defaultValue != nil
        var details = SlotDetails(name: field.name)
        let rules = mapping.rules(of: entityMapping, field.name)
        slot.isKey = entity.key.contains(field.id)
        switch field.kind {
        case .attribute(let type):
            // A key is read before its record, and always in the same way: its rules do not apply.
            details.rule =
                slot.isKey
                ? ValueRule(type)
                : ValueRule(
                    type, rules.coercion ?? .lenient, dates: rules.dates ?? [], fallback: rules.fallback,
                    transformers: (rules.transformers ?? []).compactMap(mapping.transformer))
            if let value = rules.absentValue, !slot.isKey { slot.absentValue = Int32(number(.constant(value))) }
        case .reference(let reference):
            guard let destination = positions[reference.destination] else { return nil }
            slot.kind = reference.isToMany ? .toMany(destination: destination) : .toOne(destination: destination)
            if reference.isOneToOne { slot.claims = Int32(declaring(field.id, entity) ?? -1) }
        }
        slot.ignoresNull = rules.nulls == .ignore
        slot.clearsAbsent = slot.absentValue >= 0 || (rules.absent == .clear && field.isOptional && !slot.isKey)
        slot.toMany = rules.toMany ?? .replace
        return (slot, details)
    }

    /// Returns the plan of the topmost entity with a field, shared by all entities that inherit it.
    private func declaring(_ field: UInt16, _ entity: Catalog.Entity) -> Int? {
        let above = catalog.ancestors(of: entity.id).filter { catalog.entity(id: $0)?.field(id: field) != nil }
        return positions[above.last ?? entity.id]
    }

    private func derivedSlot(_ relationship: Catalog.Relationship, _ entityMapping: EntityMapping) -> (
        Slot, SlotDetails
    )? {
        // A derived side takes part only if the mapping specifies its paths or declares it.
        guard entityMapping.paths[relationship.name] != nil || entityMapping.declared.contains(relationship.name),
            let owner = positions[relationship.owner],
            let field = catalog.entities[owner].field(id: relationship.field),
            case .reference(let reference) = field.kind
        else { return nil }
        var details = SlotDetails(name: relationship.name)
        details.derived = SlotDetails.Derived(
            owner: owner, field: field, reference: reference, isToMany: relationship.isToMany)
        let rules = mapping.rules(of: entityMapping, relationship.name)
        let derived = Slot.Derived(
            owner: Int32(owner), field: field.id, isToMany: relationship.isToMany, isListed: reference.isToMany,
            isOrdered: reference.inverseIsOrdered)
        var slot = Slot(field: 0, kind: .derived(derived), isOptional: true)
        slot.ignoresNull = rules.nulls == .ignore
        // Many APIs never list the other side, since its records have the references. So this is no
        // rule for all fields of an entity: only one of the relationship itself counts.
        slot.clearsAbsent = entityMapping.fields[relationship.name]?.absent == .clear
        slot.toMany = rules.toMany ?? .replace
        return (slot, details)
    }

    // MARK: Sources

    /// Returns the sources of a field: declared alternates, its own name, the names of bare keys, a
    /// key's absent value.
    private func sources(of details: SlotDetails, _ slot: Slot, _ entityMapping: EntityMapping) -> [ValueSource] {
        let name = details.name, rules = mapping.rules(of: entityMapping, name)
        let declared = entityMapping.paths[name] ?? []
        let naming = (entityMapping.convention ?? mapping.naming).with(rules.naming)
        var keys = naming.jsonKeys(for: name)
        if let isToMany = takesBareKeys(slot) {
            // A declared path of one key may have a bare key beside it, too.
            let beside = declared.flatMap { source in
                guard case .path(let path) = source, path.isPlain, path.keys.count == 1 else { return [String]() }
                return naming.referenceKeys(besideJSONKey: path.keys[0], isToMany: isToMany)
            }
            for key in beside + naming.referenceKeys(for: name, isToMany: isToMany) where !keys.contains(key) {
                keys.append(key)
            }
        }
        let own = keys.map { ValueSource.path(JSONPath(keys: [$0])) }
        let last = slot.isKey ? rules.absentValue.map { [ValueSource.constant($0)] } ?? [] : []
        return declared + own.filter { !declared.contains($0) } + last
    }

    /// Returns whether a relationship is to-many; nil for attributes, and for relationships to an
    /// entity whose key is not one attribute.
    private func takesBareKeys(_ slot: Slot) -> Bool? {
        let (destination, isToMany): (Int, Bool)
        switch slot.kind {
        case .attribute: return nil
        case .toOne(let position): (destination, isToMany) = (position, false)
        case .toMany(let position): (destination, isToMany) = (position, true)
        case .derived(let derived): (destination, isToMany) = (Int(derived.owner), derived.isToMany)
        }
        let target = catalog.entities[destination]
        return target.keyTypes.count == 1 && !target.hasOwner ? isToMany : nil
    }

    /// A place that keys lead to, and whether it is located where only the record's key is read.
    private struct PlaceName: Hashable {
        var keys: [String]
        var isKey: Bool
    }

    private mutating func add(
        _ source: ValueSource, rank: Int, _ index: Int, _ slot: Slot, _ details: SlotDetails, to plan: EntityPlan,
        _ places: inout [PlaceName: Int]
    ) {
        let kind: ExtraSource.Kind?
        switch source {
        case .constant(let value): kind = .document(number(.constant(value)))
        case .text(let template):
            kind = .text(
                template.parts.compactMap { part in
                    switch part {
                    case .literal(let text): return .literal(text)
                    case .path(let path):
                        // A part without a source makes the whole text absent.
                        let part = self.kind(of: path, .first, slot, plan, &places)
                        return .value(part ?? .document(number(.parameter(""))))
                    }
                })
        case .path(let path):
            if path.isPlain, !path.steps.isEmpty {
                return plan.add(keys: path.keys, to: index, rank: rank, isKey: slot.isKey)
            }
            kind = self.kind(of: path, PlanBuilder.list(of: slot, details), slot, plan, &places)
        }
        if let kind { plan.add(ExtraSource(slot: index, rank: rank, isKey: slot.isKey, kind: kind)) }
    }

    private static func list(of slot: Slot, _ details: SlotDetails) -> ExtraSource.List {
        switch slot.kind {
        case .toOne: .first
        case .toMany: .flat
        case .derived: details.derived?.isToMany == true ? .flat : .first
        case .attribute:
            switch details.rule.type {
            case .array: .flat
            case .json: .whole
            default: .first
            }
        }
    }

    /// Returns the compiled form of a path; nil if the path cannot lead to a value.
    private mutating func kind(
        of path: JSONPath, _ list: ExtraSource.List, _ slot: Slot, _ plan: EntityPlan, _ places: inout [PlaceName: Int]
    ) -> ExtraSource.Kind? {
        switch path.origin {
        case .record:
            let keys = path.steps.prefix { if case .key = $0 { true } else { false } }
            guard !keys.isEmpty else { return .own(path.steps, list) }
            let name = PlaceName(keys: path.keys.prefix(keys.count).map(\.self), isKey: slot.isKey)
            let place = places[name] ?? plan.addPlace(name.keys, isKey: name.isKey)
            places[name] = place
            return .place(place, Array(path.steps.dropFirst(keys.count)), list)
        case .parent:
            guard path.steps.isEmpty, case .toOne(let destination) = slot.kind else { return .parent(path.steps, list) }
            let kinds = catalog.entities.indices.filter {
                catalog.isKind(catalog.entities[$0].id, of: catalog.entities[destination].id)
            }
            return .owner(Set(kinds))
        case .root:
            let isList = path.hasWildcard && list != .first
            return .document(number(.root(path.steps, isList: isList, isFlat: isList && list == .flat)))
        case .header: return .document(number(.header(path.keys.joined().lowercased())))
        case .parameter: return .document(number(.parameter(path.keys.joined())))
        case .position: return .position
        case .relationship: return .relationship
        case .memberName: return .memberName
        }
    }

    private mutating func number(_ source: DocumentSource) -> Int {
        if let known = documentSources.firstIndex(of: source) { return known }
        documentSources.append(source)
        return documentSources.count - 1
    }
}

extension EntityMapping {
    /// Returns this mapping, completed by that of the parent entity.
    func inheriting(_ parent: EntityMapping) -> EntityMapping {
        var result = self
        result.paths.merge(parent.paths) { own, _ in own }
        result.epochs.merge(parent.epochs) { own, _ in own }
        result.fields.merge(parent.fields) { own, wider in own.inheriting(wider) }
        result.ignored += parent.ignored.filter { !ignored.contains($0) }
        result.declared.formUnion(parent.declared)
        result.rules = rules.or(parent.rules)
        result.duplicates = duplicates ?? parent.duplicates
        result.version = version ?? parent.version
        result.tombstone = tombstone ?? parent.tombstone
        result.rest = rest ?? parent.rest
        result.keyless = keyless ?? parent.keyless
        result.local = local ?? parent.local
        result.url = url ?? parent.url
        result.referenceURLs.merge(parent.referenceURLs) { own, _ in own }
        result.convention = convention ?? parent.convention
        result.bases = bases ?? parent.bases
        return result
    }
}

extension ValueSource {
    /// The only key of a path in the record; nil for other sources.
    fileprivate var singleKey: String? {
        guard case .path(let path) = self, path.isPlain, path.keys.count == 1 else { return nil }
        return path.keys[0]
    }
}

extension URLMatcher {
    /// The variable that gives a slot its value; nil if none does.
    fileprivate func variable(of name: String, _ slot: Slot, _ catalog: Catalog) -> Int? {
        guard let variable = names.firstIndex(of: name) else { return nil }
        switch slot.kind {
        case .attribute: return variable
        case .toOne(let destination):
            return slot.isKey && catalog.entities[destination].keyTypes.count == 1 ? variable : nil
        case .toMany, .derived: return nil
        }
    }
}
