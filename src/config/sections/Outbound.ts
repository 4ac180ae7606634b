import * as Key from "../Key.ts"
import * as Values from "../Values.ts"

export const section = Key.key(
  Key.table({
    allow_private: Key.key(
      Values.Bool,
      false,
      "Let tools reach this machine and private networks, except for services that hand out credentials."
    ),
    private_hosts: Key.key(
      Values.HostPatterns,
      [],
      'Those that tools may reach all the same, such as "localhost:8123" or "192.168.1.0/24".'
    ),
    allowed_hosts: Key.key(
      Values.HostPatterns,
      [],
      'When not empty, the only hosts that tools may reach, such as "example.org" or "*.example.org".'
    ),
    denied_hosts: Key.key(Values.HostPatterns, [], "Hosts that tools may not reach, whatever else is said."),
    proxy: Key.optional(
      Values.HttpUrl,
      "http://proxy.example.org:3128",
      "Address of a proxy that tools reach everything by; it looks up the names then."
    ),
    proxy_authorization: Key.key(
      Values.HeaderValue,
      "",
      'Who asks, for that proxy, such as "Basic " and name:password in base64; kept secret.'
    ),
    no_proxy: Key.key(Values.HostPatterns, [], "Hosts that are reached without the proxy.")
  }),
  {},
  "Where tools may go on the network. Requests to models and channels are not held to it."
)
