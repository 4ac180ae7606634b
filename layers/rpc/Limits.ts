/** How much one request may hold. The longest message is a million characters, which JSON can write in six bytes each. */
import * as ByteSize from "effect/ByteSize"

/** Bytes of one HTTP request, of one WebSocket frame, and characters of one line of messages. */
export const requestBytes = 8 * 1024 * 1024

export const requestSize: ByteSize.ByteSize = ByteSize.bytes(requestBytes)
