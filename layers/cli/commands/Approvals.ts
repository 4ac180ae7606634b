import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Approval from "../../../src/approval/Approval.ts"
import * as ApprovalWords from "../../../src/cli/ApprovalWords.ts"
import { usage } from "../../../src/cli/CommandFailed.ts"
import { Output } from "../../../src/cli/Output.ts"
import * as Plain from "../../../src/cli/Plain.ts"
import { TroupeClient } from "../../../src/client/TroupeClient.ts"
import * as Ids from "../../../src/Ids.ts"
import * as Client from "./Client.ts"

/** `troupe approvals`: what waits and what was allowed; with `json` one object a line, with a `type`. */
export const list = (common: Client.Common, flags: { readonly json: boolean }) =>
  Effect.gen(function* () {
    const output = yield* Output
    const client = yield* TroupeClient
    const [questions, grants] = yield* Effect.all([client.Approvals(), client.Grants()])
    yield* output.out(
      flags.json
        ? [
            ...questions.map((question) => Plain.json({ type: "question", question })),
            ...grants.map((grant) => Plain.json({ type: "grant", grant }))
          ].join("")
        : ApprovalWords.list(questions, grants)
    )
  }).pipe(Client.reachable, Effect.provide(Client.layer(common)))

/** `troupe approvals decide`. */
export const decide = (
  common: Client.Common,
  flags: {
    readonly id: string
    readonly answer: "yes" | "no"
    readonly scope: Approval.Scope
    readonly as: string | undefined
  }
) =>
  Effect.gen(function* () {
    const output = yield* Output
    const client = yield* TroupeClient
    if (flags.answer === "no" && flags.scope !== "once")
      return yield* usage("--for is for a yes: a no is for its call alone.")
    const question = (yield* client.Approvals()).find(({ approvalId }) => approvalId === flags.id)
    if (question === undefined) {
      return yield* usage(`No question ${Plain.line(flags.id)} waits. \`troupe approvals\` lists those that do.`)
    }
    const answered = yield* client.Decide({
      thread: question.threadId,
      approvalId: question.approvalId,
      nonce: question.nonce,
      decision: flags.answer === "yes" ? "approved" : "denied",
      scope: flags.scope,
      ...(flags.as === undefined ? {} : { approver: flags.as })
    })
    yield* output.out(answered === "more-needed" ? ApprovalWords.moreNeeded : "Done.\n")
  }).pipe(Client.reachable, Effect.provide(Client.layer(common)))

/** `troupe approvals revoke`. */
export const revoke = (common: Client.Common, { id }: { readonly id: string }) =>
  Effect.gen(function* () {
    const output = yield* Output
    const grantId = yield* Effect.mapError(Schema.decodeEffect(Ids.GrantId)(id), () =>
      usage(`${JSON.stringify(id)} is no id of a grant. \`troupe approvals\` lists them.`)
    )
    yield* (yield* TroupeClient).RevokeGrant({ grantId })
    yield* output.out(ApprovalWords.revoked)
  }).pipe(Client.reachable, Effect.provide(Client.layer(common)))
