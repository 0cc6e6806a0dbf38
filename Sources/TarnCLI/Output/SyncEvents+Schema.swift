// The JSON Schema of the events, as `tarn sync --events-schema` prints it. A test compares it with
// tools/schemas/sync-events.json, and real output with it.

extension SyncEvents {
    static let schema = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "$id": "urn:tarn:sync-events:1",
          "title": "An event of `tarn sync --json`: one JSON object a line",
          "$comment": "Members may be added. A removed or changed member gives a new version. The summary is the last line; with --offline, the status is.",
          "oneOf": [
            {"$ref": "#/$defs/page"},
            {"$ref": "#/$defs/progress"},
            {"$ref": "#/$defs/diagnostic"},
            {"$ref": "#/$defs/error"},
            {"$ref": "#/$defs/summary"},
            {"$ref": "#/$defs/status"}
          ],
          "$defs": {
            "page": {
              "title": "A committed page; the URL has no secrets",
              "type": "object",
              "properties": {
                "event": {"const": "page"},
                "version": {"const": 1},
                "endpoint": {"type": "string"},
                "url": {"type": "string"},
                "not_modified": {"type": "boolean"},
                "listed": {"type": "integer", "minimum": 0},
                "bytes": {"type": "integer", "minimum": 0},
                "metadata": {"type": "object"}
              },
              "required": ["event", "version", "endpoint", "url", "not_modified", "listed", "bytes"]
            },
            "progress": {
              "title": "The counts of an endpoint: each second, at its end, and before each wait",
              "type": "object",
              "properties": {
                "event": {"const": "progress"},
                "version": {"const": 1},
                "endpoint": {"type": "string"},
                "ended": {"type": "boolean"},
                "pages": {"type": "integer", "minimum": 0},
                "not_modified": {"type": "integer", "minimum": 0},
                "listed": {"type": "integer", "minimum": 0},
                "created": {"type": "integer", "minimum": 0},
                "updated": {"type": "integer", "minimum": 0},
                "unchanged": {"type": "integer", "minimum": 0},
                "deleted": {"type": "integer", "minimum": 0},
                "bytes": {"type": "integer", "minimum": 0},
                "failures": {"type": "integer", "minimum": 0},
                "resumed_pages": {"type": "integer", "minimum": 0},
                "expected_pages": {"type": "integer", "minimum": 0},
                "expected_records": {"type": "integer", "minimum": 0},
                "lists": {"type": "integer", "minimum": 0},
                "lists_done": {"type": "integer", "minimum": 0},
                "wait": {"$ref": "#/$defs/wait"}
              },
              "required": ["event", "version"]
            },
            "diagnostic": {
              "title": "A problem of the data, with the number of times",
              "type": "object",
              "properties": {
                "event": {"const": "diagnostic"},
                "version": {"const": 1},
                "code": {"type": "string"},
                "entity": {"type": "string"},
                "field": {"type": "string"},
                "count": {"type": "integer", "minimum": 0},
                "message": {"type": "string"}
              },
              "required": ["event", "version", "code", "entity", "count", "message"]
            },
            "error": {
              "title": "A failure of an endpoint, or of the command",
              "type": "object",
              "properties": {
                "event": {"const": "error"},
                "version": {"const": 1},
                "endpoint": {"type": "string"},
                "exit_code": {"type": "integer", "minimum": 1},
                "message": {"type": "string"}
              },
              "required": ["event", "version", "exit_code", "message"]
            },
            "summary": {
              "title": "The sync as a whole; `confirmed` counts the unchanged records of 304 pages",
              "type": "object",
              "properties": {
                "event": {"const": "summary"},
                "version": {"const": 1},
                "endpoints": {"type": "array", "items": {"$ref": "#/$defs/endpoint"}},
                "continues_sync_of": {"type": "string", "format": "date-time"},
                "records": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
                "total": {"type": "integer", "minimum": 0},
                "entities": {"type": "object"},
                "diagnostics": {"type": "array", "items": {"type": "string"}},
                "diagnostic_groups": {"type": "array"},
                "absent_attributes": {"type": "array", "items": {"type": "string"}},
                "unmapped": {"type": "array", "items": {"type": "string"}},
                "missing": {"type": "array", "items": {"$ref": "#/$defs/missing"}},
                "unlisted": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
                "unlisted_so_far": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}}
              },
              "required": [
                "event",
                "version",
                "endpoints",
                "records",
                "total",
                "entities",
                "diagnostics",
                "diagnostic_groups",
                "absent_attributes",
                "unmapped"
              ]
            },
            "status": {
              "title": "With --offline: the object of `tarn status --json`",
              "type": "object",
              "properties": {
                "event": {"const": "status"},
                "version": {"const": 1},
                "api": {"type": "string"},
                "apis": {"type": "object", "additionalProperties": {"type": "string"}},
                "complete": {"type": "boolean"},
                "endpoints": {"type": "array", "items": {"type": "object"}},
                "store": {"type": "object"},
                "unlisted": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
                "local_changes": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
                "outbox": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}}
              },
              "required": ["event", "version", "api", "complete", "endpoints", "store", "local_changes", "outbox"]
            },
            "endpoint": {
              "type": "object",
              "properties": {
                "name": {"type": "string"},
                "api": {"type": "string"},
                "pages": {"type": "integer", "minimum": 0},
                "not_modified": {"type": "integer", "minimum": 0},
                "listed": {"type": "integer", "minimum": 0},
                "resumed": {"type": "boolean"},
                "finished_before": {"type": "boolean"},
                "parents_finished_before": {"type": "integer", "minimum": 0},
                "parents_unchanged": {"type": "integer", "minimum": 1},
                "limited": {"type": "boolean"},
                "lists_left_out": {"type": "integer", "minimum": 1},
                "cut_off": {"type": "integer", "minimum": 0},
                "ignored": {"type": "integer", "minimum": 0},
                "without_since": {"type": "integer", "minimum": 1},
                "future_since": {"type": "string"},
                "doubtful_ends": {"type": "integer", "minimum": 1},
                "in_doubt": {"type": "integer", "minimum": 1},
                "in_doubt_again": {"type": "integer", "minimum": 1},
                "expired": {"type": "integer", "minimum": 1},
                "full": {"type": "boolean"},
                "other_credentials": {"type": "boolean"},
                "other_description": {"type": "boolean"},
                "unlisted": {"type": "integer", "minimum": 1},
                "of_former_lists": {"type": "integer", "minimum": 1},
                "other_records": {"type": "object"},
                "repeated": {"type": "object"},
                "skipped_parents": {"type": "array"},
                "new_parents": {"type": "integer", "minimum": 1},
                "cut_lists": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
                "pagination": {"type": "object"},
                "created": {"type": "integer", "minimum": 0},
                "updated": {"type": "integer", "minimum": 0},
                "unchanged": {"type": "integer", "minimum": 0},
                "confirmed": {"type": "integer", "minimum": 0},
                "deleted": {"type": "integer", "minimum": 0},
                "older": {"type": "integer", "minimum": 0},
                "orphans": {"type": "object"},
                "seconds": {"type": "number", "minimum": 0},
                "failures": {"type": "array", "items": {"type": "string"}}
              },
              "required": [
                "name",
                "pages",
                "not_modified",
                "listed",
                "created",
                "updated",
                "unchanged",
                "confirmed",
                "deleted",
                "seconds",
                "failures"
              ]
            },
            "missing": {
              "title": "With --missing: the targets of references to an entity that are still not in the store",
              "type": "object",
              "properties": {
                "entity": {"type": "string"},
                "count": {"type": "integer", "minimum": 1},
                "too_long": {"type": "integer", "minimum": 0},
                "has_endpoint": {"type": "boolean"}
              },
              "required": ["entity", "count", "too_long", "has_endpoint"]
            },
            "wait": {
              "type": "object",
              "properties": {
                "origin": {"type": "string"},
                "reason": {"enum": ["pace", "limit", "retry"]},
                "seconds": {"type": "integer", "minimum": 0},
                "until": {"type": "string", "format": "date-time"},
                "attempt": {"type": "integer", "minimum": 0},
                "attempts": {"type": "integer", "minimum": 0},
                "cause": {"type": "string"}
              },
              "required": ["origin", "reason", "seconds", "until"]
            }
          }
        }
        """#
}
