/**
 * Ways in and out. A channel hands messages in through `Conversations.accept`; how its replies leave is declared here.
 *
 * A *pull* channel (console, typed RPC, OpenAI-compatible HTTP) has a client that reads the thread from a cursor, so the
 * journal itself is the delivery and nothing else is written. A *push* channel (Telegram, …) gets its replies from the
 * outbox, in order, with retries.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { ApprovalRequest } from "../approval/Approvals.ts"
import type * as Outbox from "./Outbox.ts"

export class DeliveryRefused extends Schema.TaggedError<DeliveryRefused>()("DeliveryRefused", {
  reason: Schema.String,
  /** Whether the same reply may be accepted later. */
  retryable: Schema.Boolean,
  /** How long the channel asked to wait, in milliseconds. */
  retryAfterMillis: Schema.optionalKey(Schema.Int),
  /** The channel cannot read how the text is written: it comes again, mended or as plain text. What is wrong stands in `reason`. */
  unreadable: Schema.optionalKey(Schema.Boolean)
}) {
  override get message() {
    return `The channel refused the reply: ${this.reason}`
  }
}

export interface Channel {
  readonly name: string
  readonly capabilities: {
    /** Can show a question and bring back a person's answer. */
    readonly approval: boolean
    readonly formatting: ReadonlyArray<"text" | "markdown" | "html">
    /**
     * Takes files: those in `files` of a delivery, and those that an answer's `format` names. A channel whose client reads the
     * thread takes them when the client can open what lies on this machine.
     */
    readonly files: boolean
  }
  /** How a text that the channel could not read is to be mended by a model, and how often that is tried. Absent: it goes out plain. */
  readonly formatRepair?: { readonly instructions: string; readonly attempts: number }
  /** Absent for a pull channel. Must not report success before the reply is out. */
  readonly deliver?: (delivery: Outbox.Delivery) => Effect.Effect<void, DeliveryRefused>
  /**
   * Puts a question to the people of a chat. Absent for a channel whose clients hear of it by events. Must not report success before
   * the question is out; a failure denies the call. The same question can come again after a restart, and when it is put to more
   * people.
   */
  readonly ask?: (question: ApprovalRequest, chat: string) => Effect.Effect<void, DeliveryRefused>
}

/** A file is for somebody whose channel carries none. */
export class FilesNotTaken extends Schema.TaggedError<FilesNotTaken>()("FilesNotTaken", { channel: Schema.String }) {
  readonly code = "channel:files_not_taken"
  override get message() {
    return `The channel ${JSON.stringify(this.channel)} takes no files. Say in words what is in it, or where it is.`
  }
}

export class ChannelNameTaken extends Schema.TaggedError<ChannelNameTaken>()("ChannelNameTaken", {
  name: Schema.String
}) {
  override get message() {
    return `A channel named ${JSON.stringify(this.name)} is registered already. Give this one another name.`
  }
}

/** A message is for a channel that is not registered: what is answered to it would never leave. */
export class ChannelNotFound extends Schema.TaggedError<ChannelNotFound>()("ChannelNotFound", {
  name: Schema.String,
  known: Schema.Array(Schema.String)
}) {
  override get message() {
    return (
      `There is no channel ${JSON.stringify(this.name)}. ` +
      `A thread is named channel:chat; the channels are ${this.known.join(", ")}.`
    )
  }
}

export class Channels extends Context.Service<
  Channels,
  {
    /** Adds a channel for the life of the scope. */
    readonly register: (channel: Channel) => Effect.Effect<void, ChannelNameTaken, Scope.Scope>
    /** A channel that is not registered (any more) has no capabilities; its replies wait in the outbox. */
    readonly find: (name: string) => Effect.Effect<Channel | undefined>
    readonly all: Effect.Effect<ReadonlyArray<Channel>>
  }
>()("troupe/channel/Channels") {}
