/** The one pipeline every tool call goes through. Each stage is a small file beside this one. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Digest from "effect/crypto/Digest"
import { Approvals } from "../../src/approval/Approvals.ts"
import { EventBus } from "../../src/event/EventBus.ts"
import * as Ids from "../../src/Ids.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import * as Memo from "../../src/Memo.ts"
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import { Policy } from "../../src/policy/Policy.ts"
import type * as Rules from "../../src/policy/Rules.ts"
import * as Taint from "../../src/policy/Taint.ts"
import { Spill } from "../../src/spill/Spill.ts"
import * as Arguments from "../../src/tool/Arguments.ts"
import * as Capability from "../../src/tool/Capability.ts"
import * as Display from "../../src/tool/Display.ts"
import * as PolicyPatterns from "../../src/tool/PolicyPatterns.ts"
import type * as Registration from "../../src/tool/Registration.ts"
import type * as Tool from "../../src/tool/Tool.ts"
import { ToolCalls } from "../../src/tool/ToolCalls.ts"
import type { Call, Offer, Policy as ToolPolicy, TurnTools } from "../../src/tool/ToolCalls.ts"
import type * as ToolContext from "../../src/tool/ToolContext.ts"
import * as ToolError from "../../src/tool/ToolError.ts"
import * as ToolName from "../../src/tool/ToolName.ts"
import { ToolRegistry } from "../../src/tool/ToolRegistry.ts"
import * as ApprovalStage from "./ApprovalStage.ts"
import * as EventStage from "./EventStage.ts"
import type { Invocation, Stage } from "./Invocation.ts"
import * as LedgerStage from "./LedgerStage.ts"
import * as Limits from "./Limits.ts"
import * as MaskStage from "./MaskStage.ts"
import * as Results from "./Results.ts"
import * as Running from "./Running.ts"
import * as SpillStage from "./SpillStage.ts"
import * as TaintStage from "./TaintStage.ts"
import * as WrapperStage from "./WrapperStage.ts"

type Needs = ToolRegistry | Capability.Grants | Policy | Approvals | Spill | EventBus | Ledger | KnownSecrets

export const layer: Layer.Layer<ToolCalls, never, Needs> = Layer.effect(
  ToolCalls,
  Effect.gen(function* () {
    const registry = yield* ToolRegistry
    const grants = yield* Capability.Grants
    const bus = yield* EventBus
    const secrets = yield* KnownSecrets
    const digest = yield* Digest.Digest
    const policy = yield* Policy
    const running = Running.make()
    // From the handler outwards.
    const stages: ReadonlyArray<Stage> = [
      MaskStage.make(secrets),
      LedgerStage.make(yield* Ledger),
      Limits.make(running),
      SpillStage.make(yield* Spill),
      TaintStage.make(bus),
      ApprovalStage.make(yield* Approvals, running)
    ]

    const forTurn = Effect.fn("ToolCalls.forTurn")(function* (
      scope: ToolContext.TurnScope,
      offer: ToolPolicy,
      authority: (granted: Capability.Granted) => Capability.Granted = (granted) => granted,
      readBefore: () => ReadonlyArray<Taint.Taint> = () => []
    ) {
      const granted = authority(yield* grants.forTurn(scope))
      const offered = yield* registry.offered(scope)
      const registrations = new Map(
        Array.from(offered).filter(([name, { tool }]) => PolicyPatterns.allows(offer, name) && isGranted(granted, tool))
      )
      const offers = Array.from(registrations.values(), offerOf)
      const reading = Taint.reading(readBefore)
      return {
        scope,
        granted,
        registrations,
        offers,
        counts: new Map<string, number>(),
        approved: new Set<string>(),
        reading
      }
    })

    /** The tool of this name if the turn has it, and still has it. */
    const find = Effect.fnUntraced(function* (tools: TurnTools, name: string) {
      const registration = tools.registrations.get(name)
      const current = registration === undefined ? undefined : yield* registry.find(name)
      return registration !== undefined && registration === current && isOffered(registration, tools.scope)
        ? registration
        : yield* new ToolError.UnknownTool({
            tool: Display.name(name),
            offered: Array.from(tools.registrations.keys())
          })
    })

    const perform = Effect.fnUntraced(function* (
      tools: TurnTools,
      registration: Registration.Registration,
      call: Registration.Call,
      parameters: Arguments.JsonObject,
      reader: Invocation["reader"]
    ): Effect.fn.Return<Registration.Output, Tool.Failure> {
      const prepared = yield* registration.prepare({ call, granted: tools.granted, parameters })
      const verdict = yield* judged(policy, tools, registration, parameters)
      const shown = secrets.fields(parameters)
      const invocation: Invocation = { tools, registration, call, parameters, shown, prepared, verdict, reader }
      const handled = WrapperStage.run(invocation, yield* registry.wrappers)
      return yield* running.track(
        invocation,
        stages.reduce((inner, stage) => stage(invocation, inner), handled)
      )
    })

    const run = Effect.fn("ToolCalls.run")(function* (tools: TurnTools, call: Call) {
      const tool = ToolName.canonical(call.name)
      const read = Arguments.read(call.arguments)
      const parameters = Result.getOrElse(read, () => ({}))
      const found = yield* Effect.result(find(tools, tool))
      const announced = announce(
        tools.scope,
        call,
        Result.isSuccess(found) ? found.success.tool : { name: tool, identifiedBy: [] },
        parameters,
        secrets
      )
      const performed = Effect.gen(function* (): Effect.fn.Return<Registration.Output, Tool.Failure> {
        const registration = yield* Effect.fromResult(found)
        const given = yield* Effect.fromResult(
          Result.mapError(read, (problem) => new ToolError.InvalidToolArguments({ tool, problem }))
        )
        return yield* perform(tools, registration, contextOf(tools.scope, call), given, "model")
      })
      return yield* EventStage.around(bus, announced, performed).pipe(
        Effect.map(Results.completed),
        Effect.catch((error) =>
          Effect.gen(function* () {
            const details = Result.isSuccess(found) ? yield* found.success.details(error) : null
            return yield* Results.failed({
              tool: Display.name(secrets.text(tool)),
              arguments: Result.getOrElse(read, () => call.arguments),
              error,
              details,
              secrets
            })
          })
        ),
        Effect.map((result) => {
          const untrusted = tools.reading.of(call.callId)
          return {
            ...result,
            ...(untrusted === undefined ? {} : { untrusted: untrusted.what }),
            ...(tools.approved.has(call.callId) ? { approved: true } : {})
          }
        }),
        Effect.provideService(Digest.Digest, digest)
      )
    })

    const call = Effect.fn("ToolCalls.call")(function* <T extends Tool.Any>(
      tools: TurnTools,
      tool: T,
      parameters: Tool.ParametersOf<T>,
      parent?: Ids.CallId
    ): Effect.fn.Return<Tool.SuccessOf<T>, Tool.CallError<T>> {
      const isSuccess = Schema.is(tool.success)
      const made = { callId: yield* Ids.makeCallId, ...(parent === undefined ? {} : { parentCallId: parent }) }
      const performed = Effect.gen(function* (): Effect.fn.Return<Registration.Output, Tool.Failure> {
        const registration = yield* find(tools, tool.name)
        if (registration.tool !== tool) return yield* new ToolError.UnknownTool({ tool: tool.name, offered: [] })
        const given = yield* encoded(tool, parameters)
        return yield* perform(tools, registration, contextOf(tools.scope, made), given, "code")
      })
      const shown = yield* Effect.orElseSucceed(encoded(tool, parameters), () => ({}))
      const output = yield* EventStage.around(bus, announce(tools.scope, made, tool, shown, secrets), performed).pipe(
        Effect.catch((error) => declared(tool, error))
      )
      return isSuccess(output.value) ? output.value : yield* Effect.die("a tool gave what its schema refuses")
    })

    return ToolCalls.of({
      forTurn,
      run,
      call,
      cancel: running.cancel,
      canonicalName: ToolName.canonical,
      replay: Effect.fnUntraced(function* ({ arguments: given, name }) {
        const registration = yield* registry.find(ToolName.canonical(name))
        if (registration === undefined) return "unknown"
        return yield* Result.match(Arguments.read(given), {
          onFailure: () => Effect.succeed(registration.tool.replay),
          onSuccess: registration.replay
        })
      })
    })
  })
).pipe(Layer.provide(Digest.layerWebCrypto))

// ---------------------------------------------------------------------------------------------------------------------
// Which tools a turn has

const isGranted = (granted: Capability.Granted, tool: Tool.Any): boolean =>
  tool.capabilities.every(({ capability }) => granted.names.includes(capability))

const isOffered = ({ offeredWhen, tool }: Registration.Registration, scope: ToolContext.TurnScope): boolean =>
  tool.name === ToolName.answering || offeredWhen(scope)

const offerOf = Memo.byIdentity(({ parameters, tool: { description, name } }: Registration.Registration): Offer => ({
  name,
  description,
  parameters
}))

// ---------------------------------------------------------------------------------------------------------------------
// One call

/** What the policy says of the call. Fails when that is no. */
const judged = Effect.fnUntraced(function* (
  policy: Policy["Service"],
  { reading, scope: { agent, channel, threadKey } }: TurnTools,
  { actions, tool }: Registration.Registration,
  parameters: Arguments.JsonObject
): Effect.fn.Return<Rules.Verdict, ToolError.ToolForbidden> {
  const tainted = reading.all().length > 0
  const asked = { tool: tool.name, agent, channel, thread: threadKey, tainted, actions: yield* actions(parameters) }
  const { verdict } = yield* policy.judge(asked)
  if (verdict.decision !== "deny") return verdict
  const { rule = "[policy].default", reason } = verdict
  return yield* new ToolError.ToolForbidden({ tool: tool.name, rule, reason })
})

type Made = Pick<Call, "callId" | "parentCallId">

const contextOf = (scope: ToolContext.TurnScope, made: Made): Registration.Call => ({
  ...scope,
  callId: made.callId,
  ...(made.parentCallId === undefined ? {} : { parentCallId: made.parentCallId }),
  idempotencyKey: made.callId
})

const announce = (
  scope: ToolContext.TurnScope,
  made: Made,
  tool: Pick<Tool.Any, "name" | "identifiedBy">,
  parameters: Arguments.JsonObject,
  secrets: KnownSecrets["Service"]
): EventStage.Announced => ({
  scope,
  callId: made.callId,
  parentCallId: made.parentCallId,
  tool: secrets.text(tool.name),
  detail: secrets.text(Display.line(tool, secrets.fields(parameters))),
  redact: (message) => Display.withoutSecretsOf(parameters)(secrets.piece(message))
})

const isObject = (json: Schema.Json): json is Arguments.JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

/** Parameters given by code, as the JSON a model would have written. */
const encoded = <T extends Tool.Any>(
  tool: T,
  parameters: Tool.ParametersOf<T>
): Effect.Effect<Arguments.JsonObject, ToolError.InvalidToolArguments> =>
  Schema.encodeEffect(Schema.toCodecJson(tool.parameters))(parameters).pipe(
    Effect.mapError((error) => new ToolError.InvalidToolArguments({ tool: tool.name, problem: error.message })),
    Effect.filterOrFail(
      isObject,
      () => new ToolError.InvalidToolArguments({ tool: tool.name, problem: "an object is needed" })
    )
  )

/** The failure as one of those that the tool's type promises. */
const declared = <T extends Tool.Any>(tool: T, error: Tool.Failure): Effect.Effect<never, Tool.CallError<T>> => {
  if (promises(tool, error)) return Effect.fail(error)
  return Effect.fail(new ToolError.ToolRefused({ tool: tool.name, code: error.code, reason: error.message }))
}

const promises = <T extends Tool.Any>(tool: T, error: unknown): error is Tool.CallError<T> => {
  if (Schema.is(tool.failure)(error)) return true
  if (error instanceof ToolError.ToolTimeout || error instanceof ToolError.ToolCancelled) {
    return tool.cancellation === "interruptible"
  }
  return fromEveryTool.some((kind) => error instanceof kind)
}

const fromEveryTool = [
  ToolError.InvalidToolArguments,
  ToolError.ToolDenied,
  ToolError.ToolForbidden,
  ToolError.ToolLimitReached,
  ToolError.UnknownTool,
  ToolError.ToolRefused,
  ToolError.ToolCrashed,
  Capability.CapabilityNotGranted
]
