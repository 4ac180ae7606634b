/**
 * The tool type. A tool is declared once and everything about it is in its type: what it takes and gives, how it fails,
 * how long it may run, how much it may say, whether it can be interrupted, what a restart may do with it, and which
 * authorities its handler may use.
 *
 * ```ts
 * const CurrentDatetime = Tool.make("current_datetime", {
 *   description: "The current date and time in UTC.",
 *   parameters: Schema.Struct({ format: Schema.optionalKey(Schema.String) }),
 *   success: Schema.Struct({ timestamp: Schema.String }),
 *   failure: TimeFormatError,
 *   limits: { timeout: "1 second", output: { maxChars: 200 } },
 *   cancellation: "interruptible",
 *   replay: "safe",
 *   capabilities: []
 * })
 * ```
 */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Action from "../policy/Action.ts"
import type * as Capability from "./Capability.ts"
import type { ToolCallContext } from "./ToolContext.ts"
import type * as ToolError from "./ToolError.ts"

/** `interruptible`: stops when its turn stops or its time is up. `atomic`: finishes or undoes itself, never half. */
export type Cancellation = "interruptible" | "atomic"

/**
 * What a restart may do with a call that was running when the process died. `safe`: run it again (it only reads).
 * `idempotent`: run it again with the same idempotency key. `unknown`: never again; the model is told that nobody knows.
 */
export type Replay = "safe" | "idempotent" | "unknown"

type Unit = "millis" | "second" | "seconds" | "minute" | "minutes" | "hour" | "hours"

/** A time limit that is a number and a unit, so that it is finite and readable where it is declared. */
export type FiniteDuration = `${number} ${Unit}`

/** The names of the text fields of a tool's success: those whose content can be moved to a file. */
export type TextField<Success> = {
  [Key in keyof Success]-?: Success[Key] extends string ? Key : never
}[keyof Success] &
  string

export interface Limits<Success> {
  /** From the start of the handler. Waiting for an approval does not count. */
  readonly timeout: FiniteDuration
  readonly output: {
    /** What the model may read inline; the runtime's own threshold applies when it is larger. */
    readonly maxChars: number
    /** The text field that moves to a file when the output is longer. Without it, the whole output does. */
    readonly spill?: TextField<Success>
  }
  /** Calls of this tool that may run at the same time in the whole process. Unlimited when absent. */
  readonly concurrency?: number
  /** Calls of this tool in one turn. Unlimited when absent. */
  readonly perTurn?: number
}

/**
 * Whose words a result holds. `own`: the runtime's, and what the call itself gave. `outside`: what others wrote, such as pages,
 * files, names of files, output of programs; such a result is put to the model as data, and taints the turn.
 */
export type Content = "own" | "outside"

/** A failure the model is told about: a stable code and a sentence that says what to do instead. */
export interface Failure {
  readonly code: string
  readonly message: string
}

/** The failure of a tool whose handler cannot fail. */
export const NoFailure = Schema.Never

type StructSchema = Schema.Top & {
  readonly Type: object
  readonly DecodingServices: never
  readonly EncodingServices: never
}
type ParametersSchema = StructSchema & { readonly fields: Schema.Struct.Fields }
type FailureSchema = Schema.Top & { readonly Type: Failure; readonly EncodingServices: never }

export interface Tool<
  Name extends string,
  Parameters extends ParametersSchema,
  Success extends StructSchema,
  Fail extends FailureSchema,
  Mode extends Cancellation,
  Capabilities extends ReadonlyArray<Capability.Any>
> {
  readonly name: Name
  readonly description: string
  readonly parameters: Parameters
  readonly success: Success
  readonly failure: Fail
  readonly limits: Limits<Success["Type"]>
  readonly cancellation: Mode
  readonly replay: Replay
  /** The rule of a call by its parameters; undefined where `replay` holds for all of them. */
  readonly replayOf: ((parameters: unknown) => Replay) | undefined
  readonly capabilities: Capabilities
  /** The words the model reads for a success; undefined where the model reads the success as JSON. */
  readonly text: (success: unknown) => string | undefined
  /** Parameters that identify a call to a person, most telling first, for progress lines and approvals. */
  readonly identifiedBy: ReadonlyArray<string>
  /** Made to be called again and again with the same result, until something changes: a turn that does it is not stopped. */
  readonly polling: boolean
  /** Whose words the results and failures hold. */
  readonly content: Content
  /** What a call would do, in the normal form that policies are held against. At least one action. */
  readonly actionsOf: (parameters: unknown) => ReadonlyArray<Action.Action>
}

/** Any tool, with its types forgotten: what registries and the pipeline work with. */
export interface Any {
  readonly name: string
  readonly description: string
  readonly parameters: ParametersSchema
  readonly success: StructSchema
  readonly failure: FailureSchema
  readonly limits: {
    readonly timeout: FiniteDuration
    readonly output: { readonly maxChars: number; readonly spill?: string }
    readonly concurrency?: number
    readonly perTurn?: number
  }
  readonly cancellation: Cancellation
  readonly replay: Replay
  readonly replayOf: ((parameters: unknown) => Replay) | undefined
  readonly capabilities: ReadonlyArray<Capability.Any>
  readonly text: (success: unknown) => string | undefined
  readonly identifiedBy: ReadonlyArray<string>
  readonly polling: boolean
  /** Whose words the results and failures hold. */
  readonly content: Content
  readonly actionsOf: (parameters: unknown) => ReadonlyArray<Action.Action>
}

/** Declares a tool. Every field is required on purpose: a tool without a time limit or a replay rule does not compile. */
export const make = <
  const Name extends string,
  Parameters extends ParametersSchema,
  Success extends StructSchema,
  Fail extends FailureSchema,
  const Mode extends Cancellation,
  const Capabilities extends ReadonlyArray<Capability.Any>
>(
  name: Name,
  options: {
    readonly description: string
    readonly parameters: Parameters
    readonly success: Success
    readonly failure: Fail
    readonly limits: Limits<NoInfer<Success>["Type"]>
    readonly cancellation: Mode
    readonly replay: Replay
    /** Where calls of the tool differ: the rule of one. `replay` is for those whose parameters cannot be read. */
    readonly replayOf?: (parameters: NoInfer<Parameters>["Type"]) => Replay
    readonly capabilities: Capabilities
    /** The words the model reads for a success; the success as JSON when absent. */
    readonly text?: (success: NoInfer<Success>["Type"]) => string
    readonly identifiedBy?: ReadonlyArray<keyof NoInfer<Parameters>["Type"] & string>
    /** It is meant to be called again and again with the same result, as one that waits or asks how far something is. */
    readonly polling?: boolean
    /** Whose words the results and failures hold; those of others when absent. */
    readonly content?: Content
    /** What a call would do, for policies. Needed of a tool that runs programs, touches files, or reaches others. */
    readonly actions?: (parameters: NoInfer<Parameters>["Type"]) => ReadonlyArray<Action.Action>
  }
): Tool<Name, Parameters, Success, Fail, Mode, Capabilities> => ({
  name,
  ...options,
  text: textOf(options.success, options.text),
  replayOf: replayOf(options.parameters, options.replay, options.replayOf),
  identifiedBy: options.identifiedBy ?? [],
  polling: options.polling ?? false,
  content: options.content ?? "outside",
  actionsOf: actionsOf(options.parameters, options.actions)
})

/** Closes over the type of the success, so that registries can ask for the words of a success they do not know. */
const textOf = <Success extends StructSchema>(
  schema: Success,
  text: ((success: Success["Type"]) => string) | undefined
): ((success: unknown) => string | undefined) => {
  if (text === undefined) return () => undefined
  const isSuccess = Schema.is(schema)
  return (success) => (isSuccess(success) ? text(success) : undefined)
}

/** Closes over the type of the parameters, for the same reason. */
const replayOf = <Parameters extends ParametersSchema>(
  schema: Parameters,
  otherwise: Replay,
  rule: ((parameters: Parameters["Type"]) => Replay) | undefined
): ((parameters: unknown) => Replay) | undefined => {
  if (rule === undefined) return undefined
  const areParameters = Schema.is(schema)
  return (parameters) => (areParameters(parameters) ? rule(parameters) : otherwise)
}

/** Closes over the type of the parameters, for the same reason. */
const actionsOf = <Parameters extends ParametersSchema>(
  schema: Parameters,
  tell: ((parameters: Parameters["Type"]) => ReadonlyArray<Action.Action>) | undefined
): ((parameters: unknown) => ReadonlyArray<Action.Action>) => {
  if (tell === undefined) return () => justCalled
  const areParameters = Schema.is(schema)
  return (parameters) => {
    const actions = areParameters(parameters) ? tell(parameters) : justCalled
    return actions.length === 0 ? justCalled : actions
  }
}

const justCalled: ReadonlyArray<Action.Action> = [Action.call]

export type SuccessOf<T extends Any> = T["success"]["Type"]
export type FailureOf<T extends Any> = T["failure"]["Type"]
export type ParametersOf<T extends Any> = T["parameters"]["Type"]

/** What a handler of the tool may require: the tool's capabilities and the call it serves. */
export type HandlerServices<T extends Any> = Capability.Services<T["capabilities"]> | ToolCallContext

/**
 * An effect that its caller cannot interrupt. It finishes, or its own deadline (the tool's timeout) interrupts it from
 * within and it fails with `onDeadline()`; what must not be torn in between is the handler's to protect, as a database
 * transaction or a rename does.
 */
export interface Atomic<out A, out E, out R> {
  readonly _tag: "Atomic"
  readonly effect: Effect.Effect<A, E, R>
  readonly onDeadline: () => E
}

export const atomic = <A, E, R, E2>(effect: Effect.Effect<A, E, R>, onDeadline: () => E2): Atomic<A, E | E2, R> => ({
  _tag: "Atomic",
  effect,
  onDeadline
})

/** What a handler returns, by the tool's cancellation rule. Indexed rather than conditional, so that generic code can use it. */
export interface Returns<A, E, R> {
  readonly interruptible: Effect.Effect<A, E, R>
  readonly atomic: Atomic<A, E, R>
}

/** What a handler of the tool returns: an interruptible tool an effect, an atomic one an `Atomic`. */
export type HandlerResult<T extends Any> = Returns<SuccessOf<T>, FailureOf<T>, HandlerServices<T>>[T["cancellation"]]

export type Handler<T extends Any> = (parameters: ParametersOf<T>) => HandlerResult<T>

/** One handler for each tool: a missing one, or one too many, does not compile. */
export type Handlers<Tools extends ReadonlyArray<Any>> = {
  readonly [Name in Tools[number]["name"]]: Handler<Extract<Tools[number], { readonly name: Name }>>
}

/** What can end a call from outside the handler, by the tool's cancellation rule. */
export interface Interruptions {
  readonly interruptible: ToolError.ToolTimeout | ToolError.ToolCancelled
  readonly atomic: never
}

/** What calling the tool from code can fail with: it follows from the declaration. */
export type CallError<T extends Any> =
  | FailureOf<T>
  | ToolError.InvalidToolArguments
  | ToolError.ToolDenied
  | ToolError.ToolForbidden
  | ToolError.ToolLimitReached
  | ToolError.UnknownTool
  | ToolError.ToolRefused
  | ToolError.ToolCrashed
  | Capability.CapabilityNotGranted
  | Interruptions[T["cancellation"]]
