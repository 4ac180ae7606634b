/**
 * The questions that come up while one message is followed. Only those of a turn that serves the message are answered, and
 * where nobody can be asked, only those of a turn that serves nobody else: another's question is left to them.
 */
import * as Effect from "effect/Effect"
import * as FiberHandle from "effect/FiberHandle"
import * as ApprovalWords from "../../../src/cli/ApprovalWords.ts"
import * as ChatView from "../../../src/cli/ChatView.ts"
import { Output } from "../../../src/cli/Output.ts"
import * as Plain from "../../../src/cli/Plain.ts"
import type * as Approvals from "../../../src/approval/Approvals.ts"
import type * as Answer from "../../../src/cli/Answer.ts"
import { TroupeClient } from "../../../src/client/TroupeClient.ts"
import type * as Ids from "../../../src/Ids.ts"
import type * as TroupeRpcs from "../../../src/rpc/TroupeRpcs.ts"
import type * as Threads from "../../../src/thread/Threads.ts"
import * as Keys from "./Keys.ts"

/** Takes in the items of the watch, one by one, with what is known of the message by then. */
export const make = Effect.fnUntraced(function* (thread: Threads.ThreadKey) {
  const client = yield* TroupeClient
  const output = yield* Output
  const someone = output.inIsTerminal && output.errIsTerminal
  const open = new Map<Ids.ApprovalId, Approvals.ApprovalRequest>()
  const seen = new Set<Ids.ApprovalId>()
  const asking = yield* FiberHandle.make<void, never>()
  let asked: Ids.ApprovalId | undefined

  const decide = Effect.fnUntraced(function* (request: Approvals.ApprovalRequest) {
    const { approvalId, nonce } = request
    const answer = someone ? yield* ask(request) : undefined
    if (answer === undefined) yield* output.err(`Denied, since nobody can be asked here: ${call(request)}\n`)
    const given = answer === undefined ? ({ decision: "nobody-to-ask" } as const) : ApprovalWords.decisionOf(answer)
    yield* client.Decide({ thread, approvalId, nonce, ...given }).pipe(
      Effect.flatMap((answered) => (answered === "more-needed" ? output.err(ApprovalWords.moreNeeded) : Effect.void)),
      // Its time ran out, or somebody else answered.
      Effect.catchTag(["ApprovalNotFound", "ApprovalDecided", "ApproverRefused"], (error) =>
        output.err(`${error.message}\n`)
      ),
      // The connection was cut: if the question still waits then, it comes again.
      Effect.catch(() => Effect.sync(() => seen.delete(approvalId))),
      Effect.ensuring(
        Effect.sync(() => {
          asked = undefined
        })
      )
    )
  })

  const ask = Effect.fnUntraced(function* (request: Approvals.ApprovalRequest) {
    yield* output.err(
      `${ChatView.question(request, output.errStyle)} [y/n, or yes for this t(urn), c(onversation), a(lways)] `
    )
    const answer = yield* Keys.answer
    yield* output.err(`${ApprovalWords.answer[answer]}\n`)
    return answer
  })

  const take = Effect.fnUntraced(function* (item: TroupeRpcs.SentItem) {
    if (item._tag === "CaughtUp") {
      const { approvals } = yield* client.Inspect({ thread })
      open.clear()
      for (const request of approvals) open.set(request.approvalId, request)
    }
    if (item._tag !== "Live") return
    if (item.event._tag === "ApprovalRequested") open.set(item.event.request.approvalId, item.event.request)
    if (item.event._tag === "ApprovalResolved") open.delete(item.event.approvalId)
  })

  const next = ({ alone, turnId }: Answer.Answer) =>
    [...open.values()].find(
      (request) => request.turnId === turnId && !seen.has(request.approvalId) && (someone || alone)
    )

  return Effect.fnUntraced(function* (item: TroupeRpcs.SentItem, answer: Answer.Answer) {
    yield* take(item)
    if (asked !== undefined && !open.has(asked)) {
      asked = undefined
      yield* FiberHandle.clear(asking)
      if (someone) yield* output.err("(no longer asked)\n")
    }
    const request = asked === undefined ? next(answer) : undefined
    if (request === undefined) return
    asked = request.approvalId
    seen.add(request.approvalId)
    yield* FiberHandle.run(asking, decide(request))
  })
})

const call = ({ detail, tool }: Approvals.ApprovalRequest): string =>
  `${Plain.clipped(tool, 64)} ${Plain.clipped(detail, 200)}`
