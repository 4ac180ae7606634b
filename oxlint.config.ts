import { defineConfig } from "oxlint"
import { exemptions } from "./.ci/lint/Exemptions.ts"
import { rules } from "./.ci/lint/House.ts"

const house = Object.keys(rules).filter((name) => name !== "no-uninterruptible")
const set = (names: ReadonlyArray<string>, severity: "error" | "off") =>
  Object.fromEntries(names.map((name) => [`house/${name}`, severity]))

export default defineConfig({
  plugins: ["typescript", "unicorn", "oxc", "import"],
  jsPlugins: ["./.ci/lint/House.ts"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  rules: {
    // `_tag` is how Effect names the variants of a union.
    "no-underscore-dangle": "off",
    // A helper next to its only use reads better than one at the end of the file.
    "unicorn/consistent-function-scoping": "off",
    // Values are not changed in place here.
    "oxc/no-map-spread": "off",
    // Modules are imported as namespaces: `Effect.map`.
    "import/no-namespace": "off",
    // A namespace and its class share a name on purpose.
    "import/no-named-as-default-member": "off",
    "import/no-unassigned-import": "off",
    // A local value may be named after what it is, even where a function of the module has the same word for its name.
    "no-shadow": "off"
  },
  overrides: [
    { files: ["src/**", "layers/**", "extensions/**"], rules: set(house, "error") },
    { files: ["layers/tools/**"], rules: set(["no-uninterruptible"], "error") },
    // The public entries are the only barrels.
    { files: ["{src,layers}/index.ts", "{src,layers}/*/index.ts"], rules: set(["no-barrel"], "off") },
    // Benchmarks and campaigns do one thing after another on purpose.
    { files: ["test/{bench,crash,soak}/**"], rules: { "no-await-in-loop": "off" } },
    ...exemptions.map((exemption) => ({ files: [...exemption.files], rules: set(exemption.rules, "off") }))
  ],
  ignorePatterns: ["dist/**", "coverage/**", "node_modules/**"]
})
