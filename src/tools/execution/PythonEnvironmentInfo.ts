import * as Schema from "effect/Schema"
import { Process } from "../../process/Process.ts"
import * as Sandbox from "../../process/Sandbox.ts"
import * as Tool from "../../tool/Tool.ts"
import * as HostExecution from "./HostExecution.ts"
import { PythonRefused } from "./PythonRefused.ts"

const mostPackages = 500

export const PythonEnvironmentInfo = Tool.make("python_environment_info", {
  description: "The Python that python_execute uses: its version and the packages it has.",
  parameters: Schema.Struct({
    include_packages: Schema.optionalKey(Schema.Boolean.annotate({ description: "True by default." })),
    limit: Schema.optionalKey(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: mostPackages })).annotate({
        description: "How many packages to list, 100 by default."
      })
    ),
    name_prefix: Schema.optionalKey(Schema.String.annotate({ description: "Only packages whose names begin so." }))
  }),
  success: Schema.Struct({
    ok: Schema.Boolean,
    runtime_executable: Schema.String,
    python_version: Schema.String,
    implementation: Schema.String,
    include_packages: Schema.Boolean,
    name_prefix: Schema.NullOr(Schema.String),
    limit: Schema.Int,
    package_count: Schema.Int.annotate({ description: "How many there are of that prefix." }),
    truncated_packages: Schema.Boolean,
    packages: Schema.Array(Schema.String).annotate({ description: "name==version" }),
    duration_ms: Schema.Int,
    sandbox_mode: Sandbox.Applied,
    python_executable: Schema.String
  }),
  failure: Schema.Union([...HostExecution.Failure.members, PythonRefused]),
  limits: { timeout: "1 minute", output: { maxChars: 20_000 }, concurrency: 2 },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [Process]
})
