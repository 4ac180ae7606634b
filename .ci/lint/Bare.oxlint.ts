import { defineConfig } from "oxlint"
import { rules } from "./House.ts"

/** The house rules and nothing else, without any exemption: a test asks it whether each exemption is still needed. */
export default defineConfig({
  plugins: [],
  jsPlugins: ["./House.ts"],
  rules: Object.fromEntries(Object.keys(rules).map((name) => [`house/${name}`, "error"] as const))
})
