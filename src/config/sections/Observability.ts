import * as Schema from "effect/Schema"
import * as Key from "../Key.ts"
import type { Rule } from "../Rule.ts"
import * as Rules from "../Rules.ts"
import * as Values from "../Values.ts"

export const section = Key.key(
  Key.table({
    prometheus: Key.key(
      Values.Bool,
      false,
      "Serve the metrics at /metrics in Prometheus' text format, to whoever sends the token."
    ),
    otlp_endpoint: Key.optional(
      Values.HttpUrl,
      "http://127.0.0.1:4318",
      "Address of a collector that takes traces, metrics and logs as OTLP over HTTP; nothing is exported without it."
    ),
    otlp_headers: Key.key(
      Schema.Record(Schema.String, Values.HeaderValue).annotate({ expected: "a table of texts" }),
      {},
      "Extra headers sent to the collector; kept secret."
    ),
    otlp_interval_seconds: Key.key(Values.Seconds, 10, "How often what was gathered is sent to the collector."),
    service_name: Key.key(Values.NonEmptyText, "troupe", "What this installation is called at the collector.")
  }),
  {},
  "What other systems may see of how the process is doing."
)

export const rules: ReadonlyArray<Rule<{ readonly observability: typeof section.Type }>> = [
  ({ observability }) => Rules.headerNames(["observability", "otlp_headers"], observability.otlp_headers)
]
