import * as Schema from "effect/Schema"
import * as Tool from "../../tool/Tool.ts"

/** The skill that the tool belongs to: without it, it is not offered. */
export const skill = "troupe-docs"

/** The longest piece of a page, in characters. */
export const pageChars = 30_000

/** The package has no pages: it was put together without them. */
export class DocsUnavailable extends Schema.TaggedError<DocsUnavailable>()("DocsUnavailable", {}) {
  readonly code = "docs_unavailable"
  override get message() {
    return "This installation has no documentation: install the package as it is published."
  }
}

/** There is no page of this name; `pages` are those that there are. */
export class PageNotFound extends Schema.TaggedError<PageNotFound>()("PageNotFound", {
  pages: Schema.Array(Schema.String)
}) {
  readonly code = "page_not_found"
  override get message() {
    return "There is no page of this name: give one of details.pages."
  }
}

const text = Schema.optionalKey(Schema.String)

export const ReadDocs = Tool.make("read_docs", {
  description:
    "The documentation of this installed version of Troupe. Without parameters it lists the pages; with query it searches them; with page it reads one.",
  parameters: Schema.Struct({
    page: Schema.optionalKey(Schema.String.annotate({ description: "Name of a page, as listed." })),
    query: Schema.optionalKey(Schema.String.annotate({ description: "Words that a line must all have." }))
  }),
  success: Schema.Struct({
    pages: Schema.optionalKey(Schema.Array(Schema.Struct({ page: Schema.String, title: Schema.String }))),
    page: text,
    title: text,
    content: text,
    truncated: Schema.optionalKey(Schema.Boolean),
    query: text,
    results: Schema.optionalKey(
      Schema.Array(Schema.Struct({ page: Schema.String, matches: Schema.Int, snippets: Schema.Array(Schema.String) }))
    )
  }),
  failure: Schema.Union([DocsUnavailable, PageNotFound]),
  // A page is never moved to a file: it is one already.
  limits: { timeout: "10 seconds", output: { maxChars: 2 * pageChars + 1000 } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [],
  content: "own",
  identifiedBy: ["page", "query"]
})
