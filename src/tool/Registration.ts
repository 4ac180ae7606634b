/**
 * A tool together with its handler, with the types of both forgotten.
 *
 * Types are forgotten by closing over them, never by casting them away: `bind` makes the closures where the tool's
 * parameters, success, failure and capabilities are still known, and the pipeline works with JSON on the outside.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as JsonSchema from "effect/JsonSchema"
import * as Schema from "effect/Schema"
import * as Action from "../policy/Action.ts"
import * as Arguments from "./Arguments.ts"
import type * as Capability from "./Capability.ts"
import * as Confinement from "./Confinement.ts"
import * as ParameterSchema from "./ParameterSchema.ts"
import type * as Tool from "./Tool.ts"
import * as ToolContext from "./ToolContext.ts"
import * as ToolError from "./ToolError.ts"

/** Whether a turn is offered a tool. Pure in the turn: it is asked when the turn starts and again on each call. */
export type OfferedWhen = (turn: ToolContext.TurnScope) => boolean

export type Call = ToolContext.ToolCallContext["Service"]

/** What a call gave: the handler's own value, the same as JSON, and the words that the model reads. */
export interface Output {
  readonly value: unknown
  readonly data: Schema.Json
  readonly text: string
}

/** A call whose parameters are accepted and whose capabilities are granted: it only has to run. */
export interface Prepared {
  readonly effect: Effect.Effect<Output, Tool.Failure>
  /** The failure of an atomic tool whose time is up; absent for an interruptible one. */
  readonly onDeadline: (() => Tool.Failure) | undefined
}

export interface Registration {
  readonly tool: Tool.Any
  readonly offeredWhen: OfferedWhen
  /** The parameters as a model is shown them. */
  readonly parameters: JsonSchema.JsonSchema
  readonly prepare: (options: {
    readonly call: Call
    readonly granted: Capability.Granted
    readonly parameters: Arguments.JsonObject
  }) => Effect.Effect<Prepared, ToolError.InvalidToolArguments | Capability.CapabilityNotGranted>
  /** The parameters as the schema writes what it has read of them: one form for all ways to write the same call. */
  readonly normal: (parameters: Arguments.JsonObject) => Effect.Effect<Schema.Json, Schema.SchemaError>
  /** What a restart may do with a call that has these parameters. */
  readonly replay: (parameters: Arguments.JsonObject) => Effect.Effect<Tool.Replay>
  /** What a call that has these parameters would do. Those that the tool refuses are a call of which nothing is known. */
  readonly actions: (parameters: Arguments.JsonObject) => Effect.Effect<ReadonlyArray<Action.Action>>
  /** Reads JSON back as the tool's success: for results that a wrapper or the spill stage has changed. */
  readonly output: (data: Schema.Json) => Effect.Effect<Output, Schema.SchemaError>
  /** The fields of a failure the tool declares, as JSON; null for any other failure. */
  readonly details: (failure: Tool.Failure) => Effect.Effect<Schema.Json>
}

/**
 * Around every handler, innermost: sees the parameters as JSON and the raw result of each call of each tool, and may
 * change either. What it changes is checked against the tool's schemas. Must be pure: it is applied anew to each call.
 */
export interface Wrapper {
  readonly name: string
  readonly wrap: (
    call: { readonly tool: Tool.Any; readonly context: Call; readonly parameters: Arguments.JsonObject },
    next: (parameters: Arguments.JsonObject) => Effect.Effect<Schema.Json, Tool.Failure>
  ) => Effect.Effect<Schema.Json, Tool.Failure>
}

/** Binds a handler to its tool. */
export const bind = <T extends Tool.Any>(
  tool: T,
  handler: Tool.Handler<T>,
  offeredWhen: OfferedWhen = () => true
): Registration => {
  const parametersCodec = Schema.toCodecJson(tool.parameters)
  const successCodec = Schema.toCodecJson(tool.success)
  const decodeParameters = Schema.decodeUnknownEffect(parametersCodec, { errors: "all", onExcessProperty: "error" })
  const encodeParameters = Schema.encodeEffect(parametersCodec)
  const takesNothing = Object.keys(tool.parameters.fields).length === 0
  const encodeSuccess = Schema.encodeEffect(successCodec)
  const decodeSuccess = Schema.decodeUnknownEffect(successCodec)
  const isFailure = Schema.is(tool.failure)
  const encodeFailure = Schema.encodeEffect(Schema.toCodecJson(tool.failure))

  const read = (parameters: Arguments.JsonObject) =>
    decodeParameters(Arguments.dropNulls(parametersCodec.ast, parameters))

  const toOutput = (value: Tool.SuccessOf<T>) =>
    Effect.map(encodeSuccess(value), (data): Output => ({
      value,
      data,
      text: tool.text(value) ?? JSON.stringify(data)
    }))

  return {
    tool,
    offeredWhen,
    parameters: ParameterSchema.toJsonSchema(tool.parameters),
    prepare: Effect.fnUntraced(function* ({ call, granted, parameters }) {
      // A struct without fields takes anything, whatever it is told about excess properties.
      if (takesNothing && Object.keys(parameters).length > 0) {
        return yield* new ToolError.InvalidToolArguments({ tool: tool.name, problem: "it takes no parameters" })
      }
      const decoded = yield* Effect.mapError(
        read(parameters),
        (error) => new ToolError.InvalidToolArguments({ tool: tool.name, problem: problemOf(error) })
      )
      const capabilities = yield* granted.pick(tool.name, tool.capabilities)
      const services = Context.add(capabilities, ToolContext.ToolCallContext, call)
      const returned: Tool.Returns<Tool.SuccessOf<T>, Tool.FailureOf<T>, Tool.HandlerServices<T>>[Tool.Cancellation] =
        handler(decoded)
      const effect = Effect.isEffect(returned) ? returned : returned.effect
      return {
        effect: effect.pipe(
          Effect.updateContext((caller: Context.Context<never>) => Confinement.confine(caller, services)),
          // A success that its own schema refuses is a defect of the tool.
          Effect.flatMap((value) => Effect.orDie(toOutput(value)))
        ),
        onDeadline: Effect.isEffect(returned) ? undefined : returned.onDeadline
      }
    }),
    normal: (parameters) => Effect.flatMap(read(parameters), encodeParameters),
    replay: (parameters) =>
      tool.replayOf === undefined
        ? Effect.succeed(tool.replay)
        : Effect.match(read(parameters), { onFailure: () => tool.replay, onSuccess: tool.replayOf }),
    actions: (parameters) =>
      Effect.match(read(parameters), { onFailure: () => [Action.call], onSuccess: tool.actionsOf }),
    output: (data) => Effect.flatMap(decodeSuccess(data), toOutput),
    details: (failure) => (isFailure(failure) ? Effect.orDie(encodeFailure(failure)) : Effect.succeed(null))
  }
}

const problemOf = (error: Schema.SchemaError): string => error.message
