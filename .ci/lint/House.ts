/**
 * The house rules: what Effect code in src/, layers/ and extensions/ does not do, each with its remedy in the message.
 *
 * Every rule looks at syntax only. Where a rule speaks of a global (`console`, `process`), a local of the same name is
 * not meant. A file that must break a rule is named, with the reason, in Exemptions.ts and nowhere else.
 */
import type { RuleTester } from "oxlint/plugins-dev"

export type Rule = Parameters<RuleTester["run"]>[1]
type Create = NonNullable<Rule["create"]>
type Context = Parameters<Create>[0]
type Visitor = ReturnType<Create>
type NodeOf<K extends keyof Visitor> = Parameters<NonNullable<Visitor[K]>>[0]
type AnyNode = NodeOf<keyof Visitor>
type Expression = NodeOf<"ExpressionStatement">["expression"]
type Member = NodeOf<"MemberExpression">

/** Wraps a visitor factory so that a visitor only has to say which node is wrong. */
const rule = (message: string, visit: (wrong: (node: AnyNode) => void, context: Context) => Visitor): Rule => ({
  meta: { type: "problem", docs: { description: message }, schema: [] },
  create: (context) => visit((node) => context.report({ node, message }), context)
})

export const rules: Record<string, Rule> = {
  "no-try": rule(
    "No try/catch: use Effect.try, Effect.tryPromise or Effect.result, so that the error keeps its type.",
    (wrong) => ({ TryStatement: wrong })
  ),

  "no-throw": rule(
    "No throw: fail with a typed error (`return yield* new MyError(...)`), or Effect.die for a bug.",
    (wrong) => ({ ThrowStatement: wrong })
  ),

  "no-async": rule(
    "No async/await and no hand-made promises: use Effect.gen, Effect.tryPromise or Effect.callback, which can be interrupted.",
    (wrong, context) => {
      const asyncFunction = (node: { readonly async: boolean } & AnyNode) => {
        if (node.async) wrong(node)
      }
      return {
        FunctionDeclaration: asyncFunction,
        FunctionExpression: asyncFunction,
        ArrowFunctionExpression: asyncFunction,
        AwaitExpression: wrong,
        ForOfStatement: (node) => {
          if (node.await) wrong(node)
        },
        NewExpression: (node) => {
          if (isGlobal(context, node.callee, "Promise")) wrong(node)
        },
        MemberExpression: (node) => {
          if (isGlobal(context, node.object, "Promise")) wrong(node)
        }
      }
    }
  ),

  "no-ambient-time": rule(
    "No Date.now(), new Date() or performance.now(): take time from Clock or DateTime, so that tests can move it.",
    (wrong, context) => ({
      NewExpression: (node) => {
        if (isGlobal(context, node.callee, "Date")) wrong(node)
      },
      CallExpression: (node) => {
        if (isGlobal(context, node.callee, "Date")) wrong(node)
      },
      MemberExpression: (node) => {
        if (isGlobal(context, node.object, "Date") && propertyName(node) === "now") wrong(node)
        if (isGlobal(context, node.object, "performance") && propertyName(node) === "now") wrong(node)
      }
    })
  ),

  "no-timers": rule(
    "No setTimeout, setInterval or setImmediate: use Effect.sleep, Effect.timeout or a Schedule.",
    (wrong, context) => ({
      CallExpression: (node) => {
        if (["setTimeout", "setInterval", "setImmediate"].some((name) => isGlobal(context, node.callee, name)))
          wrong(node)
      },
      ImportDeclaration: (node) => {
        if (/^(node:)?timers(\/|$)/.test(node.source.value)) wrong(node)
      }
    })
  ),

  "no-ambient-random": rule(
    "No Math.random() and no global crypto randomness: use Random, or the Crypto service for secrets.",
    (wrong, context) => ({
      MemberExpression: (node) => {
        if (isGlobal(context, node.object, "Math") && propertyName(node) === "random") wrong(node)
        if (
          isGlobal(context, node.object, "crypto") &&
          /^(randomUUID|getRandomValues)$/.test(propertyName(node) ?? "")
        ) {
          wrong(node)
        }
      },
      ImportDeclaration: (node) => {
        const names = /^(node:)?crypto$/.test(node.source.value) ? importedNames(node) : []
        if (names.some((name) => name.startsWith("random"))) wrong(node)
      }
    })
  ),

  "no-process-env": rule(
    "No process.env: settings come from Config, and the environment is read in layers/config alone.",
    (wrong, context) => ({
      MemberExpression: (node) => {
        if (isGlobal(context, node.object, "process") && propertyName(node) === "env") wrong(node)
      },
      ImportDeclaration: (node) => {
        const names = /^(node:)?process$/.test(node.source.value) ? importedNames(node) : []
        if (names.includes("env")) wrong(node)
      }
    })
  ),

  "no-console": rule(
    "No console: use Effect.log for the log, the Console or Terminal service for what a person reads.",
    (wrong, context) => ({
      MemberExpression: (node) => {
        if (isGlobal(context, node.object, "console")) wrong(node)
      }
    })
  ),

  "no-any": rule("No any: write the type, or `unknown` decoded by a Schema.", (wrong) => ({ TSAnyKeyword: wrong })),

  "no-assertion": rule(
    "No type assertion (`as X`, `<X>x`, `x!`): narrow with a check or decode with a Schema. `as const` is fine.",
    (wrong) => ({
      TSAsExpression: (node) => {
        if (!isConst(node.typeAnnotation)) wrong(node)
      },
      TSTypeAssertion: (node) => {
        if (!isConst(node.typeAnnotation)) wrong(node)
      },
      TSNonNullExpression: wrong
    })
  ),

  "no-json-parse": rule(
    "No JSON.parse: decode with Schema.fromJsonString or Schema.UnknownFromJsonString.",
    (wrong, context) => ({
      MemberExpression: (node) => {
        if (isGlobal(context, node.object, "JSON") && propertyName(node) === "parse") wrong(node)
      }
    })
  ),

  "no-fetch": rule("No raw fetch: use the HttpClient service.", (wrong, context) => ({
    CallExpression: (node) => {
      if (isGlobal(context, node.callee, "fetch")) wrong(node)
    }
  })),

  "no-run": rule("No running of effects here: return the Effect. Only entry points run one.", (wrong) => ({
    MemberExpression: (node) => {
      const name = propertyName(node) ?? ""
      const owner = node.object.type === "Identifier" ? node.object.name : ""
      if (/^(Effect|.*[rR]untime)$/.test(owner) && /^run(Sync|Promise|Fork|Callback|Main)(Exit)?$/.test(name))
        wrong(node)
    },
    ImportDeclaration: (node) => {
      const names = node.source.value === "effect/Effect" ? importedNames(node) : []
      if (names.some((name) => /^run(Sync|Promise|Fork|Callback)(Exit)?$/.test(name))) wrong(node)
    }
  })),

  "no-barrel": rule(
    "No barrel: import the module itself (`effect/Effect`, `effect/sql/SqlClient`, `../thread/Threads.ts`), which loads faster.",
    (wrong) => {
      const source = (node: { readonly source: { readonly value: string } | null } & AnyNode) => {
        if (node.source !== null && isBarrel(node.source.value)) wrong(node)
      }
      return {
        ImportDeclaration: source,
        ExportNamedDeclaration: source,
        ExportAllDeclaration: source,
        ImportExpression: (node) => {
          if (node.source.type === "Literal" && isBarrel(String(node.source.value))) wrong(node)
        },
        TSImportType: (node) => {
          if (isBarrel(node.source.value)) wrong(node)
        }
      }
    }
  ),

  "no-uninterruptible": rule(
    'No uninterruptible effect in a tool: declare the tool `cancellation: "atomic"`, which has its own deadline.',
    (wrong) => ({
      MemberExpression: (node) => {
        const owner = node.object.type === "Identifier" ? node.object.name : ""
        if (owner === "Effect" && /^uninterruptible(Mask)?$/.test(propertyName(node) ?? "")) wrong(node)
      }
    })
  )
}

export default { meta: { name: "house" }, rules }

/** The package roots and the lower-case folder entries (`effect`, `effect/rpc`) and our own index.ts files. */
function isBarrel(source: string): boolean {
  return /^(effect|@effect\/[\w-]+)(\/[a-z][\w-]*)?$/.test(source) || /^\.{1,2}\/(.*\/)?index\.[jt]s$/.test(source)
}

function isConst(type: NodeOf<"TSAsExpression">["typeAnnotation"]): boolean {
  return type.type === "TSTypeReference" && type.typeName.type === "Identifier" && type.typeName.name === "const"
}

/** `name`, or `globalThis.name`, where no declaration of the file has taken the name. */
function isGlobal(context: Context, node: Expression | NodeOf<"Super">, name: string): boolean {
  if (node.type === "MemberExpression") {
    return propertyName(node) === name && isGlobal(context, node.object, "globalThis")
  }
  return node.type === "Identifier" && node.name === name && !isDeclared(context, node)
}

function isDeclared(context: Context, node: NodeOf<"Identifier">): boolean {
  for (
    let scope: ReturnType<Context["sourceCode"]["getScope"]> | null = context.sourceCode.getScope(node);
    scope !== null;
    scope = scope.upper
  ) {
    const variable = scope.set.get(node.name)
    if (variable !== undefined && variable.defs.length > 0) return true
  }
  return false
}

function propertyName(node: Member): string | undefined {
  if (!node.computed && node.property.type === "Identifier") return node.property.name
  return node.property.type === "Literal" && typeof node.property.value === "string" ? node.property.value : undefined
}

function importedNames(node: NodeOf<"ImportDeclaration">): ReadonlyArray<string> {
  return node.specifiers.flatMap((specifier) =>
    specifier.type === "ImportSpecifier" && specifier.imported.type === "Identifier" ? [specifier.imported.name] : []
  )
}
