/**
 * The channels of this process, in memory: a channel is registered by the layer that runs it, for the life of that layer.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Channels from "../../src/channel/Channels.ts"

/** An empty registry. */
export const layer: Layer.Layer<Channels.Channels> = Layer.sync(Channels.Channels, () => {
  const registered = new Map<string, Channels.Channel>()

  const add = (channel: Channels.Channel) =>
    Effect.suspend(() => {
      if (registered.has(channel.name)) return Effect.fail(new Channels.ChannelNameTaken({ name: channel.name }))
      registered.set(channel.name, channel)
      return Effect.void
    })

  return Channels.Channels.of({
    register: Effect.fn("Channels.register")((channel: Channels.Channel) =>
      Effect.acquireRelease(add(channel), () => Effect.sync(() => registered.delete(channel.name)))
    ),
    find: (name) => Effect.sync(() => registered.get(name)),
    all: Effect.sync(() => [...registered.values()])
  })
})
