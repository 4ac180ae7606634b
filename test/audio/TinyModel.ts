/**
 * A model file for whisper.cpp that is as small as the library takes, with weights of chance: it hears nothing that was said, and
 * everything that has to happen for a real one happens for it. The format is that of `ggml-*.bin`.
 */

/** Sizes as in the header of a file, in its order. What decides how the library reads it is that of real multilingual models. */
const sizes = {
  vocabulary: 51_865,
  audioContext: 1500,
  audioState: 64,
  audioHeads: 1,
  audioLayers: 4,
  textContext: 448,
  textState: 64,
  textHeads: 1,
  textLayers: 4,
  mels: 80,
  floats16: 1
} as const

const magic = 0x67676d6c
const frequencies = 201
/** Tokens that the file spells out; the library makes up those behind them. */
const words = 50_257

export const make = (): Uint8Array => {
  const parts: Array<Uint8Array> = []
  const integers = (...values: ReadonlyArray<number>) => parts.push(new Uint8Array(Int32Array.from(values).buffer))
  integers(magic, ...Object.values(sizes))
  integers(sizes.mels, frequencies)
  parts.push(new Uint8Array(Float32Array.from({ length: sizes.mels * frequencies }, () => 0.01).buffer))
  integers(words)
  for (let token = 0; token < words; token++) {
    // The library looks for the token of a blank, which is never the first.
    const text = new TextEncoder().encode(token === 0 ? " " : ` w${token}`)
    integers(text.length)
    parts.push(text)
  }
  const next = chance()
  for (const [name, shape, half] of tensors()) {
    const count = shape.reduce((all, one) => all * one, 1)
    integers(shape.length, name.length, half ? 1 : 0, ...shape)
    parts.push(new TextEncoder().encode(name))
    parts.push(
      half ? halves(count, next) : new Uint8Array(Float32Array.from({ length: count }, () => next() * 0.2).buffer)
    )
  }
  return joined(parts)
}

type Tensor = readonly [name: string, shape: ReadonlyArray<number>, half: boolean]

const tensors = (): ReadonlyArray<Tensor> => {
  const { audioContext, audioLayers, audioState: state, mels, textContext, textLayers, vocabulary } = sizes
  const weights = (name: string, inputs: number, outputs: number): Tensor => [`${name}.weight`, [inputs, outputs], true]
  const bias = (name: string, length: number = state): Tensor => [`${name}.bias`, [length], false]
  const norm = (name: string): ReadonlyArray<Tensor> => [[`${name}.weight`, [state], false], bias(name)]
  const attention = (name: string): ReadonlyArray<Tensor> => [
    weights(`${name}.query`, state, state),
    bias(`${name}.query`),
    weights(`${name}.key`, state, state),
    weights(`${name}.value`, state, state),
    bias(`${name}.value`),
    weights(`${name}.out`, state, state),
    bias(`${name}.out`)
  ]
  const block = (name: string): ReadonlyArray<Tensor> => [
    ...norm(`${name}.mlp_ln`),
    weights(`${name}.mlp.0`, state, 4 * state),
    bias(`${name}.mlp.0`, 4 * state),
    weights(`${name}.mlp.2`, 4 * state, state),
    bias(`${name}.mlp.2`),
    ...norm(`${name}.attn_ln`),
    ...attention(`${name}.attn`)
  ]
  const blocks = (name: string, count: number, more: (block: string) => ReadonlyArray<Tensor>) =>
    Array.from({ length: count }, (_, at) => [...block(`${name}.blocks.${at}`), ...more(`${name}.blocks.${at}`)]).flat()
  return [
    ["encoder.positional_embedding", [state, audioContext], false],
    ["encoder.conv1.weight", [3, mels, state], true],
    ["encoder.conv1.bias", [1, state], false],
    ["encoder.conv2.weight", [3, state, state], true],
    ["encoder.conv2.bias", [1, state], false],
    ...norm("encoder.ln_post"),
    ...blocks("encoder", audioLayers, () => []),
    ["decoder.positional_embedding", [state, textContext], false],
    ["decoder.token_embedding.weight", [state, vocabulary], true],
    ...norm("decoder.ln"),
    ...blocks("decoder", textLayers, (name) => [...norm(`${name}.cross_attn_ln`), ...attention(`${name}.cross_attn`)])
  ]
}

/** Numbers from -1 to 1, always the same. */
const chance = () => {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 31 - 1
  }
}

/** Floats of 16 bits between a half and one, of either sign: any ten bits of fraction will do. */
const halves = (count: number, next: () => number): Uint8Array =>
  new Uint8Array(
    Uint16Array.from({ length: count }, () => {
      const value = next()
      return (value < 0 ? 0x8000 : 0) | (10 << 10) | Math.floor(Math.abs(value) * 1023)
    }).buffer
  )

const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
