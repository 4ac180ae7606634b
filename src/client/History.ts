/** Reading a stretch of a thread, however long it is: one page after the other. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as TroupeRpcs from "../rpc/TroupeRpcs.ts"
import type * as Entry from "../thread/Entry.ts"

export interface Options {
  readonly thread: TroupeRpcs.ThreadRef
  /** The first entry wanted; without it, the last `limit` ones are given. */
  readonly from?: number | undefined
  /** How many entries in all. */
  readonly limit: number
}

interface Page {
  readonly entries: ReadonlyArray<Entry.StoredEntry>
  readonly next: number | null
}

/** One call's worth. */
export type Once<E> = (request: {
  readonly thread: TroupeRpcs.ThreadRef
  readonly from?: number
  readonly limit: number
}) => Effect.Effect<Page, E>

/** Makes one stream of as many calls as it takes. A page is asked for when the one before has been used. */
export const make =
  <E>(once: Once<E>) =>
  ({ from, limit, thread }: Options): Stream.Stream<ReadonlyArray<Entry.StoredEntry>, E> =>
    Stream.paginate({ from, left: limit }, ({ from, left }) =>
      Effect.map(
        once({ thread, limit: Math.min(left, largestPage), ...(from === undefined ? {} : { from }) }),
        ({ entries, next }) => {
          const rest = left - entries.length
          const more = next === null || rest <= 0 ? Option.none() : Option.some({ from: next, left: rest })
          return [[entries], more] as const
        }
      )
    )

/** As many entries as one call may ask for. */
const largestPage = 1000
