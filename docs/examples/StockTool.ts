/** A tool that looks at a shelf, the authority it needs for that, and the layer that brings both into a runtime. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Capability, Tool, ToolRegistry } from "troupe"

/** The authority to look at the shelf. A tool that does not list it cannot reach it. */
export class Shelf extends Capability.Service<
  Shelf,
  { readonly count: (article: string) => Effect.Effect<number | undefined> }
>()("Shelf") {}

/** A failure that the model is told about: a stable code, and a sentence that says what to do. */
export class NoSuchArticle extends Schema.TaggedError<NoSuchArticle>()("NoSuchArticle", { article: Schema.String }) {
  readonly code = "shop:no_such_article"
  override get message() {
    return `There is no article ${JSON.stringify(this.article)} on the shelf. Ask the person which article is meant.`
  }
}

export const StockLevel = Tool.make("stock_level", {
  description: "How many pieces of an article are on the shelf.",
  parameters: Schema.Struct({
    article: Schema.NonEmptyString.annotate({ description: "In the singular, for example teapot." })
  }),
  success: Schema.Struct({ article: Schema.String, count: Schema.Int }),
  failure: NoSuchArticle,
  limits: { timeout: "2 seconds", output: { maxChars: 500 }, perTurn: 20 },
  cancellation: "interruptible",
  replay: "safe", // it only reads, so a restart may run it again
  capabilities: [Shelf],
  // What it says is the shelf's own, and nothing that others wrote.
  content: "own",
  identifiedBy: ["article"]
})

const tool = ToolRegistry.layer([StockLevel], {
  stock_level: ({ article }) =>
    Effect.gen(function* () {
      const shelf = yield* Shelf
      const count = yield* shelf.count(article)
      return count === undefined ? yield* new NoSuchArticle({ article }) : { article, count }
    })
})

/** What every turn is given when it asks for `Shelf`. A real one would read a database. */
const grant = Layer.effectDiscard(
  Effect.gen(function* () {
    const grants = yield* Capability.Grants
    const pieces = new Map([["teapot", 4]])
    yield* grants.register(Shelf, () =>
      Effect.succeed({ count: (article: string) => Effect.sync(() => pieces.get(article)) })
    )
  })
)

export const layer = Layer.merge(tool, grant)
