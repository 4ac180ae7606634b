/** The errors of the promise client. */
import type { RpcClientError } from "effect/rpc/RpcClientError"
import * as Schema from "effect/Schema"
import type * as Approvals from "../approval/Approvals.ts"
import type { AttachmentRefused } from "../attachment/Attachment.ts"
import type { ChannelNotFound } from "../channel/Channels.ts"
import type * as Conversations from "../conversation/Conversations.ts"
import type { Overloaded } from "../conversation/Overloaded.ts"
import type { EdgeError } from "../rpc/TroupeRpcs.ts"
import type * as Threads from "../thread/Threads.ts"
import * as Unreachable from "./Unreachable.ts"

const Code = Schema.Literals([
  "aborted",
  "closed",
  "unreachable",
  "unauthorized",
  "invalid_request",
  "channel_not_found",
  "thread_not_found",
  "message_not_found",
  "approval_not_found",
  "approval_decided",
  "approver_refused",
  "attachment_refused",
  "unavailable",
  "overloaded",
  "internal_error",
  "storage_unavailable"
])

/** What everything of the promise client fails with; its callers know it as `TroupeError`. */
export class Failed extends Schema.TaggedError<Failed>()("TroupeError", { code: Code, message: Schema.String }) {}

export const aborted = new Failed({ code: "aborted", message: "The caller's signal was aborted." })
export const closed = new Failed({ code: "closed", message: "The client was closed." })

type CallError =
  | EdgeError
  | RpcClientError
  | AttachmentRefused
  | ChannelNotFound
  | Overloaded
  | Threads.ThreadNotFound
  | Threads.MessageNotFound
  | Approvals.DecideError
  | Conversations.ConversationUnavailable

export const ofCall = (error: CallError): Failed => {
  if (error._tag !== "RpcClientError") return new Failed({ code: codes[error._tag], message: error.message })
  return new Failed({
    code: Unreachable.isRefusal(error) ? "unauthorized" : "unreachable",
    message: Unreachable.explain(error)
  })
}

const codes = {
  Unauthorized: "unauthorized",
  InvalidRequest: "invalid_request",
  InternalError: "internal_error",
  ChannelNotFound: "channel_not_found",
  ThreadNotFound: "thread_not_found",
  MessageNotFound: "message_not_found",
  ApprovalNotFound: "approval_not_found",
  ApprovalDecided: "approval_decided",
  ApproverRefused: "approver_refused",
  AttachmentRefused: "attachment_refused",
  ConversationUnavailable: "unavailable",
  Overloaded: "overloaded",
  StorageUnavailable: "storage_unavailable"
} as const
