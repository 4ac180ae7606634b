/** How much one request may hold. The longest message is a million characters, which JSON can write in six bytes each. */
import * as ByteSize from "effect/ByteSize"
import * as Duration from "effect/Duration"

/** Bytes of one HTTP request and of one message of a WebSocket. */
export const requestBytes = 8 * 1024 * 1024

export const requestSize: ByteSize.ByteSize = ByteSize.bytes(requestBytes)

/**
 * Calls of one connection, or of one HTTP body, that are under way at once. Each may hold a page of a thread and its encoded form, some
 * 2 MiB together.
 */
export const callsAtOnce = 64

/** Bytes of answers that wait for the client of a WebSocket to read. With more of them, it gets nothing new until it has read. */
export const unreadBytes = 8 * 1024 * 1024

/** How long a client may leave that many bytes before its WebSocket is closed. */
export const unreadFor = Duration.minutes(5)
