/** What models have used of their budgets, and what requests that are under way may use at worst. */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const strict = sql.onDialectOrElse({ sqlite: () => sql.literal("STRICT"), orElse: () => sql.literal("") })
  const int = sql.onDialectOrElse({ sqlite: () => sql.literal("INTEGER"), orElse: () => sql.literal("BIGINT") })

  // `day` is empty for what counts for ever; amounts of money are in millionths. What is held is never less than nothing.
  yield* sql`CREATE TABLE budget_accounts (
    scope TEXT NOT NULL CHECK (scope IN ('agent', 'thread', 'house', 'tree', 'everything')),
    key TEXT NOT NULL,
    day TEXT NOT NULL,
    unit TEXT NOT NULL CHECK (unit IN ('tokens', 'money')),
    used ${int} NOT NULL CHECK (used >= 0),
    held ${int} NOT NULL CHECK (held >= 0),
    raised ${int} NOT NULL CHECK (raised >= 0),
    PRIMARY KEY (scope, key, day, unit)
  ) ${strict}`

  // `about` is the JSON of the worst case and the accounts that it was taken from.
  yield* sql`CREATE TABLE budget_holds (
    id TEXT NOT NULL PRIMARY KEY,
    about TEXT NOT NULL
  ) ${strict}`

  // A decision of a person raises a limit once.
  yield* sql`CREATE TABLE budget_raises (
    id TEXT NOT NULL PRIMARY KEY,
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    day TEXT NOT NULL,
    unit TEXT NOT NULL,
    amount ${int} NOT NULL
  ) ${strict}`
})
