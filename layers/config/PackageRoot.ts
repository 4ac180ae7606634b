import { fileURLToPath } from "node:url"

/**
 * The folder that holds the package's own files (`docs/`, prompts, `config.example.toml`), with a trailing separator.
 * Two levels up is right in a checkout (`layers/config/`) and in the published package, whose bundles lie flat in
 * `dist/cli/` and `dist/lib/`.
 */
export const packageRoot: string = fileURLToPath(new URL("../../", import.meta.url))
