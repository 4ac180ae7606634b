import * as Requests from "../laws/Requests.ts"
import * as Store from "../laws/Store.ts"

for (const { layer, name } of Store.backends) Requests.laws(name, layer)
