/**
 * A language model that says what the test wrote down: the test layer of `LanguageModel` and `Models`.
 *
 * A script answers one request; it is a list of steps built with the helpers below. Give a list of scripts (one per
 * request, in order) or a function of the prompt. Delays run on the `Clock`, so the test clock drives them.
 *
 * ```ts
 * const model = ScriptedModel.layer([
 *   [toolCall("wait", { milliseconds: 10 })],
 *   [text("Done."), delay("1 second"), text(" Really.")]
 * ])
 * ```
 *
 * The finish part is added where a script does not give one: `tool-calls` when the script called a tool, else `stop`.
 */
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { transportError } from "../model/ModelError.ts"
import { Models } from "../model/Models.ts"
import * as ModelTable from "../model/ModelTable.ts"
import type * as NativeCompaction from "../model/NativeCompaction.ts"
import * as Parts from "../model/Parts.ts"
import * as PromptCheck from "../model/PromptCheck.ts"

/** One step of a script. */
export type Step =
  | { readonly _tag: "Part"; readonly part: Response.StreamPartEncoded }
  | { readonly _tag: "Text"; readonly kind: "text" | "reasoning"; readonly deltas: ReadonlyArray<string> }
  | { readonly _tag: "ToolCall"; readonly id: string | undefined; readonly name: string; readonly params: unknown }
  | { readonly _tag: "Run"; readonly effect: Effect.Effect<void> }
  | { readonly _tag: "Fail"; readonly error: AiError.AiError }
  | { readonly _tag: "End" }

/** The answer to one request. */
export type Script = ReadonlyArray<Step>

/** What a script function is told: who is asked, the prompt, the tools offered, and how many requests came before. */
export interface Request extends Route {
  readonly prompt: Prompt.Prompt
  readonly tools: ReadonlyArray<string>
  readonly index: number
}

/** Which model of which provider. */
export interface Route {
  readonly provider: string
  readonly model: string
}

export type Scripts = ReadonlyArray<Script> | ((request: Request) => Script)

export interface Options {
  /** Refuse, as a 400, a history the pickiest provider would refuse. Default `true`. */
  readonly strict?: boolean | undefined
  /** Names reported by the `Models` layer; default `scripted`. */
  readonly provider?: string | undefined
  readonly model?: string | undefined
  /** Tokens that the model is said to read; not known when left out. */
  readonly contextTokens?: number | undefined
  /** Whether the model is said to take images; not known when left out. */
  readonly images?: boolean | undefined
  /** The provider's own compaction; it has none when left out. */
  readonly compact?: NativeCompaction.Compact | undefined
  /** Models to fall back on, in order; the scripts answer for them as well. */
  readonly fallback?: ReadonlyArray<Route> | undefined
}

/** Text in one delta, or in the given ones. */
export const text = (...deltas: ReadonlyArray<string>): Step => ({ _tag: "Text", kind: "text", deltas })

/** Reasoning text in one delta, or in the given ones. */
export const reasoning = (...deltas: ReadonlyArray<string>): Step => ({ _tag: "Text", kind: "reasoning", deltas })

/**
 * A tool call. A string as `params` stands for arguments that are not JSON. Ids default to `call_<request>_<n>`;
 * giving one allows duplicates and odd shapes.
 */
export const toolCall = (name: string, params: unknown = {}, id?: string): Step => ({
  _tag: "ToolCall",
  id,
  name,
  params
})

/** Any encoded part as it is. */
export const part = (value: Response.StreamPartEncoded): Step => ({ _tag: "Part", part: value })

/** The finish part, for another reason than the default one or for token counts. */
export const finish = (
  reason: Response.FinishReason,
  tokens: { readonly input?: number; readonly output?: number } = {}
): Step => part(finishPart(reason, tokens))

/** Silence for a while. */
export const delay = (duration: Duration.Input): Step => ({ _tag: "Run", effect: Effect.sleep(duration) })

/** Silence until the test opens the gate. */
export const gate = (deferred: Deferred.Deferred<void>): Step => ({ _tag: "Run", effect: Deferred.await(deferred) })

/** An effect at this point of the stream, e.g. to note that it was reached. */
export const run = (effect: Effect.Effect<void>): Step => ({ _tag: "Run", effect })

/** Silence for ever; ends only by interruption. */
export const never: Step = { _tag: "Run", effect: Effect.never }

/** The stream fails. */
export const fail = (error: AiError.AiError | AiError.AiErrorReason): Step => ({
  _tag: "Fail",
  error: AiError.isAiError(error)
    ? error
    : AiError.make({ module: "ScriptedModel", method: "streamText", reason: error })
})

/** The connection is lost: the typed, retryable error the live adapter gives for it. */
export const cut: Step = fail(transportError("stream-cut", "The connection was lost before the answer was complete"))

/** The stream ends without a finish part, as no adapter of ours does. */
export const end: Step = { _tag: "End" }

/** What tests ask of the running model. */
export class ScriptedModel extends Context.Service<
  ScriptedModel,
  {
    readonly languageModel: LanguageModel.LanguageModel
    /** The models to fall back on. */
    readonly fallback: ReadonlyArray<Route & { readonly languageModel: LanguageModel.LanguageModel }>
    /** Every prompt received, in order. */
    readonly received: Effect.Effect<ReadonlyArray<Prompt.Prompt>>
    /** Every request received, in order. */
    readonly requests: Effect.Effect<ReadonlyArray<Request>>
    /** Waits until `count` requests have been received. */
    readonly awaitRequests: (count: number) => Effect.Effect<void>
  }
>()("troupe/testing/ScriptedModel") {}

/** Makes a scripted model. A request beyond the last script fails as an invalid request that says so. */
export const make = Effect.fnUntraced(function* (scripts: Scripts, options: Options = {}) {
  const requests = yield* SubscriptionRef.make<ReadonlyArray<Request>>([])

  const scriptFor = Effect.fnUntraced(function* (provider: LanguageModel.ProviderOptions, route: Route) {
    const request = yield* SubscriptionRef.modify(requests, (all) => {
      const tools = provider.tools.map((tool) => tool.name)
      const next = { ...route, prompt: provider.prompt, tools, index: all.length }
      return [next, [...all, next]]
    })
    const problems = options.strict === false ? [] : PromptCheck.problems(provider.prompt)
    if (problems.length > 0) return [fail(refused(`Invalid history: ${problems.join("; ")}`))]
    const script = typeof scripts === "function" ? scripts(request) : scripts[request.index]
    const steps = script ?? [fail(refused(`No script for request ${request.index + 1}`))]
    return complete(steps, request)
  })

  const modelOf = (route: Route) =>
    LanguageModel.make({
      generateText: (provider) =>
        Effect.flatMap(scriptFor(provider, route), (steps) =>
          Stream.runCollect(play(steps)).pipe(Effect.map(Parts.join))
        ),
      streamText: (provider) => Stream.unwrap(Effect.map(scriptFor(provider, route), play))
    })

  const languageModel = yield* modelOf(mainRoute(options))
  const fallback = yield* Effect.forEach(options.fallback ?? [], (route) =>
    Effect.map(modelOf(route), (made) => ({ ...route, languageModel: made }))
  )

  return ScriptedModel.of({
    languageModel,
    fallback,
    received: Effect.map(SubscriptionRef.get(requests), (all) => all.map((request) => request.prompt)),
    requests: SubscriptionRef.get(requests),
    awaitRequests: (count) =>
      SubscriptionRef.changes(requests).pipe(
        Stream.filter((all) => all.length >= count),
        Stream.take(1),
        Stream.runDrain
      )
  })
})

/** Layer of the scripted model: the service itself, `LanguageModel`, and a `Models` that always answers with it. */
export const layer = (
  scripts: Scripts,
  options: Options = {}
): Layer.Layer<ScriptedModel | LanguageModel.LanguageModel | Models> =>
  Layer.effectContext(
    Effect.map(make(scripts, options), (scripted) => {
      const { model, provider } = mainRoute(options)
      const { fallback, languageModel } = scripted
      const info = ModelTable.infoOf(model, { contextTokens: options.contextTokens, images: options.images })
      const handle = { provider, model, languageModel, info, compact: options.compact, fallback }
      return Context.make(ScriptedModel, scripted).pipe(
        Context.add(LanguageModel.LanguageModel, scripted.languageModel),
        Context.add(Models, {
          get: (selection) => Effect.succeed({ ...handle, model: selection?.model ?? model }),
          default: Effect.succeed(handle),
          available: [{ name: provider, models: [model] }]
        })
      )
    })
  )

const mainRoute = ({ model = "scripted", provider = "scripted" }: Options): Route => ({ provider, model })

const refused = (description: string) => new AiError.InvalidRequestError({ description })

const finishPart = (
  reason: Response.FinishReason,
  tokens: { readonly input?: number; readonly output?: number } = {}
): Response.FinishPartEncoded => ({
  type: "finish",
  reason,
  usage: {
    inputTokens: { total: tokens.input ?? 10, uncached: tokens.input ?? 10, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: tokens.output ?? 5, text: tokens.output ?? 5, reasoning: 0 }
  }
})

/** Gives ids to the calls that have none and adds the finish part where the script leaves it open. */
const complete = (script: Script, request: Request): Script => {
  const taken = Parts.callIds(request.prompt)
  let calls = 0
  const steps = script.map((step): Step =>
    step._tag === "ToolCall"
      ? { ...step, id: step.id ?? Parts.uniqueId(`call_${request.index + 1}_${++calls}`, taken) }
      : step
  )
  const closed = steps.some(
    (step) => step._tag === "Fail" || step._tag === "End" || (step._tag === "Part" && step.part.type === "finish")
  )
  if (closed) return steps
  const called = steps.some((step) => step._tag === "ToolCall")
  return [...steps, finish(called ? "tool-calls" : "stop")]
}

const play = (steps: Script): Stream.Stream<Response.StreamPartEncoded, AiError.AiError> =>
  Stream.fromIterable(steps).pipe(
    Stream.takeUntil((step) => step._tag === "End"),
    Stream.zipWithIndex,
    Stream.flatMap(([step, index]) => playStep(step, `block_${index}`))
  )

const playStep = (step: Step, blockId: string): Stream.Stream<Response.StreamPartEncoded, AiError.AiError> => {
  switch (step._tag) {
    case "Part":
      return Stream.succeed(step.part)
    case "Text":
      // One element per chunk, as over a network: parts before a failure are always delivered.
      return Stream.fromIterable<Response.StreamPartEncoded>([
        { type: `${step.kind}-start`, id: blockId },
        ...step.deltas.map((delta) => ({ type: `${step.kind}-delta` as const, id: blockId, delta })),
        { type: `${step.kind}-end`, id: blockId }
      ]).pipe(Stream.rechunk(1))
    case "ToolCall":
      return Stream.succeed({
        type: "tool-call",
        id: step.id ?? blockId,
        name: step.name,
        params: step.params
      })
    case "Run":
      return Stream.drain(Stream.fromEffect(step.effect))
    case "Fail":
      return Stream.fail(step.error)
    case "End":
      return Stream.empty
  }
}

/** The first text of the last user message: what most script functions look at. */
export const lastUserText = (prompt: Prompt.Prompt): Option.Option<string> => {
  const message = prompt.content.findLast((candidate) => candidate.role === "user")
  if (message?.role !== "user") return Option.none()
  return Option.fromUndefinedOr(message.content.find((item) => item.type === "text")?.text)
}
