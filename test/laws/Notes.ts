/** What holds for every `Notes`, whatever it is kept in. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Ids from "../../src/Ids.ts"
import type * as Note from "../../src/memory/Note.ts"
import { mostRanked, Notes, pageBytes } from "../../src/memory/Notes.ts"
import type { Page } from "../../src/memory/Notes.ts"

/** How many notes an owner has at most, in the layers that these laws are given. */
export const maxNotes = 1500

type Law = <A, E>(name: string, body: Effect.Effect<A, E, Notes>) => void

/** `notes` is empty, and lets an owner have `maxNotes`. */
export const laws = (name: string, notes: Layer.Layer<Notes>) =>
  describe(`notes (${name})`, () => {
    const law: Law = (title, body) =>
      it.effect(title, () => Effect.provide(Effect.asVoid(body), notes), { timeout: 60_000 })
    writing(law)
    searching(law)
    paging(law)
    forgetting(law)
    it.effect.prop(
      "whatever is saved is found by what it says, and no query is an error",
      { data: Schema.NonEmptyString, query: Schema.String },
      ({ data, query }) =>
        Effect.gen(function* () {
          const service = yield* Notes
          const note = yield* save({ title: "t", data: data.toWellFormed().replaceAll("\0", "") || "x" })
          const sought = note.data.slice(0, 200).toWellFormed()
          if (sought.trim() !== "") assert.isAtLeast((yield* find(sought)).total, 1, JSON.stringify(sought))
          yield* find(query)
          yield* service.remove(owner, note.id, yield* origin)
        }).pipe(Effect.provide(notes), Effect.scoped),
      { arbitrary: { runs: 40 } }
    )
  })

const owner = "primary"

/** Who writes a note: each time another call. */
export const origin = Effect.gen(function* () {
  const made: Note.Origin = {
    threadId: yield* Ids.makeThreadId,
    callId: yield* Ids.makeCallId,
    agent: "troupe",
    senderId: "ada"
  }
  return made
})

const draftOf = (given: Partial<Note.Draft>): Note.Draft => ({
  title: "A title",
  data: "Some text",
  category: "other",
  metadata: {},
  source: null,
  expiresAt: null,
  ...given
})

/** A note to be written. */
export const note = draftOf({ title: "Dentist", data: "Moved to Thursday" })

const save = Effect.fnUntraced(function* (given: Partial<Note.Draft>, ownerId = owner) {
  return yield* Effect.orDie((yield* Notes).create(ownerId, draftOf(given), yield* origin))
})

const all = { limit: 100, offset: 0 }
const find = (text: string, ownerId = owner) => Notes.use((notes) => notes.search(ownerId, { ...all, text }))
const titlesOf = ({ items }: Page<{ readonly title: string }>) => items.map(({ title }) => title)
const foundBy = (text: string) => Effect.map(find(text), titlesOf)

const writing = (law: Law) => {
  law(
    "a note is given back as it was written, with when, where and by whom",
    Effect.gen(function* () {
      const notes = yield* Notes
      yield* TestClock.setTime(5000)
      const by = yield* origin
      const draft = draftOf({
        title: "Dentist’s  number",
        data: 'line 1\nline 2 \u{1f9b7} "quoted" \'; DROP TABLE notes --',
        metadata: { tags: ["a"], deep: { n: 1.5, none: null } },
        source: "user",
        expiresAt: 9000
      })
      const note = yield* notes.create(owner, draft, by)
      assert.deepStrictEqual(note, {
        ...draft,
        id: note.id,
        ownerId: owner,
        createdAt: 5000,
        updatedAt: 5000,
        createdBy: by,
        updatedBy: by
      })
      assert.deepStrictEqual(yield* notes.get(owner, note.id), note)
      assert.deepStrictEqual((yield* notes.search(owner, all)).items, [note])
    })
  )

  law(
    "a change replaces what is given and keeps the rest, the title and who wrote it first",
    Effect.gen(function* () {
      const notes = yield* Notes
      const note = yield* save({ title: "Car", data: "blue", metadata: { plate: "X" }, source: "user" })
      yield* TestClock.adjust("1 minute")
      const by = yield* origin
      const changed = yield* notes.update(owner, note.id, { data: "red", source: null }, by)
      assert.deepStrictEqual(changed, { ...note, data: "red", source: null, updatedAt: 60_000, updatedBy: by })
      assert.deepStrictEqual(yield* notes.get(owner, note.id), changed)
      assert.deepStrictEqual(yield* foundBy("red"), ["Car"])
      assert.deepStrictEqual(yield* foundBy("blue"), [])
      yield* TestClock.setTime(0)
      assert.strictEqual((yield* notes.update(owner, note.id, { data: "x" }, by)).updatedAt, 60_000)
    })
  )

  law(
    "a title is an owner's once, whatever its case, width and white space; another owner may have it",
    Effect.gen(function* () {
      const notes = yield* Notes
      const first = yield* save({ title: "My Car" })
      for (const title of ["my car", " MY  CAR ", "Ｍy Car"]) {
        const error = yield* Effect.flip(notes.create(owner, draftOf({ title }), yield* origin))
        assert.deepInclude(error, { _tag: "TitleTaken", id: first.id })
      }
      yield* save({ title: "my car" }, "somebody else")
      yield* notes.remove(owner, first.id, yield* origin)
      yield* save({ title: "my car" })
    })
  )

  law(
    "an owner sees, changes and deletes no note of another, and is not told that it is there",
    Effect.gen(function* () {
      const notes = yield* Notes
      const theirs = yield* save({ title: "secret", data: "canary" }, "somebody else")
      yield* save({ title: "mine" })
      const by = yield* origin
      for (const attempt of [
        notes.get(owner, theirs.id),
        notes.update(owner, theirs.id, { data: "x" }, by),
        notes.remove(owner, theirs.id, by)
      ]) {
        assert.deepInclude(yield* Effect.flip(attempt), { _tag: "NoteNotFound", deletedAt: null })
      }
      for (const text of ["canary", "secret", "canar", "%", ""]) {
        assert.notInclude(yield* foundBy(text), "secret", text)
      }
      assert.deepStrictEqual(titlesOf(yield* notes.titles(owner, all)), ["mine"])
      assert.strictEqual((yield* notes.titles("nobody", all)).total, 0)
      assert.strictEqual((yield* find("canary", "nobody")).total, 0)
      yield* notes.remove("somebody else", theirs.id, by)
      assert.isUndefined(yield* notes.tombstone(owner, theirs.id))
      assert.deepInclude(yield* Effect.flip(notes.get(owner, theirs.id)), { deletedAt: null })
    })
  )

  law(
    "the same call that comes again has written one note and deleted one",
    Effect.gen(function* () {
      const notes = yield* Notes
      const by = yield* origin
      const draft = draftOf({ title: "once" })
      const note = yield* notes.create(owner, draft, by)
      assert.deepStrictEqual(yield* notes.create(owner, draft, by), note)
      assert.strictEqual((yield* notes.titles(owner, all)).total, 1)
      const removal = yield* origin
      yield* notes.remove(owner, note.id, removal)
      yield* notes.remove(owner, note.id, removal)
      const error = yield* Effect.flip(notes.remove(owner, note.id, yield* origin))
      assert.strictEqual(error._tag, "NoteNotFound")
    })
  )

  law(
    "no owner has more notes than one may",
    Effect.gen(function* () {
      const notes = yield* Notes
      yield* Effect.forEach(Array.from({ length: maxNotes }), (_, index) => save({ title: `n ${index}` }))
      const error = yield* Effect.flip(notes.create(owner, draftOf({ title: "more" }), yield* origin))
      assert.deepInclude(error, { _tag: "TooManyNotes", limit: maxNotes })
      yield* save({ title: "more" }, "somebody else")
      const [last] = (yield* notes.titles(owner, all)).items
      yield* notes.remove(owner, last?.id ?? "", yield* origin)
      yield* save({ title: "more" })
    })
  )
}

const searching = (law: Law) => {
  law(
    "all words first, then some, then the text as it is",
    Effect.gen(function* () {
      yield* save({ title: "Trip to Rome", data: "hotel near the station" })
      yield* save({ title: "Trip to Oslo", data: "tent" })
      yield* save({ title: "Database", data: "the password is in the vault \u{1f511}" })
      assert.deepStrictEqual(yield* foundBy("rome trip"), ["Trip to Rome"])
      assert.sameMembers(yield* foundBy("trip to mars"), ["Trip to Rome", "Trip to Oslo"])
      assert.deepStrictEqual(yield* foundBy("atabas"), ["Database"])
      assert.deepStrictEqual(yield* foundBy("\u{1f511}"), ["Database"])
      assert.deepStrictEqual(yield* foundBy("nothing of the kind zzz"), yield* foundBy("the of"))
      assert.deepStrictEqual(yield* foundBy("qqq"), [])
    })
  )

  law(
    "the last word may be the beginning of one, an earlier one may not while all are found",
    Effect.gen(function* () {
      yield* save({ title: "one", data: "garden furniture" })
      yield* save({ title: "two", data: "gardener" })
      assert.sameMembers(yield* foundBy("gard"), ["one", "two"])
      assert.deepStrictEqual(yield* foundBy("garden furn"), ["one"])
      assert.deepStrictEqual(yield* foundBy("furniture garden"), ["one"])
    })
  )

  law(
    "a word in the title counts for more than one in the text, and a rarer word for more",
    Effect.gen(function* () {
      yield* save({ title: "Shopping", data: "coffee coffee coffee, milk" })
      yield* save({ title: "Coffee", data: "how I take it: black" })
      for (let index = 0; index < 5; index++) yield* save({ title: `Milk ${index}`, data: "it is white" })
      assert.deepStrictEqual(yield* foundBy("coffee"), ["Coffee", "Shopping"])
      assert.strictEqual((yield* foundBy("milk black"))[0], "Coffee")
    })
  )

  law(
    "case, accents and width do not matter, and every script is found",
    Effect.gen(function* () {
      yield* save({ title: "Café", data: "Straße nach Zürich" })
      yield* save({ title: "日本旅行", data: "東京の天気は晴れ。ｺｰﾋｰ" })
      yield* save({ title: "여행 계획", data: "서울에서 부산까지" })
      yield* save({ title: "хлеб", data: "Ёлка и чай" })
      yield* save({ title: "หนังสือ", data: "ภาษาไทย" })
      yield* save({ title: "हिन्दी", data: "किताब पढ़ना" })
      for (const [query, title] of [
        ["CAFE", "Café"],
        ["zurich", "Café"],
        ["東京", "日本旅行"],
        ["天気", "日本旅行"],
        ["晴", "日本旅行"],
        ["コーヒー", "日本旅行"],
        ["大阪の天気", "日本旅行"],
        ["서울", "여행 계획"],
        ["부산", "여행 계획"],
        ["ХЛЕБ", "хлеб"],
        ["елка", "хлеб"],
        ["ไทย", "หนังสือ"],
        ["किताब", "हिन्दी"]
      ] as const) {
        assert.deepStrictEqual(yield* foundBy(query), [title], query)
      }
    })
  )

  law(
    "nothing that is typed is an operator",
    Effect.gen(function* () {
      yield* save({ title: "plain", data: "web:1 foo-bar a AND b c++ x100%_off C:\\temp O'Brien" })
      yield* save({ title: "other", data: "nothing to see" })
      for (const query of [
        "web:1",
        "foo-bar",
        "foo -bar",
        '"foo',
        'foo"',
        "a AND b",
        "a OR b",
        "a NOT b",
        "NEAR(a b)",
        "title:plain",
        "fo*",
        "^foo",
        "(foo",
        "{foo} : bar",
        "foo + bar",
        "100%_",
        "C:\\temp",
        "O'Brien",
        "c++"
      ]) {
        assert.strictEqual((yield* foundBy(query))[0], "plain", query)
      }
      for (const query of ["-", "*", '"', "''", "()", "%%", "__", "\\\\", "AND", "NOT", "\u0000", "\ud800"]) {
        yield* find(query)
      }
      assert.deepStrictEqual(yield* foundBy("100%_of"), ["plain"])
      assert.deepStrictEqual(yield* foundBy("_o"), ["plain"])
      yield* find("w ".repeat(5000))
    })
  )

  law(
    "category, source and inclusive times narrow both lists and searches",
    Effect.gen(function* () {
      const notes = yield* Notes
      for (const [index, category] of ["a", "b", "a", "b"].entries()) {
        yield* TestClock.setTime(1000 * (index + 1))
        yield* save({ title: `same ${index + 1}`, category, source: index < 2 ? "user" : null })
      }
      const by = (selection: object) =>
        Effect.gen(function* () {
          const searched = titlesOf(yield* notes.search(owner, { ...all, text: "same", ...selection }))
          const listed = titlesOf(yield* notes.titles(owner, { ...all, ...selection }))
          assert.sameMembers(searched.slice(), listed.slice())
          return listed.map((title) => title.at(-1)).join("")
        })
      assert.strictEqual(yield* by({}), "4321")
      assert.strictEqual(yield* by({ category: "a" }), "31")
      assert.strictEqual(yield* by({ source: "user" }), "21")
      assert.strictEqual(yield* by({ updatedAfter: 2000, updatedBefore: 3000 }), "32")
      assert.strictEqual(yield* by({ updatedAfter: 2001, category: "b" }), "4")
      assert.strictEqual(yield* by({ updatedBefore: 999 }), "")
    })
  )
}

const paging = (law: Law) => {
  law(
    "pages show every note once, also past the end of what a page may hold",
    Effect.gen(function* () {
      const notes = yield* Notes
      const large = "x ".repeat(Math.floor(pageBytes / 5))
      for (let index = 0; index < 9; index++) {
        yield* save({ title: `page ${index}`, data: index === 4 ? large.repeat(4) : large })
      }
      for (const text of [undefined, "page"]) {
        const seen: Array<string> = []
        let offset: number | null = 0
        while (offset !== null) {
          const page: Page<Note.Note> = yield* notes.search(owner, { limit: 5, offset, text })
          assert.strictEqual(page.total, 9)
          assert.isAtLeast(page.items.length, 1)
          const bytes = page.items.reduce((sum, { data }) => sum + data.length, 0)
          assert.isTrue(bytes <= pageBytes || page.items.length === 1)
          seen.push(...titlesOf(page))
          offset = page.next
        }
        assert.sameMembers(
          seen,
          Array.from({ length: 9 }, (_, index) => `page ${index}`)
        )
      }
      assert.deepStrictEqual(yield* notes.search(owner, { limit: 5, offset: 50, text: "page" }), {
        items: [],
        total: 9,
        more: false,
        next: null
      })
    })
  )

  law(
    "of very many notes with the words the latest are ranked, and the answer says so",
    Effect.gen(function* () {
      const notes = yield* Notes
      yield* save({ title: "common rare", data: "the first" })
      for (let index = 0; index < mostRanked + 50; index++) yield* save({ title: `common ${index}` })
      const page = yield* notes.search(owner, { limit: 3, offset: 0, text: "common" })
      assert.deepInclude(page, { total: mostRanked, more: true, next: 3 })
      assert.deepStrictEqual(yield* foundBy("common rare"), ["common rare"])
      assert.isFalse((yield* find("rare")).more)
      assert.strictEqual((yield* notes.titles(owner, all)).total, mostRanked + 51)
    })
  )
}

const forgetting = (law: Law) => {
  law(
    "a deleted note is in no answer; its tombstone says only that it was, when and who",
    Effect.gen(function* () {
      const notes = yield* Notes
      yield* TestClock.setTime(1000)
      const note = yield* save({ title: "PIN", data: "canary 1234", metadata: { k: "canary" }, source: "canary" })
      yield* TestClock.setTime(2000)
      const by = yield* origin
      yield* notes.remove(owner, note.id, by)
      for (const text of ["pin", "canary", "canar", "1234", "23", ""]) {
        assert.deepStrictEqual(yield* find(text), { items: [], total: 0, more: false, next: null }, text)
      }
      assert.strictEqual((yield* notes.titles(owner, all)).total, 0)
      for (const attempt of [notes.get(owner, note.id), notes.update(owner, note.id, { data: "x" }, by)]) {
        assert.deepInclude(yield* Effect.flip(attempt), { id: note.id, deletedAt: 2000 })
      }
      const tombstone = yield* notes.tombstone(owner, note.id)
      assert.deepStrictEqual(tombstone, { id: note.id, createdAt: 1000, deletedAt: 2000, deletedBy: by })
    })
  )

  law(
    "a note that has expired is nowhere from that moment on, and its title is free",
    Effect.gen(function* () {
      const notes = yield* Notes
      const note = yield* save({ title: "offer", data: "cheap flights", expiresAt: 1000 })
      yield* TestClock.setTime(999)
      assert.strictEqual((yield* find("flights")).total, 1)
      yield* TestClock.setTime(1000)
      const by = yield* origin
      for (const text of ["flights", "flight", "ligh", ""]) assert.strictEqual((yield* find(text)).total, 0, text)
      assert.strictEqual((yield* notes.titles(owner, all)).total, 0)
      for (const attempt of [
        notes.get(owner, note.id),
        notes.update(owner, note.id, { expiresAt: null }, by),
        notes.remove(owner, note.id, by)
      ]) {
        assert.strictEqual((yield* Effect.flip(attempt))._tag, "NoteNotFound")
      }
      const again = yield* save({ title: "offer", data: "cheap trains" })
      assert.notStrictEqual(again.id, note.id)
      assert.deepInclude(yield* notes.tombstone(owner, note.id), { deletedAt: 1000, deletedBy: null })
      assert.deepStrictEqual(yield* foundBy("cheap"), ["offer"])
    })
  )
}
