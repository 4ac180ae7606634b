/**
 * The messages of a person under the ids that they are sent with. What nobody knows the fate of keeps its id: sent again
 * unchanged, it is the same message to the daemon, which takes it once. Pure.
 */
import type * as Ids from "../Ids.ts"
import type * as Threads from "../thread/Threads.ts"

export interface Message {
  readonly thread: Threads.ThreadKey
  readonly text: string
  readonly externalId: Ids.MessageId
}

/** What was typed; it goes to the thread where the chat is when its turn has come, unless it has been sent before. */
export type Typed = Pick<Message, "text" | "externalId"> & Partial<Message>

/** The message among those that were not confirmed, oldest first, which this text sends again. */
export const find = (
  unconfirmed: ReadonlyArray<Message>,
  thread: Threads.ThreadKey,
  text: string
): Message | undefined => unconfirmed.find((message) => message.text === text && message.thread === thread)

/** What a person reads of a message that was not confirmed. `unsure`: it may have been taken; `restored`: it stands in the line. */
export const words = (why: string, { restored, unsure }: { readonly restored: boolean; readonly unsure: boolean }) => {
  const how = restored ? "Enter sends it again" : "Up brings it back, to be sent again"
  return unsure ? `Not known whether it was taken: ${why} ${how}; it is not taken twice.` : `Not sent: ${why}`
}

/** What a person reads when it had been taken the first time. */
export const takenBefore = "It had been taken already, and is not sent twice."
