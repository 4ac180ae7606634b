/** The compiler's proof that the types of the promise client have every field of the schemas they repeat, and no other. */
import type * as PlainTypes from "../../src/client/PlainTypes.ts"
import type * as Approvals from "../../src/approval/Approvals.ts"
import type * as Conversations from "../../src/conversation/Conversations.ts"
import type * as Event from "../../src/event/Event.ts"
import type * as TroupeRpcs from "../../src/rpc/TroupeRpcs.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import type * as Threads from "../../src/thread/Threads.ts"

type Primitive = string | number | boolean | bigint | null | undefined

/** The paths at which a plain type and what it repeats differ; never when they do not. `unknown` stands for anything. */
type Gaps<Plain, Full, At extends string> = unknown extends Plain
  ? never
  : Full extends Primitive
    ? Full extends Plain
      ? never
      : At
    : Full extends ReadonlyArray<infer Item>
      ? [Extract<Plain, ReadonlyArray<unknown>>] extends [ReadonlyArray<infer PlainItem>]
        ? Gaps<PlainItem, Item, `${At}[]`>
        : At
      : Full extends { readonly _tag: infer Tag extends string }
        ? FieldGaps<Extract<Plain, { readonly _tag: Tag }>, Full, `${At}.${Tag}`>
        : FieldGaps<Exclude<Plain, Primitive | ReadonlyArray<unknown>>, Full, At>

type FieldGaps<Plain, Full, At extends string> = [Plain] extends [never]
  ? At
  : | `${At}: ${Exclude<keyof Plain | keyof Full, keyof Plain & keyof Full> & string}`
    | { [K in keyof Plain & keyof Full & string]-?: Gaps<Plain[K], Full[K], `${At}.${K}`> }[keyof Plain &
        keyof Full &
        string]

/** The same the other way round for the kinds there are: none may be left that nothing has. */
type Kinds<Plain extends { readonly _tag: string }, Full extends { readonly _tag: string }> =
  | Exclude<Plain["_tag"], Full["_tag"]>
  | Exclude<Full["_tag"], Plain["_tag"]>

type None<Found extends never> = Found

export type Proof = [
  // @ts-expect-error a field that the schema has is missing
  None<Gaps<Omit<PlainTypes.Status, "held">, TroupeRpcs.Status, "Status">>,
  // instead: None<Gaps<PlainTypes.Status, TroupeRpcs.Status, "Status">>,
  // @ts-expect-error a field that no schema has
  None<Gaps<PlainTypes.Thread & { readonly colour: string }, Threads.Thread, "Thread">>,
  // instead: None<Gaps<PlainTypes.Thread, Threads.Thread, "Thread">>,
  // @ts-expect-error a word that the schema does not know
  None<Gaps<PlainTypes.Usage & { readonly inputTokens: "many" }, Entry.Usage, "Usage">>,
  // instead: None<Gaps<PlainTypes.Usage, Entry.Usage, "Usage">>,
  None<Gaps<PlainTypes.ThreadCursor, Threads.ThreadCursor, "ThreadCursor">>,
  None<Gaps<PlainTypes.Question, Approvals.ApprovalRequest, "Question">>,
  None<Gaps<PlainTypes.StoredEntry, Entry.StoredEntry, "StoredEntry">>,
  None<Gaps<PlainTypes.Event, Event.Event, "Event">>,
  None<Kinds<PlainTypes.Entry, Entry.Entry>>,
  None<Kinds<PlainTypes.Event, Event.Event>>,
  None<Gaps<PlainTypes.Failure, Entry.Failure, "Failure">>,
  None<Exclude<Conversations.StopOutcome, Awaited<ReturnType<PlainTypes.Troupe["stop"]>>>>
]
