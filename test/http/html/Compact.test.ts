import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Html from "../../../layers/http/Html.ts"
import * as Compact from "../../../src/http/html/Compact.ts"
import * as Element from "../../../src/http/html/Element.ts"
import * as PlainText from "../../../src/http/html/PlainText.ts"
import { pages } from "./Pages.ts"

const compact = (html: string, maxChars = 1e9) => Compact.render(Html.parse(html), maxChars)
const is = (html: string, ...lines: ReadonlyArray<string>) => assert.strictEqual(compact(html), lines.join("\n"), html)

describe("compact text", () => {
  it("has one line for each thing and one space for each level", () => {
    is(
      '<main><h1>Say "hi"</h1><section><p>One</p><p>Two <b>bold</b>\n  three</p></section></main>',
      "main",
      " h1 \"Say 'hi'\"",
      " section",
      '  p "One"',
      '  p "Two bold three"'
    )
    is("<div>a<div>b</div><span>c</span><my-card>d</my-card></div>", '"a"', '"b"', '"c"', '"d"')
    is("", "")
    is("just text &amp; &lt;more&gt; &#x1F600; &nbsp; end", '"just text & <more> 😀 end"')
  })

  it("keeps links as they are written", () => {
    is('<a href="/a?b=1&amp;c=2#d">Go <i>on</i></a>', 'a "Go on" /a?b=1&c=2#d')
    is('<a href="x" aria-label="Next"><svg></svg></a>', 'a "Next" x')
    is('<a href="x"><img src="p.png" alt="Pic"><h2>Big</h2></a>', "a x", ' img "Pic" p.png', ' h2 "Big"')
    is('<a name="here">no link</a>', '"no link"')
    is("<p>See <a href=docs>docs</a>, or not.</p>", "p", ' "See"', ' a "docs" docs', ' ", or not."')
    is("<a href=one>1<a href=two>2</a>", 'a "1" one', 'a "2" two')
    is('<map><area href="/left" alt="Left"></map>', 'area "Left" /left')
    is(`<img src="data:image/png;base64,${"A".repeat(1000)}">`, `img data:image/png;base64,${"A".repeat(42)}…`)
  })

  it("keeps what a form needs", () => {
    is(
      `<form action="/s" method=post><label>Name <input name=q placeholder="Your &quot;name&quot;" required></label>
       <input type=checkbox name=c value=1 checked disabled><input type=hidden name=t value=xyz hidden>
       <select name=s required><option value=1 selected>One<option>Two</select><textarea name=m placeholder=Text></textarea>
       <button disabled>Go</button></form>`,
      "form POST /s",
      ' "Name"',
      ` input text q "Your 'name'" required`,
      " input checkbox c =1 checked disabled",
      " input hidden t =xyz",
      " select s required",
      '  option "One" =1 selected',
      '  option "Two"',
      ' textarea m "Text"',
      ' button "Go" disabled'
    )
    is("<form><input></form>", "form GET", " input text")
  })

  it("writes tables by rows, and cells with more than text by themselves", () => {
    is(
      "<table><caption>Sums</caption><thead><tr><th>A<th>B<tbody><tr><td>1<td>2|3<tr><td><a href=x>y</a><td>4</table>",
      "table",
      ' caption "Sums"',
      " | A | B |",
      " | 1 | 2\\|3 |",
      " tr",
      "  td",
      '   a "y" x',
      '  td "4"'
    )
    is("<table><tr><td><p>inside</table>after", 'p "inside"', '"after"')
    is(
      "<table><tr><td>a<table><tr><td>b<td>c</table><td>d</table>",
      "table",
      " tr",
      "  td",
      '   "a"',
      "   table",
      "    | b | c |",
      '  td "d"'
    )
  })

  it("keeps the lines of pre", () => {
    is("<pre>\n  one\n    two <b>x</b>\n\n  three\n</pre>", "pre", "   one", "     two x", " ", "   three")
    is('<pre>a\n<a href="b">c</a>\n d</pre>', "pre", " a", ' a "c" b', "  d")
  })

  it("leaves out what nobody sees, and nothing beside it", () => {
    is(
      `<script>if (a < b) "</p>"</script><style>p{}</style><noscript>n</noscript><template><p>t</template><canvas>c</canvas>
       <iframe src=x>i</iframe><svg><path/><text>s</text></svg><!-- c --><p hidden>h<p>seen<div aria-hidden="true">a</div>
       <div style="color: red; DISPLAY : none">d</div><span style="visibility:hidden">v</span><ul><li hidden>x<li>y</ul>`,
      'p "seen"',
      "ul",
      ' li "y"'
    )
    is('<div style="display:nonesense-not">kept</div>', "")
    is("<svg/><p>after</p>", 'p "after"')
  })

  it("reads what browsers read, where ends are missing or too many", () => {
    is("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>", "ul", ' li "a"', " li", '  "b"', "  ul", '   li "c"', ' li "d"')
    is("<dl><dt>t<dd>d<dt>u<dd>e</dl>", 'dt "t"', 'dd "d"', 'dt "u"', 'dd "e"')
    is("<p>a<div>b</div>c</p>d", 'p "a"', '"b"', '"cd"')
    is("<table><tr><td></div>a</table>b", '"a"', '"b"')
    is("a</b></i></p>b<br>c", '"ab c"')
    is("<title>T</title><textarea>a <b> c</textarea>", 'title "T"', "textarea", ' "a <b> c"')
    is("<p", "")
    is("<a href='x", "")
    is("text <", '"text <"')
  })

  it("ends where it is full", () => {
    const html = "<p>word</p>".repeat(1000)
    for (const most of [0, 1, 7, 100, 9000]) {
      const cut = compact(html, most)
      assert.isAtMost(cut.length, most)
      assert.isTrue(compact(html).startsWith(cut))
    }
  })
})

/** Pages that were made to take long, or to nest without end, of about 2 MB each. */
const hostile: Readonly<Record<string, string>> = {
  "elements without end": "<div>".repeat(400_000),
  "a hundred thousand lists": `${"<ul><li>".repeat(100_000)}<a href=deep>x</a>`,
  "tables in tables": "<table><tr><td>".repeat(130_000),
  "tables of two cells in tables": "<table><tr><td>a<td>".repeat(100_000),
  "links in links": "<a href=x>".repeat(200_000),
  "ends of what is not open": "<b>".repeat(300_000) + "</i>".repeat(250_000),
  "a paragraph that everything ends": `<p><button>${"<b>".repeat(250)}${"<div></div>".repeat(180_000)}`,
  "names of attributes": `<a ${Array.from({ length: 250_000 }, (_, at) => `a${at}`).join(" ")}>`,
  "character references": "&amp".repeat(500_000),
  "hidden in hidden": "<div hidden>".repeat(160_000),
  "what is no tag": "<".repeat(2_000_000),
  "a comment without end": `<!--${"-".repeat(2_000_000)}`,
  spaces: " ".repeat(2_000_000),
  drawings: "<svg><path>".repeat(180_000)
}

describe("a page that was made to take long", () => {
  for (const [name, html] of Object.entries(hostile)) {
    // Far more than it takes; what is quadratic takes minutes.
    it(`is read in time: ${name}`, { timeout: 30_000 }, () => {
      const page = Html.parse(html)
      assert.isAtMost(Compact.render(page, 100_000).length, 100_000)
      assert.isAtMost(depthOf(page), Element.deepest)
      PlainText.render(page)
    })
  }

  it("loses no link for it", () => {
    assert.include(compact(hostile["a hundred thousand lists"] ?? ""), 'a "x" deep')
  })
})

const depthOf = (page: Element.Element): number => {
  let deepest = 0
  const open: Array<readonly [Element.Element, number]> = [[page, 1]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [element, depth] = next
    deepest = Math.max(deepest, depth)
    for (const child of element.children) if (typeof child !== "string") open.push([child, depth + 1])
  }
  return deepest
}

/** Every target of a link that is in the tree. */
const targetsOf = (page: Element.Element): ReadonlyArray<string> => {
  const targets: Array<string> = []
  const open: Array<Element.Element> = [page]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const target = next.tag === "a" ? next.attributes.get("href") : undefined
    if (target !== undefined) targets.push(target.replace(/[\t\n\r\f]/g, "").trim())
    for (const child of next.children) if (typeof child !== "string") open.push(child)
  }
  return targets
}

const holds = (html: string) => {
  const page = Html.parse(html)
  const text = Compact.render(page, 1e9)
  for (const target of targetsOf(page)) if (!/^data:/i.test(target)) assert.include(text, target)
  assert.isTrue(Compact.render(page, 1e9).startsWith(Compact.render(page, 500)))
  assert.strictEqual(Compact.render(Html.parse(html), 1e9), text)
  for (const line of text.split("\n")) assert.notMatch(line, /[\r\f\v]/)
  return text
}

describe("real pages", () => {
  it("there are", () => assert.isAbove(pages.length, 50))

  it("become shorter, and keep every link that their source has where it can be seen", () => {
    let before = 0
    let after = 0
    for (const { html, name } of pages) {
      const text = holds(html)
      assert.isAbove(text.length, 30, name)
      before += html.length
      after += text.length
      const seen = html.replace(/<!--.*?-->|<(script|style|svg|template|noscript)\b.*?<\/\1>/gs, "")
      if (/\shidden\b|aria-hidden|display:\s*none/.test(seen)) continue
      for (const [, target = ""] of seen.matchAll(/<a\s[^>]*?href="([^"&]*)"/g)) assert.include(text, target, name)
    }
    assert.isBelow(after, before / 2)
  })

  const Edit = Schema.Struct({
    page: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 })),
    at: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }))),
    with: Schema.Array(
      Schema.Literals([
        "<",
        ">",
        "/",
        '"',
        "'",
        "=",
        "&",
        "<!--",
        "-->",
        "</",
        "<p>",
        "</div>",
        "<table>",
        "<td>",
        "\0",
        "]]>",
        "<svg/>",
        "\uD800",
        "<pre>",
        "<a href=new>"
      ])
    )
  })
  it.prop("hold what is promised with any change", { edit: Edit }, ({ edit }) => {
    let html = (pages[edit.page % pages.length]?.html ?? "").slice(0, 20_000)
    edit.at.forEach((at, index) => {
      const place = at % (html.length + 1)
      const inserted = edit.with[index % Math.max(1, edit.with.length)] ?? ""
      html = html.slice(0, place) + inserted + html.slice(place + (at % 7))
    })
    holds(html)
  })

  it.prop(
    "and so does anything else",
    { text: Schema.String, bytes: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))) },
    ({ bytes, text }) => {
      holds(text)
      holds(new TextDecoder("latin1").decode(Uint8Array.from(bytes)))
      holds(`<a href="${text.replaceAll('"', "")}">${text}`)
      PlainText.render(Html.parse(text))
    }
  )
})

describe("plain text", () => {
  it("has a line for what has one in a browser", () => {
    const html =
      "<title>T</title><h1>Head</h1><p>One <b>two</b><br>three<ul><li>a<li>b</ul><script>x</script><pre>k\n  l</pre><table><tr><td>1<td>2</table>"
    assert.strictEqual(
      PlainText.render(Html.parse(html)).replace(/\n+/g, "\n"),
      "T\nHead\nOne two\nthree\na\nb\nk\n  l\n 1 2"
    )
  })
})
